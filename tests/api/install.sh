#!/bin/sh
# SPDX-License-Identifier: MIT
# The installed library is enough to compile the examples through pkg-config, and they run on a recording.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
DESTDIR=$directory meson install -C "$BUILD" --no-rebuild --quiet
pc=$(find "$directory" -name perfdata.pc)
[ -n "$pc" ] || { echo 'no perfdata.pc was installed'; exit 1; }
prefix=$(sed -n 's/^prefix=//p' "$pc")
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=
flags=$(pkg-config --define-variable=prefix="$directory$prefix" --cflags --libs perfdata)
LD_LIBRARY_PATH=$(dirname "$(find "$directory" -name 'libperfdata.so')")
export LD_LIBRARY_PATH
for source in "$SOURCE"/examples/*.c; do
    name=$(basename "$source" .c)
    # A library with sanitizers needs them in the program too.
    # shellcheck disable=SC2086
    ${CC:-cc} -std=c99 -Wall -Wextra -pedantic -Werror ${SANITIZE:+-fsanitize=$SANITIZE} "$source" \
        $flags -o "$directory/$name"
    (cd "$SOURCE/tests/data/demo" && "$directory/$name" spin.data symfs symfs/kallsyms) >"$directory/$name.out"
    diff -u "$SOURCE/tests/api/$name.exact" "$directory/$name.out"
done
"$directory$prefix/bin/perfdata" version
[ -f "$directory$prefix/share/man/man1/perfdata.1" ]
# The shared library carries its soname and nothing of ours leaks without a version.
readelf -d "$directory$prefix"/lib*/libperfdata.so.1 "$directory$prefix"/lib/*/libperfdata.so.1 2>/dev/null |
    grep -q 'SONAME.*libperfdata.so.1'
