#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 27: every form has the same bytes with 1, 2 and 8 threads.
set -u
export LC_ALL=C PERF_CONFIG=/dev/null TZ=UTC
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0 count=0

# RECORDING OPTION...
compare() {
    for format in $formats; do
        for threads in 1 2 8; do
            rm -rf "$work/out"
            "$PERFDATA" export "$format" -j $threads -o "$work/out" -i "$@" 2>"$work/log" || {
                echo "$format of $1 fails:" && cat "$work/log" && failed=1; }
            (cd "$work" && find out -type f | sort | xargs cat) >"$work/$threads"
            [ -s "$work/$threads" ] || { echo "$format of $1 is empty"; failed=1; }
            cmp -s "$work/1" "$work/$threads" ||
                { echo "$format of $1 differs with $threads threads"; failed=1; }
            count=$((count + 1))
        done
    done
}

# RECORDING OPTION...: frames by address are found without making locations, with their lines by
# locations: the stacks are the same.
same_stacks() {
    for lines in "" --lines; do
        "$PERFDATA" export csv --detail=address $lines -o "$work/csv$lines" -i "$@" 2>"$work/log" ||
            { echo "csv of $1 by address fails:" && cat "$work/log" && failed=1; }
        cut -d , -f 1-4,7 "$work/csv$lines/stacks.csv" >>"$work/csv$lines/samples.csv"
    done
    [ "$(wc -l <"$work/csv/samples.csv")" -gt 20 ] || { echo "$1 has no stacks"; failed=1; }
    cmp -s "$work/csv/samples.csv" "$work/csv--lines/samples.csv" ||
        { echo "$1 by address has other stacks with lines"; failed=1; }
    rm -rf "$work/csv" "$work/csv--lines"
    count=$((count + 2))
}

formats=$("$PERFDATA" export 2>&1 | sed -n 's/.*one of \(.*\)sqlite, postgresql.*/\1/p' | tr -d , |
    sed "s/bolt fdata autofdo llvm //") # these need branches: branches.sh, llvm.sh
[ -n "$formats" ] || { echo 'no form is named'; exit 1; }
demo=$SOURCE/tests/data/demo
compare "$demo/spin.data" --symfs "$demo/symfs" --kallsyms "$demo/symfs/kallsyms"
same_stacks "$demo/spin.data" --symfs "$demo/symfs" --kallsyms "$demo/symfs/kallsyms"
if [ -n "${PERFDATA_CORPUS-}" ]; then
    own=$PERFDATA_CORPUS/own
    for name in sys-wide dwarf-glibc sched-record; do
        compare "$own/rec/$name.data" --symfs "$own/symfs" --kallsyms "$own/symfs/kallsyms"
        same_stacks "$own/rec/$name.data" --symfs "$own/symfs" --kallsyms "$own/symfs/kallsyms"
    done
    compare "$PERFDATA_CORPUS/own-pt/rec/t_cyc.data" --symfs "$PERFDATA_CORPUS/own-pt/symfs" \
        --itrace=i10usg
fi
formats="csv otlp pprof"
compare "$demo/spin.data" --detail=address --symfs "$demo/symfs" --kallsyms "$demo/symfs/kallsyms"
echo "$count exports"
exit $failed
