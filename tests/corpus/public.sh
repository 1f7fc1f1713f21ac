#!/bin/sh
# SPDX-License-Identifier: MIT
# The public recordings that perf 6.1 reads, side by side with it: each group of cases at least so
# far as docs/status.md says.
set -u
public=${PERFDATA_CORPUS-}/public
if [ ! -f "$public/MANIFEST.tsv" ]; then
    echo 'skipped: no public recordings below PERFDATA_CORPUS'
    exit 77
fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/public"
# What perf cannot read, and what is damaged, is left out: column 9 is perf's verdict, 2 the
# container.
awk -F '\t' 'NR == 1 || ($9 ~ /^(ok|partly)/ && $2 !~ /fuzz|malformed/)' "$public/MANIFEST.tsv" \
    >"$folder/public/MANIFEST.tsv"
tail -n +2 "$folder/public/MANIFEST.tsv" | cut -f 1 | while read -r path; do
    mkdir -p "$folder/public/$(dirname "$path")"
    cp "$public/$path" "$folder/public/$path"
done
PERFDATA_CORPUS=$folder CONFORM_FOLDER=public CONFORM_WITHOUT=none sh \
    "$SOURCE/tests/corpus/conform.sh" "$@"
