#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 17: a recording without the kernel's build-id, whose OSRELEASE or ARCH are another
# machine's, gets no names of the kernel that runs here, and this is said.
set -u
symbol=$(grep -m 1 ' [Tt] schedule$' /proc/kallsyms)
address=${symbol%% *}
case $address in
'' | 0000000000000000 | *[!0-9a-f]*)
    echo "the addresses of this kernel are hidden"
    exit 77
    ;;
esac
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}

# make RELEASE ARCH: a recording of two samples, in schedule() and in the vdso.
make() {
    cat >"$t/rec.pdt" <<EOF
perfdata-text 1
container file order=little header_size=104
attr cpu-clock={type=software size=128 sample_period=1000000 sample_type=IP|TID|TIME flags=sample_id_all|mmap2|comm} ids=[7]
ids cpu-clock
attrs
data
record MMAP misc=0x1 {pid=4294967295 addr=0xffff000000000000 len=0xffffffffffff filename="[kernel.kallsyms]_text" sample_id={time=1.000000001s}}
record COMM {pid=10 tid=10 comm="a" sample_id={pid=10 tid=10 time=1.000000001s}}
record SAMPLE misc=0x1 {ip=0x$address pid=10 tid=10 time=1.500000000s}
end
features OSRELEASE ARCH
feature OSRELEASE {text="$1"}
feature ARCH {text="$2"}
EOF
    "$PERFDATA" assemble "$t/rec.pdt" -o "$t/rec.data" || fail "assemble"
}
script() {
    "$PERFDATA" script -F ip,sym,dso "$@" -i "$t/rec.data" >"$t/out" 2>"$t/err" || fail "script $*"
}

make "$(uname -r)" "$(uname -m)"
script
grep -q ' schedule ' "$t/out" || fail "this machine's own kernel"
for other in "5.0.0-other $(uname -m)" "$(uname -r) s390x"; do
    # shellcheck disable=SC2086
    make $other
    script
    grep -q '\[unknown\]' "$t/out" || fail "names of this kernel for another: $other"
    [ "$(grep -c 'the kernel was another one' "$t/err")" = 1 ] || fail "nobody said so: $other"
    printf '%s T of_that_machine\n' "$address" >"$t/kallsyms"
    script --kallsyms "$t/kallsyms"
    grep -q of_that_machine "$t/out" || fail "a table that was named: $other"
done
exit $failed
