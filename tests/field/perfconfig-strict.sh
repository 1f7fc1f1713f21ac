#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 24: every verb that reads settings tells of one that is wrong, and each that has
# --strict then ends with an error before it prints or writes anything. The verbs are those that
# the command itself lists, so that a new one fails here until it stands in one of the lists.
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
data="$SOURCE/tests/data"
cp "$data/report/calls.data" rec.data
for verb in kmem kvm kwork lock c2c; do
    cp "$data/verbs/$verb.data" .
done
cp "$data/verbs/stat-record.data" stat.data
cp "$data/verbs/trace-words.data" trace.data
cp "$data/verbs/sched.data" "$data"/timechart/*.data .
export HOME="$folder" PERF_CONFIG=config
failed=0

# Complete commands by verb; `-` in front: the verb has no --strict.
commands='script -i rec.data
report --stdio -i rec.data
annotate --stdio -i rec.data
diff rec.data rec.data
kvm stat report -i kvm.data
kvm --host report --stdio -i rec.data
kvm --host diff rec.data rec.data
sched latency -i sched.data
sched map -i sched.data
sched timehist -i sched.data
kmem -i kmem.data stat
kwork -i kwork.data report
kwork -i kwork.data latency
kwork -i kwork.data timehist
lock -i lock.data report
lock -i lock.data info -t
lock -i lock.data contention
timechart -i tasks.data -o out
c2c report --stdio -i c2c.data
mem report --stdio -i rec.data
stat report -i stat.data
trace -i trace.data
flame -i rec.data -o out
view -i rec.data
export folded -i rec.data -o out
export sqlite -i rec.data -o out
inject -i rec.data -o out
- evlist -i rec.data
- buildid-list -i rec.data
- data convert --to-json out -i rec.data
- record -o out true
- buildid-cache -l
- config report.children
- list sw
- archive rec.data'
# These read no settings.
none=' dump header aux bundle check repair assemble slice merge anonymize help version '

for verb in $("$PERFDATA" --list-cmds); do
    case $none in
    *" $verb "*) ;;
    *) echo "$commands" | grep -qE "^(- )?$verb( |\$)" ||
        { echo "$verb: not tried"; failed=1; } ;;
    esac
done

# run WORD...: what it prints and says, and how it ends
run() {
    rm -rf out ./*.tar.bz2
    timeout 60 "$PERFDATA" "$@" >text 2>said </dev/null
    code=$?
}

# tells COMMAND...
tells() {
    run "$@"
    grep -q '^bad config' said || { echo "$*, $setting: not told"; failed=1; }
}

while read -r command; do
    # shellcheck disable=SC2086
    set -- $command
    strict=yes good=0
    [ "$1" = - ] && shift && strict=no
    : >config
    [ "$1" = view ] || { run "$@"; good=$code; }
    [ "$good" = 0 ] || [ "$1" = record ] || [ "$1" = archive ] || [ "$1" = mem ] ||
        { echo "$*: ended with $good without settings"; cat said; failed=1; }
    for setting in '[ui]\nshow-headers = odd' '[stat]\nbig-num = odd' '[report]\nchildren' \
        '[llvm]\ndump-obj = odd'; do
        # shellcheck disable=SC2059
        printf "$setting\n" >config
        if [ "$1" != view ]; then # which serves until it is told to end
            run "$@"
            grep -q '^bad config' said || { echo "$*, $setting: not told"; failed=1; }
            [ "$code" = "$good" ] ||
                { echo "$*, $setting: ended with $code, not $good"; failed=1; }
        fi
        [ $strict = yes ] || continue
        run "$@" --strict
        [ $code = 3 ] && grep -q '^perfdata.*bad config' said ||
            { echo "$* --strict, $setting: ended with $code"; cat said; failed=1; }
        [ ! -e out ] && { [ ! -s text ] || [ "$1" = view ]; } ||
            { echo "$* --strict, $setting: prints or writes all the same"; failed=1; }
    done
done <<EOF
$commands
EOF
exit $failed
