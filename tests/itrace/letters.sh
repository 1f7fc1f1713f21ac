#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 26: which letters of --itrace, with which numbers and signs, are refused: those
# that perf refuses (y and T are of newer perfs), by the code of wrong usage.
. "$SOURCE/tests/itrace/common.sh"
needs perf
data=$SOURCE/tests/data/demo/spin.data # without a trace, so that nothing is decoded

# WHAT
compare() {
    perf=0 ours=0
    perf script --itrace="$1" -i "$data" >/dev/null 2>&1 || perf=$?
    "$PERFDATA" script --itrace="$1" -i "$data" >/dev/null 2>"$work/err" || ours=$?
    count=$((count + 1))
    case $perf-$ours in
    129-2) grep -q "Bad Instruction Tracing options '$1'" "$work/err" ||
        complain "$1: refused without its name" ;;
    129-* | *-2) complain "--itrace=$1: perf $perf, ours $ours" ;;
    esac
}

for letter in a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E F G H I J K L M N O P \
    Q R S T U V W X Y Z; do
    compare $letter
    compare b$letter
    compare ${letter}e
    compare i$letter
    compare $letter'5'
done
for text in iy i100usy cy y1i iT i1x i1m i1ms i1t i1i, 'i 5 us' i0ns i5 g0 g1 g1024 g1025 l0 l1024 \
    l1025 G0 L2000 s s0 s5b e+o e-l e-A e- e+1 \
    e+o-l 'e + o' d+a d-a+e d+ b+o qqq q3 , ',,b' 'b x' '5' '+' 'Ze' 'igxe'; do
    compare "$text"
done
[ "$count" -gt 300 ] || complain "only $count"
echo "$count comparisons"
exit $failed
