#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures the page of a recording in headless Chromium: sh bench/page.sh RECORDING [PERFDATA]
#
# A real one of a million samples: perf record -a -g -F 10000 -- ninja -C build
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
recording=$1
perfdata=${2:-$root/build/perfdata}
ORACLES=${PERFDATA_ORACLES:-$root/build-oracles}
CHROMIUM=$(command -v chromium)
export ORACLES CHROMIUM
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$perfdata" flame -i "$recording" -o "$work/page.html"
samples=$("$perfdata" report --stats -i "$recording" |
    sed -n 's/^ *SAMPLE events: *\([0-9]*\).*/\1/p' | head -n 1)
echo "recording: $(wc -c <"$recording") bytes, $samples samples"
node "$root/bench/page.mjs" "$work/page.html" "$samples"
