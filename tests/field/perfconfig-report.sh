#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 24: settings of ~/.perfconfig or PERF_CONFIG hold for report as with perf 6.1,
# options go before them, and what is not honoured is told. Each setting is compared with the option
# that means it, and with the installed perf.
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
case=$SOURCE/tests/data/field/perfconfig-report
cp "$case/rec.data" "$SOURCE/tests/data/report/calls.data" "$folder"
cd "$folder" || exit 1
ln -s "$PERFDATA" perf
mkdir home
failed=0
unset PERF_CONFIG
export HOME=/nonexistent

PERF_CONFIG=$case/perfconfig "$PERFDATA" report --stdio -i rec.data >out 2>/dev/null
grep -q Overhead out && ! grep -q Children out ||
    { echo 'report.children = false has no effect'; failed=1; }
PERF_CONFIG=$case/perfconfig "$PERFDATA" report --stdio --children -i rec.data | grep -q Children ||
    { echo '--children does not go before report.children'; failed=1; }
cp "$case/perfconfig" home/.perfconfig
HOME=$folder/home "$PERFDATA" report --stdio -i rec.data | grep -q Children &&
    { echo '.perfconfig is not read'; failed=1; }

# means SETTINGS OPTIONS [MORE]: with MORE, the settings print what the options print, which is
# something else than without.
means() {
    printf "$1" >config
    for recording in *.data; do
        # shellcheck disable=SC2086
        PERF_CONFIG=config "$PERFDATA" report --stdio ${3-} -i "$recording" >found 2>said
        # shellcheck disable=SC2086
        PERF_CONFIG=/dev/null "$PERFDATA" report --stdio $2 ${3-} -i "$recording" >expected \
            2>/dev/null
        cmp -s found expected ||
            { echo "$1 is not $2 ${3-} ($recording)"; diff found expected | head -5; failed=1; }
        perf --version 2>/dev/null | grep -q 'version 6\.1\.' || continue
        # shellcheck disable=SC2086
        PERF_CONFIG=config perf report --stdio ${3-} -i "$recording" 2>/dev/null |
            grep -v '^# (' >expected
        grep -v '^# (' found | cmp -s - expected ||
            { echo "$1 ${3-}: not as perf ($recording)"; failed=1; }
    done
}
means '[report]\nchildren = off\n' --no-children
means '[report]\nchildren = off\n' --children --children
means '[report]\npercent-limit = 5\n' '--percent-limit 5'
means '[report]\npercent-limit = 5\n' '' '--percent-limit 1'
means '[report]\nsort_order = dso\n' '-s dso' --no-branch-stack
means '[report]\nsort_order = dso\n' '' '-s comm'
means '[report]\nsort_order = dso\n' '' '-F overhead'
means '[call-graph]\nprint-type = flat\n' '-g flat'
means '[call-graph]\nprint-type = flat\n' '' '-g graph'
means '[call-graph]\norder = callee\n' '-g callee'
means '[call-graph]\nthreshold = 20\n' '-g 20'
means '[call-graph]\nprint-limit = 2\nthreshold = 10\n' '-g 10,2'
means '[hist]\npercentage = relative\n' '--percentage relative' '--comm nobody,spin'
means '[report]\ngroup = true\n' ''
means '[report]\ngroup = true\n' --group --group
means '[report]\ngroup = false\n' ''
# Events recorded as groups, and those of no group, which the setting does not join. It parts
# groups as --no-group does; headings of other events differ from that option's.
cp "$SOURCE/tests/data/report/groups-two.data" "$SOURCE/tests/data/verbs/tp-sched.data" .
means '[report]\ngroup = true\n' '' '-g none'
means '[report]\ngroup = maybe\n' '' '-g none'
means '[report]\ngroup = false\n' --group '--group -g none'
PERF_CONFIG=config "$PERFDATA" report --stdio --no-group -g none -i groups-two.data 2>said |
    grep -v '^# (' >parted
rm groups-two.data
means '[report]\ngroup = false\n' '' '-g none'
cp "$SOURCE/tests/data/report/groups-two.data" .
PERF_CONFIG=config "$PERFDATA" report --stdio -g none -i groups-two.data 2>said |
    grep -v '^# (' | cmp -s - parted ||
    { echo 'report.group = false does not part groups'; failed=1; }
rm groups-two.data tp-sched.data
means '[report]\nqueue-size = 1M\n[colors]\ntop = red\n[ui]\nshow-headers = false\n[pager]\nreport = false\n' ''

