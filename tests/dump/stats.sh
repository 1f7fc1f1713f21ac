#!/bin/sh
# SPDX-License-Identifier: MIT
# `dump --stats` against the counts of the corpus's manifests: equal for whole, uncompressed files; at least the
# manifest's counts for damaged ones.
set -u
[ -n "${PERFDATA_CORPUS:-}" ] && [ -d "$PERFDATA_CORPUS" ] || { echo "PERFDATA_CORPUS is unset"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
checked=0

# manifest -> lines "path exact|least NAME:COUNT,..."
choose() {
    awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        { counts = column["records"] ? $column["records"] : column["record_counts"] ? $column["record_counts"] : ""
          all = $0; tags = column["tags"] ? $column["tags"] : column["exercises"] ? $column["exercises"] : ""
          if (counts !~ /:/ || $column["container"] != "file" || all ~ /zstd|COMPRESSED|fuzz|malformed/) next
          print $1, ($1 ~ /damaged/ || tags ~ /trunc|noise|field|killed|data-size-0/) ? "least" : "exact", counts }' "$1"
}

for manifest in "$PERFDATA_CORPUS"/*/MANIFEST.tsv "$PERFDATA_CORPUS"/*/*/MANIFEST.tsv; do
    [ -f "$manifest" ] || continue
    folder=${manifest%/*}
    choose "$manifest" >"$work/list"
    while read -r path mode counts; do
        [ -f "$folder/$path" ] || continue
        checked=$((checked + 1))
        "$PERFDATA" dump --stats -i "$folder/$path" >"$work/out" 2>"$work/err"
        tr ' ' ':' <"$work/out" | LC_ALL=C sort >"$work/got"
        printf '%s\n' "$counts" | tr ',' '\n' | sed 's/^ *//' | LC_ALL=C sort >"$work/want"
        if [ "$mode" = exact ]; then
            cmp -s "$work/got" "$work/want"
        else
            awk -F: 'NR == FNR { got[$1] = $2; next } got[$1] + 0 < $2 + 0 { bad = 1 } END { exit bad }' \
                "$work/got" "$work/want"
        fi || {
            echo "$folder/$path ($mode): lines with < are ours, with > the manifest's"
            diff "$work/got" "$work/want" | grep '^[<>]'
            failed=$((failed + 1))
        }
    done <"$work/list"
done
echo "$checked recordings, $failed differ"
[ "$checked" -gt 0 ] && [ "$failed" -eq 0 ]
