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

# Without any tracepoint there is nothing to tell of guests: perf's exit status, under its name.
ln -s "$PERFDATA" "$HOME/perf"
"$HOME/perf" kvm -i ../annotate/cpu-clock-fp.data stat report >"$out" 2>"$out.err"
status=$?
if [ $status -ne 234 ] || [ -s "$out" ] ||
    ! grep -qxF "No trace sample to read. Did you call 'perf kvm record'?" "$out.err"; then
    echo "kvm stat report of no tracepoints: $status"
    cat "$out" "$out.err"
    failed=1
fi
exit $failed
