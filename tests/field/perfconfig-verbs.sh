#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 24: perf checks settings of ~/.perfconfig and PERF_CONFIG before every verb.
# Called as perf, each verb says what perf 6.1 says and ends where perf ends; under our own name
# the verbs that perf has do. Beside it the installed perf is asked, where there is one.
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cp "$SOURCE/tests/data/report/calls.data" "$folder/rec.data"
cd "$folder" || exit 1
ln -s "$PERFDATA" perf
failed=0
export HOME="$folder" PERF_CONFIG=config
perf=
case $(perf --version 2>/dev/null) in
'perf version 6.1.'*) perf=perf ;;
esac
pair='Error in the given config file: wrong config key-value pair'

verbs='--version
version
help
--list-cmds
nonsense
config -l
archive rec.data
script -i rec.data
report --stdio -i rec.data
annotate --stdio -i rec.data
diff rec.data rec.data
sched latency -i rec.data
kmem -i rec.data stat
kwork report -i rec.data
lock report -i rec.data
lock contention -i rec.data
mem report --stdio -i rec.data
c2c report --stdio -i rec.data
stat report -i rec.data
trace -i rec.data
inject -i rec.data -o out.data
evlist -i rec.data
buildid-list -i rec.data
buildid-cache -l
kvm --host -i rec.data buildid-list
record -o new.data true
list sw'

# run PROGRAM VERB...: what it says, its text and how it ends
run() {
    "$@" >text 2>said </dev/null
    echo $? >ended
}

# ends SETTINGS TEXT: every verb says TEXT, nothing else, and ends with 255
ends() {
    printf "$1\n" >config
    printf '%b\n' "$2" >expected
    echo "$verbs" | while read -r verb; do
        # shellcheck disable=SC2086
        run ./perf $verb
        [ "$(cat ended)" = 255 ] && [ ! -s text ] && diff expected said ||
            echo "perf $verb with $1: ended with $(cat ended)" >>wrong
        [ -z "$perf" ] && continue
        # shellcheck disable=SC2086
        run $perf $verb
        [ "$(cat ended)" = 255 ] && [ ! -s text ] && diff said expected ||
            echo "the installed perf $verb with $1 does something else" >>wrong
    done
    [ ! -e new.data ] && [ ! -e out.data ] || echo "$1: a file was written" >>wrong
    run "$PERFDATA" sched latency -i rec.data
    [ "$(cat ended)" = 2 ] && grep -qF "$(echo "$2" | sed 's/.*\\n//')" said ||
        echo "perfdata sched with $1: ended with $(cat ended)" >>wrong
    run "$PERFDATA" dump rec.data
    [ "$(cat ended)" = 0 ] && [ ! -s said ] || echo "perfdata dump reads $1" >>wrong
}
ends '[call-graph]\nprint-type = odd' "Invalid callchain mode: odd\n$pair call-graph.print-type=odd"
ends '[call-graph]\ndump-size = 65529' \
    "callchain: Incorrect stack dump size (max 65528): 65529\n$pair call-graph.dump-size=65529"
ends '[hist]\npercentage = odd' "$pair hist.percentage=odd"
ends '[llvm]\nodd = 1' "$pair llvm.odd=1"
ends '[ui]\nshow-headers = odd\n[hist]\npercentage = odd\n[x' \
    "bad config file line 6 in config\nbad config value for 'ui.show-headers', ignoring...\n$pair hist.percentage=odd"

