#!/bin/sh
# SPDX-License-Identifier: MIT
# README.md says what is so: its commands print what stands below them, its program compiles and
# runs, ./dev knows its words.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TZ=UTC LC_ALL=C
failed=0 commands=0
complain() {
    printf '%s\n' "$*"
    failed=1
}

# Blocks of code, each in a file, without their indentation.
awk -v work="$work" '
    /^    / || (inside && /^$/) {
        if (!inside) { inside = 1; number++ }
        print substr($0, 5) >(work "/block." number)
        next
    }
    { inside = 0 }' "$SOURCE/README.md"

# A command and the beginning of what it prints; blanks at the ends of lines and trailing blank
# lines belong to the page, not to the text.
for block in "$work"/block.*; do
    read -r first <"$block"
    case $first in '$ perfdata '*) ;; *) continue ;; esac
    commands=$((commands + 1))
    sed '1d; s/ *$//' "$block" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' >"$work/expected"
    # shellcheck disable=SC2086
    (cd "$SOURCE/tests/data/demo" &&
        "$PERFDATA" ${first#\$ perfdata } --symfs symfs --kallsyms symfs/kallsyms) \
        2>&1 </dev/null | head -n "$(wc -l <"$work/expected")" | sed 's/ *$//' >"$work/printed"
    diff -u "$work/expected" "$work/printed" || complain "README.md: $first prints something else"
done
[ "$commands" -ge 3 ] || complain "few commands: $commands"

# The program: `cc` as the page says, or the block in a main() of its own.
program=
for block in "$work"/block.*; do
    grep -q '^#include <perfdata/' "$block" && program=$block
done
[ -n "$program" ] || complain 'no program'
if grep -q '^int main' "$program"; then
    cp "$program" "$work/program.c"
else
    { echo '#include <stdio.h>'; grep '^#' "$program"; echo 'int main(void) {';
        grep -v '^#' "$program"; echo 'return 0; }'; } \
        >"$work/program.c"
fi
${CC:-cc} -std=c99 -Wall -Wextra -Werror ${SANITIZE:+-fsanitize=$SANITIZE} -I"$SOURCE/include" \
    "$work/program.c" \
    "$LIBPERFDATA" -o "$work/program"
cp "$SOURCE/tests/data/demo/spin.data" "$work/perf.data"
printed=$(cd "$work" && LD_LIBRARY_PATH=$(dirname "$LIBPERFDATA") ./program perf.data)
case $printed in *cpu-clock*) ;; *) complain "README's program prints: $printed" ;; esac

# Words of ./dev.
sh "$SOURCE/dev" >"$work/dev" 2>&1 || true
for word in $(grep -o '\./dev [a-z]*' "$SOURCE/README.md" "$SOURCE/CONTRIBUTING.md" |
    sed 's/.*\.\/dev //' | sort -u); do
    grep -qE "^ *$word( |\$)" "$work/dev" || complain "./dev $word is not what ./dev lists"
done
# Files and folders that they name; NAME in capitals stands for any.
for page in README.md CONTRIBUTING.md; do
    for name in $(grep -oE \
        '`(docs|src|tests|examples|man|scripts|include|fuzz|bench)/[A-Za-z0-9_./-]*`' \
        "$SOURCE/$page" |
                      tr -d '`' | grep -v '[/_]NAME'); do
        [ -e "$SOURCE/$name" ] || complain "$page names $name, which is not there"
    done
done
exit $failed
