#!/bin/sh
# SPDX-License-Identifier: MIT
# assemble(dump --pdt) gives every recording again byte for byte, damaged ones too; few items need
# to stand as bytes.
set -u
. "$SOURCE/tests/corpus/recordings.sh"
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
failed=0 runs=0
: >"$out/all"

fail() {
    echo "$recording: $1"
    [ ! -s "$out/err" ] || tail -n 3 "$out/err"
    failed=$((failed + 1))
}

same() {
    if [ ! -d "$1" ]; then
        cmp -s "$1" "$2"
        return
    fi
    for part in "$1"/data* "$2"/*; do
        cmp -s "$1/${part##*/}" "$2/${part##*/}" || return 1
    done
}

recordings >"$out/list"
[ -s "$out/list" ] || { echo 'no manifest below PERFDATA_CORPUS'; exit 77; }
while read -r recording; do
    [ -e "$recording" ] || continue
    # the large ones hold nothing that the small ones do not
    [ -d "$recording" ] || [ "$(wc -c <"$recording")" -le 400000 ] || continue
    case $recording in *.gz | *.xz | *.zst) continue ;; esac
    rm -rf "$out/text" "$out/again"
    runs=$((runs + 1))
    timeout 60 "$PERFDATA" dump --pdt "$recording" -o "$out/text" >"$out/err" 2>&1 </dev/null
    [ -e "$out/text" ] || { fail 'no text'; continue; }
    if ! timeout 60 "$PERFDATA" assemble "$out/text" -o "$out/again" >"$out/err" 2>&1; then
        fail 'its text does not assemble'
    elif ! same "$recording" "$out/again"; then
        fail 'its text gives other bytes'
    fi
    [ -d "$out/text" ] || cat "$out/text" >>"$out/all"
done <"$out/list"
records=$(grep -c '^record ' "$out/all")
plain=$(grep -cE '^(record|feature|attr) [^{"]* x"' "$out/all")
echo "$runs recordings, $failed failed; $records records, $plain items as bytes"
[ $runs -gt 0 ] && [ $failed -eq 0 ] && [ "$plain" -le $((records / 50)) ]
