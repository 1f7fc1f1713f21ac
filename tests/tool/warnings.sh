#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 22: what perf 6.1 says on its standard error of what was lost or wrong in a
# recording, in its words (they were taken from perf 6.1, and corpus/stderr compares them with the
# installed one), under both names; --strict fails on them.
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
ln -s "$PERFDATA" "$folder/perf"
cd "$folder" || exit 1
export HOME="$folder" PERF_CONFIG=/dev/null

# recording NAME ATTRIBUTES: a recording of one event with the records on standard input behind two
# samples.
recording() {
    {
        cat <<END
perfdata-text 1
container file order=little header_size=104
attr clock={type=software size=128 $2} ids=[7]
ids clock
attrs
data
record MMAP misc=0x1 {pid=-1 addr=0xffffffff81000000 len=0x1000000 pgoff=0xffffffff81000000 filename="[kernel.kallsyms]_text"}
record COMM {pid=10 tid=10 comm="true" sample_id={pid=10 tid=10 time=1.1s}}
END
        cat
        echo end
    } >"$1.pdt"
    "$PERFDATA" assemble "$1.pdt" -o "$1.data" || exit 1
}

# says NAME VERB...: standard input is what both names say with the recording; --strict ends with an
# error.
says() {
    name=$1
    shift
    cat >expected
    for program in ./perf "$PERFDATA"; do
        "$program" "$@" -i "$name.data" >/dev/null 2>found
        # what is told in words of ours comes besides, and not under perf's name
        [ "$program" = ./perf ] || sed -i '/^perfdata [a-z-]*: /d' found
        cmp -s expected found || { echo "$program $* of $name:"; diff expected found; : >failed; }
    done
    if [ -s expected ] && "$PERFDATA" "$@" --strict -i "$name.data" >/dev/null 2>found; then
        echo "$* --strict of $name: exit 0"
        : >failed
    fi
}

plain='sample_type=IP|TID|TIME|IDENTIFIER flags=sample_id_all'
two='record SAMPLE misc=0x2 {ip=0x401000 pid=10 tid=10 time=1.5s}
record SAMPLE misc=0x2 {ip=0x401000 pid=10 tid=10 time=1.6s}'

recording lost "$plain" <<END
$two
record LOST {id=7 lost=5 sample_id={pid=10 tid=10 time=1.7s}}
record LOST_SAMPLES {lost=1 sample_id={pid=10 tid=10 time=1.7s}}
END
for verb in 'script' 'report --stdio' 'report --stdio -D' 'buildid-list -H'; do
    # shellcheck disable=SC2086
    says lost $verb <<'END'
Warning:
Processed 6 events and lost 1 chunks!

Check IO/CPU overload!

Warning:
Processed 3 samples and lost 33.33%!

END
done
says lost report --stdio -q </dev/null 2>&1 # -q: no warnings
says lost report --stdio --stats </dev/null
says lost evlist </dev/null

# A twentieth of all samples may be lost in silence.
for kept in 37 38; do
    {
        i=0
        while [ $((i += 1)) -le $kept ]; do
            echo 'record SAMPLE misc=0x2 {ip=0x401000 pid=10 tid=10 time=1.5s}'
        done
        echo 'record LOST_SAMPLES {lost=2 sample_id={pid=10 tid=10 time=1.7s}}'
    } | recording lost$kept "$plain"
done
printf 'Warning:\nProcessed 39 samples and lost 5.13%%!\n\n' | says lost37 script
says lost38 script </dev/null

recording aux "$plain" <<END
$two
record AUX {aux_size=16 flags=1 sample_id={pid=10 tid=10 time=1.7s}}
record AUX {aux_size=16 flags=5 sample_id={pid=10 tid=10 time=1.7s}}
record AUX {aux_size=16 flags=8 sample_id={pid=10 tid=10 time=1.7s}}
record AUX {aux_size=16 sample_id={pid=10 tid=10 time=1.7s}}
END
says aux script <<'END'
Warning:
AUX data lost 2 times out of 4!

Warning:
AUX data had gaps in it 1 times out of 4!

Are you running a KVM guest in the background?

Warning:
AUX data detected collision  1 times out of 4!

END

recording late "$plain" <<END
record SAMPLE misc=0x2 {ip=0x401000 pid=10 tid=10 time=1.5s}
record FINISHED_ROUND
record SAMPLE misc=0x2 {ip=0x401000 pid=10 tid=10 time=1.7s}
record FINISHED_ROUND
record SAMPLE misc=0x2 {ip=0x401000 pid=10 tid=10 time=1.8s}
record FINISHED_ROUND
record SAMPLE misc=0x2 {ip=0x401000 pid=10 tid=10 time=1.2s}
END
printf 'Warning:\n1 out of order events recorded.\n' | says late script

recording counters "$plain" <<END
$two
END
sed 's/sample_type=[^ ]*/& read_format=id|group/; s/|IDENTIFIER/|IDENTIFIER|READ/
     s/time=1.[56]s/& read_nr=2 read_values=[5 7 6 99]/' counters.pdt >ids.pdt
"$PERFDATA" assemble ids.pdt -o ids.data || exit 1
printf 'Warning:\n2 samples with id not present in the header\n' | says ids script

recording maps "$plain" <<END
$two
record MMAP2 misc=0x1002 {pid=10 tid=10 addr=0x1000 len=0x1000 filename="//anon" sample_id={pid=10 tid=10 time=1.7s}}
record THREAD_MAP {entries=[{pid=1}]}
record THREAD_MAP {entries=[{pid=1}]}
END
says maps script <<'END'
Warning:
1 map information files for pre-existing threads were
not processed, if there are samples for addresses they
will not be resolved, you may find out which are these
threads by running with -v and redirecting the output
to a file.
The time limit to process proc map is too short?
Increase it by --proc-map-timeout
Extra thread map event, ignoring.
END

