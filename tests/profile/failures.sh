#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 27: an export that fails leaves neither a file nor a folder, and takes away none that was
# there, in any form.
set -u
export LC_ALL=C PERF_CONFIG=/dev/null TZ=UTC
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/in" "$work/out"
demo=$SOURCE/tests/data/demo/spin.data
failed=0 count=0
fail() { echo "$*"; failed=1; }

# FORMAT OPTION...
refused() {
    format=$1
    shift
    "$PERFDATA" export "$format" "$@" -o "$work/out/new" >"$work/log" 2>&1 &&
        fail "$format $*: succeeds"
    grep -q . "$work/log" || fail "$format $*: says nothing"
    left=$(ls -A "$work/out")
    [ -z "$left" ] || fail "$format $*: leaves $left"
    rm -rf "$work/out"
    mkdir "$work/out"
    count=$((count + 1))
}

: >"$work/in/empty.data"
formats=$("$PERFDATA" export 2>&1 | sed -n 's/.*one of \(.*\) is needed/\1/p' | tr -d ,)
"$PERFDATA" version --build-options 2>/dev/null | grep -i sqlite | grep -qi off &&
    formats=$(echo "$formats" | sed 's/sqlite//') && echo 'sqlite is left out: built without it'
for format in $formats; do
    refused "$format" -i "$demo" --itrace=i10usgQQ@
    refused "$format" -i "$demo" --time=sometime
    refused "$format" -i "$work/in/none.data"
    refused "$format" -i "$work/in/empty.data"
done
for format in csv parquet ctf; do
    mkdir "$work/out/there"
    "$PERFDATA" export "$format" -i "$demo" --time=sometime -o "$work/out/there" >/dev/null 2>&1
    [ -d "$work/out/there" ] || fail "$format: takes away an empty folder"
    rm -rf "$work/out/there"
    "$PERFDATA" export "$format" -i "$demo" -o "$work/out/there" 2>/dev/null || fail "$format fails"
    (cd "$work/out" && find . -type f -exec cksum {} + | sort) >"$work/before"
    "$PERFDATA" export "$format" -i "$demo" --time=sometime -o "$work/out/there" >/dev/null 2>&1
    (cd "$work/out" && find . -type f -exec cksum {} + | sort) >"$work/after"
    cmp "$work/before" "$work/after" || fail "$format: files that were there are gone"
    rm -rf "$work/out/there"
done
[ $count -gt 50 ] || fail "only $count failures were made"
echo "$count failures"
exit $failed
