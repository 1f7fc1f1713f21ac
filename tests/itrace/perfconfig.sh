#!/bin/sh
# SPDX-License-Identifier: MIT
# The keys intel-pt.* of perfconfig in script and report: what perf prints with them.
. "$SOURCE/tests/itrace/common.sh"
needs perf
export PERF_CONFIG="$work/config"

for key in 'mispred-all = on' 'mispred-all = off' 'max-loops = 2' 'max-loops=0' \
    'cache-divisor = 1'; do
    printf '# traces\n[intel-pt]\n\t%s\n' "$key" >"$PERF_CONFIG"
    for name in t_tsc t_longtnt c_threads; do
        set -- -i "$own/rec/$name.data" --symfs "$own/symfs"
        same script --itrace=i2usl -F ip,brstack "$@"
        same script --itrace=be -F ip,addr "$@"
    done
    [ $failed = 0 ] || complain "with $key"
done
# Keys that act: branches are mispredicted, loops end sooner.
printf '[intel-pt]\nmispred-all = on\nmax-loops = 1\n' >"$PERF_CONFIG"
"$PERFDATA" script -i "$own/rec/t_tsc.data" --symfs "$own/symfs" --itrace=i2usl -F brstack |
    grep -q '/M/' ||
    complain 'mispred-all does nothing'
"$PERFDATA" script -i "$own/rec/t_longtnt.data" --symfs "$own/symfs" --itrace=e 2>/dev/null |
    grep -q 'Never-ending loop' ||
    complain 'max-loops does nothing'
# In a database, too: as many branches as script has lines, fewer than without the key.
rows() {
    "$PERFDATA" export postgresql -i "$own/rec/t_longtnt.data" --symfs "$own/symfs" --itrace=b \
        -o - 2>/dev/null |
        awk '/^COPY samples/ { on = 1; next } /^\\\./ { on = 0 } on { n++ } END { print n + 0 }'
}
lines=$("$PERFDATA" script -i "$own/rec/t_longtnt.data" --symfs "$own/symfs" --itrace=b \
    2>/dev/null | wc -l)
with=$(rows)
PERF_CONFIG=/dev/null
without=$(rows)
[ "$lines" -gt 0 ] && [ $((with - 1)) -eq "$lines" ] ||
    complain "a database has $with samples where script prints $lines"
[ "$without" -gt "$with" ] ||
    complain "max-loops does nothing in a database: $with and $without samples"
exit $failed
