#!/bin/sh
# SPDX-License-Identifier: MIT
# pprof and otlp can be written in parts, so that memory is bounded whatever stacks there are. Parts
# of any length add up to the whole, with the same bytes for 1, 2 and 8 threads; workers that begin
# anew after a few stacks change nothing at all.
set -u
export LC_ALL=C.UTF-8 PERF_CONFIG=/dev/null TZ=UTC
parts=$1
command -v python3 >/dev/null || { echo 'skipped: no python3'; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0 count=0 more=0

fail() {
    echo "$name, $format, detail $detail, group $group: $*"
    failed=1
}

# THREADS NUMBERED STACKS FRAMES FILE
export_it() {
    # shellcheck disable=SC2086
    "$parts" "$name" $format $detail $group "$1" "$2" "$3" "$4" "$symfs" "$kallsyms" $itrace \
        >"$5" 2>"$work/log" || fail "fails: $(cat "$work/log")"
}

one() {
    format=$1 detail=$2 group=$3
    export_it 1 0 0 0 "$work/whole"
    for threads in 1 8; do
        export_it $threads 3 1000000 1000000 "$work/anew"
        cmp -s "$work/whole" "$work/anew" || fail "differs where workers begin anew"
    done
    for bounds in '5 1 1' '40 60 50' '1000 30 1000000'; do
        for threads in 1 2 8; do
            # shellcheck disable=SC2086
            export_it $threads $bounds "$work/$threads"
            cmp -s "$work/1" "$work/$threads" || fail "differs with $threads threads, $bounds"
        done
        messages=$(python3 "$SOURCE/tests/profile/parts.py" "$format" "$work/whole" "$work/1" \
            2>"$work/log") || fail "bounds $bounds: $(tail -1 "$work/log")"
        count=$((count + 1))
        # shellcheck disable=SC2086
        set -- ${messages:-0 0}
        [ "$2" -le "$1" ] || more=$((more + 1))
    done
}

# RECORDING SYMFS KALLSYMS [ITRACE]
compare() {
    name=$1 symfs=$2 kallsyms=$3 itrace=${4-}
    for how in '2 0' '0 2' '1 3'; do
        # shellcheck disable=SC2086
        one pprof $how
        # shellcheck disable=SC2086
        one otlp $how
    done
}

# The event that only exists for its sideband records has no column in parts, and no sample of it is
# lost in silence. N: how many samples it has, behind all others.
late() {
    awk -v late="$1" '
    function sample(id, ip) { printf "record SAMPLE misc=0x2 {identifier=%d ip=0x%x pid=1 tid=1 time=1.%09ds period=3}\n", id, ip, now++ }
    BEGIN {
        print "perfdata-text 1"
        print "container file order=little header_size=104"
        print "attr cpu-clock={type=software size=128 sample_period=3 sample_type=IDENTIFIER|IP|TID|TIME|PERIOD flags=sample_id_all} ids=[7]"
        print "attr dummy={type=software config=9 size=128 sample_period=3 sample_type=IDENTIFIER|IP|TID|TIME|PERIOD flags=sample_id_all} ids=[8]"
        print "ids cpu-clock\nids dummy\nattrs\ndata"
        for (i = 0; i < 100; i++)
            sample(7, 4096 * (i + 1))
        for (i = 0; i < late; i++)
            sample(8, 4096)
        print "end\nfeatures\n"
    }' >"$work/late.pdt"
    "$PERFDATA" assemble "$work/late.pdt" -o "$work/late.data" || failed=1
    "$parts" "$work/late.data" pprof 2 0 1 5 10 10 / '' >"$work/late" 2>"$work/log"
}
name=late format=pprof detail=2 group=0
late 0 || fail "$(cat "$work/log")"
"$parts" "$work/late.data" pprof 2 0 1 0 0 0 / '' >"$work/whole"
messages=$(python3 "$SOURCE/tests/profile/parts.py" pprof "$work/whole" "$work/late") || failed=1
[ "${messages% * *}" = '100 100' ] || fail "samples: $messages"
python3 -c 'import gzip, sys; sys.exit(b"dummy" in gzip.open(sys.argv[1]).read())' "$work/late" ||
    fail 'there is a column of dummy'
late 1 && fail 'a late sample of dummy is lost'
grep -q "event 'dummy.*' has samples late" "$work/log" ||
    fail "of a late sample: $(cat "$work/log")"

demo=$SOURCE/tests/data/demo
compare "$demo/spin.data" "$demo/symfs" "$demo/symfs/kallsyms"
compare "$demo/shapes.data" "$demo/symfs" "$demo/symfs/kallsyms"
if [ -n "${PERFDATA_CORPUS-}" ]; then
    own=$PERFDATA_CORPUS/own
    for each in inline dwarf-cpp kernel-callchains forkexec threads multi-event; do
        compare "$own/rec/$each.data" "$own/symfs" "$own/symfs/kallsyms"
    done
    compare "$PERFDATA_CORPUS/own-pt/rec/c_dyn.data" "$PERFDATA_CORPUS/own-pt/symfs" '' i10usg
fi
[ $more -gt $((count / 4)) ] || fail "only $more of $count exports have more messages"
echo "$count exports in parts, $more with more samples than the whole"
exit $failed
