#!/bin/sh
# SPDX-License-Identifier: MIT
# Traces of Intel BTS, made up by chance over a program that was built for them: the branches, what
# each was, the raw dump and what reports make of them are perf's. What perf 6.1 printed of one of
# them lies in tests/data/itrace/bts-*.exact; where perf is installed more are compared with it. The
# text is the same with any number of threads, nothing is left out that perf leaves out, and what
# cannot be made samples of is told.
# shellcheck source=tests/itrace/made_trace.sh
. "$SOURCE/tests/itrace/made_trace.sh"
if [ "$(uname -m)" != x86_64 ]; then
    echo 'SKIP: the program is one for x86-64'
    exit 77
fi
"${CC:-cc}" -nostdlib -static -Wl,--build-id=none -Wl,-Ttext=0x401000 -o "$t/code" \
    "$SOURCE/tests/itrace/bts_code.S" || fail 'no program'

# NAME SEED COUNT MODE [WORD...]
make() {
    name=$1 seed=$2 branches=$3 mode=$4
    shift 4
    made bts_trace.py "$name" "$seed" "$branches" "$mode" "$t/code" "$@"
}

fields=comm,pid,tid,period,event,ip,sym,dso,addr,flags,insn,insnlen,callindent
make odd 5 16 by-thread odd

# ---- what perf printed ----

exact bts-branches script --itrace=be -F $fields
exact bts-default script
exact bts-report report --stdio
"$t/perf" script -D -i "$t/odd.data" 2>/dev/null |
    grep -E '^\.  0000[0-9a-f]*:  [0-9a-f][0-9a-f] .*(pred|miss|Bad record!)$' >"$t/ours"
cmp -s "$t/ours" "$SOURCE/tests/data/itrace/bts-records.exact" || fail 'script -D: other records'

# ---- beside perf ----

compare() {
    same "$1" script --itrace=be -F $fields
    same "$1" script
    same "$1" script --itrace=cre -F $fields
    same "$1" script --itrace=cs3e -F $fields
    same "$1" script --itrace=bs1 -F $fields
    same "$1" script --itrace=be -F tid,ip,addr --show-task-events --show-switch-events
    same "$1" script -D
    same "$1" report --stdio
    same "$1" report --stdio --itrace=b -g none --no-children
    same "$1" script --call-trace
    same "$1" evlist -v
}
make cpus 1 40 by-cpu workload switches odd
make nobody 2 20 by-cpu switches at-switch
make snapshots 3 20 by-thread snapshot overlap5 odd
make halves 4 20 by-cpu workload snapshot overlap3 shift16
make twice 6 20 by-thread overlap3
if perf --version 2>/dev/null | grep -q ' 6\.1\.'; then
    for name in odd cpus nobody snapshots halves twice; do
        compare $name
    done
    echo "$count texts are perf's"
fi

# ---- threads, and what perf does not do ----

same_threads cpus script --itrace=be -F $fields
same_threads cpus report --stdio
# perf leaves out the last branch of a buffer, and ends without a word where there is no clock.
make all 7 20 by-thread
make timeless 7 20 by-thread no-clock
for name in all timeless; do
    "$PERFDATA" script --itrace=b -F ip,addr -i "$t/$name.data" >"$t/ours" 2>"$t/err"
    [ "$(wc -l <"$t/ours")" = 60 ] || fail "$name: $(wc -l <"$t/ours") branches of 60"
    [ -s "$t/err" ] && fail "$name: $(cat "$t/err")"
done
"$PERFDATA" script --itrace=b -i "$t/odd.data" 2>&1 >/dev/null |
    grep -q '24 bytes at the end of buffers of the trace are no whole branch' ||
    fail 'cut branches are not told'
sed 's/priv=\[0x8/priv=[0x9/; s/intel_bts\/\/u/other/' "$t/all.text" >"$t/wrong.text"
"$PERFDATA" assemble "$t/wrong.text" -o "$t/wrong.data" || fail 'another unit: no recording'
"$PERFDATA" script --itrace=b -i "$t/wrong.data" 2>&1 >/dev/null |
    grep -q 'no event is of the unit' || fail 'a unit without an event is not told'
sed 's/priv=\[0x8 [^]]*/priv=[0x8/' "$t/all.text" >"$t/wrong.text"
"$PERFDATA" assemble "$t/wrong.text" -o "$t/wrong.data" || fail 'few words: no recording'
"$PERFDATA" script --itrace=b -i "$t/wrong.data" >/dev/null 2>"$t/err" && fail 'few words: exit 0'
grep -q 'AUXTRACE_INFO says of Intel BTS is cut' "$t/err" || fail 'few words are not told'
# Samples can be taken elsewhere.
"$PERFDATA" inject --itrace=be -i "$t/cpus.data" -o "$t/injected.data" || fail 'inject'
for file in cpus injected; do
    "$PERFDATA" script --itrace=be -i "$t/$file.data" 2>/dev/null |
        sed -n 's/.*branches:u: *\([0-9a-f]*\) .*=> *\([0-9a-f]*\) .*/\1 \2/p' >"$t/$file.out"
done
[ -s "$t/cpus.out" ] && cmp -s "$t/cpus.out" "$t/injected.out" || fail 'inject: other samples'
"$PERFDATA" export folded -i "$t/all.data" -o - 2>/dev/null | grep -q '^odd0;middle ' ||
    fail 'export folded'
exit $failed
