#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recording of Arm SPE made up by chance, always the same, as text for `perfdata assemble`.

spe_trace.py SEED COUNT by-cpu|by-thread MIDR [WORD...] [INDEX]
    contexts: packets name the thread that ran      switches: records do
    wide:     attrs ask for addresses and data sources, as perf record sets them
    odd:      packets that are reserved, and bytes that are none
    no-clock: no TIME_CONV
    second:   AUXTRACE_INFO of perf 6.14, with MIDR of each CPU; CPUID tells of another model
    INDEX:    a file with "OFFSET SIZE" of each AUXTRACE record, for the feature that lists them
COUNT records of operations in each of three buffers of two CPUs, or of one thread."""
import sys
from made_trace import PID, ZERO_NS, Chance, Text, number

FIRST_TICK = 100_000_000_000  # of a timer of 100 MHz


def address(index, value, level=0, secure=False):
    top = (0 if secure else 1 << 63) | level << 61
    return bytes([0xb0 + index]) + number(8, value & (1 << 56) - 1 | top)


ODD = [b"\x20\x9b\x07\x00", b"\xb4" + number(8, 0x400100), b"\x02", b"\xff", b"\x20\x00",
       b"\x21\xb0" + number(8, 5), b"\x9f\x09\x00", b"\xb7" + number(8, 9), b"\x4b\x01"]


def operation(chance):
    kind = chance.one_of(["load", "store", "vector", "atomic", "branch", "other", "none", "any"])
    if kind == "any":
        return kind, bytes([0x48 + chance.below(3), chance.below(256)])
    if kind == "branch":
        return kind, b"\x4a" + bytes([chance.below(4)])
    if kind == "other":
        return kind, b"\x48" + bytes([chance.one_of([0, 1, 8, 0x88, 0x8a])])
    values = {"load": [0], "store": [1], "vector": [4, 5, 0x88, 0x5c, 0x7d],
              "atomic": [0x02, 0x06, 0x0b, 0x12, 0x1f]}
    return kind, b"\x49" + bytes([chance.one_of(values[kind])]) if kind in values else b""


def events(chance):
    bits = sum(1 << bit for bit in range(19) if chance.happens(30))
    size = chance.one_of([1, 1, 2, 2, 2, 4, 8])
    return bytes([0x42 | size.bit_length() - 1 << 4]) + number(size, bits & (1 << 8 * size) - 1)


def record(chance, tick, thread, words):
    level = chance.one_of([0, 0, 0, 1, 2, 3])
    base = 0xffff800010000000 if level else 0x400000
    out = address(0, base + 4 * chance.below(1024), level)
    if "contexts" in words and chance.happens(90):
        out += bytes([chance.one_of([0x64, 0x65])]) + number(4, thread)
    kind, packet = operation(chance)
    out += packet
    if chance.happens(90):
        out += events(chance)
    if kind == "branch" and chance.happens(80):
        out += address(1, 0x400000 + 4 * chance.below(1024))
    if kind in ("load", "store", "vector", "atomic") or chance.happens(20):
        out += b"\xb2" + number(8, chance.one_of([0x7ffff000 | chance.below(4096),
                                                  0x00ff000000001000, 0xb400ffff12345678]))
        if chance.happens(50):
            out += b"\xb3" + number(8, 0x812345000 | 1 << 63 | chance.below(128) << 56)
    for counter in range(3):
        if chance.happens(70):
            out += bytes([0x98 + counter]) + number(2, chance.below(4096))
    if chance.happens(60):
        source = chance.one_of([0, 8, 9, 10, 11, 12, 13, 14, 1])
        out += b"\x43" + number(1, source) if chance.happens(50) else b"\x53" + number(2, source)
    out += b"\x71" + number(8, tick) if chance.happens(95) else b"\x01"
    if chance.happens(20):
        out += bytes(chance.below(64))
    if "odd" in words and chance.happens(10):
        out += chance.one_of(ODD)
    return out


def info(words, cpus, midr):
    if "second" not in words:
        return f"0x8 {'0x0' if cpus == [-1] else '0x1'}"
    parts = [f"0x1010101010101010 {cpu} 0x3 {midr} 0x8 0x400" for cpu in cpus]
    return f"0x2 0x4 0x8 {len(cpus)} {' '.join(parts)}"


def head(text, midr):
    text.events("arm_spe_0//", "config=0x700010001 sample_period=1024 "
                "flags=disabled|sample_id_all|exclude_guest",
                "|ADDR|DATA_SRC|WEIGHT|PHYS_ADDR" if "wide" in text.words else "")
    if "no-clock" not in text.words:
        text.add(f"record TIME_CONV {{time_shift=27 time_mult={10 << 27} time_zero={ZERO_NS} "
                 "time_cycles=0x0 time_mask=0xffffffffffffff cap_user_time_zero=1 "
                 "cap_user_time_short=0}")
    text.add("record AUXTRACE_INFO {auxtrace_type=arm_spe "
             f"priv=[{info(text.words, text.cpus, midr)}]}}")
    text.tasks(ZERO_NS + FIRST_TICK * 10,
               "addr=0x400000 len=0x1000 maj=8 min=1 ino=5792950 prot=READ|EXEC flags=PRIVATE "
               'filename="/nowhere/odd"')


def main():
    seed, count, mode, midr, *words = sys.argv[1:]
    chance = Chance(int(seed))
    text = Text(words, mode == "by-cpu")
    head(text, midr)
    offsets = dict.fromkeys(text.cpus, 0)
    tick = FIRST_TICK + 1000
    for part in range(3):
        last = tick
        for cpu in text.cpus:
            thread = PID + (part + max(cpu, 0)) % 2
            if "switches" in words:
                text.switch(ZERO_NS + tick * 10, thread, cpu)
            trace, now = b"", tick
            for _ in range(int(count)):
                now += 1 + chance.below(300)
                trace += record(chance, now, thread, words)
            trace += bytes(-len(trace) % 16)
            text.buffer(cpu, offsets[cpu], trace, ZERO_NS + now * 10 + 500, offsets[cpu] + 7)
            offsets[cpu] += len(trace)
            last = max(last, now)
        tick = last + 2000
        text.add("record FINISHED_ROUND")
    if not text.by_cpu:
        text.exit(ZERO_NS + tick * 10 + 2000)
    text.features("aarch64", "0x00000000410fd010" if "second" in words else midr, "arm_spe_0")
    text.print()


main()
