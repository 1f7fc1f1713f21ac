#!/bin/sh
# SPDX-License-Identifier: MIT
# The keys intel-pt.* of perfconfig in script and report: what perf prints with them.
set -eu
export LC_ALL=C TZ=UTC
[ -n "${PERFDATA_CORPUS-}" ] || { echo 'skipped: PERFDATA_CORPUS is not set'; exit 77; }
own=$PERFDATA_CORPUS/own-pt
[ -d "$own/rec" ] || { echo 'skipped: the corpus has no own-pt'; exit 77; }
command -v perf >/dev/null || { echo 'skipped: perf is not installed'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
export PERF_CONFIG="$work/config"

compare() {
    perf "$@" -i "$own/rec/$name.data" --symfs "$own/symfs" 2>/dev/null >"$work/perf"
    "$PERFDATA" "$@" -i "$own/rec/$name.data" --symfs "$own/symfs" 2>/dev/null >"$work/ours"
    cmp -s "$work/perf" "$work/ours" || { echo "$name, $key, $*: differs from perf" >&2; failed=1; }
}

for key in 'mispred-all = on' 'mispred-all = off' 'max-loops = 2' 'max-loops=0' 'cache-divisor = 1'; do
    printf '# traces\n[intel-pt]\n\t%s\n' "$key" >"$PERF_CONFIG"
    for name in t_tsc t_longtnt c_threads; do
        compare script --itrace=i2usl -F ip,brstack
        compare script --itrace=be -F ip,addr
    done
done
# A key that acts: branches are mispredicted, loops end sooner.
printf '[intel-pt]\nmispred-all\nmax-loops = 1\n' >"$PERF_CONFIG"
"$PERFDATA" script -i "$own/rec/t_tsc.data" --symfs "$own/symfs" --itrace=i2usl -F brstack | grep -q '/M/' ||
    { echo 'mispred-all does nothing' >&2; failed=1; }
exit $failed
