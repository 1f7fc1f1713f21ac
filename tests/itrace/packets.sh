#!/bin/sh
# SPDX-License-Identifier: MIT
# Packets of 10 MB of random bytes and of mutated traces: aux dump --perf and script -D give perf's
# own text of them. packets.sh WRAP_TRACE
set -eu
export LC_ALL=C TZ=UTC PERF_CONFIG=/dev/null
command -v perf >/dev/null || { echo 'skipped: perf is not installed'; exit 77; }
wrap=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# Only what is said of the trace: the lines from its heading on.
packets() {
    grep -A 100000000 '^\. \.\.\. Intel' | grep -e '^\. \.\.\. Intel' -e '^\.  [0-9a-f]\{8\}: '
}

compare() {
    perf script -D -i "$work/data" 2>/dev/null | packets | cksum >"$work/perf"
    "$PERFDATA" aux dump --perf "$work/data" | packets | cksum >"$work/ours"
    "$PERFDATA" script -D -i "$work/data" 2>/dev/null | packets | cksum >"$work/script"
    [ "$(cat "$work/perf")" != "$(cksum </dev/null)" ] ||
        { echo "$1: perf prints nothing" >&2; failed=1; }
    cmp -s "$work/perf" "$work/ours" ||
        { echo "$1: aux dump --perf differs from perf's text" >&2; failed=1; }
    cmp -s "$work/perf" "$work/script" ||
        { echo "$1: script -D differs from perf's text" >&2; failed=1; }
}

for seed in 1 2; do
    "$wrap" "$work/data" "$seed" 5000000
    compare "random $seed"
done
count=2
own=${PERFDATA_CORPUS-}/own-pt/rec
if [ -d "$own" ]; then
    for name in t_pebs c_dyn t_event t_pwr t_ptwfup k_ipvar t_longtnt t_tsx; do
        file=$own/$name
        [ -d "$file" ] || file=$file.data
        rm -rf "$work/out"
        "$PERFDATA" aux extract "$file" -o "$work/out"
        for trace in "$work"/out/*.pt; do
            for seed in 1 2 3; do
                "$wrap" "$work/data" "$seed" 1 "$trace"
                compare "$name, mutation $seed"
                count=$((count + 1))
            done
        done
    done
fi
# The bare bytes: the same packets, in one piece or read as a stream.
"$PERFDATA" aux dump --raw "$work/data.raw" >"$work/file"
"$PERFDATA" aux dump --raw /dev/stdin <"$work/data.raw" >"$work/ours"
cmp "$work/file" "$work/ours" || failed=1
cat "$work/data.raw" | "$PERFDATA" aux dump --raw /dev/stdin >"$work/ours"
cmp "$work/file" "$work/ours" || failed=1
echo "$count traces"
exit $failed
