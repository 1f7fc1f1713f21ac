#!/bin/sh
# SPDX-License-Identifier: MIT
# What happens while a recording runs: switched output, overwritten buffers, commands, limits,
# streams.
. "$SOURCE/tests/record/common.sh"

wrong() {
    echo "$1"
    test ! -s err || head -5 err
    failed=1
}
record() {
    timeout 30 "$PERFDATA" record "$@" >out 2>err
}
burn='i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done'

# by size: each file is whole and only so many stay
record -e cpu-clock -c 100000 --switch-output=4K --switch-max-files=3 -m 1 -o a sh -c "$burn" ||
    wrong "switched by size"
test "$(ls a.2* | wc -l)" = 3 || wrong "$(ls a.2* | wc -l) files, not 3"
for file in a.2*; do
    "$PERFDATA" header -i "$file" | grep -q '^# cmdline' || wrong "$file has no header"
    "$PERFDATA" check "$file" >/dev/null 2>&1 || test $? -le 1 || wrong "$file is damaged"
done

# more often than names by hundredths of a second tell apart: none is lost
record -e cpu-clock -c 20000 --switch-output=4K -m 1 -o aa sh -c "$burn" || wrong "switched often"
told=$(grep -c "Dump aa.2" err)
test "$told" -gt 10 || wrong "switched $told times only"
test "$(ls aa.2* | wc -l)" = "$told" || wrong "$(ls aa.2* | wc -l) files of $told"

# by signal
"$PERFDATA" record -a -e cpu-clock -F 200 --switch-output -o b sh telling 2 >out 2>err &
recorder=$!
begun
sleep 1
kill -USR2 $recorder
wait $recorder || wrong "switched by signal"
test "$(ls b.2* | wc -l)" = 2 || wrong "$(ls b.2* | wc -l) files, not 2"
for file in b.2*; do
    test "$(samples "$file")" -gt 0 || wrong "$file has no samples"
done

# by an event of another kind: the file that was written when a program was started
if grep -Eq ' (tracefs|debugfs) ' /proc/mounts; then
    record -e cpu-clock --switch-output-event sched:sched_process_exec -o bb sh \
        -c '/bin/true; sleep 0.3; /bin/true; sleep 0.3' ||
        wrong "switched by an event"
    test "$(ls bb.2* | wc -l)" -ge 3 || wrong "switched by an event: $(ls bb.2* | wc -l) files"
else
    echo "no tracefs is mounted: --switch-output-event is not tried"
fi
record -e cpu-clock --switch-output-event cs -o bc true &&
    grep -q "WARNING: cs gives no samples" err ||
    wrong "--switch-output-event cs: no warning"
record -e cpu-clock --switch-output-event nosuch -o bd true && wrong "--switch-output-event nosuch"

# the newest of a small buffer, and what runs, at the end
record -a --overwrite -e cpu-clock -c 100000 -m 1 -o c sleep 0.5 || wrong "overwritten"
test "$(samples c)" -gt 10 || wrong "overwritten: $(samples c) samples"
"$PERFDATA" dump --stats -i c | grep -q MMAP2 || wrong "overwritten: no maps"

# commands
mkfifo ctl ack
exec 9<>ack # an answer stays there though its writer has gone
"$PERFDATA" record -a -D -1 -e cpu-clock -o d --control fifo:ctl,ack sleep 20 >out 2>err &
recorder=$!
sleep 0.5
for command in enable ping disable stop; do
    echo $command >ctl
    test "$(timeout 5 head -n 1 <&9)" = ack || wrong "$command is not acknowledged"
    sleep 0.2
done
wait $recorder || test $? = 143 || wrong "stopped: $?"
printf 'Events disabled\nEvents enabled\nEvents disabled\n' >wanted
head -n 3 err | cmp -s - wanted || wrong "what it said"
test "$(samples d)" -gt 0 || wrong "commands: no samples"

# events count for spans of time
record -a -e cpu-clock -D 100-200,300-400 -o dd sleep 0.6 || wrong "spans"
printf 'Events disabled\nEvents enabled\nEvents disabled\nEvents enabled\nEvents disabled\n' >wanted
head -n 5 err | cmp -s - wanted || wrong "spans: what it said"
"$PERFDATA" script -i dd -F cpu,time --ns 2>/dev/null |
    awk '{ t = $2 + 0; if (last[$1] && t - last[$1] > 0.05) gaps[$1]++; last[$1] = t }
    END { for (cpu in gaps) most = gaps[cpu] > most ? gaps[cpu] : most; exit most < 1 }' ||
        wrong "spans: no gap"
for spans in 10- 20-10 10-20,15-30 10-20, x-5; do
    record -e cpu-clock -D $spans -o dx true && wrong "-D $spans"
    grep -q "$spans" err || wrong "-D $spans: no word"
done

# control groups
says() {
    record -e cpu-clock "$@" -o dy true && wrong "$*: no error"
    grep -q "$text" err || wrong "$*: not $text"
}
text="no access to cgroup" says -a -G perfdata-no-such
if grep -Eq ' cgroup2? ' /proc/mounts; then
    text="cgroup monitoring only available in system-wide mode" says -G /
    text="more cgroups than events" says -a -G /,/
else
    echo "no control groups are mounted: -G / is not tried"
fi
record -a -G / -e cpu-clock -o dz true 2>err && wrong "-G first"
grep -q "must define events before cgroups" err || wrong "-G first"

# a limit, names with the time, times without build-ids
record -e cpu-clock -c 10000 --max-size 20K -o e sh -c "$burn; $burn; sleep 5" || test $? = 143 ||
    wrong "max-size: $?"
