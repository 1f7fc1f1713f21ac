#!/bin/sh
# SPDX-License-Identifier: MIT
# What repair made of recordings that fuzzing found is sound: check says nothing of the file, and a
# second repair the same.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0 count=0
for seed in "$SOURCE"/fuzz/seeds/fuzz_repair/*; do
    count=$((count + 1))
    rm -f "$work/once"
    "$PERFDATA" repair "$seed" -o "$work/once" >/dev/null 2>"$work/said"
    case $seed in
    *_refused)
        grep -q 'do not go together' "$work/said" && [ ! -e "$work/once" ] ||
            { echo "$seed: repaired"; failed=$((failed + 1)); }
        continue
        ;;
    esac
    [ -s "$work/once" ] || { echo "$seed: nothing written"; failed=$((failed + 1)); continue; }
    "$PERFDATA" check "$work/once" >"$work/said" 2>&1
    if grep '^file:' "$work/said"; then
        echo "$seed: the repaired file is damaged"
        failed=$((failed + 1))
    fi
    "$PERFDATA" repair "$work/once" -o "$work/twice" >/dev/null 2>&1
    "$PERFDATA" dump "$work/once" 2>/dev/null | grep '^0x' >"$work/a"
    "$PERFDATA" dump "$work/twice" 2>/dev/null | grep '^0x' >"$work/b"
    cmp -s "$work/a" "$work/b" ||
        { echo "$seed: a second repair takes more away"; failed=$((failed + 1)); }
done
# A map that the kernel marked with a build-id, but that holds device and inode: read as the others,
# repaired without the mark.
demo=$SOURCE/tests/data/demo
"$PERFDATA" dump --pdt "$demo/spin.data" |
    sed -E '/^record MMAP2 misc=0x2 .*maj=/s/misc=0x2 (.*) maj=[^}]* prot=/misc=0x4002 \1 build_id_size=254 build_id=x"000000009280980000000000317c4b6100000000" prot=/' >"$work/pdt"
grep -q '^record MMAP2 misc=0x4002' "$work/pdt" ||
    { echo "no map is marked"; failed=$((failed + 1)); }
"$PERFDATA" assemble "$work/pdt" -o "$work/marked" &&
    "$PERFDATA" repair "$work/marked" -o "$work/once" >/dev/null
rows() {
    (cd "$demo" && "$PERFDATA" report --stdio --symfs symfs --kallsyms symfs/kallsyms -i "$1" 2>&1)
}
rows "$demo/spin.data" >"$work/rows"
for file in marked once; do
    rows "$work/$file" | cmp - "$work/rows" || { echo "$file: other rows"; failed=$((failed + 1)); }
done
"$PERFDATA" script --show-mmap-events -i "$work/marked" 2>/dev/null |
    grep -q ' fe:00 9994386 1632336945\]: r-xp' ||
    { echo "the marked map is not told by device and inode"; failed=$((failed + 1)); }
"$PERFDATA" dump --pdt "$work/once" | grep '^record MMAP2 misc=0x4' && failed=$((failed + 1))
echo "$count repaired, $failed failed"
[ $failed -eq 0 ] && [ $count -gt 0 ]
