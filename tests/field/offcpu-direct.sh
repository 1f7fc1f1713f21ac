#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 11: samples of `perf record --off-cpu` since perf 6.16. The raw data of event
# "offcpu-time" hold process, thread, time asleep, call chain and cgroup; the sample's own fields
# are those of the BPF program that wrote it.
set -u
data=$SOURCE/tests/data/field/offcpu-direct
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}

for order in little big; do
    sed "s/order=little/order=$order/" "$data/rec.pdt" >"$t/rec.pdt"
    # raw data are in the order of the machine, too: those of the first sample
    if [ $order = big ]; then
        sed -e 's/raw=x"0a0000000b0000000027b9290000000003000000000000000*feffffffffffff0310400000000000121040.*"}/raw=x"0000000a0000000b0000000029b927000000000000000003fffffffffffffe0000000000004010030000000000401012000000000000000000000000"}/' \
            -e '/tid=12\|1.9000/d' "$t/rec.pdt" >"$t/big.pdt"
        mv "$t/big.pdt" "$t/rec.pdt"
    fi
    "$PERFDATA" assemble "$t/rec.pdt" -o "$t/rec.data" || exit 1
    "$PERFDATA" script --symfs "$data/symfs" -F comm,pid,tid,period,event,ip,sym -i "$t/rec.data" \
        >"$t/out" 2>"$t/err"
    grep -A2 'server *10/11 *700000000 offcpu-time' "$t/out" >"$t/first"
    grep -q container_work "$t/first" && grep -q _start "$t/first" || fail "$order: script"
    [ -s "$t/err" ] && fail "$order: $(cat "$t/err")"
    "$PERFDATA" report --symfs "$data/symfs" --stdio --no-children -s pid,sym -i "$t/rec.data" \
        >"$t/out" 2>"$t/err"
    sed -n '/offcpu-time/,$p' "$t/out" | grep -q '11:server *\[\.\] container_work' ||
        fail "$order: report"
    # Whose sleep it was, not in whose time the program ran.
    [ "$("$PERFDATA" script --tid 11 -F event -i "$t/rec.data" | grep -c offcpu-time)" = 1 ] ||
        fail "$order: --tid"
    [ "$("$PERFDATA" script --tid 0 -F event -i "$t/rec.data" | grep -c .)" = 0 ] ||
        fail "$order: --tid 0"
    "$PERFDATA" buildid-list -H -i "$t/rec.data" | grep -q server || fail "$order: buildid-list"
done

# Raw data that end early or tell of more addresses than there are: said, nothing invented, nothing
# read outside.
sed -e 's/raw=x"0a0000000b0000000027b929000000000300/raw=x"0a0000000b0000000027b92900000000ff00/' \
    -e 's/raw=x"0a0000000c.*"}/raw=x"0a0000000c00000000000000"}/' "$data/rec.pdt" >"$t/bad.pdt"
"$PERFDATA" assemble "$t/bad.pdt" -o "$t/bad.data" || exit 1
"$PERFDATA" script -F tid,event,ip -i "$t/bad.data" >"$t/out" 2>"$t/err"
grep -q bad-sample "$t/err" || fail "nobody told of damaged raw data"

# An event of that name with a chain of its own, as before 6.16, and one of another name stay what
# they are.
sed -e 's/|RAW flags/ flags/' -e 's/ raw=x"[0-9a-f]*"//' "$data/rec.pdt" >"$t/old.pdt"
"$PERFDATA" assemble "$t/old.pdt" -o "$t/old.data" || exit 1
[ "$("$PERFDATA" script --tid 0 -F event -i "$t/old.data" | grep -c offcpu-time)" = 2 ] ||
    fail "samples without raw data"
sed 's/offcpu-time/other/g' "$data/rec.pdt" >"$t/other.pdt"
"$PERFDATA" assemble "$t/other.pdt" -o "$t/other.data" || exit 1
[ "$("$PERFDATA" script --tid 0 -F event -i "$t/other.data" | grep -c other)" = 2 ] ||
    fail "another event's raw data"
exit $failed
