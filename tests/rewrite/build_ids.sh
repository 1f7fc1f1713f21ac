#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 20: inject -b and --buildid-all write the records that perf's do: a
# HEADER_BUILD_ID before what shows an object first, the rounds as perf has them, all in perf's
# order, from files and pipes into files and pipes. What differs is listed in docs/writing.md:
# compressed input (perf copies it unseen), and the vdso (perf adds this machine's).
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0 compared=0

complain() {
    echo "$*"
    failed=$((failed + 1))
}

# A recording's records: no events and features, which are not perf's in each form, and no offsets.
records() {
    "$PERFDATA" dump --json "$1" 2>/dev/null | sed 's/^{"offset":[0-9]*,//' |
        grep -v '^"type":"\(HEADER_ATTR\|HEADER_FEATURE\|HEADER_TRACING_DATA\|TYPE_0\)"' |
        grep -v '"fields":{"unread":'
}

# The demo has two objects that samples hit.
demo=$SOURCE/tests/data/demo/spin.data
"$PERFDATA" inject -b -i "$demo" -o "$work/demo" || complain 'inject -b fails'
records "$work/demo" >"$work/list"
awk -F'"' \
    '$4 == "HEADER_BUILD_ID" { print "id"; next } $4 == "SAMPLE" && !seen++ { print "sample" }' \
    "$work/list" >"$work/order"
[ "$(head -n 1 "$work/order")" = id ] || complain 'no build-id stands before the first sample'
[ "$(grep -c id "$work/order")" = "$(grep '"HEADER_BUILD_ID"' "$work/list" | sort -u | wc -l)" ] ||
    complain 'a build-id comes twice'
# none is lost, and perfdata's pipe has those that nothing hits, too
"$PERFDATA" inject -b -i "$demo" --pipe -o "$work/pipe" || complain 'inject -b into a pipe fails'
"$PERFDATA" buildid-list -i "$demo" | sort >"$work/before"
"$PERFDATA" inject -i "$work/pipe" -o "$work/again" && "$PERFDATA" dump --json "$work/again" |
    sed -n 's/.*"HEADER_BUILD_ID".*"build_id":"\([0-9a-f]*\)".*"filename":"\([^"]*\)".*/\1 \2/p' |
    sort -u >"$work/after"
[ -s "$work/before" ] || complain 'the demo has no build-ids'
comm -23 "$work/before" "$work/after" | grep . && complain 'build-ids of the input are lost'
"$PERFDATA" script -i "$demo" >"$work/one" 2>/dev/null
for form in demo pipe; do
    "$PERFDATA" script -i "$work/$form" 2>/dev/null | cmp -s - "$work/one" ||
        complain "script shows other samples of the $form"
done

if ! perf version 2>/dev/null | grep -q ' 6\.1\.'; then
    echo 'perf 6.1 is not here: its records are not compared'
    exit $((failed > 0))
fi
export PERF_CONFIG=/dev/null HOME="$work"
mkdir "$work/bin"
ln -s "$PERFDATA" "$work/bin/perf"

# compare NAME INPUT FORM OPTION: FORM is of two letters, file or pipe in and out
compare() {
    for which in theirs ours; do
        program=perf
        [ $which = ours ] && program=$work/bin/perf
        rm -f "$work/$which"
        case $3 in
        ff) "$program" inject "$4" -f -i "$2" -o "$work/$which" ;;
        fp) "$program" inject "$4" -f -i "$2" -o - >"$work/$which" ;;
        pf) "$program" inject "$4" -f -i - -o "$work/$which" <"$2" ;;
        pp) "$program" inject "$4" -f -i - -o - <"$2" >"$work/$which" ;;
        esac 2>/dev/null
        status=$?
        # what perf itself refuses is not compared
        [ $status = 0 ] || { [ $which = theirs ] && return; complain "$1 $3 $4: fails"; return; }
    done
    records "$work/theirs" | grep -v '"filename":"/tmp/perf-vdso' >"$work/theirs.list"
    records "$work/ours" >"$work/ours.list"
    compared=$((compared + 1))
    [ -s "$work/ours.list" ] || complain "$1 $3 $4: nothing was written"
    cmp -s "$work/theirs.list" "$work/ours.list" && return
    complain "$1 $3 $4:"
    diff "$work/theirs.list" "$work/ours.list" | head -n 4 | cut -c 1-200
}

for input in "$demo" "$SOURCE"/tests/data/report/forkexec.data \
    "$SOURCE"/tests/data/report/threads.data \
    "$SOURCE"/tests/data/script/switch-events.data "$SOURCE"/tests/data/itrace/c_forkbid.data \
    ${PERFDATA_CORPUS:+"$PERFDATA_CORPUS"/own/rec/cpu-clock.data \
        "$PERFDATA_CORPUS"/own/rec/buildid-mmap.data \
        "$PERFDATA_CORPUS"/own/rec/sys-wide.data "$PERFDATA_CORPUS"/own/rec/debuglink.data}; do
    name=$(basename "$input" .data)
    for option in -b --buildid-all; do
        for form in ff fp; do
            compare "$name" "$input" $form $option
        done
    done
done
for name in ${PERFDATA_CORPUS:+pipe pipe-two pipe-multi pipe-inject pipe-dwarf}; do
    for option in -b --buildid-all; do
        for form in pf pp; do
            compare $name "$PERFDATA_CORPUS/own/rec/$name.data" $form $option
        done
    done
done
"$PERFDATA" inject -i "$demo" --pipe -o "$work/stream" && compare spin "$work/stream" pp -b
echo "$compared runs compared"
[ $compared -ge 20 ] || complain 'too few runs were compared'
[ $failed -eq 0 ]
