#!/bin/sh
# SPDX-License-Identifier: MIT
# What repair made of recordings that fuzzing found is sound: check says nothing of the file, and a second repair the same.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0 count=0
for seed in "$SOURCE"/fuzz/seeds/fuzz_repair/*; do
    count=$((count + 1))
    "$PERFDATA" repair "$seed" -o "$work/once" >/dev/null 2>&1
    [ -s "$work/once" ] || { echo "$seed: nothing written"; failed=$((failed + 1)); continue; }
    "$PERFDATA" check "$work/once" >"$work/said" 2>&1
    if grep '^file:' "$work/said"; then
        echo "$seed: the repaired file is damaged"
        failed=$((failed + 1))
    fi
    "$PERFDATA" repair "$work/once" -o "$work/twice" >/dev/null 2>&1
    "$PERFDATA" dump "$work/once" 2>/dev/null | grep '^0x' >"$work/a"
    "$PERFDATA" dump "$work/twice" 2>/dev/null | grep '^0x' >"$work/b"
    cmp -s "$work/a" "$work/b" || { echo "$seed: a second repair takes more away"; failed=$((failed + 1)); }
done
echo "$count repaired, $failed failed"
[ $failed -eq 0 ] && [ $count -gt 0 ]
