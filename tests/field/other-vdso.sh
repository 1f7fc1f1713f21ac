#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 17: a recording of DWARF stacks from another machine, whose programs are not here.
# The vdso of its kernel is not taken to be this one's, and no sample loses its address for that.
set -u
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
export HOME="$t" PERF_CONFIG=/dev/null
[ ! -e /own/bin/deep ] || { echo 'skipped: the program is here'; exit 77; }
data=$SOURCE/tests/data/field/zstd-dwarf.data
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}

"$PERFDATA" script -i "$data" >"$t/text" 2>/dev/null || fail 'script'
samples=$(grep -c ' cpu-clock:u: ' "$t/text")
addresses=$(grep -c '^	 *[0-9a-f]* \[unknown\] (/own/bin/deep)$' "$t/text")
[ "$samples" -gt 50 ] || fail "$samples samples"
[ "$addresses" -eq "$samples" ] || fail "$addresses addresses of $samples samples"
if command -v perf >/dev/null 2>&1; then
    perf script -i "$data" >"$t/perf" 2>/dev/null
    cmp -s "$t/text" "$t/perf" || fail 'not the text of perf'
fi
exit $failed
