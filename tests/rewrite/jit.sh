#!/bin/sh
# SPDX-License-Identifier: MIT
# inject -j writes what perf inject -j writes: the same records, the same ELF files but for their
# build-ids (perf draws them at random); and --jitdump reads the same symbols in place.
set -u
[ -n "${PERFDATA_CORPUS-}" ] || {
    echo 'PERFDATA_CORPUS is not set'
    exit 77
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
HOME=$work PERF_CONFIG=/dev/null TZ=UTC LC_ALL=C
export HOME PERF_CONFIG TZ LC_ALL

complain() {
    echo "$*"
    failed=$((failed + 1))
}

# The recording with its dump in $work.
mkdir "$work/jit" || exit 1
cp "$PERFDATA_CORPUS"/own/jit/jit-*.dump "$work/jit" && chmod u+w "$work"/jit/*
"$PERFDATA" dump --pdt "$PERFDATA_CORPUS/own/rec/jit.data" |
    sed "s,/own/jit/,$work/jit/," >"$work/jit.pdt"
"$PERFDATA" assemble "$work/jit.pdt" -o "$work/jit.data" || exit 1

"$PERFDATA" script --jitdump -i "$work/jit.data" >"$work/in-place" ||
    complain 'script --jitdump fails'
[ -e "$work"/jit/jitted-*-0.so ] && complain 'reading in place writes files'
grep -q 'Foo::bar(int, String)+0xc (.*/jitted-4918-1.so)' "$work/in-place" ||
    complain 'no symbol in place'
"$PERFDATA" script --jitdump="$work" -i "$work/jit.data" 2>&1 >/dev/null |
    grep -q 'cannot be read as a jitdump' ||
    complain 'a folder without dumps is not told'
"$PERFDATA" inject -j -i "$work/jit.data" -o "$work/out.data" || complain 'inject -j fails'
"$PERFDATA" script -i "$work/out.data" >"$work/injected"
cmp -s "$work/in-place" "$work/injected" || complain 'read in place and injected differ'
for fields in comm,ip,sym,insn comm,ip,sym,dso,srcline; do
    "$PERFDATA" script -F $fields --jitdump -i "$work/jit.data" >"$work/in-place.fields" ||
        complain "-F $fields in place fails"
    "$PERFDATA" script -F $fields -i "$work/out.data" | cmp -s - "$work/in-place.fields" ||
        complain "-F $fields in place differs"
done
grep -q 'interp.c\|Foo.java\|jitted' "$work/in-place.fields" || complain 'no line in place'
"$PERFDATA" inject -j -i "$work/jit.data" --pipe -o "$work/out.pipe" ||
    complain 'inject -j into a pipe fails'
"$PERFDATA" script -i "$work/out.pipe" | cmp -s - "$work/injected" || complain 'the pipe differs'
"$PERFDATA" buildid-list -i "$work/out.data" | grep -q 'jitted-4918-3.so' || complain 'no build-ids'

# Records without what perf puts at random, or of the files.
records() {
    "$PERFDATA" dump --pdt "$1" |
        sed -n '/^record/{s/ ino=[0-9]*//;s/prot=EXEC|0x[0-9a-f]*/prot=EXEC/;p;}'
}

# build-id: the 20 bytes that may differ, all in one place
same_but_id() {
    [ "$(wc -c <"$1")" = "$(wc -c <"$2")" ] || return 1
    cmp -l "$1" "$2" |
        awk 'NR == 1 { first = $1 } { last = $1 } END { exit NR > 0 && last - first >= 20 }'
}

if perf --version >/dev/null 2>&1; then
    mkdir "$work/ours" && mv "$work"/jit/jitted-*.so "$work/ours"
    perf inject -j -f -i "$work/jit.data" -o "$work/perf.data" >/dev/null 2>&1 ||
        complain 'perf inject -j fails'
    records "$work/perf.data" >"$work/perf.records"
    records "$work/out.data" | cmp -s - "$work/perf.records" ||
        complain 'other records than those of perf'
    [ -s "$work/perf.records" ] || complain 'perf has written no records'
    for file in "$work"/jit/jitted-*.so; do
        same_but_id "$file" "$work/ours/${file##*/}" ||
            complain "${file##*/} differs from that of perf"
    done
fi
[ $failed -eq 0 ]
