#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 14: a jitdump that is read in place (--jitdump) brings rules to unwind by, as
# after inject -j. Its machine is the recording's and its code the process's that mapped it,
# whatever the runtime wrote into it.
set -u
data=$SOURCE/tests/data/field/jitdump-inplace-unwind
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}
script() {
    "$PERFDATA" script --symfs "$data/symfs" --jitdump="$t" -F ip,sym,dso -i "$data/rec.data" \
        >"$t/out" 2>"$t/err" ||
        fail "script"
}
dump=$t/jit-16166.dump
# patch OFFSET BYTES
patch() { printf "$2" | dd of="$dump" bs=1 seek="$1" conv=notrunc 2>/dev/null; }

cp "$data/jit-16166.dump" "$dump" && chmod u+w "$dump" || exit 1
script
grep -A2 ' work_leaf ' "$t/out" | tr -s '\n\t ' ' ' | grep -q 'work_leaf .* jit_frame .* main ' ||
    fail "the chain breaks off"
cp "$t/out" "$t/right"
for machine in '\0\0' '\267\0' '\377\377'; do
    patch 12 "$machine"
    script
    cmp "$t/right" "$t/out" || fail "machine $machine"
    [ ! -s "$t/err" ] || fail "machine $machine: something was said"
done
# The record of the code, the second behind the header of 40 bytes, for process 1.
first=$(od -An -t u4 -j 44 -N 4 "$dump" | tr -d ' ')
patch $((40 + first + 16)) '\001\0\0\0\001\0\0\0'
script
cmp "$t/right" "$t/out" || fail "code for another process"
[ "$(grep -c 'name another process' "$t/err")" = 1 ] ||
    fail "nobody said that it names another process"
# inject makes the same of it.
mkdir "$t/w" && "$PERFDATA" dump --pdt "$data/rec.data" |
    sed "s|filename=\"[^\"]*jit-16166.dump|filename=\"$dump|" >"$t/rec.pdt"
"$PERFDATA" assemble "$t/rec.pdt" -o "$t/rec.data" || fail "assemble"
"$PERFDATA" inject -j -i "$t/rec.data" -o "$t/out.data" 2>"$t/err" || fail "inject"
grep -q 'name another process' "$t/err" || fail "inject does not say that it names another process"
cp -r "$data/symfs/own" "$t/own" && "$PERFDATA" dump --pdt "$t/out.data" |
    sed "s|filename=\"/own|filename=\"$t/own|" >"$t/in.pdt"
"$PERFDATA" assemble "$t/in.pdt" -o "$t/in.data" || fail "assemble"
own() { grep ' work_leaf$\| jit_frame$\| main$'; }
"$PERFDATA" script -F ip,sym -i "$t/in.data" 2>/dev/null | own >"$t/out"
"$PERFDATA" script -F ip,sym --symfs "$data/symfs" --jitdump="$t" -i "$data/rec.data" 2>/dev/null |
    own >"$t/place"
[ -s "$t/out" ] && cmp "$t/place" "$t/out" || fail "inject -j and --jitdump differ"
exit $failed
