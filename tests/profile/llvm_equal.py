# SPDX-License-Identifier: MIT
"""OURS THEIRS: export llvm's text and llvm-profgen's are equal, but for two things: lines without a
number in the source, which llvm-profgen 16 writes with one behind the function's end; and lines in
inlined functions whose calls are more than they ran themselves, which it raises outside only."""
import re, sys


def read(path):
    functions, above = {}, None
    for line in open(path):
        depth = len(line) - len(line.lstrip(" "))
        if above is not None and depth > above:
            continue
        above = None
        if not depth:
            lines = functions.setdefault(line, [])
            continue
        place = re.match(r" +(\d+)(?:\.\d+)?: (?:(\d+)(?= |$)|)", line)
        if not place:
            sys.exit("%s: %s" % (path, line))
        if int(place[1]) >= 32768:  # of a function there: all that is in it
            if place[2] is None:
                above = depth
            continue
        calls = sum(map(int, re.findall(r":(\d+)(?= |$)", line[place.end():])))
        if place[2] is not None and calls > int(place[2]):
            line = line[:place.start(2)] + str(calls) + line[place.end(2):]
        lines.append(line)
    return functions


ours, theirs = map(read, sys.argv[1:])
if list(ours) != list(theirs):
    sys.exit("other functions: %s" % sorted(set(ours) ^ set(theirs)))
for function, lines in ours.items():
    if lines != theirs[function]:
        sys.exit("%s: %s" % (function, sorted(set(lines) ^ set(theirs[function]))[:6]))
print("%d functions, %d lines equal" % (len(ours), sum(map(len, ours.values()))))
