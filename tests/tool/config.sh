#!/bin/sh
# SPDX-License-Identifier: MIT
# config beside perf: the same steps on two files, the same output, exit codes and files; comments
# are not lost.
set -u
command -v perf >/dev/null 2>&1 || { echo 'skipped: no perf'; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
unset PERF_CONFIG
mkdir "$out/bin" "$out/perf" "$out/our"
ln -s "$(command -v "$PERFDATA")" "$out/bin/perf"
perf=$(command -v perf)
steps=0 failed=0
fail() {
    echo "$*"
    failed=$((failed + 1))
}

step() {
    steps=$((steps + 1))
    for who in perf our; do
        program=$perf
        [ $who = perf ] || program=$out/bin/perf
        HOME=$out/$who "$program" config "$@" >"$out/$who.text" 2>/dev/null
        echo "exit $?" >>"$out/$who.text"
        cat "$out/$who/.perfconfig" >>"$out/$who.text" 2>/dev/null
    done
    cmp -s "$out/perf.text" "$out/our.text" || {
        fail "differs: $*"
        diff "$out/perf.text" "$out/our.text"
    }
}

step -l
step
step report.children
step report.children=false
step report.children report.group ui.show-headers=true call-graph.record-mode=dwarf
step report.percent-limit=5
step -l
step report.children=true
step REPORT.Children
step nothing.here
step word
step .key=1
step section.key=
step --user -l
step --user --system -l
step -l word.key
step 'annotate.objdump=/opt/my tools/objdump'
step -l
grep -q 'record-mode = dwarf' "$out/our/.perfconfig" || fail 'nothing was written'

# Values come back as they were set, whatever is in them.
for value in 'a;b' 'a # b' ' a ' 'say "x"' 'back\slash'; do
    HOME=$out/our "$PERFDATA" config "test.value=$value" || fail "not set: $value"
    [ "$(HOME=$out/our "$PERFDATA" config test.value)" = "test.value=$value" ] ||
        fail "comes back differently: $value"
done

# A person's file is not lost, and keeps its mode.
printf '# mine\n[report]\n\tchildren = false # why\n\tflag\n' >"$out/our/.perfconfig"
chmod 600 "$out/our/.perfconfig"
HOME=$out/our "$PERFDATA" config report.group=true 2>"$out/said" || fail 'not set'
grep -q '^# mine' "$out/our/.perfconfig.old" && grep -q perfconfig.old "$out/said" ||
    fail 'the old file is gone'
[ "$(stat -c %a "$out/our/.perfconfig")" = 600 ] || fail 'another mode'
[ "$(HOME=$out/our "$PERFDATA" config -l)" = 'report.children=false
report.group=true' ] || fail 'settings are lost'

# perf writes a file that it cannot read again.
HOME=$out/our "$PERFDATA" config section.=1 2>/dev/null
[ $? -eq 2 ] || fail 'a setting without a name'

# PERF_CONFIG names the file.
PERF_CONFIG=$out/other "$PERFDATA" config a.b=1 && grep -q 'b = 1' "$out/other" ||
    fail 'PERF_CONFIG'

# A link stays and its file is written; what is no regular file stays as it is (issue 24, point 1).
ln -s other "$out/link"
PERF_CONFIG=$out/link "$PERFDATA" config c.d=2 && [ -L "$out/link" ] &&
    grep -q 'd = 2' "$out/other" || fail 'a link'
mkfifo "$out/fifo"
PERF_CONFIG=$out/fifo timeout 20 "$PERFDATA" config a.b=1 2>/dev/null
[ $? -eq 4 ] && [ -p "$out/fifo" ] || fail 'a FIFO is replaced'
HOME=/nowhere/at/all "$PERFDATA" config a.b=1 2>/dev/null
[ $? -eq 4 ] || fail 'a folder that is not there'
echo "$steps steps, $failed differ"
[ $steps -gt 15 ] && [ $failed = 0 ]
