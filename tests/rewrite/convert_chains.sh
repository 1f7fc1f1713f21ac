#!/bin/sh
# SPDX-License-Identifier: MIT
# inject --convert-callchain: script and report of what it writes are those of the recording with
# its copies of stacks, but for inlined functions; the copies and registers are gone.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export HOME="$work" PERF_CONFIG=/dev/null TZ=UTC LC_ALL=C COLUMNS=160
failed=0 compared=0

complain() {
    echo "$*"
    failed=1
}
inject() { "$PERFDATA" inject --convert-callchain "$@"; }

# same RECORDING CONVERTED OPTIONS...: but for the last frame where a stack ends in -1, which would
# be a marker in a chain.
same() {
    from=$1 to=$2
    shift 2
    for verb in 'script --no-inline' 'report --stdio --no-children --no-inline -g none -n'; do
        # shellcheck disable=SC2086
        "$PERFDATA" $verb "$@" -i "$from" 2>/dev/null |
            sed '/^	ffffffffffffffff \[unknown\]/d' >"$work/before"
        # shellcheck disable=SC2086
        "$PERFDATA" $verb "$@" -i "$to" >"$work/after" 2>/dev/null
        cmp -s "$work/before" "$work/after" && [ -s "$work/after" ] ||
            complain "$verb of $from differs: $(diff "$work/before" "$work/after" | head -n 5)"
        compared=$((compared + 1))
    done
}

cd "$SOURCE/tests/data/inline" || exit 1
for name in nameless-g nameless-c; do
    for form in '' --pipe '-z 3'; do
        # shellcheck disable=SC2086
        inject $form --symfs symfs -i $name.data -o "$work/out" 2>"$work/err" ||
            complain "inject $form of $name: $(cat "$work/err")"
        same $name.data "$work/out" --symfs symfs
    done
    inject --symfs symfs -i $name.data -o "$work/out"
    [ "$(wc -c <"$work/out")" -lt "$(($(wc -c <$name.data) / 2))" ] ||
        complain "$name is hardly smaller"
    "$PERFDATA" evlist -v -i "$work/out" >"$work/events"
    grep -qE 'REGS_USER|STACK_USER|exclude_callchain_user' "$work/events" &&
        complain "$name: $(cat "$work/events")"
    grep -q 'sample_type: .*CALLCHAIN' "$work/events" || complain "$name has no chains"
    "$PERFDATA" header -i "$work/out" >"$work/head"
    grep -q STACK_USER "$work/head" && complain "$name: the header tells of stacks"
    "$PERFDATA" check "$work/out" | grep -v 'no build-id of' >"$work/said"
    [ "$(wc -l <"$work/said")" -eq 1 ] || complain "check: $(cat "$work/said")"
done

# Samples whose program is not there have no frames, which is told; --strict fails.
inject --symfs /nonexistent -i nameless-g.data -o "$work/out" 2>"$work/err" ||
    complain 'no program: it fails'
grep -qE 'object: [0-9]+ samples have no frame in user space' "$work/err" ||
    complain "no program: $(cat "$work/err")"
inject --strict --symfs /nonexistent -i nameless-g.data -o "$work/strict" 2>/dev/null &&
    complain 'no program and --strict: exit 0'
[ ! -e "$work/strict" ] || complain '--strict leaves a file'

# refuses WORDS OPTIONS...
refuses() {
    words=$1
    shift
    inject "$@" -o "$work/none" 2>"$work/err" && complain "inject $*: exit 0"
    grep -qF -- "$words" "$work/err" || complain "inject $*: $(cat "$work/err")"
    [ ! -e "$work/none" ] || complain "inject $* writes a file"
}
refuses 'nothing to convert' -i ../demo/spin.data
refuses 'another byte order need two runs' --byte-order=big -i nameless-g.data
refuses 'need two runs' -b -i nameless-g.data
refuses 'need two runs' --itrace=i -i nameless-g.data
[ $compared -eq 12 ] || complain "compared $compared"
exit $failed
