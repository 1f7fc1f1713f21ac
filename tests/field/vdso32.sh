#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 21: the vdso of 32-bit programs on a 64-bit machine is [vdso32], of x32 ones
# [vdsox32], where the program can be read; as perf 6.1 shows it, which is asked where it is
# installed.
set -u
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
export PERF_CONFIG=/dev/null
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}

# elf NAME CLASS MACHINE: the head of a program, as far as it is looked at, with zeros behind it.
mkdir -p "$t/root/bin"
elf() {
    { printf '\177ELF'"$2"'\1\1\0\0\0\0\0\0\0\0\0\2\0'"$3"'\0\1\0\0\0'; head -c 100 /dev/zero;
      } >"$t/root/bin/$1"
}
elf old '\1' '\3'
elf x32 '\1' '\076'
elf new '\2' '\076'
echo '#!/bin/sh' >"$t/root/bin/text"

# process PID VDSO FILE...: its maps and a sample in its vdso.
process() {
    pid=$1 vdso=$2 at=4
    shift 2
    echo "record COMM {pid=$pid tid=$pid comm=\"c$pid\" sample_id={pid=$pid tid=$pid time=1.0000${pid}0s}}"
    for file in "$@"; do
        echo "record MMAP2 misc=0x2 {pid=$pid tid=$pid addr=0x${at}00000 len=0x1000 ino=$at prot=READ|EXEC" \
            "flags=PRIVATE filename=\"$file\" sample_id={pid=$pid tid=$pid time=1.0000${pid}1s}}"
        at=$((at + 1))
    done
    echo "record MMAP2 misc=0x2 {pid=$pid tid=$pid addr=0x$vdso len=0x2000 prot=READ|EXEC flags=PRIVATE" \
        "filename=\"[vdso]\" sample_id={pid=$pid tid=$pid time=1.0000${pid}2s}}"
    echo "record SAMPLE misc=0x2 {ip=0x$vdso pid=$pid tid=$pid time=1.0000${pid}3s}"
}

# make ARCH
make() {
    {
        cat <<END
perfdata-text 1
container file order=little header_size=104
attr cpu-clock={type=software size=128 sample_period=1000000 sample_type=IP|TID|TIME flags=sample_id_all|mmap2|comm} ids=[7]
ids cpu-clock
attrs
data
END
        process 11 f7f68000 /bin/old
        process 12 f7f68000 /bin/x32
        process 13 f7f68000 /bin/new
        process 14 7ffff7f68000 /bin/new
        process 15 f7f68000 /bin/missing
        process 16 f7f68000 /bin/missing /bin/text /bin/old
        process 17 f7f68000 /bin/new /bin/old
        process 18 f7f68000
        cat <<END
end
features ARCH
feature ARCH {text="$1"}
END
    } >"$t/rec.pdt"
    "$PERFDATA" assemble "$t/rec.pdt" -o "$t/rec.data" || fail "assemble"
}

# names VERB...: of the eight processes.
names() {
    program=$1
    shift
    "$program" "$@" --symfs "$t/root" -i "$t/rec.data" 2>"$t/err" | grep -o '\[vdso[0-9x]*\]' |
        tr '\n' ' '
}

right='[vdso32] [vdsox32] [vdso] [vdso] [vdso] [vdso32] [vdso] [vdso] '
make x86_64
for verb in 'report --mmaps' 'script -F ip,dso'; do
    # shellcheck disable=SC2086
    [ "$(names "$PERFDATA" $verb)" = "$right" ] || fail "$verb: $(names "$PERFDATA" $verb)"
    # shellcheck disable=SC2086
    if perf --version 2>/dev/null | grep -q '^perf version 6\.1\.'; then
        [ "$(names perf $verb)" = "$right" ] || fail "perf $verb: $(names perf $verb)"
    fi
done
# A machine of 32 bits has one kind.
make armv7l
[ "$(names "$PERFDATA" script -F ip,dso | sed 's/\[vdso\] //g')" = '' ] || fail "a 32-bit machine"
[ "$(names "$PERFDATA" script -F ip,dso | wc -w)" = 8 ] || fail "a 32-bit machine: not all"
[ $failed -eq 0 ]
