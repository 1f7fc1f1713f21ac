#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 27: every form says of each function what report --no-children and --children say, when
# its own reader reads it. Readers that are not installed are left out, and named: ./dev setup
# --oracles.
set -u
export LC_ALL=C.UTF-8 PERF_CONFIG=/dev/null TZ=UTC
totals=$1
command -v python3 >/dev/null || { echo 'skipped: no python3'; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# go builds pprof once, not in each new home.
command -v go >/dev/null && GOCACHE=$(go env GOCACHE) && export GOCACHE
export PPROF_TMPDIR="$work" HOME="$work" XDG_CONFIG_HOME="$work"
failed=0 count=0 recordings=0
missing=$work/missing
: >"$missing"

has() {
    command -v "$1" >/dev/null && return
    grep -qx "$1" "$missing" || echo "$1" >>"$missing"
    return 1
}

check() {
    python3 "$SOURCE/tests/profile/readers.py" "$work/expected" "$@" ||
        { echo "  $name: $1"; failed=1; }
    count=$((count + 1))
}

# RECORDING SYMFS KALLSYMS [ITRACE]: recordings with samples of one event.
compare() {
    name=$1 itrace=${4-}
    # shellcheck disable=SC2086
    "$totals" "$name" 0 "$2" "$3" $itrace >"$work/expected" || failed=1
    set -- -f -i "$name" --symfs "$2" ${3:+--kallsyms "$3"} ${itrace:+"--itrace=$itrace"}
    recordings=$((recordings + 1))
    for format in folded speedscope chrome firefox; do
        "$PERFDATA" export $format "$@" -o "$work/$format" 2>"$work/log" ||
            { cat "$work/log"; failed=1; }
        reference=$work/folded
        [ $format != folded ] || reference=
        check $format "$work/$format" ${reference:+"$reference"}
    done
    "$PERFDATA" export pprof "$@" -o "$work/pprof"
    if has go; then
        go tool pprof -top -noinlines -nodecount=1000000 -nodefraction=0 -unit=ns "$work/pprof" \
            >"$work/text" 2>"$work/log" || {
            cat "$work/log"; failed=1; }
        check pprof "$work/text"
    fi
    "$PERFDATA" export callgrind "$@" -o "$work/callgrind"
    if has callgrind_annotate; then
        callgrind_annotate --threshold=100 --auto=no "$work/callgrind" >"$work/text" \
            2>"$work/log" || {
            cat "$work/log"; failed=1; }
        check callgrind "$work/text"
        callgrind_annotate --inclusive=yes --threshold=100 --auto=no "$work/callgrind" \
            >"$work/text" 2>"$work/log" || {
            cat "$work/log"; failed=1; }
        check callgrind_inclusive "$work/text"
    fi
}

demo=$SOURCE/tests/data/demo
compare "$demo/spin.data" "$demo/symfs" "$demo/symfs/kallsyms"
compare "$demo/shapes.data" "$demo/symfs" "$demo/symfs/kallsyms"
if [ -n "${PERFDATA_CORPUS-}" ]; then
    own=$PERFDATA_CORPUS/own
    for each in cpu-clock-fp cpp-fp dwarf-cpp inline kernel-callchains forkexec rust-v0-fp \
        rust-legacy-fp threads dlopen plt \
        user-callchains dwarf zstd-1 sys-wide max-stack; do
        compare "$own/rec/$each.data" "$own/symfs" "$own/symfs/kallsyms"
    done
    for each in c_dyn t_cyc t_sig; do
        compare "$PERFDATA_CORPUS/own-pt/rec/$each.data" "$PERFDATA_CORPUS/own-pt/symfs" '' i10us
    done
    for machine in aarch64 armhf s390x; do
        foreign=$PERFDATA_CORPUS/foreign/$machine
        compare "$foreign/rec/clock-g.data" "$foreign" "$foreign/kallsyms"
    done
fi
[ ! -s "$missing" ] || echo "not read for lack of: $(tr '\n' ' ' <"$missing")"
echo "$count readings of $recordings recordings"
exit $failed
