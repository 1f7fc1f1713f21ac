#!/bin/sh
# SPDX-License-Identifier: MIT
# Indexes of symbols: the output is the same without them, when they are made, when they are there,
# damaged, of another file, when they cannot be written, when two runs make them at once.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir home
export TZ=UTC LC_ALL=C HOME="$work/home" PERF_CONFIG=/dev/null PERFDATA \
    XDG_CACHE_HOME="$work/caches"
cache=$XDG_CACHE_HOME/perfdata
failed=0
fail() { echo "$*"; failed=1; }

input=rec.data
work_for_a_while='i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; ls -lR /usr/bin >/dev/null'
timeout 60 "$PERFDATA" record -q -g -e cpu-clock -F 5000 -o rec.data sh -c "$work_for_a_while" \
    >/dev/null 2>&1 || {
    echo 'no recording can be made here'
    exit 77
}

run() { timeout 100 "$PERFDATA" "$@" -i "$input" 2>/dev/null; }
sizes='report --stdio --no-children -g none -F overhead,symbol_size,sym,dso'
run script --no-cache >expected.script
run report --stdio --no-cache >expected.report
# shellcheck disable=SC2086
run $sizes --no-cache >expected.sizes
run export folded --no-cache -o - >expected.folded
for file in expected.*; do test -s "$file" || fail "$file: nothing to compare"; done
test ! -e "$XDG_CACHE_HOME" || fail '--no-cache makes a folder'
mkdir "$XDG_CACHE_HOME"
"$PERFDATA" --no-cache script -i "$input" >/dev/null 2>&1
test ! -e "$cache" || fail '--no-cache before the verb makes a folder'

# same WHAT: each verb prints what it prints without a cache.
same() {
    run script | cmp -s - expected.script || fail "$1: script prints something else"
    run report --stdio | cmp -s - expected.report || fail "$1: report prints something else"
    # shellcheck disable=SC2086
    run $sizes | cmp -s - expected.sizes || fail "$1: report with sizes prints something else"
    run export folded -o - | cmp -s - expected.folded || fail "$1: export prints something else"
}
indexes() { find "$cache" -type f 2>/dev/null | wc -l; }

same cold
count=$(indexes)
[ "$count" -gt 0 ] || fail 'no index was written'
same warm
[ "$(indexes)" -eq "$count" ] || fail "other indexes when they are there: $(indexes), not $count"
[ "$(find "$cache" -perm /077 | wc -l)" -eq 0 ] || fail 'others may read what was indexed'

# Two runs at once, on an empty folder, again and again.
for round in 1 2 3 4; do
    rm -rf "$cache"
    run script >one &
    run script >two
    wait $!
    cmp -s one expected.script && cmp -s two expected.script || fail "two at once, round $round"
done
find "$cache" -name 'part-*' | grep . && fail 'parts are left'

# Damage: cut, other bytes, empty, a folder in its place.
for file in "$cache"/*; do
    size=$(wc -c <"$file")
    head -c $((size / 2)) "$file" >cut
    cat cut >"$file"
done
same cut
for file in "$cache"/*; do
    printf 'XXXXXXXXXXXX' | dd of="$file" bs=1 seek=200 conv=notrunc 2>/dev/null
done
same forged
for file in "$cache"/*; do : >"$file"; done
same empty
for file in "$cache"/*; do rm "$file"; mkdir "$file"; done
same 'folders in their places'
rm -rf "$cache"

# A full disk: no write is possible behind the first blocks. The output goes through a pipe, which
# has no limit.
(trap '' XFSZ; ulimit -f 1; run script) | cmp -s - expected.script ||
    fail 'full disk: script prints something else'
[ "$(find "$cache" -type f -size +2 | wc -l)" -eq 0 ] || fail 'half an index is left'
find "$cache" -name 'part-*' | grep . && fail 'a part is left on a full disk'
if mkdir small && mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then
    XDG_CACHE_HOME=$work/small same 'full file system'
    [ -z "$(find small -name 'part-*')" ] || fail 'a part is left on a full file system'
    umount small
fi

# Nowhere to write: a folder that is none, one that only can be read, no home at all.
XDG_CACHE_HOME=/dev/null same 'no folder'
XDG_CACHE_HOME=/proc/self same 'read-only'
if mkdir sealed && mount -t tmpfs -o ro tmpfs sealed 2>/dev/null; then
    XDG_CACHE_HOME=$work/sealed same 'read-only file system'
    umount sealed
fi
(unset XDG_CACHE_HOME HOME; run script) | cmp -s - expected.script ||
    fail 'no home: script prints something else'
(unset XDG_CACHE_HOME; run script) | cmp -s - expected.script ||
    fail 'HOME only: script prints something else'
[ -d home/.cache/perfdata ] || fail 'HOME/.cache/perfdata is not made'
(XDG_CACHE_HOME=caches; run script) | cmp -s - expected.script ||
    fail 'relative: script prints something else'
[ ! -d caches/caches ] && [ ! -e caches/perfdata/caches ] ||
    fail 'a relative XDG_CACHE_HOME is used'

# Links, and folders that others may write to, are not used.
rm -rf "$cache" && mkdir elsewhere && ln -s "$work/elsewhere" "$cache"
same 'a link'
[ -z "$(ls elsewhere)" ] || fail 'a link is followed'
rm "$cache" && mkdir -m 777 "$cache" && chmod 777 "$cache"
same 'open to all'
[ "$(indexes)" -eq 0 ] || fail 'a folder that is open to all is used'
rm -rf "$cache"
if [ "$(id -u)" -eq 0 ] && mkdir "$cache" && chown 65534 "$cache"; then
    same "another's"
    [ "$(indexes)" -eq 0 ] || fail "another's folder is used"
    rm -rf "$cache"
fi
exit $failed
