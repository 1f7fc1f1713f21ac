#!/bin/sh
# SPDX-License-Identifier: MIT
# archive beside perf archive: the same files of the same cache, the same words; what the cache
# lacks is named.
set -u
for need in perf tar bzip2; do
    command -v $need >/dev/null 2>&1 || { echo "skipped: no $need"; exit 77; }
done
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export HOME="$out/home" PERF_CONFIG=/dev/null
mkdir "$HOME" "$out/bin"
ln -s "$(command -v "$PERFDATA")" "$out/bin/perf"
failed=0
fail() {
    echo "$*"
    failed=1
}

# A recording of a program that is here: its build-id is in the cache, or not.
cp "$SOURCE/tests/data/demo/spin.data" "$out/perf.data"
id=$("$PERFDATA" buildid-list -i "$SOURCE/tests/data/demo/symfs/own/bin/spin")
"$PERFDATA" buildid-list -H -i "$out/perf.data" | grep -q "$id" ||
    fail 'the recording does not name the program'
cd "$out" || exit 1

"$PERFDATA" archive perf.data >text 2>errors
[ $? -eq 1 ] || fail 'an archive of a cache without a directory'
tar tjf perf.data.tar.bz2 >files && [ ! -s files ] || fail 'no valid archive of nothing'
for who in perf our; do # perf's archive then is none, but it ends as with an empty cache
    program=perf
    [ $who = perf ] || program=$out/bin/perf
    "$program" archive perf.data >$who.text 2>/dev/null
    echo "exit $?" >>$who.text
done
diff our.text perf.text || fail 'without a directory of the cache: other words than perf'
grep -q '^exit 0$' our.text || fail 'without a directory of the cache: ends with an error'
[ -z "$(find . -name 'perf.data.tar.bz2.*')" ] || fail 'a part is left'
grep -q "not in the build-id cache: $id" errors || fail 'what the cache lacks is not named'

"$PERFDATA" buildid-cache -a "$SOURCE/tests/data/demo/symfs/own/bin/spin" || fail 'not kept'
for who in perf our; do
    program=perf
    [ $who = perf ] || program=$out/bin/perf
    rm -f perf.data.tar.bz2
    "$program" archive perf.data >$who.text 2>/dev/null
    echo "exit $?" >>$who.text
    tar tjf perf.data.tar.bz2 | LC_ALL=C sort >$who.files
done
cmp our.files perf.files || fail 'other files than perf'
diff our.text perf.text || fail 'other words than perf'
grep -q '/elf$' our.files || fail 'nothing is in the archive'

# Unpacked elsewhere it names the functions.
mkdir -p other/.debug
tar xjf perf.data.tar.bz2 -C other/.debug
HOME=$out/other "$PERFDATA" report --stdio --no-children -g none -s sym -i perf.data 2>/dev/null |
    grep -q gamma_leaf ||
    fail 'no names by the archive'
HOME=$out/none "$PERFDATA" report --stdio --no-children -g none -s sym -i perf.data 2>/dev/null |
    grep -q gamma_leaf &&
    fail 'names without the archive: the test shows nothing'

# What is no regular file stays what it is; a failure is said and leaves nothing behind.
rm -f perf.data.tar.bz2
mkfifo perf.data.tar.bz2
timeout 20 "$PERFDATA" archive perf.data >/dev/null 2>errors
[ $? -eq 4 ] || fail 'an archive onto a FIFO ends well'
grep -q 'perf.data.tar.bz2: No such device' errors ||
    fail 'an archive onto a FIFO without a reader: no word'
timeout 20 cat perf.data.tar.bz2 >read &
exec 3>perf.data.tar.bz2 # waits for the reader, which then reads until all writers are gone
timeout 20 "$PERFDATA" archive perf.data >/dev/null 2>errors
exec 3>&-
wait
tar tjf read | grep -q '/elf$' || fail 'an archive into a FIFO'
[ -p perf.data.tar.bz2 ] || fail 'the FIFO was replaced'

# A link that somebody else put there is replaced, not followed.
rm perf.data.tar.bz2
echo mine >precious
ln -s precious perf.data.tar.bz2
"$PERFDATA" archive perf.data >/dev/null 2>errors
tar tjf perf.data.tar.bz2 | grep -q '/elf$' || fail 'an archive in place of a link'
[ "$(cat precious)" = mine ] && [ ! -L perf.data.tar.bz2 ] || fail 'the link was followed'
[ -z "$(find . -name 'perf.data.tar.bz2.*')" ] || fail 'a part is left'
exit $failed
