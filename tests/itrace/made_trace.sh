# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2034 # count is the reader's
# Read by tests of traces that are made up: a folder of their own, and perf's text beside ours.
set -u
export LC_ALL=C TZ=UTC PERF_CONFIG=/dev/null
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
export HOME="$t"
ln -s "$PERFDATA" "$t/perf"
failed=0 count=0
fail() {
    echo "FAIL: $*"
    failed=1
}

# made MAKER NAME ARGUMENT...: $t/NAME.data of tests/itrace/MAKER, with the feature that lists the
# AUXTRACE records, as perf record writes it
made() {
    maker=$SOURCE/tests/itrace/$1 name=$2
    shift 2
    python3 "$maker" "$@" >"$t/$name.text" &&
        "$PERFDATA" assemble "$t/$name.text" -o "$t/$name.data" || fail "$name: no recording"
    "$PERFDATA" dump "$t/$name.data" |
        sed -n 's/^\(0x[0-9a-f]*\) AUXTRACE size \([0-9]*\) .*followed by.*/\1 \2/p' >"$t/$name.index"
    python3 "$maker" "$@" "$t/$name.index" >"$t/$name.text" &&
        "$PERFDATA" assemble "$t/$name.text" -o "$t/$name.data" || fail "$name: no recording"
}

# exact GOLDEN ARGUMENT...: of odd.data, what perf 6.1 printed (tests/data/itrace/GOLDEN.exact)
exact() {
    file=$SOURCE/tests/data/itrace/$1.exact
    shift
    "$t/perf" "$@" -i "$t/odd.data" 2>/dev/null | sed "/^# (Tip: /d;s|$t|DIR|g" >"$t/ours"
    cmp -s "$t/ours" "$file" || fail "$*: not the text of $file"
}

# same NAME ARGUMENT...: what the installed perf prints
same() {
    name=$1
    shift
    perf "$@" -i "$t/$name.data" 2>/dev/null |
        sed '/^# (Tip: /d;/^# (Cannot load tips/d' >"$t/theirs"
    "$t/perf" "$@" -i "$t/$name.data" 2>/dev/null | sed '/^# (Tip: /d' >"$t/ours"
    count=$((count + 1))
    [ -s "$t/theirs" ] || fail "perf prints nothing of $name: $*"
    cmp -s "$t/theirs" "$t/ours" || fail "differs from perf's: $name: $*"
}

# same_threads NAME ARGUMENT...: with 2 and 8 threads what one prints
same_threads() {
    name=$1
    shift
    "$PERFDATA" "$@" -j 1 -i "$t/$name.data" >"$t/one" 2>/dev/null
    [ -s "$t/one" ] || fail "$*: prints nothing"
    for threads in 2 8; do
        "$PERFDATA" "$@" -j $threads -i "$t/$name.data" >"$t/many" 2>/dev/null
        cmp -s "$t/one" "$t/many" || fail "$*: -j $threads differs"
    done
}
