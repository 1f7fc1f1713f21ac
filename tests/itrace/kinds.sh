#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 23: a trace that no samples are made of is named by every verb that would make
# them, with what can be done instead, and the output counts as incomplete. Not where nobody asked
# for samples of it.
set -u
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}

# KIND NAME FILE
check() {
    for verb in script 'script --itrace=b' 'export postgresql -o -' 'report --stdio'; do
        code=0
        # shellcheck disable=SC2086
        "$PERFDATA" $verb -i "$3" >"$t/out" 2>"$t/err" || code=$?
        expected=1
        [ "$verb" = 'report --stdio' ] && expected=3 # there is nothing else in it
        [ $code = $expected ] || fail "$1: $verb: exit $code"
        grep -q "unsupported: no samples are made of the trace, which is $2: .*'aux extract'.*--no-itrace" "$t/err" ||
            fail "$1: $verb: not said: $(cat "$t/err")"
    done
    "$PERFDATA" script --strict -i "$3" >/dev/null 2>&1 && fail "$1: --strict accepts it"
    "$PERFDATA" inject --itrace=b -i "$3" -o "$t/injected" 2>"$t/err" &&
        fail "$1: inject makes something"
    grep -q "the trace, which is $2" "$t/err" || fail "$1: inject: not said"
    "$PERFDATA" script --no-itrace -i "$3" 2>"$t/err" || fail "$1: without the trace: exit $?"
    [ -s "$t/err" ] && fail "$1: without the trace: $(cat "$t/err")"
    # What is advised works.
    "$PERFDATA" aux list -i "$3" | grep -q '[0-9]' || fail "$1: aux list"
    rm -rf "$t/extracted"
    "$PERFDATA" aux extract -o "$t/extracted" "$3" >/dev/null 2>&1 && [ -s "$t"/extracted/*.aux ] ||
        fail "$1: aux extract"
    "$PERFDATA" script -D -i "$3" 2>/dev/null | grep -q AUXTRACE || fail "$1: script -D"
}

"$PERFDATA" dump --pdt "$SOURCE/tests/data/itrace/t_tsx.data" >"$t/text" || fail 'no text'
for row in 'cs_etm Arm CoreSight ETM' \
    's390_cpumsf s390 CPU-measurement sampling facility' \
    'hisi_ptt HiSilicon PCIe Tune and Trace' '77 of an unknown kind'; do
    kind=${row%% *}
    sed "s/auxtrace_type=intel_pt/auxtrace_type=$kind/" "$t/text" >"$t/kind.text"
    "$PERFDATA" assemble "$t/kind.text" -o "$t/kind.data" || fail "$kind: no recording"
    check "$kind" "${row#* }" "$t/kind.data"
done
# A stream, which is read once.
"$PERFDATA" script -i - <"$SOURCE/tests/data/itrace/coresight.data" >/dev/null 2>"$t/err"
grep -q 'which is Arm CoreSight ETM' "$t/err" || fail "standard input: $(cat "$t/err")"
exit $failed
