#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 16: debug sections that are packed by zstd give lines as plain ones do; debug data
# that cannot be read are told, once, on stderr and by check.
set -u
data=$SOURCE/tests/data/field/zstd-debug-sections
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}
sed "s|filename=\"[^\"]*prog\"|filename=\"$t/prog\"|" "$data/rec.pdt" >"$t/rec.pdt"
"$PERFDATA" assemble "$t/rec.pdt" -o "$t/rec.data" || exit 1
script() { "$PERFDATA" script -F ip,sym,srcline -i "$t/rec.data" >"$t/out" 2>"$t/err" ||
    fail "script"; }

cp "$data/prog" "$t/prog"
script
grep -q 'prog.c:3' "$t/out" || fail "no line"
[ ! -s "$t/err" ] || fail "something was said"
"$PERFDATA" check "$t/rec.data" >"$t/out"
! grep -q 'debug sections' "$t/out" || fail "check of a file that can be read"

# .debug_info begins with how it is packed: in a way of the future, and damaged.
offset=$(readelf -SW "$data/prog" |
    sed -n 's/.*\.debug_info  *PROGBITS  *[0-9a-f]*  *\([0-9a-f]*\).*/\1/p')
[ -n "$offset" ] || { echo "no readelf"; exit 77; }
patch() { printf "$2" | dd of="$t/prog" bs=1 seek=$((0x$offset + $1)) conv=notrunc 2>/dev/null; }
for case in 'unknown:0:\143' 'damaged:30:\377\377\377'; do
    cp "$data/prog" "$t/prog"
    rest=${case#*:}
    patch "${rest%%:*}" "${rest#*:}"
    script
    ! grep -q 'prog.c:3' "$t/out" || fail "${case%%:*}: a line of what cannot be read"
    [ "$(grep -c "$t/prog: its debug sections" "$t/err")" = 1 ] || fail "${case%%:*}: not said once"
    "$PERFDATA" check "$t/rec.data" >"$t/out"
    grep -q "^content: $t/prog: its debug sections" "$t/out" ||
        fail "${case%%:*}: check says nothing"
done
exit $failed
