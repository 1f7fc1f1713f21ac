#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 3: Intel PT recordings in which something is missing that samples are made with.
# Nothing dies of it, and what cannot be known is said: sched:sched_switch without tracing data, the
# debug log of a sample that belongs to no event, and recordings that lack one feature, one event's
# ids, its type, or one record.
set -u
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
failed=0 runs=0
cd "$t" || exit 1
fail() {
    echo "FAIL: $*"
    failed=1
}

# FILE ARGUMENT...
run() {
    file=$1
    shift
    code=0
    timeout 30 "$PERFDATA" "$@" -i "$file" >out 2>err || code=$?
    runs=$((runs + 1))
    [ "$code" -le 3 ] || fail "exit $code: $* (${what-$file})"
    grep -E 'AddressSanitizer|runtime error' err && fail "$* (${what-$file})"
}

no_tracing=$SOURCE/tests/data/field/pt-no-tracing/in.data
run "$no_tracing" script --itrace=b
grep -q 'bad-feature: the tracing data does not describe sched:sched_switch' err ||
    fail 'not said: no tracing data'
[ "$code" = 1 ] || fail "no tracing data: exit $code"
"$PERFDATA" script --strict --itrace=b -i "$no_tracing" >/dev/null 2>&1 &&
    fail '--strict accepts it'
no_event=$SOURCE/tests/data/field/itrace-d-no-event/in.data
for verb in 'script --itrace=d' 'script --itrace=d+o' 'report --stdio --itrace=d' \
    'inject --itrace=d -o o'; do
    # shellcheck disable=SC2086
    run "$no_event" $verb
done
grep -q 'unknown-id: ' err || fail 'not said: a sample of no event'

# NAME FILE: with each of these things changed, one at a time.
without_each() {
    "$PERFDATA" dump --pdt "$2" >text 2>err || [ -s text ] || fail "$2: no text"
    awk '/^attr / || (/^(record|feature) / && !/^record AUXTRACE / && !/\[$/) { print NR }' \
        text >lines
    while read -r line; do
        what="$1: line $line"
        awk -v line="$line" '
            NR != line { kept[++n] = $0; next }
            /^attr / && line % 2 { sub(/ids=\[[^]]*\]/, "ids=[9999]"); kept[++n] = $0; next }
            /^attr / { sub(/type=[a-z0-9]+/, "type=77"); kept[++n] = $0; next }
            /^feature / { feature = $2 }
            END { for (i = 1; i <= n; i++) {
                if (feature && kept[i] ~ /^features /)
                    gsub(" " feature "( |$)", " ", kept[i])
                print kept[i] } }' feature= text >changed
        "$PERFDATA" assemble changed -o changed.data 2>err || continue # what other lines name
        run changed.data script --itrace=ibxwpeod+o
        run changed.data report --stdio --itrace=i10usg
        [ $((line % 4)) != 0 ] || run changed.data inject --itrace=i10usl -o o
    done <lines
}
for name in c_forkbid group t_eptw; do
    without_each $name "$SOURCE/tests/data/itrace/$name.data"
done
without_each no-tracing "$no_tracing"
[ $runs -gt 200 ] || fail "only $runs runs"
echo "$runs runs"
exit $failed
