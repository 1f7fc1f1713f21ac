#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 10: call chains whose user part is in a later CALLCHAIN_DEFERRED record. Each
# sample stands at its time with its whole chain; the kernel's part alone where the rest never
# comes, which is said. From a file, from a pipe that cannot be read twice, and with the counters of
# PERF_SAMPLE_READ before the chain.
set -u
data=$SOURCE/tests/data/field/deferred-chains
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}
"$PERFDATA" assemble "$data/rec.pdt" -o "$t/rec.data" || exit 1

script() { "$PERFDATA" script -F tid,time,period,ip,sym "$@" 2>"$t/err"; }
script -i "$t/rec.data" >"$t/out"
cmp "$data/script.exact" "$t/out" || fail "script"
grep -q 'user part of a call chain was deferred and is not in the recording' "$t/err" ||
    fail "nobody said that a user part is missing"
[ "$(grep -c . "$t/err")" = 1 ] || fail "more than that was said"

for threads in 1 2 8; do
    script -i "$t/rec.data" -j $threads | cmp - "$data/script.exact" || fail "$threads threads"
done

# The stream's header says that chains are deferred.
sed -e 's/^container file.*/container pipe order=little/' \
    -e '/^ids\|^attrs\|^data\|^end\|^feature/d' \
    -e 's/^record COMM {pid=10 tid=10.*/record HEADER_ATTR as=cycles {attr={size=136 sample_period=1000 sample_type=IDENTIFIER|IP|TID|TIME|CALLCHAIN|PERIOD|CPU|DATA_SRC flags=sample_id_all|mmap2|comm|task|defer_callchain|defer_output} ids=[7]}\n&/' \
    "$data/rec.pdt" >"$t/pipe.pdt"
"$PERFDATA" assemble "$t/pipe.pdt" -o "$t/pipe.data" || fail "the pipe's text"
cat "$t/pipe.data" | script -i - >"$t/out"
cmp "$data/script.exact" "$t/out" || fail "script of a pipe"

# In the other byte order.
sed 's/order=little/order=big/' "$data/rec.pdt" >"$t/big.pdt"
"$PERFDATA" assemble "$t/big.pdt" -o "$t/big.data" || fail "the other byte order's text"
script -i "$t/big.data" | cmp - "$data/script.exact" || fail "script of the other byte order"

# Counters before the chain; their samples count by the difference.
sed -e 's/TIME|CALLCHAIN/TIME|READ|CALLCHAIN/' \
    -e 's/sample_type=/read_format=id sample_type=/' \
    -e 's/period=\([0-9]\) ips/period=\1 read_value=\10 read_id=7 ips/' "$data/rec.pdt" \
    >"$t/read.pdt"
"$PERFDATA" assemble "$t/read.pdt" -o "$t/read.data" || fail "the text with counters"
"$PERFDATA" script -F tid,time,ip -i "$t/read.data" 2>/dev/null >"$t/out"
"$PERFDATA" script -F tid,time,ip -i "$t/rec.data" 2>/dev/null | cmp - "$t/out" ||
    fail "with counters"

# report counts whole chains; as recorded they stay in copies and dumps.
"$PERFDATA" report --stdio --no-children -i "$t/rec.data" 2>/dev/null | grep -A12 '8123456b' |
    grep -q 0x401045 ||
    fail "report"
"$PERFDATA" dump --json "$t/rec.data" | grep '"type":"SAMPLE"' | grep -q 'fffffffffffffd80' ||
    fail "dump"
exit $failed
