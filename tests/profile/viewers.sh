#!/bin/sh
# SPDX-License-Identifier: MIT
# What programs that show profiles say that functions take, in their own words, is what report
# says (totals.sh compares what is expected here with it): inferno's flame graph of `folded`, the
# Firefox profiler's command of `firefox`, speedscope in headless Chromium of `speedscope`. Those
# that ./dev setup --oracles has not installed are left out, and named.
set -u
export LC_ALL=C.UTF-8 PERF_CONFIG=/dev/null TZ=UTC
totals=$1
ORACLES=$SOURCE/build-oracles
[ -d "$ORACLES" ] || ORACLES=${PERFDATA_ORACLES:-/nowhere}
CHROMIUM=$(command -v chromium || true)
export ORACLES CHROMIUM
command -v python3 >/dev/null || { echo 'skipped: no python3'; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export HOME="$work" PROFILER_CLI_SESSION_DIR="$work/sessions"
failed=0 count=0 recordings=0 viewers= missing=

cli=$ORACLES/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js
inferno=$ORACLES/bin/inferno-flamegraph
[ -x "$inferno" ] || inferno=$(command -v inferno-flamegraph || true)
if [ -n "$inferno" ]; then viewers="$viewers inferno"; else missing="$missing inferno"; fi
if command -v node >/dev/null && [ -f "$cli" ]; then
    viewers="$viewers profiler_cli"
else
    missing="$missing profiler-cli"
fi
if command -v node >/dev/null && [ -n "$CHROMIUM" ] && [ -d "$ORACLES/node_modules/speedscope" ] &&
    [ -d "$ORACLES/node_modules/playwright-core" ]; then
    viewers="$viewers speedscope"
else
    missing="$missing speedscope"
fi
[ -z "$missing" ] || echo "not read for lack of (./dev setup --oracles):$missing"
[ -n "$viewers" ] || { echo "skipped: none of$missing"; exit 77; }

run_inferno() {
    "$PERFDATA" export folded --group none "$@" -o "$work/folded" &&
        "$inferno" --minwidth 0 "$work/folded" >"$work/shown"
}

run_profiler_cli() {
    "$PERFDATA" export firefox "$@" -o "$work/firefox.json" &&
        python3 "$SOURCE/tests/profile/profiler_cli.py" "$cli" "$work/firefox.json" >"$work/shown"
}

# Weights are shown as rounded times, counts as they are.
run_speedscope() {
    "$PERFDATA" export speedscope --group none --count "$@" -o "$work/speedscope" &&
        node "$SOURCE/tests/profile/speedscope.mjs" "$work/speedscope" >"$work/shown"
}

# RECORDING SYMFS KALLSYMS: recordings with samples of one event.
compare() {
    name=$1
    "$totals" "$name" 0 "$2" "$3" >"$work/expected" || failed=1
    set -- -f -i "$name" --symfs "$2" --kallsyms "$3"
    recordings=$((recordings + 1))
    for viewer in $viewers; do
        reference=
        [ $viewer != speedscope ] || reference=$work/speedscope
        if "run_$viewer" "$@" 2>"$work/log"; then
            python3 "$SOURCE/tests/profile/readers.py" "$work/expected" "shown_$viewer" \
                "$work/shown" ${reference:+"$reference"} || { echo "  $name: $viewer"; failed=1; }
            count=$((count + 1))
        else
            echo "$viewer of $name: $(tail -3 "$work/log")"
            failed=1
        fi
    done
}

demo=$SOURCE/tests/data/demo
compare "$demo/spin.data" "$demo/symfs" "$demo/symfs/kallsyms"
compare "$demo/shapes.data" "$demo/symfs" "$demo/symfs/kallsyms"
if [ -n "${PERFDATA_CORPUS-}" ]; then
    own=$PERFDATA_CORPUS/own
    for each in cpp-fp dwarf-cpp threads rust-v0-fp forkexec; do
        compare "$own/rec/$each.data" "$own/symfs" "$own/symfs/kallsyms"
    done
fi
[ $count -gt 0 ] || failed=1
echo "$count readings of $recordings recordings"
exit $failed
