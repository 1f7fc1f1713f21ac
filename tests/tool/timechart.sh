#!/bin/sh
# SPDX-License-Identifier: MIT
# timechart draws what perf drew, with one thread and with four; beside the installed perf of each
# recording of the corpus that has tracepoints. With an argument: writes what perf draws.
set -u
cd "$SOURCE/tests/data/timechart" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/home"
HOME=$work/home
export HOME TZ=UTC LC_ALL=C PERF_CONFIG=/dev/null
ln -s "$PERFDATA" "$work/perf"
failed=0 count=0 beside=0

# The name of this machine's processor stands in each CPU's box.
plain() {
    sed '/font-size="1.25pt">/{s/">.*/">MODEL/}' "$1"
}

while read -r name options; do
    case $name in '#'* | '') continue ;; esac
    count=$((count + 1))
    if [ $# -gt 0 ]; then
        # shellcheck disable=SC2086
        perf timechart $options -o "$work/svg" 2>/dev/null && plain "$work/svg" >"$name.svg"
        continue
    fi
    for jobs in 1 4; do
        # shellcheck disable=SC2086
        "$work/perf" timechart $options -j $jobs -o "$work/svg" 2>"$work/err" || {
            echo "$name: exit $?"
            failed=1
        }
        grep -q '^Written [0-9.]* seconds of trace to ' "$work/err" ||
            { echo "$name: no word"; failed=1; }
        plain "$work/svg" | diff -u "$name.svg" - >"$work/diff" || {
            echo "$name ($jobs): timechart $options differs:"
            head -n 20 "$work/diff"
            failed=1
        }
    done
done <cases
[ $count -gt 0 ] || { echo 'no cases'; exit 1; }
[ $# -gt 0 ] && exit 0

# Under our own name a task's name is text of XML, whatever it is.
"$PERFDATA" dump --pdt -i tasks.data | sed 's/"cc1"/"c<\&1"/' >"$work/odd.pdt"
"$PERFDATA" assemble -o "$work/odd.data" "$work/odd.pdt"
"$PERFDATA" timechart -i "$work/odd.data" -o - >"$work/odd.svg" 2>"$work/err"
grep -q 'c&lt;&amp;1' "$work/odd.svg" && ! grep -q 'c<' "$work/odd.svg" ||
    { echo 'names are not text of XML'; failed=1; }

# What cannot be drawn is told.
"$work/perf" timechart -i ../demo/spin.data -o "$work/none.svg" 2>"$work/err"
[ $? -eq 234 ] && grep -q "No trace sample to read" "$work/err" && [ ! -e "$work/none.svg" ] ||
    { echo 'a recording without tracepoints'; failed=1; }
for wrong in '-P -T' '-w 0' '--io-min-time 3parsec' '--io-merge-dist -1'; do
    # shellcheck disable=SC2086
    "$PERFDATA" timechart -i tasks.data $wrong -o "$work/none.svg" 2>"$work/err"
    [ $? -eq 2 ] || { echo "$wrong is taken"; failed=1; }
done

# A damaged time years behind the others: a line each 10 ms would never end.
"$PERFDATA" dump --pdt tasks.data >"$work/text"
last=$(grep -o ' time=[0-9]*\.[0-9]*s' "$work/text" | tail -1)
sed "s/$last/ time=9000000000.000000000s/" "$work/text" >"$work/far.text"
cmp -s "$work/text" "$work/far.text" && { echo 'no time to damage'; failed=1; }
"$PERFDATA" assemble "$work/far.text" -o "$work/far.data" || failed=1
timeout 20 "$PERFDATA" timechart -i "$work/far.data" -o "$work/far.svg" 2>"$work/err"
code=$?
[ $code = 1 ] || { echo "a time far away: exit $code"; failed=1; } # there is something to tell
grep -q 'the picture spans [0-9]* s: it has a line each' "$work/err" ||
    { echo 'fewer lines are not told'; failed=1; }

# Nor has a processor more than 8 GHz: perf leaves such frequencies out, too, but without a
# word.
fast() {
    awk -v from="$1" -v to="$2" '/event=power:cpu_frequency / && !done {
        done = sub("raw=x\"3502000000000000" from, "raw=x\"3502000000000000" to)
    } { print }' "$work/text" >"$work/fast.text"
    cmp -s "$work/text" "$work/fast.text" && { echo 'no frequency to damage'; failed=1; }
    "$PERFDATA" assemble "$work/fast.text" -o "$work/fast.data" || failed=1
    "$PERFDATA" timechart -i "$work/fast.data" -o "$work/fast.svg" 2>"$work/err"
}
fast 009f2400 01127a00 # 8,000,001 kHz
code=$?
[ $code = 1 ] || { echo "a frequency above 8 GHz: exit $code"; failed=1; }
grep -q 'a frequency of 8000001 kHz, which no processor has, is left out' "$work/err" ||
    { echo "a frequency above 8 GHz: $(cat "$work/err")"; failed=1; }
fast 009f2400 00127a00 # 8,000,000 kHz
code=$?
[ $code = 0 ] && ! grep -q 'kHz' "$work/err" ||
    { echo "a frequency of 8 GHz: exit $code: $(cat "$work/err")"; failed=1; }

case "$(perf version 2>/dev/null)" in 'perf version 6.1.'*) ;; *) exit $failed ;; esac
for recording in "${PERFDATA_CORPUS:-/nowhere}"/own/rec/*.data; do
    [ -f "$recording" ] || continue
    perf timechart -i "$recording" -o "$work/theirs.svg" >/dev/null 2>&1 </dev/null || continue
    beside=$((beside + 1))
    for options in '' '-P' '-T -n 3' '--io-min-time 50us -w 3000' '--highlight 1000000'; do
        rm -f "$work/theirs.svg" "$work/ours.svg"
        # shellcheck disable=SC2086
        perf timechart -f -i "$recording" $options -o "$work/theirs.svg" >/dev/null 2>&1
        # shellcheck disable=SC2086
        "$work/perf" timechart -f -i "$recording" $options -o "$work/ours.svg" >/dev/null 2>&1
        cmp "$work/theirs.svg" "$work/ours.svg" || {
            echo "$recording $options differs"
            failed=1
        }
    done
done
echo "beside perf: $beside recordings"
exit $failed
