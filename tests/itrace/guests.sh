#!/bin/sh
# SPDX-License-Identifier: MIT
# Guests of virtual machines: samples, and traces of a guest's kernel (timeless, --guestkallsyms),
# as perf shows them.
. "$SOURCE/tests/itrace/common.sh"
[ -d "$own/rec/k_thread" ] || { echo 'skipped: the corpus has no own-pt/rec/k_thread'; exit 77; }
needs perf
kernel=$own/rec/k_thread/kcore_dir

# The recording says something only with guests: at least so many lines.
compare() {
    least=$1
    shift
    perf script --symfs "$own/symfs" "$@" >"$work/perf" 2>/dev/null
    "$PERFDATA" script --symfs "$own/symfs" "$@" >"$work/ours" 2>/dev/null || :
    count=$((count + 1))
    cmp -s "$work/perf" "$work/ours" || complain "$*: differs from perf"
    [ "$(wc -l <"$work/ours")" -ge "$least" ] || complain "$*: says too little"
}

# Makes a trace one of a guest: each PIP packet gets NR, the lowest bit of its payload.
into_guest() {
    "$PERFDATA" aux list --json -i "$1" |
        sed 's/.*"nr":\([0-9]*\),.*"file_offset":\([0-9]*\).*/\1 \2/' >"$work/buffers"
    "$PERFDATA" aux dump --json -i "$1" |
        sed -n 's/.*"buffer":\([0-9]*\),"offset":\([0-9]*\),.*"kind":"PIP".*/\1 \2/p' |
        awk 'NR == FNR { at[$1] = $2; next } { print at[$1] + $2 + 2 }' "$work/buffers" - \
        >"$work/places"
    [ -s "$work/places" ] || complain 'the trace has no PIP packet'
    while read -r place; do
        byte=$(od -An -t u1 -j "$place" -N 1 "$1/data" | tr -d ' ')
        # shellcheck disable=SC2059
        printf "\\$(printf %o $((byte | 1)))" |
            dd of="$1/data" bs=1 seek="$place" conv=notrunc 2>/dev/null
    done <"$work/places"
}

cp -r "$own/rec/k_thread" "$work/nameless"
chmod -R u+w "$work/nameless"
into_guest "$work/nameless"

# The map of its kernel is not recorded with it: without it nothing is known of the guest.
for which in --guest-code "--guestmount $work" "--guestmodules $kernel/modules"; do
    # shellcheck disable=SC2086
    compare 300 -i "$work/nameless" $which --itrace=be -F ip,addr,sym,dso,flags
done
"$PERFDATA" dump --pdt "$work/nameless" -o "$work/texts" >/dev/null
sed '/^record MMAP misc=0x1 .*kvm-intel/a record MMAP misc=0x4 {pid=0 addr=0xffffffff81000000 len=0x2000 pgoff=0xffffffff81000000 filename="[guest.kernel.kallsyms]_text" sample_id={identifier=0}}' \
    "$work/texts/data.pdt" >"$work/texts/with.pdt"
mv "$work/texts/with.pdt" "$work/texts/data.pdt"
"$PERFDATA" assemble "$work/texts" -o "$work/kernel"
for what in --itrace=be '--itrace=be -F comm,pid,tid,misc,machine_pid,vcpu,ip,addr,sym,dso,flags' \
    --itrace=i0ns --insn-trace --call-trace \
    --itrace=i2usg '--itrace=i2usl -F ip,brstack'; do
    # shellcheck disable=SC2086
    compare 10 -i "$work/kernel" --guestkallsyms "$kernel/kallsyms" $what
done
compare 15000 -i "$work/kernel" --guestkallsyms "$kernel/kallsyms" --itrace=be
compare 15000 -i "$work/kernel" --guestkallsyms "$kernel/kallsyms" \
    --guestmodules "$kernel/modules" --itrace=be
compare 200 -i "$work/kernel" --guestmodules "$kernel/modules" --itrace=be
compare 150 -i "$work/kernel" --itrace=be

# Other samples: of the nameless guest, and of one that ID_INDEX names.
"$PERFDATA" assemble "$SOURCE/tests/data/guests/samples.pdt" -o "$work/samples"
root=$work/mount/10
mkdir -p "$root/proc" "$root/ptcorpus/bin"
cp "$kernel/kallsyms" "$root/proc/kallsyms"
cp "$own/symfs/ptcorpus/bin/ua" "$root/ptcorpus/bin/ua"
for fields in comm,pid,tid,cpu,time,event,ip,sym,symoff,dso,misc \
    machine_pid,vcpu,comm,tid,ip,sym,dso vcpu,ip machine_pid,ip; do
    compare 9 -i "$work/samples" --guestmount "$work/mount" -F "$fields"
    compare 15 -i "$work/samples" --guestmount "$work/mount" -F "$fields" \
        --show-mmap-events --show-task-events
done
"$PERFDATA" script -i "$work/samples" -F machine_pid,vcpu,ip | grep -q '^VM:   10 VCPU:000 ' ||
    complain 'the guest that ID_INDEX names is not shown'
# perf takes this very machine's kernel for that of a guest whose root is not known.
"$PERFDATA" script -i "$work/samples" -F ip,sym,dso |
    grep -q ' \[unknown\] (\[guest.kernel.kallsyms.10\])' ||
    complain 'the kernel of a guest without a root has symbols'
