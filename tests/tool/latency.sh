#!/bin/sh
# SPDX-License-Identifier: MIT
# report --latency and the keys latency and parallelism of newer perf. The recording is the example
# of perf's manual: foo runs 9 seconds on one thread, bar one second on 128: of what processors work
# 6.6 and 93.4 %, of the time that passes 90 and 10 %.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export HOME="$work" PERF_CONFIG=/dev/null COLUMNS=160
failed=0

# A sample each tenth of a second and thread that runs; then all but one of the threads stop: one
# ends, the others leave their processors.
awk 'BEGIN {
    print "perfdata-text 1"
    print "container file order=little header_size=104"
    print "attr cycles={type=hardware size=128 sample_period=3 " \
        "sample_type=IDENTIFIER|IP|TID|TIME|CPU|CALLCHAIN read_format=id " \
        "flags=sample_id_all|context_switch} ids=[3]"
    print "ids cycles\nattrs\ndata"
    time = 18000
    comm(100, "work")
    for (i = 0; i < 90; i++) {
        time += 0.1
        sample(100, "0x401000")
    }
    for (tid = 101; tid < 228; tid++) {
        comm(tid, "many")
        switches(tid, 0)
    }
    switches(0, 0) # the idle task is no work
    for (i = 0; i < 10; i++) {
        time += 0.1
        for (tid = 100; tid < 228; tid++)
            sample(tid, "0x402000")
    }
    for (tid = 101; tid < 227; tid++)
        switches(tid, "0x2000")
    print "record EXIT {pid=100 ppid=100 tid=227 ptid=100 " id(227) "}"
    print "end"
}
function id(tid) {
    return sprintf("sample_id={pid=100 tid=%d time=%.9fs cpu=%d identifier=3}", tid, time,
        tid - 100)
}
function comm(tid, name) {
    printf "record COMM {pid=100 tid=%d comm=\"%s\" %s}\n", tid, name, id(tid)
}
function switches(tid, out) {
    printf "record SWITCH misc=%s {%s}\n", out, id(tid)
}
function sample(tid, ip) {
    printf "record SAMPLE misc=0x2 {ip=%s pid=100 tid=%d time=%.9fs cpu=%d " \
        "ips=[0xfffffffffffffe00 %s 0x404000]}\n", ip, tid, time, tid - 100, ip
}' >manual.pdt
last='record SAMPLE misc=0x2 {ip=0x403000 pid=100 tid=100 time=18010.2s cpu=0 ips=[]}'
sed "s/^end\$/$last\\nend/" manual.pdt >more.pdt
sed 's/|context_switch//; /^record SWITCH/d' manual.pdt >without.pdt
for name in manual more without; do
    "$PERFDATA" assemble -o $name.data $name.pdt || exit 1
done

# expect TEXT OPTIONS...: the rows, blanks as one.
expect() {
    text=$1
    shift
    for jobs in 1 4; do
        "$PERFDATA" report --stdio -g none -j $jobs "$@" 2>err |
            sed '/^#* *$/d; /^# [T(.]/d; /^# Sam/d; /^# Eve/d; s/  */ /g; s/^ //; s/ $//' >out
        [ "$(cat out)" = "$text" ] && continue
        echo "report $* with $jobs threads:"
        cat out err
        failed=1
    done
}
expect '# Latency Overhead Symbol
90.00% 6.57% [.] 0x0000000000401000
10.00% 93.43% [.] 0x0000000000402000' --latency -s sym -i manual.data
expect '# Overhead Symbol
93.43% [.] 0x0000000000402000
6.57% [.] 0x0000000000401000' --no-children -s sym -i manual.data
expect '# Overhead Latency Parallelism Command
6.57% 90.00% 1 work
92.70% 9.92% 128 many
0.73% 0.08% 128 work' -s latency,parallelism,comm -i manual.data
expect '# Overhead Latency Parallelism / Command
6.57% 90.00% 1
6.57% 90.00% work
93.43% 10.00% 128
92.70% 9.92% many
0.73% 0.08% work' --hierarchy -s latency,parallelism,comm -i manual.data
expect '# Parallelism Latency
1 90.00%
128 10.00%' -F parallelism,latency -i manual.data
# Whoever left its processor, or ended, runs no more.
expect '# Latency Parallelism Symbol
89.11% 1 [.] 0x0000000000401000
9.90% 128 [.] 0x0000000000402000
0.99% 1 [.] 0x0000000000403000' -F latency,parallelism,sym -i more.data
# Of what a filter leaves.
expect '# comm: many
# Latency Overhead Command
100.00% 100.00% many' --latency --percentage relative -c many -s comm -i manual.data
[ "$("$PERFDATA" report --json --latency -s comm -i manual.data 2>err | head -n 1)" = \
    '{"event":"cycles:HG","latency":90.078125,"overhead":7.299270,"comm":"work"}' ] ||
    { echo 'JSON:'; "$PERFDATA" report --json --latency -s comm -i manual.data; failed=1; }

# refuses WORDS OPTIONS...
refuses() {
    words=$1
    shift
    "$PERFDATA" report --stdio "$@" >out 2>err && { echo "report $*: exit 0"; failed=1; }
    grep -qF "$words" err || { echo "report $*:"; cat err; failed=1; }
}
refuses 'No context switches were recorded' --latency -i without.data
refuses 'No context switches were recorded' -s parallelism -i without.data
refuses 'latency and parallelism of callers (--children)' --children --latency -i manual.data
refuses 'latency and parallelism of branches and accesses' \
    --latency -b -i "$SOURCE/tests/data/script/lbr.data"
exit $failed
