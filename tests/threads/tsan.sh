#!/bin/sh
# SPDX-License-Identifier: MIT
# The pool, script and report, also of traces where the corpus is, under ThreadSanitizer, in a build
# of its own.
set -u
if [ -n "${SANITIZE-}" ]; then
    echo 'skipped: the build has another sanitizer'
    exit 77
fi
build=$BUILD/tsan
if ! [ -f "$build/build.ninja" ]; then
    meson setup "$build" "$SOURCE" --buildtype=debugoptimized -Db_sanitize=thread -Db_lundef=false \
        -Ddefault_library=static >"$BUILD/tsan.log" 2>&1 || { cat "$BUILD/tsan.log"; exit 1; }
fi
ninja -C "$build" perfdata tests/test_pipeline_run bench/bench_grow >"$BUILD/tsan.log" 2>&1 ||
    { cat "$BUILD/tsan.log"; exit 1; }
TSAN_OPTIONS='halt_on_error=1 exitcode=66'
export TSAN_OPTIONS
"$build/tests/test_pipeline_run" || exit 1
export BUILD="$build" PERFDATA="$build/perfdata"
sh "$SOURCE/tests/threads/same_bytes.sh" || exit 1
sh "$SOURCE/tests/itrace/threads.sh"
