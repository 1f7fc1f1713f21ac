#!/bin/sh
# SPDX-License-Identifier: MIT
# Traces of Arm SPE, made up by chance: the samples, the raw dump and what reports make of them are
# perf's. What perf 6.1 printed of one of them lies in tests/data/itrace/spe-*.exact; where perf is
# installed more of them are compared with it. The text is the same with any number of threads, and
# what cannot be made samples of is told.
# shellcheck source=tests/itrace/made_trace.sh
. "$SOURCE/tests/itrace/made_trace.sh"

# NAME SEED COUNT MODE MIDR [WORD...]
make() {
    made spe_trace.py "$@"
}

fields=comm,pid,tid,cpu,time,event,ip,sym,dso,addr,weight,data_src,period,flags,phys_addr
make odd 5 4 by-cpu 0x00000000410fd0c0 contexts wide odd

# ---- what perf printed ----

exact spe-samples script --ns --itrace=i1iMftmab -F $fields
exact spe-default script
exact spe-memory mem report --stdio
"$t/perf" script -D -i "$t/odd.data" 2>/dev/null |
    grep '^\.  0000[0-9a-f]*:  [0-9a-f][0-9a-f] ' >"$t/ours"
grep -q Bad "$t/ours" || fail 'no bad packet in the dump'
cmp -s "$t/ours" "$SOURCE/tests/data/itrace/spe-packets.exact" || fail 'script -D: other packets'

# ---- beside perf ----

compare() {
    same "$1" script --itrace=i1iMftmab -F $fields --ns
    same "$1" script --itrace=i3iM -F $fields
    same "$1" script --itrace=c -F $fields
    same "$1" script --itrace=M --time 18000.000010,18000.000040 -F $fields
    same "$1" script
    same "$1" script -D
    same "$1" report -D
    same "$1" report --stdio
    same "$1" report --stdio --itrace=i1i -g none --no-children
    same "$1" mem report --stdio
    same "$1" evlist -v
}
make contexts 1 40 by-cpu 0x00000000410fd010 contexts wide
make mixed 2 60 by-cpu 0x00000000411fd402 contexts wide odd
make switches 3 40 by-cpu 0x410fd490 switches wide
make thread 4 40 by-thread 0x00000000480fd010 wide
if perf --version 2>/dev/null | grep -q ' 6\.1\.'; then
    for name in odd contexts mixed switches thread; do
        compare $name
    done
    echo "$count texts are perf's"
fi

# ---- threads, words, and what perf does not do ----

same_threads mixed script --itrace=i1iMftmab -F $fields
same_threads mixed report --stdio
same_threads mixed mem report --stdio
"$PERFDATA" script --itrace=M -i "$t/odd.data" 2>&1 >/dev/null |
    grep -q 'bytes of the trace begin no packet' ||
    fail 'bad bytes are not told'
"$PERFDATA" script --itrace=M -i "$t/switches.data" 2>&1 >/dev/null |
    grep -q 'CONTEXT packets not found' ||
    fail 'it is not told that no packet names a thread'
# perf 6.1 ends here: of a thread's own buffers it looks for the CPU.
make named 4 20 by-thread 0x410fd490 contexts wide
[ "$("$PERFDATA" script --itrace=i1i -F tid -i "$t/named.data" 2>/dev/null | sort -u | wc -l)" = 2 ] ||
    fail "contexts of a thread's buffers"
# And here: it divides by the factor that TIME_CONV would have told.
make timeless 4 20 by-cpu 0x410fd490 contexts wide no-clock
"$PERFDATA" script --itrace=i1i -i "$t/timeless.data" >"$t/ours" 2>"$t/err"
[ "$(wc -l <"$t/ours")" = 120 ] || fail "without a clock: $(wc -l <"$t/ours") samples"
grep -q 'no TIME_CONV record' "$t/err" || fail 'without a clock: not said'
grep -q ' [0-9]*\.[0-9]*: ' "$t/ours" && fail 'without a clock: times'
# AUXTRACE_INFO as perf writes it since 6.14: the model is that of each CPU's MIDR.
make first 6 20 by-cpu 0x00000000410fd0c0 contexts wide
make second 6 20 by-cpu 0x00000000410fd0c0 contexts wide second
for file in first second; do
    "$PERFDATA" script --itrace=i1iM -F $fields -i "$t/$file.data" >"$t/$file.out" 2>/dev/null
done
grep -q 'L2 or L2 hit' "$t/first.out" || fail 'no source of a Neoverse'
cmp -s "$t/first.out" "$t/second.out" || fail 'the second version of AUXTRACE_INFO: other samples'
# Words that lead nowhere, and a unit that has no event.
for words in 's/priv=\[0x2 0x4/priv=[0x2 0xffffffffffffffff/' 's/priv=\[0x2 0x4/priv=[0x2 0xe/' \
    's/ 0x3 0x00000000410fd0c0/ 0xffffffffffffffff 0x1/g'; do
    sed "$words" "$t/second.text" >"$t/wrong.text"
    cmp -s "$t/second.text" "$t/wrong.text" && fail "$words: changes nothing"
    "$PERFDATA" assemble "$t/wrong.text" -o "$t/wrong.data" || fail "$words: no recording"
    "$PERFDATA" script --itrace=i1iM -F ip -i "$t/wrong.data" >"$t/ours" 2>/dev/null
    [ "$(wc -l <"$t/ours")" = "$(wc -l <"$t/second.out")" ] || fail "$words: other samples"
done
sed 's/priv=\[0x8/priv=[0x9/; s/arm_spe_0/other/' "$t/first.text" >"$t/wrong.text"
"$PERFDATA" assemble "$t/wrong.text" -o "$t/wrong.data" || fail 'another unit: no recording'
"$PERFDATA" script --itrace=M -i "$t/wrong.data" 2>&1 >/dev/null |
    grep -q 'no event is of the unit' || fail 'a unit without an event is not told'
# Samples can be taken elsewhere; how wide a column is depends on what came before.
"$PERFDATA" inject --itrace=i1iM -i "$t/contexts.data" -o "$t/injected.data" || fail 'inject'
for file in contexts injected; do
    "$PERFDATA" script --itrace=i1iM -F tid,time,event,ip,addr,weight,data_src -i "$t/$file.data" 2>/dev/null |
        sed 's/  */ /g' | sort >"$t/$file.out"
done
cmp -s "$t/contexts.out" "$t/injected.out" || fail 'inject: other samples'
"$PERFDATA" export folded -i "$t/contexts.data" -o - 2>/dev/null | grep -q ';odd' ||
    fail 'export folded'
exit $failed
