#!/bin/sh
# SPDX-License-Identifier: MIT
# script --pt-events beside perf's own script intel-pt-events.py.
. "$SOURCE/tests/itrace/common.sh"
needs perf
script=$(perf --exec-path 2>/dev/null)/scripts/python/intel-pt-events.py
[ -f "$script" ] || { echo 'skipped: perf has no intel-pt-events.py here'; exit 77; }
for name in t_ptw t_pwr c_threads c_switch2 c_dyn c_sample t_ovf t_trunc t_tsx t_pebs t_notsc d_noise; do
    perf script --itrace=bepwxI -i "$own/rec/$name.data" --symfs "$own/symfs" -s "$script" >"$work/perf" 2>/dev/null || :
    [ -s "$work/perf" ] || { echo 'skipped: perf cannot run Python here'; exit 77; }
    "$PERFDATA" script --pt-events -i "$own/rec/$name.data" --symfs "$own/symfs" >"$work/perfdata" 2>/dev/null || :
    cmp "$work/perf" "$work/perfdata" || complain "$name differs"
    count=$((count + 1))
done
echo "$count comparisons"
exit $failed
