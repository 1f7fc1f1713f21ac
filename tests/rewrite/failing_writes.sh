#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24: writes that fail, of every verb: where no file may grow further, on a full disk, on a
# full device, into a descriptor that is closed. The verb says why and does not end with 0; the old
# file stays what it was, and nothing that is half written is left, but by `record`, which keeps
# what it has got (the old file is FILE.old by then, as with perf).
set -u
export LC_ALL=C PERF_CONFIG=/dev/null TZ=UTC
command -v prlimit >/dev/null || { echo 'skipped: prlimit is not installed'; exit 77; }
# A disk of our own needs a name space of our own.
if [ -z "${OWN_MOUNTS-}" ] && [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
    OWN_MOUNTS=1 exec unshare -m sh "$0" "$@"
fi
work=$(mktemp -d) || exit 1
trap 'umount "$work/disk" 2>/dev/null; rm -rf "$work"' EXIT
data=$SOURCE/tests/data
demo=$data/demo/spin.data
failed=0 count=0

complain() {
    echo "$*"
    failed=$((failed + 1))
}

"$PERFDATA" dump --pdt "$demo" >"$work/text.pdt" || complain 'dump --pdt fails'
cp /bin/true "$work/program"

# write NAME: the verb of that name onto $out.
write() {
    symfs="--symfs $data/demo/symfs"
    # shellcheck disable=SC2086 # words
    case $1 in
    inject | repair | slice | anonymize) "$PERFDATA" "$1" -i "$demo" -o "$out" ;;
    inject-*) "$PERFDATA" inject "-${1#inject-}" -i "$demo" -o "$out" ;;
    traced) "$PERFDATA" inject --itrace=i1us -i "$folder/traced.data" -o "$out" ;;
    merge) "$PERFDATA" merge "$demo" "$demo" -o "$out" ;;
    assemble) "$PERFDATA" assemble "$work/text.pdt" -o "$out" ;;
    dump) "$PERFDATA" dump --pdt "$demo" -o "$out" ;;
    record*) "$PERFDATA" record ${1#record} -q -e cpu-clock -o "$out" true ;;
    flame*) "$PERFDATA" flame ${1#flame} -i "$demo" $symfs -o "$out" ;;
    extract) "$PERFDATA" aux extract -i "$folder/traced.data" -o "$out" ;;
    index) "$PERFDATA" aux index --store -i "$folder/traced.data" ;;
    per-event) "$PERFDATA" script --per-event-dump -i "$folder/spin.data" ;;
    gen-script) (cd "$folder" && "$PERFDATA" script -g python -i "$demo") ;;
    to-json) "$PERFDATA" data convert --to-json "$out" --force -i "$demo" ;;
    to-ctf) "$PERFDATA" data convert --to-ctf "$out" --force -i "$demo" ;;
    trace) "$PERFDATA" trace -i "$data/verbs/trace.data" -o "$out" ;;
    timechart) "$PERFDATA" timechart -i "$data/verbs/sched.data" -o "$out" ;;
    config) PERF_CONFIG=$out "$PERFDATA" config --user report.children=true ;;
    bolt | fdata | autofdo)
        "$PERFDATA" export "$1" -i "$data/report/branches.data" -o "$out" ;;
    *) "$PERFDATA" export "$1" -i "$demo" $symfs -o "$out" ;;
    esac
}

# Names and bytes of all that is there but what holds the disk's room.
inventory() {
    find "$folder" -type f ! -name ballast -exec cksum {} + | sort
    find "$folder" -type d | sort
}

# prepare NAME: the folder as it was, with an old file where the verb replaces one.
prepare() {
    find "$folder" -mindepth 1 ! -name traced.data ! -name spin.data -exec rm -rf {} +
    case $1 in
    csv | parquet | ctf | to-ctf | extract | inject--directory | record--threads) ;;
    config) printf '[report]\n\tchildren = false\n' >"$out" ;;
    index) echo old >"$folder/traced.data.psbindex" ;;
    gen-script) echo old >"$folder/perf-script.py" ;;
    per-event) echo old >"$folder/spin.data.cpu-clock:u.dump" ;;
    *) echo old >"$out" ;;
    esac
    inventory >"$work/before"
}

