#!/bin/sh
# SPDX-License-Identifier: MIT
# Traces that come through a real pipe are decoded: the same text as perf's, and as of the file.
set -u
export LC_ALL=C TZ=UTC PERF_CONFIG=/dev/null
[ -n "${PERFDATA_CORPUS-}" ] || { echo 'skipped: PERFDATA_CORPUS is not set'; exit 77; }
own=$PERFDATA_CORPUS/own-pt
[ -d "$own/rec" ] || { echo 'skipped: the corpus has no own-pt'; exit 77; }
command -v perf >/dev/null || { echo 'skipped: perf is not installed'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 count=0
for name in c_dyn t_tsc c_threads4 t_ovf; do
    perf inject -i "$own/rec/$name.data" -o - >"$work/pipe" 2>/dev/null
    for what in be i10us; do
        # shellcheck disable=SC2002
        cat "$work/pipe" | perf script -i - --itrace=$what --symfs "$own/symfs" 2>/dev/null >"$work/perf"
        # shellcheck disable=SC2002
        cat "$work/pipe" | "$PERFDATA" script -i - --itrace=$what --symfs "$own/symfs" >"$work/perfdata"
        "$PERFDATA" script -i "$own/rec/$name.data" --itrace=$what --symfs "$own/symfs" 2>/dev/null >"$work/file"
        [ -s "$work/perf" ] || { echo "$name: perf says nothing" >&2; failed=1; }
        cmp "$work/perf" "$work/perfdata" && cmp "$work/file" "$work/perfdata" || { echo "$name --itrace=$what differs" >&2; failed=1; }
        count=$((count + 1))
    done
done
perf inject -i "$own/rec/t_tsc.data" -o - 2>/dev/null | "$PERFDATA" report -i - --stdio --itrace=i10us --symfs "$own/symfs" 2>/dev/null |
    grep -q "instructions" || { echo 'report of a pipe shows no instructions' >&2; failed=1; }
echo "$count comparisons"
exit $failed
