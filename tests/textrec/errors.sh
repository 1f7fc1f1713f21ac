#!/bin/sh
# SPDX-License-Identifier: MIT
# What is wrong with a text recording is told with line and column, and leaves no file behind.
set -u
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
failed=0

# expect PLACE MESSAGE: of the text on standard input
expect() {
    cat >"$out/in"
    if "$PERFDATA" assemble "$out/in" -o "$out/data" 2>"$out/err"; then
        echo "taken: $*"
        failed=$((failed + 1))
    elif ! grep -qF ":$1: $2" "$out/err"; then
        echo "expected :$1: $2"
        cat "$out/err"
        failed=$((failed + 1))
    fi
    [ "$(ls "$out")" = "$(printf 'err\nin')" ] ||
        { echo "files left: $(ls "$out")"; failed=$((failed + 1)); }
}

head='perfdata-text 1
container file order=little'
expect 1:1 'expected perfdata-text 1' </dev/null
echo 'gap x"00"' | expect 1:1 'expected perfdata-text 1'
printf 'perfdata-text 1\n' | expect 2:1 'expected container'
printf '%s\nrecord COMM {pid=1 comm="x" sp=3}\n' "$head" | expect 3:29 'expected no field sp here'
printf '%s\nrecord COMM {pid=1 comm="x}\n' "$head" | expect 3:28 'expected " at the end of a text'
printf '%s\nrecord NOBODY {}\n' "$head" | expect 3:8 "expected a record's type"
printf '%s\nrecord 3 {pid=0x1ffffffff}\n' "$head" | expect 3:15 'pid: expected a number of 32 bits'
printf '%s\nrecord ID_INDEX {nr=3\n  entries=[{id=1}]}\n' "$head" |
    expect 3:21 'expected 1, as entries has it'
printf '%s\ngap x"0g"\n' "$head" | expect 3:8 'expected two hexadecimal digits'
printf '%s\nrecord 3 {pid=[1}\n' "$head" | expect 3:17 'expected ]'
printf '%s\nrecord 9 event=cycles {}\n' "$head" | expect 3:16 'expected the name of an attr above'
printf '%s\nfeature HOSTNAME {text="x"}\n' "$head" |
    expect 3:1 'expected a feature that `features` above names'
[ $failed -eq 0 ]
