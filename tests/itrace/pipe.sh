#!/bin/sh
# SPDX-License-Identifier: MIT
# Traces that come through a real pipe are decoded: the same text as perf's, and as of the file.
. "$SOURCE/tests/itrace/common.sh"
needs perf
for name in c_dyn t_tsc c_threads4 t_ovf; do
    perf inject -i "$own/rec/$name.data" -o - >"$work/pipe" 2>/dev/null || :
    for what in be i10us; do
        # shellcheck disable=SC2002
        cat "$work/pipe" |
            perf script -i - --itrace=$what --symfs "$own/symfs" 2>/dev/null >"$work/perf" || :
        # shellcheck disable=SC2002
        cat "$work/pipe" |
            "$PERFDATA" script -i - --itrace=$what --symfs "$own/symfs" >"$work/perfdata" || :
        "$PERFDATA" script -i "$own/rec/$name.data" --itrace=$what --symfs "$own/symfs" \
            2>/dev/null >"$work/file" || :
        [ -s "$work/perf" ] || complain "$name: perf says nothing"
        cmp "$work/perf" "$work/perfdata" && cmp "$work/file" "$work/perfdata" ||
            complain "$name --itrace=$what differs"
        count=$((count + 1))
    done
done
perf inject -i "$own/rec/t_tsc.data" -o - 2>/dev/null |
    "$PERFDATA" report -i - --stdio --itrace=i10us --symfs "$own/symfs" 2>/dev/null |
    grep -q "instructions" || complain 'report of a pipe shows no instructions'
echo "$count comparisons"
exit $failed
