# SPDX-License-Identifier: MIT
# Sourced by tests that record: they run in a folder of their own, $work, where recording is permitted.
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
