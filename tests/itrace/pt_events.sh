#!/bin/sh
# SPDX-License-Identifier: MIT
# script --pt-events beside perf's own script intel-pt-events.py.
set -u
export LC_ALL=C TZ=UTC PERF_CONFIG=/dev/null
[ -n "${PERFDATA_CORPUS-}" ] || { echo 'skipped: PERFDATA_CORPUS is not set'; exit 77; }
own=$PERFDATA_CORPUS/own-pt
[ -d "$own/rec" ] || { echo 'skipped: the corpus has no own-pt'; exit 77; }
script=$(perf --exec-path 2>/dev/null)/scripts/python/intel-pt-events.py
[ -f "$script" ] || { echo 'skipped: perf has no intel-pt-events.py here'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 count=0
for name in t_ptw t_pwr c_threads c_switch2 c_dyn c_sample t_ovf t_trunc t_tsx t_pebs t_notsc d_noise; do
    perf script --itrace=bepwxI -i "$own/rec/$name.data" --symfs "$own/symfs" -s "$script" >"$work/perf" 2>/dev/null
    [ -s "$work/perf" ] || { echo 'skipped: perf cannot run Python here'; exit 77; }
    "$PERFDATA" script --pt-events -i "$own/rec/$name.data" --symfs "$own/symfs" >"$work/perfdata" 2>/dev/null
    cmp "$work/perf" "$work/perfdata" || { echo "$name differs" >&2; failed=1; }
    count=$((count + 1))
done
echo "$count comparisons"
exit $failed
