#!/bin/sh
# SPDX-License-Identifier: MIT
# Pages of docs/ say what is so (issue 24, points 27 and 29): the examples of docs/intel-pt.md print
# what stands below them, its letters are those of --itrace, and the files and verbs that the pages
# name are there.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TZ=UTC LC_ALL=C PERF_CONFIG=/dev/null HOME="$work"
failed=0 commands=0
complain() {
    printf '%s\n' "$*"
    failed=1
}
page=$SOURCE/docs/intel-pt.md

# Indented blocks that begin with a command of which the output follows, each in a file.
awk -v work="$work" '
    /^    \$ perfdata / { inside = 1; number++ }
    inside && (/^    / || /^$/) { print substr($0, 5) >(work "/block." number); next }
    { inside = 0 }' "$page"
for block in "$work"/block.*; do
    read -r command <"$block"
    commands=$((commands + 1))
    # Blanks at the ends of lines are not kept in a page, nor are empty lines behind a block.
    sed '1d; s/ *$//' "$block" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' >"$work/expected"
    where='--symfs symfs --kallsyms symfs/kallsyms'
    case $command in '$ perfdata aux '*) where= ;; esac
    # shellcheck disable=SC2086
    (cd "$SOURCE/tests/data/itrace" &&
        "$PERFDATA" ${command#\$ perfdata } $where) 2>/dev/null </dev/null |
        head -n "$(wc -l <"$work/expected")" | sed 's/ *$//' >"$work/printed"
    diff -u "$work/expected" "$work/printed" ||
        complain "intel-pt.md: $command prints something else"
done
[ "$commands" -ge 6 ] || complain "few examples: $commands"

# Letters: a row of the table, or the line on letters of other traces.
for letter in $("$PERFDATA" help itrace | sed -n 's/^  \([A-Za-z]\) .*/\1/p'); do
    grep -qE "^\|[^|]*\`$letter\`|Letters for other traces.*[(\` ]$letter[ )\`]|\| every branch \|.*\`$letter\`" "$page" ||
        complain "intel-pt.md does not tell of the letter $letter"
done
for list in itrace fields sort; do
    [ "$("$PERFDATA" help $list | wc -l)" -gt 20 ] || complain "help $list is short"
done
"$PERFDATA" help fields | grep -q '^  brstackinsn ' || complain 'help fields lacks brstackinsn'
"$PERFDATA" help sort | grep -q '^  symbol_from ' || complain 'help sort lacks symbol_from'

# Verbs that the pages name in the form `perfdata VERB`, and files.
for name in $(grep -ohE 'perfdata [a-z-]+' "$page" "$SOURCE/docs/coming-from-perf.md" |
    sed 's/perfdata //' | sort -u); do
    "$PERFDATA" help "$name" >/dev/null 2>&1 || case $name in
    prints | reconstructs | sorts | warns | record-) ;;
    *) complain "no verb '$name', which a page names" ;;
    esac
done
for name in $(grep -ohE '\]\([a-z-]+\.md\)' "$page" "$SOURCE/docs/coming-from-perf.md" |
    tr -d '()]'); do
    [ -e "$SOURCE/docs/$name" ] || complain "no docs/$name"
done
exit $failed
