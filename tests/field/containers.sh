#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 9: programs of another mount namespace or root (containers, chroot). Their paths
# name other files here: record stores the build-id of the file that ran, script reads files and
# perf maps through /proc/PID/root while the process lives, and a file of ours is never taken for
# one of theirs.
set -u
data=$SOURCE/tests/data/field/container
case $(uname -m) in x86_64) ;; *) echo "made for x86-64"; exit 77 ;; esac
[ "$(id -u)" = 0 ] && unshare -mp --fork true 2>/dev/null ||
    { echo "needs root and unshare"; exit 77; }
t=$(mktemp -d) || exit 1
pid=
end() {
    [ -z "$pid" ] || kill -9 "$pid"
    wait
    rm -rf "$t"
}
trap end EXIT
HOME=$t PERF_CONFIG=/dev/null
export HOME PERF_CONFIG # no cache of build-ids
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}

static="-nostdlib -static -Wl,--build-id=sha1"
mkdir "$t/app" "$t/inside"
# shellcheck disable=SC2086
"$CC" $static -o "$t/app/server" "$data/host.s" &&
    "$CC" $static -o "$t/inside/server" "$data/server.s" &&
    "$CC" -O1 -static -o "$t/jitted" "$data/jitted.c" || { echo "cannot be compiled"; exit 77; }
id_of() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }
ours=$(id_of "$t/app/server") theirs=$(id_of "$t/inside/server")
[ -n "$theirs" ] && [ "$ours" != "$theirs" ] || { echo "no build-ids to tell apart"; exit 77; }

# start COMMAND: in a mount namespace where the folder app is another; its pid is the program's.
start() {
    unshare -m sh -c "mount --bind '$t/inside' '$t/app' && exec $1" &
    pid=$!
    sleep 0.5
}
stop() {
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    pid=
}
record() { "$PERFDATA" record -q -e cpu-clock:u -F 199 -o "$@" -p "$pid" -- sleep 0.4 >/dev/null \
    2>"$t/err"; }
script() { "$PERFDATA" script -F ip,sym,dso -i "$1" 2>"$t/err" >"$t/out"; }

start "'$t/app/server'"
record "$t/ids.data" || { cat "$t/err"; echo "no events can be recorded"; exit 77; }
"$PERFDATA" buildid-list -i "$t/ids.data" >"$t/out"
grep -q "^$theirs .*/app/server" "$t/out" || fail "the build-id is not that of the container's file"
! grep -q "$ours" "$t/out" || fail "the build-id is that of our file"
script "$t/ids.data"
grep -q container_work "$t/out" || fail "a file in a container, by build-id"
# As perf writes it without -B, but in the records of the maps.
record "$t/maps.data" --buildid-mmap
"$PERFDATA" dump --pdt "$t/maps.data" | grep 'record MMAP2' | grep '/app/server' |
    grep -q "$theirs" ||
    fail "the build-id in a record of a map"
record "$t/none.data" -B
record "$t/spaces.data" -B --namespaces
for file in none spaces; do
    script "$t/$file.data"
    grep -q container_work "$t/out" || fail "a file in a container, $file"
    ! grep -q host_other_fn "$t/out" || fail "a file of ours for one in a container, $file"
    "$PERFDATA" report --stdio -i "$t/$file.data" 2>/dev/null | grep -q container_work ||
        fail "report, $file"
done
# The record says that another machine's processes are meant: ours are not asked.
"$PERFDATA" dump --pdt "$t/none.data" |
    sed 's/^feature HOSTNAME.*/feature HOSTNAME {text="elsewhere"}/' >"$t/other.pdt"
"$PERFDATA" assemble "$t/other.pdt" -o "$t/other.data" || fail "the text of another machine's"
script "$t/other.data"
! grep -q container_work "$t/out" || fail "a process of ours for one of another machine"
stop
# It is gone. What its NAMESPACES record says forbids to take our file; with a build-id no other
# could be taken.
for file in spaces ids; do
    script "$t/$file.data"
    grep -q '\[unknown\]' "$t/out" && ! grep -q 'host_other_fn\|container_work' "$t/out" ||
        fail "$file, after its end"
done
script "$t/spaces.data"
grep -q 'app/server is a file of another mount namespace' "$t/err" ||
    fail "nobody said that it is another's"

# A file put into the place of one that ran has another build-id.
cp "$t/inside/server" "$t/app/replaced"
"$t/app/replaced" & pid=$!
sleep 0.2
"$PERFDATA" record -q -e cpu-clock:u -F 199 -o "$t/late.data" -p "$pid" -- sh -c "sleep 0.3
    cp '$t/app/server' '$t/app/new' && mv '$t/app/new' '$t/app/replaced'" >/dev/null 2>&1
"$PERFDATA" buildid-list -i "$t/late.data" >"$t/out"
! grep -q "$ours" "$t/out" || fail "the build-id of a file that came later"
stop

# Another root in our mount namespace.
mkdir -p "$t/jail/app"
cp "$t/inside/server" "$t/jail/app/"
chroot "$t/jail" /app/server & pid=$!
sleep 0.3
record "$t/jail.data" -B
script "$t/jail.data"
grep -q container_work "$t/out" || fail "another root"
stop

# A perf map lies in the container's /tmp, by the pid that counts there.
unshare -mp --fork --kill-child sh \
    -c "mount --bind '$t' /mnt && mount -t tmpfs none /tmp && exec /mnt/jitted" &
outer=$!
sleep 0.5
pid=$(cat "/proc/$outer/task/$outer/children")
pid=${pid%% *}
record "$t/jit.data"
script "$t/jit.data"
grep -q "container_jit (/tmp/perf-$pid.map)" "$t/out" || fail "a perf map in a container"
# Links do not lead out of it: an absolute one would mean a file of ours.
name=$(sed -n 's/^\([0-9a-f]*\)-[0-9a-f]* rwxp 00000000 00:00 0 *$/\1/p' "/proc/$pid/maps" |
    head -n 1)
printf '%s 1000 out_of_the_container\n' "$name" >"$t/outside"
rm "/proc/$pid/root/tmp/perf-1.map"
ln -s "$t/outside" "/proc/$pid/root/tmp/perf-1.map"
script "$t/jit.data"
! grep -q out_of_the_container "$t/out" || fail "a link that leads out of a container"
stop
exit $failed
