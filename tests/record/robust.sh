#!/bin/sh
# SPDX-License-Identifier: MIT
# What goes wrong while recording: a message that says what to do, and what was recorded can be
# read.
. "$SOURCE/tests/record/common.sh"
trap 'umount "$work/small" 2>/dev/null || true; rm -rf "$work"' EXIT

# expect WHAT CODE TEXT COMMAND...: its exit code, and a text on its stderr
expect() {
    what=$1 code=$2 text=$3
    shift 3
    got=0
    timeout 20 "$@" >out 2>err || got=$?
    if [ "$got" != "$code" ] || { [ -n "$text" ] && ! grep -qF -- "$text" err; }; then
        echo "$what: exit code $got, not $code; or no '$text' in:"
        head -5 err
        failed=1
    fi
}
burn='i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done'

expect "the command's exit code" 3 "Captured and wrote" "$PERFDATA" record -e cpu-clock -o a sh \
    -c 'exit 3'
expect "a killed command" 137 "Captured and wrote" "$PERFDATA" record -e cpu-clock -o a sh \
    -c "$burn; kill -9 \$\$"
test "$(samples a)" -gt 0 || { echo "nothing of a killed command"; failed=1; }
expect "no such command" 3 "for the 'nosuch' workload: No such file or directory" "$PERFDATA" \
    record -e cpu-clock -o a nosuch
expect "no such process" 3 "Couldn't create thread/CPU maps: No such process" "$PERFDATA" record \
    -e cpu-clock -o a -p 4194300 true
expect "no such folder" 4 "failed to open nosuch/a : No such file or directory" "$PERFDATA" record \
    -e cpu-clock -o nosuch/a true
expect "no such event" 2 "event syntax error: 'nosuch'" "$PERFDATA" record -e nosuch -o a true
expect "a CPU that is not there" 3 "CPU 99 is not online." "$PERFDATA" record -C 99 -e cpu-clock \
    -o a true
expect "few descriptors" 3 "Hint: Try increasing the limit with 'ulimit -n <limit>'" \
    sh -c "ulimit -n 12; exec '$PERFDATA' record -e cpu-clock,cs,faults,task-clock -o a true"
expect "a full device" 4 "failed to write perf data, error: No space left on device" "$PERFDATA" \
    record -e cpu-clock -o /dev/full true
expect "a full device, asynchronously" 4 \
    "failed to write perf data, error: No space left on device" "$PERFDATA" record \
    --aio -e cpu-clock -o /dev/full true
expect "an option that is not there yet" 2 "--off-cpu" "$PERFDATA" record --off-cpu -e cpu-clock \
    -o a true

# no memory for the names of 65536 files, 32 MiB, where there is some for the rest
if [ -z "${SANITIZE-}" ]; then
    room=16000
    until (ulimit -v $room; "$PERFDATA" record -q --switch-output=signal --switch-max-files=1 \
        -e cpu-clock -o d true 2>/dev/null) ||
        [ $room -gt 400000 ]; do
        room=$((room + 12000))
    done
    expect "no memory for names" 4 "d: no memory for the names of 65536 files" \
        sh -c "ulimit -v $room; exec '$PERFDATA' record -q --switch-output=signal --switch-max-files=65536 -e cpu-clock -o d true"
    grep -q rename err && { echo "a name that is not there is told"; failed=1; }
fi

mkdir small
if mount -t tmpfs -o size=64k none small 2>/dev/null; then
    # 64 KiB hold some 1,900 samples: those of the write that the disk took a part of count
    for how in "" --aio; do
        expect "a full disk" 4 "failed to write perf data, error: No space left on device" \
            "$PERFDATA" record $how -e cpu-clock -c 10000 -o small/a sh \
            -c "i=0; while [ \$i -lt 300000 ]; do i=\$((i + 1)); done"
        test "$(samples small/a)" -gt 500 ||
            { echo "of a full disk too little is left $how: $(samples small/a)"; failed=1; }
        "$PERFDATA" dump --stats -i small/a 2>&1 | grep -qi truncated &&
            { echo "a record is cut $how"; failed=1; }
        rm -f small/a
    done
    expect "a full disk for a thread" 4 \
        "failed to write perf data, error: No space left on device" \
        "$PERFDATA" record --threads -e cpu-clock -c 10000 -o small/b sh \
        -c "i=0; while [ \$i -lt 300000 ]; do i=\$((i + 1)); done"
    test "$(samples small/b)" -gt 500 ||
        { echo "of a full disk too little is left of a thread"; failed=1; }
    umount small
else
    echo "no tmpfs here: the full disk is left out"
fi

# killed: what it had written is there
"$PERFDATA" record -a -e cpu-clock -c 1000000 --no-buffering -o b sh telling 20 >/dev/null 2>&1 &
recorder=$!
begun
sleep 1
kill -9 $recorder
wait $recorder 2>/dev/null || true
test "$(samples b)" -gt 0 || { echo "nothing of a killed recorder"; failed=1; }

# so of each of its threads
rm -rf b
"$PERFDATA" record -a --threads -e cpu-clock -c 1000000 --no-buffering -o b sh telling 20 \
    >/dev/null 2>&1 &
recorder=$!
begun
sleep 1
kill -9 $recorder
wait $recorder 2>/dev/null || true
test "$(samples b)" -gt 0 || { echo "nothing of a killed recorder's directory"; failed=1; }

# interrupted: whole
"$PERFDATA" record -a -e cpu-clock -o c >/dev/null 2>&1 &
recorder=$!
begun c
sleep 1
kill -TERM $recorder
code=0
wait $recorder || code=$?
test $code = 143 || { echo "terminated: $code"; failed=1; }
"$PERFDATA" header -i c | grep -q '^# cmdline' || { echo "no header after a signal"; failed=1; }

# the reader of a pipe goes away
timeout 20 "$PERFDATA" record -a -e cpu-clock -o - sleep 5 2>err | head -c 100 >/dev/null || true
grep -q "Broken pipe" err || { echo "closed pipe:"; cat err; failed=1; }

# a stream is a recording
events=cpu-clock
if grep -Eq ' (tracefs|debugfs) ' /proc/mounts; then
    events=$events,sched:sched_switch
else
    echo "no tracefs is mounted: a stream without tracepoints"
fi
timeout 20 "$PERFDATA" record -a -e "$events" -o - sleep 0.2 2>/dev/null >stream
"$PERFDATA" dump --stats -i stream >out 2>&1 && grep -q SAMPLE out ||
    { echo "a stream:"; head -5 out; failed=1; }

# and is read while it runs
timeout 20 "$PERFDATA" record -a -e cpu-clock -o - sleep 0.5 2>/dev/null |
    timeout 20 "$PERFDATA" script -i - >out 2>err
test "$(wc -l <out)" -gt 0 || { echo "live:"; head -5 err; failed=1; }

# without rights
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null &&
    [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ]; then
    chmod 777 .
    cp "$PERFDATA" ./program
    nobody="setpriv --reuid=65534 --clear-groups"
    expect "all CPUs without rights" 3 \
        "Access to performance monitoring and observability operations is limited." \
        $nobody ./program record -a -e cpu-clock -o d true
    expect "the kernel without rights" 0 "Captured and wrote" $nobody ./program record \
        -e cpu-clock -o e true
    "$PERFDATA" evlist -i e | grep -qx cpu-clock:u ||
        { echo "without rights the kernel is left out"; failed=1; }
    expect "large buffers without rights" 3 \
        "or try again with a smaller value of -m/--mmap_pages." \
        $nobody ./program record -e cpu-clock:u -m 4096 -o f true
fi
exit $failed
