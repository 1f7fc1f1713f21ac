#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, points 25 and 26: what people who know perf type. Scripts are not run but named with
# what does their work; report takes a filter of symbols as its argument; options before the verb
# that shells and programs use.
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
ln -s "$PERFDATA" "$folder/perf"
data=$SOURCE/tests/data/report/calls.data
cd "$folder" || exit 1
failed=0
# says CODE PATTERN COMMAND...
says() {
    code=$1 pattern=$2
    shift 2
    "$@" >out 2>&1 </dev/null
    got=$?
    [ $got -eq "$code" ] && grep -q -e "$pattern" out ||
        { echo "$*: exit $got"; cat out; failed=1; }
}
# Where perf's scripts are not installed, what does their work is named.
export PERF_EXEC_PATH=/nonexistent
for name in export-to-sqlite 'python:export-to-sqlite' /usr/lib/x/export-to-sqlite.py; do
    says 2 'perfdata export sqlite -o FILE.db does its work' "$PERFDATA" script -s $name
done
says 2 'script --pt-events' "$PERFDATA" script intel-pt-events
says 2 'export folded' "$PERFDATA" script report stackcollapse
says 255 'script --pt-events' ./perf script intel-pt-events
says 2 "Can't open python script \"nobody.py\"" "$PERFDATA" script -s nobody.py
says 2 'is a Perl script' "$PERFDATA" script -s nobody.pl
says 2 'record, with the events' "$PERFDATA" script record syscall-counts
says 2 'option -g takes python' "$PERFDATA" script -g perl
says 0 'intel-pt-events *perfdata script --pt-events' "$PERFDATA" script -l
# Each replacement is a command line that the program takes.
"$PERFDATA" script -l | sed -n 's/^  [a-zA-Z_-]* *perfdata //p' | sort -u >commands
[ "$(wc -l <commands)" -ge 6 ] || { echo 'too few replacements'; failed=1; }
unset PERF_EXEC_PATH
while read -r verb rest; do
    # shellcheck disable=SC2086
    "$PERFDATA" $verb $rest -i /nonexistent.data 2>&1 </dev/null | grep -q 'No such file' ||
        { echo "$verb $rest is no command line"; failed=1; }
done <commands

"$PERFDATA" report --stdio --symbol-filter main -i "$data" >expected 2>&1
for program in ./perf "$PERFDATA"; do
    "$program" report --stdio -i "$data" main >found 2>&1
    cmp -s expected found || { echo "$program report main: not --symbol-filter main"; failed=1; }
done
"$PERFDATA" report --stdio -i "$data" >found 2>&1
cmp -s expected found && { echo 'the filter keeps everything'; failed=1; }
"$PERFDATA" report --stdio "$data" 2>&1 | cmp -s found - || { echo 'report FILE'; failed=1; }

says 0 '^perf version' ./perf --no-pager version
says 0 ' report ' "$PERFDATA" --list-cmds
says 0 '--list-opts' "$PERFDATA" --list-opts
# What a verb lists is in its help. perf ends with 130.
for verb in report script evlist annotate inject 'sched latency'; do
    # shellcheck disable=SC2086
    for word in $("$PERFDATA" $verb --list-opts); do says 0 "$word" "$PERFDATA" $verb --help; done
done
says 130 '--input .*--sort ' ./perf report --list-opts
says 0 'latency map .*timehist' "$PERFDATA" sched --list-cmds
for word in $("$PERFDATA" --list-cmds); do says 0 "$word" "$PERFDATA" help "$word"; done
# The exit codes of options that do not fit, or a recording that has nothing of what they tell.
verbs=$SOURCE/tests/data/verbs
says 234 'mutually exclusive' ./perf sched timehist -s -w -i "$verbs/sched.data"
says 0 'No sched_switch events' ./perf sched timehist -C 0 -i "$verbs/lock.data"
says 255 'No sched_switch events' ./perf sched timehist -i "$verbs/lock.data"
says 234 'Unknown compare key: nosuch' ./perf lock report -k nosuch -i "$verbs/lock.data"
says 234 'Unknown output field: nosuch' ./perf lock report -F nosuch -i "$verbs/lock.data"
says 0 'cannot be used together' ./perf report --stdio --hierarchy -F comm -i "$data"
exit $failed
