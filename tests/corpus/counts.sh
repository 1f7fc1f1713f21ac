#!/bin/sh
# SPDX-License-Identifier: MIT
# dump --stats counts what the manifests count, whatever the container: exactly for sound
# recordings, at least for damaged ones.
set -u
. "$SOURCE/tests/corpus/recordings.sh"
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
recordings container tags records >"$out/list"
failed=0 compared=0
tab=$(printf '\t')
while IFS=$tab read -r recording container tags records; do
    [ -e "$recording" ] && [ "$records" != - ] || continue
    exact=1
    case $recording in */rec/damaged/*) exact=0 ;; esac
    case $container:$tags in *fuzz* | *malformed*) continue ;; esac
    timeout 60 "$PERFDATA" dump --stats -i "$recording" >"$out/got" 2>"$out/err" </dev/null
    # Some manifests have perf's short names.
    printf '%s\n' "$records" | tr ',' '\n' |
        sed 's/:/ /; s/^FEATURE /HEADER_FEATURE /; s/^TRACING_DATA /HEADER_TRACING_DATA /' \
        >"$out/want"
    compared=$((compared + 1))
    awk -v exact=$exact '
        NR == FNR { want[$1] = $2; next }
        { got[$1] = $2 }
        END {
            for (name in want) if (exact ? got[name] != want[name] : got[name] < want[name]) {
                print "  " name ": " got[name] + 0 ", the manifest says " want[name]; bad = 1
            }
            if (exact) for (name in got) if (!(name in want)) {
                print "  " name ": " got[name] ", not in the manifest"
                bad = 1
            }
            exit bad
        }' "$out/want" "$out/got" >"$out/diff" || {
        echo "$recording:"
        cat "$out/diff"
        failed=$((failed + 1))
    }
done <"$out/list"
echo "$compared recordings compared, $failed differ"
[ $failed -eq 0 ] && [ $compared -gt 0 ]
