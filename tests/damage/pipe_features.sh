#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 8: HEADER_FEATURE records of a pipe that do not parse. check says so of the pipe,
# as it does of a file with such features, and repair leaves them out: check has nothing to say of
# what it wrote, be it a file or a pipe again.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

complain() {
    echo "$*"
    failed=$((failed + 1))
}

# One whole feature, then one that ends too early: at once, or behind a sample, where it is met only
# while reading.
make() {
    echo 'perfdata-text 1'
    echo 'container pipe order=little'
    echo 'record HEADER_ATTR as=cpu-clock {attr={type=software size=128 sample_period=1000000 sample_type=IP|TID|TIME flags=sample_id_all|mmap2|comm|task} ids=[7]}'
    [ "$2" = late ] && echo 'record SAMPLE misc=0x2 {ip=0x410 pid=10 tid=10 time=1s}'
    echo 'record HEADER_FEATURE {feat_id=ARCH payload={text="x86_64"}}'
    echo "record HEADER_FEATURE {feat_id=$1 unread=x\"ffffff7fffffff7f61626364\"}"
    [ "$2" = head ] && echo 'record SAMPLE misc=0x2 {ip=0x410 pid=10 tid=10 time=1s}'
}

bad=0
for name in BUILD_ID HOSTNAME OSRELEASE VERSION ARCH CPUDESC CPUID CMDLINE EVENT_DESC CPU_TOPOLOGY \
    NUMA_TOPOLOGY PMU_MAPPINGS \
    GROUP_DESC CACHE MEM_TOPOLOGY BPF_PROG_INFO BPF_BTF CPU_PMU_CAPS HYBRID_TOPOLOGY PMU_CAPS; do
    for when in head late; do
        make $name $when >"$work/text"
        "$PERFDATA" assemble "$work/text" -o "$work/pipe" || exit 1
        "$PERFDATA" check "$work/pipe" >"$work/out" 2>/dev/null
        [ $? = 1 ] || complain "$name, $when: check of the pipe finds nothing"
        grep -q "^file: bad-feature .*$name" "$work/out" ||
            complain "$name, $when: check says: $(cat "$work/out")"
        for form in '' --pipe; do
            "$PERFDATA" repair $form "$work/pipe" -o "$work/whole" >/dev/null 2>"$work/err"
            [ $? = 1 ] || complain "$name, $when: repair $form finds nothing"
            grep -q bad-feature "$work/err" ||
                complain "$name, $when: repair $form leaves it out in silence"
            "$PERFDATA" check "$work/whole" >"$work/out" 2>/dev/null
            grep -q '^file' "$work/out" &&
                complain "$name, $when: the repaired $form: $(cat "$work/out")"
            grep -q '1 samples' "$work/out" ||
                complain "$name, $when: the sample is lost in the repaired $form"
        done
        bad=$((bad + 1))
    done
done
[ $bad -gt 0 ] || complain 'nothing was damaged'

# What is whole stays.
make HOSTNAME head >"$work/text"
"$PERFDATA" assemble "$work/text" -o "$work/pipe" &&
    "$PERFDATA" repair "$work/pipe" -o "$work/whole" >/dev/null 2>&1
"$PERFDATA" header "$work/whole" | grep -q '^# arch : x86_64$' ||
    complain 'a whole feature is left out, too'

# Formats of tracepoints beyond 128 MiB are left out, and that is said: TRACING_DATA, then a mark.
make HOSTNAME head | grep -vE 'FEATURE|SAMPLE' >"$work/text"
"$PERFDATA" assemble "$work/text" -o "$work/pipe" || exit 1
{
    cat "$work/pipe"
    printf '\102\0\0\0\0\0\014\0\010\0\0\010'
    head -c $((128 * 1024 * 1024 + 8)) /dev/zero
    printf '\104\0\0\0\0\0\010\0'
} >"$work/large"
"$PERFDATA" check "$work/large" >"$work/out" 2>/dev/null
grep -q '^file: limit .*formats of tracepoints of 134217736 bytes' "$work/out" ||
    complain "formats of 128 MiB are left out in silence: $(cat "$work/out")"
[ $failed -eq 0 ]
