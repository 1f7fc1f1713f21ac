#!/bin/sh
# SPDX-License-Identifier: MIT
# index.sh DAMAGE_TRACE: the stored index of PSBs (aux index --store). With it any time span, and
# qq, is decoded to the same text, errors, branches, times and threads, as without it; one that is
# of another recording, or damaged, is not used, which is said.
. "$SOURCE/tests/itrace/common.sh"
damage=$1 seed=1

# A number below $1, in $random.
random() {
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    random=$((seed / 65536 % $1))
}

# OPTION...: the same with and without the index of $work/it.data.
compare() {
    "$PERFDATA" "$@" -i "$work/plain.data" >"$work/plain" 2>"$work/plain.err" || :
    "$PERFDATA" "$@" -i "$work/it.data" >"$work/with" 2>"$work/with.err" || :
    count=$((count + 1))
    lines=$((lines + $(wc -l <"$work/plain")))
    cmp -s "$work/plain" "$work/with" || complain "$name: another text with the index: $*"
    sed 's/plain\.data/it.data/g' "$work/plain.err" | cmp -s - "$work/with.err" ||
        complain "$name: other messages: $*"
}

lines=0
for file in "$own"/rec/*; do
    name=${file##*/}
    name=${name%.data}
    case $name in *snap* | *sample*) continue ;; esac
    rm -rf "$work/it.data.psbindex" "$work/it.data" "$work/plain.data"
    cp -r "$file" "$work/plain.data"
    cp -r "$file" "$work/it.data"
    "$PERFDATA" aux index --store "$work/it.data" >"$work/out" 2>&1 ||
        complain "$name: --store fails"
    [ -s "$work/out" ] && complain "$name: --store prints something"
    [ -s "$work/it.data.psbindex" ] || complain "$name: nothing is stored"
    for round in 1 2 3; do
        random 95 && from=$random
        random 5 && percent="$from%-$((from + random + 1))%"
        case $((round % 3)) in
        0) compare script --itrace=bep --ns -F+flags --time "$percent" ;;
        1) compare script --itrace=i1usbegxw --ns -F+flags,+ipc,+callindent -j2 --time "$percent" ;;
        2) compare report --stdio --itrace=i10us -s comm,sym --time "$percent" ;;
        esac
    done
    compare script --itrace=qqibexp --ns -F+flags,+ipc,+addr
    compare script --itrace=qqip --ns -F+flags -j2
    compare report --stdio --itrace=qqi1us -s comm,sym
    random 90 && compare script --itrace=be --time "$random%-$((random + 2))%,95%-98%"
    random 2 && compare script --itrace=be -C "$random" --time '80%-90%'
done
# Buffers that are long enough to begin inside of one.
[ -f "$make_big" ] || echo 'without make_big_pt.py of PERFDATA_TOOLS: no long trace is compared'
for name in c_dyn t_cyc t_tsc; do
    rm -rf "$work/it.data.psbindex" "$work/it.data" "$work/plain.data"
    [ -f "$make_big" ] || continue
    repeat_to "$own/rec/$name.data" "$work/it.data" --mb 6 || continue
    cp "$work/it.data" "$work/plain.data"
    "$PERFDATA" aux index --store "$work/it.data" || complain "$name: --store fails"
    for round in 1 2 3 4 5 6 7 8; do
        random 600 && from=18000.$(printf %03d "$random")
        random 999 &&
            compare script --itrace=be --symfs "$own/symfs" \
            --time "$from$(printf %03d "$random"),$from$(printf %03d 999)"
    done
    compare report --stdio --itrace=i10us --symfs "$own/symfs" -s comm,sym --time 18000.3,18000.32
    compare script --itrace=qqe
    compare script --itrace=qqip -F+flags,+ipc
    compare script --itrace=qqiZ -F+addr
    compare script --itrace=qqi --time 18000.3,18000.4
    # ... and damaged.
    "$PERFDATA" aux list --json -i "$work/plain.data" |
        sed 's/.*"size":\([0-9]*\),.*"file_offset":\([0-9]*\).*/\2 \1/' |
        head -n 4096 >"$work/buffers"
    for kind in flip cut noise reorder; do
        "$damage" $kind $seed "$work/plain.data" <"$work/buffers" || complain "$name: not damaged"
        cp "$work/plain.data" "$work/it.data"
        "$PERFDATA" aux index --store "$work/it.data" || complain "$name: --store fails"
        compare script --itrace=qqe
        compare script --itrace=qqip -F+flags,+ipc
    done
done
[ "$count" -ge 400 ] && [ "$lines" -gt 10000 ] ||
    complain "nothing was compared: $count runs, $lines lines"

