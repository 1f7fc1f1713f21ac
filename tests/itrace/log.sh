#!/bin/sh
# SPDX-License-Identifier: MIT
# The debug log (--itrace=d), as perf writes it: among the lines, in its file, before errors only.
. "$SOURCE/tests/itrace/common.sh"
needs perf
mkdir "$work/perf" "$work/perfdata"

# both NAME ARGUMENTS...: the same text, and the same intel_pt.log.
both() {
    name=$1
    shift
    for program in perf "$PERFDATA"; do
        folder=$work/$(basename "$program")
        rm -f "$folder/intel_pt.log"
        (cd "$folder" &&
            "$program" "$@" -i "$own/rec/$name" --symfs "$own/symfs" 2>/dev/null) >"$folder/text" ||
            :
    done
    count=$((count + 1))
    if [ -s "$work/perf/text" ] || [ -s "$work/perf/intel_pt.log" ]; then said=something;
        else said=nothing; fi
    [ "$said" = "${says:-something}" ] || complain "$name $*: perf says $said"
    for file in text intel_pt.log; do
        if [ -e "$work/perf/$file" ] || [ -e "$work/perfdata/$file" ]; then
            cmp "$work/perf/$file" "$work/perfdata/$file" || complain "$name $*: $file differs"
        fi
    done
}

for name in t_ptw.data t_notsc.data t_cbr.data t_eptw.data t_filter.data t_tracestop.data \
    c_ovf.data c_dyn.data c_tracepoint.data \
    c_snap.data c_sample.data d_noise.data d_cut.data k_cpu k_poke k_vmlinux.data v_code; do
    both $name script --itrace=ed+o
    both $name script --itrace=ed+oq
done
both t_ovf.data script --itrace=bed+o
both t_trunc.data script --itrace=ed
both t_event.data script --itrace=i1usbepwxId+o
both d_flip.data script --itrace=ed+e+o
both d_flip.data script --itrace=ed-a+o
says=nothing both t_ovf.data script --itrace=e-od+e+o # the errors left out are no errors
both d_noise2.data script --itrace=bd
both d_noise2.data report --itrace=i10usd --stats
both t_snap.data script --itrace=bed+o --time 20%-40%
both c_ovf.data script --itrace=be --time 18000.000303192,18000.000488781
# Issue 24, point 19: with +a the records outside of the span of time are logged, too.
both c_tracepoint.data script --itrace=ed+a --time 18000.000077,18000.000110
both t_jit.data script --itrace=bed+a+o --time 18000.000021,18000.000028
both c_sample.data script --itrace=ed --time 18000.000170,18000.000281
printf '[itrace]\n\tdebug-log-buffer-size = 300\n' >"$work/config"
PERF_CONFIG=$work/config both d_noise.data script --itrace=ed+e
echo "$count comparisons"
exit $failed
