#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 27: sums of a profile are one a thread, or with PERFDATA_PROFILE_SUMS_BY_COMM one a name,
# told of the first thread that has it, with any number of threads that read. A thread that changes
# its name counts for both.
set -u
export LC_ALL=C PERF_CONFIG=/dev/null TZ=UTC
sums=$1
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
failed=0
# 200 threads: tid 1, 4, 7 ... are "a", others "b"; each has 40 samples at one address. Then thread
# 1 becomes "b" and has ten more.
awk '
function stamp(pid) { return sprintf("pid=%d tid=%d time=1.%09ds", pid, pid, now++) }
function name(pid, comm) { printf "record COMM {pid=%d tid=%d comm=\"%s\" sample_id={%s}}\n", pid, pid, comm, stamp(pid) }
function sample(pid) { printf "record SAMPLE misc=0x2 {ip=0x1000 period=3 %s}\n", stamp(pid) }
BEGIN {
    print "perfdata-text 1"
    print "container file order=little header_size=104"
    print "attr cpu-clock={type=software size=128 sample_period=3 sample_type=IP|TID|TIME|PERIOD flags=sample_id_all|comm} ids=[7]"
    print "ids cpu-clock\nattrs\ndata"
    for (p = 1; p <= 200; p++)
        name(p, p % 3 == 1 ? "a" : "b")
    for (round = 0; round < 40; round++)
        for (p = 1; p <= 200; p++)
            sample(p)
    name(1, "b")
    for (i = 0; i < 10; i++)
        sample(1)
    print "end\nfeatures\n"
}' >"$t/rec.pdt"
"$PERFDATA" assemble "$t/rec.pdt" -o "$t/rec.data" || exit 1
printf '%s\n' 'a|1|2680|8040' 'b|2|5330|15990' >"$t/by-comm"
awk 'BEGIN {
    for (p = 1; p <= 200; p++)
        printf "%s|%d|40|120\n", p % 3 == 1 ? "a" : "b", p
    print "b|1|10|30"
}' >"$t/by-thread"
for threads in 1 2 8; do
    for by in 0:thread 1:comm; do
        "$sums" "$t/rec.data" "${by%:*}" $threads >"$t/out" || failed=1
        diff "$t/by-${by#*:}" "$t/out" >"$t/diff" ||
            { echo "wrong by ${by#*:} with $threads threads:"; head -20 "$t/diff"; failed=1; }
    done
done
exit $failed
