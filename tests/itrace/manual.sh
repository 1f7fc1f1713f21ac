#!/bin/sh
# SPDX-License-Identifier: MIT
# manual.sh ROW: what the manual of Intel PT names, each row as perf has it. Without ROW: all rows,
# by name.
set -u
rows='quickstart insn-trace ipc database config-terms aux-sample snapshot sizes build-ids modes switches letters error-flags periods
    stack-sizes sampling-stacks no-itrace skip quick dump report-defaults autofdo pebs machines event-trace tnt-disable
    emulated-ptwrite pipe perfconfig'
[ $# -gt 0 ] || { echo "$rows"; exit 0; }
. "$SOURCE/tests/itrace/common.sh"
set +e # what fails is looked at
needs perf
cd "$own/symfs" || exit 1

# RECORDING VERB OPTIONS...: perf's text, which says something; with says=nothing it does not, and
# nothing fails.
same() {
    recording=$own/rec/$1
    shift
    case $1 in script | report) set -- "$@" --symfs "$own/symfs" ;; esac
    perf "$@" -i "$recording" >"$work/perf" 2>/dev/null </dev/null
    "$PERFDATA" "$@" -i "$recording" >"$work/ours" 2>"$work/said" </dev/null
    code=$?
    count=$((count + 1))
    # report ends with a tip that is drawn by lot
    for text in perf ours; do
        sed '/^# (\(Tip:\|Cannot load tips\)/d' "$work/$text" >"$work/$text.plain"
    done
    cmp -s "$work/perf.plain" "$work/ours.plain" ||
        complain "$(basename "$recording"): $*: differs from perf"
    if [ "${says-}" = nothing ]; then
        [ $code = 0 ] && [ ! -s "$work/ours" ]
    else
        [ -s "$work/ours" ]
    fi || complain "$(basename "$recording"): $*: does not say ${says-something}"
}

# What the last output must have.
has() {
    grep -q -e "$1" "$work/ours" || complain "no '$1' there"
}

quickstart() {
    same k_cpu script --itrace=i1usge -F+flags # a directory of --kcore
    same t_tsc.data script
    same t_tsc.data script --itrace=i1usge
    same k_cpu script --itrace=be -F+flags
    has 'syscall'
}

insn_trace() {
    same t_ptw.data script --insn-trace
    has 'insn: '
    same t_ptw.data script --call-trace
    same t_ptw.data script --call-ret-trace
    same c_threads.data script --insn-trace -C 0
    same t_ptw.data script --insn-trace --time 18000.000001,18000.000004
    "$PERFDATA" script -i "$own/rec/t_ptw.data" --symfs "$own/symfs" \
        --insn-trace --xed >"$work/ours"
    has 'ptwrite'
}

ipc() {
    same t_cyc.data script --itrace=be -F+ipc
    has 'IPC:'
    same t_cyc.data script --itrace=beA -F+ipc
    same t_cyc.data script --itrace=i1usA -F+ipc
    filters=$(perf --exec-path)/dlfilters
    [ ! -e "$filters/dlfilter-show-cycles.so" ] ||
        same t_cyc.data script --itrace=be --dlfilter "$filters/dlfilter-show-cycles.so"
    "$PERFDATA" script -i "$own/rec/t_cyc.data" --symfs "$own/symfs" --itrace=be \
        --dlfilter show-cycles >"$work/ours"
    [ -s "$work/ours" ] || complain 'show-cycles says nothing'
}

database() {
    "$PERFDATA" export sqlite -i "$own/rec/t_cyc.data" --symfs "$own/symfs" --calls -o "$work/db" ||
        complain 'no database'
    [ "$(head -c 15 "$work/db")" = 'SQLite format 3' ] || complain 'no database'
    "$PERFDATA" export postgresql -i "$own/rec/t_cyc.data" --symfs "$own/symfs" -o "$work/sql" ||
        complain 'no script for psql'
    grep -q 'CREATE TABLE' "$work/sql" || complain 'the script for psql makes no tables'
    count=$((count + 2))
}

# As they are recorded; how they are asked for: record/intel_pt.
config_terms() {
    for name in t_tsc t_notsc t_noretcomp t_psb256 t_mtc t_mtc9 t_cyc t_cyct t_ptw t_ptwfup \
        t_ptwonly t_pwr t_event t_notnt; do
        same $name.data evlist -v
        has 'config: 0x\|type: '
        same $name.data script --itrace=e --header
    done
}