# report: without guests they count, but have no rows (perf then takes their kernels' maps for the
# host's modules: without those); with them threads and objects of machines are not mixed up.
grep -v '^record ID_INDEX\|^record MMAP misc=0x4' "$SOURCE/tests/data/guests/samples.pdt" \
    >"$work/plain.pdt"
"$PERFDATA" assemble "$work/plain.pdt" -o "$work/plain"
for options in '' '-n --no-children -s comm,dso'; do
    for file in plain samples; do
        # shellcheck disable=SC2086
        perf report --stdio -i "$work/$file" --symfs "$own/symfs" $options 2>/dev/null |
            grep -v '^#' | grep -v '\[g\]' >"$work/perf" || :
        # shellcheck disable=SC2086
        "$PERFDATA" report --stdio -i "$work/$file" --symfs "$own/symfs" $options | grep -v '^#' |
            grep -v '\[g\]' >"$work/ours" || :
        sed 's/  *$//; s/   */  /g' "$work/perf" >"$work/perf.plain"
        sed 's/  *$//; s/   */  /g' "$work/ours" >"$work/ours.plain"
        count=$((count + 1))
        [ -s "$work/perf.plain" ] || complain "report $options of $file: perf says nothing"
        cmp -s "$work/perf.plain" "$work/ours.plain" ||
            complain "report $options of $file: differs from perf"
    done
done
# kvm: guests beside their host, or alone; with --guest-code what runs in them is their hypervisor's
# own. Where the host's thread has no name yet perf takes it for the guest's, so it gets one.
sed '/^record COMM {pid=10/a record COMM {pid=10 tid=11 comm="vcpu" sample_id={pid=10 tid=11 time=1.0s identifier=7}}' \
    "$work/plain.pdt" >"$work/named.pdt"
"$PERFDATA" assemble "$work/named.pdt" -o "$work/named"
kvm() {
    file=$1 which=$2
    shift 2
    # shellcheck disable=SC2086
    perf kvm $which -i "$file" report --stdio --symfs "$own/symfs" "$@" 2>/dev/null |
        grep -v '^# (' >"$work/perf" || :
    for threads in 1 4; do
        # shellcheck disable=SC2086
        "$PERFDATA" kvm $which -i "$file" report --stdio --symfs "$own/symfs" -j$threads "$@" \
            2>/dev/null |
            grep -v '^# (' >"$work/ours" || :
        count=$((count + 1))
        cmp -s "$work/perf" "$work/ours" ||
            complain "kvm $which -i $file report $*: differs from perf"
    done
}
kvm_all() {
    kvm "$1" "$2"
    kvm "$1" "$2" --no-children -s comm,dso
    kvm "$1" "$2" -s pid,dso -n
    kvm "$1" "$2" --show-cpu-utilization
}
for file in named kernel; do
    for which in '' '--host --guest' --guest-code '--host --guest-code'; do
        kvm_all "$work/$file" "$which --guestkallsyms $kernel/kallsyms"
    done
done
for which in '' --host --guest-code '--host --guest-code'; do
    kvm_all "$own/rec/v_code" "$which"
    for what in --itrace=i1usl --itrace=b '--itrace=i100usG -s comm,dso -n' \
        '--itrace=i20usg --no-children'; do
        # shellcheck disable=SC2086
        kvm "$own/rec/v_code" "$which" $what
    done
done
for file in plain kernel; do
    kvm "$work/$file" "--host --guest --guestkallsyms $kernel/kallsyms" -v
    kvm "$work/$file" "--host --guest --guestkallsyms $kernel/kallsyms" -v -s dso,sym
done
# The guest's user space has rows under its name, the host none.
# Of what is in no map the level is a guest's, also where no guest is known by its pid.
sed 's/^end$/record SAMPLE misc=0x4 {ip=0xffffffff90000000 pid=-1 tid=-1 time=2.2s cpu=1}\
record SAMPLE misc=0x4 event=guest {ip=0xffffffff90000000 pid=5 tid=5 time=2.3s cpu=1}\
&/' "$SOURCE/tests/data/guests/samples.pdt" >"$work/nowhere.pdt"
"$PERFDATA" assemble "$work/nowhere.pdt" -o "$work/nowhere"
kvm "$work/nowhere" "--host --guest --guestmount $work/mount" -s comm,sym
[ "$(grep -c '\[g\] 0xffffffff90000000' "$work/ours")" = 2 ] ||
    complain 'kvm report: levels of addresses in no map'
"$PERFDATA" kvm --guest-code -i "$own/rec/v_code" report --stdio --symfs "$own/symfs" --itrace=b \
    >"$work/ours" 2>/dev/null
grep -q '\[guest/4107\] *gc *\[u\] guest_code' "$work/ours" ||
    complain 'kvm --guest-code: no guest code'
grep -q '\[k\]' "$work/ours" && complain 'kvm --guest-code: the host has rows'
# Which file is read when none is named.
for which in '.guest --guest-code' '.guest --guest' '.kvm --host' '.kvm --guest --host'; do
    # shellcheck disable=SC2086
    (cd "$work" && "$PERFDATA" kvm ${which#* } report 2>&1 || :) |
        grep -q "perf.data${which%% *}" ||
        complain "kvm ${which#* }: another file than perf.data${which%% *}"
done
"$PERFDATA" script -i "$work/samples" -F comm,ip -j 1 --guestmount "$work/mount" >"$work/one"
"$PERFDATA" script -i "$work/samples" -F comm,ip -j 8 --guestmount "$work/mount" |
    cmp -s - "$work/one" ||
    complain 'the number of threads matters'
echo "$count comparisons"
exit $failed
