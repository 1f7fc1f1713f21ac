#!/bin/sh
# SPDX-License-Identifier: MIT
# A bundle in place of the programs: the same text of script, report and export, with source lines
# and inlined functions, whatever the number of threads; and nothing of it for another build-id.
set -u
: "${PERFDATA:?}" "${SOURCE:?}"
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
export HOME="$out/none" PERF_CONFIG=/dev/null TZ=UTC
failed=0 same=0 told=0
fail() {
    echo "$*"
    failed=1
}

# same_text RECORDING SYMFS VERB...: with the programs, and with the bundle alone: as the cache
# below an otherwise empty root, so that nothing of this machine is seen.
same_text() {
    recording=$1 symfs=$2
    shift 2
    "$PERFDATA" "$@" --symfs "$symfs" --kallsyms "$symfs/kallsyms" -f -i "$recording" \
        >"$out/whole" 2>/dev/null
    kernel=$(find "$out/root/.debug" -name kallsyms)
    "$PERFDATA" "$@" --symfs "$out/root" --kallsyms "${kernel:-$symfs/kallsyms}" -f \
        -i "$recording" >"$out/cut" 2>/dev/null
    if cmp -s "$out/whole" "$out/cut"; then
        same=$((same + 1))
        return
    fi
    fail "$recording: other text: $*"
    diff "$out/whole" "$out/cut" | head -6
}

# try RECORDING SYMFS: its bundle, three times.
try() {
    for jobs in 1 2 8; do
        rm -rf "$out/bundle.$jobs"
        "$PERFDATA" bundle -j $jobs --symfs "$2" --kallsyms "$2/kallsyms" -f -i "$1" \
            -o "$out/bundle.$jobs" 2>"$out/errors"
    done
    [ -d "$out/bundle.8" ] || return
    diff -r "$out/bundle.1" "$out/bundle.2" && diff -r "$out/bundle.1" "$out/bundle.8" ||
        fail "$1: other bytes with more threads"
    if grep -q 'not in the bundle' "$out/errors"; then # which is no text to compare
        told=$((told + 1))
        return
    fi
    rm -rf "$out/bundle" "$out/root"
    mkdir "$out/root"
    mv "$out/bundle.1" "$out/root/.debug"
    cp -r "$out/bundle.2" "$out/bundle"
    same_text "$1" "$2" script
    same_text "$1" "$2" script -F comm,ip,sym,symoff,dso,srcline
    same_text "$1" "$2" report --stdio
    same_text "$1" "$2" report --stdio --no-children -g caller -s dso,sym,srcline
    same_text "$1" "$2" export folded -o -
}

demo=$SOURCE/tests/data/demo
try "$demo/spin.data" "$demo/symfs"
"$PERFDATA" --buildid-dir "$out/bundle" report --stdio -i "$demo/spin.data" 2>/dev/null |
    grep -q gamma_leaf || fail 'no names by the bundle: nothing is proved'
id=$("$PERFDATA" buildid-list -i "$demo/symfs/own/bin/spin")
elf=$out/bundle/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)/elf
[ "$("$PERFDATA" buildid-list -i "$elf")" = "$id" ] || fail 'another build-id than the program'

# A file of the bundle that is not what its name says gives no names.
cp "$demo/symfs/own/bin/shapes" "$elf"
"$PERFDATA" --buildid-dir "$out/bundle" report --stdio -i "$demo/spin.data" 2>/dev/null |
    grep -q gamma_leaf && fail 'names by a file with another build-id'

# Damaged programs end as files that cannot be used, or as what still holds; never badly.
mkdir -p "$out/symfs/own/bin"
for program in spin shapes; do
    size=$(wc -c <"$demo/symfs/own/bin/$program")
    at=16
    while [ $at -lt "$size" ]; do
        cp "$demo/symfs/own/bin/$program" "$out/symfs/own/bin/$program"
        printf '\377\377\377\177' |
            dd of="$out/symfs/own/bin/$program" bs=1 seek=$at conv=notrunc 2>/dev/null
        rm -rf "$out/damaged"
        "$PERFDATA" bundle --symfs "$out/symfs" -f -i "$demo/$program.data" -o "$out/damaged" \
            >"$out/text" 2>&1
        code=$?
        [ $code -le 1 ] || { fail "$program damaged at $at: exit $code"; cat "$out/text"; }
        at=$((at + size / 40 + 1))
    done
done

# A section that claims to be code, begins in the code and has no end: a small file all the same.
cat >"$out/endless.py" <<'EOF'
import struct, sys
whole, path, size = sys.argv[1:]
data = bytearray(open(whole, 'rb').read())
at, = struct.unpack_from('<Q', data, 40)
sections = range(at, at + 64 * struct.unpack_from('<H', data, 60)[0], 64)
kind = lambda i: struct.unpack_from('<IQ', data, i + 4)
code = [i for i in sections if kind(i)[0] == 1 and kind(i)[1] & 4][-1]
other = [i for i in sections if kind(i)[0] not in (0, 1, 7, 8) and kind(i)[1] & 2][-1]
struct.pack_into('<IQ', data, other + 4, 1, 6)
start, = struct.unpack_from('<Q', data, code + 24)
struct.pack_into('<QQ', data, other + 24, start, int(size))
open(path, 'wb').write(data)
EOF
for size in $((1 << 40)) $((0x7fffffffffff0000)); do
    rm -rf "$out/endless"
    python3 "$out/endless.py" "$demo/symfs/own/bin/shapes" "$out/symfs/own/bin/shapes" $size &&
        "$PERFDATA" bundle --symfs "$out/symfs" -f -i "$demo/shapes.data" -o "$out/endless" \
            2>"$out/text" || { fail "a section of $size bytes"; cat "$out/text"; }
    find "$out/endless" -name elf -size +1M | grep . &&
        fail "a section of $size bytes makes a giant"
done

# A program that is not here is counted.
mkdir -p "$out/nothing"
"$PERFDATA" bundle --symfs "$out/nothing" -f -i "$demo/spin.data" -o "$out/absent" 2>"$out/text" ||
    fail 'a bundle of nothing fails'
grep -q 'have no file here: 1$' "$out/text" ||
    fail "no word of what is not here: $(cat "$out/text")"

# What is there already stays.
mkdir "$out/full"
echo kept >"$out/full/file"
"$PERFDATA" bundle --symfs "$demo/symfs" -i "$demo/spin.data" -o "$out/full" 2>/dev/null &&
    fail 'a folder with files was taken'
[ "$(cat "$out/full/file")" = kept ] || fail 'a file of others is gone'
[ "$(find "$out" -maxdepth 1 -name 'full*' | wc -l)" -eq 1 ] || fail 'a part is left'

if [ -n "${PERFDATA_CORPUS-}" ]; then
    for recording in "$PERFDATA_CORPUS"/own/rec/*.data; do
        [ -f "$recording" ] && try "$recording" "$PERFDATA_CORPUS/own/symfs"
    done
fi
echo "$same texts are the same; of $told recordings something is not carried, which is told"
exit $failed
