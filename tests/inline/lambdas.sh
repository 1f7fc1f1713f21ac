#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 18: functions of C++ that have code of their own, but no linkage name in DWARF, are shown by their symbol
# and are not marked (inlined). perf's text depends on the order of its questions to addr2line; nine lines of ten are its.
set -u
case $(uname -m) in x86_64) ;; *) echo "made for x86-64"; exit 77 ;; esac
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
cd "$t" || exit 1
export PERF_CONFIG=/dev/null TZ=UTC LC_ALL=C
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}
g++ -O2 -g -o lambdas "$SOURCE/tests/inline/lambdas.cpp" 2>err || { cat err; echo "no C++ compiler"; exit 77; }
"$PERFDATA" record -q -e cpu-clock:u -F 2000 --call-graph dwarf,4096 -o rec.data ./lambdas >/dev/null 2>err ||
    { cat err; echo "no events can be recorded"; exit 77; }
"$PERFDATA" script -F ip,sym -i rec.data 2>/dev/null >ours
grep -q '__introsort_loop<' ours || { echo "the compiler made other functions of it"; exit 77; }
grep '__introsort_loop<' ours | grep -q inlined && fail "a function with code of its own is marked"
grep -q '(inlined)$' ours || fail "nothing is inlined"
for threads in 1 2 8; do
    "$PERFDATA" script -F ip,sym -j $threads -i rec.data 2>/dev/null | cmp - ours || fail "$threads threads"
done
case $(perf --version 2>/dev/null) in
'perf version 6.1.'*)
    perf script -F ip,sym -i rec.data 2>/dev/null >theirs
    all=$(grep -c . theirs) other=$(diff theirs ours | grep -c '^<')
    [ $((other * 10)) -le "$all" ] || fail "$other of $all lines are not perf's"
    ;;
esac
exit $failed
