#!/bin/sh
# SPDX-License-Identifier: MIT
# perf and perfdata record the same with the same options (sets.txt): the attributes and the order
# of perf_event_open, the events, the header but for times and ids, the kinds of records; each reads
# the other's file.
set -eu
sets=${1:-$(cd "$(dirname "$0")" && pwd)/sets.txt}
for tool in perf strace; do
    command -v $tool >/dev/null || { echo "no $tool here"; exit 77; }
done
work=$(mktemp -d)
target=
group=
trap 'test -z "$target" || kill $target 2>/dev/null; test -z "$group" || rmdir "$group" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
export PERF_CONFIG=/dev/null TZ=UTC LC_ALL=C
if ! perf record -q -a -e cpu-clock -o probe true >/dev/null 2>&1; then
    echo "perf_event_open is not permitted here"
    exit 77
fi
sleep 1000 &
target=$!
if ! strace -o probe.calls true 2>/dev/null; then
    echo "strace is not permitted here"
    exit 77
fi
cat >busy <<'END'
i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done
END

# What perf kvm is told of a guest.
printf 'ffffffff81000000 T _text\nffffffff81200000 T _etext\n' >guest.kallsyms
printf 'foo 16384 0 - Live 0xffffffffc0100000\nbar_baz 8192 1 foo, Live 0xffffffffc0000000 (O)\n' \
    >guest.modules
mkdir -p guests/7/proc guests/12/proc
cp guest.kallsyms guests/7/proc/kallsyms
cp guest.kallsyms guests/12/proc/kallsyms
cp guest.modules guests/12/proc/modules

mount=$(awk '$3 == "cgroup" && $4 ~ /perf_event/ { print $2; exit }' /proc/mounts)
test -n "$mount" || mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ -n "$mount" ] && mkdir "$mount/perfdata-$$" 2>/dev/null; then
    group=$mount/perfdata-$$
fi

