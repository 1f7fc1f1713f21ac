#!/bin/sh
# SPDX-License-Identifier: MIT
# issue 24, point 4: a map of the kernel whose name ends in "/" has no file name; all else is read
# as ever.
set -eu
export LC_ALL=C PERF_CONFIG=/dev/null
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
data=$work/slash.data
"$PERFDATA" assemble -o "$data" "$SOURCE/tests/data/field/kernel-map-slash/slash.pdt"
for verb in 'script -i' 'report --stdio -i' 'report -D -i' 'report --mmaps -i' 'header' \
    'evlist -i' 'buildid-list -i' 'dump'; do
    # shellcheck disable=SC2086
    if ! "$PERFDATA" $verb "$data" >"$work/out" 2>"$work/err" ||
        grep -q 'out of memory' "$work/err"; then
        cat "$work/err" >&2
        echo "$verb does not read it" >&2
        exit 1
    fi
done
"$PERFDATA" script -F comm,ip -i "$data" >"$work/out" 2>/dev/null
grep -c spin "$work/out" | grep -qx 2 ||
    { cat "$work/out" >&2; echo 'two samples are not printed' >&2; exit 1; }
