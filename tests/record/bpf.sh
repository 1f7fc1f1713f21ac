#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs of BPF that are loaded: their symbols as records, what the header says of them; as perf
# says it.
. "$SOURCE/tests/record/common.sh"

$CC -o load "$SOURCE/tests/record/load_bpf.c" || exit 1
mkfifo hold
load() {
    rm -f said
    ./load <hold >said &
    exec 8>hold
    for i in $(seq 50); do
        test ! -s said || break
        sleep 0.2
    done
    grep -qsx ready said
}
if ! load; then
    echo "no program of BPF can be loaded here:"
    head -3 said
    exit 77
fi
wrong() {
    echo "$1"
    failed=1
}
described() {
    "$PERFDATA" header -i "$1" | sed -n '/^# bpf_prog_info/p; /^# \tsub_prog/p; /^# btf/p'
}

"$PERFDATA" record -q -a -e cpu-clock -o a true
described a >found
for name in 'pd_one addr' 'main_fn addr' 'sub_fn addr' '_F addr'; do
    grep -q "$name" found || wrong "the header does not tell of $name"
done
for name in pd_one main_fn sub_fn F; do
    "$PERFDATA" script --show-bpf-events -i a 2>/dev/null |
        grep -q "PERF_RECORD_KSYMBOL.* bpf_prog_[0-9a-f]*_$name" ||
        wrong "no symbol of $name"
done
"$PERFDATA" script --show-bpf-events -i a 2>/dev/null |
    grep -q 'PERF_RECORD_BPF_EVENT type 1, flags 0, id ' || wrong "no BPF_EVENT"
"$PERFDATA" check a >out 2>&1 || test $? -le 1 || wrong "damaged"

# a stream has them, too; without such records nothing is said of programs, but of their symbols
"$PERFDATA" record -q -a -e cpu-clock -o - true >b
described b | cmp -s - found || wrong "a stream's header tells something else"
"$PERFDATA" record -q -a --no-bpf-event -e cpu-clock -o c true
! described c | grep -q bpf_prog || wrong "--no-bpf-event: programs are described"
"$PERFDATA" script --show-bpf-events -i c >out 2>/dev/null || true
grep -q KSYMBOL out && ! grep -q BPF_EVENT out || wrong "--no-bpf-event: what it has"

if command -v perf >/dev/null; then
    for options in -a -B "-a --no-bpf-event" "-a --synth no" --per-thread "-a --all-cgroups"; do
        PERF_CONFIG=/dev/null perf record -q -o theirs -e cpu-clock $options true >/dev/null 2>&1
        "$PERFDATA" record -q -o ours -e cpu-clock $options true
        for file in theirs ours; do
            perf report -D -i $file 2>/dev/null |
                sed -n 's/.*\(PERF_RECORD_[KB][SP][YF][^ ]* [a-z].*\)/\1/p' >$file.text
            perf report --header-only -I -i $file 2>/dev/null |
                sed -n '/bpf_prog_/p; /^# btf/p' >>$file.text
        done
        cmp -s theirs.text ours.text ||
            { wrong "$options: not what perf says"; diff theirs.text ours.text | head -5; }
    done
else
    echo "no perf here: not compared"
fi

# loaded while it records
exec 8>&-
wait
"$PERFDATA" record -q -a -e cpu-clock -o d sh telling 6 &
recorder=$!
begun
load || wrong "cannot be loaded again"
wait $recorder
described d | grep -q 'pd_one addr' || wrong "a program that was loaded meanwhile is not described"
exec 8>&-
exit $failed
