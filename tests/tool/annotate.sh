#!/bin/sh
# SPDX-License-Identifier: MIT
# annotate: the same text with any number of threads; programs that stand for objdump; objects that
# are none; refusals.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
command -v objdump >/dev/null || { echo 'no objdump'; exit 77; }
data=$SOURCE/tests/data/annotate
export LC_ALL=C PERF_CONFIG=/dev/null HOME="$work"
failed=0

fail() {
    echo "$*"
    failed=1
}
annotate() {
    timeout 60 "$PERFDATA" annotate --symfs "$data/symfs" "$@" </dev/null 2>"$work/err"
}

# ---- threads ----
for file in inline cpp-fp multi-event group-read; do
    annotate -l -j 1 -i "$data/$file.data" >"$work/one"
    [ -s "$work/one" ] || fail "$file: nothing was printed"
    for jobs in 2 8; do
        annotate -l -j $jobs -i "$data/$file.data" | cmp - "$work/one" ||
            fail "$file: $jobs threads"
    done
done

# ---- functions one by one ----
# A recording whose records come again and again, without features, which would lie elsewhere. Once
# the symbols of its objects are known, most samples of other functions are passed over.
number() { # FILE OFFSET
    od -An -tu8 -j "$2" -N 8 "$1" | tr -d ' '
}
grow() { # FILE TIMES
    at=$(number "$1" 40) size=$(number "$1" 48) left=$2
    head -c 48 "$1"
    grown=$((size * left))
    for _ in 1 2 3 4 5 6 7 8; do
        # shellcheck disable=SC2059
        printf "$(printf '\\%03o' $((grown & 255)))"
        grown=$((grown >> 8))
    done
    head -c 72 "$1" | tail -c +57
    head -c 32 /dev/zero
    head -c "$at" "$1" | tail -c +105
    while [ "$left" -gt 0 ]; do
        tail -c +$((at + 1)) "$1" | head -c "$size"
        left=$((left - 1))
    done
}
for file in inline cpp-fp multi-event cpu-clock-fp; do
    grow "$data/$file.data" 20 >"$work/$file-grown.data"
    cp "$data/$file.data" "$work"
done
# What all functions together show, each shows when it is asked for alone. Headings have the samples
# of all that count, and so differ.
for file in inline cpp-fp multi-event cpu-clock-fp inline-grown cpp-fp-grown multi-event-grown \
    cpu-clock-fp-grown; do
    annotate -n --no-source -i "$work/$file.data" | grep -v '^ Percent\|^---' | sort >"$work/all"
    "$PERFDATA" report --symfs "$data/symfs" --stdio --no-children -g none -s sym -F sym -w 0 \
        -i "$work/$file.data" 2>/dev/null | sed -n 's/^ *\[[k.]\] *\(.*[^ ]\) *$/\1/p' | sort -u |
        grep -v '^0x' >"$work/names"
    : >"$work/each"
    jobs=1
    while read -r name; do
        annotate -n --no-source -j "$jobs" -s "$name" -i "$work/$file.data" |
            grep -v '^ Percent\|^---' >>"$work/each"
        jobs=$((jobs % 3 + 1))
    done <"$work/names"
    [ -s "$work/each" ] || fail "$file: no function by its name"
    sort "$work/each" | cmp - "$work/all" || fail "$file: functions alone show something else"
    annotate -s 'no such function' -i "$work/$file.data" >"$work/none"
    [ ! -s "$work/none" ] || fail "$file: text of a function that there is not"
done

# ---- functions of an object by one run ----
# Counts the runs. The program given by name is run for each function alone.
mkdir "$work/bin"
printf '#!/bin/sh\necho run >>"%s/runs"\nexec "%s" "$@"\n' "$work" "$(command -v objdump)" \
    >"$work/bin/objdump"
chmod +x "$work/bin/objdump"
runs() { # OUTPUT OPTION...: how often it was run
    to=$1
    shift
    : >"$work/runs"
    PATH=$work/bin:$PATH annotate -j 1 "$@" >"$to"
    count=$(wc -l <"$work/runs")
}
for file in inline cpp-fp multi-event group-read cpu-clock-fp; do
    for look in --no-source --asm-raw '-l'; do
        runs "$work/together" $look -i "$data/$file.data"
        runs "$work/alone" --objdump objdump $look -i "$data/$file.data"
        cmp "$work/together" "$work/alone" || fail "$file $look: by one run"
    done
