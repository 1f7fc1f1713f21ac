#!/bin/sh
# SPDX-License-Identifier: MIT
# What a terminal changes: the pager, colours, the line that tells how far reading is; and what an
# interrupt leaves.
set -u
command -v script >/dev/null || { echo 'script (bsdutils) is not here'; exit 77; }
demo=$SOURCE/tests/data/demo
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir bin home
ln -s "$PERFDATA" bin/perf
export TZ=UTC LC_ALL=C HOME="$work/home" PERF_CONFIG=/dev/null TERM=xterm SHELL=/bin/sh PERFDATA
unset NO_COLOR PAGER PERF_PAGER LESS COLUMNS 2>/dev/null
failed=0
fail() { echo "$*"; failed=1; }

# on_terminal COMMAND: its screen's text, in `screen`.
on_terminal() {
    timeout 60 script -qec "$1" typescript </dev/null >/dev/null
    code=$?
    sed -e '1d' -e '$d' typescript | tr -d '\r' >screen
}
shows() { grep -q -- "$1" screen ||
    { fail "$2: no '$1' in:"; head -20 screen | cat -v | cut -c1-150; }; }
lacks() { ! grep -q -- "$1" screen ||
    { fail "$2: '$1' in:"; grep -- "$1" screen | head -5 | cat -v; }; }
escape=$(printf '\033')

# ---- the pager ----
printf '#!/bin/sh\necho "PAGED LESS=$LESS"\nexec cat\n' >pager
chmod +x pager
report="report --stdio --symfs $demo/symfs -i $demo/shapes.data"
on_terminal "PAGER=./pager $PERFDATA $report"
shows '^PAGED LESS=FRSX$' 'report pages'
shows 'Samples: ' 'report pages'
on_terminal "PERF_PAGER=./pager PAGER=false LESS=x bin/perf $report"
shows '^PAGED LESS=x$' 'PERF_PAGER comes first'
on_terminal "PAGER=./pager $PERFDATA --no-pager $report"
lacks PAGED '--no-pager'
shows 'Samples: ' '--no-pager'
for none in '' cat; do
    on_terminal "PAGER=$none $PERFDATA $report"
    shows 'Samples: ' "PAGER=$none"
done
for verb in script buildid-list header check 'dump --stats'; do
    on_terminal "PAGER=./pager $PERFDATA $verb -i $demo/shapes.data"
    shows '^PAGED' "$verb pages"
done
for verb in evlist 'export folded'; do
    on_terminal "PAGER=./pager $PERFDATA $verb -i $demo/shapes.data"
    lacks PAGED "$verb does not page"
done
on_terminal "PAGER=./pager $PERFDATA -p evlist -i $demo/shapes.data"
shows '^PAGED' '-p'
on_terminal "PAGER=./pager $PERFDATA report --nonsense"
lacks PAGED 'a message alone does not page'
on_terminal "PAGER=./pager $PERFDATA report -i missing.data"
lacks PAGED 'a message alone does not page'
"$PERFDATA" $report 2>/dev/null | head -1 | grep -q '^# To display' || fail 'into a pipe'

printf '[pager]\n\treport = false\n\tscript = ./other\n\tevlist = true\n' >config
printf '#!/bin/sh\necho OTHER\nexec cat\n' >other
chmod +x other
on_terminal "PERF_CONFIG=config PAGER=./pager $PERFDATA $report"
lacks PAGED 'pager.report = false'
on_terminal "PERF_CONFIG=config PAGER=./pager bin/perf $report"
shows '^PAGED' 'as perf, which pages all the same'
on_terminal "PERF_CONFIG=config PAGER=./pager $PERFDATA script -i $demo/shapes.data"
shows '^OTHER' 'pager.script = COMMAND'
for name in "$PERFDATA" bin/perf; do
    on_terminal "PERF_CONFIG=config PAGER=./pager $name evlist -i $demo/shapes.data"
    shows '^PAGED' 'pager.evlist = true'
done
on_terminal "PERF_CONFIG=config $PERFDATA --no-pager script -i $demo/shapes.data"
lacks OTHER '--no-pager before settings'

# ---- colours ----
export PERF_PAGER=cat
on_terminal "$PERFDATA $report"
shows "$escape\\[31m *[0-9.]*%$escape\\[m" 'red above 5 %'
on_terminal "PERF_PAGER=./pager $PERFDATA $report"
shows "$escape\\[31m" 'colours through a pager'
for off in "NO_COLOR=1 $PERFDATA $report" "$PERFDATA $report --color=never" \
    "$PERFDATA $report --stdio-color=never" "TERM=dumb $PERFDATA $report"; do
    on_terminal "$off"
    lacks "$escape" "$off"