aux_sample() {
    for name in c_sample c_sample8k; do
        same $name.data script --itrace=be
        same $name.data evlist -v
        has 'aux_sample_size'
    done
}

snapshot() {
    for name in t_snap t_snapgap c_snap; do
        same $name.data script --itrace=be
    done
}

sizes() {
    same t_trunc.data script --itrace=e
    has 'code 8: Lost trace data'
    same t_trunc.data script --itrace=i1us
    same c_ovf.data script --itrace=e
    has 'code 7: Overflow packet'
    same t_trunc.data script --itrace=e --show-lost-events
}

build_ids() {
    for name in c_forkbid c_threads4; do
        same $name.data buildid-list --with-hits
        cp "$work/ours" "$work/hits"
        same $name.data buildid-list
        cmp -s "$work/ours" "$work/hits" || complain "$name: not all objects count as hit"
    done
}

modes() {
    same t_threads.data script --itrace=be # per thread
    same c_threads.data script --itrace=be # per CPU
    same t_attach.data script --itrace=be
    same k_task script --itrace=be
    same k_thread script --itrace=be
}

switches() {
    same c_tracepoint.data script --itrace=b # sched:sched_switch
    same k_vmlinux.data script --itrace=e
    same c_switch2.data script --itrace=b --show-switch-events
    same c_threads.data script --itrace=b --show-switch-events
    has 'PERF_RECORD_SWITCH_CPU_WIDE'
    same k_cpu script --itrace=b
}

letters() {
    while read -r name what; do
        same "$name.data" script "--itrace=$what"
    done <<'EOF'
t_cyc i1us
t_cyc b
t_cyc c
t_cyc r
t_ovf e
t_tsx x
t_ptw w
t_pwr p
t_event I
t_pebs o
t_cyc i1usg
t_cyc i1usl
c_sample G
c_sample L
t_cyc bs100
t_cyc qi1us
t_cyc i1usA
t_cyc Zi100i
EOF
    # perf 6.1 has no y yet: refused, as there
    ! "$PERFDATA" script -i "$own/rec/t_cyc.data" --symfs . --itrace=y1us >"$work/ours" \
        2>/dev/null ||
        complain '--itrace=y is taken'
}

error_flags() {
    same t_ovf.data script --itrace=e
    has 'code 7'
    says=nothing same t_ovf.data script --itrace=e-o-l
    same d_noise.data script --itrace=e-o-l
    same t_trunc.data script --itrace=e-o
}

periods() {
    same c_sample.data script --itrace=i
    same c_sample.data script --itrace=i1ms
    for what in i1000i i100t i2us i500ns i0i i0ns i0us; do
        same t_mtc0.data script --itrace=$what
    done
}

stack_sizes() {
    same t_cyc.data report --stdio --itrace=i10usgl -g caller,branch \
        # branches are counted, no chains drawn
    for what in g g4 g1024 l l4 l1024 g16l16; do
        same t_cyc.data script --itrace=i2us$what -F comm,ip,sym,brstack
    done
}

sampling_stacks() {
    for what in G G4 L L4 GL; do
        same c_sample.data script --itrace=$what
    done
    same t_pebs.data script --itrace=o # each PEBS record is a sample with its own time
}

no_itrace() {
    same c_sample.data script --no-itrace
    same t_ptw.data script --no-itrace -D
}

skip() {
    same t_psb256.data script --itrace=i0nss20000
    same t_cyc.data script --itrace=bs100
    says=nothing same t_cyc.data script --itrace=i0nss1000000
}

quick() {
    for name in t_cyc t_psb256 t_notsc c_dyn; do
        same $name.data script --itrace=qibe
        same $name.data script --itrace=qqi
    done
}

dump() {
    same t_ptw.data script -D
    has 'PSBEND'
    same t_pwr.data report -D
}

report_defaults() {
    same t_tsc.data report --stdio
    same t_ptw.data report --stdio
    same t_ptw.data report --stdio --itrace=i100usg
    # ... of which without chains none are made
    same t_ptw.data report --stdio -g none
    same k_thread report --stdio -g none --itrace=i10usg -s sym,parent
    same c_sample.data report --stdio -g none --itrace=i10usG
    # -v: of a kernel that a file shows the addresses in memory; of branches, too
    same k_thread report --stdio -v --itrace=i1usg
    has '0xffffffff81000400 k \[k\]'
    same k_vmlinux.data report --stdio -v -k boot/vmlinux-tp
    has '0xffffffff8100092f v \[k\]'
    same k_cpu report --stdio -v -b --itrace=i10usl
    same k_thread report --stdio -v -b --itrace=i10usl -s sym,symbol_from,symbol_to
}

