#!/bin/sh
# SPDX-License-Identifier: MIT
# Samples by time (--itrace=i1us and so on) are at perf's instructions, with and without branches
# beside them.
. "$SOURCE/tests/itrace/common.sh"
needs perf
for name in d_cut d_flipc t_ovf t_intr c_ovf t_cyc t_mtc t_tsc t_pwr c_dyn c_fork c_snap c_sample \
    t_psb256 t_trunc; do
    for what in i1us i300t i100i bi2us; do
        same script -i "$own/rec/$name.data" --symfs "$own/symfs" "--itrace=$what" \
            -F hw:tid,time,ip,period,event
    done
done
# Long enough for many rare samples on two CPUs at once.
if [ -f "$make_big" ]; then
    repeat_to "$own/rec/c_dyn.data" "$work/long.data" --mb 2 || :
    for what in i40us i100us; do
        same script -i "$work/long.data" --symfs "$own/symfs" "--itrace=$what" \
            -F cpu,tid,time,ip,period,event
    done
else
    echo 'without make_big_pt.py of PERFDATA_TOOLS: no long trace is compared'
fi
# Without the walk each TIP is a sample, whatever the period: queues are told in the order of their
# time all the way. Here other packets stand in the trace of one CPU.
cp "$own/rec/c_wide.data" "$work/packets.data" && chmod u+w "$work/packets.data"
printf '%b' \
    '\0056\0131\0237\0007\0056\0131\0240\0007\0056\0131\0241\0007\0056\0131\0242\0007\0056\0131\0243\0267' \
    '\0016\0231\0001\0061\0005\0002\0253\0004\0055\0121\0002\0213\0055\0101\0002\0133\0055\0101\0002\0163' |
    dd of="$work/packets.data" bs=1 seek=11999 conv=notrunc 2>/dev/null
for what in qi100us qi100usxe; do
    same script -i "$work/packets.data" --symfs "$own/symfs" "--itrace=$what" \
        -F tid,time,ip,period,event
done
echo "$count comparisons"
exit $failed
