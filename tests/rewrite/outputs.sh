#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 1: where the verbs that write put their output. A regular file is written beside
# its name and gets mode 0600 (recordings) or the umask's (what is made of them), whatever stood
# there; a device, a FIFO or a link to standard output is written into and stays what it is.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
recording=$SOURCE/tests/data/demo/spin.data
failed=0

complain() {
    echo "$*"
    failed=$((failed + 1))
}

"$PERFDATA" dump --pdt "$recording" >"$work/text.pdt" || complain 'dump --pdt fails'

# Runs verb $1 with output $2; the rest of each command is what it needs.
write() {
    case $1 in
    inject | repair | slice | anonymize) "$PERFDATA" "$1" -i "$recording" -o "$2" ;;
    merge) "$PERFDATA" merge "$recording" "$recording" -o "$2" ;;
    assemble) "$PERFDATA" assemble "$work/text.pdt" -o "$2" ;;
    record) "$PERFDATA" record -q -e cpu-clock -o "$2" true ;;
    dump) "$PERFDATA" dump --pdt "$recording" -o "$2" ;;
    *) "$PERFDATA" export "$1" "$recording" -o "$2" ;;
    esac
}

recordings='inject repair slice anonymize merge assemble'
if "$PERFDATA" record -q -e cpu-clock -o "$work/try" true 2>/dev/null; then
    recordings="$recordings record"
else
    echo 'this machine lets nobody record: without record'
fi
texts='dump postgresql'
# skipped where the library was built without SQLite
write sqlite "$work/try.db" 2>"$work/err" || grep -q 'without SQLite' "$work/err" ||
    complain 'export sqlite fails'
databases=
[ -e "$work/try.db" ] && databases=sqlite

mode() {
    stat -c %a "$1"
}

# ---- regular files ----

umask 027
for verb in $recordings $texts $databases; do
    expected=600
    case " $texts $databases " in *" $verb "*) expected=640 ;; esac
    write "$verb" "$work/new" >/dev/null 2>"$work/err" ||
        complain "$verb: fails: $(cat "$work/err")"
    [ "$(mode "$work/new")" = $expected ] ||
        complain "$verb: mode $(mode "$work/new"), not $expected"
    echo old >"$work/old"
    chmod 6755 "$work/old"
    write "$verb" "$work/old" >/dev/null 2>&1 || complain "$verb: fails onto a file"
    [ "$(mode "$work/old")" = $expected ] ||
        complain "$verb: the old file's mode $(mode "$work/old") stays"
    rm -f "$work/old"
    : >"$work/old"
    chmod 6755 "$work/old"
    write "$verb" "$work/old" >/dev/null 2>&1 || complain "$verb: fails onto an empty file"
    [ -u "$work/old" ] || [ -g "$work/old" ] && complain "$verb: an empty file's set-id bits stay"
    rm -f "$work/old" "$work/new"
    # a link is followed, and stays
    ln -s target "$work/link"
    write "$verb" "$work/link" >/dev/null 2>&1 || complain "$verb: fails through a link"
    [ -L "$work/link" ] && [ -s "$work/target" ] || complain "$verb: the link is replaced"
    rm -f "$work/link" "$work/target"*
    # ... but to a folder that is not there it leads nowhere
    ln -s missing/target "$work/link"
    write "$verb" "$work/link" >/dev/null 2>&1 &&
        complain "$verb: written through a link to a missing folder"
    [ ! -e "$work/missing" ] || complain "$verb: a file in place of the missing folder"
    rm -f "$work/link"
done
umask 022

# A failure leaves what was there, and nothing beside.
mkdir "$work/kept"
echo old >"$work/kept/file"
{ head -n 20 "$work/text.pdt"; echo '}]}'; } >"$work/cut.pdt"
"$PERFDATA" assemble "$work/cut.pdt" -o "$work/kept/file" 2>/dev/null &&
    complain 'assemble of nonsense succeeds'
[ "$(cat "$work/kept/file")" = old ] || complain 'a failure replaces the old file'
[ "$(ls "$work/kept")" = file ] || complain "a failure leaves files: $(ls "$work/kept")"
for verb in $recordings $texts $databases; do
    mkdir "$work/folder"
    write "$verb" "$work/folder" >/dev/null 2>&1 && complain "$verb: succeeds onto a directory"
    [ -z "$(ls "$work/folder")" ] || complain "$verb: fills a directory"
    rmdir "$work/folder" || complain "$verb: replaces a directory"