# What does not fit is not used.
name=t_tsc
rm -rf "$work/it.data" "$work/it.data.psbindex"
cp "$own/rec/t_tsc.data" "$work/it.data"
"$PERFDATA" aux index --store "$work/it.data"
sleep 0.01
touch "$work/it.data"
how='--itrace=be --time 80%-90%'
stale() {
    # shellcheck disable=SC2086
    "$PERFDATA" script $how -i "$work/it.data" >"$work/with" 2>"$work/err" ||
        complain "$1: fails"
    cmp -s "$work/with" "$work/plain" || complain "$1: another text"
    grep -q "${says-psbindex is not used: $2}" "$work/err" || complain "$1: nothing is said"
}
"$PERFDATA" script --itrace=be --time 80%-90% -i "$own/rec/t_tsc.data" >"$work/plain" 2>/dev/null
[ -s "$work/plain" ] || complain 'nothing is printed of t_tsc'
stale 'an older index' 'the recording has changed'
"$PERFDATA" aux index --store "$work/it.data"
cp "$work/it.data.psbindex" "$work/good"
"$PERFDATA" script --itrace=be --time 80%-90% -i "$work/it.data" 2>&1 >/dev/null |
    grep -q psbindex &&
    complain 'a good index is complained about'
size=$(wc -c <"$work/good")
head -c $((size - 8)) "$work/good" >"$work/it.data.psbindex" && stale 'a cut index' 'it is damaged'
: >"$work/it.data.psbindex" && stale 'an empty index' 'it is none'
for at in 66 $((size - 100)) $((size - 5)); do
    cp "$work/good" "$work/it.data.psbindex"
    printf '\377\377' | dd of="$work/it.data.psbindex" bs=1 seek="$at" conv=notrunc 2>/dev/null
    stale "damage at $at" 'it is damaged'
done
{ head -c 32 "$work/good"; printf '\377\377\377\377\377\377\377\377'; tail -c +41 "$work/good";
  } >"$work/it.data.psbindex"
stale 'rows without end' 'it is damaged'
cp "$work/good" "$work/it.data.psbindex"
printf '\377\377' | dd of="$work/it.data.psbindex" bs=1 seek=80 conv=notrunc 2>/dev/null
how='--itrace=qqb -F+flags'
# shellcheck disable=SC2086
"$PERFDATA" script $how -i "$own/rec/t_tsc.data" >"$work/plain" 2>/dev/null
says='psbindex is not used any more: the trace is not what it says'
stale 'damaged leaps' ''
unset says
# Issue 24, point 5: an index of other bytes, though size and time of the recording are right; a
# FIFO in its place.
cp "$work/good" "$work/it.data.psbindex"
"$PERFDATA" aux list --json -i "$work/it.data" |
    sed 's/.*"size":\([0-9]*\),.*"file_offset":\([0-9]*\).*/\2 \1/' | head -n 4096 >"$work/buffers"
touch -r "$work/it.data" "$work/time"
"$damage" reorder 7 "$work/it.data" <"$work/buffers" || complain 'not damaged'
touch -r "$work/time" "$work/it.data"
cp "$work/it.data" "$work/other.data"
for how in '--itrace=qqb' '--itrace=qqe' '--itrace=be --time 80%-90%'; do
    # shellcheck disable=SC2086
    "$PERFDATA" script $how -i "$work/other.data" >"$work/plain" 2>/dev/null
    # shellcheck disable=SC2086
    "$PERFDATA" script $how -i "$work/it.data" >"$work/with" 2>"$work/err"
    cmp -s "$work/plain" "$work/with" || complain "an index of other bytes: $how"
done
rm "$work/it.data.psbindex" && mkfifo "$work/it.data.psbindex"
timeout 20 "$PERFDATA" script --itrace=qqe -i "$work/it.data" >/dev/null 2>"$work/err" ||
    [ $? = 1 ] || complain 'hangs at a FIFO'
grep -q 'psbindex is not used: it cannot be read' "$work/err" || complain 'a FIFO: nothing is said'
rm "$work/it.data.psbindex"
cp "$own/rec/t_tsc.data" "$work/it.data"
how=--itrace=qqi
"$PERFDATA" script $how -i "$own/rec/t_tsc.data" >"$work/plain" 2>/dev/null
: >"$work/it.data.psbindex"
rm "$work/it.data.psbindex" && mkdir "$work/it.data.psbindex"
stale 'a folder' 'it cannot be read'

# Where none can be kept.
for name in c_sample t_snap; do
    code=0
    cp "$own/rec/$name.data" "$work/other.data"
    "$PERFDATA" aux index --store "$work/other.data" 2>"$work/err" || code=$?
    [ "$code" != 0 ] && grep -q 'overlap' "$work/err" && [ ! -e "$work/other.data.psbindex" ] ||
        complain "$name: an index of buffers that overlap"
done
echo "$count runs"
exit $failed
