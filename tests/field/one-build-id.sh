#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 17: one build-id of two different modules, as perf 6.17 to 6.19 wrote it, is
# believed of the first only, and this is said once; the second module's symbols are found all the
# same.
set -u
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}
id=0102030405060708090a0b0c0d0e0f1011121314
for name in second third; do
    echo "int in_$name(int x) { return x * 3 + 1; }" >"$t/$name.c"
    "$CC" -c -O1 -o "$t/$name.ko" "$t/$name.c" || { echo "no compiler"; exit 77; }
done
cat >"$t/rec.pdt" <<EOF
perfdata-text 1
container file order=little header_size=104
attr cpu-clock={type=software size=128 sample_period=1000000 sample_type=IP|TID|TIME flags=sample_id_all|mmap2|comm} ids=[7]
ids cpu-clock
attrs
data
record MMAP misc=0x1 {pid=4294967295 addr=0xffffffff81000000 len=0x1000000 filename="[kernel.kallsyms]_text" sample_id={time=1.000000001s}}
record MMAP misc=0x1 {pid=4294967295 addr=0xffffffffc0000000 len=0x1000 filename="$t/first.ko" sample_id={time=1.000000001s}}
record MMAP misc=0x1 {pid=4294967295 addr=0xffffffffc0010000 len=0x1000 filename="$t/second.ko" sample_id={time=1.000000001s}}
record MMAP misc=0x1 {pid=4294967295 addr=0xffffffffc0020000 len=0x1000 filename="$t/third.ko" sample_id={time=1.000000001s}}
record COMM {pid=10 tid=10 comm="a" sample_id={pid=10 tid=10 time=1.000000001s}}
record SAMPLE misc=0x1 {ip=0xffffffffc0010001 pid=10 tid=10 time=1.500000000s}
record SAMPLE misc=0x1 {ip=0xffffffffc0020001 pid=10 tid=10 time=1.500000000s}
end
features BUILD_ID
feature BUILD_ID {entries=[
    {type=0 misc=32769 pid=4294967295 build_id=x"$id" build_id_size=20 filename="$t/first.ko"}
    {type=0 misc=32769 pid=4294967295 build_id=x"$id" build_id_size=20 filename="$t/second.ko"}
    {type=0 misc=32769 pid=4294967295 build_id=x"$id" build_id_size=20 filename="$t/third.ko"}
  ]}
EOF
"$PERFDATA" assemble "$t/rec.pdt" -o "$t/rec.data" || exit 1
"$PERFDATA" script -F ip,sym -i "$t/rec.data" >"$t/out" 2>"$t/err" || fail "script"
grep -q in_second "$t/out" && grep -q in_third "$t/out" ||
    fail "a module whose build-id is another's has no symbols"
[ "$(grep -c 'first.* and .*second.* have one build-id' "$t/err")" = 1 ] ||
    fail "not said, or not once"
[ "$("$PERFDATA" buildid-list -i "$t/rec.data" 2>/dev/null | grep -c "$id")" = 3 ] ||
    fail "buildid-list shows what is recorded"
exit $failed
