#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 12: what kernels and perf since 6.1 record. Called as perf the text stays that of
# perf 6.1, which has no words for some of it.
set -u
data=$SOURCE/tests/data/field/newer-kernels
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}
make() { "$PERFDATA" assemble "$1" -o "$t/$2.data" || exit 1; }
# has FILE TEXT...: each text is a line, or a part of one.
has() {
    file=$1
    shift
    for text; do
        grep -q -F -e "$text" "$file" || fail "no '$text' in $(basename "$file")"
    done
}
ln -s "$(command -v "$PERFDATA")" "$t/perf"
for order in little big; do
    for name in inherited-read simd mem counters stack; do
        sed "s/order=little/order=$order/" "$data/$name.pdt" >"$t/$name.pdt"
        make "$t/$name.pdt" $name
    done

    # An inherited counter counts for each thread apart.
    "$PERFDATA" script -F period -i "$t/inherited-read.data" | tr -d ' ' >"$t/periods"
    [ "$(tr '\n' ' ' <"$t/periods")" = "1000 500 300 600 " ] ||
        fail "$order: periods $(cat "$t/periods")"
    "$PERFDATA" report --stdio -i "$t/inherited-read.data" >"$t/report" 2>&1
    has "$t/report" 'Event count (approx.): 2400' 'Total Lost Samples: 5' \
        'Total Samples Dropped by BPF: 70'
    # Without inheritance it is one counter.
    sed 's/|inherit}/}/' "$t/inherited-read.pdt" >"$t/plain.pdt"
    make "$t/plain.pdt" plain
    [ "$("$PERFDATA" script -F period -i "$t/plain.data" | tr -d ' ' |
        sed -n 2p)" = 18446744073709551116 ] ||
        fail "$order: a counter that is not inherited"

    # What a BPF filter dropped is not lost.
    "$PERFDATA" report --stats -i "$t/inherited-read.data" >"$t/stats"
    has "$t/stats" 'LOST_SAMPLES events:          5' 'DROPPED_BY_BPF events:         70'
    "$PERFDATA" check "$t/inherited-read.data" >"$t/check"
    has "$t/check" 'content: 5 samples lost by the kernel' \
        '70 more samples were dropped by a BPF filter'
    "$PERFDATA" script -D -i "$t/inherited-read.data" >"$t/dump"
    has "$t/dump" 'lost samples :5' 'lost samples :70 (BPF)'

    # Vector registers: what stands behind them is where it belongs.
    "$PERFDATA" script -F phys_addr -i "$t/simd.data" | tr -d ' ' >"$t/addresses"
    [ "$(tr '\n' ' ' <"$t/addresses")" = "1234 5678 " ] || fail "$order: behind vector registers"
    "$PERFDATA" script -D -i "$t/simd.data" >"$t/dump" 2>"$t/err"
    has "$t/dump" 'user regs: mask 0x1000181 ABI 64-bit SIMD' '.... R16   0x0000000000000010' \
        '... user simd: 2 vectors of 2 words, 1 predicates of 1 words' \
        '.... v1   0x0000000000000021 0x0000000000000022' '.... p0   0x0000000000000099'
    [ -s "$t/err" ] && fail "$order: $(cat "$t/err")"
    "$PERFDATA" dump --json "$t/simd.data" >"$t/json"
    has "$t/json" '"user_vectors":2' '"user_simd":["0x11","0x12","0x21","0x22","0x99"]' \
        '"name":"R16"'
    "$PERFDATA" dump --pdt "$t/simd.data" >"$t/again.pdt"
    make "$t/again.pdt" again
    cmp "$t/simd.data" "$t/again.data" || fail "$order: vector registers through a text"

    # Levels of memory.
    "$PERFDATA" script -F data_src -i "$t/mem.data" >"$t/mem"
    has "$t/mem" 'LVL L2 MHB hit' 'LVL Memory-side Cache hit' 'LVL L0 hit' 'LVL Uncached hit' \
        'LVL CXL hit' 'RGN MEM0'
    "$t/perf" script -F data_src -i "$t/mem.data" >"$t/mem"
    has "$t/mem" 'LVL L5 hit' 'LVL L6 hit' 'LVL L7 hit' 'LVL L8 hit'
    grep -q RGN "$t/mem" && fail "$order: perf 6.1 has no regions"

    # Counters of branches.
    "$PERFDATA" script -F event,brcntr,phys_addr -i "$t/counters.data" >"$t/out"
    has "$t/out" '# branches = A' '# misses = B' 'br_cntr: AAB,-,AAA+BBB+' 'br_cntr: A ' 1234 \
        5678 9abc
    "$PERFDATA" script -v -F event,brcntr -i "$t/counters.data" >"$t/out"
    has "$t/out" 'branches 2 misses 1,branches 0 misses 0,branches 3+ misses 3+'
    "$PERFDATA" script -D -i "$t/counters.data" >"$t/dump"
    has "$t/dump" '... branch stack counters: nr:3 (counter width: 2 max counter nr:4)' \
        '.....  2: 000000000000000f'
    "$PERFDATA" evlist -v -i "$t/counters.data" >"$t/out"
    has "$t/out" 'branch_sample_type: ANY|COUNTERS'
    "$t/perf" evlist -v -i "$t/counters.data" | grep -q COUNTERS &&
        fail "$order: perf 6.1 does not know COUNTERS"
    "$PERFDATA" script -F event,brcntr -i "$t/mem.data" >"$t/out" 2>&1 &&
        fail "$order: brcntr without counters"

    # Features 32 to 34.
    "$PERFDATA" header -i "$t/counters.data" >"$t/out"
    has "$t/out" '# e_machine : 62' '# cacheline size : 64' '# Domain name	: SMT' \
        '# Domain cpu list	: 0-1'
    "$t/perf" report --header-only -I -i "$t/counters.data" | grep -q -e e_machine -e 'cacheline' &&
        fail "$order: perf 6.1 does not know these features"

    # Machines under any of their names: the sampled address comes from the copied registers.
    for arch in riscv64 riscv; do
        sed "s/riscv64/$arch/" "$t/stack.pdt" >"$t/arch.pdt"
        make "$t/arch.pdt" arch
        "$PERFDATA" script -F ip,uregs -i "$t/arch.data" >"$t/out" 2>/dev/null
        has "$t/out" 1abc 'pc:0x401abc'
    done
    for arch in x86_64 x86 amd64; do
        sed -e "s/riscv64/$arch/" -e 's/regs_user=0x7/regs_user=0x181/' \
            -e 's/user_regs=\[0x401abc 0x401000 0x7ffe0000\]/user_regs=[1 0x7ffe0000 0x401abc]/' \
            "$t/stack.pdt" >"$t/arch.pdt"
        make "$t/arch.pdt" arch
        "$PERFDATA" script -F ip,uregs -i "$t/arch.data" >"$t/out" 2>/dev/null
        has "$t/out" 1abc 'IP:0x401abc'
    done
done

# The newer types of branches by their names, and as perf where one has none.
make "$SOURCE/tests/golden/branch_type_without_name.pdt" types
"$PERFDATA" script -F brstack -i "$t/types.data" >"$t/out" 2>/dev/null
has "$t/out" ' 0x10/0x0/M/-/-/0/ARCH_5  0x30/0x40/P/-/-/0/(null)  0x50/0x60/P/-/-/3/IND_CALL '
"$PERFDATA" script -D -i "$t/types.data" >"$t/out" 2>/dev/null
has "$t/out" ' 0 cycles M    0 ARCH_5' ' 0 cycles  P   0 (null)' ' 3 cycles  P   0 IND_CALL'
exit $failed
