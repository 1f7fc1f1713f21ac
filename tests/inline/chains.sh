#!/bin/sh
# SPDX-License-Identifier: MIT
# Functions that the compiler has put into others, in chains of a copied stack: what is shown, and
# that it is what perf shows.
set -u
case $(uname -m) in x86_64) ;; *) echo "made for x86-64"; exit 77 ;; esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export PERF_CONFIG=/dev/null TZ=UTC LC_ALL=C COLUMNS=160 PERFDATA
failed=0

complain() {
    echo "$*"
    failed=$((failed + 1))
}

# perf reads memory that it has not written ("[...] (inlined)" in fractal graphs).
perf() (
    unset MALLOC_PERTURB_
    exec perf "$@"
)

# perf dies of maps that the kernel marks with a build-id because someone else asks for them
# meanwhile.
record() {
    for try in 1 2 3 4 5 6 7 8 9; do
        "$PERFDATA" record -q -e cpu-clock:u -F 997 --call-graph dwarf,1024 -o "$1" "$2" \
            >/dev/null 2>err ||
            { cat err; echo "no events can be recorded"; exit 77; }
        "$PERFDATA" dump --pdt "$1" | grep -q '^record MMAP2 misc=0x4' || return 0
    done
    echo "$1: always marked, $try times"
    exit 1
}

build="-O2 -fno-stack-protector -fno-optimize-sibling-calls -fcf-protection=none -nostdlib -static -Wl,--eh-frame-hdr"
for kind in with without; do
    debug=-g
    [ $kind = with ] || debug=
    # shellcheck disable=SC2086
    "$CC" $debug $build "$SOURCE/tests/inline/nested.c" -o $kind 2>err || { cat err; exit 77; }
    record $kind.data ./$kind
done

# The chain's functions of the most frequent kind, innermost first.
chain() {
    "$PERFDATA" script -F ip,sym "$@" 2>/dev/null |
        awk '/^\t/ { at = at (at ? " " : "") $2 ($3 ? $3 : ""); next } at { n[at]++; at = "" }
             END { for (x in n) if (n[x] > most) { most = n[x]; best = x } print best }'
}
shown=$(chain -i with.data)
case $shown in
'inner(inlined) middle(inlined) worker wrapper(inlined) again'*' run _start') ;;
*) complain "with DWARF: $shown" ;;
esac
case $(chain -i with.data --no-inline) in
'worker again'*' run _start') ;;
*) complain "--no-inline: $(chain -i with.data --no-inline)" ;;
esac
case $(chain -i without.data) in
'worker again'*' run _start') ;;
*) complain "without DWARF: $(chain -i without.data)" ;;
esac
"$PERFDATA" script -F ip,sym,symoff,dso,srcline -i with.data >out 2>/dev/null
grep -q 'middle+0x[0-9a-f]*$' out || complain 'an inlined function has an object'
grep -A1 'middle+0x' out | grep -q '^  nested.c:17 (inlined)$' ||
    complain 'the line of a call is not told'
grep -q 'worker+0x[0-9a-f]* (.*/with)$' out || complain 'a function has no object'
"$PERFDATA" report --stdio -i with.data >out 2>/dev/null
grep -q '0.00% .* \[\.\] middle (inlined)' out || complain 'no row of an inlined function'
"$PERFDATA" report --stdio --no-inline -i with.data 2>/dev/null | grep -q inlined &&
    complain '--no-inline: rows'
for threads in 1 2; do
    "$PERFDATA" report --stdio -j $threads -i with.data >rows.$threads 2>/dev/null
done
cmp -s rows.1 rows.2 || complain 'two threads give other rows'

# like_perf VERB OPTIONS...: the same text, but for the tip of the day
like_perf() {
    perf "$@" 2>/dev/null | grep -v '^# (' >theirs
    "$PERFDATA" "$@" 2>/dev/null | grep -v '^# (' >ours
    cmp -s ours theirs || { complain "not as perf: $*"; diff theirs ours | head -10; }
}
case $(perf --version 2>/dev/null) in
'perf version 6.1.'*) ;;
*) echo "not compared: no perf 6.1"; [ $failed -eq 0 ] || exit 1; exit 0 ;;
esac
for kind in with without; do
    like_perf script -i $kind.data
    like_perf script -F +srcline -i $kind.data
    like_perf script -F comm,ip -i $kind.data
    like_perf script --max-stack 2 -i $kind.data
    like_perf script --no-inline -i $kind.data
    # the same where the first sample's registers have no address
    "$PERFDATA" dump --pdt $kind.data |
        awk '/^record SAMPLE/ && !done {
                 done = sub(/ip=0x[0-9a-f]+/, "ip=0")
                 match($0, /user_regs=\[[^]]*\]/)
                 n = split(substr($0, RSTART, RLENGTH), word, " ")
                 word[9] = 0
                 values = word[1]
                 for (i = 2; i <= n; i++) values = values " " word[i]
                 $0 = substr($0, 1, RSTART - 1) values substr($0, RSTART + RLENGTH)
             }
             { print }' >zero.pdt
    "$PERFDATA" assemble zero.pdt -o zero.data || complain "no recording of zero.pdt"
    like_perf script -i zero.data
    like_perf report --stdio -i zero.data
    for options in '' --no-children -G '-g none' '-g address --no-children' '-g srcline' \
        '-g fractal' '-s sym' '-s srcline' \
        '-s dso,sym,srcline --no-children' '-s srcfile' --hierarchy -v -U '-t ,' \
        '-t ; -g none -s sym,dso'; do
        # shellcheck disable=SC2086
        like_perf report --stdio $options -i $kind.data
    done
done
[ $failed -eq 0 ]
