# SPDX-License-Identifier: MIT
"""PROGRAM OUT: a copy of a program that has no debug data, with DWARF 4 by which each function of
its symbol table begins in line 0 and its n-th instruction is line n."""
import re, struct, subprocess, sys

program, out = sys.argv[1:]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


functions, lengths = [], {}
for line in run("objdump", "-d", "-w", program).splitlines():
    head = re.match(r"([0-9a-f]+) <(.*)>:", line)
    code = re.match(r" *([0-9a-f]+):\t((?:[0-9a-f]{2} )+)", line)
    if head:
        functions.append((head[2], []))
    elif code:
        functions[-1][1].append(int(code[1], 16))
        lengths[int(code[1], 16)] = len(code[2].split())
rows, dies = b"", b""
for name, code in functions:
    end = code[-1] + lengths[code[-1]]
    for i, address in enumerate(code):  # a sequence begins in line 1
        rows += b"\0\x09\2" + struct.pack("<Q", address) + b"\3" + bytes([i > 0]) + b"\1"
    rows += b"\0\x09\2" + struct.pack("<Q", end) + b"\0\1\1"
    dies += b"\2" + name.encode() + b"\0\0" + struct.pack("<QQ", code[0], end)
header = b"\1\1\1\xfb\x0e\x0d\0\1\1\1\1\0\0\0\1\0\0\1" + b"\0" + b"code.s\0\0\0\0\0"
line = struct.pack("<HI", 4, len(header)) + header + rows
unit = b"\1code.s\0" + struct.pack("<I", 0) + struct.pack(
    "<QQ", min(lengths), max(lengths) + lengths[max(lengths)]) + dies + b"\0"
info = struct.pack("<HIB", 4, 0, 8) + unit
sections = {
    "line": struct.pack("<I", len(line)) + line,
    "info": struct.pack("<I", len(info)) + info,
    # A unit: name, lines, low and high pc; a function: name, line of its declaration, low, high.
    "abbrev": b"\1\x11\1\x03\x08\x10\x17\x11\1\x12\1\0\0"
              b"\2\x2e\0\x03\x08\x3b\x0b\x11\1\x12\1\0\0\0",
}
command = ["objcopy"]
for name, data in sections.items():
    with open("%s.%s" % (out, name), "wb") as file:
        file.write(data)
    command += ["--add-section", ".debug_%s=%s.%s" % (name, out, name)]
run(*command, program, out)
