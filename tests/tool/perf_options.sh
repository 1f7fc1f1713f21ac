#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, points 25 and 26: options of perf's that belong to its interactive report or annotated
# code are taken with perf's syntax, their values checked, and leave the text as it is; colours, the
# order of the file, options before the verb, version --build-options; what perf says of a CPU that
# is not there. Compared with the installed perf 6.1 where there is one.
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
ln -s "$PERFDATA" "$folder/perf"
data=$SOURCE/tests/data
cd "$folder" || exit 1
export HOME=/nonexistent PERF_CONFIG=/dev/null
unset PERF_EXEC_PATH PERF_PAGER PAGER
failed=0
perf=$(command -v perf) && "$perf" --version | grep -q 'version 6\.1\.' || perf=
complain() { echo "$*"; failed=1; }

# like_perf OPTIONS: text and exit code of report are perf's. perf draws its tips by chance.
like_perf() {
    for recording in report/calls demo/shapes report/group-read; do
        "$folder/perf" report --stdio -i "$data/$recording.data" "$@" >found 2>said </dev/null
        code=$?
        [ -n "$perf" ] || continue
        "$perf" report --stdio -i "$data/$recording.data" "$@" >expected 2>perf-said </dev/null
        wanted=$?
        [ $code -eq $wanted ] || complain "report $*: exit $code, perf $wanted"
        grep -v '^# (' expected >a
        grep -v '^# (' found >b
        cmp -s a b || { complain "report $*: not as perf ($recording)"; diff a b | head -4; }
    done
}
# same OPTIONS: as without them.
same() {
    like_perf "$@"
    "$PERFDATA" report --stdio -i "$data/report/calls.data" >plain 2>/dev/null
    "$PERFDATA" report --stdio -i "$data/report/calls.data" "$@" >found 2>said ||
        complain "report $*: exit $?: $(cat said)"
    cmp -s plain found || complain "report $*: another text"
}
same --objdump /nonexistent
same --objdump=
same --source
same --no-source
same --asm-raw
same --no-asm-raw
same -M intel
same -Mintel
same --disassembler-style=att
same --prefix /x
same --prefix /x --prefix-strip 2
same --percent-type local-period
same --percent-type=global-hits
same --percent-type hits-local
same -m
same --modules
same --pretty raw
same --samples 10
same --no-samples
same --disable-order
same --stdio-color never
same --stdio-color auto
same --stdio-color=
for wrong in '--percent-type local' '--percent-type GLOBAL-hits' '--percent-type=' \
    '--percent-type hits' '--samples x' \
    '--samples 0x10' '--prefix-strip 2' '--objdump' '-M'; do
    name=${wrong%%[ =]*}
    [ "$name" = -M ] && name=--disassembler-style
    # shellcheck disable=SC2086
    like_perf $wrong
    # shellcheck disable=SC2086
    "$PERFDATA" report --stdio -i "$data/report/calls.data" $wrong >found 2>said
    [ $? -eq 2 ] && [ ! -s found ] && grep -q -e "$name" said ||
        complain "report $wrong: taken, or not told"
done
"$PERFDATA" report --stdio -i "$data/report/calls.data" --no-modules >found 2>said
[ $? -eq 2 ] && grep -q -- --no-modules said || complain '--no-modules is not refused'

like_perf --stdio-color always
like_perf --stdio-color
like_perf -D --time 10%-40%
like_perf -D -C 0
like_perf -D -U
like_perf --stats --comms calls
like_perf --tasks --dsos calls -S main
like_perf --stdio-color=always --hierarchy -s comm,dso
like_perf --hierarchy -w 12,3 -g none -s comm,sym
like_perf --stdio-color=always -t , --no-children
like_perf --stdio-color=always -g fractal --children
like_perf --stdio-color xx
"$PERFDATA" report --stdio -i "$data/report/calls.data" --stdio-color always >found 2>said
escape=$(printf '\033')
grep -q "$escape\[31m   8.38%$escape\[m" found || complain 'no colour'
sed "s/$escape\[[0-9]*m//g" found | cmp -s - plain || complain 'colours change more than colours'

