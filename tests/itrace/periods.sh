#!/bin/sh
# SPDX-License-Identifier: MIT
# Samples by time (--itrace=i1us and so on) are at perf's instructions, with and without branches beside them.
. "$SOURCE/tests/itrace/common.sh"
needs perf
for name in d_cut d_flipc t_ovf t_intr c_ovf t_cyc t_mtc t_tsc t_pwr c_dyn c_fork c_snap c_sample t_psb256 t_trunc; do
    for what in i1us i300t i100i bi2us; do
        same script -i "$own/rec/$name.data" --symfs "$own/symfs" "--itrace=$what" -F hw:tid,time,ip,period,event
    done
done
# Long enough for many rare samples on two CPUs at once.
make=${PERFDATA_TOOLS-}/make-big-pt/make_big_pt.py
if [ -f "$make" ]; then
    python3 "$make" "$own/rec/c_dyn.data" "$work/long.data" --mb 2 >/dev/null || complain 'no long trace'
    for what in i40us i100us; do
        same script -i "$work/long.data" --symfs "$own/symfs" "--itrace=$what" -F cpu,tid,time,ip,period,event
    done
else
    echo 'without make_big_pt.py of PERFDATA_TOOLS: no long trace is compared'
fi
echo "$count comparisons"
exit $failed
