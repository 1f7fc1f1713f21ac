#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 5: a FIFO in the place of a recording's index of PSBs does not hold up what would
# look into it, which says so.
set -u
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
failed=0
cp "$SOURCE/tests/data/field/time-before-zero/in.data" "$t/in.data"
"$PERFDATA" script --itrace=qqe -i "$t/in.data" >"$t/plain" 2>/dev/null
mkfifo "$t/in.data.psbindex"
for verb in 'script --itrace=qqe' 'script --itrace=be --time 18000.00002,18000.00003' \
    'report --stdio --itrace=qqe'; do
    code=0
    # shellcheck disable=SC2086
    timeout 20 "$PERFDATA" $verb -i "$t/in.data" >"$t/out" 2>"$t/err" || code=$?
    [ $code -le 3 ] || { echo "$verb: exit $code"; failed=1; }
    grep -q 'psbindex is not used: it cannot be read' "$t/err" ||
        { echo "$verb: nothing is said"; failed=1; }
done
"$PERFDATA" script --itrace=qqe -i "$t/in.data" 2>/dev/null | cmp - "$t/plain" || failed=1
exit $failed