# One line a call: attributes that are not zero, the process by name, no descriptors. perf's probes
# of what the kernel can and its watch over BPF are not ours: they alone have no read_format.
calls() {
    grep -v resumed "$1" | grep 'read_format=PERF_FORMAT' |
        grep -v 'bpf_event=1.*wakeup_watermark=1' |
        sed -E "s/^\[?(pid)? *[0-9]+\]? +//; s/, [a-z_0-9]+=0( \/\*[^*]*\*\/)?//g
        s/ \/\*[^*]*\*\///g; s/\}, $target, /}, TARGET, /; s/\}, [0-9]+, (.*PID_CGROUP)/}, CGROUP, \1/; s/\}, [0-9]{2,}, /}, COMMAND, /; s/(, -?[0-9]+), [0-9]+, (PERF_FLAG|0)/\1, GROUP, \2/; s/\) = [0-9]+$/)/"
}
header() {
    perf report --header-only -I -i "$1" 2>/dev/null |
        grep -vE '^# (captured on|data offset|data size|feat offset|perf version|cmdline|time of|sample duration|node[0-9]+ meminfo|reference time|compressed)' |
        sed -E 's/, id = \{[^}]*\}//; s/ BUILD_ID / /'
}
kinds() {
    perf report -D -i "$1" 2>/dev/null | grep -oE 'PERF_RECORD_[A-Z_0-9]+' | sort -u |
        grep -vE 'SAMPLE$|THROTTLE|KSYMBOL|BPF_EVENT|ROUND|SWITCH|LOST|FORK|EXIT|READ|COMPRESSED' ||
        true
}
guest_maps() {
    perf report -D -i "$1" 2>/dev/null |
        sed -n 's/.* PERF_RECORD_MMAP \([0-9]*\/0: .*\(guest.kernel\|\[foo\]\|\[bar_baz\]\)\)/\1/p'
}
samples() {
    perf script -i "$1" -F time 2>/dev/null | grep -c .
}
# Half to double as many as perf's, where it has 20: a virtual CPU that stands still meanwhile takes
# some from one, so that what differs is recorded anew.
as_many_samples() {
    a=$(samples theirs) b=$(samples ours)
    for attempt in 1 2 3 4 5; do
        test "$a" -ge 20 || return 0
        test $((b * 10)) -le $((a * 5)) || test $((b * 10)) -ge $((a * 20)) || return 0
        test $attempt -lt 5 || return 1
        timeout 20 perf record -o theirs "$@" >theirs.out 2>&1 || true
        timeout 20 "$PERFDATA" record -o ours "$@" >ours.out 2>&1 || true
        a=$(samples theirs) b=$(samples ours)
    done
}
failed=0
differs() {
    echo "$options: $1"
    failed=1
}
count=0
while read -r what options; do
    case $what in '#'*) continue ;; esac
    case $what in
    busy) set -- sh busy ;;
    true) set -- true ;;
    sleep) set -- sleep 0.1 ;;
    pid) options="$options -p $target"; set -- sleep 0.05 ;;
    tid) options="$options -t $target"; set -- sleep 0.05 ;;
    esac
    case $options in
    *CGROUP*)
        test -n "$group" || { echo "$options: no control group can be made here"; continue; }
        options=$(echo "$options" | sed "s/CGROUP/${group##*/}/g")
        ;;
    esac
    verb=record
    case $options in
    kvm*" record "*) verb="${options%% record *} record" options=${options#* record } ;;
    esac
    count=$((count + 1))
    rm -rf ours theirs
    set -f
    timeout 20 strace -f -v -e trace=perf_event_open -o theirs.calls perf $verb -o theirs $options \
        "$@" >theirs.out 2>&1 || true
    # LeakSanitizer stops its own process with ptrace, which strace holds: it cannot look for leaks.
    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
        timeout 20 strace -f -v -e trace=perf_event_open -o ours.calls "$PERFDATA" $verb -o ours \
        $options "$@" >ours.out 2>&1 || true
    set +f
    for file in theirs ours; do # the last of those that the output was switched to
        set -- $file.2*
        test ! -s "$1" || mv "$(ls $file.2* | tail -1)" $file
        rm -f $file.2*
    done
    calls theirs.calls >theirs.text
    calls ours.calls >ours.text
    cmp -s theirs.text ours.text ||
        { differs "calls"; diff theirs.text ours.text | cut -c 1-700 | head -6; }
    test -s theirs || {
        sed 's/theirs/ours/g' theirs.out >theirs.text
        cmp -s theirs.text ours.out || { differs "messages"; diff theirs.text ours.out | head -5; }
        continue
    }
    test -s ours || { differs "no recording"; cat ours.out; continue; }
    perf evlist -v -i theirs >theirs.text 2>&1
    perf evlist -v -i ours >ours.text 2>&1
    cmp -s theirs.text ours.text || { differs "evlist -v"; diff theirs.text ours.text | head -6; }
    header theirs >theirs.text
    header ours >ours.text
    cmp -s theirs.text ours.text || { differs "header"; diff theirs.text ours.text | head -6; }
    kinds theirs >theirs.text
    kinds ours >ours.text
    case $options in *switch-output-event*) cp theirs.text ours.text ;; esac \
        # when it is switched is chance
    cmp -s theirs.text ours.text ||
        { differs "kinds of records"; diff theirs.text ours.text | head -6; }
    guest_maps theirs >theirs.text
    guest_maps ours >ours.text
    cmp -s theirs.text ours.text ||
        { differs "maps of guests"; diff theirs.text ours.text | head -6; }
    verbs="evlist buildid-list"
    test "$what" != busy || verbs="script report buildid-list"
    for verb in $verbs; do
        perf $verb -i ours >perf.text 2>perf.err ||
            { differs "perf $verb fails"; head -3 perf.err; }
        "$PERFDATA" $verb -i ours >our.text 2>our.err ||
            { differs "perfdata $verb fails"; head -3 our.err; }
        "$PERFDATA" $verb -i theirs >our.text 2>our.err ||
            { differs "perfdata $verb of perf's fails"; head -3 our.err; }
    done
    if [ "$what" = busy ] && [ "${options#*-a}" = "$options" ]; then
        set -f
        as_many_samples $options sh busy || differs "$b samples, perf $a"
        set +f
    fi
done <"$sets"
echo "$count option sets"
test $count -gt 0 || failed=1
exit $failed
