#!/bin/sh
# SPDX-License-Identifier: MIT
# The debug log (--itrace=d), as perf writes it: among the lines, in its file, before errors only.
set -u
export LC_ALL=C TZ=UTC PERF_CONFIG=/dev/null
[ -n "${PERFDATA_CORPUS-}" ] || { echo 'skipped: PERFDATA_CORPUS is not set'; exit 77; }
own=$PERFDATA_CORPUS/own-pt
[ -d "$own/rec" ] || { echo 'skipped: the corpus has no own-pt'; exit 77; }
command -v perf >/dev/null || { echo 'skipped: perf is not installed'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/perf" "$work/perfdata"
failed=0 count=0

# both NAME ARGUMENTS...: the same text, and the same intel_pt.log.
both() {
    name=$1
    shift
    for program in perf "$PERFDATA"; do
        folder=$work/$(basename "$program")
        rm -f "$folder/intel_pt.log"
        (cd "$folder" && "$program" "$@" -i "$own/rec/$name" --symfs "$own/symfs" 2>/dev/null) >"$folder/text"
    done
    count=$((count + 1))
    for file in text intel_pt.log; do
        if [ -e "$work/perf/$file" ] || [ -e "$work/perfdata/$file" ]; then
            cmp "$work/perf/$file" "$work/perfdata/$file" || { echo "$name $*: $file differs" >&2; failed=1; }
        fi
    done
}

for name in t_ptw.data t_notsc.data t_cbr.data t_eptw.data t_filter.data t_tracestop.data c_ovf.data c_dyn.data c_tracepoint.data \
    c_snap.data c_sample.data d_noise.data d_cut.data k_cpu k_poke k_vmlinux.data v_code; do
    both $name script --itrace=ed+o
    both $name script --itrace=ed+oq
done
both t_ovf.data script --itrace=bed+o
both t_trunc.data script --itrace=ed
both t_event.data script --itrace=i1usbepwxId+o
both d_flip.data script --itrace=ed+e+o
both d_flip.data script --itrace=ed-a+o
both t_ovf.data script --itrace=e-od+e+o
both d_noise2.data script --itrace=bd
both d_noise2.data report --itrace=i10usd --stats
both t_snap.data script --itrace=bed+o --time 20%-40%
both c_ovf.data script --itrace=be --time 18000.000303192,18000.000488781
printf '[itrace]\n\tdebug-log-buffer-size = 300\n' >"$work/config"
PERF_CONFIG=$work/config both d_noise.data script --itrace=ed+e
echo "$count comparisons"
exit $failed
