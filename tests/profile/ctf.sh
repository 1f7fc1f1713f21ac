#!/bin/sh
# SPDX-License-Identifier: MIT
# `data convert --to-ctf` and `export ctf`: babeltrace2 reads of our trace what it reads of perf's,
# of a golden and, where perf is, of the repository's recordings and own ones of the corpus, with
# --all and --tod too. And what becomes of a folder that is there.
set -u
export LC_ALL=C PERF_CONFIG=/dev/null TZ=UTC
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export HOME="$work"
failed=0 count=0
fail() { echo "$*"; failed=1; }
data=$SOURCE/tests/data

"$PERFDATA" assemble "$data/convert/odd.pdt" -o "$work/odd.data" || exit 1
for threads in 1 2 8; do
    "$PERFDATA" export ctf -j $threads -i "$work/odd.data" -o "$work/odd.$threads" 2>/dev/null ||
        fail "export ctf, $threads threads"
    diff -r "$work/odd.1" "$work/odd.$threads" >/dev/null ||
        fail "$threads threads write something else"
done
[ "$(ls "$work/odd.1")" = "metadata
perf_stream_0" ] || fail "the trace has $(ls "$work/odd.1")"
"$PERFDATA" data convert --all --to-ctf "$work/all" -i "$work/odd.data" 2>"$work/log" ||
    fail "data convert: $(cat "$work/log")"
grep -q "into CTF data '$work/all' \]" "$work/log" &&
    grep -q 'wrote 0.004 MB (26 samples, 9 non-samples) \]' "$work/log" ||
    fail "data convert says: $(cat "$work/log")"
[ "$(stat -c %a "$work/all/metadata")" = "$(touch "$work/new" && stat -c %a "$work/new")" ] ||
    fail 'the mode is not the umask'"'s"

# A folder is replaced when it is empty or a trace, else left alone; nothing is left beside it.
mkdir "$work/empty" "$work/other"
echo kept >"$work/other/file"
"$PERFDATA" export ctf -i "$work/odd.data" -o "$work/empty/" 2>/dev/null &&
    diff -r "$work/odd.1" "$work/empty" || fail 'an empty folder'
"$PERFDATA" data convert --all --to-ctf "$work/empty" -i "$work/odd.data" 2>/dev/null &&
    diff -r "$work/all" "$work/empty" || fail 'a trace'
for path in other other/file none/x; do
    "$PERFDATA" export ctf -i "$work/odd.data" -o "$work/$path" >/dev/null 2>&1 &&
        fail "$path was not refused"
done
[ "$(cat "$work/other/file")" = kept ] && [ "$(ls "$work/other")" = file ] ||
    fail 'what is no trace did not stay'
head -c 3000 "$work/odd.data" >"$work/cut.data"
"$PERFDATA" export ctf --strict -i "$work/cut.data" -o "$work/failing" >/dev/null 2>&1 &&
    fail 'a failing run passed'
[ -z "$(find "$work" -maxdepth 1 -name '*.????????')" ] && [ ! -e "$work/failing" ] ||
    fail "left: $(ls "$work")"
for wrong in '-o -' '--group process -o x' '--detail line -o x' '--count -o x' '--lines -o x'; do
    # shellcheck disable=SC2086
    (cd "$work" && "$PERFDATA" export ctf -i odd.data $wrong) >/dev/null 2>&1 &&
        fail "export ctf takes $wrong"
done
for wrong in '--to-ctf x --to-json y' '--tod --to-ctf x' '--to-ctf x more'; do
    # shellcheck disable=SC2086
    (cd "$work" && "$PERFDATA" data convert -i odd.data $wrong) >/dev/null 2>&1 &&
        fail "not refused: $wrong"
    [ ! -e "$work/x" ] && [ ! -e "$work/y" ] || fail "written all the same: $wrong"
done

if ! command -v babeltrace2 >/dev/null; then
    [ $failed -eq 0 ] || exit 1
    echo 'skipped: no babeltrace2 to read traces'
    exit 77
fi
babeltrace2 "$work/odd.1" | cmp - "$data/convert/odd.ctf.txt" ||
    fail 'babeltrace2 reads something else than of the trace that perf wrote'
babeltrace2 "$work/all" >"$work/text" 2>&1
grep -qF 'comm = "a\"b\\c/d\\x01\\x09\\x0a\\x0d\\x08\\x0c\\x1f\\x7f\\x80\\xff" }' "$work/text" ||
    fail 'bytes of a name'
[ "$(wc -l <"$work/text")" = 35 ] || fail "of 35 events $(wc -l <"$work/text") are read"
# A CPU each: samples of one thread that moved, and one that no machine has.
sed 's/IP|TID|TIME/IP|TID|TIME|CPU/; s/ time=\(1593.41682010[0-9]s\) period/ time=\1 cpu=70 period/; s/ time=\(1593.416820[23]..s\) period/ time=\1 cpu=99999 period/' \
    "$data/convert/odd.pdt" >"$work/cpus.pdt"
"$PERFDATA" assemble "$work/cpus.pdt" -o "$work/cpus.data" || exit 1
# exit status 1: it told something
"$PERFDATA" export ctf -i "$work/cpus.data" -o "$work/cpus" 2>"$work/log"
grep -q '8 events say that they ran on a CPU above 8191' "$work/log" ||
    fail "CPUs that cannot be are not told: $(cat "$work/log")"
[ "$(babeltrace2 "$work/cpus" | grep -c 'cpu_id = 70 ')" = 10 ] &&
    [ "$(ls "$work/cpus" | wc -l)" = 3 ] || fail 'samples are not with their CPUs'

# Samples of a trace, whose events only its decoding makes: as many of each as script prints.
pt=${PERFDATA_CORPUS:-/nowhere}/own-pt
if [ -d "$pt/rec" ]; then
    for each in c_dyn:bei10usg c_threads4:i1usl t_event:bpwe t_ptwonly:w t_pwr:p t_pebs:o; do
        set -- -i "$pt/rec/${each%:*}.data" --symfs "$pt/symfs" --itrace="${each#*:}"
        rm -rf "$work/trace"
        "$PERFDATA" export ctf "$@" -o "$work/trace" 2>"$work/log"
        babeltrace2 "$work/trace" 2>"$work/log" | awk '{ print $3 }' | sort | uniq -c \
            >"$work/ours.txt"
        "$PERFDATA" script -F event "$@" 2>/dev/null |
            awk '/^[^\t]/ && $1 ~ /:$/ { print $1 }' | sort | uniq -c >"$work/script.txt"
        [ -s "$work/ours.txt" ] && cmp -s "$work/ours.txt" "$work/script.txt" ||
            fail "$each: $(cat "$work/log"; diff "$work/script.txt" "$work/ours.txt")"
    done
fi

# beside RECORDING OPTION...: babeltrace2's text of both traces, where perf's can be read.
beside() {
    recording=$1
    shift
    rm -rf "$work/perf" "$work/ours"
    cp -r "$recording" "$work/one.data"
    perf data convert -f "$@" --to-ctf "$work/perf" -i "$work/one.data" >/dev/null \
        2>"$work/perf.log"
    babeltrace2 "$work/perf" >"$work/perf.txt" 2>/dev/null || { rm -rf "$work/one.data"; return; }
    "$PERFDATA" data convert "$@" --to-ctf "$work/ours" -i "$work/one.data" >/dev/null \
        2>"$work/ours.log"
    babeltrace2 "$work/ours" >"$work/ours.txt" 2>&1
    cmp -s "$work/perf.txt" "$work/ours.txt" ||
        fail "$recording $*: $(diff "$work/perf.txt" "$work/ours.txt" | head -4 | cut -c1-300)"
    said=$(sed -n 's/^\[ perfdata data convert: /[ perf data convert: /p' "$work/ours.log" |
        sed "s|'$work/ours'|'$work/perf'|")
    [ "$(grep -h ' data convert: ' "$work/perf.log")" = "$said" ] ||
        fail "$recording $*: it says $(cat "$work/ours.log")"
    rm -rf "$work/one.data"
    count=$((count + 1))
}

if perf --version 2>/dev/null | grep -q '^perf version 6\.1'; then
    for recording in "$data"/demo/*.data "$data"/report/*.data "$data"/script/*.data \
        "$data"/sched/*.data; do
        [ -e "$recording" ] && beside "$recording" && beside "$recording" --all
    done
    [ $count -gt 6 ] || fail "only $count traces of perf could be read"
    for recording in "${PERFDATA_CORPUS:-/nowhere}"/own/rec/*.data; do
        [ -e "$recording" ] && beside "$recording" && beside "$recording" --all
    done
    for recording in "$pt"/rec/[ct]_*.data; do
        [ -e "$recording" ] && beside "$recording" --all
    done
    for recording in "${PERFDATA_CORPUS:-/nowhere}"/own/rec/clockid-*.data; do
        [ -e "$recording" ] && beside "$recording" --tod
    done
    echo "$count traces beside perf's"
else
    echo 'no perf 6.1: the golden only'
fi
exit $failed
