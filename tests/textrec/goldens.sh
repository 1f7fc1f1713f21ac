#!/bin/sh
# SPDX-License-Identifier: MIT
# Each tests/golden/NAME.pdt assembles into a recording that dump shows as NAME.dump and as the same
# text recording. "update" as argument writes both anew from what the text recordings say.
set -u
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
failed=0 runs=0
for text in "$SOURCE"/tests/golden/*.pdt; do
    name=$(basename "$text" .pdt)
    runs=$((runs + 1))
    if ! "$PERFDATA" assemble "$text" -o "$out/data" 2>"$out/err"; then
        cat "$out/err"
        failed=$((failed + 1))
        continue
    fi
    "$PERFDATA" dump "$out/data" >"$out/dump" 2>"$out/err"
    { grep '^#' "$text"; "$PERFDATA" dump --pdt "$out/data" 2>"$out/err"; } >"$out/pdt"
    if [ "${1-}" = update ]; then
        cp "$out/dump" "${text%.pdt}.dump"
        cp "$out/pdt" "$text"
    elif ! diff -u "${text%.pdt}.dump" "$out/dump" || ! diff -u "$text" "$out/pdt"; then
        echo "$name: differs"
        failed=$((failed + 1))
    fi
done
echo "$runs text recordings, $failed differ"
[ $runs -gt 0 ] && [ $failed -eq 0 ]
