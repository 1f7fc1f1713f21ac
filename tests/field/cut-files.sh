#!/bin/sh
# SPDX-License-Identifier: MIT
# cut-files.sh LIBRARY: programs and dumps that lose their bytes while they are read, as when
# somebody installs or removes them, end nothing: the run goes on without them, says so and does not
# exit with 0.
set -u
library=$(cd "$(dirname "$1")" && pwd)/${1##*/}
if [ -n "${SANITIZE-}" ]; then
    echo 'skipped: a sanitizer wants to be loaded first'
    exit 77
fi
t=$(mktemp -d) || exit 1
t=$(cd "$t" && pwd -P)
trap 'rm -rf "$t"' EXIT
export PERF_CONFIG=/dev/null
data=$SOURCE/tests/data/demo
failed=0 cuts=0
fail() {
    echo "FAIL: $*"
    cat "$t/err"
    failed=1
}

# cut FILE VERB...: the file is a copy and goes.
cut() {
    file=$1
    shift
    CUT_FILE=$file LD_PRELOAD=$library "$PERFDATA" "$@" >"$t/out" 2>"$t/err" </dev/null
    code=$?
    [ ! -s "$file" ] || fail "$*: $file was not mapped"
    [ $code -eq 1 ] || fail "$*: exit $code"
    grep -q 'became shorter' "$t/err" || fail "$*: nothing said"
    [ -s "$t/out" ] || fail "$*: no output"
    cuts=$((cuts + 1))
}

find "$data/symfs" -type f ! -name kallsyms |
    while read -r file; do echo "${file#"$data/symfs"}"; done >"$t/files"
while read -r name; do
    for verb in 'script' 'report --stdio' 'script -F +srcline'; do
        rm -rf "$t/symfs"
        cp -r "$data/symfs" "$t/symfs"
        for recording in spin shapes; do
            grep -q -a "$name" "$data/$recording.data" || continue
            # shellcheck disable=SC2086
            cut "$t/symfs$name" $verb -j 1 -i "$data/$recording.data" --symfs "$t/symfs" \
                --kallsyms "$t/symfs/kallsyms"
            break
        done
    done
done <"$t/files"
echo "$cuts files were cut"
[ $failed -eq 0 ] && [ $cuts -gt 0 ]
