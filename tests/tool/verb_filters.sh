#!/bin/sh
# SPDX-License-Identifier: MIT
# trace and lock contention of some CPUs and tasks only; called as perf they show all, as perf does
# of a recording.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LC_ALL=C HOME="$work"
ln -s "$PERFDATA" "$work/perf"
cd "$SOURCE/tests/data/verbs" || exit 1
failed=0
fail() {
    echo "$*"
    failed=1
}
# lines PROGRAM WORDS...: how many it prints on standard error.
lines() {
    "$@" 2>&1 >/dev/null </dev/null | wc -l
}

# All ran on CPU 1, as one process.
all=$(lines "$PERFDATA" trace -i trace.data)
[ "$all" -gt 20 ] || fail "trace prints $all lines"
for case in '-C 0,0' '-C 1,all' '-C 0-1,all' '-a,all' '--filter-pids 4871,0' '--filter-pids 1,all' \
    '--expr read,some' '--sort-events,all'; do
    options=${case%,*}
    case ${case##*,} in
        0) wanted=0 ;;
        all) wanted=$all ;;
        *) wanted=$("$PERFDATA" trace -i trace.data -e read 2>&1 | wc -l) ;;
    esac
    # shellcheck disable=SC2086
    found=$(lines "$PERFDATA" trace -i trace.data $options)
    [ "$found" -eq "$wanted" ] || fail "trace $options: $found lines, not $wanted"
    # shellcheck disable=SC2086
    found=$(lines "$work/perf" trace -i trace.data $options)
    [ "$found" -eq "$all" ] || fail "perf trace $options: $found lines, not $all"
done
"$PERFDATA" trace -i trace.data --switch-on raw_syscalls:sys_exit 2>"$work/on"
[ "$(wc -l <"$work/on")" -eq $((all - 1)) ] && ! grep -q execve "$work/on" ||
    fail '--switch-on does not begin behind the first exit'
"$PERFDATA" trace -i trace.data --switch-on nothing 2>"$work/on" &&
    fail '--switch-on an event that is not there'
grep -q 'switch-on event not found (nothing)' "$work/on" || fail 'the event is not told'

# What is about recording: called as perf it is checked and changes nothing, else refused by name.
for options in '-D 5' '-D -1' '-F maj' '-F' '-m 4M' '-m 16' '-u 0' '--call-graph dwarf,800' \
    '--call-graph fp' --kernel-syscall-graph --no-inherit '--proc-map-timeout 5' --tool_stats \
    --no-syscalls --libtraceevent_print; do
    # shellcheck disable=SC2086
    found=$(lines "$work/perf" trace -i trace.data $options)
    [ "$found" -eq "$all" ] || fail "perf trace $options: $found lines, not $all"
    # shellcheck disable=SC2086
    "$PERFDATA" trace -i trace.data $options 2>"$work/err" && fail "trace $options is taken"
    grep -q 'is about recording' "$work/err" || fail "trace $options: $(cat "$work/err")"
done
for options in '-D x' '-F none' '-m x' '-m 4X' '--call-graph xx' '--call-graph dwarf,x' \
    '--proc-map-timeout -1' '-u nobody-of-this-name'; do
    # shellcheck disable=SC2086
    "$work/perf" trace -i trace.data $options 2>/dev/null && fail "perf trace $options is taken"
done

# -o: the same text, in a file.
"$PERFDATA" trace -i trace.data -o "$work/lines" 2>"$work/err" ||
    fail "trace -o: $(cat "$work/err")"
[ ! -s "$work/err" ] && cmp "$work/lines" trace-lines.exact || fail 'trace -o is not the text'
"$PERFDATA" trace -i trace.data -o "$work/none/lines" 2>/dev/null && fail 'trace -o into no folder'

