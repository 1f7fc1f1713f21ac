# SPDX-License-Identifier: MIT
# A recording as text (perfdata assemble): `samples` of them at 0x400800, 10,000 a second from 2 s
# on, the first half of a process half1, the second half of half2.
BEGIN {
    print "perfdata-text 1\ncontainer file order=little header_size=104"
    fields = "IP|TID|TIME|CPU|PERIOD flags=mmap|comm|task|sample_id_all"
    print "attr cycles:HG={size=128 sample_type=" fields "} ids=[7]"
    print "ids cycles:HG\nattrs\ndata"
    for (pid = 100; pid < 102; pid++) {
        printf "record COMM {pid=%d tid=%d comm=\"half%d\" ", pid, pid, pid - 99
        printf "sample_id={pid=%d tid=%d time=1.000000000s cpu=1}}\n", pid, pid
    }
    for (i = 0; i < samples; i++) {
        pid = 100 + (i >= samples / 2)
        printf "record SAMPLE misc=0x2 {ip=0x400800 pid=%d tid=%d ", pid, pid
        printf "time=%.9fs cpu=1 period=10}\n", 2 + i / 10000
    }
    print "end"
}