# warns SETTINGS TEXT: every verb says TEXT first, and goes on as without
warns() {
    echo "$verbs" | grep -v '^record\|^archive\|^config' | while read -r verb; do
        rm -f out.data
        : >config
        # shellcheck disable=SC2086
        run ./perf $verb
        mv text expected
        mv ended expected.end
        { echo "$2"; cat said; } >expected.said
        rm -f out.data
        printf "$1\n" >config
        # shellcheck disable=SC2086
        run ./perf $verb
        grep -v '^# cmdline' text >a
        grep -v '^# cmdline' expected >b
        cmp a b && cmp ended expected.end && diff expected.said said ||
            echo "perf $verb with $1: is not warned and then as without" >>wrong
        [ -z "$perf" ] && continue
        # shellcheck disable=SC2086
        run $perf $verb
        [ "$(head -n 1 said)" = "$2" ] ||
            echo "the installed perf $verb with $1 does something else" >>wrong
    done
}
warns '[ui]\nshow-headers = odd' "bad config value for 'ui.show-headers', ignoring..."
warns '[stat]\nbig-num = odd' "bad config value for 'stat.big-num', ignoring..."
warns '[report]\nchildren' 'bad config file line 2 in config'

# twice VERB...: perf reads the files once more, and says of a line again that it does not parse
twice() {
    for program in ./perf $perf; do
        printf '[report]\nchildren' >config
        run $program "$@"
        [ "$(grep -c '^bad config file line 2 in config$' said)" = 2 ] ||
            echo "$program $*: does not say twice that a line does not parse" >>wrong
    done
    printf '[report]\nchildren' >config
    run "$PERFDATA" "$@"
    [ "$(grep -c 'bad config file line' said)" -lt 2 ] ||
        echo "perfdata $*: says twice that a line does not parse" >>wrong
}
twice config -l
twice config
twice config report.group
twice config report.group=true
twice archive rec.data
[ ! -e wrong ] || { cat wrong; failed=1; }

# ---- report.queue-size, report.skip-empty ----

# size VALUE EXIT: what report takes for a size
size() {
    printf '[report]\nqueue-size = %s\n' "$1" >config
    for verb in 'report --stdio' 'mem report --stdio'; do
        for program in ./perf $perf; do
            # shellcheck disable=SC2086
            run $program $verb -i rec.data
            printf "bad config value for 'report.queue-size', ignoring...\n%s\n" \
                "$pair report.queue-size=$1" >expected
            [ "$2" = 0 ] && : >expected
            grep config said | diff expected - && [ "$(cat ended)" = "$2" ] ||
                { echo "$program $verb: report.queue-size = $1 is not as it should be"; failed=1; }
        done
    done
}
for good in 1 0 -1 1k 1K 1m 1M 1g 1G 0x10 0x10k 010 k 99999999999999999999; do
    size $good 0
done
for bad in odd 1x 1.5M 1MB 1b 1T 1kx 0xk ''; do
    size "$bad" 255
done

cp "$SOURCE/tests/data/report/traces.data" two.data
for recording in rec.data two.data; do
    : >config
    "$PERFDATA" report --stdio -i $recording >hidden 2>/dev/null
    "$PERFDATA" report --stdio --no-skip-empty -i $recording >shown 2>/dev/null
    [ $recording = rec.data ] || ! cmp -s hidden shown || { echo 'nothing is empty'; failed=1; }
    for value in false true; do
        printf '[report]\nskip-empty = %s\n' $value >config
        expected=hidden
        [ $value = true ] || expected=shown
        "$PERFDATA" report --stdio -i $recording 2>/dev/null | cmp - $expected ||
            { echo "report.skip-empty = $value is not honoured"; failed=1; }
        "$PERFDATA" report --stdio --skip-empty -i $recording 2>/dev/null | cmp - hidden ||
            { echo "--skip-empty does not go before report.skip-empty = $value"; failed=1; }
        "$PERFDATA" report --stdio --no-skip-empty -i $recording 2>/dev/null | cmp - shown ||
            { echo "--no-skip-empty does not go before report.skip-empty = $value"; failed=1; }
        [ -n "$perf" ] || continue
        $perf report --stdio -i $recording 2>/dev/null | grep -v '^# (' >expected
        grep -v '^# (' $([ $value = true ] && echo hidden || echo shown) | cmp - expected ||
            { echo "report.skip-empty = $value: not as perf ($recording)"; failed=1; }
    done
done
printf '[report]\nskip-empty = odd\n' >config
run ./perf report --stdio -i rec.data
[ "$(head -n 1 said)" = "bad config value for 'report.skip-empty', ignoring..." ] ||
    { echo 'report.skip-empty = odd is not told'; failed=1; }

