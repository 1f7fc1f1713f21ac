#!/bin/sh
# SPDX-License-Identifier: MIT
# script -F dsoff, retire_lat, cgroup, disasm, brstackdisasm and --insn-trace=disasm: what newer
# perf has, of text and JSON.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
export PERF_CONFIG=/dev/null
cat >"$work/in.pdt" <<'END'
perfdata-text 1
container file order=little header_size=104
attr cycles={size=128 sample_period=1 sample_type=IDENTIFIER|IP|TID|TIME|WEIGHT_STRUCT|CGROUP read_format=id flags=sample_id_all} ids=[3]
ids cycles
attrs
data
record CGROUP {id=77 path="/app/blue" sample_id={identifier=3}}
record COMM {pid=100 tid=100 comm="spin" sample_id={identifier=3}}
record MMAP2 misc=0x2 {pid=100 tid=100 addr=0x500000 len=0x2000 pgoff=0x3000 maj=8 min=1 ino=16 prot=READ|EXEC flags=PRIVATE filename="/nowhere/spin" sample_id={identifier=3}}
record SAMPLE misc=0x2 {ip=0x500218 pid=100 tid=100 time=18000.000000400s weight=0x0004000300000002 cgroup=77}
record SAMPLE misc=0x2 {ip=0x700000 pid=100 tid=100 time=18000.000000500s weight=0xffff000000000001 cgroup=78}
end
features ARCH
feature ARCH {text="x86_64"}
END
"$PERFDATA" assemble -o "$work/in.data" "$work/in.pdt" || exit 1

# expect WHAT TEXT OPTIONS...
expect() {
    what=$1 text=$2
    shift 2
    "$PERFDATA" script -i "$work/in.data" "$@" >"$work/out" 2>"$work/err" || {
        echo "$what: exit $?: $(cat "$work/err")"
        failed=1
    }
    [ "$(cat "$work/out")" = "$text" ] || {
        echo "$what is:"
        cat "$work/out"
        failed=1
    }
}
expect 'dsoff' '           500218 (/nowhere/spin+0x3218)
           700000 ([unknown])' -F ip,dso,dsoff
expect 'weights' '               2               3               4           500218
               1               0           65535           700000' -F ip,weight,ins_lat,retire_lat
expect 'cgroup' '            spin            500218        /app/blue
            spin            700000               78' -F comm,ip,cgroup
expect 'JSON' '{"retire_lat":4,"ip":"0x500218","dso":"/nowhere/spin","dsoff":"0x3218","cgroup":"/app/blue"}
{"retire_lat":65535,"ip":"0x700000","cgroup_id":"78"}' --json -F ip,dso,dsoff,retire_lat,cgroup

# Instructions in words. A direct branch names the function it leads to; what stands before the
# instruction is what brstackinsn has there, where its bytes are.
cd "$SOURCE/tests/data/script" || exit 1
code() { "$PERFDATA" script -i branch-code.data --symfs symfs "$@" 2>"$work/err"; }
has() { grep -qxF "$2" "$1" || { echo "$1 lacks: $2"; head -n 12 "$1"; failed=1; }; }
code -F ip,brstackdisasm >"$work/words"
code -F ip,brstackinsn >"$work/bytes"
has "$work/words" '	0000000000400430	jnz main+0x5b                 	# PRED'
has "$work/words" '	000000000040042a	add %rax, %rbp '
grep -c 'insn:' "$work/bytes" >"$work/wanted"
grep -cE '^	[0-9a-f]{16}	[a-z]' "$work/words" >"$work/found"
cmp "$work/wanted" "$work/found" && ! grep -q 'insn:' "$work/words" || {
    echo 'brstackdisasm has other instructions than brstackinsn'
    failed=1
}
code -F ip,disasm >"$work/line"
has "$work/line" '           4003e7		shr $0x7, %rax'
code -F ip,insn,disasm --json | grep -q '"insn":"48c1e807","disasm":"shr $0x7, %rax"' || {
    echo 'JSON of disasm'
    failed=1
}
code --json -F brstackdisasm >"$work/out" && failed=1
grep -q "field 'brstackdisasm' has no form in JSON" "$work/err" ||
    { echo 'brstackdisasm in JSON'; failed=1; }
cd ../itrace || exit 1
for form in raw disasm; do
    "$PERFDATA" script -i t_eptw.data --symfs symfs --insn-trace=$form >"$work/$form" 2>"$work/err"
done
has "$work/disasm" \
    '             ptw  7681 18000.000002525:            40014b _start+0x7 (/ptcorpus/bin/ptw)		callq start_c+0x0'
sed 's/ insn: .*//' "$work/raw" >"$work/wanted"
sed 's/		[a-z].*//' "$work/disasm" | cmp "$work/wanted" - && [ -s "$work/wanted" ] || failed=1

# What a field needs is asked for by name.
"$PERFDATA" script -i "$work/in.data" -F ip,dsoff >"$work/out" 2>&1 && failed=1
grep -q 'dso is not selected' "$work/out" || { echo 'dsoff without dso'; failed=1; }
for field in retire_lat cgroup; do
    "$PERFDATA" script -i "$SOURCE/tests/data/demo/spin.data" -F comm,$field >"$work/out" 2>&1 &&
        failed=1
    grep -q "Cannot print '$field' field" "$work/out" ||
        { echo "$field of samples without"; failed=1; }
done
exit $failed
