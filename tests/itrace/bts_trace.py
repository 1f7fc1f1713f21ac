#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recording of Intel BTS made up by chance, always the same, as text for `perfdata assemble`.

bts_trace.py SEED COUNT by-cpu|by-thread PROGRAM [WORD...] [INDEX]
    workload:  a CPU's buffers name the thread that was traced
    odd:       branches from and to nowhere, the kernel and where no code is, and cut ones
    switches:  records tell which thread runs
    no-clock:  AUXTRACE_INFO says nothing of the TSC
    snapshot:  it says that buffers are snapshots
    overlapN:  each begins with the last N branches of the one before
    shiftN:    each lacks its first N bytes
    at-switch: buffers are read at the very time of a switch
    INDEX:     a file with "OFFSET SIZE" of each AUXTRACE record, for the feature that lists them
COUNT branches in each of three buffers of two CPUs, or of one thread; they lead from any of the
instructions of PROGRAM (bts_code.S) that branch to any place of it, in no order."""
import os
import subprocess
import sys
from made_trace import PID, ZERO_NS, Chance, Text, number

SHIFT, MULT = 10, 512  # a TSC of 2 GHz
KERNEL, NOWHERE = 0xffffffff81000000, 0x700000


def ticks(ns):
    return (ns - ZERO_NS << SHIFT) // MULT


def branch(chance, places, words):
    source = chance.one_of(places["branches"])
    target = chance.one_of(places["targets"])
    if "odd" in words:
        source, target = chance.one_of(
            6 * [(source, target)] +
            [(0, target), (source, 0), (0, 0), (NOWHERE, target), (source, NOWHERE), (NOWHERE, 0),
             (source, KERNEL), (KERNEL, target), (KERNEL, KERNEL + 0x100)])
    misc = chance.one_of([0, 0, 0x10, 0xdeadbeef12345678])
    return number(8, source) + number(8, target) + number(8, misc)


def count_of(words, name):
    return next((int(word[len(name):]) for word in words if word.startswith(name)), 0)


def buffer(chance, places, count, words, last):
    """The bytes, and what the next one may overlap."""
    trace = b"".join(branch(chance, places, words) for _ in range(count))
    common = count_of(words, "overlap")
    whole = (last[-24 * common:] if common else b"") + trace
    return whole[count_of(words, "shift"):] + (bytes(range(8)) if "odd" in words else b""), whole


def find_places(program):
    lines = subprocess.check_output(["nm", program], text=True).splitlines()
    symbols = {line.split()[2]: int(line.split()[0], 16) for line in lines}
    branches = [value for name, value in symbols.items() if name.startswith("b_")]
    return {"branches": branches, "targets": branches + [symbols["middle"], symbols["leaf"]]}


def head(text, program):
    text.events("intel_bts//u", "config=0x0 sample_period=1 "
                "flags=disabled|sample_id_all|exclude_kernel|exclude_hv")
    clock = "0 0 0 0" if "no-clock" in text.words else f"{SHIFT} {MULT} {ZERO_NS} 1"
    text.add(f"record AUXTRACE_INFO {{auxtrace_type=intel_bts priv=[0x8 {clock} "
             f"{int('snapshot' in text.words)}]}}")
    text.tasks(ZERO_NS + 1_000_000,
               "addr=0x401000 len=0x1000 pgoff=0x1000 maj=8 min=1 ino=5792950 prot=READ|EXEC "
               f'flags=PRIVATE filename="{os.path.abspath(program)}"')


def main():
    seed, count, mode, program, *words = sys.argv[1:]
    chance, places = Chance(int(seed)), find_places(program)
    text = Text(words, mode == "by-cpu")
    head(text, program)
    offsets = dict.fromkeys(text.cpus, 0)
    last = dict.fromkeys(text.cpus, b"")
    ns = ZERO_NS + 1_010_000
    for part in range(3):
        for cpu in text.cpus:
            if "switches" in words:
                text.switch(ns, PID + (part + max(cpu, 0)) % 2, cpu)
            trace, last[cpu] = buffer(chance, places, int(count), words, last[cpu])
            read = ns + (50_000 if "at-switch" in words else 20_000)
            text.buffer(cpu, offsets[cpu], trace, ns + 20_000, ticks(read))
            offsets[cpu] += len(trace)
            ns += 50_000
        text.add("record FINISHED_ROUND")
    text.exit(ns + 100_000)
    text.features("x86_64", "GenuineIntel,6,94,3", "intel_bts")
    text.print()


main()
