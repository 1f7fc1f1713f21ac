#!/bin/sh
# SPDX-License-Identifier: MIT
# What is no recording, and a real one cut or overwritten anywhere: the exit code tells how much
# could be read, stderr says what is wrong and where, and every record in front of the damage is
# there.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
ln -s "$PERFDATA" "$work/perf"
recording=$SOURCE/tests/data/demo/spin.data
failed=0

complain() {
    echo "$*"
    cat "$work/err"
    failed=$((failed + 1))
}

# Nothing can be read: 3, or perf's 255; nothing on stdout, one line on stderr that names the file.
nothing() {
    what=$1 file=$2
    for verb in header evlist 'evlist -v' buildid-list script 'report --stdio' dump \
        'dump --stats'; do
        # shellcheck disable=SC2086
        "$PERFDATA" $verb -i "$file" >"$work/out" 2>"$work/err" </dev/null
        code=$?
        if [ $code -ne 3 ] || [ -s "$work/out" ] || ! grep -q "$file" "$work/err" ||
            ! grep -q "$what" "$work/err"; then
            complain "$verb, $what: exit $code"
        fi
    done
    for verb in evlist buildid-list script 'report --stdio'; do
        # shellcheck disable=SC2086
        "$work/perf" $verb -i "$file" >"$work/out" 2>"$work/err" </dev/null
        code=$?
        [ $code -eq 255 ] && [ ! -s "$work/out" ] || complain "perf $verb, $what: exit $code"
    done
}

: >"$work/empty"
echo 'A text that is long enough to be a header, but none.' >"$work/text"
head -c 9000 /dev/urandom >"$work/random"
mkdir "$work/directory"
head -c 50 "$recording" >"$work/head"
nothing 'No such file' "$work/missing"
nothing 'zero-sized' "$work/empty"
nothing 'not a perf.data' "$work/text"
nothing 'not a perf.data' "$work/random"
nothing 'No such file' "$work/directory"
nothing 'ends within its header' "$work/head"
if [ "$(id -u)" -ne 0 ]; then
    cp "$recording" "$work/closed"
    chmod 0 "$work/closed"
    nothing 'Permission denied' "$work/closed"
fi

# offset and size of every record
"$PERFDATA" dump --json -i "$recording" 2>"$work/err" |
    sed 's/^{"offset":\([0-9]*\),.*"misc":[0-9]*,"size":\([0-9]*\),.*/\1 \2/' >"$work/records"
size=$(wc -c <"$recording")
[ "$(wc -l <"$work/records")" -gt 50 ] || complain 'the recording cannot be dumped'

# survives FILE FROM TO: of all records outside [FROM, TO) none is missing.
survives() {
    "$PERFDATA" dump --json -i "$1" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    sed 's/^{"offset":\([0-9]*\),.*"misc":[0-9]*,"size":\([0-9]*\),.*/\1 \2/' "$work/out" |
        awk -v from="$2" -v to="$3" 'NR == FNR { seen[$1 " " $2] = 1; next }
            ($1 + $2 <= from || $1 >= to) && !(($1 " " $2) in seen) { lost++ }
            END { exit lost > 0 }' - "$work/records" || complain "$4: records are lost"
}

# As the cut moves on: an error, then an issue with its offset, in the end nothing to say.
cuts() {
    for at in $(awk -v size="$size" 'BEGIN { for (i = 1; i < 4096; i += 61) print i
                srand(7); for (i = 0; i < 60; i++) print 1 + int(rand() * (size - 2)) }'); do
        head -c "$at" "$recording" >"$work/cut"
        survives "$work/cut" "$at" "$size" "cut at $at"
        case $code in
        1 | 3) grep -q 'offset' "$work/err" || complain "cut at $at: nothing says where" ;;
        *) complain "cut at $at: exit $code" ;;
        esac
        "$PERFDATA" evlist -i "$work/cut" >/dev/null 2>"$work/err" </dev/null
        [ $? -le 3 ] || complain "evlist, cut at $at"
    done
}
cuts

first=$(sed -n '1s/ .*//p' "$work/records")
last=$(sed -n '$s/ .*//p' "$work/records")
for at in $(awk -v a="$first" -v b="$last" \
    'BEGIN { srand(3); for (i = 0; i < 20; i++) print a + int(rand() * (b - a - 4096)) }'); do
    cp "$recording" "$work/noise"
    chmod u+w "$work/noise"
    dd if="$work/random" of="$work/noise" bs=1 seek="$at" count=4096 conv=notrunc 2>/dev/null
    survives "$work/noise" "$at" $((at + 4096)) "noise at $at"
    [ $code -eq 1 ] && grep -q 'skipped-bytes.*offset' "$work/err" ||
        complain "noise at $at: exit $code"
done

# The damaged recordings of the corpus: said, and never by a signal.
if [ -n "${PERFDATA_CORPUS-}" ] && [ -d "$PERFDATA_CORPUS/own/rec/damaged" ]; then
    for file in "$PERFDATA_CORPUS"/own/rec/damaged/*; do
        for verb in header evlist buildid-list script 'report --stdio' 'dump --stats'; do
            # shellcheck disable=SC2086
            timeout 60 "$PERFDATA" $verb -i "$file" >/dev/null 2>"$work/err" </dev/null
            code=$?
            [ $code -le 3 ] || complain "$verb -i $file: exit $code"
            case "$verb $code" in *\ 1 | *\ 3) [ -s "$work/err" ] ||
                complain "$verb -i $file: exit $code, silent" ;; esac
        done
    done
else
    echo 'PERFDATA_CORPUS has no own/rec/damaged: those are left out'
fi
echo "$failed failed"
[ $failed -eq 0 ]
