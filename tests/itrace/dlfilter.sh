#!/bin/sh
# SPDX-License-Identifier: MIT
# --dlfilter: a filter that prints all it can ask for prints what it printed under perf; with perf
# installed, both are asked, also about traces, and perf's own filters run. dlfilter.sh FILTER
set -eu
filter=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PERF_CONFIG=/dev/null TZ=UTC HOME="$work"
cd "$SOURCE/tests/data/demo"
"$PERFDATA" script --symfs symfs --kallsyms symfs/kallsyms -i spin.data --dlfilter "$filter" \
    --dlarg 20 --dlarg one \
    --dlarg two >"$work/told"
diff -u print-filter.exact "$work/told"
"$PERFDATA" script --list-dlfilters | grep -q '^List of available dlfilters:$'
if "$PERFDATA" script -i spin.data --dlfilter ./none.so >"$work/none" 2>&1; then exit 1; fi
grep -q "dlopen failed for: './none.so'" "$work/none"

rec=${PERFDATA_CORPUS:-}/own-pt/rec
[ -d "$rec" ] && command -v perf >/dev/null || exit 0
[ -z "${SANITIZE-}" ] ||
    { echo 'not compared: perf loads no filter that is built with a sanitizer'; exit 0; }
cd "$rec"
# Filters that ask for source lines make perf look for programs at their own place, not below symfs:
# it dies where they are not there.
same() {
    if ! perf script --symfs ../symfs "$@" >"$work/perf" 2>/dev/null; then
        [ ! -e /ptcorpus ] || { echo "perf fails: $*"; exit 1; }
        echo "skipped, perf dies: $*"
        return 0
    fi
    "$PERFDATA" script --symfs ../symfs "$@" >"$work/ours" 2>/dev/null
    [ -s "$work/perf" ] && cmp "$work/perf" "$work/ours" ||
        { echo "differs, or perf prints nothing: $*"; exit 1; }
}
for name in t_cyc.data c_dyn.data; do
    same -i $name --itrace=be --dlfilter "$filter" --dlarg 100
    same -i $name --itrace=i2000ig6l4 --dlfilter "$filter" --dlarg 100
    same -i $name --itrace=be --dlfilter dlfilter-show-cycles.so
    "$PERFDATA" script --symfs ../symfs -i $name --itrace=be --dlfilter show-cycles |
        cmp - "$work/perf"
done
