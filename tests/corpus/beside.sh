#!/bin/sh
# SPDX-License-Identifier: MIT
# Verbs for which no table of cases exists, side by side with perf over at least ten recordings
# each: diff and buildid-cache -M over the corpus, config over files, lock over recordings that
# are made here.
set -u
if [ -z "${PERFDATA_CORPUS-}" ] || [ ! -d "$PERFDATA_CORPUS/own/rec" ]; then
    echo 'skipped: PERFDATA_CORPUS is not set'
    exit 77
fi
command -v perf >/dev/null 2>&1 || { echo 'skipped: no perf'; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export TZ=UTC LC_ALL=C COLUMNS=160 LINES=50 PERF_CONFIG=/dev/null PAGER=cat TERM=dumb
export HOME="$work/home"
mkdir "$HOME" "$work/bin"
ln -s "$PERFDATA" "$work/bin/perf"
runs=0 failed=0
# beside ERRORS VERB...: equal exit and output; ERRORS `too`: what goes to standard error as well.
beside() {
    errors=$1
    shift
    runs=$((runs + 1))
    for who in perf our; do
        program=perf
        [ $who = perf ] || program=$work/bin/perf
        "$program" "$@" </dev/null >"$work/$who" 2>"$work/$who.errors"
        echo "exit $?" >>"$work/$who"
        [ "$errors" = no ] || cat "$work/$who.errors" >>"$work/$who"
    done
    if ! cmp -s "$work/perf" "$work/our"; then
        echo "differs: $*"
        diff "$work/perf" "$work/our" | head -n 6
        failed=1
    fi
}

own=$PERFDATA_CORPUS/own
before=sys-cpu0
for name in cpu-clock-fp cpu-clock cpp-fp dwarf-glibc forkexec group-read inline \
    kernel-callchains max-stack musl-dyn namespaces per-thread plt sys-wide threads; do
    set -- --symfs "$own/symfs" --kallsyms "$own/symfs/kallsyms" "$own/rec/$before.data" \
        "$own/rec/$name.data"
    beside no diff "$@"
    beside no diff -c wdiff:1,2 -p -F -s dso,sym "$@"
    beside too buildid-cache -M "$own/rec/$name.data"
    before=$name
done

while read -r text; do
    printf '%b' "$text" >"$work/config"
    PERF_CONFIG=$work/config
    beside too config -l
    beside too config report.percent-limit diff.order
done <<'END'
[report]\npercent-limit = 3\n
[annotate]\nhide_src_code = true\n
[colors]\ntop = red, default\n
[core]\nproc-map-timeout=5\n[tui]\nreport=on\n
[call-graph]\nrecord-mode = lbr\n
[diff]\norder = 1\ncompute = ratio\n
[buildid]\ndir = /nowhere\n
[kmem]\ndefault = slab\n
[a]\nb\n
[a.b "c"]\nd = "e # f" ; g\n
[stat]\nbig-num = false\n[intel-pt]\ncache-divisor = 8\n
END
PERF_CONFIG=/dev/null

for groups in 1 2 3 4 5 6 7 8 9 10; do
    perf lock record -o "$work/lock" -- perf bench sched messaging -g $groups -l 10 \
        >"$work/made" 2>&1 || break # not allowed here
    beside too lock contention -i "$work/lock"
    beside too lock contention -t -q -E 5 -i "$work/lock"
    beside too lock report -i "$work/lock"
done
echo "$runs runs, failed $failed"
[ $runs -ge 67 ] && [ $failed = 0 ]
