#!/bin/sh
# SPDX-License-Identifier: MIT
# failing.sh LIBRARY STEP LAST: issue 24, point 3. Every STEP-th allocation up to LAST, or to the
# last that there is, fails in turn. With a STEP of 1 the first two allocations by each call stack
# fail as well, however many come before them, and of most commands those alone: what a loop asks
# for a thousand times ends the same way each time. A run then ends as ever with the bytes it always
# writes, or says that there was no memory and does not exit with 0; it never dies. Deaths below an
# allocation that a library asked for are listed and not counted.
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

# run NUMBER COMMAND...: leaves $code, $work/out, with what was written to a file or a folder behind
# it and the text of the verbs that print it there, and $work/err.
run() {
    number=$1
    shift
    rm -rf "$work/written" "$work/log" "$work/trace" "$work/out.data"
    ALLOC_FAIL_AT=$number ALLOC_FAIL_LOG=$work/log LD_PRELOAD=$library \
        "$PERFDATA" "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    [ ! -f "$work/written" ] || cat "$work/written" >>"$work/out"
    [ ! -d "$work/trace" ] || cat "$work/trace"/* >>"$work/out"
    # Two recordings are never the same bytes: of one that was made only its events are compared.
    [ "$1" != record ] || "$PERFDATA" evlist -v -i "$work/out.data" >"$work/out" 2>&1
    case $1 in # but for warnings, which are counted when they cannot be kept
    lock | trace | kvm | stat) grep -v -e '^perfdata ' -e '^No ' "$work/err" >>"$work/out" ;;
    esac
}

# Whose call the allocation was in: the first line behind the library of the test's own and behind
# the C library, whose strdup() and asprintf() ask for their callers.
asked_by() {
    grep -v -F -e "$library" -e /libc.so "$work/log" | head -n 1
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

# numbers COMMAND...: which allocations are to fail, a line each.
numbers() {
    if [ "$step" -eq 1 ]; then
        rm -rf "$work/written" "$work/trace"
        ALLOC_STACKS=$work/stacks ALLOC_EACH=2 LD_PRELOAD=$library "$PERFDATA" "$@" \
            >"$work/out" 2>"$work/err" </dev/null
        [ -s "$work/stacks" ] || complain "$*: no allocation was seen"
        [ "$whole" -eq 1 ] || { sort -n "$work/stacks"; return; }
    fi
    { seq "$step" "$step" "$last"; [ "$step" -ne 1 ] || cat "$work/stacks"; } | sort -n -u
}

try() {
    run 0 "$@"
    usual=$code
    [ -s "$work/out" ] && [ $usual -le 1 ] ||
        complain "$*: exit $usual without a failing allocation"
    cp "$work/out" "$work/right"
    numbers "$@" >"$work/numbers"
    before=$tried
    while read -r at; do
        run "$at" "$@"
        [ -s "$work/log" ] || break # fewer are made
        tried=$((tried + 1))
        judge "$@"
    done <"$work/numbers"
    [ "$step" -ne 1 ] || echo "$((tried - before)): $*"
}

# all RECORDING OPTION...: the verbs; options that tell where symbols are for those that have them.
all() {
    recording=$1
    shift
    whole=1
    try report --stdio -j 1 -i "$recording" "$@"
    try report --stdio --hierarchy -j 1 -i "$recording" "$@"
    try script -j 1 -i "$recording" "$@"
    try header -i "$recording"
    try check -i "$recording"
    try inject -b -i "$recording" -o "$work/written"
    [ "$step" -eq 1 ] || return
    whole=0
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

# work_of_the_kernel: the verbs on recordings of tracepoints, of accesses to memory and of counts.
work_of_the_kernel() {
    verbs=$SOURCE/tests/data/verbs
    try sched timehist -i "$verbs/sched.data"
    try sched script -i "$verbs/sched.data"
    try timechart -i "$verbs/sched.data" -o "$work/written"
    try kwork report -i "$verbs/kwork.data"
    whole=1
    try script -j 1 -i "$verbs/stat-record.data"
    try stat report -i "$verbs/stat-record.data"
    whole=0
    [ "$step" -eq 1 ] || return
    for what in latency map; do
        try sched $what -i "$verbs/sched.data"
    done
    for what in latency timehist; do
        try kwork $what -i "$verbs/kwork.data"
    done
    for what in report 'info -t' contention; do
        # shellcheck disable=SC2086 # words
        try lock $what -i "$verbs/lock.data"
    done
    try kmem stat --caller --alloc -i "$verbs/kmem.data"
    try kvm --guest stat report -i "$verbs/kvm.data"
    try trace -i "$verbs/trace.data"
    try trace -s -i "$verbs/trace.data"
    try c2c report --stdio -i "$verbs/c2c.data"
    try mem report --stdio -i "$SOURCE/tests/data/report/memory.data"
    try mem -D report -i "$SOURCE/tests/data/report/memory.data"
    try annotate --stdio -i "$SOURCE/tests/data/annotate/cpp-fp.data" --symfs "$SOURCE/tests/data/annotate/symfs"
    try diff "$data/spin.data" "$data/shapes.data" --symfs "$data/symfs"
    try data convert --to-json "$work/written" --force -i "$verbs/trace.data"
    try export ctf -i "$verbs/sched.data" -o "$work/trace"
}

# settings: what a file of settings says, and what it names, is not left out.
settings() {
    printf '[report]\npercent-limit = 20\n[call-graph]\nprint-limit = 3\n' >"$work/config"
    printf '[buildid]\ndir = "%s/cache"\n' "$work" >>"$work/config"
    export PERF_CONFIG="$work/config"
    "$PERFDATA" buildid-cache -a "$data/symfs/own/bin/spin" ||
        complain 'nothing was put in a cache'
    try report --stdio -j 1 -i "$data/spin.data" --symfs "$data/symfs" --kallsyms /dev/null
    try buildid-cache -l
    try kmem stat --caller --alloc -i "$SOURCE/tests/data/verbs/kmem.data"
    if "$PERFDATA" record -e dummy -o "$work/out.data" true >/dev/null 2>&1; then
        try record -e dummy,task-clock -F 100 -o "$work/out.data" true
        [ "$step" -ne 1 ] || try record -a -C 0 -e dummy -o "$work/out.data" true
    else
        echo 'nothing can be recorded here: record was not tried'
    fi
    export PERF_CONFIG=/dev/null
}

for name in spin shapes; do
    all "$data/$name.data" --symfs "$data/symfs" --kallsyms "$data/symfs/kallsyms"
done
whole=0
work_of_the_kernel
settings
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
