#!/bin/sh
# SPDX-License-Identifier: MIT
# What inject writes, as file and as pipe stream, read by others: perf script prints what it prints
# of the original, and linux-perf-data (a Rust crate, built here when cargo can get it) and
# hotspot-perfparser (when it is installed) find as many samples. All recordings of own and own-pt.
set -u
[ -n "${PERFDATA_CORPUS-}" ] || { echo 'PERFDATA_CORPUS is not set'; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
HOME=$work PERF_CONFIG=/dev/null TZ=UTC LC_ALL=C
failed=0 compared=0 counted=0

complain() {
    echo "$*"
    failed=$((failed + 1))
}

# ---- the readers ----

perf=
perf --version >/dev/null 2>&1 && perf=perf || echo 'without perf'
parser=$(command -v hotspot-perfparser || ls /usr/lib/*/libexec/hotspot-perfparser 2>/dev/null |
    head -n 1)
[ -n "$parser" ] || echo 'without hotspot-perfparser'
crate=
if command -v cargo >/dev/null 2>&1; then
    mkdir -p "$BUILD/readers"
    cp -r "$SOURCE/tests/readers/samples" "$work/samples"
    (cd "$work/samples" && HOME=$(getent passwd "$(id -un)" | cut -d: -f6) \
        CARGO_TARGET_DIR="$BUILD/readers" cargo build -q --release >"$work/cargo.log" 2>&1) &&
        crate=$BUILD/readers/release/samples
fi
[ -n "$crate" ] || echo 'without linux-perf-data'
[ -n "$perf$parser$crate" ] || exit 77

if [ -n "$parser" ]; then
    "$CC" -O2 -o "$work/count_messages" "$SOURCE/tests/readers/count_messages.c" || exit 1
fi
count_parser() {
    timeout 60 "$parser" --input "$1" --output "$work/messages" >/dev/null 2>&1
    if [ -e "$work/messages" ]; then "$work/count_messages" <"$work/messages"; else echo 0; fi
    rm -f "$work/messages"
}

count_crate() {
    "$crate" "$1" | cut -f 2
}

shown() {

    timeout 100 perf script -f -i "$1" ${2+"$2" "$3"} 2>/dev/null </dev/null | cksum
}

# ---- the recordings ----

# A pipe, or a stored one, prints what the original prints; or, where perf chooses other columns of
# pipes, the same in given ones; or what perf prints of perf's own pipe (Intel PT: "with pipe mode
# is not recommended").
same_as_pipe() {
    [ "$(shown "$work/pipe")" = "$original" ] && return 0
    # shellcheck disable=SC2002
    [ "$(cat "$work/pipe" | timeout 100 perf script -f -i - 2>/dev/null | cksum)" = "$original" ] &&
        return 0
    [ "$(shown "$work/pipe" -F comm,tid,time,event,ip,sym,dso)" = \
        "$(shown "$1" -F comm,tid,time,event,ip,sym,dso)" ] &&
        case $1 in */own-pt/*) false ;; esac && return 0
    perf inject -f -i "$1" -o - >"$work/perf" 2>/dev/null </dev/null
    [ "$(shown "$work/pipe")" = "$(shown "$work/perf")" ]
}

# READER ORIGINAL NAME: what reads the original, or reads it not at all, finds all in what was
# written.
same_count() {
    of_file=$("count_$1" "$work/file") of_pipe=$("count_$1" \
        "$work/pipe") of_original=$("count_$1" "$2")
    [ "$of_file" = "$of_original" ] || [ "$of_file" = "$samples" ] ||
        [ "${of_file%%:*}" = "${of_original%%:*}" ] ||
        complain "$2: $1 finds $of_file of $samples samples in the file, $of_original in the original"
    case $of_original in fails*) of_pipe=$of_file ;; esac # it reads no form of it
    case $of_pipe in
    "$samples" | "$of_file" | "$of_original") ;;
    *)
        # the crate reads no tracepoints from pipes
        case $1.$("$PERFDATA" evlist "$2" 2>/dev/null) in crate.*:*) ;; *)
            complain "$2: $1 finds $of_pipe of $samples samples in the pipe" ;;
        esac ;;
    esac
    counted=$((counted + 1))
}

for recording in "$PERFDATA_CORPUS"/own/rec/*.data "$PERFDATA_CORPUS"/own-pt/rec/*.data; do
    samples=$("$PERFDATA" dump --stats "$recording" 2>/dev/null |
        awk '$1 == "SAMPLE" { n += $NF } END { print n + 0 }')
    "$PERFDATA" inject -i "$recording" -o "$work/file" >/dev/null 2>&1
    "$PERFDATA" inject -i "$recording" --pipe -o "$work/pipe" >/dev/null 2>&1
    if [ -n "$perf" ]; then
        original=$(shown "$recording")
        # what perf does not read has no text to compare with
        if timeout 100 perf script -f -i "$recording" >/dev/null 2>&1 </dev/null; then
            [ "$(shown "$work/file")" = "$original" ] ||
                complain "$recording: perf script differs of the file"
            same_as_pipe "$recording" || complain "$recording: perf script differs of the pipe"
            compared=$((compared + 1))
        fi
    fi
    [ -z "$parser" ] || same_count parser "$recording"
    [ -z "$crate" ] || same_count crate "$recording"
    rm -f "$work/file" "$work/pipe"
done
echo "perf: $compared recordings; other readers: $counted counts; $failed differ"
[ $failed -eq 0 ] && [ $((compared + counted)) -gt 0 ]
