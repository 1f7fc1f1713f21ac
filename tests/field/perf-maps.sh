#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, points 5, 6 and 13: which perf maps are read, and how much of them. One that a service
# wrote as its own user is read by root, as by perf 6.1; a pipe or a device in a map's place does
# not hang; a map of any size is read in pieces.
set -u
data=$SOURCE/tests/data/field/perf-map
t=$(mktemp -d) || exit 1
map=/tmp/perf-3999001.map # the recording's pid is larger than any that Linux gives to a process
[ ! -e "$map" ] || { echo "$map is there already"; exit 77; }
trap 'rm -rf "$t" "$map"' EXIT
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}
"$PERFDATA" assemble "$data/rec.pdt" -o "$t/rec.data" || exit 1
script() {
    timeout 20 "$PERFDATA" script -F comm,ip,sym "$@" -i "$t/rec.data" >"$t/out" 2>"$t/err"
    result=$?
    [ $result = 0 ] || fail "exit code $result"
}

printf '7f0000000400 100 jitted_function\n' >"$map"
script
grep -q jitted_function "$t/out" || fail "our own"
if [ "$(id -u)" = 0 ]; then
    chown 65534 "$map"
    script
    grep -q jitted_function "$t/out" || fail "of the process's own user"
    # A process that lives, and a map of a user that is none of its.
    live=/tmp/perf-$$.map
    sed "s/3999001/$$/g" "$data/rec.pdt" >"$t/live.pdt"
    "$PERFDATA" assemble "$t/live.pdt" -o "$t/live.data" || fail "assemble"
    mv "$map" "$live"
    "$PERFDATA" script -F ip,sym -i "$t/live.data" >"$t/out" 2>"$t/err"
    ! grep -q jitted_function "$t/out" && grep -q 'belongs to another user' "$t/err" ||
        fail "a stranger's"
    "$PERFDATA" script -f -F ip,sym -i "$t/live.data" 2>/dev/null | grep -q jitted_function ||
        fail "a stranger's, -f"
    rm "$live"
fi

# A pipe, one that somebody writes into without end, and devices.
rm -f "$map"
mkfifo "$map"
script
script --jitdump
grep -q 7f0000000410 "$t/out" || fail "a pipe"
{ exec 2>/dev/null; yes '7f0000000400 100 from_a_pipe' >"$map"; } &
writer=$!
script
! grep -q from_a_pipe "$t/out" || fail "a pipe that is written"
kill $writer
rm "$map"
ln -s /dev/zero "$map"
script
rm "$map"

# Its lines are read in pieces; a line longer than any name is left out, and this is said.
{
    printf '7f0000000500 100 first\n7f0000000400 100 '
    head -c 3000000 /dev/zero | tr '\0' x
    printf '\n7f0000000400 100 behind_it\n'
} >"$map"
script
grep -q behind_it "$t/out" || fail "behind a long line"
grep -q 'longer than 1 MiB' "$t/err" || fail "nobody said that a line was left out"
# A gigabyte of nothing.
printf '7f0000000400 100 before_a_hole\n' >"$map"
truncate -s 1G "$map"
if [ -z "${SANITIZE-}" ]; then
    (ulimit -v 400000 && script; cat "$t/err" >&2; exit $failed) || fail "a gigabyte of nothing"
else # which reserves far more of the address space than it uses
    script
fi
grep -q before_a_hole "$t/out" || fail "before a gigabyte of nothing"
exit $failed
