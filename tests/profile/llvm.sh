#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 27: export llvm. Of a trace each instruction ran as often as script lists it; of branch
# stacks that a processor would have kept of a real program, the text is that of LLVM's own
# llvm-profgen, llvm-profdata reads and writes it without a change and clang compiles with it. What
# is not installed is named.
. "$SOURCE/tests/profile/branch_tools.sh"
needs python3 objdump objcopy readelf nm

# RECORDING OPTION...: -> $work/llvm, the same with any number of threads.
make_form() {
    for threads in 1 2 8; do
        "$PERFDATA" export llvm -j $threads -o "$work/llvm.$threads" -i "$@" 2>"$work/log" ||
            { cat "$work/log"; failed=1; }
        cmp -s "$work/llvm.1" "$work/llvm.$threads" ||
            fail "llvm of $1 differs with $threads threads"
    done
    mv "$work/llvm.1" "$work/llvm"
    [ -s "$work/llvm" ] || fail "llvm of $1 is empty"
    count=$((count + 1))
    has llvm-profdata || return
    llvm-profdata merge --sample --text "$work/llvm" -o "$work/merged" >"$work/log" 2>&1 ||
        { cat "$work/log"; failed=1; }
    cmp -s "$work/llvm" "$work/merged" ||
        { diff "$work/llvm" "$work/merged" | head -5; fail "llvm-profdata changes llvm of $1"; }
}

cat >"$work/shapes.cpp" <<'END'
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
struct Shape { virtual ~Shape() {} virtual int area(int k) const = 0; };
struct Square : Shape {
    int s;
    Square(int s) : s(s) {}
    int area(int k) const override { return s * s + k; }
};
struct Rect : Shape {
    int a, b;
    Rect(int a, int b) : a(a), b(b) {}
    int area(int k) const override
    {
        int r = 0;
        for (int i = 0; i < a; i++) r += b ^ k;
        return r;
    }
};
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
template <class T> T top(std::vector<T> v) { std::sort(v.begin(), v.end()); return v.back(); }
int main()
{
    std::vector<Shape *> all;
    for (int i = 0; i < 20; i++)
        all.push_back(i % 3 ? (Shape *)new Square(i) : new Rect(i, i + 1));
    std::vector<int> v;
    std::map<std::string, int> m;
    for (auto s : all) { v.push_back(s->area(3) & 31); m[std::to_string(s->area(1) % 7)]++; }
    printf("%d %d %zu\n", top(v), fib(9), m.size());
    for (auto s : all) delete s;
}
END
stacks_of() { # PROGRAM: a recording of it
    python3 "$SOURCE/tests/profile/step_branches.py" "$1" >"$work/steps.pdt" 2>"$work/log"
    case $? in
    0) ;;
    77) missing="$missing ptrace"; return 1 ;;
    *) cat "$work/log"; failed=1; return 1 ;;
    esac
    "$PERFDATA" assemble "$work/steps.pdt" -o "$work/steps.data" || { failed=1; return 1; }
}
if has clang++; then
    while read -r options; do
        # shellcheck disable=SC2086
        clang++ -g $options "$work/shapes.cpp" -o "$work/shapes" 2>"$work/log" ||
            { missing="$missing clang++($options)"; continue; }
        stacks_of "$work/shapes" || break
        make_form "$work/steps.data"
        grep -q '^_ZL3fibi:' "$work/llvm" || fail "$options: no fib()"
        if has llvm-profgen; then
            "$PERFDATA" script -i "$work/steps.data" --show-mmap-events -F ip,brstack \
                >"$work/script" 2>"$work/log"
            llvm-profgen --binary="$work/shapes" --perfscript="$work/script" --format=text \
                --output="$work/theirs" >"$work/log" 2>&1 || { cat "$work/log"; failed=1; }
            python3 "$SOURCE/tests/profile/llvm_equal.py" "$work/llvm" "$work/theirs" ||
                fail "$options: llvm-profgen says something else"
        fi
        # shellcheck disable=SC2086
        clang++ -g $options -Wall -Werror -Wno-unused-command-line-argument \
            -fprofile-sample-use="$work/llvm" -c "$work/shapes.cpp" -o "$work/shapes.o" 2>"$work/log" ||
            { cat "$work/log"; fail "$options: clang++ does not take it"; }
    done <<'END'
-O2 -fdebug-info-for-profiling
-O1 -gdwarf-4
-O3 -no-pie -ffunction-sections
-O2 -static
END
fi
if command -v g++ >/dev/null && g++ -g -O2 "$work/shapes.cpp" -o "$work/shapes" 2>/dev/null &&
    stacks_of "$work/shapes"; then
    make_form "$work/steps.data" # GCC's discriminators are other numbers
    grep -q '^fib:' "$work/llvm" || fail 'g++: no fib()'
    strip "$work/shapes"
    "$PERFDATA" export llvm -i "$work/steps.data" >/dev/null 2>"$work/log" &&
        fail 'without DWARF it ends well'
    grep -q 'that DWARF knows' "$work/log" || fail "without DWARF: $(cat "$work/log")"
fi
"$PERFDATA" export llvm -i "$SOURCE/tests/data/demo/spin.data" >/dev/null 2>"$work/log" &&
    fail 'no branches end well'
grep -q 'neither branch stacks nor' "$work/log" || fail "without branches: $(cat "$work/log")"

# Branch stacks of calls alone say nothing about what ran between them.
if [ -s "$work/steps.pdt" ]; then
    sed 's/branch_sample_type=0x9/branch_sample_type=0x11/' "$work/steps.pdt" >"$work/calls.pdt"
    "$PERFDATA" assemble "$work/calls.pdt" -o "$work/calls.data"
    "$PERFDATA" export bolt -i "$work/calls.data" -o "$work/bolt" 2>"$work/log"
    grep -q '^B' "$work/bolt" || fail 'calls: no branches'
    grep -qi '^F' "$work/bolt" && fail 'calls: runs are made up'
fi

if [ -n "${PERFDATA_CORPUS-}" ]; then
    pt=$PERFDATA_CORPUS/own-pt
    for each in t_cyc:loops t_sig:sig t_mtc:loops c_threads:thr t_hi:loopshi c_switch2:thr; do
        program=symfs/ptcorpus/bin/${each#*:} data=$pt/rec/${each%:*}.data
        rm -rf "$work/symfs"
        cp -r "$pt/symfs" "$work/symfs"
        python3 "$SOURCE/tests/profile/lines_of_code.py" "$pt/$program" "$work/$program" ||
            failed=1
        make_form "$data" --symfs "$work/symfs" --object "${each#*:}"
        "$PERFDATA" script -i "$data" --symfs "$work/symfs" --itrace=i0ns -F ip >"$work/ips" \
            2>/dev/null
        python3 "$SOURCE/tests/profile/llvm_counts.py" "$pt/$program" "$work/llvm" "$work/ips" ||
            fail "llvm of ${each%:*} is not what script says"
    done
else
    echo 'PERFDATA_CORPUS is not set: no traces'
fi
[ -z "$missing" ] || echo "not there:$missing"
echo "$count profiles"
[ $count -gt 0 ] || [ $failed = 1 ] || exit 77
exit $failed
