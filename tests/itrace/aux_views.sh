#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 26: aux list fits into 80 columns with hexadecimal numbers marked; buffer numbers
# do not change with -C; a CPU that is not there is an error that names those there are, in aux as
# in script, report, slice and export; aux extract says what it writes and refuses a directory that
# holds an extract; inject takes the recording as other verbs do, export takes -f.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

complain() {
    echo "$*"
    failed=$((failed + 1))
}

# A trace of three CPUs; what is in it does not matter here. $1: what the header says of CPUs
make() {
    cat <<END
perfdata-text 1
container file order=little header_size=104
attr cpu-clock={type=software size=128 sample_period=1000000 sample_type=IP|TID|TIME|CPU flags=sample_id_all|mmap2|comm|task} ids=[7]
ids cpu-clock
attrs
data
record AUXTRACE_INFO {auxtrace_type=intel_pt priv=[0x8 0 0x1 0 0x1 0x400 0x800 0x3 0 0x1 0x200 0x3c000 0xb8 0x2 0x2 0x17 0 0]}
END
    for buffer in '0 0x0 0x22658a6760' '1 0x0 0xfffffffffff' '3 0x0 0x1' \
        '0 0x123456789a 0x22658a6790' '3 0x1000 0xffffffffffff'; do
        set -- "$1" $buffer
        echo "record AUXTRACE {data_size=0x10 offset=$3 reference=$4 idx=$2 tid=-1 cpu=$2}"
        echo 'gap x"02820282028202820282028202820282"'
    done
    echo end
    [ -z "$1" ] || echo 'features NRCPUS'
    [ -z "$1" ] || echo "feature NRCPUS {available=$1 online=$1}"
}

for cpus in 4 64 ''; do
    make "$cpus" >"$work/text"
    "$PERFDATA" assemble "$work/text" -o "$work/rec$cpus" ||
        { echo 'the trace cannot be assembled'; exit 1; }
done
rec=$work/rec4

# ---- list ----

"$PERFDATA" aux list "$rec" >"$work/list" || complain 'aux list fails'
[ "$(grep -vc '^#' "$work/list")" = 5 ] || complain 'aux list has not 5 buffers'
awk 'length > 80 { exit 1 }' "$work/list" || complain 'aux list is wider than 80 columns'
grep -v '^#' "$work/list" |
    awk '$5 !~ /^0x[0-9a-f]+$/ || $7 !~ /^0x[0-9a-f]+$/ || $8 !~ /^0x[0-9a-f]+$/ { exit 1 }' ||
    complain 'a hexadecimal number is not marked'
grep -q '^ *4 .* 0x123456789a ' "$work/list" || complain 'an offset is not the recorded one'
for file in "$SOURCE"/tests/data/itrace/*.data; do
    "$PERFDATA" aux list "$file" 2>/dev/null |
        awk -v file="$file" 'length > 80 { print file; exit }'
done | grep . && complain 'aux list is wider than 80 columns'

# ---- numbers, with and without -C ----

"$PERFDATA" aux list --json "$rec" | sed -n 's/.*"nr":\([0-9]*\),.*"cpu":3,.*/\1/p' >"$work/all"
"$PERFDATA" aux list --json -C 3 "$rec" | sed -n 's/.*"nr":\([0-9]*\),.*/\1/p' >"$work/some"
[ "$(tr '\n' ' ' <"$work/all")" = '3 5 ' ] ||
    complain "the buffers of CPU 3 are $(tr '\n' ' ' <"$work/all")"
cmp -s "$work/all" "$work/some" || complain 'buffer numbers change with -C'
"$PERFDATA" aux dump -C 3 "$rec" 2>/dev/null | grep -q 'buffer 5' ||
    complain 'aux dump -C 3 has no buffer 5'

# ---- CPUs that are not there ----

# refused TEXT COMMAND...: exit code 2, and the text on standard error
refused() {
    text=$1
    shift
    "$PERFDATA" "$@" >"$work/out" 2>"$work/err"
    [ $? = 2 ] || complain "$*: is not refused"
    grep -q "$text" "$work/err" || complain "$*: says $(cat "$work/err")"
}
for verb in list dump stat index; do
    refused '^perfdata aux: -C 9: no such CPU: there are CPUs 0-3$' aux $verb -C 9 "$rec"
    # the header knows of CPU 9, the trace does not, or there is no header
    refused '^perfdata aux: -C 9: no such CPU: there are traces of CPUs 0-1,3$' aux $verb -C 9 \
        "${rec%4}64"
    refused '^perfdata aux: -C 9: no such CPU: there are traces of CPUs 0-1,3$' aux $verb -C 9 \
        "${rec%4}"
done
refused 'there are CPUs 0-3$' aux extract -C 2-9 "$rec" -o "$work/none"
for command in script 'report --stdio' "slice -o $work/none" "export postgresql -o $work/none"; do
    refused ': -C 99: no such CPU: there are CPUs 0-3$' $command -C 99 "$rec"
done
[ -e "$work/none" ] && complain 'a refused command leaves an output'
# called as perf, perf's text
ln -s "$PERFDATA" "$work/perf"
"$work/perf" script -f -C 1-9 -i "$rec" 2>"$work/err"
grep -q 'Requested CPU 4 too large. Consider raising MAX_NR_CPUS' "$work/err" ||
    complain "as perf: $(cat "$work/err")"

# ---- extract ----

"$PERFDATA" aux extract "$rec" -o "$work/traces" >"$work/out" || complain 'aux extract fails'
printf 'cpu0.pt: 2 buffers, 32 bytes\ncpu1.pt: 1 buffer, 16 bytes\ncpu3.pt: 2 buffers, 32 bytes\n' |
    cmp -s - "$work/out" ||
    complain "extract says $(cat "$work/out")"
cp -r "$work/traces" "$work/before"
"$PERFDATA" aux extract -C 1 "${rec%4}64" -o "$work/traces" 2>"$work/err"
[ $? = 4 ] || complain 'a directory that holds an extract is not refused'
grep -q "$work/traces: holds an extract already" "$work/err" ||
    complain "extract says $(cat "$work/err")"
diff -r "$work/before" "$work/traces" >/dev/null ||
    complain 'a refused extract changes the directory'
mkdir "$work/other"
: >"$work/other/notes.txt"
"$PERFDATA" aux extract "$rec" -o "$work/other" >/dev/null ||
    complain 'a directory without an extract is refused'

# ---- the recording's name ----

demo=$SOURCE/tests/data/demo/spin.data
"$PERFDATA" inject -i "$demo" -o "$work/one" && "$PERFDATA" inject "$demo" -o "$work/two" ||
    complain 'inject FILE fails'
cmp -s "$work/one" "$work/two" || complain 'inject FILE writes another recording'
"$PERFDATA" inject -b "$demo" "$demo" -o "$work/two" 2>/dev/null &&
    complain 'inject takes two recordings'
"$PERFDATA" inject -i "$demo" "$demo" -o "$work/two" 2>/dev/null &&
    complain 'inject takes a recording twice'
"$PERFDATA" export postgresql -f "$demo" -o "$work/sql" || complain 'export -f fails'
[ $failed -eq 0 ]