done
runs "$work/alone" --objdump objdump -i "$data/cpp-fp.data"
[ "$count" = 8 ] || fail "8 functions by $count runs"
runs "$work/together" -i "$data/cpp-fp.data"
[ "$count" -le 3 ] || fail "8 functions of an object by $count runs"

# ---- programs in objdump's place ----
program() {
    printf '#!/bin/sh\n%s\n' "$1" >"$work/objdump"
    chmod +x "$work/objdump"
}
expect() { # CODE WORDS...: of a run with that program
    code=$1
    annotate --objdump "$work/objdump" -s outer_one -i "$data/inline.data" >"$work/out"
    got=$?
    [ $got = "$code" ] || fail "$2: exit $got, not $code: $(cat "$work/err")"
}
program 'exit 3'
expect 1 fails
grep -q 'No output from' "$work/err" || fail 'nothing is said of an objdump without output'
program 'echo text; exit 3'
expect 1 'fails late'
grep -q 'Invalid -3 error code' "$work/err" || fail 'the code of objdump is not told'
[ ! -s "$work/out" ] || fail 'a function is printed though objdump failed'
program 'echo; echo "/a/b.c:41"; printf "  int x;\t/* y */\n\n  391:\tnop\n  ffffffffffffffffff:\tnop\n  39z: no\n"'
expect 0 text
printf '         :\n         : 41  int x;  /* y */\n         :\n' >"$work/want"
sed -n 3,5p "$work/out" | cmp - "$work/want" || fail 'lines of source'
grep -q '^  100.00 :   391:    nop$' "$work/out" || fail 'an instruction'
program 'kill -9 $$'
expect 1 killed
annotate --objdump "$work/nowhere" -i "$data/inline.data" >/dev/null
[ $? = 1 ] || fail 'an objdump that is not there'

# Words of options are no words of a shell.
program 'for word; do printf "%s\n" "$word"; done >"${0%/*}/words"; echo x'
# shellcheck disable=SC2016
annotate --objdump "$work/objdump" -M '$(touch oops);`x`' -s outer_one -i "$data/inline.data" \
    >/dev/null
# shellcheck disable=SC2016
grep -qxF '$(touch oops);`x`' "$work/words" || fail 'a style is not handed on as it is'

# ---- objects ----
mkdir -p "$work/fs/own/bin"
cp "$data/symfs/own/bin/inl" "$work/fs/own/bin/inl"
annotate --symfs "$work/fs" -s outer_one -i "$data/inline.data" >"$work/out" || fail 'a copy'
[ -s "$work/out" ] || fail 'a copy of the program gives nothing'
rm "$work/fs/own/bin/inl"
mkfifo "$work/fs/own/bin/inl"
annotate --symfs "$work/fs" -i "$data/inline.data" >"$work/out"
[ $? != 124 ] || fail 'a FIFO in the place of a program is waited for'

# ---- what is refused, and nothing found ----
annotate -s nosuch -i "$data/inline.data" >/dev/null
[ $? = 3 ] || fail 'a function that is not there'
# Without a terminal perf has no browser either: it prints.
annotate --stdio -i "$data/inline.data" >"$work/stdio" || fail '--stdio'
annotate --tui -i "$data/inline.data" >"$work/tui" || fail '--tui without a terminal'
[ -s "$work/tui" ] && cmp -s "$work/stdio" "$work/tui" || fail '--tui prints something else'
annotate --percent-type local -i "$data/inline.data" >/dev/null
[ $? = 2 ] || fail 'a percent type that is none is taken'
annotate --prefix-strip 2 -i "$data/inline.data" >/dev/null
[ $? = 2 ] || fail '--prefix-strip without --prefix is taken'

# ---- settings ----
printf '[annotate]\nshow_nr_samples = true\ndisassembler_style = intel\n' >"$work/config"
PERF_CONFIG=$work/config annotate -s outer_one -i "$data/inline.data" >"$work/out"
grep -q '^ Samples |' "$work/out" || fail 'annotate.show_nr_samples'
grep -q 'xor    ecx,ecx' "$work/out" || fail 'annotate.disassembler_style'
exit $failed
