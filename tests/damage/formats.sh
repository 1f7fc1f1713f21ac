#!/bin/sh
# SPDX-License-Identifier: MIT
# Formats of tracepoints that print flags of a field that there is not end no verb: libtraceevent
# would die of them. The others are used.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
sound=$SOURCE/tests/data/verbs/sched.data
# damaged NAME SED-PROGRAM, which keeps the number of bytes
damaged() {
    LC_ALL=C sed "$2" "$sound" >"$work/$1"
    [ "$(wc -c <"$work/$1")" -eq "$(wc -c <"$sound")" ] && ! cmp -s "$work/$1" "$sound" ||
        { echo "$1: not made"; exit 1; }
}
damaged damaged 's/field:long prev_state;/field:long prev_stale;/'
# libtraceevent takes space between the words.
damaged spaced 's/field:long prev_state;/field:long prev_stale;/
    /^print fmt: "prev_comm/s/REC->prev_state/REC ->prev_stat/g'
damaged print 's/field:long prev_state;/field:long prev_stale;/; s/^print fmt: "prev_comm=/print\x0bfmt: "prev_comm=/'
for file in damaged spaced print; do
    for verb in script 'report --stdio' 'sched latency' dump 'evlist --trace-fields' check; do
        # shellcheck disable=SC2086
        timeout 60 "$PERFDATA" $verb -i "$work/$file" >"$work/out" 2>"$work/err"
        code=$?
        [ $code -le 4 ] || { echo "$file: $verb: exit $code"; failed=1; }
    done
done
"$PERFDATA" script -i "$work/damaged" >"$work/out" 2>"$work/err"
grep -q "a tracepoint format of 'sched' is not usable" "$work/err" || { cat "$work/err"; failed=1; }
grep -q 'sched:sched_waking: comm=' "$work/out" || { echo 'no other format is used'; failed=1; }
exit $failed
