#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 5: a pipe or a device in the place of a file that is named by a recording, or for
# it, is no file: nothing waits for it, or reads it without end.
set -u
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}
cat >"$t/rec.pdt" <<EOF
perfdata-text 1
container file order=little header_size=104
attr cpu-clock={type=software size=128 sample_period=1000000 sample_type=IP|TID|TIME flags=sample_id_all|mmap2|comm use_clockid clockid=1} ids=[7]
ids cpu-clock
attrs
data
record MMAP misc=0x1 {pid=4294967295 addr=0xffffffff81000000 len=0x1000000 filename="[kernel.kallsyms]_text" sample_id={time=1.000000001s}}
record MMAP misc=0x1 {pid=4294967295 addr=0xffffffffc0000000 len=0x1000 filename="$t/odd.ko" sample_id={time=1.000000001s}}
record COMM {pid=10 tid=10 comm="a" sample_id={pid=10 tid=10 time=1.000000001s}}
record MMAP2 misc=0x2 {pid=10 tid=10 addr=0x400000 len=0x1000 prot=5 flags=2 filename="$t/odd" sample_id={pid=10 tid=10 time=1.000000002s}}
record MMAP2 misc=0x2 {pid=10 tid=10 addr=0x500000 len=0x1000 prot=5 flags=2 filename="$t/linked" sample_id={pid=10 tid=10 time=1.000000002s}}
record MMAP2 misc=0x2 {pid=10 tid=10 addr=0x600000 len=0x1000 prot=5 flags=2 filename="$t/jit-10.dump" sample_id={pid=10 tid=10 time=1.000000002s}}
record SAMPLE misc=0x1 {ip=0xffffffff81000100 pid=10 tid=10 time=1.500000000s}
record SAMPLE misc=0x1 {ip=0xffffffffc0000100 pid=10 tid=10 time=1.500000000s}
record SAMPLE misc=0x2 {ip=0x400100 pid=10 tid=10 time=1.500000000s}
record SAMPLE misc=0x2 {ip=0x501020 pid=10 tid=10 time=1.500000000s}
end
features
EOF
sed -i 's/ use_clockid clockid=1//' "$t/rec.pdt"
"$PERFDATA" assemble "$t/rec.pdt" -o "$t/rec.data" || exit 1
# A program whose debug data lie in another file, which is odd.
echo 'int main(void) { return 0; }' >"$t/a.c"
"$CC" -g -o "$t/linked" "$t/a.c" && : >"$t/odd.debug" &&
    objcopy --strip-all "$t/linked" 2>/dev/null &&
    objcopy --add-gnu-debuglink="$t/odd.debug" "$t/linked" ||
    { echo "no compiler or objcopy"; exit 77; }
rm "$t/odd.debug"

# run VERB...: in time, without a signal
run() {
    timeout 20 "$PERFDATA" "$@" -i "$t/rec.data" >/dev/null 2>"$t/err"
    result=$?
    [ $result -lt 124 ] || fail "$kind: $*: $result"
}
for kind in fifo zero folder; do
    for name in odd odd.ko odd.debug jit-10.dump table kcore modules vmlinux; do
        rm -rf "${t:?}/$name"
        case $kind in
        fifo) mkfifo "$t/$name" ;;
        zero) ln -s /dev/zero "$t/$name" ;;
        folder) mkdir "$t/$name" ;;
        esac
    done
    run script -F ip,sym,srcline
    run report --stdio --sort sym,srcline
    run script --jitdump
    run inject -j -o "$t/out.data"
    run inject -b -o "$t/out.data"
    run script -F ip,insn --xed
    run script -F ip,sym,srcline --kallsyms "$t/table"
    run script -F ip,sym,srcline --vmlinux "$t/vmlinux"
    run check
    # Files beside a table that can be read.
    rm -rf "${t:?}/kallsyms" && echo 'ffffffff81000000 T _text' >"$t/kallsyms"
    run script -F ip,sym --kallsyms "$t/kallsyms"
done
exit $failed
