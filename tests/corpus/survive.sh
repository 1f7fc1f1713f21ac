#!/bin/sh
# SPDX-License-Identifier: MIT
# No recording makes a verb die, hang or grow past 1 GiB; exit codes stay within 0 to 4. With
# "others": the verbs that write, and what is made of traces.
set -u
. "$SOURCE/tests/corpus/recordings.sh"
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
export TZ=UTC LC_ALL=C COLUMNS=160
# A sanitizer's address space is its own matter.
[ -n "${SANITIZE-}" ] || ulimit -v 1300000
failed=0 runs=0 which=${1-}

check() {
    recording=$1
    shift
    timeout 60 "$PERFDATA" "$@" -i "$recording" >/dev/null 2>"$out/err" </dev/null
    code=$?
    runs=$((runs + 1))
    if [ $code -gt 4 ] ||
        grep -qE 'AddressSanitizer|runtime error|LeakSanitizer|internal error' "$out/err"; then
        echo "perfdata $* -i $recording: exit $code"
        [ $failed -gt 20 ] || head -n 30 "$out/err"
        failed=$((failed + 1))
    fi
}

[ -x "$PERFDATA" ] || { echo "no program: $PERFDATA"; exit 1; }
recordings >"$out/list"
[ -s "$out/list" ] || { echo 'no manifest below PERFDATA_CORPUS'; exit 77; }
while read -r recording; do
    [ -e "$recording" ] || continue
    symbols=$(symbols_of "$recording")
    if [ "$which" = others ]; then
        set -- check 'aux list' 'aux stat' 'aux dump' 'aux index' 'script -D' \
            "script --itrace=ibxwpe $symbols" \
            "report --stdio --itrace=i100usg $symbols" "report --stdio -b $symbols" \
            "slice --first 5 -o $out/data" \
            "anonymize -o $out/data" "repair -o $out/data" "inject -b -o $out/data" \
            "inject --itrace=i1us -o $out/data" \
            "export postgresql --branches --calls --itrace=b $symbols -o $out/data"
    else
        set -- header evlist 'evlist -v' buildid-list dump 'dump --stats' 'dump --json' \
            'dump --checksum' \
            "script $symbols" "report --stdio $symbols" \
            "report --stdio --no-children -g none $symbols"
    fi
    for verb; do
        # shellcheck disable=SC2086
        check "$recording" $verb
    done
    rm -rf "$out/data"
done <"$out/list"
echo "$runs runs, $failed failed"
[ $failed -eq 0 ] && [ $runs -gt 0 ]
