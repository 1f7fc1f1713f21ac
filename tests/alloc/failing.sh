#!/bin/sh
# SPDX-License-Identifier: MIT
# failing.sh LIBRARY STEP LAST: issue 24, point 3. Every STEP-th allocation up to LAST, or to the
# last that there is, fails in
# turn: a run then ends as ever with the bytes it always writes, or says that there was no memory
# and does not exit with 0; it never dies. Deaths below an allocation that a library asked for are
# listed and not counted.
set -u
library=$(cd "$(dirname "$1")" && pwd)/${1##*/} step=$2 last=$3
if [ -n "$SANITIZE" ]; then
    echo 'skipped: a sanitizer has allocation functions of its own'
    exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export PERF_CONFIG=/dev/null TZ=UTC LC_ALL=C
data=$SOURCE/tests/data/demo
tried=0 told=0 failed=0 elsewhere=0

complain() {
    echo "$*"
    cat "$work/err" "$work/log"
    failed=$((failed + 1))
}

# run NUMBER COMMAND...: leaves $code, $work/out, with what was written to a file behind it, and
# $work/err.
run() {
    number=$1
    shift
    rm -f "$work/written" "$work/log"
    ALLOC_FAIL_AT=$number ALLOC_FAIL_LOG=$work/log LD_PRELOAD=$library \
        "$PERFDATA" "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    [ ! -f "$work/written" ] || cat "$work/written" >>"$work/out"
}

# Whose call the allocation was in: the first line behind the library of the test's own.
asked_by() {
    grep -v -F "$library" "$work/log" | head -n 1
}

judge() {
    if [ $code -ge 128 ]; then
        case $(asked_by) in
        "$PERFDATA"*) complain "$*: allocation $at: exit $code" ;;
        *)
            elsewhere=$((elsewhere + 1))
            echo "$*: allocation $at: exit $code in $(asked_by)"
            ;;
        esac
    elif [ $code -eq 0 ] || { [ $code -eq $usual ] && cmp -s "$work/out" "$work/right"; }; then
        cmp -s "$work/out" "$work/right" || complain "$*: allocation $at: exit 0 and another output"
    elif grep -q -i -E 'memory' "$work/err"; then
        told=$((told + 1))
    else
        complain "$*: allocation $at: exit $code, and nothing says why"
    fi
}

try() {
    run 0 "$@"
    usual=$code
    [ -s "$work/out" ] && [ $usual -le 1 ] ||
        complain "$*: exit $usual without a failing allocation"
    cp "$work/out" "$work/right"
    at=$step
    while [ "$at" -le "$last" ]; do
        run "$at" "$@"
        [ -s "$work/log" ] || break # fewer are made
        tried=$((tried + 1))
        judge "$@"
        at=$((at + step))
    done
}

# all RECORDING OPTION...: the verbs; options that tell where symbols are for those that have them.
all() {
    recording=$1
    shift
    try report --stdio -j 1 -i "$recording" "$@"
    try report --stdio --hierarchy -j 1 -i "$recording" "$@"
    try script -j 1 -i "$recording" "$@"
    try header -i "$recording"
    try check -i "$recording"
    try inject -b -i "$recording" -o "$work/written"
    [ "$step" -eq 1 ] || return
    try script -j 1 -F +srcline -i "$recording" "$@"
    try report --stdio -j 1 -g caller,address,srcline -s sym,srcline -i "$recording" "$@"
    try report --mmaps -i "$recording"
    try report -D -j 1 -i "$recording"
    try evlist -v -i "$recording"
    try buildid-list -H -i "$recording"
    try dump -i "$recording"
    try slice --every 2 -i "$recording" -o "$work/written"
    try anonymize --key k -i "$recording" -o "$work/written"
    try export folded -i "$recording" -o "$work/written" "$@"
    try export pprof -i "$recording" -o "$work/written" "$@"
    try export firefox -i "$recording" -o "$work/written" "$@"
    try export otlp -i "$recording" -o "$work/written" "$@"
    try export ctf -i "$recording" -o "$work/trace"
    try flame -i "$recording" -o "$work/written" "$@"
}

# traced RECORDING OPTION...: what decodes Intel PT.
traced() {
    recording=$1
    shift
    try script -j 1 --itrace=bei1usxwp -i "$recording" "$@"
    try report --stdio -j 1 --itrace=i1us -i "$recording" "$@"
    try inject --itrace=i1usle -i "$recording" -o "$work/written"
}

for name in spin shapes; do
    all "$data/$name.data" --symfs "$data/symfs" --kallsyms "$data/symfs/kallsyms"
done
if [ "$step" -eq 1 ]; then
    for name in t_tsx t_eptw c_forkbid; do
        traced "$SOURCE/tests/data/itrace/$name.data" --symfs "$SOURCE/tests/data/itrace/symfs"
    done
fi
own=${PERFDATA_CORPUS-}/own
if [ "$step" -eq 1 ] && [ -f "$own/rec/dwarf.data" ]; then
    for name in cpp-fp dwarf; do
        all "$own/rec/$name.data" --symfs "$own/symfs" --kallsyms "$own/symfs/kallsyms"
    done
fi
echo "$tried allocations failed: $told runs said so, $elsewhere died in libraries, $failed were wrong"
[ $failed -eq 0 ] && [ $told -gt 0 ]