grep -q "perf size limit reached" err || wrong "max-size"
record -e cpu-clock --timestamp-filename -o f true && ls f.2* >/dev/null ||
    wrong "timestamp-filename"
record -e cpu-clock -c 100000 -B --timestamp-boundary -o g sh -c "$burn" ||
    wrong "timestamp-boundary"
"$PERFDATA" header -i g | grep -q '^# time of first sample : [1-9]' || wrong "no times"
record --dry-run -e cpu-clock -o h true && test ! -e h || wrong "dry-run"

# a directory, written by threads; what was there is kept once
for how in "" =numa =0/1:1/0; do
    record --threads$how -a -e cpu-clock -c 100000 -o k sleep 0.3 || wrong "--threads$how"
    test -s k/data.0 && test "$(samples k)" -gt 10 || wrong "--threads$how: $(samples k) samples"
done
test "$(ls -d k*)" = "$(printf 'k\nk.old')" && test -s k.old/data.0 ||
    wrong "--threads: $(ls -d k*)"
"$PERFDATA" check k >out 2>&1 || test $? -le 1 || wrong "--threads: damaged"
record --threads -a -e cpu-clock -c 10000 --max-size 100K -o k sleep 10 || test $? = 143 ||
    wrong "--threads, max-size: $?"
grep -q "perf size limit reached" err || wrong "--threads: max-size"
for how in =bogus =0/ =0/0:0/1; do
    record --threads$how -a -e cpu-clock -o l true && wrong "--threads$how"
    grep -q "Failed to initialize parallel data streaming masks" err ||
        wrong "--threads$how: no word"
    test ! -e l || wrong "--threads$how: a recording"
done

# maps with their build-ids; what runs already at the end; large pieces; on the CPU of the buffer
# (not of all CPUs: the kernel would mark maps of other tests' recordings, of which perf dies)
record --buildid-mmap -e cpu-clock -o m true || wrong "--buildid-mmap"
test ! -r /sys/kernel/notes || "$PERFDATA" dump -i m | grep -q 'MMAP2 .*kernel, mmap_build_id' ||
    wrong "--buildid-mmap: the kernel has none"
"$PERFDATA" dump -i m | grep -q 'MMAP2 .*user, mmap_build_id' ||
    wrong "--buildid-mmap: the programs have none"
record --tail-synthesize -e cpu-clock -a -o n sleep 0.1 || wrong "--tail-synthesize"
"$PERFDATA" dump -i n | sed -n 's/^0x[0-9a-f]* \([A-Z_0-9]*\) .*/\1/p' >kinds
test "$(grep -n SAMPLE kinds | head -1 | cut -d : -f 1)" -lt "$(grep -n THREAD_MAP kinds | head -1 |
    cut -d : -f 1)" ||
    wrong "--tail-synthesize: not at the end"
# (so much does not come together: all is read at the end, one round)
record --mmap-flush 64K -e cpu-clock -F 200 --no-buffering -o o sh -c "$burn" ||
    wrong "--mmap-flush"
test "$("$PERFDATA" dump -i o | grep -c FINISHED_ROUND)" -le 2 ||
    wrong "--mmap-flush: more than one round"
record --num-thread-synthesize 3 -e cpu-clock -a -o q true || wrong "--num-thread-synthesize"
"$PERFDATA" dump -i q | grep -q "MMAP2.*user" || wrong "--num-thread-synthesize: no maps"
record --proc-map-timeout 0 -e cpu-clock -a -o q true || wrong "--proc-map-timeout"
grep -q "maps time out. You may want to increase the time limit by --proc-map-timeout" err ||
    wrong "--proc-map-timeout 0"
for where in cpu node sys; do
    record --affinity $where -e cpu-clock -a -o p sleep 0.1 || wrong "--affinity $where"
done
record --affinity x -e cpu-clock -o p true && wrong "--affinity x"
set --
if chrt -f 1 true 2>/dev/null; then set -- -r 1; else echo "no priorities here: -r is not tried"; fi
"$PERFDATA" record "$@" --affinity cpu -e cpu-clock -a -o p sh telling 1 >out 2>err &
recorder=$!
begun
sleep 0.5
grep -q '^Cpus_allowed_list:[^0-9]*[0-9]*$' /proc/$recorder/status ||
    wrong "--affinity cpu: on more CPUs than one"
test $# = 0 || test "$(cut -d ' ' -f 40,41 /proc/$recorder/stat)" = '1 1' ||
    wrong "-r 1: not with this priority"
wait $recorder || wrong "--affinity cpu $*"

# written by another thread
for how in "" =4 "=2 -z"; do
    record --aio$how -a -e cpu-clock -c 20000 -o r sh -c "$burn" || wrong "--aio$how"
    test "$(samples r)" -gt 100 || wrong "--aio$how: $(samples r) samples"
    "$PERFDATA" check r >/dev/null 2>&1 || test $? -le 1 || wrong "--aio$how: damaged"
done
timeout 30 "$PERFDATA" record --aio=2 -a -e cpu-clock -c 100000 -o - sleep 0.3 2>err >s
"$PERFDATA" dump --stats -i s | grep -q SAMPLE || wrong "--aio: a stream without samples"
record --aio=x -e cpu-clock -o r true && wrong "--aio=x"

# compressed, and a stream of it
record -z -a -e cpu-clock -c 100000 -o i sleep 0.3 || wrong "compressed"
test "$(samples i)" -gt 10 && grep -q "compressed (original" err ||
    wrong "compressed: $(samples i) samples"
timeout 30 "$PERFDATA" record -z -a -e cpu-clock -c 100000 -o - sleep 0.3 2>err >j ||
    wrong "compressed stream"
"$PERFDATA" dump --stats -i j | grep -q SAMPLE || wrong "compressed stream: no samples"
exit $failed
