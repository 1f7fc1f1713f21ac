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
echo "$count comparisons"
exit $failed
