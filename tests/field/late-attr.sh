#!/bin/sh
# SPDX-License-Identifier: MIT
# A pipe that describes events behind its first records: readers have made room for those before
# them, and wrote and read behind its end. The late ones are told and left out.
set -u
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
failed=0
fail() { echo "FAIL: $*"; failed=1; }
"$PERFDATA" assemble "$SOURCE/tests/data/field/late-attr/late.pdt" -o "$t/late.data" || exit 1
for verb in script 'script --json' 'report --stdio' 'export json -o -' 'export chrome -o -' \
    'export firefox -o -' 'export pprof -o -' 'export csv -o OUT' 'export ctf -o OUT' trace \
    'kwork report'; do
    rm -rf "$t/out"
    # shellcheck disable=SC2086
    "$PERFDATA" $(echo "$verb" | sed "s|OUT|$t/out|") -i "$t/late.data" >"$t/text" 2>"$t/err"
    [ $? -lt 128 ] || fail "$verb died"
    grep -q 'bad-attr: an event that is described behind the first records.* 3 times' "$t/err" ||
        { cat "$t/err"; fail "$verb does not tell"; }
done
"$PERFDATA" script -F time,ip -i "$t/late.data" >"$t/text" 2>/dev/null
[ "$(awk '{ print $1 }' "$t/text" | tr '\n' ' ')" = '1.000000: 2.000000: 6.000000: 7.000000: ' ] ||
    { cat "$t/text"; fail 'samples of the first events'; }
exit $failed
