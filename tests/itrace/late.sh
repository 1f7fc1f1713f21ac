#!/bin/sh
# SPDX-License-Identifier: MIT
# Processors that have been up for weeks: from 2**52 on their TSC is rounded where it is computed
# with as a double, so that times differ from those of the same trace in the first minutes, and
# equal perf's.
. "$SOURCE/tests/itrace/common.sh"
needs perf
late=$work/late.data
vmlinux=$own/symfs/boot/vmlinux-tp
for bit in 51 52 53 54 55; do
    for name in t_cyc c_dyn c_fork k_vmlinux; do
        python3 "$SOURCE/tests/itrace/late_trace.py" "$own/rec/$name.data" "$late" $bit ||
            complain "$name: no trace"
        code="--symfs $own/symfs"
        [ $name != k_vmlinux ] || code="-k $vmlinux"
        for itrace in i10us i1us i100ns i1usxwI b qi; do
            # shellcheck disable=SC2086
            same script --ns --itrace=$itrace -F comm,tid,time,event,ip,flags $code -i "$late"
        done
    done
done
[ $failed = 0 ] && echo "$count texts are perf's"
exit $failed