# judge NAME HOW: of a run that could not write. What it said ends with its exit code.
judge() {
    count=$((count + 1))
    code=$(sed -n '$s/^exit //p' "$work/said")
    [ "$code" -ne 0 ] || complain "$1, $2: exit 0"
    [ "$code" -lt 128 ] || complain "$1, $2: exit $code"
    grep -a -q -i -e 'too large' -e 'no space' -e 'I/O error' -e 'disk is full' "$work/said" ||
        complain "$1, $2: does not say why: $(cat "$work/said")"
    inventory >"$work/after"
    case $1 in
    record*) [ ! -f "$out.old" ] || [ "$(cat "$out.old")" = old ] ||
        complain "$1, $2: the old file is gone" ;;
    *) cmp -s "$work/before" "$work/after" ||
        complain "$1, $2: leaves $(diff "$work/before" "$work/after" | grep '^[<>]')" ;;
    esac
}

# Runs the verb where no file may grow beyond $2 bytes; an error says so to it, not a signal.
limited() {
    prepare "$1"
    {
        (
            trap '' XFSZ
            # shellcheck disable=SC2016 # the process of these brackets
            sh -c 'exec prlimit --pid "$PPID" --fsize="$0":' "$2"
            write "$1" </dev/null 2>&1 >/dev/null
        )
        echo "exit $?"
    } | cat >"$work/said"
    judge "$1" "a limit of $2 bytes"
}

# Runs the verb with $2 pages left on the disk.
crowded() {
    prepare "$1"
    cat /dev/zero >"$folder/ballast" 2>/dev/null
    truncate -s "-$(($2 * 4096))" "$folder/ballast"
    { write "$1" </dev/null 2>&1 >/dev/null; echo "exit $?"; } | cat >"$work/said"
    rm "$folder/ballast"
    judge "$1" "$2 pages of disk"
}

# Sets $largest and $pages: what the verb writes when nothing hinders it.
measure() {
    prepare "$1"
    write "$1" >/dev/null 2>"$work/said" || complain "$1: fails: $(cat "$work/said")"
    find "$folder" -type f ! -name traced.data ! -name spin.data -printf '%s\n' >"$work/sizes"
    largest=$(sort -n "$work/sizes" | tail -n 1)
    pages=$(awk '{ n += int(($1 + 4095) / 4096) } END { print n + 0 }' "$work/sizes")
    [ "${largest:-0}" -gt 4 ] || complain "$1: writes nothing"
}

begin() {
    folder=$1
    out=$folder/out
    cp "$data/itrace/t_tsx.data" "$folder/traced.data"
    cp "$demo" "$folder/spin.data"
}

outputs='inject inject-b inject-z3 inject--directory traced repair slice anonymize merge assemble
    dump flame flame--svg extract index per-event to-json to-ctf trace timechart config folded pprof
    speedscope firefox chrome callgrind json csv otlp perfetto postgresql parquet ctf bolt fdata
    autofdo'
mkdir "$work/folder" "$work/disk"
begin "$work/folder"
prepare record
if write record >/dev/null 2>&1; then
    outputs="$outputs record record-z record--threads"
else
    echo 'this machine lets nobody record: without record'
fi
prepare gen-script
write gen-script >/dev/null 2>&1 && outputs="$outputs gen-script"
prepare sqlite
write sqlite 2>"$work/said" && outputs="$outputs sqlite"
for verb in $outputs; do
    measure "$verb"
    case $verb in # its file differs from run to run
    record*) set -- 0 $((largest / 2)) ;;
    *) set -- 0 $((largest / 2)) $((largest - 1)) ;;
    esac
    for limit; do
        limited "$verb" "$limit"
    done
