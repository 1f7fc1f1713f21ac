#!/bin/sh
# SPDX-License-Identifier: MIT
# The interactive report and flame graph, driven in a terminal by tmux: tui.sh WIDTHxHEIGHT.
set -u
: "${PERFDATA:?}" "${SOURCE:?}"
"$PERFDATA" version --build-options | grep -q 'ncursesw: \[ on ' ||
    { echo 'built without ncursesw'; exit 77; }
command -v tmux >/dev/null || { echo 'tmux is not here'; exit 77; }
size=$1 width=${1%x*} height=${1#*x}
demo=$SOURCE/tests/data/demo
work=$(mktemp -d) || exit 1
number=0 socket=$work/tmux.0
export TZ=UTC LC_ALL=C.UTF-8 HOME="$work" PERF_CONFIG=/dev/null SHELL=/bin/sh PS1='$ ' LIMIT=30
unset NO_COLOR TMUX COLUMNS LINES 2>/dev/null
pane() { tmux -u -S "$socket" -f /dev/null "$@"; }
trap 'pane kill-server 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() {
    echo "$size: $*:"
    pane capture-pane -p
    failed=1
}
screen() { pane capture-pane -p 2>/dev/null; }
keys() { pane send-keys "$@"; }
text() { pane send-keys -l "$1"; }

# until CONDITION...: it holds within LIMIT seconds.
until_holds() {
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt $((LIMIT * 10)) ] || return 1
        sleep 0.1
    done
}
has() { screen | grep -q -e "$1"; }
has_not() { ! has "$1"; }
sees() { until_holds has "$1" || fail "no '$1'${2:+ ($2)}"; }
loses() { until_holds has_not "$1" || fail "still '$1'${2:+ ($2)}"; }

# run TERM COMMAND: in a fresh terminal; its modes are noted before and behind it.
run() {
    pane kill-server 2>/dev/null
    number=$((number + 1)) socket=$work/tmux.$number # a server that ends may still hold its own
    rm -f before after code
    cat >job <<END
trap : INT
stty -g >before
$2
echo \$? >code
stty -g >after
echo 'the shell again'
read line
END
    pane new-session -d -x "$width" -y "$height" "TERM=$1 sh job" ||
        { echo 'tmux does not start'; exit 77; }
    pane set -g status off
}
# The program has left and the terminal is as before.
left_all_well() {
    sees 'the shell again' "$1"
    cmp -s before after || fail "$1: modes of the terminal differ"
    [ "$(pane display -p '#{alternate_on}#{cursor_flag}')" = 01 ] ||
        fail "$1: its screen or cursor is gone"
    if [ "${2-0}" != any ] && [ "$(cat code)" != "${2-0}" ]; then fail "$1: exit $(cat code)"; fi
}
leave() {
    keys q
    left_all_well "$1"
}
# The chosen line holds this text.
chosen() { pane capture-pane -p -e 2>/dev/null | grep -q -e "$(printf '\033')\[\(0;\)*7m.*$1"; }
chooses() { until_holds chosen "$1" || fail "the chosen line is not '$1'${2:+ ($2)}"; }
first_row() { cursor_line 3 | grep -q -e "$1"; }
cursor_line() { screen | sed -n "$1p"; }

report="$PERFDATA report --symfs $demo/symfs --kallsyms $demo/symfs/kallsyms"
shapes="$report -i $demo/shapes.data"
"$PERFDATA" report --stdio --symfs "$demo/symfs" --kallsyms "$demo/symfs/kallsyms" \
    -i "$demo/shapes.data" >whole 2>/dev/null
samples=$(sed -n 's/^# Samples: \([0-9]*\).*/\1/p' whole | head -1)
[ -n "$samples" ] || { echo 'no samples in the demo'; exit 1; }
# Rows of the text, first to last, as the list shows them.
sed -n 's/^    *\([0-9.]*%  .*\)$/\1/p' whole | grep -v '^[0-9.]*%--' >rows
first=$(sed -n '1s/  .*//p' rows)
second=$(sed -n '2s/  .*//p' rows)
last=$(sed -n '$s/  .*//p' rows)