# The order of the file is one of -D only, as perf's.
"$PERFDATA" report -D --disable-order -i "$data/report/group-read.data" >found 2>/dev/null
"$PERFDATA" script --dump-unsorted-raw-trace -i "$data/report/group-read.data" 2>/dev/null |
    grep -o '^[0-9]* *0x[0-9a-f]* ' >expected
"$PERFDATA" report -D -i "$data/report/group-read.data" 2>/dev/null |
    grep -o '^[0-9]* *0x[0-9a-f]* ' >sorted
grep -o '^[0-9]* *0x[0-9a-f]* ' found | cmp -s - expected ||
    complain '--disable-order is not the order of the file'
cmp -s sorted expected && complain 'the recording lies sorted: nothing was shown'

# --no-itrace holds wherever it stands, as with perf.
for options in '--no-itrace --itrace=b' '--insn-trace --no-itrace' '--no-itrace --call-trace'; do
    "$PERFDATA" script $options -i "$data/itrace/t_jit.data" --symfs "$data/itrace/symfs" >found 2>said
    [ -s found ] && complain "$options decodes the trace"
done

# What there is nothing of has its lines of zeros, but not the types that perf 6.1 does not know.
"$PERFDATA" report --stats --no-skip-empty -i "$data/report/group-read.data" >found 2>/dev/null
for line in '            LOST events:          0  ( 0.0%)' 'AUX_OUTPUT_HW_ID events:          0  ( 0.0%)' \
    '      EVENT_TYPE events:          0  ( 0.0%)' '   FINISHED_INIT events:          1  ( 3.3%)'; do
    grep -qxF "$line" found || complain "--stats --no-skip-empty lacks '$line'"
done
[ "$(grep -c ' events: .*%)$' found)" = 40 ] || complain '--stats --no-skip-empty has other types'