done
if [ -n "${OWN_MOUNTS-}" ] && mount -t tmpfs -o size=4m none "$work/disk" 2>/dev/null; then
    begin "$work/disk"
    for verb in $outputs; do
        measure "$verb"
        crowded "$verb" 0
        [ $pages -lt 3 ] || crowded "$verb" $((pages / 2))
    done
else
    echo 'no disk can be mounted here: without full ones'
fi

# ---- standard output and standard error ----

# printed COMMAND...: what prints on standard output.
printed() {
    for how in full closed; do
        case $how in
        full) "$PERFDATA" "$@" >/dev/full 2>"$work/err" ;;
        closed) "$PERFDATA" "$@" >&- 2>"$work/err" ;;
        esac
        code=$?
        count=$((count + 1))
        [ $code -eq 4 ] || complain "$*: standard output $how: exit $code"
        grep -q -e 'No space' -e 'Bad file' "$work/err" ||
            complain "$*: standard output $how: does not say why: $(cat "$work/err")"
    done
}

# told COMMAND...: what perf prints on standard error.
told() {
    "$PERFDATA" "$@" 2>/dev/full >/dev/null
    [ $? -eq 4 ] || complain "$*: a full standard error goes unnoticed"
    "$PERFDATA" "$@" 2>&- >/dev/null
    [ $? -eq 4 ] || complain "$*: a closed standard error goes unnoticed"
    count=$((count + 2))
}

for verb in script 'script --json' 'script -D' 'report --stdio' 'report --json' 'report -D' \
    'report --stats' 'report --mmaps' 'report --tasks' 'report --header-only' \
    dump 'dump --json' 'dump --pdt' 'dump --stats' 'dump --checksum' 'dump --header' header \
    'header --json' 'evlist -v' buildid-list check 'inject -o -' 'repair -o -' \
    'slice --every 2 -o -' 'anonymize -o -' 'flame -o -' 'flame --svg -o -' 'export folded' \
    'export pprof -o -' 'export json -o -' 'export csv -o -' 'export postgresql -o -' \
    'data convert --to-json -'; do
    # shellcheck disable=SC2086 # words
    printed $verb -i "$demo"
done
printed annotate --stdio -i "$demo" --symfs "$data/demo/symfs"
printed merge "$demo" "$demo" -o -
printed diff "$demo" "$demo"
for verb in list stat index dump; do
    printed aux $verb -i "$data/itrace/t_tsx.data"
done
for verb in latency map timehist script; do
    printed sched $verb -i "$data/verbs/sched.data"
done
for verb in report latency timehist; do
    printed kwork $verb -i "$data/verbs/kwork.data"
done
printed kmem --caller stat -i "$data/verbs/kmem.data"
printed lock script -i "$data/verbs/lock.data"
printed c2c report --stdio -i "$data/verbs/c2c.data"
printed mem report --stdio -i "$data/report/memory.data"
printed mem -D report -i "$data/report/memory.data"
printed timechart -o - -i "$data/verbs/sched.data"
printed kvm diff "$demo" "$demo"
printed trace -o - -i "$data/verbs/trace.data"
printf '[report]\n\tchildren = false\n' >"$work/settings"
export PERF_CONFIG="$work/settings"
printed config --list
printed config report.children
printed help
printed help itrace
printed script --help
printed version
printed list
for verb in report 'info -t' 'info -m' contention; do
    # shellcheck disable=SC2086 # words
    told lock $verb -i "$data/verbs/lock.data"
done
told kvm --guest stat report -i "$data/verbs/kvm.data"
told stat report -i "$data/verbs/stat-record.data"
told trace -i "$data/verbs/trace.data"
told trace -s -i "$data/verbs/trace.data"
echo "$count failing writes, $failed complaints"
[ $failed -eq 0 ] && [ $count -gt 200 ]
