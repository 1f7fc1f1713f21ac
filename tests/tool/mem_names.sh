#!/bin/sh
# SPDX-License-Identifier: MIT
# mem -D of objects whose names hold newlines. A batch's first line has two forms, of which
# one goes, whatever is in its names.
set -eu
: "${PERFDATA:?}" "${SOURCE:?}"
export PERF_CONFIG=/dev/null
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
data=$SOURCE/tests/data/report/memory.data

"$PERFDATA" dump --pdt -i "$data" -o "$work/plain.pdt"
sed 's#/own/bin/deep#/own/bin/de\\nep#' "$work/plain.pdt" >"$work/odd.pdt"
"$PERFDATA" assemble "$work/odd.pdt" -o "$work/odd.data"
failed=0
for options in '' '-x ,' '-p' '-U'; do
    # shellcheck disable=SC2086 # options are words
    "$PERFDATA" mem -D report $options -i "$data" >"$work/plain"
    sed 's#/own/bin/deep#/own/bin/de\
ep#' "$work/plain" >"$work/wanted"
    # shellcheck disable=SC2086
    "$PERFDATA" mem -D report $options -i "$work/odd.data" >"$work/got"
    grep -q '^ep' "$work/wanted" || [ "$options" = -U ] ||
        { echo "nothing is named so: $options"; failed=1; }
    diff "$work/wanted" "$work/got" || { echo "mem -D $options"; failed=1; }
done
exit $failed
