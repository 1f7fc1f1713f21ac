#!/bin/sh
# SPDX-License-Identifier: MIT
# Samples by time (--itrace=i1us and so on) are at perf's instructions, with and without branches beside them.
set -eu
export LC_ALL=C TZ=UTC PERF_CONFIG=/dev/null
[ -n "${PERFDATA_CORPUS-}" ] || { echo 'skipped: PERFDATA_CORPUS is not set'; exit 77; }
own=$PERFDATA_CORPUS/own-pt
[ -d "$own/rec" ] || { echo 'skipped: the corpus has no own-pt'; exit 77; }
command -v perf >/dev/null || { echo 'skipped: perf is not installed'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 count=0
for name in d_cut d_flipc t_ovf t_intr c_ovf t_cyc t_mtc t_tsc t_pwr c_dyn c_fork c_snap c_sample t_psb256 t_trunc; do
    for what in i1us i300t i100i bi2us; do
        for program in perf "$PERFDATA"; do
            "$program" script -i "$own/rec/$name.data" --symfs "$own/symfs" "--itrace=$what" -F hw:tid,time,ip,period,event \
                2>/dev/null | cksum >"$work/$(basename "$program")"
        done
        count=$((count + 1))
        cmp -s "$work/perf" "$work/perfdata" || { echo "$name --itrace=$what differs" >&2; failed=1; }
    done
done
echo "$count comparisons"
exit $failed
