#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""flip_bits.py FILE COUNT: so many bits of a recording, in the traces mostly: what else it holds is
at its ends, and small."""
import random
import sys

random.seed(5)
with open(sys.argv[1], 'r+b') as file:
    data = bytearray(file.read())
    for _ in range(int(sys.argv[2])):
        data[random.randrange(1 << 16, len(data) - (1 << 14))] ^= 1 << random.randrange(8)
    file.seek(0)
    file.write(data)
