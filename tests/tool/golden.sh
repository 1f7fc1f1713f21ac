#!/bin/sh
# SPDX-License-Identifier: MIT
# golden.sh [FOLDER [perf]]: the recordings of a folder of tests/data print what perf printed of
# them, which is stored beside them. perf: the tool is called as perf.
set -u
cd "$SOURCE/tests/data/${1-demo}" || exit 1
out=$(mktemp) || exit 1
trap 'rm -rf "$out" "$out.err" "$out.bin"' EXIT
tool=$PERFDATA
if [ -n "${2-}" ]; then
    mkdir "$out.bin" && ln -s "$PERFDATA" "$out.bin/$2" || exit 1
    tool=$out.bin/$2
fi
export TZ=UTC LC_ALL=C COLUMNS=160 LINES=50
failed=0 count=0
while read -r name verb options; do
    case $name in '#'* | '') continue ;; esac
    count=$((count + 1))
    symbols='--symfs symfs --kallsyms symfs/kallsyms'
    [ -e symfs/kallsyms ] || symbols='--symfs symfs'
    case $verb in
    evlist | buildid-list) symbols= ;;
    annotate)
        symbols='--symfs symfs'
        # The text is that of Debian 12's binutils.
        objdump --version 2>/dev/null | grep -q ' 2\.40$' ||
            { echo 'objdump is not that of binutils 2.40'; exit 77; }
        ;;
    esac
    # shellcheck disable=SC2086
    if ! "$tool" "$verb" $symbols $options </dev/null >"$out" 2>"$out.err"; then
        echo "$name: $verb $options failed:"
        cat "$out.err"
        failed=1
    elif ! grep -vE "^# (captured on|\\(Tip:)" "$out" | diff -u "$name.exact" - >"$out.err"; then
        echo "$name: $verb $options differs:"
        head -n 40 "$out.err"
        failed=1
    fi
done <cases
[ $count -gt 0 ] || { echo 'no cases'; exit 1; }
exit $failed
