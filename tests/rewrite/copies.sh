#!/bin/sh
# SPDX-License-Identifier: MIT
# inject: as file, as pipe, compressed, in the other byte order and back: the same records, fields
# and events. All of the corpus' own recordings, or the demo alone.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# Records without their offsets; what a form has for itself left out.
records() {
    "$PERFDATA" dump "$1" 2>/dev/null | awk '/^[0-9a-zA-Z@]/ {
        keep = !/^[^ ]* (HEADER_ATTR|HEADER_FEATURE|HEADER_TRACING_DATA|HEADER_BUILD_ID|EVENT_UPDATE|COMPRESSED2?|FINISHED_ROUND|AUXTRACE) /
        sub(/^[^ ]* /, "") } keep'
}

complain() {
    echo "$*"
    failed=$((failed + 1))
}

same() {
    records "$work/$1" >"$work/now"
    cmp -s "$work/records" "$work/now" || complain "$recording: $2 has other records"
}

copy() { # FROM TO [OPTION]
    "$PERFDATA" inject -i "$1" -o "$work/$2" ${3+"$3"} 2>"$work/err" </dev/null ||
        complain "$1: ${3-} $(tail -n 1 "$work/err")"
}

set -- "$SOURCE"/tests/data/demo/*.data
if [ -n "${PERFDATA_CORPUS-}" ]; then
    for recording in "$PERFDATA_CORPUS"/own/rec/*.data; do
        case $recording in
        */killed9* | */inject-dir* | */pipe-two*) ;; # not read as a whole, and told so
        *) set -- "$@" "$recording" ;;
        esac
    done
fi
for recording in "$@"; do
    records "$recording" >"$work/records"
    [ -s "$work/records" ] || complain "$recording: no records"
    copy "$recording" file
    same file 'the file'
    copy "$recording" pipe --pipe
    same pipe 'the pipe'
    copy "$recording" packed -z3
    same packed 'the compressed file'
    copy "$recording" big --byte-order=big
    same big 'the big-endian file'
    copy "$work/big" back --byte-order=little
    same back 'the file converted back'
    "$PERFDATA" inject -i "$work/pipe" 2>/dev/null </dev/null |
        "$PERFDATA" inject -o "$work/streamed" 2>/dev/null
    same streamed 'what went through a pipe'
    case $recording in
    */pipe*) continue ;; # perf names the events of pipes otherwise, and so does evlist
    esac
    "$PERFDATA" evlist -v "$recording" >"$work/events" 2>/dev/null
    [ -s "$work/events" ] || complain "$recording: no events"
    for form in file big back; do
        "$PERFDATA" evlist -v "$work/$form" 2>/dev/null | cmp -s - "$work/events" ||
            complain "$recording: evlist -v of $form differs"
    done
done
[ $failed -eq 0 ]
