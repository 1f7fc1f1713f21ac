#!/bin/sh
# SPDX-License-Identifier: MIT
# Libraries that one verb or export needs are loaded there and nowhere else, and one that cannot be
# loaded is told.
set -u
: "${PERFDATA:?}" "${SOURCE:?}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
demo=$SOURCE/tests/data/demo/spin.data
"$PERFDATA" version --build-options >"$work/built"
failed=0 compared=0

readelf -SW "$PERFDATA" | grep -q '\.note\.dlopen' ||
    { echo 'this build links all libraries, or has none of these'; exit 77; }
linked=$(readelf -dW "$PERFDATA" |
    grep -E 'NEEDED.*lib(sqlite3|ncursesw|tinfo|microhttpd|debuginfod)')
[ -z "$linked" ] || { echo "loaded at each start:$linked"; failed=1; }

# broken BUILD-OPTION FILE ARGUMENTS...: with a FILE that is no library the verb names it and ends
# with an error, and leaves nothing behind.
broken() {
    option=$1 file=$2
    shift 2
    grep -q "^ *$option: \[ on " "$work/built" || return 0
    rm -rf "$work/libraries" "$work/made"
    mkdir "$work/libraries" "$work/made"
    echo >"$work/libraries/$file"
    (cd "$work/made" &&
        LD_LIBRARY_PATH=$work/libraries "$PERFDATA" "$@" >"$work/out" 2>&1 </dev/null)
    code=$?
    if [ $code -eq 0 ] || ! grep -q "$file: " "$work/out" || [ -n "$(ls "$work/made")" ]; then
        echo "$*: exit $code, or $file is not named, or files are left:" "$(ls "$work/made")"
        cat "$work/out"
        failed=1
    fi
    readelf -p .note.dlopen "$PERFDATA" | grep -q "\"$file\"" ||
        { echo "no note for packagers names $file"; failed=1; }
    compared=$((compared + 1))
}
broken sqlite libsqlite3.so.0 export sqlite "$demo" -o database
broken ncursesw libncursesw.so.6 report --tui -i "$demo"
broken libmicrohttpd libmicrohttpd.so.12 view "$demo"

DEBUGINFOD_URLS=http://127.0.0.1:1 broken debuginfod libdebuginfod.so.1 report --debuginfod -i "$demo"

# Whatever else does not miss them.
for file in libsqlite3.so.0 libncursesw.so.6 libmicrohttpd.so.12 libdebuginfod.so.1; do
    echo >"$work/libraries/$file"
done
LD_LIBRARY_PATH=$work/libraries "$PERFDATA" report -i "$demo" >"$work/without" 2>&1
"$PERFDATA" report -i "$demo" >"$work/with" 2>&1
cmp "$work/with" "$work/without" || failed=1
[ $compared -gt 0 ] || { echo 'built without any of the libraries'; exit 77; }
exit $failed