# ---- intel-pt, buildid.dir ----

printf '[intel-pt]\nmax-loops = odd\n' >config
run "$PERFDATA" script -i rec.data
grep -q "config: perfconfig: intel-pt.max-loops: 'odd' is no value" said ||
    { echo 'intel-pt.max-loops = odd is not told as a setting'; failed=1; }
run ./perf script -i rec.data
[ ! -s said ] || { echo 'intel-pt.max-loops = odd is told as perf'; failed=1; }
printf '[buildid]\ndir =\n' >config
for program in ./perf $perf; do
    run $program buildid-cache -l
    [ "$(cat ended)" = 0 ] && [ ! -s said ] ||
        { echo "$program: an empty buildid.dir is not the default"; failed=1; }
done

# ---- of single verbs ----

# like SETTINGS VERB...: what it prints and says is what the installed perf prints and says
like() {
    printf "$1\n" >config
    shift
    [ -n "$perf" ] || return 0
    run $perf "$@"
    mv text expected
    mv said expected.said
    mv ended expected.end
    run ./perf "$@"
    for file in said expected.said; do # of this machine's kernel
        grep -v '^cannot load kernel map' $file >a
        mv a $file
    done
    cmp text expected && diff said expected.said && cmp ended expected.end ||
        { echo "perf $* with $(tr '\n' ' ' <config): not as perf"; failed=1; }
}
# found SETTINGS PATTERN VERB...: the text or what is said has a line like it
found() {
    printf "$1\n" >config
    pattern=$2
    shift 2
    run ./perf "$@"
    cat text said | grep -qe "$pattern" ||
        { echo "perf $* with $(tr '\n' ' ' <config): no '$pattern'"; failed=1; }
}
cp "$SOURCE/tests/data/verbs/trace-words.data" words.data
brk='t160/2065 brk('
found '[trace]\nshow_timestamp = false' "^( 0.001 ms): ${brk}) *= 0xddaa000\$" trace -i words.data
found '[trace]\nshow_duration = off' "^     0.229 ${brk}) *= 0xddaa000\$" trace -i words.data
found '[trace]\nshow_zeros = on' "${brk}brk: NULL) *= 0xddaa000\$" trace -i words.data
found '[trace]\nshow_arg_names = 0' "${brk}0xddaad00) *= 0xddaad00\$" trace -i words.data
found '[trace]\nargs_alignment = 0' "${brk}brk: 0xddaad00) = 0xddaad00\$" trace -i words.data
found '[trace]\nargs_alignment = 0x20' "${brk}brk: 0xddaad00)             = 0xdd" trace -i words.data
found '[trace]\nshow_zeros = odd' "${brk}brk: NULL)" trace -i words.data
cp "$SOURCE/tests/data/verbs/trace-zeros.data" zeros.data
PERF_CONFIG=/dev/null "$PERFDATA" trace -i zeros.data >plain 2>&1
for line in 'mprotect(start: 0, len: 0, prot: NONE)' \
    'mmap(addr: NULL, len: 0, prot: NONE, flags: 0, fd: 0, off: 0)' \
    'connect(fd: 0, uservaddr: 0, addrlen: 0)' 'clone(clone_flags: , newsp: 0)' \
    'statx(dfd: 0, filename: 0, flags: SYNC_AS_STAT, mask: , buffer: NULL)' \
    'fsmount(fs_fd: 0, flags: 0, attr_flags: RELATIME)'; do
    found '[trace]\nshow_zeros = true' "$line" trace -i zeros.data
    grep -qF "$line" plain && { echo "$line is shown without show_zeros"; failed=1; }