# Kernel addresses were hidden from who recorded.
recording hidden "$plain" <<END
record MMAP misc=0x1 {pid=-1 addr=0xffffffff81000000 len=0x1000000 filename="[kernel.kallsyms]_text"}
record SAMPLE misc=0x1 {ip=0xffffffff81000100 pid=10 tid=10 time=1.7s}
END
echo 'ffffffff81000000 T _text' >kallsyms
restricted() {
    printf 'Warning:\nKernel address maps (/proc/{kallsyms,modules}) were restricted.\n\n'
    printf "Check /proc/sys/kernel/kptr_restrict before running 'perf record'.\n\n%s\n\n" "$1"
    printf "Samples in kernel modules can't be resolved as well.\n\n"
}
restricted 'If some relocation was applied (e.g. kexec) symbols may be misresolved.' |
    says hidden report --stdio --kallsyms kallsyms
restricted "As no suitable kallsyms nor vmlinux was found, kernel samples
can't be resolved." | says hidden report --stdio --kallsyms /nonexistent
says hidden script --kallsyms kallsyms </dev/null

# No table of the recorded kernel is at hand.
recording other "$plain" <<END
record MMAP2 misc=0x4001 {pid=-1 addr=0xffffffff81000000 len=0x1000000 pgoff=0xffffffff81000000 build_id_size=20 build_id=x"000102030405060708090a0b0c0d0e0f10111213" filename="[kernel.kallsyms]_text" sample_id={pid=-1 tid=0 time=1s}}
record SAMPLE misc=0x1 {ip=0xffffffff81000100 pid=10 tid=10 time=1.7s}
END
echo 'No kallsyms or vmlinux with build-id 000102030405060708090a0b0c0d0e0f10111213 was found' |
    says other script

# refused WORDS VERB...: perf's words where nothing can be read, under its name.
refused() {
    words=$1
    shift
    ./perf "$@" </dev/null >out 2>found
    [ "$(cat found)" = "$words" ] || { echo "perf $*: $(cat found)"; : >failed; }
}
echo junk >junk
: >empty
refused "failed to open perf.data: No such file or directory  (try 'perf record' first)" script
refused 'failed to open gone: No such file or directory' script -i gone
refused 'zero-sized data (empty), nothing to do!' script -i empty
refused 'incompatible file format (rerun with -v to learn more)' report -i junk
# A tracepoint of which the file has no format, as perf stat records them; perfdata reads the rest.
sed 's/type=software/type=tracepoint config=0x174/' lost.pdt | "$PERFDATA" assemble - -o point.data
refused 'incompatible file format (rerun with -v to learn more)' script -i point.data
refused 'incompatible file format (rerun with -v to learn more)' report --header-only -i point.data
[ "$("$PERFDATA" script -F ip -i point.data 2>/dev/null | wc -l)" -eq 2 ] || : >failed
"$PERFDATA" script 2>&1 </dev/null | grep -q "try 'perfdata record' first" || : >failed
# What was lost is told before the reason why there is nothing to show.
recording only-lost "$plain" <<END
record LOST {id=7 lost=5 sample_id={pid=10 tid=10 time=1.7s}}
END
for program in ./perf "$PERFDATA"; do
    "$program" report --stdio -i only-lost.data 2>&1 >/dev/null |
        sed -n '/lost 1 chunks/p; /has no samples/q' | grep -q lost ||
        { echo "$program: warnings behind the end"; : >failed; }
done
recording none "$plain" </dev/null
refused "Error:
The none.data data has no samples!" report --stdio -i none.data
# Chains that were asked for, of switches that have none: nothing is wrong with the recording.
for options in '' '-s' '-I --strict'; do
    # shellcheck disable=SC2086
    "$PERFDATA" sched timehist -i "$SOURCE/tests/data/verbs/sched.data" $options >/dev/null 2>said ||
        { echo "sched timehist $options: exit $?"; : >failed; }
    [ "$(cat said)" = 'Samples do not have callchains.' ] ||
        { echo "sched timehist $options says: $(cat said)"; : >failed; }
done
"$PERFDATA" sched timehist -i "$SOURCE/tests/data/verbs/sched.data" --no-call-graph 2>said >/dev/null
[ ! -s said ] || { echo 'chains that nobody asked for are missed'; : >failed; }
# perf tells what the first sample lacks before it looks for symbols of the next one.
# Its kernel is made one that no machine has.
LC_ALL=C sed 's/\x48\xdc\x54\x0c\x8b\x76/\x48\xdc\x54\x0c\x8b\x77/' \
    "$SOURCE/tests/data/demo/spin.data" >spin.data
"$PERFDATA" c2c report --stdio -i spin.data 2>&1 >/dev/null |
    cut -c1-27 >said
printf '%s\n' 'WARNING: no sample cpu valu' 'No kallsyms or vmlinux with' | cmp -s - said ||
    { echo 'c2c report says:'; cat said; : >failed; }
# What corpus/stderr leaves out is told in the documents, line by line.
sed -n '/^NOT_SAID/,/^)/s/^ *r"\([^\\(]*\).*/\1/p; s/^NO_SYMBOLS.*r"\([^\[(]*\).*/\1/p' \
    "$SOURCE/tests/corpus/stderr.py" >left-out
[ "$(wc -l <left-out)" -ge 4 ] || { echo 'no lines found in stderr.py'; : >failed; }
while IFS= read -r words; do
    grep -q "^| \`$words" "$SOURCE/docs/differences-from-perf.md" ||
        { echo "'$words' is not in the documents"; : >failed; }
done <left-out
[ ! -e failed ]