# A time that cannot be read ends each verb as perf's.
for line in '255 kwork report' '255 kwork timehist' '234 sched timehist'; do
    "$folder/perf" ${line#* } --time 1,x -i "$data/verbs/sched.data" >found 2>said
    code=$?
    [ $code = "${line%% *}" ] || complain "${line#* } --time 1,x ends with $code"
done

# Reports that are refused: chains of branches where there are neither, branches of a trace
# together with accesses to memory.
"$PERFDATA" report --stdio --branch-history -g none -i "$data/report/group-read.data" >found 2>said &&
    complain '--branch-history -g none needs no chains'
grep -q 'But no callchain or branch data' said || complain '--branch-history -g none: no reason'
"$PERFDATA" report --stdio --mem-mode --itrace=il -i "$data/itrace/t_jit.data" >found 2>said &&
    complain '--mem-mode goes with branches of a trace'
grep -q 'branch and mem mode incompatible' said || complain '--mem-mode --itrace=il: no reason'

# A stream is dumped and counted at once, since it cannot be read twice.
for options in '' '-U' '--no-skip-empty'; do
    "$PERFDATA" report -D $options -i "$data/report/calls-pipe.data" >expected 2>/dev/null
    cat "$data/report/calls-pipe.data" | "$PERFDATA" report -D $options -i - >found 2>said ||
        complain "report -D $options of a stream: $(head -n 1 said)"
    cmp -s found expected || complain "report -D $options of a stream is not that of a file"
    grep -q '^Aggregated stats:' found || complain "report -D $options has no counts"
done

# Nothing is put in order then, so nothing is said of records that cannot be.
for options in 'report -D --disable-order' 'script --dump-unsorted-raw-trace'; do
    "$PERFDATA" $options -i "$data/verbs/stat-percpu.data" 2>/dev/null | grep -q WARNING &&
        complain "$options warns of an order that it does not make"
done
for options in 'report -D' 'script -D'; do
    "$PERFDATA" $options -i "$data/verbs/stat-percpu.data" 2>/dev/null | grep -q WARNING ||
        complain "$options does not warn of records that it cannot put in order"
done

# Called as perf, a CPU that is not there is told in perf's lines.
for cpu in 99 5000 x; do
    "$folder/perf" report --stdio -C $cpu -i "$data/demo/shapes.data" >found 2>said
    code=$?
    [ "$(tail -n 2 said)" = "$(printf 'Error:\nfailed to set cpu bitmap')" ] ||
        { complain "-C $cpu:"; cat said; }
    [ -n "$perf" ] || continue
    "$perf" report --stdio -C $cpu -i "$data/demo/shapes.data" >expected 2>perf-said
    [ $? -eq $code ] || complain "-C $cpu: exit $code"
    cmp -s expected found || complain "-C $cpu: another text"
    cmp -s perf-said said || { complain "-C $cpu: not perf's words"; diff perf-said said; }
done

# global WHAT...: standard output and exit code are perf's.
global() {
    "$folder/perf" "$@" >found 2>said </dev/null
    code=$?
    [ -n "$perf" ] || return
    "$perf" "$@" >expected 2>perf-said </dev/null
    wanted=$?
    [ $code -eq $wanted ] || complain "perf $*: exit $code, perf $wanted: $(cat said)"
    cmp -s expected found || { complain "perf $*: not as perf"; diff expected found | head -4; }
}
input=$data/report/calls.data
global -p evlist -i "$input"
global --paginate evlist -i "$input"
global -p --no-pager evlist -i "$input"
global --exec-path
global --exec-path=/x --exec-path
global --exec-path=/x evlist -i "$input"
global --html-path
global --html-path evlist
global --buildid-dir
global --buildid-dir /x evlist -i "$input"
global --buildid-dir=/x evlist -i "$input"
global --debugfs-dir
global --debugfs-dir /x evlist -i "$input"
global --debugfs-dir=/x evlist -i "$input"
global --debug
global --debug verbose=0 evlist -i "$input"
global --debug ordered-events,stderr=5 evlist -i "$input"
global --debug nonsense evlist -i "$input"
global --debug=verbose evlist -i "$input"
global --nonsense
global -vvv
"$PERFDATA" --debugfs-dir /x record -o out.data true 2>said &&
    complain '--debugfs-dir of record is ignored'

# Called as perf, trace refuses two ways to say what to record, each pair by a code of its own.
for pair in '240 -p 1 -C 0' '241 -u root -t 1' '242 -u root -C 0' '243 -a -p 1' '244 -a -u root' \
    '251 -u -1' '250 -u nobody-here' '0 -u root' '0 -a -C 0'; do
    # shellcheck disable=SC2086
    global trace -i "$data/verbs/trace.data" ${pair#* }
    [ $code -eq "${pair%% *}" ] || complain "trace ${pair#* }: exit $code"
done

# Of two things that are wrong, report tells the one that perf tells.
for wrong in '-b --time x' '-b -C 99' '--mem-mode --time x' '-p ( -x' '--ignore-callees ( -p (' \
    '-g nonsense -b' '-s parent --time x' '-S work -C 99' '--comms shapes --mem-mode'; do
    # shellcheck disable=SC2086
    global report --stdio -i "$data/demo/shapes.data" $wrong
done

# --debug verbose=N is -v N times.
"$PERFDATA" report --stdio -v -i "$input" >expected 2>/dev/null
"$PERFDATA" --debug verbose=1 report --stdio -i "$input" >found 2>/dev/null
cmp -s expected found && ! cmp -s plain found || complain '--debug verbose is not -v'

for command in '-vv' 'version --build-options'; do
    # shellcheck disable=SC2086
    "$folder/perf" $command >found || complain "$command: exit $?"
    grep -q '^perf version ' found && grep -q '^ *dwarf: \[ on  \]  # HAVE_DWARF_SUPPORT$' found &&
        grep -q '^ *libbfd: \[ OFF \]  # HAVE_LIBBFD_SUPPORT$' found ||
        complain "$command: $(cat found)"
done

# A pager on a terminal, and only there.
"$PERFDATA" -p evlist -i "$input" >expected
PERF_PAGER='sed s/^/paged:/' "$PERFDATA" -p evlist -i "$input" | cmp -s expected - ||
    complain 'paged into a pipe'
if command -v script >/dev/null; then
    PERF_PAGER='sed s/^/paged:/' script -qec "$PERFDATA -p evlist -i $input" /dev/null </dev/null |
        grep -q '^paged:cycles' ||
        complain '-p does not page on a terminal'
    PERF_PAGER='sed s/^/paged:/' script -qec "$PERFDATA evlist -i $input" /dev/null </dev/null |
        grep -q '^paged:' &&
        complain 'paged unasked'
fi
exit $failed
