#!/bin/sh
# SPDX-License-Identifier: MIT
# inject --guest-data: a guest's tasks and maps among its host's records, byte by byte as perf's
# inject writes them, and what perf and perfdata then show.
set -eu
export LC_ALL=C TZ=UTC PERF_CONFIG=/dev/null
. "$SOURCE/tests/itrace/data.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
texts=$SOURCE/tests/data/guests

complain() {
    echo "$1" >&2
    failed=1
}

"$PERFDATA" assemble "$texts/host.pdt" -o host
"$PERFDATA" assemble "$texts/guest.pdt" -o guest
fields=comm,pid,tid,time,cpu,ip,machine_pid,vcpu,event

"$PERFDATA" inject -i host -o ours --guest-data=guest,10
"$PERFDATA" script -i ours -F $fields --show-task-events --show-mmap-events >shown
grep -q '^VM:   10 VCPU:001 .*PERF_RECORD_FORK(101:101)' shown ||
    complain 'no task of the guest is shown'
grep -q '^VM:   10 VCPU:000 .*\[003\] .*PERF_RECORD_COMM: third:100/100' shown ||
    complain 'not on the CPU on which its CPU runs'
"$PERFDATA" dump --pdt ours -o ours.pdt
grep -q 'misc=32773 pid=10 build_id=x"0102' ours.pdt || complain 'no build-id of the guest'
grep -q '^attr guest:G\|^attr dummy:G={.*exclude_host' ours.pdt ||
    complain 'the events are not of a guest'

# A switch of a whole CPU says the same of who comes.
sed 's/SWITCH\(.*\){sample_id/SWITCH_CPU_WIDE\1{next_prev_pid=0 next_prev_tid=0 sample_id/' \
    "$texts/host.pdt" >wide.pdt
"$PERFDATA" assemble wide.pdt -o wide
"$PERFDATA" inject -i wide -o ours --guest-data=guest,10
"$PERFDATA" script -i ours -F cpu,comm --show-task-events |
    grep -q '\[003\].*PERF_RECORD_COMM: third' ||
    complain 'switches of a whole CPU are not followed'

# The kernel's copy of the guest lies beside the host's.
mkdir -p both/kcore_dir inside/kcore_dir
cp host both/data
cp guest inside/data
echo of-host >both/kcore_dir/kallsyms
echo of-guest >inside/kcore_dir/kallsyms
"$PERFDATA" inject -i both -o merged --guest-data=inside,10
[ "$(cat merged/kcore_dir/kallsyms merged/kcore_dir__10/kallsyms 2>/dev/null)" = "of-host
of-guest" ] || complain 'the copies of the kernels are not both there'

refused() {
    expected=$1
    shift
    if "$PERFDATA" inject -i host -o out "$@" 2>said; then
        complain "accepted: $*"
    fi
    grep -q -e "$expected" said || { complain "$*: not '$expected' but:"; cat said >&2; }
    [ ! -e out ] || complain "$*: left a file"
}
for wrong in guest guest, guest,x guest,0 guest,10,z guest,10,0,0 guest,10,0,1,2 ''; do
    refused 'guest machine PID' "--guest-data=$wrong"
done
refused 'No VCPU threads found for pid 11' --guest-data=guest,11
refused 'is CPU 1 of the guest\|No VCPU' --guest-data=guest,12
refused "Can't access file" --guest-data=guest,10 --guestmount=/nowhere
refused 'need two runs' --guest-data=guest,10 -b
refused 'goes with' --guestmount=/nowhere

command -v perf >/dev/null || { echo 'without perf: the rest is skipped'; exit $failed; }
for what in guest,10 guest,10,0 guest,10,300 guest,10,0x100,1.5 guest,10,500,2 guest,10,0,0.5; do
    rm -f theirs ours
    perf inject -f -i host -o theirs --guest-data=$what 2>/dev/null
    "$PERFDATA" inject -i host -o ours --guest-data=$what
    data theirs >theirs.data
    data ours >ours.data
    cmp -s theirs.data ours.data || complain "$what: other records than perf's"
    perf evlist -v -i theirs >theirs.text
    perf evlist -v -i ours >ours.text
    cmp -s theirs.text ours.text || complain "$what: other events than perf's"
    perf script -f -i theirs -F $fields --show-task-events --show-mmap-events >theirs.text \
        2>/dev/null
    "$PERFDATA" script -i ours -F $fields --show-task-events --show-mmap-events >ours.text
    cmp -s theirs.text ours.text || complain "$what: shown otherwise than by perf"
done
exit $failed
