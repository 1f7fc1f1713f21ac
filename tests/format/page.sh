#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 27: docs/perf-data-format.md is what the tables say, its worked bytes are those of
# the recording that they describe, and its links lead somewhere.
set -u
page=$SOURCE/docs/perf-data-format.md
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}
sh "$SOURCE/scripts/format-tables" --check || failed=1

# A table that changes is found stale.
mkdir -p "$t/tree/docs" "$t/tree/scripts" "$t/tree/src"
cp "$page" "$t/tree/docs/"
cp "$SOURCE/scripts/format-tables" "$t/tree/scripts/"
cp -r "$SOURCE/src/format" "$t/tree/src/format"
sed 's/^FIELD(x64, cookie, NONE)/FIELD(u32, cookie, NONE)/' "$SOURCE/src/format/records.def" \
    >"$t/tree/src/format/records.def"
sh "$t/tree/scripts/format-tables" --check >"$t/diff" 2>/dev/null && fail "a stale table passes"
grep -q '^+| 8 | u32 | cookie' "$t/diff" || fail "the difference is not told"

# The worked bytes, each row: offset, bytes, meaning.
"$PERFDATA" assemble "$SOURCE/tests/data/format/minimal.pdt" -o "$t/minimal.data" || exit 1
od -An -v -tx1 "$t/minimal.data" | tr -d '\n' | sed 's/^ //; s/  */ /g' >"$t/hex"
rows=0
sed -n 's/^| 0x\([0-9a-f]*\) | \([0-9a-f ]*\) |.*/\1 \2/p' "$page" >"$t/rows"
while read -r offset bytes; do
    rows=$((rows + 1))
    at=$((0x$offset * 3 + 1))
    got=$(cut -c "$at-$((at + ${#bytes} - 1))" "$t/hex")
    [ "$got" = "$bytes" ] || fail "0x$offset: the page says $bytes, the file $got"
done <"$t/rows"
[ "$rows" -ge 30 ] || fail "only $rows rows of worked bytes"
[ "$(wc -c <"$t/minimal.data")" = 640 ] || fail "the file has another size"
"$PERFDATA" script -i "$t/minimal.data" |
    grep -q 'demo *42 *1.000000: *250000 cpu-clock: *400123 \[unknown\] (/bin/demo)' ||
    fail "script of the worked file"

# Every link to a heading of the page.
grep -o '](#[^)]*)' "$page" | sed 's/](#//; s/)//' | sort -u >"$t/links"
sed -n 's/^##* //p' "$page" | tr 'A-Z' 'a-z' | sed 's/ /-/g; s/[^a-z0-9_-]//g' |
    sort -u >"$t/headings"
comm -23 "$t/links" "$t/headings" >"$t/nowhere"
[ -s "$t/nowhere" ] && fail "links to nowhere: $(tr '\n' ' ' <"$t/nowhere")"
exit $failed
