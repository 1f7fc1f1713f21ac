#!/bin/sh
# SPDX-License-Identifier: MIT
# A recording that tells twice, differently, which events record its trace: the first counts, with
# any number of threads.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export PERF_CONFIG=/dev/null
failed=0

complain() {
    echo "$*"
    failed=1
}

# Samples of the events' group before and behind the second one, enough for other threads.
"$PERFDATA" dump --pdt "$SOURCE/tests/data/itrace/group.data" | awk '
    function samples(second, i) {
        for (i = 0; i < 20000; i++)
            printf "record SAMPLE misc=2 event=dummy:u {ip=0x400200 pid=4262 tid=4262 time=%d.%09ds}\n", second, i
        print "record FINISHED_ROUND\nrecord FINISHED_ROUND"
    }
    /^record AUXTRACE_INFO/ { again = $0; sub(/priv=\[0x8/, "priv=[0x1", again) }
    { print }
    /^record EXIT/ { samples(18001); samples(18002); print again; samples(18003) }' >"$work/text"
[ "$(grep -c '^record AUXTRACE_INFO' "$work/text")" = 2 ] || complain 'not told twice'
"$PERFDATA" assemble "$work/text" -o "$work/data" || complain 'no recording'
for threads in 1 2 8; do
    "$PERFDATA" report --stdio --no-itrace --no-skip-empty -s sym -j $threads -i "$work/data" \
        >"$work/out" 2>"$work/said" ||
        complain "$threads threads: $(cat "$work/said")"
    grep -q "^# Samples: 0  of event 'intel_pt//u'\$" "$work/out" &&
        grep -q "^# Samples: 60K of event 'dummy:u'\$" "$work/out" ||
        complain "$threads threads: $(grep Samples "$work/out")"
done
exit $failed
