#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 27: `data convert --to-json` and `export json` write what perf data convert writes: a golden
# with odd names and markers, and the recordings of the repository beside the installed perf. Also
# the options that it refuses, as perf does.
set -u
export LC_ALL=C PERF_CONFIG=/dev/null TZ=UTC
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export HOME="$work"
failed=0 count=0
fail() { echo "$*"; failed=1; }
data=$SOURCE/tests/data

"$PERFDATA" assemble "$data/convert/odd.pdt" -o "$work/odd.data" &&
    touch -d @1700000000 "$work/odd.data" || exit 1
for threads in 1 2 8; do
    "$PERFDATA" export json -j $threads -i "$work/odd.data" 2>/dev/null |
        cmp - "$data/convert/odd.json" || fail "export json, $threads threads"
done
"$PERFDATA" data convert --to-json "$work/odd.json" -i "$work/odd.data" 2>"$work/log" ||
    fail "data convert: $(cat "$work/log")"
cmp "$work/odd.json" "$data/convert/odd.json" || fail 'data convert'
grep -q 'Converted and wrote 0.013 MB (26 samples)' "$work/log" ||
    fail "data convert says: $(cat "$work/log")"
# What is there is kept without --force.
echo kept >"$work/there"
"$PERFDATA" data convert --to-json "$work/there" -i "$work/odd.data" 2>/dev/null &&
    fail 'an existing file was not refused'
[ "$(cat "$work/there")" = kept ] || fail 'an existing file was written over'
"$PERFDATA" data convert -f --to-json "$work/there" -i "$work/odd.data" 2>/dev/null ||
    fail '--force'
cmp "$work/there" "$data/convert/odd.json" || fail '--force wrote something else'
for wrong in '--all --to-json x' '--tod --to-json x' '--to-ctf y --to-json x' '' \
    '--to-json x more'; do
    # shellcheck disable=SC2086
    (cd "$work" && "$PERFDATA" data convert -i odd.data $wrong) >/dev/null 2>&1
    [ $? -eq 2 ] || fail "not refused: $wrong"
    [ ! -e "$work/x" ] || fail "written all the same: $wrong"
done
for wrong in '--group process' '--detail line' --count --lines; do
    # shellcheck disable=SC2086
    "$PERFDATA" export json $wrong -i "$work/odd.data" >/dev/null 2>&1 &&
        fail "export json takes $wrong"
done
# A recording that does not tell its processor: called as perf, this machine's, as with perf.
sed -e "/^feature CPUID /d" -e "/^features /s/ CPUID//" "$data/convert/odd.pdt" >"$work/nowhere.pdt"
"$PERFDATA" assemble "$work/nowhere.pdt" -o "$work/nowhere.data" || fail 'without CPUID'
ln -s "$PERFDATA" "$work/perf"
value() { sed -n "s/^$1[[:blank:]]*: *//p" /proc/cpuinfo | head -n 1; }
here="$(value vendor_id),$(value 'cpu family'),$(value model),$(value stepping)"
for who in perfdata perf; do
    program=$PERFDATA
    [ $who = perfdata ] || program=$work/perf
    "$program" data convert --to-json "$work/$who.json" -i "$work/nowhere.data" 2>/dev/null ||
        fail "$who of a recording without CPUID"
done
grep -q '"cpuid"' "$work/perfdata.json" && fail "another machine's cpuid"
[ "$here" = ,,, ] || grep -q "\"cpuid\": \"$here\"" "$work/perf.json" ||
    fail "called as perf: not this machine's cpuid, $here"
rm "$work/perf.json"
# Threads that have ended share a tid: perf shows the process of the first of them.
cat >"$work/ended.pdt" <<END
perfdata-text 1
container file order=little header_size=104
attr cycles={size=128 sample_type=IP|TID|TIME flags=mmap|comm|task|sample_id_all} ids=[7]
ids cycles
attrs
data
record SAMPLE misc=0x2 {ip=0x401000 pid=300 tid=4294967295 time=1.01s}
record SAMPLE misc=0x2 {ip=0x401000 pid=301 tid=4294967295 time=1.02s}
end
END
"$PERFDATA" assemble "$work/ended.pdt" -o "$work/ended.data" || fail 'threads that have ended'
for who in perfdata:300,301, perf:300,300,; do
    program=$PERFDATA
    [ "${who%%:*}" = perfdata ] || program=$work/perf
    "$program" data convert --to-json "$work/ended.json" -f -i "$work/ended.data" 2>/dev/null
    [ "$(sed -n 's/.*"pid": //p' "$work/ended.json" | tr -d '\n')" = "${who#*:}" ] ||
        fail "threads that have ended: $who"
done
# Options that choose do so.
[ "$("$PERFDATA" export json -G -i "$work/odd.data" 2>/dev/null | grep -c '"ip"')" = 26 ] ||
    fail '-G'
[ "$("$PERFDATA" export json --tid 100 -i "$work/odd.data" 2>/dev/null |
    grep -c '"timestamp"')" = 1 ] || fail '--tid'
[ "$("$PERFDATA" export json --max-stack 2 -i "$work/odd.data" 2>/dev/null |
    grep -c '"ip"')" = 34 ] || fail '--max-stack'

if perf --version 2>/dev/null | grep -q '^perf version 6\.1'; then
    for recording in "$data"/demo/*.data "$data"/report/*.data "$data"/script/*.data; do
        cp "$recording" "$work/one.data"
        perf data convert -f --to-json "$work/perf.json" -i "$work/one.data" >/dev/null 2>&1 ||
            continue
        "$PERFDATA" data convert -f --to-json "$work/ours.json" -i "$work/one.data" >/dev/null 2>&1
        # Of a recording without build-id of the kernel perf takes this machine's symbols.
        cmp -s "$work/perf.json" "$work/ours.json" ||
            fail "$recording: $(diff "$work/perf.json" "$work/ours.json" | head -6)"
        count=$((count + 1))
    done
    [ $count -gt 3 ] || fail "perf read only $count recordings"
    echo "$count recordings beside perf"
else
    echo 'no perf 6.1: the golden only'
fi
exit $failed
