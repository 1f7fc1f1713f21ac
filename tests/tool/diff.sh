#!/bin/sh
# SPDX-License-Identifier: MIT
# diff: the same text with any number of threads, JSON that says what the table says, builds of a
# program, refusals.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
data=$SOURCE/tests/data/report
export LC_ALL=C PERF_CONFIG=/dev/null HOME="$work"
failed=0

fail() {
    echo "$*"
    failed=1
}
differ() {
    timeout 60 "$PERFDATA" diff --symfs "$data/symfs" --kallsyms "$data/symfs/kallsyms" "$@" \
        </dev/null 2>"$work/err"
}

# ---- threads ----
for options in '' '-p -F -c ratio' '--json'; do
    # shellcheck disable=SC2086
    differ $options -j 1 "$data/threads.data" "$data/forkexec.data" "$data/inline.data" >"$work/one"
    [ -s "$work/one" ] || fail "$options: nothing was printed"
    for jobs in 2 8; do
        # shellcheck disable=SC2086
        differ $options -j $jobs "$data/threads.data" "$data/forkexec.data" "$data/inline.data" |
            cmp - "$work/one" || fail "$options: $jobs threads"
    done
done

# ---- a recording differs from itself in nothing ----
differ "$data/threads.data" "$data/threads.data" >"$work/out" || fail 'the same twice'
[ "$(grep -c '+0.00%' "$work/out")" = "$(grep -c '%' "$work/out")" ] ||
    fail 'a recording differs from itself'
grep -q '%' "$work/out" || fail 'no rows of the same recording'

# ---- JSON ----
if command -v python3 >/dev/null; then
    differ --json "$data/threads.data" "$data/forkexec.data" >"$work/json" || fail 'JSON'
    differ -p "$data/threads.data" "$data/forkexec.data" >"$work/table"
    python3 - "$work/json" "$work/table" <<'END' || fail 'JSON and table'
import json, re, sys
told = json.load(open(sys.argv[1]))
assert len(told['recordings']) == 2
rows = told['events'][0]['rows']
for i, total in enumerate(told['events'][0]['totals']):
    periods = [int(row['recordings'][i]['period']) for row in rows if row['recordings'][i]]
    assert sum(periods) == int(total['period']), i
table = [line for line in open(sys.argv[2]) if not line.startswith('#') and line.strip()]
assert len(table) == len(rows) > 3, (len(table), len(rows))
for line, row in zip(table, rows):
    assert line.rstrip().endswith('[%s] %s' % (row['symbol_level'], row['symbol'])), (line, row)
    new = row['recordings'][1]
    if new:
        assert '%+.2f%%' % new['delta'] in line, (line, new)
        low, high = new['confidence']
        assert low < new['delta'] < high
END
fi

# ---- what is refused, by name; what is wrong ----
refuse() { # CODE WORD OPTIONS...
    code=$1 word=$2
    shift 2
    differ "$@" "$data/threads.data" "$data/forkexec.data" >"$work/out"
    got=$?
    [ $got = "$code" ] || fail "$*: exit $got, not $code"
    grep -qe "$word" "$work/err" || fail "$*: '$word' is not told: $(cat "$work/err")"
    [ ! -s "$work/out" ] || fail "$*: prints all the same"
}
refuse 2 --stream --stream
refuse 2 --cycles-hist --cycles-hist
refuse 2 cycles -c cycles
refuse 2 "'speed'" -c speed
refuse 2 wdiff -c wdiff:1
refuse 2 limit -o 2
refuse 2 separator -t .
refuse 2 nosuch -s nosuch
differ "$data/threads.data" "$work/nowhere" >/dev/null
[ $? = 3 ] || fail 'a recording that is not there'

# ---- settings ----
printf '[diff]\ncompute = ratio\norder = 0\n' >"$work/config"
PERF_CONFIG=$work/config differ "$data/threads.data" "$data/forkexec.data" >"$work/out"
grep -q '^# Baseline  *Ratio' "$work/out" || fail 'diff.compute'
exit $failed
