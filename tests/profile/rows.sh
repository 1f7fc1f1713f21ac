#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 27: report --json says what the text says, cell by cell, and script --json has each sample
# of the text; with 1, 2 and 8 threads the same.
set -u
export LC_ALL=C PERF_CONFIG=/dev/null TZ=UTC
command -v python3 >/dev/null || { echo 'skipped: no python3'; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0 rows=0
fail() { echo "$*"; failed=1; }

# RECORDING SYMFS KALLSYMS [ITRACE]
compare() {
    name=$1
    set -- -i "$1" -f --symfs "$2" ${3:+--kallsyms "$3"} ${4:+--itrace="$4"}
    for mode in "--children -g none" --children "--no-children -g none" --no-children; do
        # shellcheck disable=SC2086
        "$PERFDATA" report --stdio $mode -n --no-group -s comm,dso,sym -t "$(printf '\t')" \
            "$@" >"$work/text" 2>/dev/null
        grep -q '^# comm: ' "$work/text" && continue # elided columns are not in the text
        # shellcheck disable=SC2086
        "$PERFDATA" report --json $mode -n --no-group -s comm,dso,sym "$@" >"$work/json" \
            2>/dev/null || fail "$name $mode: exit $?"
        count=$(python3 "$SOURCE/tests/profile/rows.py" "$work/text" "$work/json" 2>&1) ||
            { fail "$name $mode: $count"; count=0; }
        rows=$((rows + count))
    done
    # A trace's chains are lines that begin with a tab, -G or not.
    "$PERFDATA" script -G -F event,ip "$@" 2>/dev/null | grep -c "^[^$(printf '\t')]" >"$work/lines"
    for threads in 1 2 8; do
        "$PERFDATA" script --json -j $threads "$@" >"$work/json.$threads" 2>/dev/null ||
            fail "$name: script exits $?"
        "$PERFDATA" report --json -j $threads "$@" >"$work/report.$threads" 2>/dev/null
    done
    for threads in 2 8; do
        cmp "$work/json.1" "$work/json.$threads" ||
            fail "$name: script differs with $threads threads"
        cmp "$work/report.1" "$work/report.$threads" ||
            fail "$name: report differs with $threads threads"
    done
    [ "$(grep -c . "$work/json.1")" = "$(cat "$work/lines")" ] ||
        fail "$name: not as many samples as lines"
}

demo=$SOURCE/tests/data/demo
for name in spin shapes; do
    compare "$demo/$name.data" "$demo/symfs" "$demo/symfs/kallsyms"
done
if [ -n "${PERFDATA_CORPUS-}" ]; then
    for name in cpu-clock-fp multi-event sys-wide tp-sched dwarf-cpp inline jit pipe-zstd \
        dir-threads; do
        compare "$PERFDATA_CORPUS/own/rec/$name.data" "$PERFDATA_CORPUS/own/symfs" \
            "$PERFDATA_CORPUS/own/symfs/kallsyms"
    done
    for name in c_dyn c_threads t_cyc; do # functions that only callers of a trace are
        compare "$PERFDATA_CORPUS/own-pt/rec/$name.data" "$PERFDATA_CORPUS/own-pt/symfs" "" i10usg
    done
fi
for wrong in '-t ,' '-w 3' --hierarchy --header --stats --tasks '-D' --stdio-color=always; do
    # shellcheck disable=SC2086
    "$PERFDATA" report --json $wrong -i "$demo/spin.data" >/dev/null 2>&1 &&
        fail "report --json takes $wrong"
done
for wrong in --reltime --deltatime -L -D --header --show-mmap-events --pt-events '-F +srccode' \
    '-F +brstackinsn' '-F +callindent'; do
    # shellcheck disable=SC2086
    "$PERFDATA" script --json $wrong -i "$demo/spin.data" >/dev/null 2>&1 &&
        fail "script --json takes $wrong"
done
[ $rows -gt 20 ] || fail "only $rows rows compared"
echo "$rows rows"
exit $failed