done

# ---- streams ----

# A FIFO gets bytes that make sense, and stays.
mkfifo "$work/fifo"
for verb in $recordings $texts; do
    timeout 20 cat "$work/fifo" >"$work/read" &
    reader=$!
    # a writer that refuses to open it must not leave the reader waiting
    write "$verb" "$work/fifo" >/dev/null 2>"$work/err" ||
        complain "$verb: fails onto a FIFO: $(cat "$work/err")"
    [ -p "$work/fifo" ] || complain "$verb: the FIFO is gone"
    wait $reader
    case $verb in
    dump) cmp -s "$work/read" "$work/text.pdt" || complain 'dump: the FIFO gets another text' ;;
    postgresql) grep -q '^COMMIT;' "$work/read" ||
        complain 'postgresql: the FIFO gets no whole script' ;;
    assemble) cmp -s "$work/read" "$recording" || complain 'assemble: the FIFO gets other bytes' ;;
    *) "$PERFDATA" script -i "$work/read" >"$work/out" 2>&1 && [ -s "$work/out" ] ||
        complain "$verb: the FIFO gets no recording" ;;
    esac
    [ -e "$work/fifo.old" ] && complain "$verb: the FIFO is moved away"
done
for verb in $databases; do
    timeout 20 sh -c '"$0" export sqlite "$1" -o "$2" 2>"$3"' "$PERFDATA" "$recording" \
        "$work/fifo" "$work/err"
    [ $? = 4 ] || complain 'sqlite: a FIFO is not refused'
    grep -q "$work/fifo.*regular file" "$work/err" ||
        complain "sqlite: says of a FIFO: $(cat "$work/err")"
done

# Standard output by another name, as a pipe and as a file: the same bytes as with -, and no file of
# that name. The link is one of our own: /dev/stdout must survive a failure of this test.
ln -s /proc/self/fd/1 "$work/stdout"
for verb in inject dump postgresql assemble; do
    (cd "$work" && write "$verb" - | cat >"$work/pipe")
    [ -s "$work/pipe" ] || complain "$verb: - gets nothing"
    [ -e "$work/-" ] && complain "$verb: - becomes a file"
    write "$verb" "$work/stdout" 2>/dev/null | cat >"$work/name"
    cmp -s "$work/pipe" "$work/name" || complain "$verb: standard output by another name is not -"
    { echo first; write "$verb" "$work/stdout" 2>/dev/null; } >"$work/name"
    { echo first; cat "$work/pipe"; } | cmp -s - "$work/name" ||
        complain "$verb: as a file it is not -"
    [ "$(readlink "$work/stdout")" = /proc/self/fd/1 ] ||
        complain "$verb: replaces the link to standard output"
done

# Devices, of which copies are used: the machine's own must survive a failure of this test.
if [ "$(id -u)" = 0 ] && mknod "$work/null" c 1 3 2>/dev/null &&
    mknod "$work/full" c 1 7 2>/dev/null &&
    (: >"$work/null") 2>/dev/null; then
    for verb in $recordings $texts; do
        write "$verb" "$work/null" >/dev/null 2>"$work/err" ||
            complain "$verb: fails onto a device: $(cat "$work/err")"
        write "$verb" "$work/full" >/dev/null 2>"$work/err" &&
            complain "$verb: a full device goes unnoticed"
        grep -q . "$work/err" || complain "$verb: says nothing of a full device"
    done
    for verb in $databases; do
        write "$verb" "$work/null" 2>"$work/err"
        [ $? = 4 ] || complain 'sqlite: a device is not refused'
        grep -q "$work/null.*regular file" "$work/err" ||
            complain "sqlite: says of a device: $(cat "$work/err")"
    done
    for option in --switch-output --timestamp-filename; do
        "$PERFDATA" record -q $option -e cpu-clock -o "$work/null" true >/dev/null 2>&1 &&
            complain "record $option: moves a device"
    done
    mv "$work/try" "$work/moved" 2>/dev/null || cp "$recording" "$work/moved"
    mknod "$work/moved.old" c 1 3
    "$PERFDATA" record -q -e cpu-clock -o "$work/moved" true >/dev/null 2>&1
    for node in null full moved.old; do
        [ -c "$work/$node" ] || complain "the device $node is gone"
    done
    [ -z "$(find "$work" -name 'null?*' -o -name 'full?*')" ] || complain 'files beside a device'
else
    echo 'no devices can be made here: without them'
fi
[ $failed -eq 0 ]