done
found '[trace]\nshow_prefix = yes' 'trace.show_prefix is not supported yet' trace -i words.data
for recording in words trace trace-chains trace-zeros; do
    [ $recording = words ] || cp "$SOURCE/tests/data/verbs/$recording.data" .
    for value in true false odd; do
        for key in show_timestamp show_duration show_zeros show_arg_names no_inherit; do
            like "[trace]\n$key = $value" trace -i $recording.data
        done
    done
    for column in 0 40 100 -3 1k 0x20 2147483648 71x odd ''; do
        like "[trace]\nargs_alignment = $column" trace -S -i $recording.data
    done
    like '[trace]\nshow_arg_names = no\nshow_zeros = yes\nshow_timestamp = no\nargs_alignment = 20' \
        trace -T -i $recording.data
done

# What trace.add_events names must be events, though a recording is read without them.
bad='event syntax error:'
for events in cpu-clock r1 mem:0x100:rw 'cpu-clock:u,{cycles,instructions}' 'nonsense\nadd_events = r2'; do
    like "[trace]\nadd_events = $events" trace -i words.data
    run ./perf trace -i words.data
    [ "$(cat ended)" = 0 ] || { echo "trace.add_events = $events is refused"; failed=1; }
done
for events in nonsense cycles:zz r1zz nosuch/x/ cycles/nosuch/ 'r2\nadd_events = nonsense' \
    'nonsense\nshow_zeros = odd\nargs_alignment = odd'; do
    like "[trace]\nadd_events = $events" trace -i words.data
    run ./perf trace -i nosuch.data
    [ "$(cat ended)" = 1 ] && [ ! -s text ] && grep -q "^$bad" said ||
        { echo "trace.add_events = $events: ended with $(cat ended)"; failed=1; }
    run "$PERFDATA" trace -i words.data
    grep -q "^$bad" said && [ "$(cat ended)" = 0 ] && grep -q 't160/2065 brk' said ||
        { echo "perfdata trace, trace.add_events = $events: ended with $(cat ended)"; failed=1; }
    run "$PERFDATA" trace --strict -i words.data
    grep -q "$bad\|bad config" said && [ "$(cat ended)" = 3 ] && ! grep -q 't160/2065 brk' said ||
        { echo "perfdata trace --strict takes trace.add_events = $events"; failed=1; }
done

found '[kmem]\ndefault = odd' "^invalid default value ('slab' or 'page' required): odd\$" \
    kmem -i rec.data stat
found '[kmem]\ndefault = page' '\-\-page, as kmem.default says, is not supported' kmem -i rec.data stat
cp "$SOURCE"/tests/data/verbs/kmem*.data .
kmem=$(echo kmem*.data | cut -d ' ' -f 1)
for value in slab odd; do
    like "[kmem]\ndefault = $value" kmem -i "$kmem" stat
done
like '[kmem]\ndefault = page' kmem --slab -i "$kmem" stat

for value in '' odd m Man; do
    found "[help]\nformat = $value" \
        "^unrecognized help format '$value'Error in .* help.format=$value\$" help
    like "[help]\nformat = $value" help
done
found '[help]\nformat = web' '^ *report' help

printf '[annotate]\ndemangle = false\n' >config
cp "$SOURCE/tests/data/annotate/cpp-fp.data" .
if command -v objdump >/dev/null; then
    "$PERFDATA" annotate --symfs "$SOURCE/tests/data/annotate/symfs" -i cpp-fp.data >found 2>/dev/null
    "$PERFDATA" annotate --demangle --symfs "$SOURCE/tests/data/annotate/symfs" -i cpp-fp.data \
        >demangled 2>/dev/null
    : >config
    "$PERFDATA" annotate --no-demangle --symfs "$SOURCE/tests/data/annotate/symfs" -i cpp-fp.data \
        >expected 2>/dev/null
    cmp found expected || { echo 'annotate.demangle = false is not --no-demangle'; failed=1; }
    cmp -s found demangled &&
        { echo '--demangle does not go before annotate.demangle'; failed=1; }
fi

