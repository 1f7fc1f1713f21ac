#!/bin/sh
# SPDX-License-Identifier: MIT
# Formats of tracepoints that print flags of a field that there is not end no verb: libtraceevent
# would die of them. The others are used.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
LC_ALL=C sed 's/field:long prev_state;/field:long prev_stale;/' "$SOURCE/tests/data/verbs/sched.data" \
    >"$work/damaged"
cmp -s "$work/damaged" "$SOURCE/tests/data/verbs/sched.data" && { echo 'nothing changed'; exit 1; }
for verb in script 'report --stdio' 'sched latency' 'dump' 'evlist --trace-fields' 'check'; do
    # shellcheck disable=SC2086
    timeout 60 "$PERFDATA" $verb -i "$work/damaged" >"$work/out" 2>"$work/err"
    code=$?
    [ $code -le 4 ] || { echo "$verb: exit $code"; failed=1; }
done
"$PERFDATA" script -i "$work/damaged" >"$work/out" 2>"$work/err"
grep -q "a tracepoint format of 'sched' is not usable" "$work/err" || { cat "$work/err"; failed=1; }
grep -q 'sched:sched_waking: comm=' "$work/out" || { echo 'no other format is used'; failed=1; }
exit $failed