# There is nothing to stitch, which is told, and the text is the same.
for verb in 'script -i trace.data' 'report --stdio -i trace.data' \
    'c2c report --stdio --no-source -i c2c.data'; do
    # shellcheck disable=SC2086
    "$PERFDATA" $verb >"$work/plain" 2>/dev/null </dev/null
    # shellcheck disable=SC2086
    "$PERFDATA" $verb --stitch-lbr >"$work/stitched" 2>"$work/err" </dev/null
    cmp "$work/plain" "$work/stitched" && [ -s "$work/plain" ] &&
        grep -q "^Can't find LBR callchain. Switch off --stitch-lbr.$" "$work/err" ||
        fail "$verb --stitch-lbr: $(cat "$work/err")"
done
# About this machine.
if [ -r /sys/kernel/notes ]; then
    "$PERFDATA" buildid-list -k >"$work/id" || fail 'buildid-list -k'
    grep -Eq '^[0-9a-f]{40}$' "$work/id" || fail "buildid-list -k: $(cat "$work/id")"
    od -An -v -tx1 /sys/kernel/notes | tr -d ' \n' | grep -q "$(cat "$work/id")" ||
        fail 'the id is not the kernel'"'"'s'
fi
mkdir -p "$work/sys/bus/event_source/devices/cpu_core"
"$PERFDATA" list --root "$work" --cputype core sw >"$work/out" 2>"$work/err"
[ $? -eq 2 ] && grep -q cputype "$work/err" || fail 'list --cputype where there are types of CPUs'
rmdir "$work/sys/bus/event_source/devices/cpu_core"
"$PERFDATA" list --root "$work" --cputype core sw >"$work/out" 2>"$work/err" &&
    [ "$(cat "$work/err")" = 'WARNING: hybrid cputype is not supported!' ] ||
    fail "list --cputype: $(cat "$work/err")"

# kvm stat: what there is not is refused by name.
for options in '--event exits' '-k avg' '--vcpu -2'; do
    # shellcheck disable=SC2086
    "$PERFDATA" kvm -i kvm.data stat report $options >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] && [ ! -s "$work/out" ] && grep -q -e "${options##* }" "$work/err" ||
        fail "kvm stat report $options: $(cat "$work/err")"
    # shellcheck disable=SC2086
    "$work/perf" kvm -i kvm.data stat report $options >"$work/out" 2>"$work/err"
    [ $? -eq 234 ] || fail "perf kvm stat report $options: not 234"
done
"$PERFDATA" kvm stat record 2>"$work/err" && fail 'kvm stat record is taken'
grep -q 'kvm:kvm_exit' "$work/err" || fail 'kvm stat record does not say what to record'
"$PERFDATA" kvm -i kvm.data buildid-list >"$work/out" &&
    "$PERFDATA" buildid-list -i kvm.data | cmp -s - "$work/out" && [ -s "$work/out" ] ||
    fail 'kvm buildid-list'

# lock.data: 6 samples of thread 4727, 2 of 4735, all of process 4713 on CPU 0.
waits() {
    "$@" -F contended -i lock.data --kallsyms kallsyms 2>&1 >/dev/null </dev/null |
        awk 'NR > 2 { sum += $1 } END { print sum + 0 }'
}
[ "$(waits "$PERFDATA" lock contention)" -eq 4 ] || fail 'lock contention'
[ "$(waits "$PERFDATA" lock contention --tid 4727)" -eq 3 ] || fail '--tid 4727'
[ "$(waits "$PERFDATA" lock contention --tid 4735,1)" -eq 1 ] || fail '--tid 4735'
[ "$(waits "$PERFDATA" lock contention -p 4713)" -eq 4 ] || fail '-p 4713'
[ "$(waits "$PERFDATA" lock contention -p 4727)" -eq 0 ] || fail '-p 4727'
[ "$(waits "$PERFDATA" lock contention -C 0)" -eq 4 ] || fail '-C 0'
[ "$(waits "$PERFDATA" lock contention -C 1)" -eq 0 ] || fail '-C 1'
[ "$(waits "$PERFDATA" lock contention -a)" -eq 4 ] || fail '-a'
[ "$(waits "$work/perf" lock contention -C 1 -p 1)" -eq 4 ] || fail 'perf lock contention -C 1'
exit $failed
