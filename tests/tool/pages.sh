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
# perf's own Python scripts: a row each in the table, and what stands for them takes its options.
table=$work/scripts
sed -n "/^## perf's own Python scripts/,/^## Habits/p" "$SOURCE/docs/coming-from-perf.md" >"$table"
[ "$(grep -c '^| `[a-z_-]*` |' "$table")" -eq 22 ] ||
    complain 'not 22 scripts in coming-from-perf.md'
for folder in /usr/lib/perf-core /usr/libexec/perf-core; do
    for file in "$folder"/scripts/python/*.py; do
        name=${file##*/}
        [ ! -e "$file" ] || grep -q "^| \`${name%.py}\` |" "$table" ||
            complain "coming-from-perf.md lacks perf's script $name"
    done
done
cd "$SOURCE/tests/data" || exit 1
count=0
while read -r input command; do
    grep -qF "\`$command" "$table" || complain "coming-from-perf.md does not name $command"
    # shellcheck disable=SC2086
    "$PERFDATA" $command -i $input >"$work/out" 2>"$work/err" </dev/null ||
        complain "$command fails"
    [ -s "$work/out" ] || [ -s "$work/err" ] || complain "$command prints nothing"
    count=$((count + 1))
done <<'END'
verbs/trace.data trace -s --errno-summary
verbs/trace.data trace --failure
verbs/trace.data report -s raw_syscalls:sys_enter.id
verbs/trace.data report -s comm,pid,raw_syscalls:sys_enter.id
script/addr-phys-page.data report --mem-mode -s phys_daddr
script/addr-phys-page.data script -F phys_addr
verbs/sched.data sched timehist -M
verbs/sched.data sched map
verbs/stat-hardware.data stat report
demo/spin.data export folded
demo/spin.data report -s comm,dso,sym
itrace/t_ptwfup.data script --pt-events
itrace/t_eptw.data script --insn-trace=disasm
END
[ "$count" -eq 13 ] || complain "commands: $count"
if [ -z "${SANITIZE-}" ] && command -v python3 >/dev/null; then
    sed -n '/^```python/,/^```/{/^```/d;p;}' "$table" |
        sed 's,"perf.data","verbs/trace.data",' >"$work/failed.py"
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$SOURCE/python PERFDATA_LIBRARY=${LIBPERFDATA-} \
        python3 "$work/failed.py" >"$work/out" 2>&1
    [ "$(cat "$work/out")" = 'sysmix 4871 2 -2 1' ] ||
        complain "the lines of Python print: $(cat "$work/out")"
fi
for name in $(grep -ohE '\]\([a-z-]+\.md\)' "$page" "$SOURCE/docs/coming-from-perf.md" |
    tr -d '()]'); do
    [ -e "$SOURCE/docs/$name" ] || complain "no docs/$name"
done
# Where the test of a thing is: each folder of tests is in the list.
for folder in "$SOURCE"/tests/*/ "$SOURCE"/tests/data/*/; do
    name=${folder#"$SOURCE/tests/"}
    [ "${name%__pycache__/}" = "$name" ] || continue
    grep -qE "\`${name%/}[/\`]" "$SOURCE/tests/README.md" || complain "tests/README.md lacks $name"
done
exit $failed
