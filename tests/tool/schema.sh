#!/bin/sh
# SPDX-License-Identifier: MIT
# Every JSON output against its schema in docs/schema, on recordings of all kinds; and the schemas
# refuse what they should.
set -u
export LC_ALL=C PERF_CONFIG=/dev/null TZ=UTC
command -v python3 >/dev/null || { echo 'skipped: no python3'; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export HOME="$work"
failed=0 values=0 runs=0
fail() { echo "$*"; failed=1; }

# SCHEMA LINES ARGUMENT...: what perfdata prints with them
check() {
    schema=$1 lines=$2
    shift 2
    "$PERFDATA" "$@" >"$work/out" 2>"$work/log"
    code=$?
    [ $code -le 1 ] || return 0 # what the recording has not is refused
    python3 "$SOURCE/tests/tool/schema.py" "$SOURCE/docs/schema/$schema.json" $lines <"$work/out" \
        >"$work/text" 2>"$work/count" ||
        fail "$schema: perfdata $*: $(cat "$work/text" "$work/count" | tail -5)"
    values=$((values + $(tail -1 "$work/count")))
    runs=$((runs + 1))
}

# RECORDING
all() {
    check dump --lines dump --json -i "$1"
    check header '' header --json -i "$1"
    check header '' dump --header --json -i "$1"
    check evlist --lines evlist --json -i "$1"
    check evlist --lines evlist --json --trace-fields -i "$1"
    check script --lines script --json -i "$1"
    check script --lines script --json -G -F +srcline,+misc,+pid -i "$1"
    for field in addr,sym data_src weight ins_lat phys_addr data_page_size code_page_size iregs \
        uregs brstack brstacksym bpf-output tod \
        flags insn,insnlen ipc synth machine_pid,vcpu; do
        check script --lines script --json -F "+$(echo $field | sed 's/,/,+/g')" -i "$1"
    done
    check report --lines report --json -n -i "$1"
    check report --lines report --json --no-group --no-children -s pid,cpu,dso,sym,srcline -i "$1"
    check report --lines report --json -s comm,trace_fields -F +period,+sample -i "$1"
    check perf-json '' export json -i "$1"
    for view in list stat dump index; do
        check aux-$view --lines aux $view --json -i "$1"
    done
}

for recording in "$SOURCE"/tests/data/demo/*.data "$SOURCE"/tests/data/report/*.data \
    "$SOURCE"/tests/data/script/*.data \
    "$SOURCE"/tests/data/itrace/*.data; do
    [ "$(stat -c %s "$recording")" -gt 200000 ] || all "$recording"
done
check list --lines list --json
reports=$SOURCE/tests/data/report
for options in '' '-s comm,dso,sym' '-s pid,cpu,srcline' '-c ratio'; do
    check diff '' diff --json $options "$reports/threads.data" "$reports/forkexec.data" \
        "$reports/threads.data"
done
[ $runs -gt 300 ] && [ $values -gt 10000 ] || fail "only $runs runs with $values values"

# A schema that takes everything checks nothing.
refused() {
    printf '%s\n' "$2" |
        python3 "$SOURCE/tests/tool/schema.py" "$SOURCE/docs/schema/$1.json" --lines >/dev/null \
        2>&1 &&
        fail "$1 takes $2"
}
refused script '{"ip":1}'
refused script '{"ip":"0x1","other":1}'
refused script '{"time":"1","time":"2"}'
refused script '{"callchain":[{"ip":1}]}'
refused report '{"event":"a","overhead":"1"}'
refused report '{"overhead":1}'
refused dump '{"offset":0}'
refused perf-json '{"samples":[]}'
refused aux-list '{"nr":"1"}'
refused evlist '{"name":"a"}'
refused list '{"name":"cs"}'
refused diff '{"recordings":["a"],"events":[{"event":"e","totals":[],"rows":[{"symbol":"f"}]}]}'
refused diff \
    '{"recordings":[],"events":[{"event":"e","totals":[{"period":1,"samples":1}],"rows":[]}]}'
refused header '{}'
echo "$runs runs, $values values"
exit $failed