done
on_terminal "NO_COLOR=1 $PERFDATA $report --color=always"
shows "$escape\\[31m" 'asked for in spite of NO_COLOR'
on_terminal "$PERFDATA $report --color=sometimes"
shows "not 'sometimes'" 'a wrong mode'
"$PERFDATA" $report 2>/dev/null | grep -q "$escape" && fail 'colours into a file'
"$PERFDATA" $report --color 2>/dev/null | grep -q "$escape\\[31m" || fail '--color into a file'
on_terminal "$PERFDATA report -D -i $SOURCE/tests/data/itrace/c_forkbid.data"
shows "^$escape\\[34m. ... Intel Processor Trace data" '-D in blue'
on_terminal "$PERFDATA script -D -i $demo/shapes.data --color=never"
lacks "$escape" 'script -D --color=never'

# Called as perf: its bytes.
perf=$(command -v perf) && case $("$perf" version) in "perf version 6.1"*) ;; *) perf= ;; esac
if [ -n "$perf" ]; then
    for file in shapes spin; do
        for verb in "report --stdio --symfs $demo/symfs" \
            "report --stdio --no-children -g caller --symfs $demo/symfs" \
            'report -D' 'script -D' "report --stdio --hierarchy --symfs $demo/symfs"; do
            for name in "$perf" bin/perf; do
                on_terminal "$name $verb -f -i $demo/$file.data 2>/dev/null"
                grep -v '^# (Tip:\|^# captured on' screen >"screen.${name##*/}.${name%%/*}"
            done
            cmp -s screen.perf. screen.perf.bin ||
                { fail "$verb $file: not perf's text:"; diff screen.perf. screen.perf.bin |
                head -10 | cat -v; }
        done
    done
else
    echo 'perf 6.1 is not here: its coloured text was not compared'
fi

# ---- progress ----
set --
for i in 1 2 3 4 5 6 7 8 9 10; do set -- "$@" "$demo/shapes.data"; done
"$PERFDATA" merge "$@" "$@" "$@" "$@" "$@" "$@" "$@" "$@" -o big.data || fail merge
"$PERFDATA" inject -i big.data -o - >big.pipe || fail inject
printf '#!/bin/sh\nhead -c 500000 big.pipe\nsleep 1\ntail -c +500001 big.pipe\n' >slowly
chmod +x slowly
on_terminal "./slowly | $PERFDATA report --stdio -i - >out"
shows 'report: [0-9]* MiB, .*records/s' 'the line'
grep -q 'Samples: ' out || fail 'the report with a line'
grep -q "$escape\\|records/s" out && fail 'the line went into the file'
on_terminal "./slowly | $PERFDATA script --no-progress -i - >out"
lacks 'records/s' --no-progress
on_terminal "./slowly | bin/perf script -i - >out"
lacks 'records/s' 'as perf'
on_terminal "./slowly | $PERFDATA script -i - | cat >out"
lacks 'records/s' 'beside a pipe'
./slowly | "$PERFDATA" script -i - >out 2>err
grep -q 'records/s' err && fail 'the line went into a file'

# ---- an interrupt ----
# interrupted VERB...: reads half of big.pipe, is interrupted and given the rest.
interrupted() {
    rm -f fifo out err
    mkfifo fifo
    env --default-signal=INT "$PERFDATA" "$@" <fifo >out 2>err &
    child=$!
    exec 3>fifo
    head -c 500000 big.pipe >&3 # more than fits into the pipe: it reads by now
    kill -INT $child
    tail -c +500001 big.pipe >&3
    exec 3>&-
    wait $child
    code=$?
}
"$PERFDATA" script -i big.data >whole 2>/dev/null
interrupted script -j1 -i -
[ $code -eq 1 ] || fail "script ends with $code"
grep -q 'interrupted' err || { fail 'script does not say so'; cat err; }
[ "$(wc -c <out)" -lt "$(wc -c <whole)" ] || fail 'script went on'
[ "$(tail -c 1 out | od -An -c | tr -d ' ')" = '\n' ] || fail 'the last line is cut'
interrupted report --stdio -j1 -i -
[ $code -eq 1 ] || fail "report ends with $code"
grep -q 'interrupted: what is shown is whole' err || { fail 'report does not say so'; cat err; }
grep -q 'Samples: ' out || fail 'report shows nothing'
echo before >kept
interrupted inject -i - -o kept
grep -q 'not put in place' err || { fail 'inject does not say so'; cat err; }
[ "$(cat kept)" = before ] || fail 'inject replaced its output'
ls -A | grep -q '^\.\|kept.' && fail "something is left: $(ls -A)"
exit $failed
