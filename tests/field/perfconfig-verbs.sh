#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 24: perf checks settings of ~/.perfconfig and PERF_CONFIG before every verb. Called
# as perf, each verb says what perf 6.1 says and ends where perf ends; under our own name the verbs
# that perf has do. Beside it the installed perf is asked, where there is one.
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
exit $failed
