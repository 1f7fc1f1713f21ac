#!/bin/sh
# SPDX-License-Identifier: MIT
# Exit codes and messages of wrong usage, under both names.
set -u
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
ln -s "$PERFDATA" "$directory/perf"
perf=$directory/perf
failed=0

# expect CODE PATTERN COMMAND...: the exit code, and a pattern in what is printed.
expect() {
    code=$1 pattern=$2
    shift 2
    "$@" >"$directory/out" 2>&1 </dev/null
    got=$?
    if [ $got -ne "$code" ] || ! grep -q -- "$pattern" "$directory/out"; then
        echo "$*: exit $got, not $code, or nothing like '$pattern':"
        cat "$directory/out"
        failed=1
    fi
}

expect 0 'VERB' "$PERFDATA"
expect 0 'version' "$PERFDATA" help
expect 0 'completion' "$PERFDATA" help help
expect 0 '^perfdata 0' "$PERFDATA" --version
expect 0 '^perf version 6.1' "$perf" version
expect 2 'near: version' "$PERFDATA" versoin
expect 1 'near: version' "$perf" versoin
expect 2 'near: --completion' "$PERFDATA" help --completoin
expect 129 'unknown option' "$perf" help --completoin
expect 2 'unknown option --buildid-dir=x' "$PERFDATA" --buildid-dir=x \
    # as perf: its value is the next word
expect 2 'not supported yet' "$PERFDATA" --debugfs-dir /x record
expect 129 'help' "$perf" help -h
expect 0 'help' "$PERFDATA" help -h
if [ -w /dev/full ]; then
    "$PERFDATA" version >/dev/full 2>"$directory/out"
    [ $? -eq 4 ] || { echo "a full disk must end with 4"; failed=1; }
fi
"$PERFDATA" help --options-table | head -n 1 >/dev/null
for columns in 40 80 132; do
    for verb in $("$PERFDATA" help | sed -n 's/^  \([a-z-]*\)  .*/\1/p'); do
        COLUMNS=$columns "$PERFDATA" help "$verb" | awk -v w=$columns -v v="$verb" '
            length($0) > w && !/^  perfdata/ && $0 ~ /  / {
                print v ": wider than " w ": " $0
                bad = 1
            }
            END { exit bad }' || failed=1
    done
done
exit $failed