# says PATTERN SETTINGS VERB
says() {
    printf "$2" >config
    PERF_CONFIG=config "$PERFDATA" $3 -i rec.data 2>&1 >/dev/null | grep -q "$1" ||
        { echo "$2: not told"; failed=1; }
}
says "bad config value for 'report.children', ignoring..." '[report]\nchildren = maybe\n' report
says 'report.nonsense' '[report]\nnonsense = 1\n' report
says 'Invalid callchain mode: odd' '[call-graph]\nprint-type = odd\n' report
says 'Invalid callchain order: odd' '[call-graph]\norder = odd\n' script
says 'wrong config key-value pair hist.percentage=odd' '[hist]\npercentage = odd\n' report
# What perf says of settings, in its order, and how it ends.
case $(perf --version 2>/dev/null) in
'perf version 6.1.'*)
    told=0
    for settings in 'report]\nchildren\n' 'call-graph]\nprint-type = odd\n[x\n' \
        'call-graph]\norder = odd\n' 'call-graph]\nthreshold = odd\n' \
        'hist]\npercentage = odd\n' 'report]\nchildren = maybe\n[x\n' \
        'call-graph]\nsort-key = odd\n' 'call-graph]\nprint-limit = odd\n' \
        'call-graph]\nrecord-mode = lbr,x\n' 'call-graph]\nrecord-mode = dwarf,0\n' \
        'call-graph]\ndump-size = 65529\n' 'llvm]\nodd = 1\n' 'llvm]\ndump-obj = odd\n' \
        'ui]\nshow-headers = odd\n' 'stat]\nbig-num = odd\n' 'annotate]\ndemangle = odd\n' \
        'diff]\norder = odd\n' 'diff]\ncompute = odd\n'; do
        printf "[$settings" >config
        for verb in 'report --stdio -i' 'script -i' 'annotate --stdio -i' 'diff rec.data'; do
            # shellcheck disable=SC2086
            PERF_CONFIG=config perf $verb rec.data 2>&1 >/dev/null |
                grep -E 'config|call-?chain|compute' >expected
            [ ! -s expected ] || told=$((told + 1))
            # shellcheck disable=SC2086
            PERF_CONFIG=config ./perf $verb rec.data 2>&1 >/dev/null |
                grep -E 'config|call-?chain|compute' >found
            diff expected found || { echo "perf $verb with [$settings"; failed=1; }
        done
    done
    [ $told -ge 50 ] || { echo "perf says something of $told settings only"; failed=1; }
    ;;
esac
for verb in report script; do
    # As perf counts the line: that behind a section that ends too early, but that of any other
    # fault.
    says 'bad config file line 2 in config' '[bad\n' $verb
    says 'bad config file line 1 in config' '[bad' $verb
    says 'bad config file line 2 in config' '[good]\nx = "open\n[y]\n' $verb
    for key in annotate.objdump ui.show-headers colors.top core.pager color.ui; do
        printf '[%s]\n%s = 1\n' "${key%%.*}" "${key#*.}" >config
        [ "$(PERF_CONFIG=config "$PERFDATA" $verb -i rec.data 2>&1 >/dev/null |
            grep -c "$key")" -eq 1 ] ||
            { echo "$verb: $key is not told once"; failed=1; }
        PERF_CONFIG=config ./perf $verb -i rec.data 2>&1 >/dev/null | grep -q perfconfig &&
            { echo "perf $verb tells of $key"; failed=1; }
    done
done

# script's chains, the callers first.
printf '[call-graph]\norder = caller\n' >config
for recording in demo/shapes demo/spin report/forkexec report/calls; do
    recording=$SOURCE/tests/data/$recording.data
    PERF_CONFIG=config ./perf script -i "$recording" >found 2>/dev/null
    ./perf script -i "$recording" >plain 2>/dev/null
    cmp -s found plain && { echo "call-graph.order changes nothing ($recording)"; failed=1; }
    sort found >a
    sort plain | cmp -s - a ||
        { echo "call-graph.order changes more than the order ($recording)"; failed=1; }
    perf --version 2>/dev/null | grep -q 'version 6\.1\.' || continue
    PERF_CONFIG=config perf script -i "$recording" 2>/dev/null | cmp -s - found ||
        { echo "call-graph.order: script is not as perf ($recording)"; failed=1; }
done

# buildid.dir: a cache in which an object lies that is nowhere else; --buildid-dir before the verb
# goes before it.
id=$("$PERFDATA" buildid-list -i rec.data | sed -n 's|^\([0-9a-f]*\) /.*|\1|p' | head -1)
[ -n "$id" ] || { echo 'no object with a build-id'; failed=1; }
object=$SOURCE/tests/data/field/jitdump-inplace-unwind/symfs/own/jit/field/w/jd/jp
name=$("$PERFDATA" buildid-list -i rec.data | sed -n "s|^$id ||p")
mkdir -p "cache/.build-id/$(echo "$id" | cut -c1-2)" "cache$name/$id"
cp "$object" "cache$name/$id/elf"
ln -s "../..$name/$id" "cache/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)"
for verb in script report; do
    "$PERFDATA" $verb -i rec.data >plain 2>/dev/null
    "$PERFDATA" --buildid-dir "$PWD/cache" $verb -i rec.data >expected 2>/dev/null
    printf '[buildid]\n\tdir = %s/cache\n' "$PWD" >config
    PERF_CONFIG=config "$PERFDATA" $verb -i rec.data >found 2>/dev/null
    cmp -s plain expected && { echo "$verb: --buildid-dir finds nothing"; failed=1; }
    cmp -s found expected || { echo "$verb: buildid.dir is not --buildid-dir"; failed=1; }
    PERF_CONFIG=config "$PERFDATA" --buildid-dir /nonexistent $verb -i rec.data 2>/dev/null |
        cmp -s - plain ||
        { echo "$verb: --buildid-dir does not go before buildid.dir"; failed=1; }
done
exit $failed
