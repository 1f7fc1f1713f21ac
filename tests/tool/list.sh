#!/bin/sh
# SPDX-License-Identifier: MIT
# list: a machine made of files, probes in the build-id cache, JSON, refusals; beside perf 6.1 where
# there is one.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LC_ALL=C PERF_CONFIG=/dev/null HOME="$work/home"
failed=0
fail() {
    echo "$*"
    failed=1
}
events() { timeout 60 "$PERFDATA" list --root "$work/root" "$@" </dev/null 2>"$work/err"; }
names() { events "$@" | sed 's/^  *//; s/  *\[/ [/'; }
# expect TEXT ARGUMENTS
expect() {
    text=$1
    shift
    [ "$(names "$@")" = "$text" ] || {
        fail "list $*:"
        names "$@"
    }
}

# ---- a machine ----
pmus=$work/root/sys/bus/event_source/devices
mkdir -p "$pmus/cpu/events" "$pmus/amd_df/events" "$pmus/intel_pt/format" \
    "$work/home/.debug/.build-id"
echo event=0x3c >"$pmus/cpu/events/cpu-cycles"
echo 'event=0x4,umask=?' >"$pmus/cpu/events/param"
echo event=1 >"$pmus/amd_df/events/energy"
for end in scale unit per-pkg snapshot; do echo 1 >"$pmus/amd_df/events/energy.$end"; done
for event in sched/sched_switch sched/sched_wakeup kmem/kmalloc; do
    mkdir -p "$work/root/sys/kernel/tracing/events/$event"
    echo 7 >"$work/root/sys/kernel/tracing/events/$event/id"
done
mkdir -p "$work/root/sys/kernel/tracing/events/sched/filters_only"
for program in 11/usr/lib/one 22/usr/lib/two; do
    id=${program%%/*} path=/${program#*/}
    full=${id}00000000000000000000000000000000000000
    mkdir -p "$work/home/.debug$path/$full" "$work/home/.debug/.build-id/$id"
    ln -s "../..$path/$full" "$work/home/.debug/.build-id/$id/${full#??}"
    printf '%%sdt_lib:both=both\np:sdt_lib/both %s:0x10\n' "$path" \
        >"$work/home/.debug$path/$full/probes"
done
printf '%%sdt_lib:alone=alone\n' \
    >>"$work/home/.debug/usr/lib/two/2200000000000000000000000000000000000000/probes"

expect 'cpu-cycles OR cpu/cpu-cycles/ [Kernel PMU event]
param OR cpu/param/ [Kernel PMU event]
amd_df/energy/ [Kernel PMU event]
intel_pt// [Kernel PMU event]' pmu
expect 'kmem:kmalloc [Tracepoint event]
sched:sched_switch [Tracepoint event]
sched:sched_wakeup [Tracepoint event]' tracepoint
expect 'sched:sched_switch [Tracepoint event]' 's*:*switch'
expect 'cgroup-switches [Software event]
context-switches OR cs [Software event]
sched:sched_switch [Tracepoint event]' switch
expect 'sdt_lib:alone [SDT event]
sdt_lib:both@/usr/lib/one(110000000000) [SDT event]
sdt_lib:both@/usr/lib/two(220000000000) [SDT event]' sdt
[ "$(events hw | wc -l) $(events cache | wc -l) $(events sw | wc -l)" = '10 32 15' ] ||
    fail 'hw, cache or sw'
events | grep -q 'mem:<addr>' || fail 'no breakpoints'
[ "$(events --raw-dump param)" = 'cpu/param,umask=?/ ' ] || fail "raw: $(events --raw-dump param)"

# ---- every form names the same ----
events --json >"$work/json" || fail 'JSON'
[ "$(wc -l <"$work/json")" = "$(events --raw-dump | wc -w)" ] ||
    fail 'JSON and --raw-dump list different events'
grep -q '{"type":"sdt","name":"sdt_lib:alone","path":"/usr/lib/two","build_id":"220*"}' \
    "$work/json" || fail 'a probe as JSON'

# ---- refusals ----
for words in metric metricgroup --details '-v' '--raw-dump --json'; do
    # shellcheck disable=SC2086
    events $words >"$work/out"
    [ $? = 2 ] && [ -s "$work/err" ] && [ ! -s "$work/out" ] || fail "list $words is not refused"
done

# ---- beside perf ----
if command -v perf >/dev/null && perf --version | grep -q 'version 6\.1\.'; then
    for words in sw tracepoint 'sched:*' cs 'cpu-*' time; do
        perf list "$words" 2>/dev/null |
            grep -E '^  [^ ].*(Software|Tool|Tracepoint) event\]$' >"$work/perf"
        "$PERFDATA" list "$words" 2>/dev/null | grep -E '(Software|Tool|Tracepoint) event\]$' |
            cmp -s - "$work/perf" ||
            fail "list $words: not as perf"
    done
fi
exit $failed