# ---- the report ----
run screen-256color "$shapes"
sees "Samples: $samples"
sees Children 'titles'
sees "+ *$first" 'the first row, folded'
keys '?'; sees 'ENTER, m *what can be done' 'help lists the keys'; keys q
loses 'what can be done'
keys H; loses Children 'H'
keys H; sees Children 'H again'
keys +; sees "^- *$first" '+ unfolds'
sees '^   [-+ ] ' 'a chain below its row'
keys +; sees "^+ *$first" '+ folds'
keys e; sees '^      [-+ ] ' 'e unfolds all of it'
keys e; loses '^   [-+ ] ' 'e folds it'
keys E; sees '^   [-+ ] ' E
keys C; loses '^   [-+ ] ' C
[ "$(screen | sed -n 3p | cut -c1-20)" != "" ] || fail 'no rows'
chooses "$first"
keys End; chooses "$last" End
keys Home; chooses "$first" Home
keys Down; chooses "$second" DOWN
keys Up; chooses "$first" UP
keys NPage; keys PPage; chooses "$first" 'PGDN, PGUP'
keys Space; keys Home; chooses "$first" 'SPACE, HOME'
keys Right; loses "^+ *$first" RIGHT
keys Left; sees "^+ *$first" LEFT
keys d; sees 'DSO: ' d; keys Escape; loses 'DSO: ' 'ESC zooms out'
keys t; sees 'Thread: ' t; keys t; loses 'Thread: ' 't again'
keys k; sees 'kernel' k; keys Escape; loses ', kernel' 'ESC'
keys /; sees 'Symbols that contain:'; text nosuchthing; keys Enter; sees 'no rows are left' '/'
keys Escape; sees "+ *$first" 'ESC after /'
keys /; text main; keys Enter; sees 'Symbol: main' '/'; sees 'main'; keys Escape; loses \
    'Symbol: main'
keys N; sees 'Next row that contains'; text main; keys Enter; loses 'Next row'
keys L; text 50; keys Enter; sees "+ *$first" L
keys Escape
keys p; loses '[0-9]%' 'p shows periods'; keys p; sees "$first" 'p again'
keys F; sees 'percentages of what is shown'; keys F; sees 'percentages of all'
keys i; sees 'Header of the recording'; sees 'captured on'; keys q; loses 'Header of the recording'
keys Enter; sees 'What now?'; keys Escape; loses 'What now?'
keys Enter; sees 'What now?'; keys Down; keys Enter; sees 'DSO: ' 'a choice'; keys Escape
keys Tab; sees 'one event only' TAB
keys s; sees 'another data file' 's is refused'
keys r; sees 'scripts are not run' 'r is refused'
keys 1; sees 'in no group' '1 without a group'
keys y; sees 'copied: ' y
keys P; sees 'printed to perf.hist.0' P
[ -s perf.hist.0 ] && grep -q "^[+-] *$first" perf.hist.0 || fail 'perf.hist.0'
keys V; sees "Samples: $samples" V
[ "$width" -ge 60 ] || keys Right Right Right # to columns that are left out
sees '/own/bin' 'V shows paths'
keys V; loses '/own/bin' 'V again'
[ "$width" -ge 60 ] || keys Left Left Left
leave 'q'

# Events of a group, and processor sockets.
"$PERFDATA" assemble "$SOURCE/tests/tool/groups.pdt" -o groups.data || exit 1
run screen-256color "$PERFDATA report --sort comm -i groups.data"
chooses '90.00%  20.00%  c_first'
keys 1; until_holds first_row i_first || fail '1 sorts by the second event'
keys 2; sees 'Max event group index to sort is 1' 'an event that the group does not have'
first_row i_first || fail 'which changes nothing'
keys 0; until_holds first_row c_first || fail '0 sorts by the first event'
keys S; sees 'Processor socket:'; text 1; keys Enter; sees 'Socket: 1' S; loses c_first
keys S; loses 'Socket: 1' 'S again'; sees c_first
keys S; text 0; keys Enter; sees 'Socket: 0'; loses i_first
keys Escape; loses 'Socket: 0' 'ESC'; sees i_first
keys S; text x; keys Enter; sees 'a socket is a number'
leave 'groups'

