#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 28: what lies around the records can be seen, too: the file's header, attributes
# and ids, each feature with its place, the parts of tracing data, the words of AUXTRACE_INFO and
# the flags of attributes by name. What dump --header tells of places must be where the bytes are.
set -u
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}
has() {
    file=$1
    shift
    for text; do
        grep -q -F -e "$text" "$file" || fail "no '$text' in $(basename "$file")"
    done
}

for order in little big; do
    # Tracing data are in the order of the bytes that tell it, whatever the file's.
    sed "s/order=little/order=$order/" "$SOURCE/tests/data/format/around.pdt" >"$t/rec.pdt"
    "$PERFDATA" assemble "$t/rec.pdt" -o "$t/rec.data" || exit 1
    "$PERFDATA" dump --header "$t/rec.data" >"$t/text" || fail "$order: dump --header"
    magic=PERFILE2
    [ $order = big ] && magic=2ELIFREP
    has "$t/text" "magic: \"$magic\"" "byte_order: $order" 'size: 104' 'attr_size: 144' 'ids: 7 8' \
        'comm = 1' \
        'feature 1 TRACING_DATA:' 'version: offset 10, size 3 "0.6"' 'byte_order: offset 14, 0' \
        'long_size: offset 15, 8' \
        'page_size: offset 16, 4096' 'header_page: offset' '"page layout"' 'header_event: offset' \
        '"entry layout"' \
        'ftrace_count: ' 'system: offset' '"sched", 1 formats' '"name: sched_switch"' \
        'kallsyms: offset' '"ffff T _text"' \
        'printk: offset' '"0x1 : \"hello\""' 'cmdlines: offset' '"10 prog"' 'feature 3 HOSTNAME:' \
        'text: "vm"' 'feature 200'
    # Each feature's bytes are where it says.
    place=$(sed -n 's/^feature 3 HOSTNAME: offset \([0-9]*\), size.*/\1/p' "$t/text")
    [ "$(dd if="$t/rec.data" bs=1 skip=$((place + 4)) count=2 2>/dev/null)" = vm ] ||
        fail "$order: HOSTNAME is not at $place"
    place=$(sed -n 's/^feature 1 TRACING_DATA: offset \([0-9]*\), size.*/\1/p' "$t/text")
    [ "$(dd if="$t/rec.data" bs=1 skip=$((place + 3)) count=7 2>/dev/null)" = tracing ] ||
        fail "$order: tracing data"
    "$PERFDATA" header --json "$t/rec.data" >"$t/json" || fail "$order: header --json"
    has "$t/json" \
        "\"header\":{\"magic\":\"$magic\",\"size\":104,\"attr_size\":144,\"attrs\":{\"offset\":" \
        '"feature_bits":["0x' \
        '"sections":[{"feature":1,"name":"TRACING_DATA","offset":' '"feature":200,"name":null' \
        '"id_list":["7","8"]' \
        '{"part":"version","offset":10,"size":3,"text":"0.6"}' '"part":"system"' \
        '"part":"cmdlines"' '"tracing_whole":true' \
        '"text":"10 prog\n"'
    "$PERFDATA" dump --header --json "$t/rec.data" | cmp - "$t/json" ||
        fail "$order: dump --header --json"
    if command -v python3 >/dev/null; then
        python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$t/json" ||
            fail "$order: not JSON"
    fi
    "$PERFDATA" dump "$t/rec.data" >"$t/dump"
    has "$t/dump" 'pmu_type 0x0000000000000008' 'time_shift 0x000000000000001f' \
        'filter_length 0x0000000000000009' \
        'filter 0x' 'cap_event_trace 0x0000000000000001'
    "$PERFDATA" dump --json "$t/rec.data" >"$t/lines"
    has "$t/lines" '"priv_names":["pmu_type","time_shift","time_mult","time_zero"' \
        '"filter","filter","cap_event_trace"]'
done

# Tracing data that end early: what there is, and a word.
sed 's/000000000000000831302070726f670a/00000000000000ff31302070726f670a/; s/080000000000000031302070726f670a/ff0000000000000031302070726f670a/' \
    "$SOURCE/tests/data/format/around.pdt" >"$t/cut.pdt"
"$PERFDATA" assemble "$t/cut.pdt" -o "$t/cut.data" || exit 1
"$PERFDATA" dump --header "$t/cut.data" >"$t/text"
has "$t/text" '# ends early' 'printk: offset'

# A pipe has no sections; flags of the attributes in its records are named.
"$PERFDATA" assemble "$SOURCE/tests/golden/record_header_attr.pdt" -o "$t/attr.data" || exit 1
"$PERFDATA" dump --json "$t/attr.data" >"$t/lines"
has "$t/lines" '"flag_names":["'
exit $failed
