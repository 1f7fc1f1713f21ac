# SPDX-License-Identifier: MIT
# Sourced by tests that record: they run in a folder of their own, $work, where recording is
# permitted.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C TZ=UTC
if ! timeout 20 "$PERFDATA" record -q -a -e cpu-clock -o probe true >/dev/null 2>&1; then
    echo "perf_event_open is not permitted here"
    exit 77
fi
failed=0

samples() {
    "$PERFDATA" script -i "$1" -F time 2>/dev/null | wc -l
}

# `sh telling SECONDS` is a workload that tells when it begins; by then its recorder has set up
# everything.
printf ': >begun\nexec sleep "$1"\n' >telling

# begun [FILE]: waits until the workload has begun, or FILE holds something, and takes that back for
# the next one
begun() {
    for i in $(seq 200); do
        test -e begun || test -s "${1-begun}" || { sleep 0.1; continue; }
        rm -f begun
        return
    done
    echo "nothing was recorded for 20 seconds"
    failed=1
}
