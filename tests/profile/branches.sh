#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 27: bolt, fdata and autofdo say how often each branch was taken and each run was made, from
# branch stacks and from traces, and perf2bolt, llvm-bolt and create_llvm_prof read them. What is
# not installed is named.
. "$SOURCE/tests/profile/branch_tools.sh"
needs python3 objdump readelf

# RECORDING OPTION...: forms -> $work/bolt, fdata, autofdo, the same with any number of threads.
make_forms() {
    for form in bolt fdata autofdo; do
        for threads in 1 2 8; do
            "$PERFDATA" export $form -j $threads -o "$work/$form.$threads" -i "$@" 2>"$work/log" ||
                { cat "$work/log"; failed=1; }
            cmp -s "$work/$form.1" "$work/$form.$threads" ||
                fail "$form of $1 differs with $threads threads"
        done
        "$PERFDATA" export $form -i "$@" 2>/dev/null | cmp -s - "$work/$form.1" ||
            fail "$form of $1: standard output differs"
        mv "$work/$form.1" "$work/$form"
        [ -s "$work/$form" ] || fail "$form of $1 is empty"
        count=$((count + 1))
    done
}

# PROGRAM: its own readers.
read_forms() {
    if has perf2bolt; then
        perf2bolt -p "$work/bolt" --pa -o "$work/theirs" "$1" >"$work/log" 2>&1 ||
            { cat "$work/log"; failed=1; }
        # BOLT's lines but for ends of blocks that are no branches; ours but for functions that it
        # does not understand.
        python3 - "$work" <<'END' || failed=1
import sys
work = sys.argv[1]
def read(name):
    return {tuple(l.split()[:6]): tuple(map(int, l.split()[6:])) for l in open(work + "/" + name)}
ours, theirs = read("fdata"), read("theirs")
both = ours.keys() & theirs.keys()
differ = [k for k in both if ours[k] != theirs[k]]
taken = sum(1 for l in open(work + "/bolt") if l[0] == "B")
if differ or len(both) < 0.9 * len(theirs) - 2 or not both:
    sys.exit("fdata: %d of BOLT's %d lines, %d of them with other numbers: %s"
             % (len(both), len(theirs), len(differ), differ[:3]))
print("fdata: %d lines, %d of BOLT's %d" % (len(ours), len(both), len(theirs)))
END
    fi
    if has llvm-bolt; then
        llvm-bolt "$1" -data "$work/fdata" -o "$work/bolted" >"$work/log" 2>&1 ||
            { tail -5 "$work/log"; fail "llvm-bolt fails"; }
        grep -q 'functions in the binary.*have non-empty execution profile' "$work/log" ||
            { tail "$work/log"; fail 'llvm-bolt takes nothing'; }
        # As many functions that do not fit as from BOLT's own lines of the same branches, not more.
        ours=$(sed -n 's/^BOLT-WARNING: \([0-9]*\) .*invalid (possibly stale).*/\1/p' "$work/log" |
            head -1)
        if [ -s "$work/theirs" ]; then
            llvm-bolt "$1" -data "$work/theirs" -o "$work/bolted" >"$work/log" 2>&1
            theirs=$(sed -n 's/^BOLT-WARNING: \([0-9]*\) .*invalid (possibly stale).*/\1/p' \
                "$work/log" | head -1)
            [ "${ours:-0}" -le "${theirs:-0}" ] ||
                fail "llvm-bolt finds $ours functions stale, $theirs by perf2bolt"
        fi
    fi
}

cat >"$work/loop.c" <<'END'
#include <stdio.h>
int __attribute__((noinline)) work(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) {
        s += i * i;
        if (s & 64)
            s ^= 3;
    }
    return s;
}
int main(int argc, char **argv)
{
    (void)argv;
    printf("%d\n", work(argc * 1000));
    return 0;
}
END
# A program with a loop that branch stacks were recorded of: what is written is known to the last
# number.
for kind in no-pie pie; do
    base=0
    [ $kind = pie ] && base=0x555555554000
    $CC -gdwarf-4 -O1 -$kind "$work/loop.c" -o "$work/$kind" ||
        { echo "skipped: $CC cannot link -$kind"; exit 77; }
    python3 "$SOURCE/tests/profile/loop_branches.py" "$work/$kind" $base >"$work/$kind.pdt" \
        2>"$work/expected" &&
        "$PERFDATA" assemble "$work/$kind.pdt" -o "$work/$kind.data" || fail "no recording of $kind"
    make_forms "$work/$kind.data"
    diff "$work/expected" "$work/bolt" || fail "bolt of $kind has other numbers"
    read_forms "$work/$kind"
    grep -q '^1 main [0-9a-f]* 1 work 0 0 20$' "$work/fdata" ||
        fail "fdata of $kind lacks the call: $(cat "$work/fdata")"
done
"$PERFDATA" export bolt -i "$work/pie.data" --object pie 2>&1 | cmp -s - "$work/bolt" ||
    fail '--object by name differs'
"$PERFDATA" export bolt -i "$work/pie.data" --object other >/dev/null 2>"$work/log" &&
    fail '--object of nothing ends well'
grep -q "no branches of an object 'other'" "$work/log" ||
    fail "--object of nothing: $(cat "$work/log")"
"$PERFDATA" export folded --object pie -i "$work/pie.data" >/dev/null 2>&1 &&
    fail 'folded takes --object'
"$PERFDATA" export bolt -i "$SOURCE/tests/data/demo/spin.data" >/dev/null 2>"$work/log" &&
    fail 'no branches end well'
grep -q 'neither branch stacks nor' "$work/log" || fail "without branches: $(cat "$work/log")"
for kind in no-pie pie; do
    has create_llvm_prof || break
    "$PERFDATA" export autofdo -i "$work/$kind.data" -o "$work/autofdo"
    create_llvm_prof --profiler=text --profile="$work/autofdo" --binary="$work/$kind" \
        --format=text --out="$work/llvm" 2>"$work/log"
    # 120 times through the loop, 20 times in.
    grep -q '^work:' "$work/llvm" && grep -q ': 20$' "$work/llvm" &&
        grep -q ': 120$' "$work/llvm" || {
        cat "$work/log" "$work/llvm"; fail "create_llvm_prof says something else of $kind"; }
done

# Traces: the branches are those of script.
if [ -n "${PERFDATA_CORPUS-}" ]; then
    pt=$PERFDATA_CORPUS/own-pt
    for each in t_cyc:loops t_sig:sig; do
        program=$pt/symfs/ptcorpus/bin/${each#*:} data=$pt/rec/${each%:*}.data
        make_forms "$data" --symfs "$pt/symfs" --object "${each#*:}"
        "$PERFDATA" script -i "$data" --symfs "$pt/symfs" --itrace=b -F ip,addr 2>/dev/null | awk '
            { from = $1; to = $3; n[from " " to]++ } END { for (k in n) print "B", k, n[k], 0 }' |
                sort >"$work/expected"
        grep ^B "$work/bolt" | sort | cmp -s - "$work/expected" || {
            fail "bolt of ${each%:*} is not what script says"; grep ^B "$work/bolt" | sort |
                diff - "$work/expected" | head -5; }
        read_forms "$program"
    done
else
    echo 'PERFDATA_CORPUS is not set: no traces'
fi
[ -z "$missing" ] || echo "not read for lack of:$missing"
echo "$count exports"
exit $failed
