#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 2: --time before the moment when the TSC of a trace was 0, and conversions of time
# that no processor has. What times a trace's ticks have is computed, however far away they are:
# each run ends within seconds, and a span of time holds the samples that the whole trace has in it.
set -u
data=$SOURCE/tests/data/field/time-before-zero/in.data
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
failed=0 runs=0
fail() {
    echo "FAIL: $*"
    failed=1
}

# FILE ARGUMENT...: its standard output is in $t/out.
run() {
    file=$1
    shift
    code=0
    timeout 20 "$PERFDATA" "$@" -i "$file" >"$t/out" 2>"$t/err" || code=$?
    runs=$((runs + 1))
    [ "$code" -le 3 ] || fail "exit $code: $*"
}

for span in 0,1 1.5, ,1 0,0.000000001 17921.0,17921.1; do
    run "$data" script --itrace=be --time $span
    run "$data" report --stdio --itrace=i10us --time $span
    run "$data" script --itrace=qqi --time $span
done
run "$data" script --itrace=be --time 0,1
[ -s "$t/out" ] && fail 'samples of a time at which nothing was recorded'
run "$data" script --itrace=bed+o --time 0,1
grep -q 'TSC time interval: 0x0 to 0x1$' "$t/out" || fail 'the log does not name the span of ticks'

# Recordings that say how time is converted as no processor does. Zeros: the recorded one, 0, a TSC
# that is older than perf's clock, and the extremes.
"$PERFDATA" dump --pdt "$data" >"$t/text" || fail 'no text'
info='^\(record AUXTRACE_INFO {auxtrace_type=intel_pt priv=\[[^ ]*\) [^ ]* [^ ]* [^ ]* \(.*\)$'
[ "$(grep -c "$info" "$t/text")" = 1 ] || fail 'no AUXTRACE_INFO'
for shift in 0x0 0x1f 0x20 0x3f 0x40; do
    for mult in 0x0 0x1 0x37a6f4de 0xffffffff; do
        for zero in 0x0 0x104cb9a84fc8 0xffffffff00000000 0x8000000000000000 0x7fffffffffffffff \
            0xffffffffffffffff; do
            sed "s/$info/\1 $shift $mult $zero \2/" "$t/text" >"$t/odd.text"
            "$PERFDATA" assemble "$t/odd.text" -o "$t/odd.data" ||
                fail "$shift $mult $zero: no recording"
            run "$t/odd.data" script --itrace=be --time 0,1
            run "$t/odd.data" script --itrace=be --time 18000.00002,18000.00003
            run "$t/odd.data" script --itrace=i1us --time ,18446744073
        done
    done
done

# A span holds what the whole trace has there, also with a zero that is a time before 0.
for zero in 0x104cb9a84fc8 0x0 0xffffffff00000000; do
    sed "s/$info/\1 0x1f 0x37a6f4de $zero \2/" "$t/text" >"$t/odd.text"
    "$PERFDATA" assemble "$t/odd.text" -o "$t/odd.data"
    run "$t/odd.data" script --itrace=qi -F time,ip --ns
    cp "$t/out" "$t/all"
    from=$(awk 'NR == 300 { sub(":", ""); print $1 }' "$t/all")
    to=$(awk 'NR == 600 { sub(":", ""); print $1 }' "$t/all")
    run "$t/odd.data" script --itrace=qi -F time,ip --ns --time "$from,$to"
    awk -v from="$from" -v to="$to" \
        '{ at = $1; sub(":", "", at) } at + 0 >= from + 0 && at + 0 <= to + 0' "$t/all" \
        >"$t/expected"
    [ -s "$t/expected" ] || fail "zero $zero: nothing to compare"
    cmp "$t/expected" "$t/out" || fail "zero $zero: --time $from,$to shows other samples"
done
echo "$runs runs"
exit $failed
