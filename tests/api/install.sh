#!/bin/sh
# SPDX-License-Identifier: MIT
# The installed library is enough to compile the examples through pkg-config, and they run on a
# recording.
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
perfdata=$directory$prefix/bin/perfdata
# What an example prints: as stored, or as `script` prints it where the example says so.
expect() { # NAME RECORDING ARGUMENTS... -- OPTIONS OF SCRIPT...
    name=$1 recording=$2
    shift 2
    set -- "$name" "$recording" "$@"
    (
        shift 2
        symbols=''
        while [ $# -gt 0 ] && [ "$1" != -- ]; do symbols="$symbols $1"; shift; done
        # shellcheck disable=SC2086
        "$directory/$name" "$recording" $symbols
    ) >"$directory/$name.out"
    while [ $# -gt 0 ] && [ "$1" != -- ]; do shift; done
    if [ $# -gt 0 ]; then
        shift
        "$perfdata" script -i "$recording" "$@" >"$directory/$name.exact" 2>"$directory/$name.err"
        [ -s "$directory/$name.exact" ] || { echo "script prints nothing of $recording"; exit 1; }
        diff -u "$directory/$name.exact" "$directory/$name.out"
    else
        diff -u "$SOURCE/tests/api/$name.exact" "$directory/$name.out"
    fi
}
# They are installed, too.
examples=$directory$prefix/share/doc/perfdata/examples
for source in "$SOURCE"/examples/*.c; do
    name=$(basename "$source" .c)
    cmp "$source" "$examples/$name.c"
    # A library with sanitizers needs them in the program too.
    # shellcheck disable=SC2086
    ${CC:-cc} -std=c99 -Wall -Wextra -pedantic -Werror ${SANITIZE:+-fsanitize=$SANITIZE} "$source" \
        $flags -o "$directory/$name"
    cd "$SOURCE/tests/data/demo"
    case $name in
    chains) expect chains spin.data symfs symfs/kallsyms -- --symfs symfs \
        --kallsyms symfs/kallsyms -F ip,sym ;;
    pt_branches)
        cd ../itrace
        for recording in c_forkbid t_eptw t_ptwfup t_tracestop t_tsx; do
            expect pt_branches $recording.data symfs -- --symfs symfs --itrace=b \
                -F ip,sym,symoff,addr
        done
        ;;
    flame_data)
        # Its paths are those of export, which shows what has no symbol by its object.
        "$directory/$name" spin.data symfs symfs/kallsyms | LC_ALL=C sort >"$directory/$name.out"
        "$perfdata" export folded --group none -i spin.data --symfs symfs \
            --kallsyms symfs/kallsyms | LC_ALL=C sort |
            diff -u - "$directory/$name.out"
        ;;
    tracepoints) expect tracepoints ../report/traces.data ;;
    write)
        "$directory/write" "$directory/made.data"
        "$perfdata" script -i "$directory/made.data" >"$directory/write.out"
        diff -u "$SOURCE/tests/api/write.exact" "$directory/write.out"
        ;;
    *) expect "$name" spin.data symfs symfs/kallsyms ;;
    esac
    tested="${tested-} $name"
done
[ "$(echo "$tested" | wc -w)" -ge 7 ] || { echo "few examples:$tested"; exit 1; }
# 40 lines are enough for what the library is for, comments and all.
for name in chains pt_branches; do
    lines=$(wc -l <"$SOURCE/examples/$name.c")
    [ "$lines" -le 40 ] || { echo "$name.c: $lines lines, more than 40"; exit 1; }
done
# A static link needs what pkg-config --static says, and no more. What has no archive on this
# machine is linked as it is; a program that needs none of that is wholly static.
# link_statically NAME HOW...: examples/NAME.c
link_statically() {
    name=$1
    shift
    # shellcheck disable=SC2086 # words
    ${CC:-cc} -std=c99 $flags_of_c "$SOURCE/examples/$name.c" "$@" -o "$directory/$name.static"
}
if [ -z "${SANITIZE:+yes}" ]; then
    config="pkg-config --static --define-variable=prefix=$directory$prefix"
    flags_of_c=$($config --cflags perfdata)
    places=$($config --libs-only-L perfdata)
    archives='' shared=''
    for word in $($config --libs perfdata); do
        case $word in
        -lperfdata) archives=-l:libperfdata.a ;;
        -l*)
            case $(${CC:-cc} -print-file-name="lib${word#-l}.a") in
            /*) archives="$archives $word" ;;
            *) shared="$shared $word" ;;
            esac
            ;;
        esac
    done
    # What is loaded on demand is linked only where nothing can be loaded: with prefer_static.
    grep -q PD_LINK_ALL "$BUILD/compile_commands.json" || case "$archives $shared " in
    *' -lsqlite3 '* | *' -ldebuginfod '*) echo "not needed: $archives $shared"; exit 1 ;;
    esac
    # shellcheck disable=SC2086 # words
    link_statically events -static -pthread $places $archives
    for name in chains pt_branches; do
        # shellcheck disable=SC2086 # words
        link_statically $name -pthread $places -Wl,-Bstatic $archives -Wl,-Bdynamic $shared
        wrong=$(readelf -d "$directory/$name.static" |
            sed -n 's/.*NEEDED.*\[lib\(.*\)\.so.*/\1/p' |
            while read -r library; do
                case " $shared -lc -lm " in
                *" -l$library "*) ;;
                *) echo "$library" ;;
                esac
            done)
        [ -z "$wrong" ] || { echo "$name is linked with $wrong, in spite of its archive"; exit 1; }
    done
    ! readelf -d "$directory/events.static" | grep NEEDED || exit 1
    unset LD_LIBRARY_PATH
    cd "$SOURCE/tests/data/demo"
    "$directory/events.static" spin.data | diff -u "$SOURCE/tests/api/events.exact" -
    "$directory/chains.static" spin.data symfs symfs/kallsyms | diff -u "$directory/chains.out" -
    cd ../itrace
    "$directory/pt_branches.static" t_tsx.data symfs | diff -u "$directory/pt_branches.out" -
    [ -z "$shared" ] || echo "static but for what has no archive here:$shared"
fi
"$perfdata" version
[ -f "$directory$prefix/share/man/man1/perfdata.1" ]
# The shared library carries its soname and nothing of ours leaks without a version.
readelf -d "$directory$prefix"/lib*/libperfdata.so.1 "$directory$prefix"/lib/*/libperfdata.so.1 \
    2>/dev/null |
    grep -q 'SONAME.*libperfdata.so.1'
