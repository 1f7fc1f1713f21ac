# SPDX-License-Identifier: MIT
"""PROGRAM PROFILE IPS: a profile of a program by lines_of_code.py says of each instruction how
often it is among the addresses that ran, and of each function how often it was begun."""
import collections, re, subprocess, sys

program, profile, ips = sys.argv[1:]
code = subprocess.run(["objdump", "-d", "-w", program], capture_output=True, text=True).stdout
ran = collections.Counter(int(line, 16) for line in open(ips) if line.strip())
function, place, expected, failed = None, {}, {}, 0
for line in code.splitlines():
    head = re.match(r"[0-9a-f]+ <(.*)>:", line)
    insn = re.match(r" *([0-9a-f]+):\t((?:[0-9a-f]{2} )+)", line)
    if head:
        function, n = head[1], 0
    elif insn:
        n += 1
        expected[function, n] = ran[int(insn[1], 16)], len(insn[2].split())
touched = {f for (f, n), (count, _) in expected.items() if count}
got, totals, heads = {}, {}, {}
for line in open(profile):
    if line[0] != " ":
        function, totals[function], heads[function] = line.strip().rsplit(":", 2)
    else:
        n, count = re.match(r" (\d+): (\d+)", line).groups()
        got[function, int(n)] = int(count)
for key, (count, _) in expected.items():
    if got.get(key, 0) != count or (key[0] in touched and key not in got):
        print("%s: %d, not %s" % (key, count, got.get(key)))
        failed += 1
for function in touched:
    total = sum(c * size for (f, n), (c, size) in expected.items() if f == function)
    if int(totals[function]) != total:
        print("total of %s: %s, not %d" % (function, totals[function], total))
        failed += 1
print("%d instructions, %d of them ran, in %d functions" %
      (len(expected), sum(1 for c, _ in expected.values() if c), len(touched)))
sys.exit(failed != 0 or not touched)
