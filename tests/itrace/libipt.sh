#!/bin/sh
# SPDX-License-Identifier: MIT
# Every extracted trace of the corpus: libipt, the reference decoder, lists the same packets at the
# same places. libipt.sh LIST_PACKETS
. "$SOURCE/tests/itrace/common.sh"
traces=0 packets=0
for file in "$own"/rec/*; do
    rm -rf "$work/out"
    "$PERFDATA" aux extract "$file" -o "$work/out"
    for trace in "$work"/out/*.pt; do
        [ -s "$trace" ] || continue
        "$1" "$trace" libipt >"$work/libipt" || { [ ! -s "$work/libipt" ] && continue; }
        "$1" "$trace" ours >"$work/ours"
        traces=$((traces + 1))
        packets=$((packets + $(wc -l <"$work/ours")))
        cmp -s "$work/libipt" "$work/ours" && continue
        echo "${file##*/}: ${trace##*/} differs:" >&2
        diff "$work/libipt" "$work/ours" | head -4 >&2
        failed=1
    done
done
echo "$traces traces, $packets packets"
[ "$traces" -gt 0 ] || failed=1
exit $failed