autofdo() {
    rm -rf "$work/one" "$work/two"
    printf '[intel-pt]\n\tmispred-all = on\n' >"$work/config"
    for program in perf "$PERFDATA"; do
        PERF_CONFIG=$work/config "$program" inject --itrace=i100usle \
            --strip -i "$own/rec/t_psb16k.data" \
            -o "$work/$(basename "$program").inj" 2>/dev/null
        perf script -i "$work/$(basename "$program").inj" --symfs . -F ip,brstack \
            >"$work/$(basename "$program").text" 2>/dev/null
    done
    cmp -s "$work/perf.text" "$work/perfdata.text" ||
        complain 'inject --itrace --strip: differs from perf'
    PERF_CONFIG=$work/config "$PERFDATA" inject --itrace=i100usle \
        --strip -i "$own/rec/t_psb16k.data" \
        --symfs "$own/symfs" -o "$work/placed.inj" 2>/dev/null
    "$PERFDATA" script -i "$work/placed.inj" -F brstack | grep -q '/M/' ||
        complain 'no branch is mispredicted'
    count=$((count + 1))
}

pebs() {
    same t_pebs.data script --itrace=oe
    same t_pebs.data evlist -v
    has 'aux_output'
}

machines() {
    same v_code script --guest-code --itrace=be -F+flags
    has 'vmentry'
    same v_code script --guest-code --insn-trace
    same v_code script --guestkallsyms "$own/rec/v_code/kcore_dir/kallsyms" --itrace=be
    same v_code script --guestmount "$work" --itrace=be -F machine_pid,vcpu,comm,ip,addr
    cp -r "$own/rec/v_tsc" "$work/rec"
    "$PERFDATA" inject -i "$work/rec" --vm-time-correlation=dry-run 2>"$work/ours"
    has 'VMCS: .* TSC Offset'
}

event_trace() {
    same t_event.data script --itrace=Ie
    has 'cfe: '
    has 'iflag'
    same t_event.data script --itrace=be -F+flags
    has '(.*[Dt].*)'
}

tnt_disable() {
    same t_notnt.data script --itrace=i0nse
    same t_notnt.data script --itrace=be
}

emulated_ptwrite() {
    same t_eptw.data script --itrace=we
    has 'payload: '
    same t_eptw.data script --itrace=e
}

pipe() {
    "$PERFDATA" inject -i "$own/rec/t_ptw.data" -o - 2>/dev/null >"$work/pipe"
    "$PERFDATA" script -i "$work/pipe" --symfs . --itrace=be >"$work/ours" 2>/dev/null
    "$PERFDATA" script -i "$own/rec/t_ptw.data" --symfs . --itrace=be >"$work/file" 2>/dev/null
    [ -s "$work/file" ] || complain 'nothing is shown'
    # of a thread's own buffer all that ran is in the pipe, too
    cmp -s "$work/file" "$work/ours" || complain 'a pipe recording in a file shows something else'
    # perf warns that its own order cannot be relied upon there; ours is that of the file
    # shellcheck disable=SC2002 # a file as stdin is no pipe
    cat "$work/pipe" | "$PERFDATA" script -i - --symfs . --itrace=be >"$work/ours" 2>/dev/null || :
    cmp -s "$work/file" "$work/ours" || complain 'what comes through a pipe is shown otherwise'
    count=$((count + 1))
}

perfconfig() {
    for key in 'mispred-all = on' 'max-loops = 5' 'cache-divisor = 8'; do
        printf '[intel-pt]\n\t%s\n' "$key" >"$work/config"
        PERF_CONFIG=$work/config
        same t_cyc.data script --itrace=i2usl -F ip,brstack
        same t_longtnt.data script --itrace=e --header
    done
    PERF_CONFIG=/dev/null
}

for row; do
    # shellcheck disable=SC2086
    case " $(echo $rows) " in *" $row "*) ;; *) complain "no row '$row'" && continue ;; esac
    "$(echo "$row" | tr - _)"
done
echo "$count comparisons"
exit $failed
