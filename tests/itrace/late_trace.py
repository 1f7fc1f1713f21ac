#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""late_trace.py IN OUT BIT: a recording of a processor whose TSC had counted 2**BIT more, at the
same time of the clock. Asks $PERFDATA where the TSC packets are."""
import os
import struct
import subprocess
import sys

AUXTRACE_INFO, AUXTRACE, TIME_CONV = 70, 71, 79
REFERENCE_BEFORE = 48 - 24 # of a buffer, the AUXTRACE record's bytes up to it


def ask(view):
    return subprocess.run([os.environ['PERFDATA'], 'aux', view, '-i', sys.argv[1]], check=True,
                          text=True, stdout=subprocess.PIPE).stdout.splitlines()


recording = bytearray(open(sys.argv[1], 'rb').read())
more = 1 << int(sys.argv[3])
base = {}
for words in (line.split() for line in ask('list')):
    if words and words[0].isdigit():
        base[words[0]] = int(words[7], 16)
for words in (line.split() for line in ask('dump')):
    if words and words[0] == '#':
        begin = base[words[words.index('buffer') + 1].rstrip(',')]
        at, = struct.unpack_from('<Q', recording, begin - REFERENCE_BEFORE)
        struct.pack_into('<Q', recording, begin - REFERENCE_BEFORE, at + more)
    elif 'TSC' in words:
        at = begin + int(words[0], 16)
        tsc = int.from_bytes(recording[at + 1:at + 8], 'little') + more
        recording[at + 1:at + 8] = (tsc & (1 << 56) - 1).to_bytes(7, 'little')

at, size = struct.unpack_from('<QQ', recording, 40)
end = at + size
while at < end:
    kind, _, size = struct.unpack_from('<IHH', recording, at)
    if kind in (AUXTRACE_INFO, TIME_CONV):
        first = at + (24 if kind == AUXTRACE_INFO else 8) # time_shift, time_mult, time_zero
        shift, mult, zero = struct.unpack_from('<QQQ', recording, first)
        assert more >> shift << shift == more
        struct.pack_into('<Q', recording, first + 16, zero - (more >> shift) * mult & (1 << 64) - 1)
    at += size + (struct.unpack_from('<Q', recording, at + 8)[0] if kind == AUXTRACE else 0)
open(sys.argv[2], 'wb').write(recording)