# What neither is yes nor no is a yes.
cp "$SOURCE"/tests/data/annotate/group-read.data .
if command -v objdump >/dev/null; then
    for value in true odd; do
        printf '[annotate]\nshow_nr_samples = %s\n[report]\ngroup = %s\n' $value $value >config
        "$PERFDATA" report --stdio -i group-read.data 2>/dev/null | grep -v '^# (' >report.$value
        "$PERFDATA" annotate --symfs "$SOURCE/tests/data/annotate/symfs" -i cpp-fp.data \
            >annotate.$value 2>/dev/null
    done
    cmp report.true report.odd && cmp annotate.true annotate.odd ||
        { echo 'odd is not taken for a yes'; failed=1; }
fi

# ---- record ----

# chains SETTINGS WORDS OPTION...: what the attr of a recording has of call chains
chains() {
    printf "$1\n" >config
    expected=$2
    shift 2
    rm -f new.data
    run ./perf record -q -e cpu-clock -F 100 "$@" -o new.data true
    [ -s new.data ] || { cat said; return; }
    found=$(PERF_CONFIG=/dev/null "$PERFDATA" evlist -v -i new.data |
        grep -oE 'CALLCHAIN|sample_stack_user: [0-9]+' | tr '\n' ' ')
    [ "$found" = "$expected" ] ||
        { echo "record $* with $(tr '\n' ' ' <config): '$found', not '$expected'"; failed=1; }
}
if ./perf record -q -e cpu-clock -o probe.data true 2>/dev/null; then
    dwarf='CALLCHAIN sample_stack_user: '
    chains '[record]\ncall-graph = dwarf' ''
    chains '[record]\ncall-graph = dwarf' "${dwarf}8192 " -g
    chains '[record]\ncall-graph = dwarf,' "${dwarf}8192 " -g
    chains '[record]\ncall-graph = fp,x' 'CALLCHAIN ' -g
    chains '[call-graph]\nrecord-mode = dwarf,1024' "${dwarf}1024 " -g
    chains '[call-graph]\nrecord-mode = dwarf,1024' 'CALLCHAIN ' --call-graph fp
    chains '[call-graph]\nrecord-mode = dwarf\ndump-size = 2048' "${dwarf}2048 " -g
    chains '[call-graph]\ndump-size = 2048\nrecord-mode = dwarf' "${dwarf}8192 " -g
    chains '[call-graph]\ndump-size = 2048' "${dwarf}8192 " --call-graph dwarf
    chains '[record]\ncall-graph = fp\n[call-graph]\nrecord-mode = dwarf' 'CALLCHAIN ' -g
    chains '[call-graph]\nrecord-mode = dwarf\n[record]\ncall-graph = fp' 'CALLCHAIN ' -g
    # ids SETTING COUNT FEATURE OPTION...: map records with build-ids; whether the header has any
    ids() {
        printf '[record]\nbuild-id = %s\n' "$1" >config
        count=$2 feature=$3 setting=$1
        shift 3
        run ./perf record -q -e cpu-clock "$@" -o new.data true
        found=$(PERF_CONFIG=/dev/null "$PERFDATA" dump --json new.data |
            grep -c '"type":"MMAP2".*"build_id":"[0-9a-f]')
        header=$(PERF_CONFIG=/dev/null "$PERFDATA" report --header-only -i new.data 2>/dev/null |
            grep -c 'missing features:.* BUILD_ID')
        [ $((found > 0)) = "$count" ] && [ "$header" = "$feature" ] ||
            { echo "record.build-id = $setting $*: $found, $header"; failed=1; }
    }
    ids mmap 1 1
    ids mmap 0 0 --no-buildid-mmap
    ids skip 0 1
    ids cache 0 0
    ids no-cache 1 1 --buildid-mmap
    for value in odd ''; do
        found "[record]\nbuild-id = $value" "^$pair record.build-id=$value\$" \
            record -o bad.data true
    done
    found '[record]\ncall-graph = lbr,x' '^callchain: No more arguments needed for --call-graph lbr' \
        record -o bad.data true
    [ ! -e bad.data ] || { echo 'a setting that is refused leaves a file'; failed=1; }
else
    echo 'nothing can be recorded here'
fi
exit $failed
