#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 27: each process's mapping of an object that occurs is there, once, in the order of the
# records, with any number of threads: 300 processes have one program, most at the same place, and
# share what is known of its addresses.
set -u
export LC_ALL=C PERF_CONFIG=/dev/null TZ=UTC
mappings=$1
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
failed=0
awk -v expected="$t/expected" '
function stamp(pid) { return sprintf("sample_id={pid=%d tid=%d time=%d.%09ds}", pid, pid, 1 + now / 1e9, now++) }
function place_of(p) { return p % 10 ? 4194304 : 8388608 }
function map(pid, addr, file) {
    printf "record MMAP2 misc=0x2 {pid=%d tid=%d addr=0x%x len=0x1000 prot=READ|EXEC", pid, pid, addr
    printf " flags=PRIVATE filename=\"%s\" %s}\n", file, stamp(pid)
}
BEGIN {
    print "perfdata-text 1"
    print "container file order=little header_size=104"
    print "attr cpu-clock={type=software size=128 sample_period=1000000 sample_type=IP|TID|TIME flags=sample_id_all|mmap2|comm} ids=[7]"
    print "ids cpu-clock\nattrs\ndata"
    for (p = 1; p <= 300; p++) {
        place = place_of(p)
        printf "record COMM {pid=%d tid=%d comm=\"c%d\" %s}\n", p, p, p, stamp(p)
        map(p, place, "/own/bin/spin")
        map(p, 1610612736, "/lib/never-seen.so")
        if (p % 50 == 0)
            map(p, place, "/own/bin/spin") # told again
        printf "%d|%x|%x|0|spin\n", p, place, place + 4096 > expected
        # A thread and a process that is forked off have the same maps, which are not told again.
        printf "record FORK {pid=%d ppid=%d tid=%d ptid=%d %s}\n", p + 1000, p, p + 1000, p, stamp(p)
    }
    for (round = 0; round < 80; round++)
        for (p = 1; p <= 300; p++) {
            place = place_of(p)
            pid = round % 2 ? p + 1000 : p
            printf "record SAMPLE misc=0x2 {ip=0x%x pid=%d tid=%d time=1.%09ds}\n", place + 340 + 3 * round, pid, pid, now++
        }
    print "end\nfeatures\n"
}' >"$t/rec.pdt"
"$PERFDATA" assemble "$t/rec.pdt" -o "$t/rec.data" || exit 1
for threads in 1 2 3 8; do
    "$mappings" "$t/rec.data" "$SOURCE/tests/data/demo/symfs" $threads >"$t/out" || failed=1
    diff "$t/expected" "$t/out" >"$t/diff" ||
        { echo "wrong with $threads threads:"; head -20 "$t/diff"; failed=1; }
done
exit $failed
