#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 27: Python scripts made for perf see and print the same here: one that prints all it is
# given, over recordings of the corpus, those that come with perf, and generated ones. `all`: over
# every recording.
set -u
export LC_ALL=C.UTF-8 PERF_CONFIG=/dev/null TZ=UTC PYTHONDONTWRITEBYTECODE=1
[ -z "$SANITIZE" ] ||
    { echo 'skipped: a library with sanitizers needs an interpreter that has them, too'; exit 77; }
command -v python3 >/dev/null || { echo 'skipped: no python3'; exit 77; }
python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' ||
    { echo 'skipped: Python before 3.9'; exit 77; }
export PERFDATA_LIBRARY="$LIBPERFDATA" PYTHONPATH="$SOURCE/python"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0 count=0
complain() {
    printf '%s\n' "$*"
    failed=1
}
demo=$SOURCE/tests/data/demo
ln -s "$PERFDATA" "$work/perf"

# ---- without perf ----

"$PERFDATA" script -i "$demo/spin.data" --symfs "$demo/symfs" -s "$SOURCE/tests/python/probe.py" \
    one --two >"$work/ours" ||
    complain "script -s failed"
[ "$(head -n 1 "$work/ours")" = "begin ['one', '--two'] True" ] ||
    complain "arguments: $(head -n 1 "$work/ours")"
[ "$(grep -c '^event' "$work/ours")" = 90 ] || complain "not 90 events"
grep -q "'symbol' 'gamma_leaf'" "$work/ours" || complain 'no symbols'
"$PERFDATA" script -i "$demo/spin.data" -c nobody -s "$SOURCE/tests/python/probe.py" >"$work/ours"
[ "$(grep -c '^event' "$work/ours")" = 0 ] || complain '-c is not heeded'
"$PERFDATA" script -i "$demo/spin.data" -F ip -s x.py 2>"$work/log" && complain '-F is taken'
grep -q 'option -F' "$work/log" || complain "-F is refused without its name: $(cat "$work/log")"
"$PERFDATA" script -s x.pl 2>"$work/log" && complain 'a Perl script is taken'
grep -q 'x.pl is a Perl script' "$work/log" || complain "Perl: $(cat "$work/log")"
"$PERFDATA" script -s "$work/none.py" 2>/dev/null && complain 'a script that is not there is run'
printf 'raise SystemExit(7)\n' >"$work/seven.py"
"$work/perf" script -i "$demo/spin.data" -s "$work/seven.py"
[ $? = 7 ] || complain 'the exit code of a script is lost'
# Without perf's own modules ours are there.
printf 'from Core import *\nfrom Util import *\nfrom EventClass import *\nprint(nsecs_str(nsecs(1, 5)), trace_flag_str(0))\n' \
    >"$work/modules.py"
[ "$(PERF_EXEC_PATH=/nonexistent "$PERFDATA" script -i "$demo/spin.data" \
    -s "$work/modules.py")" = '    1.000000005 NONE' ] ||
    complain 'modules of our own'
(cd "$work" && "$PERFDATA" script -i "$SOURCE/tests/data/report/traces.data" -g python >/dev/null &&
    "$PERFDATA" script -i "$SOURCE/tests/data/report/traces.data" -s perf-script.py >generated) ||
    complain '-g python failed'
[ "$(wc -l <"$work/generated")" -ge "$("$PERFDATA" script -G -F time \
    -i "$SOURCE/tests/data/report/traces.data" | wc -l)" ] ||
    complain 'a generated script prints too little'

# ---- beside perf ----

if ! perf version --build-options 2>/dev/null | grep -q 'libpython: \[ on'; then
    echo 'beside perf: skipped, perf is not installed or runs no Python'
    exit $failed
fi
if [ -z "${PERFDATA_CORPUS-}" ]; then
    echo 'beside perf: skipped, PERFDATA_CORPUS is not set'
    exit $failed
fi

# RECORDING SYMFS KALLSYMS SCRIPT [OPTION...]
compare() {
    name=$1 symfs=$2 kallsyms=$3 run=$4
    shift 4
    rm -f /dev/shm/perf.db # event_analyzing_sample adds to it
    perf script -f -i "$name" --symfs "$symfs" ${kallsyms:+--kallsyms "$kallsyms"} "$@" -s "$run" \
        >"$work/theirs" 2>/dev/null
    theirs=$?
    [ $theirs = 0 ] || return 0
    rm -f /dev/shm/perf.db
    "$work/perf" script -f -i "$name" --symfs "$symfs" ${kallsyms:+--kallsyms "$kallsyms"} "$@" \
        -s "$run" >"$work/ours" \
        2>"$work/log" || complain "$name: $run: $(tail -n 1 "$work/log")"
    # What perf did not read it gives as a null pointer.
    sed 's/<NULL>/0/g' "$work/theirs" | cmp -s - "$work/ours" || {
        complain "$name: $run differs"
        sed 's/<NULL>/0/g' "$work/theirs" | diff - "$work/ours" | head -n 6
    }
    count=$((count + 1))
}

own=$PERFDATA_CORPUS/own pt=$PERFDATA_CORPUS/own-pt probe=$SOURCE/tests/python/probe.py
if [ "${1-}" = all ]; then
    recordings=$(cd "$own/rec" && ls -d -- *.data)
else
    recordings='cpu-clock-fp.data regs.data tp-sched.data group-read.data stat-read.data throttle.data switch-events.data
        addr-phys-page.data tp-dynamic.data compat32.data pipe-multi.data namespaces.data'
fi
for each in $recordings; do
    case $each in
    killed9*.data | inject-dir.data) continue ;; # perf reads nothing of them
    esac
    compare "$own/rec/$each" "$own/symfs" "$own/symfs/kallsyms" "$probe"
done
# The first two samples of a trace whose process is not known yet have no pid for perf
# (docs/python.md).
compare "$pt/rec/c_fork.data" "$pt/symfs" '' "$probe"
for each in t_sig t_ptwfup c_fork; do
    compare "$pt/rec/$each.data" "$pt/symfs" '' "$probe" --itrace=be
done
# sctop prints by the clock, export-to-... need PySide2 or psycopg, sched-migration a display.
for script in check-perf-trace compaction-times event_analyzing_sample failed-syscalls-by-pid \
    futex-contention intel-pt-events \
    mem-phys-addr net_dropmonitor netdev-times powerpc-hcalls stackcollapse stat-cpi \
    syscall-counts-by-pid syscall-counts \
    arm-cs-trace-disasm; do
    for each in cpu-clock-fp sys-wide trace-record tp-kmem tp-net; do
        compare "$own/rec/$each.data" "$own/symfs" "$own/symfs/kallsyms" "$script.py"
    done
    # of other recordings; reads sources
    case $script in stat-cpi | arm-cs-trace-disasm) continue ;; esac
    compare "$pt/rec/c_fork.data" "$pt/symfs" '' "$script.py"
done
"$work/perf" script -l >"$work/ours"
perf script -l 2>/dev/null | sort >"$work/theirs"
sed 's/ (Perl: not run)$//' "$work/ours" | sort | cmp -s - "$work/theirs" ||
    complain '-l lists other scripts'
(cd "$work" && cp "$own/rec/trace-record.data" perf.data &&
    ./perf script report syscall-counts-by-pid sysmix 2>/dev/null >ours &&
    perf script -f -s "$(perf --exec-path)/scripts/python/syscall-counts-by-pid.py" sysmix \
        2>/dev/null | cmp -s - ours) ||
    complain 'script report NAME differs'
echo "$count comparisons with perf"
[ $count -ge 60 ] || complain 'few comparisons'
exit $failed
