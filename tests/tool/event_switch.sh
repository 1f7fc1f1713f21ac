#!/bin/sh
# SPDX-License-Identifier: MIT
# --switch-on, --switch-off and --show-on-off-events of script and report beside perf, with filters
# that drop samples before and behind the switch; the same text with any number of threads.
set -u
file=${PERFDATA_CORPUS:-/nowhere}/own/rec/sched-record.data
[ -f "$file" ] || { echo 'skipped: PERFDATA_CORPUS with own is not set'; exit 77; }
command -v perf >/dev/null 2>&1 || { echo 'skipped: no perf'; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
ln -s "$(command -v "$PERFDATA")" "$out/perf"
on='--switch-on sched:sched_migrate_task'
off='--switch-off sched:sched_waking'
runs=0 failed=0

# perf's tip at the end of a report is chosen at random.
compare() {
    perf "$@" 2>"$out/errors" >"$out/theirs"
    theirs=$?
    for threads in 1 3; do
        "$out/perf" "$@" -j $threads 2>"$out/errors2" >"$out/ours"
        ours=$?
        runs=$((runs + 1))
        for text in theirs ours; do
            grep -v '^# (Tip:' "$out/$text" >"$out/$text.text"
        done
        if ! cmp -s "$out/theirs.text" "$out/ours.text" || [ $theirs != $ours ]; then
            echo "differs (exit $theirs, $ours): $* -j $threads"
            failed=$((failed + 1))
        fi
    done
}

for switch in "$on" "$off" "$on $off" "$on --show-on-off-events" "$on $off --show-on-off-events" \
    '--switch-on nothing' '--switch-off nothing'; do
    for filter in '' '-C 0' '--tid 27431' '--time 1876.68,1876.75' '-S __schedule'; do
        # shellcheck disable=SC2086
        compare script -i "$file" $filter $switch
        # shellcheck disable=SC2086
        compare report --stdio -s comm -i "$file" $filter $switch
    done
done
# shellcheck disable=SC2086
compare script -D -i "$file" $on $off
echo "$runs compared, $failed differ"
[ $runs -gt 100 ] && [ $failed = 0 ] && [ -s "$out/theirs.text" ]
