#!/bin/sh
# SPDX-License-Identifier: MIT
# Lines of samples that are made of a trace, of all lengths and of threads and CPUs that take turns:
# as perf prints them, and the same text with 1, 2 and 8 threads.
. "$SOURCE/tests/itrace/common.sh"
needs perf

alike() {
    same "$@"
    for threads in 1 2 8; do
        "$PERFDATA" "$@" -j $threads >"$work/several" 2>/dev/null || :
        cmp -s "$work/ours" "$work/several" || complain "other text with $threads threads: $*"
    done
}

while read -r options; do
    for name in c_fork c_switch2 c_threads4 c_ovf t_jit t_event t_cyc k_task k_cpu k_poke \
        k_vmlinux; do
        rec=$own/rec/$name
        [ -e "$rec" ] || rec=$rec.data
        # shellcheck disable=SC2086
        alike script $options -i "$rec" --symfs "$own/symfs"
    done
done <<'EOT'
--itrace=b
--itrace=b -F comm,pid,tid,cpu,time,event,flags,ip,addr,sym,symoff
--insn-trace
--itrace=i1ie -F comm,tid,time,period,flags,ip,sym,dso,insn,insnlen
--itrace=i3ib -F ip,sym,misc --ns
EOT

# A path that makes lines longer than what is kept of an address, and those before that.
mkdir -p "$work/symfs/ptcorpus/bin"
"$PERFDATA" dump --pdt "$own/rec/t_mtc.data" >"$work/short.pdt"
for length in 1 24 25 40 56 57 58 88 90 120 124 126 128 130 142 144 146 148 150 152 170 180 182 \
    184 186 188 190 192 194 210; do
    name=$(printf "%0${length}d" 0)
    sed "s#/ptcorpus/bin/loops\"#/ptcorpus/bin/$name\"#" "$work/short.pdt" >"$work/long.pdt"
    "$PERFDATA" assemble "$work/long.pdt" -o "$work/long.data"
    cp "$own/symfs/ptcorpus/bin/loops" "$work/symfs/ptcorpus/bin/$name"
    same script --itrace=b -i "$work/long.data" --symfs "$work/symfs"
    grep -q "/$name" "$work/ours" || complain "no line of $name"
    same script --itrace=i1i -F ip,sym,symoff,dso,insn -i "$work/long.data" --symfs "$work/symfs"
done
echo "$count comparisons"
exit $failed
