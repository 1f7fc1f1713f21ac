#!/bin/sh
# SPDX-License-Identifier: MIT
# Where perf stops or leaves out what is there: called as perf we do as well, under our own name
# nothing is lost.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
ln -s "$PERFDATA" "$work/perf"
perf=$work/perf
recording=$SOURCE/tests/data/demo/spin.data
failed=0
: >"$work/out"

complain() {
    echo "$*"
    cat "$work/out" "$work/err"
    failed=$((failed + 1))
}

# says WHAT PATTERN COMMAND...: it succeeds and prints this
says() {
    what=$1 pattern=$2
    shift 2
    "$@" >"$work/out" 2>"$work/err" </dev/null || complain "$what: exit $?"
    grep -q -- "$pattern" "$work/out" || complain "$what: no '$pattern'"
}

# silent WHAT COMMAND...: it succeeds, as perf does, and prints nothing
silent() {
    what=$1
    shift
    "$@" >"$work/out" 2>"$work/err" </dev/null || complain "$what: exit $?"
    [ ! -s "$work/out" ] || complain "$what: something is printed"
}

# A compressed pipe: perf reads no features for these views, and so cannot inflate.
"$PERFDATA" inject -z 1 -i "$recording" -o - >"$work/z" 2>"$work/err" ||
    complain 'no compressed pipe'
for view in 'report --stats' 'report --tasks' 'report --mmaps' 'buildid-list -H'; do
    # shellcheck disable=SC2086
    "$PERFDATA" $view -i "$work/z" >"$work/out" 2>"$work/err" || complain "perfdata $view: exit $?"
    [ -s "$work/out" ] || [ "$view" = 'buildid-list -H' ] || complain "perfdata $view: nothing"
    # shellcheck disable=SC2086
    silent "perf $view" "$perf" $view -i "$work/z"
    grep -q "Couldn't decompress data" "$work/err" || complain "perf $view: not a word"
done
says 'perf report of a compressed pipe' 'spin' "$perf" report -i "$work/z"

# A file's build-ids have no place in perf's pipes.
"$PERFDATA" buildid-list -i "$recording" >"$work/ids" 2>"$work/err"
[ -s "$work/ids" ] || complain 'the recording has no build-ids'
"$PERFDATA" inject -i "$recording" -o - >"$work/ours"
"$perf" inject -i "$recording" -o - >"$work/perfs"
says 'build-ids in our pipe' 'HEADER_BUILD_ID' "$PERFDATA" dump --stats -i "$work/ours"
"$PERFDATA" dump --stats -i "$work/perfs" >"$work/out" 2>"$work/err"
grep -q HEADER_BUILD_ID "$work/out" && complain "build-ids in perf's pipe"
"$perf" inject -b -i "$recording" -o - >"$work/asked"
says 'build-ids that were asked for' 'HEADER_BUILD_ID' "$PERFDATA" dump --stats -i "$work/asked"
"$perf" inject -i "$work/ours" -o - >"$work/again"
says 'build-ids of a pipe' 'HEADER_BUILD_ID' "$PERFDATA" dump --stats -i "$work/again"

# perf evlist leaves off at a pipe's first feature.
cat >"$work/late.pdt" <<'END'
perfdata-text 1
container pipe order=little
record HEADER_FEATURE {feat_id=HOSTNAME payload={text="vm"}}
record HEADER_ATTR as=cycles:HG {attr={size=128 sample_type=IP} ids=[7]}
record SAMPLE {ip=0x1000}
END
grep -v HEADER_FEATURE "$work/late.pdt" >"$work/none.pdt"
"$PERFDATA" assemble "$work/late.pdt" -o "$work/late" 2>"$work/err" || complain 'assemble'
"$PERFDATA" assemble "$work/none.pdt" -o "$work/none" 2>"$work/err" || complain 'assemble'
says 'perfdata evlist' '^cycles' "$PERFDATA" evlist -i "$work/late"
silent 'perf evlist' "$perf" evlist -i "$work/late"
says 'perf evlist without features' '^cycles' "$perf" evlist -i "$work/none"

# In the tree of calls perf's column of objects holds 49 characters and a blank.
traced=$SOURCE/tests/data/itrace
for path in /ptcorpus/bin/$(printf '%034d' 0) /ptcorpus/bin/$(printf '%035d' 0) \
    /ptcorpus/bin/$(printf '%045d' 0); do
    mkdir -p "$work/symfs/ptcorpus/bin"
    cp "$traced/symfs/ptcorpus/bin/forkexec" "$work/symfs$path"
    "$PERFDATA" dump --pdt "$traced/c_forkbid.data" 2>"$work/err" |
        sed "s|/ptcorpus/bin/forkexec|$path|" >"$work/long.pdt"
    "$PERFDATA" assemble "$work/long.pdt" -o "$work/long" 2>"$work/err" || complain 'assemble'
    says "perfdata --call-trace, ${#path} characters" "($path *)" \
        "$PERFDATA" script --call-trace --symfs "$work/symfs" -i "$work/long"
    says "perf --call-trace, ${#path} characters" "($(printf %.49s "$path") *)" \
        "$perf" script --call-trace --symfs "$work/symfs" -i "$work/long"
done
exit $failed
