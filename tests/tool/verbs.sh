#!/bin/sh
# SPDX-License-Identifier: MIT
# The recordings of tests/data/verbs print what perf printed, with one thread and with four.
set -u
cd "$SOURCE/tests/data/verbs" || exit 1
out=$(mktemp) || exit 1
# What this machine keeps of a kernel by its build-id would name the recordings' addresses.
HOME=$(mktemp -d) || exit 1
export HOME
trap 'rm -rf "$out" "$out.err" "$HOME"' EXIT
export TZ=UTC LC_ALL=C COLUMNS=160 LINES=50 PERF_CONFIG=/dev/null
failed=0 count=0
while read -r name verb options; do
    case $name in '#'* | '') continue ;; esac
    count=$((count + 1))
    for jobs in 1 4; do
        threads="-j $jobs"
        case $verb in stat) threads= ;; esac
        # shellcheck disable=SC2086
        "$PERFDATA" "$verb" $options $threads </dev/null >"$out" 2>"$out.err"
        case $verb in
            lock | trace | stat | kvm) cat "$out.err" >>"$out" ;;
            mem) sed -i '/^# (Tip: /d' "$out" ;;
        esac
        if ! diff -u "$name.exact" "$out" >"$out.diff"; then
            echo "$name ($jobs): $verb $options differs:"
            cat "$out.err"
            head -n 40 "$out.diff"
            failed=1
        fi
        rm -f "$out.diff"
    done
done <cases
[ $count -gt 0 ] || { echo 'no cases'; exit 1; }

# lacks STATUS WORDS VERB...: the recording of samples has nothing of what the verb tells. Called as
# perf it says so in perf's words and nothing else, and ends with perf's status.
ln -s "$PERFDATA" "$HOME/perf"
lacks() {
    wanted=$1 words=$2
    shift 2
    HOME=$HOME "$HOME/perf" "$@" >"$out" 2>"$out.err"
    status=$?
    if [ $status -ne "$wanted" ] || [ -s "$out" ] || [ "$(cat "$out.err")" != "$words" ]; then
        echo "$*, of a recording that has none of it: $status"
        cat "$out" "$out.err"
        failed=1
    fi
}
samples=../annotate/cpu-clock-fp.data
none="No trace sample to read. Did you call 'perf"
lacks 234 "$none kvm record'?" kvm -i $samples stat report
lacks 234 "$none lock record'?" lock -i $samples report
lacks 234 "$none lock record'?" lock -i $samples info -t
lacks 234 "$none lock record'?" lock -i $samples contention
lacks 234 'lock contention evsel not found' lock -i sched.data contention
lacks 234 "$none timechart record'?" timechart -i $samples -o "$out.svg"
lacks 255 "No slab allocation events found.  Have you run 'perf kmem record --slab'?" \
    kmem -i $samples stat
lacks 255 "No sched_switch events found. Have you run 'perf sched record'?" \
    sched -i $samples timehist

# lock -q: the lines alone, as perf.
for verb in report contention 'contention -t'; do
    # shellcheck disable=SC2086
    "$PERFDATA" lock $verb -q -i lock.data --kallsyms kallsyms 2>"$out"
    # shellcheck disable=SC2086
    "$PERFDATA" lock $verb -i lock.data --kallsyms kallsyms 2>&1 >/dev/null | sed 1,2d >"$out.err"
    if ! cmp -s "$out" "$out.err" || [ ! -s "$out" ]; then
        echo "lock $verb -q:"
        cat "$out"
        failed=1
    fi
done

# A pipe whose formats of tracepoints come in pieces, as they do while perf still records.
"$PERFDATA" inject -i lock.data -o - >"$HOME/pipe" || failed=1
for first in 900 3000 9000; do
    {
        dd bs=$first count=1 2>/dev/null
        sleep 0.1
        cat
    } <"$HOME/pipe" | "$PERFDATA" lock contention -i - --kallsyms kallsyms 2>"$out"
    if ! diff lock-contention.exact "$out"; then
        echo "a pipe that stops after $first bytes"
        failed=1
    fi
done
exit $failed
