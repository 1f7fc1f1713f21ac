#!/bin/sh
# SPDX-License-Identifier: MIT
# buildid-cache beside perf: the same steps on two empty caches, then the same trees, outputs and
# words.
set -u
command -v perf >/dev/null 2>&1 || { echo 'skipped: no perf'; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
mkdir "$out/bin" "$out/files" "$out/perf-home" "$out/our-home"
ln -s "$(command -v "$PERFDATA")" "$out/bin/perf"
perf=$(command -v perf)
steps=0 failed=0
export PERF_CONFIG=/dev/null

fail() {
    echo "$*"
    failed=$((failed + 1))
}

fresh() {
    rm -rf "$out/perf-home/.debug" "$out/our-home/.debug" "$out/files"
    mkdir "$out/files"
    cp "$SOURCE/tests/data/demo/symfs/own/bin/spin" "$out/files/one"
    cp "$PERFDATA" "$out/files/two"
    printf 'no ELF file\n' >"$out/files/text"
    ln -s one "$out/files/link"
}

# perf also tells which servers it would ask.
step() {
    steps=$((steps + 1))
    for who in perf our; do
        program=$perf
        [ $who = perf ] || program=$out/bin/perf
        (cd "$out/files" &&
            HOME=$out/$who-home "$program" buildid-cache "$@") >"$out/$who.text" \
            2>"$out/$who.errors"
        echo "exit $?" >>"$out/$who.text"
        (cd "$out/$who-home" && find . | LC_ALL=C sort && find . -type l -exec readlink '{}' ';' |
            LC_ALL=C sort) >"$out/$who.tree"
        grep -v '^DEBUGINFOD_URLS\|probes' "$out/$who.tree" >"$out/$who.kept"
        grep -v '^DEBUGINFOD_URLS\|^Couldn.t read a build-id' "$out/$who.errors" |
            sed 's/: Inappropriate ioctl for device/: it has no build-id/' >"$out/$who.words"
    done
    for what in text kept words; do
        cmp -s "$out/perf.$what" "$out/our.$what" || {
            fail "differs in $what: $*"
            diff "$out/perf.$what" "$out/our.$what"
        }
    done
}

fresh
step -v -a one
grep -q elf "$out/our.kept" || fail 'nothing was kept'
step -v -a one,two
step -l
step -v -a link,./two,one
step -v -a text
step -v -a nothing
step -r nothing
step -r two
step -u nothing
step -p nothing
step -v -r one
step -v -r one
step -v -r nothing
step -v -p two
step -v -p two
step -v -p nothing
step -l
step -v -a one,two -r one -u one
step -v -P
step -l
fresh
step -a one
cp "$out/files/two" "$out/files/one" # a hard link changes with its file
step -l
step -v -u one
step -v -p one
fresh
step -a two
if [ -d "${PERFDATA_CORPUS:-/nowhere}/own/rec" ]; then
    for name in inject-b sys-wide plt pipe; do
        step -M "$PERFDATA_CORPUS/own/rec/$name.data"
    done
fi
# Nothing of an older version is lost, whatever else lies in the folder.
fresh
step -a one
mkdir -p "$out/our-home/.debug/$out/files/one/mine"
HOME=$out/our-home "$PERFDATA" buildid-cache -P &&
    [ -d "$out/our-home/.debug/$out/files/one/mine" ] ||
    fail 'a folder of somebody else is gone'

# Where links are not to be had a copy is made.
if [ -d /dev/shm ] && [ "$(stat -c %d /dev/shm)" != "$(stat -c %d "$out")" ]; then
    other=$(mktemp -d /dev/shm/perfdata.XXXXXX)
    "$PERFDATA" --buildid-dir "$other" buildid-cache -a "$out/files/one" || fail 'no copy'
    find "$other" -name elf -size +0 | grep -q . || fail 'the copy is empty'
    kept=$(find "$other" -name elf)
    cmp -s "$kept" "$out/files/one" || fail 'the copy differs'
    rm -rf "$other"
fi

# What cannot be kept is told, and the exit code says so under our own name.
HOME=$out/our-home "$PERFDATA" buildid-cache -a "$out/files/text" 2>/dev/null
[ $? -eq 1 ] || fail 'exit code of a file without a build-id'
echo "$steps steps, $failed differ"
[ $steps -gt 15 ] && [ $failed = 0 ]
