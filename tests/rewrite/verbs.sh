#!/bin/sh
# SPDX-License-Identifier: MIT
# slice, merge, anonymize, check, repair on the demo: what they say, and what is in what they write.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
recording=$SOURCE/tests/data/demo/spin.data
failed=0

complain() {
    echo "$*"
    failed=$((failed + 1))
}

samples() {
    "$PERFDATA" dump --stats "$1" 2>/dev/null | awk '$1 == "SAMPLE" { print $NF }'
}

expect() {
    [ "$2" = "$3" ] || complain "$1: $2, not $3"
}

all=$(samples "$recording")
expect 'samples of the demo' "$all" 90

# slice
"$PERFDATA" slice --first 10 "$recording" -o "$work/part" || complain 'slice --first fails'
expect 'slice --first 10' "$(samples "$work/part")" 10
"$PERFDATA" script "$recording" 2>/dev/null >"$work/all.txt"
"$PERFDATA" script "$work/part" 2>/dev/null >"$work/part.txt"
head -n "$(wc -l <"$work/part.txt")" "$work/all.txt" | cmp -s - "$work/part.txt" ||
    complain 'slice --first shows other lines'
"$PERFDATA" slice --last 7 "$recording" -o "$work/part" || complain 'slice --last fails'
expect 'slice --last 7' "$(samples "$work/part")" 7
"$PERFDATA" slice --every 5 "$recording" -o "$work/part" || complain 'slice --every fails'
expect 'slice --every 5' "$(samples "$work/part")" $(((all + 4) / 5))
"$PERFDATA" slice -c nobody "$recording" -o "$work/part" || complain 'slice -c fails'
expect 'slice -c nobody' "$(samples "$work/part")" ''
"$PERFDATA" slice -e nothing "$recording" -o "$work/none" 2>/dev/null &&
    complain 'slice -e nothing succeeds'
[ -e "$work/none" ] && complain 'a failure leaves a file'

# merge
"$PERFDATA" merge "$recording" "$recording" -o "$work/both" || complain 'merge fails'
expect 'merge' "$(samples "$work/both")" $((2 * all))
expect 'events of merge' "$("$PERFDATA" evlist "$work/both" | wc -l)" 2

# anonymize: no name of the demo is left, equal names stay equal
"$PERFDATA" anonymize "$recording" -o "$work/public" || complain 'anonymize fails'
expect 'anonymize' "$(samples "$work/public")" "$all"
for name in spin $("$PERFDATA" header "$recording" | sed -n 's/^# hostname : //p'); do
    grep -aq "$name" "$work/public" && [ ${#name} -gt 3 ] && complain "anonymize leaves '$name'"
done
"$PERFDATA" anonymize --key a "$recording" -o "$work/one" &&
    "$PERFDATA" anonymize --key a "$recording" -o "$work/two"
cmp -s "$work/one" "$work/two" || complain 'the same key gives other pseudonyms'
cmp -s "$work/one" "$work/public" && complain 'a key changes nothing'

# a directory: the same text, and nothing is replaced
"$PERFDATA" inject -i "$recording" -o "$work/folder" --directory ||
    complain 'inject --directory fails'
[ -s "$work/folder/data.0" ] || complain 'the directory has no data.0'
"$PERFDATA" script "$work/folder" 2>/dev/null | cmp -s - "$work/all.txt" ||
    complain 'the directory shows other lines'
"$PERFDATA" inject -i "$work/folder" -z1 -o "$work/packed" --directory ||
    complain 'inject of a directory fails'
"$PERFDATA" script "$work/packed" 2>/dev/null | cmp -s - "$work/all.txt" ||
    complain 'the compressed directory differs'
"$PERFDATA" inject -i "$work/folder" -o "$work/file" ||
    complain 'inject of a directory into a file fails'
"$PERFDATA" script "$work/file" 2>/dev/null | cmp -s - "$work/all.txt" ||
    complain 'the file of a directory differs'
"$PERFDATA" inject -i "$recording" -o "$work/folder" --directory 2>/dev/null &&
    complain 'a directory is replaced'
"$PERFDATA" inject -i "$recording" --pipe -o "$work/no" --directory 2>/dev/null &&
    complain 'a directory as pipe'
[ -e "$work/no" ] && complain 'a refused directory is there'

# the output may be the input
cp "$recording" "$work/self"
"$PERFDATA" inject -i "$work/self" -o "$work/self" || complain 'inject onto itself fails'
expect 'inject onto itself' "$(samples "$work/self")" "$all"

# check and repair
"$PERFDATA" check -q "$work/nothing" 2>/dev/null
expect 'check of no file' $? 3
head -c 3000 "$recording" >"$work/cut"
"$PERFDATA" check "$work/cut" >"$work/out"
expect 'check of a cut file' $? 1
grep -q '^file: truncated at offset 3000' "$work/out" || complain 'check says nothing of the cut'
"$PERFDATA" repair "$work/cut" -o "$work/whole" >/dev/null 2>&1
expect 'repair of a cut file' $? 1
expect 'samples of the repaired' "$(samples "$work/whole")" "$(samples "$work/cut")"
"$PERFDATA" check "$work/whole" >"$work/out"
grep '^file' "$work/out" && complain 'the repaired file is damaged'
grep -q '^[1-9][0-9]* records, ' "$work/out" || complain 'check says nothing of the repaired file'
if perf --version >/dev/null 2>&1; then
    perf script -f -i "$work/whole" >/dev/null 2>&1 </dev/null ||
        complain 'perf does not read the repaired file'
    for form in folder packed; do
        PERF_CONFIG=/dev/null perf script -f -i "$work/$form" 2>/dev/null </dev/null |
            grep -c . >"$work/lines"
        PERF_CONFIG=/dev/null perf script -f -i "$recording" 2>/dev/null </dev/null | grep -c . |
            cmp -s - "$work/lines" ||
            complain "perf does not read all of $form"
    done
    perf script -f -i "$work/both" >/dev/null 2>&1 </dev/null ||
        complain 'perf does not read the merged file'
fi
[ $failed -eq 0 ]