# Every row of the text, in its order.
run screen-256color "$shapes"
sees "+ *$first"
keys P; sees 'printed to perf.hist.1'
sed 's/^[+ ] *//; s/ *$//' perf.hist.1 >list
sed 's/ *$//' rows | head -n "$(wc -l <list)" | cmp -s - list ||
    { fail 'rows are not those of --stdio'; diff rows list | head; }
[ "$(wc -l <list)" -eq "$(wc -l <rows)" ] || fail "$(wc -l <list) rows, --stdio has $(wc -l <rows)"

# ---- other sizes while it runs ----
for other in 40x12 200x60 80x24 20x5 "$size"; do
    pane resize-window -x "${other%x*}" -y "${other#*x}"
    sees "+ *$first" "resized to $other"
    until_holds sh \
        -c "[ \"\$(tmux -u -S $socket display -p '#{pane_width}x#{pane_height}')\" = $other ]" ||
        fail "no $other"
done
keys Escape
left_all_well 'ESC'

# ---- how it ends ----
for signal in INT TERM HUP; do
    run screen-256color "sh -c 'echo \$\$ >pid; exec $shapes'"
    sees "+ *$first"
    kill -$signal "$(cat pid)"
    left_all_well "SIG$signal" any
    if [ $signal != INT ] && [ "$(cat code)" -lt 128 ]; then fail "SIG$signal: exit $(cat code)"; fi
done
run screen-256color "$shapes"
sees "+ *$first"
keys C-c
left_all_well 'CTRL+C'
run screen-256color "sh -c 'echo \$\$ >pid; exec $shapes'"
sees "+ *$first"
kill -SEGV "$(cat pid)"
left_all_well 'a crash' any

# ---- terminals without colours, without anything ----
run vt100 "$shapes"
sees "+ *$first" vt100
leave vt100
run screen-256color "NO_COLOR=1 $shapes"
sees "+ *$first"
pane capture-pane -p -e | grep -q "$(printf '\033')\\[3[0-7]m" && fail 'NO_COLOR has colours'
leave NO_COLOR
run screen-256color "$shapes"
sees "+ *$first"
pane capture-pane -p -e | grep -q "$(printf '\033')\\[31m" || fail 'no red percentages'
leave colours
run dumb "PAGER=cat $shapes | head -4"
sees 'To display the perf.data header' 'a dumb terminal gets text'
run screen-256color "PAGER=cat $shapes --stdio | head -4"
sees 'To display the perf.data header' '--stdio'
run screen-256color "$report -i missing.data"
sees 'missing.data' 'a missing recording'
left_all_well 'a missing recording' 3
run screen-256color "$shapes --sort nosuchkey"
sees 'suchkey' 'a wrong key' # 40 columns cut the word
left_all_well 'a wrong key' 2

# ---- columns that are wider than the terminal ----
long=liba-library-with-quite-a-name-of-its-own.so.12.3.45
mkdir -p wide/own/bin
cp "$demo/symfs/own/bin/shapes" "wide/own/bin/$long"
"$PERFDATA" dump --pdt "$demo/shapes.data" | sed "s|/own/bin/shapes|/own/bin/$long|" >wide.text
"$PERFDATA" assemble wide.text -o wide.data || fail assemble
run screen-256color "$PERFDATA report --symfs wide -i wide.data"
sees '\[\.\] main' 'the symbol though an object has a long name'
sees ' Symbol' 'its title'
case $width in
40) has 'Self' && fail 'columns are left out where there is no room' ;;
80)
    sees 'liba-lib.*[.]3[.]45' 'both ends of the long name'
    sees 'Self  *Command  *Shared Object' 'titles are whole where there is room'
    has "$long" && fail 'it is cut' ;;
*) sees "$long" 'the long name' ;;
esac
keys Right Right; loses Children RIGHT
for step in 1 2 3 4 5 6; do
    has "$long" || { [ "$width" -ge 80 ] && [ $step = 6 ] && fail 'the whole name, scrolled to'; }
    has "$long" && break
    keys Right
