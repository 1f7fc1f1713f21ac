#!/bin/sh
# SPDX-License-Identifier: MIT
# --debuginfod beside a server on loopback: what it gives names functions, whatever is wrong with it
# is told, and without the option nothing is asked.
set -u
: "${PERFDATA:?}" "${SOURCE:?}"
"$PERFDATA" version --build-options | grep -q '^ *debuginfod: \[ on ' ||
    { echo 'skipped: built without libdebuginfod'; exit 77; }
command -v python3 >/dev/null 2>&1 || { echo 'skipped: no python3'; exit 77; }
out=$(mktemp -d) server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$out"' EXIT
export HOME="$out/home" PERF_CONFIG=/dev/null DEBUGINFOD_CACHE_PATH="$out/cache"
export XDG_CACHE_HOME="$out/xdg" DEBUGINFOD_TIMEOUT=3
unset DEBUGINFOD_URLS DEBUGINFOD_PROGRESS DEBUGINFOD_VERBOSE
mkdir "$HOME" "$out/files"
recording=$SOURCE/tests/data/demo/spin.data
program=$SOURCE/tests/data/demo/symfs/own/bin/spin
id=$("$PERFDATA" buildid-list -i "$program")
failed=0
fail() {
    echo "$*"
    failed=1
}

# serve [MANNER]: another server, an empty cache, an empty log.
serve() {
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null
        wait "$server" 2>/dev/null
    fi
    rm -rf "$out/cache" "$out/port" "$out/log"
    : >"$out/log"
    python3 "$SOURCE/tests/tool/debuginfod_server.py" "$out/port" "$out/log" "$out/files" "$@" \
        2>"$out/server.errors" &
    server=$!
    tries=0
    while [ ! -s "$out/port" ] && [ $tries -lt 100 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    url=http://127.0.0.1:$(cat "$out/port")
}
report() {
    "$PERFDATA" "$@" --kallsyms "$SOURCE/tests/data/demo/symfs/kallsyms" -i "$recording" \
        >"$out/text" 2>"$out/errors"
}
expect_names() {
    grep -q gamma_leaf "$out/text" || { fail "$1: no names"; cat "$out/errors"; }
}

# Only --debuginfod asks.
cp "$program" "$out/files/$id.executable"
serve
DEBUGINFOD_URLS=$url report report --stdio --no-children -g none -s sym
! grep -q gamma_leaf "$out/text" || fail 'the program is here, which proves nothing'
[ ! -s "$out/log" ] || fail "unasked: $(cat "$out/log")"
cp "$out/text" "$out/nameless"
report report --debuginfod --stdio && fail 'no server is named, and that is no error'
grep -q 'DEBUGINFOD_URLS' "$out/errors" || fail 'not said that no server is named'

# The program alone, and each file asked for once; then from the cache, with no server.
report report --debuginfod="$url" --stdio --no-children -g none -s sym
expect_names program
sort "$out/log" | uniq -d | grep . && fail 'asked twice'
grep -q "/buildid/$id/executable" "$out/log" || fail 'the program was not asked for'
cp "$out/text" "$out/by-program"
kill "$server"
wait "$server" 2>/dev/null
server=
report report --debuginfod="$url" --stdio --no-children -g none -s sym
cmp "$out/text" "$out/by-program" || fail 'another text by the cache'
DEBUGINFOD_URLS=http://127.0.0.1:1 report report --no-debuginfod --stdio --no-children -g none -s sym
cmp "$out/text" "$out/nameless" || fail '--no-debuginfod fetches'

# The debug file alone gives the same names; as many threads as wanted, the same text as with the
# program at its place.
mv "$out/files/$id.executable" "$out/program"
objcopy --only-keep-debug "$program" "$out/files/$id.debuginfo" 2>/dev/null ||
    cp "$program" "$out/files/$id.debuginfo"
for verb in 'report --stdio --no-children -g none -s sym' 'script -F comm,ip,sym,symoff,srcline'; do
    serve
    report $verb --symfs "$SOURCE/tests/data/demo/symfs" -j 1
    cp "$out/text" "$out/here"
    for jobs in 1 2 8; do
        report $verb --debuginfod="$url" -j $jobs
        if ! cmp -s "$out/text" "$out/here"; then
            fail "$verb -j $jobs"
            diff "$out/text" "$out/here" | head
        fi
    done
done
mv "$out/program" "$out/files/$id.executable"

# Verbs that want code, and those that make pictures and files.
serve
if command -v objdump >/dev/null 2>&1; then
    report annotate --debuginfod="$url" --stdio gamma_leaf
    grep -q 'Percent' "$out/text" || { fail 'annotate'; cat "$out/errors"; }
fi
"$PERFDATA" flame --debuginfod="$url" --svg -i "$recording" -o "$out/f.svg" 2>"$out/errors"
grep -q gamma_leaf "$out/f.svg" || { fail flame; cat "$out/errors"; }
"$PERFDATA" export folded --debuginfod="$url" -i "$recording" -o "$out/text" 2>"$out/errors"
expect_names export

# The cache of build-ids keeps the debug file beside the program.
strip -o "$out/stripped" "$program" 2>/dev/null || cp "$program" "$out/stripped"
"$PERFDATA" buildid-cache --debuginfod="$url" -a "$out/stripped" || fail 'buildid-cache'
cmp "$HOME/.debug/.build-id"/*/*/debug "$out/files/$id.debuginfo" || fail 'no debug file is kept'
report report --stdio --no-children -g none -s sym
expect_names 'buildid-cache --debuginfod'
rm -rf "$HOME/.debug"
report report --debuginfod="$url" --stdio --strict || fail 'what no server has ends --strict'

# Another program under this build-id is not used, and told.
cp "$SOURCE/tests/data/demo/symfs/own/bin/shapes" "$out/files/$id.debuginfo"
cp "$out/files/$id.debuginfo" "$out/files/$id.executable"
serve
report report --debuginfod="$url" --stdio --no-children -g none -s sym
cmp "$out/text" "$out/nameless" || fail 'names of another program'
report script -v --debuginfod="$url"
[ "$(grep -c "$id.*no file with this build-id" "$out/errors")" -eq 2 ] ||
    { fail 'a wrong file is not told once each'; cat "$out/errors"; }
head -c 100 "$program" >"$out/files/$id.executable"
cp "$out/files/$id.executable" "$out/files/$id.debuginfo"
serve
report report --debuginfod="$url" --stdio --no-children -g none -s sym
cmp "$out/text" "$out/nameless" || fail 'names of a piece of a program'
grep -q "no file with this build-id" "$out/errors" || fail 'a piece of a program is not told'

# Nothing there: counted only. Servers that are ill: told, and no names.
rm "$out/files"/*
serve
report report --debuginfod="$url" --stdio --no-children -g none -s sym
cmp "$out/text" "$out/nameless" || fail 'names from nowhere'
grep -q 'no server has [0-9]* of [0-9]* files' "$out/errors" || fail 'not counted what is not there'
[ "$(wc -l <"$out/errors")" -eq 1 ] || { fail 'more is said of it'; cat "$out/errors"; }
cp "$program" "$out/files/$id.debuginfo"
cp "$program" "$out/files/$id.executable"
for manner in broken dies slow drips; do
    serve $manner
    begin=$(date +%s)
    report report --debuginfod="$url" --stdio --no-children -g none -s sym
    cmp "$out/text" "$out/nameless" || fail "$manner: other text"
    grep -q 'debuginfod: ' "$out/errors" || { fail "$manner: not told"; cat "$out/errors"; }
    [ $(($(date +%s) - begin)) -lt 30 ] || fail "$manner: took $(($(date +%s) - begin)) seconds"
done
# With a sanitizer, libdebuginfod ends its second try of a slow file with "not found", and the next
# one is asked for.
[ -n "${SANITIZE-}" ] || ! grep -q executable "$out/log" || fail 'asked again after it was given up'

# An interrupt ends the wait.
serve slow
export DEBUGINFOD_TIMEOUT=100
begin=$(date +%s)
env --default-signal=INT "$PERFDATA" report --debuginfod="$url" --stdio -i "$recording" \
    >"$out/text" 2>"$out/errors" &
running=$!
tries=0
while [ ! -s "$out/log" ] && [ $tries -lt 100 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -INT $running 2>/dev/null || fail "it did not wait: $(cat "$out/errors")"
wait $running
[ $(($(date +%s) - begin)) -lt 20 ] || fail 'an interrupt does not end it'
exit $failed
