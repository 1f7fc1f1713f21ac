#!/bin/sh
# SPDX-License-Identifier: MIT
# Text of traces, byte by byte as perf prints it: what once differed.
. "$SOURCE/tests/itrace/common.sh"
needs perf
cd "$own/symfs"
while read -r name verb options; do
    case $name in '' | '#'*) continue ;; esac
    # shellcheck disable=SC2086
    same $verb $options -i "$own/rec/$name" --symfs "$own/symfs"
done <<'EOF'
# Where PSBs are: not of those that decoding begins at anew
c_snap.data script --itrace=p
c_snap.data script --itrace=qp
c_snap.data script --itrace=qqp
t_snapgap.data script --itrace=bep
d_noise.data script --itrace=qp
# An overflow is no instruction
t_ovf.data script --itrace=qi0ns
c_ovf.data script --itrace=qibe
# Time of steps that were not asked for
d_noise.data script --itrace=p
d_noise.data script --itrace=i500i
# Only a part of the time: cycles, counts and samples before it
c_ovf.data script --itrace=be --ns --time 18000.000303192,18000.000488781
t_snap.data script --itrace=be --time 20%-40%
c_snap.data script --itrace=i10us --ns --time 50%-60%
c_sample.data script --itrace=i10us --ns --time 40%-60%
# A PSB without an address, met where one is looked for
c_ovf.data script --itrace=Zb
c_psbeach.data script --itrace=Ze
# ... where the kernel switches tasks in what is jumped over
k_konly script --itrace=b --time 10%-40%
k_poke script --itrace=i10us --ns --time 18000.000830269,18000.001324780
v_code script --itrace=b --time 10%-40%
# ... a thread that ran in a buffer that was jumped into has its calls still when it comes to
# another CPU
k_vmlinux.data script --call-trace --ns --time 30%-60%
k_task script --itrace=i10usg --time 60%-90%
v_code script --itrace=i10usl -F ip,brstack --time 30%-60%
k_poke script --call-trace --ns --time 30%-60%
# Several parts, of which the next may begin in the buffer that is walked
v_tsc script --itrace=be --time 14.02%-14.32%,18.32%-18.62%,26.62%-26.72%
v_code script --itrace=be --time 12.77%-15.77%,17.77%-20.77%,28.77%-29.77%
k_task script --itrace=be --time 2.77%-5.77%,9.77%-10.07%,12.07%-12.17%
k_vmlinux.data script --itrace=be --time 56.36%-59.36%,61.36%-62.36%,64.36%-64.66%
# What is not asked for is not skipped either
t_event.data script --itrace=bs100
t_event.data script --itrace=Ibs100
# Only within a function: how deep it is, of ordinary samples, too
c_psbeach.data script --call-trace --graph-function tree
c_sample.data script --call-ret-trace --graph-function run
c_tracepoint.data script --call-ret-trace --graph-function tree
# Branches of idle tasks: known where their calls are
k_cpu script --itrace=i10usl -F cpu,tid,ip,brstack
k_cpu script --itrace=i10usgl -F cpu,tid,ip,brstack
# Where tracing begins, the instruction that it ended at, though another task ran at a PSB in
# between
k_uonly script --itrace=b -F tid,ip,addr,flags,insnlen,insn
# Rows of equal weight: whether their first samples are of one thread, whatever it was called then
c_threads4.data report --stdio
c_dyn.data report --stdio --children
# PEBS records without a chain: their callers are counted by the chain before, their own rows have
# none
t_pebs.data report --stdio -s sym,dso -n
t_pebs.data report --stdio --itrace=gGi100usoe
# The column of symbols has room for the modules that are not printed
v_tsc report --stdio --itrace=i1us --no-children
v_code report --stdio --itrace=cr --no-children -s sym
# A chain for recorded samples brings no fields to those that are made
c_sample.data script --itrace=i10usG -F cpu,tid
c_tracepoint.data script --itrace=i10usGL -F ip,brstack
# Records as they lie in the file, and which function was patched
k_poke script -D
c_fork.data script --dump-unsorted-raw-trace
d_flip.data script --dump-unsorted-raw-trace
EOF
echo "$count comparisons"
[ $count -gt 0 ] || complain 'nothing was compared'
exit $failed