done
keys Left Left Left Left Left Left Left Left; sees '\[\.\] main' LEFT
leave 'wide columns'
run screen-256color "LC_ALL=C $PERFDATA report --symfs wide -i wide.data"
sees '\[\.\] main' 'no UTF-8'
has '?' && [ "$width" = 80 ] && has 'liba.*?.*\.3\.45' && fail 'no UTF-8: a question mark'
leave 'no UTF-8'

# ---- a recording that grows while it is looked at ----
# What stood in the file when it was opened is shown and stays; the next start has the rest.
awk -v samples=60000 -f "$SOURCE/tests/tool/halves.awk" >halves.text
"$PERFDATA" assemble halves.text -o halves.data || fail assemble
head -c 1600000 halves.data >grows.data
run screen-256color "$PERFDATA report --sort comm -i grows.data"
sees 'Samples: 33K' 'the part that is there'
sees '^ *90.02%  half1' 'its rows'
tail -c +1600001 halves.data >>grows.data
keys Down; chooses half2 'moving while it grows'
keys Home; chooses half1 'and back'
sees 'Samples: 33K' 'what was opened stays'
keys q
left_all_well 'a recording that grows' 1 # of which an end was missing
run screen-256color "$PERFDATA report --sort comm -i grows.data"
sees 'Samples: 60K' 'all of it'
sees '^ *50.00%  half2' 'the second half'
leave 'a recording that has grown'

# ---- several events, and more than a screen reads at once ----
set --
for i in 1 2 3 4 5 6 7 8 9 10; do set -- "$@" "$demo/shapes.data"; done
"$PERFDATA" merge "$@" "$@" "$@" "$@" "$@" "$@" "$@" "$@" "$@" "$@" -o big.data || fail merge
total=$("$PERFDATA" report --stdio --symfs "$demo/symfs" -i big.data 2>/dev/null |
    sed -n 's/^# Samples: \([0-9]*[KM]*\).*/\1/p' | head -1)
run screen-256color "$report -i big.data"
sees "Samples: $total" 'all samples when it has been read'
loses 'reading:' 'the end of reading'
leave 'a larger recording'
if [ -n "$(ls "$SOURCE"/tests/data/report/*.data 2>/dev/null)" ]; then
    for file in "$SOURCE"/tests/data/report/*.data; do
        count=$("$PERFDATA" report --stdio -i "$file" 2>/dev/null | grep -c '^# Samples: ')
        [ "$count" -gt 1 ] || continue
        run screen-256color "$report -i $file"
        sees 'Samples: '
        before=$(cursor_line 1)
        keys Tab
        until_holds sh \
            -c "[ \"\$(tmux -u -S $socket capture-pane -p | sed -n 1p)\" != \"$before\" ]" ||
            fail 'TAB'
        keys BTab
        sees "$(printf %s "$before" | cut -c1-30)" BTAB
        leave 'several events'
        break
    done
fi

# ---- the flame graph ----
run screen-256color \
    "$PERFDATA flame --symfs $demo/symfs --kallsyms $demo/symfs/kallsyms -i $demo/shapes.data"
sees 'Flame graph of'
sees '|all'
sees '100.00 %'
keys Down; loses '^100.00 % .* all *$' Down
keys Up; sees '100.00 %.*all' Up
keys '?'; sees 'half blocks: two levels'; keys q; loses 'two levels'
keys Down; keys Down; keys Enter; sees zoomed ENTER
keys BSpace BSpace; loses zoomed BACKSPACE
keys Home
keys b; sees "$(printf '\342\226\200')" 'half blocks'
keys b; sees '|all'
keys c; sees 'Callers of' c; keys c; sees 'Flame graph of'
keys p; sees ' samples ' p; keys p; sees ' period ' p
keys /; text main; keys Enter; sees "'main': .*% of all" '/'
keys n; sees 'main' n
keys Left; keys Right; keys Tab; sees 'Flame graph'
keys y; sees 'copied: ' y
pane resize-window -x 60 -y 15; sees '|all'
keys q q
left_all_well 'the flame graph'
run screen-256color "$shapes"
sees "+ *$first"
keys f; sees 'Flame graph of' f; keys q; sees "+ *$first" 'back from the flame graph'
leave 'both'

# ---- annotated code ----
command -v objdump >/dev/null || exit $failed
code=$SOURCE/tests/data/annotate
annotate="$PERFDATA annotate --symfs $code/symfs -i $code/inline.data"
$annotate --stdio >code.text 2>/dev/null || fail 'annotate --stdio'
# The shares of the first function, the hottest first.
sed '2,${/^ Percent/,$d;}' code.text | sed -n 's/^ *\([0-9][0-9.]*\) :.*/\1/p' | grep -v '^0.00' |
    sort -rn >shares
