#!/bin/sh
# SPDX-License-Identifier: MIT
# AUX areas against the ground truth of the corpus: bytes, PSBs and packets of each stream (aux
# stat), the TSC packets' places (aux dump), the extracted bytes, and the text of perf's -D where
# perf is installed.
. "$SOURCE/tests/itrace/common.sh"
needs zstd
checked=0 streams=0

# "NAME bytes N psb N KIND=COUNT ..." of each queue, sorted; the padding to 8 bytes is no part of
# the truth.
counts() {
    "$PERFDATA" aux stat --json "$1" 2>/dev/null |
        awk '{ number["cpu"] = number["tid"] = number["bytes"] = number["padding"] = 0
               for (key in number) if (match($0, "\"" key "\":-?[0-9]+"))
                   number[key] = substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3)
               name = number["cpu"] >= 0 ? "cpu" number["cpu"] : "tid" number["tid"]
               packets = $0; sub(/.*"packets":\{/, "", packets); sub(/\}.*/, "", packets)
               gsub(/"/, "", packets); gsub(/:/, "=", packets); gsub(/,/, "\n", packets)
               gsub(/TNT.long/, "TNTl", packets)
               print name " bytes=" number["bytes"] - number["padding"]
               n = split(packets, each, "\n")
               for (i = 1; i <= n; i++) if (each[i] !~ /^PAD=/) print name " " each[i] }' | sort
}

truth() {
    zstd -dc "$own/truth/$1.zst" | awk '$1 == "stream" && $4 { print $2 " bytes=" $4
        for (i = 7; i <= NF; i++) print $2 " " $i }' | sort
}

# Full traces: snapshots and samples hold windows of the stream only, damaged ones have no truth.
for file in "$own"/rec/*; do
    name=${file##*/}
    name=${name%.data}
    checked=$((checked + 1))
    "$PERFDATA" aux list "$file" >"$work/list" 2>/dev/null || complain "$name: aux list failed"
    # With traces any object may have been hit: --with-hits lists all.
    "$PERFDATA" buildid-list "$file" >"$work/all" 2>/dev/null || :
    "$PERFDATA" buildid-list --with-hits "$file" >"$work/hits" 2>/dev/null || :
    case $name in c_sample*) ;; *) cmp -s "$work/all" "$work/hits" ||
        complain "$name: buildid-list --with-hits lists less" ;; esac
    kind=$(sed -n '1s/.*Trace, \([a-z ]*\),.*/\1/p' "$work/list")
    [ -f "$own/truth/$name.zst" ] && [ "$kind" = 'full trace' ] || continue
    truth "$name" >"$work/truth"
    [ -s "$work/truth" ] || continue
    streams=$((streams + 1))
    counts "$file" >"$work/counts"
    diff "$work/truth" "$work/counts" >"$work/diff" ||
        { complain "$name: counts differ"; head -5 "$work/diff" >&2; }
    # The TSC packets, by their place in the stream.
    zstd -dc "$own/truth/$name.zst" | awk '$1 == "tsc" { print $2, $3, $5 == "guest" ? $6 : $4 }' |
        sort >"$work/truth"
    "$PERFDATA" aux dump "$file" 2>/dev/null | awk '
        function number(hex,  i, value) { value = 0
            for (i = 1; i <= length(hex); i++)
                value = value * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
            return value }
        /^#/ { queue = substr($2, 1, length($2) - 1); offset = $0; sub(/.*offset /, "", offset); sub(/,.*/, "", offset)
               start = number(offset); next }
        $(NF - 1) == "TSC" { print queue, start + number($1), substr($NF, 3) }' | sort >"$work/tsc"
    diff "$work/truth" "$work/tsc" >"$work/diff" ||
        { complain "$name: TSC packets differ"; head -5 "$work/diff" >&2; }
    # Extracted: the same bytes again.
    rm -rf "$work/out"
    "$PERFDATA" aux extract "$file" -o "$work/out" 2>/dev/null ||
        complain "$name: aux extract failed"
    size=$(cat "$work"/out/*.pt | wc -c)
    [ "$size" = "$(awk '/^# [0-9]/ { print $4 }' "$work/list")" ] ||
        complain "$name: extract has $size bytes"
    for trace in "$work"/out/*.pt; do
        "$PERFDATA" aux dump --raw "$trace" | sed 's/^ *[0-9a-f]* .\{18\}  //'
    done | sort >"$work/raw"
    "$PERFDATA" aux dump "$file" 2>/dev/null | grep -v '^#' | sed 's/^ *[0-9a-f]* .\{18\}  //' |
        sort >"$work/dump"
    # A buffer's padding and the next one's first bytes may join in one file: only there lists may
    # differ.
    case $(grep -c . "$work/out/index.tsv") in
    2) cmp -s "$work/raw" "$work/dump" || complain "$name: the extract holds other packets" ;;
    esac
done
[ "$streams" -gt 0 ] || complain 'no recording has a truth'

# Overlaps: what is cut is what comes twice; each byte that is left is one of the stream.
for name in t_snap c_snap c_sample c_sample8k; do
    file=$own/rec/$name.data
    rm -rf "$work/out"
    "$PERFDATA" aux extract --cut-overlaps "$file" -o "$work/out" 2>/dev/null ||
        complain "$name: aux extract failed"
    zstd -dc "$own/truth/$name.zst" | awk '$1 == "tsc" { print $2, $4 }' | sort >"$work/truth"
    "$PERFDATA" aux dump --cut-overlaps "$file" 2>/dev/null | awk '
        /^#/ { queue = substr($2, 1, length($2) - 1); next }
        $(NF - 1) == "TSC" { print queue, substr($NF, 3) }' | sort >"$work/tsc"
    [ -s "$work/tsc" ] || complain "$name: nothing is left"
    [ -z "$(uniq -d "$work/tsc")" ] || complain "$name: a TSC packet comes twice"
    [ -z "$(comm -13 "$work/truth" "$work/tsc")" ] ||
        complain "$name: a TSC packet that is not in the stream"
done
echo "$checked recordings, $streams with truth"
exit $failed
