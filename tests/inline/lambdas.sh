#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 18: functions of C++ that have code of their own, but no linkage name in DWARF,
# are shown by their symbol and are not marked (inlined). Called as perf the text is perf's, which
# depends on the order of its questions to addr2line, whatever the number of threads.
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
g++ -O2 -g -o lambdas "$SOURCE/tests/inline/lambdas.cpp" 2>err ||
    { cat err; echo "no C++ compiler"; exit 77; }
"$PERFDATA" record -q -e cpu-clock:u -F 20000 --call-graph dwarf,2048 -o rec.data ./lambdas \
    >/dev/null 2>err ||
    { cat err; echo "no events can be recorded"; exit 77; }
"$PERFDATA" script -F ip,sym -i rec.data 2>/dev/null >ours
grep -q '__introsort_loop<' ours || { echo "the compiler made other functions of it"; exit 77; }
grep '__introsort_loop<' ours | grep -q inlined && fail "a function with code of its own is marked"
grep -q '(inlined)$' ours || fail "nothing is inlined"
for threads in 1 2 8; do
    "$PERFDATA" script -F ip,sym -j $threads -i rec.data 2>/dev/null | cmp - ours ||
        fail "$threads threads"
done
case $(perf --version 2>/dev/null) in
'perf version 6.1.'*)
    mkdir as && ln -s "$PERFDATA" as/perf || exit 1
    for options in 'script -F ip,sym' 'report --stdio --no-children -G'; do
        # shellcheck disable=SC2086
        perf $options -i rec.data 2>/dev/null </dev/null | grep -v '^# (Tip:' >theirs
        [ "$(grep -c . theirs)" -gt 100 ] || fail "perf $options says too little"
        for threads in 1 3 8; do
            # shellcheck disable=SC2086
            as/perf $options -j $threads -i rec.data 2>/dev/null </dev/null |
                grep -v '^# (Tip:' >ours
            cmp theirs ours ||
                fail "$options, $threads threads: $(diff theirs ours |
                grep -c '^<') lines are not perf's"
        done
    done
    ;;
esac
exit $failed