hot=$(sed -n 1p shares) next=$(sed -n 2p shares)
[ -n "$next" ] || fail 'fewer than two instructions with samples'
run screen-256color "$annotate"
chooses " $hot :" 'the hottest instruction first'
keys Tab; chooses " $next :" TAB
keys BTab; chooses " $hot :" BTAB
keys BTab; sees 'there is no other' 'nothing is hotter'
keys Home; chooses ' Percent' Home
keys H; chooses " $hot :" H
keys Down; keys Up; chooses " $hot :" 'DOWN, UP'
keys NPage; keys PPage; keys Space; keys End
last_line=$(sed -n '$p' code.text | sed 's/.*\(.\{8\}\)$/\1/')
[ "$width" -lt 80 ] || chooses "$last_line" END
keys Home; keys f; chooses ' Percent' f
sees 'outer_two\|main' 'another function'
keys b; chooses ' Percent' b
keys b; sees 'no other function' 'nothing stands before the first'
keys /; sees 'search:'; text "$next :"; keys Enter; chooses " $next :" /
keys Home; keys n; chooses " $next :" n
keys Home; keys Right; loses '^ Percent' RIGHT
keys Left; sees '^ Percent' LEFT
keys '?'; sees 'the hottest instruction' 'help'; keys q; loses 'the hottest instruction'
keys /; sees 'search:'; keys C-u; text ' jne '; keys Enter; chooses ' jne ' 'a jump'
target=$(screen | sed -n 's/.* jne  *\([0-9a-f]*\) <.*/\1/p' | head -1)
keys Home; keys Enter; sees 'no jump or call' 'ENTER elsewhere'
keys n; chooses ' jne '
keys Enter; chooses ": *$target:" 'ENTER follows a jump'
keys P; sees 'printed to perf.annotate.0' P
cmp -s perf.annotate.0 code.text || fail 'perf.annotate.0 is not what --stdio prints'
keys s; chooses " $hot :" 's reads again'
keys P; sees 'printed to perf.annotate.1' s
$annotate --stdio --no-source 2>/dev/null | cmp -s - perf.annotate.1 || fail 's: not --no-source'
keys s; chooses " $hot :" 's again'
keys t; chooses ' [0-9]\{6,\} :' 't: periods'
keys t; chooses ' [1-9][0-9]* :' 't again: numbers of samples'
loses ' [0-9]\{6,\} :' 'no periods then'
keys t; chooses " $hot :" 't once more'
pane resize-window -x 60 -y 15; keys H; chooses " $hot :" 'another size'
pane resize-window -x "$width" -y "$height"; keys q
left_all_well annotate
run screen-256color "$annotate"
chooses " $hot :"
keys Down
until_holds sh -c "tmux -u -S $socket capture-pane -p -e | grep -q '$(printf '\033')\\[31m'" ||
    fail 'no red instruction'
keys C-c
left_all_well 'annotate, CTRL+C'
run screen-256color "NO_COLOR=1 $annotate"
chooses " $hot :"
pane capture-pane -p -e | grep -q "$(printf '\033')\\[3[0-7]m" && fail 'NO_COLOR has colours'
leave 'annotate, NO_COLOR'
run screen-256color "PAGER=cat $annotate --stdio | head -4"
sees 'Percent' 'annotate --stdio'
# A function without code: the view says so, and it is told when it is left.
run screen-256color "$annotate nosuchfunction"
left_all_well 'no such function' any
run screen-256color "$PERFDATA report --symfs $code/symfs -i $code/inline.data"
sees '_start'
keys a; sees 'no samples lie in _start' 'a of a function that only calls'
keys Down; chooses outer_one
keys a; chooses " $hot :" 'a, with the options of the report'
keys q; chooses outer_one 'back in the report'
leave 'code of a report'
exit $failed
