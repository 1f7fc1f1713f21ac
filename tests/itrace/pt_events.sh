#!/bin/sh
# SPDX-License-Identifier: MIT
# script --pt-events beside perf's own script intel-pt-events.py.
. "$SOURCE/tests/itrace/common.sh"
needs perf
script=$(perf --exec-path 2>/dev/null)/scripts/python/intel-pt-events.py
[ -f "$script" ] || { echo 'skipped: perf has no intel-pt-events.py here'; exit 77; }
for name in t_ptw t_pwr c_threads c_switch2 c_dyn c_sample t_ovf t_trunc t_tsx t_pebs t_notsc \
    d_noise; do
    perf script --itrace=bepwxI -i "$own/rec/$name.data" --symfs "$own/symfs" -s "$script" \
        >"$work/perf" 2>/dev/null || :
    [ -s "$work/perf" ] || { echo 'skipped: perf cannot run Python here'; exit 77; }
    "$PERFDATA" script --pt-events -i "$own/rec/$name.data" --symfs "$own/symfs" >"$work/perfdata" \
        2>/dev/null || :
    cmp "$work/perf" "$work/perfdata" || complain "$name differs"
    count=$((count + 1))
done
# Its other views. What of a trace perf makes without being told so, the script asks for itself.
view() {
    name=$1 views=$2
    shift 2
    for view; do args="${args-} --$view"; done
    # shellcheck disable=SC2086
    perf script -i "$own/rec/$name.data" --symfs "$own/symfs" -s "$script" -- $args >"$work/perf" \
        2>/dev/null || :
    "$PERFDATA" script --pt-events="$views" -i "$own/rec/$name.data" --symfs "$own/symfs" \
        >"$work/perfdata" 2>/dev/null || :
    for text in perf perfdata; do # values of EVD packets are moved there
        sed 's/PFA: 0x[0-9a-f]* */PFA/' "$work/$text" >"$work/$text.plain"
    done
    cmp "$work/perf.plain" "$work/perfdata.plain" || complain "$name with $views differs"
    [ "$(wc -l <"$work/perf")" -gt 20 ] || complain "$name with $views: perf prints too little"
    count=$((count + 1)) args=
}
for name in t_ptw t_pwr c_switch2 t_event t_tsx d_noise; do
    view $name insn-trace insn-trace
done
for name in c_threads c_switch2 d_flipc; do
    view $name all-switch-events all-switch-events
    view $name insn-trace,all-switch-events insn-trace all-switch-events
done
perf script --itrace=bi100nsepwxI -i "$own/rec/t_cyc.data" --symfs "$own/symfs" -s "$script" \
    >"$work/perf" 2>/dev/null || :
"$PERFDATA" script --pt-events --itrace=bi100nsepwxI -i "$own/rec/t_cyc.data" --symfs "$own/symfs" \
    >"$work/perfdata" 2>/dev/null || :
cmp "$work/perf" "$work/perfdata" || complain 'instructions among branches differ'
code=0
"$PERFDATA" script --pt-events=insn-trace,loud -i "$own/rec/t_cyc.data" >/dev/null 2>"$work/said" ||
    code=$?
[ $code = 2 ] && grep -q "not 'loud'" "$work/said" ||
    complain 'a view that is not there is not refused'
echo "$count comparisons"
exit $failed
