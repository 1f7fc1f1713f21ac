#!/bin/sh
# SPDX-License-Identifier: MIT
# Split DWARF: the functions that were put into others are found in the .dwo file, and only there.
set -u
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
cd "$t" || exit 1
export PERF_CONFIG=/dev/null TZ=UTC LC_ALL=C
cat >split.c <<'END'
static volatile int sink;
static inline __attribute__((always_inline)) int put_into(int a, int b)
{
    for (int i = 0; i < 1000; i++)
        sink = a + b + i;
    return sink;
}
__attribute__((noinline)) int work(int n) { return put_into(n, 1) + 1; }
int main(void)
{
    for (int i = 0; i < 300000; i++)
        sink = work(i);
    return 0;
}
END
gcc -O2 -g -gsplit-dwarf -o split split.c 2>err || { cat err; echo "no C compiler"; exit 77; }
set -- *.dwo
[ -f "$1" ] || { echo "the compiler does not split DWARF"; exit 77; }
"$PERFDATA" record -q -e cpu-clock:u -F 1000 --call-graph dwarf,1024 -o rec.data ./split \
    >/dev/null 2>err ||
    { cat err; echo "no events can be recorded"; exit 77; }
"$PERFDATA" script -F ip,sym -i rec.data 2>/dev/null | grep -q 'put_into (inlined)' ||
    { echo "FAIL: nothing is inlined"; exit 1; }
rm -- *.dwo
"$PERFDATA" script -F ip,sym -i rec.data >without 2>/dev/null ||
    { echo "FAIL: without the .dwo file"; exit 1; }
grep -q put_into without && { echo "FAIL: inlined without the .dwo file"; exit 1; }
grep -q work without || { echo "FAIL: no frames"; exit 1; }
