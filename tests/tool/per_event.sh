#!/bin/sh
# SPDX-License-Identifier: MIT
# script --per-event-dump puts each line of script into the file of its event, whatever the number
# of threads; -d prints none.
set -u
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
failed=0
fail() {
    echo "$*"
    failed=1
}
cp "$SOURCE/tests/data/report/groups-two.data" "$out/a.data" || exit 1
cd "$out" || exit 1
"$PERFDATA" script -F comm,tid,time,event,ip a.data >whole 2>/dev/null || fail 'script failed'
for jobs in 1 4; do
    "$PERFDATA" script -F comm,tid,time,event,ip --per-event-dump -j $jobs a.data >said \
        2>/dev/null ||
        fail "--per-event-dump -j $jobs failed"
    [ "$(wc -l <said)" -eq "$("$PERFDATA" evlist a.data | wc -l)" ] ||
        fail "not a line an event: $(cat said)"
    cat a.data.*.dump | sort >parts
    sort whole | cmp -s - parts || fail "-j $jobs: not the lines of script"
    for file in a.data.*.dump; do
        event=${file#a.data.}
        event=${event%.dump}
        samples=$(grep -c "$event:" "$file")
        grep -q " $file ($samples samples)" said ||
            fail "$file: $samples samples, said was $(cat said)"
        grep -c ':' "$file" | grep -qx "$samples" || fail "$file has lines of other events"
    done
    [ -s a.data.cpu-clock.dump ] || fail 'no lines of cpu-clock'
    rm -f a.data.*.dump
done
"$PERFDATA" script --per-event-dump --show-task-events a.data 2>/dev/null |
    grep -q PERF_RECORD_COMM ||
    fail 'lines of no event are not printed'
"$PERFDATA" script --per-event-dump --deltatime a.data >/dev/null 2>&1 &&
    fail '--deltatime is not refused'
rm -f a.data.*.dump
mkdir a.data.cpu-clock.dump
"$PERFDATA" script --per-event-dump a.data >/dev/null 2>errors &&
    fail 'a file that cannot be made is no failure'
grep -q 'a.data.cpu-clock.dump' errors || fail 'a file that cannot be made is not named'
[ -z "$(find . -name 'a.data.*.dump.*')" ] || fail 'a part is left'

# A link that somebody else put there is replaced, not followed.
rm -rf a.data.*.dump
echo mine >precious
ln -s precious a.data.cpu-clock.dump
"$PERFDATA" script --per-event-dump a.data >/dev/null 2>&1 || fail 'files in place of a link'
[ "$(cat precious)" = mine ] && [ -s a.data.cpu-clock.dump ] && [ ! -L a.data.cpu-clock.dump ] ||
    fail 'the link was followed'
[ -z "$("$PERFDATA" script -d a.data 2>said)" ] || fail '-d prints lines'
grep -qx 'Misordered timestamps: 0' said || fail "-d said $(cat said)"
exit $failed
