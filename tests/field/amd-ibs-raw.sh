#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 21: the registers of AMD's instruction-based sampling in script -D and report -D,
# as perf 6.1 printed them for the same bytes: family 19h models 0 to 0fh, whose fields are not all
# to be trusted, later ones, Zen 4; and raw data that end early, where perf reads on in the file.
set -u
data=$SOURCE/tests/data/field/amd-ibs-raw
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
failed=0
for name in zen3 later zen4 short; do
    "$PERFDATA" assemble "$data/$name.pdt" -o "$t/$name.data" || exit 1
    for verb in script report; do
        "$PERFDATA" $verb -D -i "$t/$name.data" 2>"$t/err" |
            grep -a -E '^(ibs|Ibs|ic_ibs)' >"$t/out"
        cmp "$data/$name.exact" "$t/out" || failed=1
        if [ $name = short ]; then
            grep -q 'raw data of an IBS sample lack a register' "$t/err" ||
                { echo "FAIL: nothing said"; failed=1; }
        elif grep -q -e bad-sample -e IBS "$t/err"; then # perf's own warnings may stand there
            cat "$t/err"
            failed=1
        fi
    done
done
# Of another maker's processor the same bytes mean nothing.
sed 's/AuthenticAMD/GenuineIntel/' "$data/zen4.pdt" >"$t/intel.pdt"
"$PERFDATA" assemble "$t/intel.pdt" -o "$t/intel.data" || exit 1
"$PERFDATA" script -D -i "$t/intel.data" | grep -q -a '^ibs' &&
    { echo "FAIL: another maker's"; failed=1; }
# In a stream there is nothing to read on in.
"$PERFDATA" script -D -i - <"$t/short.data" >/dev/null 2>&1 || :
exit $failed
