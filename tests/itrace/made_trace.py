#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the makers of recordings with a trace in the AUX area share: chance that is always the same,
and the records around the trace, as text for `perfdata assemble`."""
import os

PID = 19525
ZERO_NS = 17_000_000_000_000


class Chance:
    """A generator of its own: Python's may choose otherwise in another version."""

    def __init__(self, seed):
        self.state = seed * 2654435761 + 1

    def below(self, limit):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self.state >> 33) % limit

    def one_of(self, choices):
        return choices[self.below(len(choices))]

    def happens(self, percent):
        return self.below(100) < percent


def number(size, value):
    return value.to_bytes(size, "little")


class Text:
    """A recording of one thread, or of two CPUs between which two threads change."""

    def __init__(self, words, by_cpu):
        self.lines, self.words, self.by_cpu = [], words, by_cpu
        self.cpus = [0, 1] if by_cpu else [-1]

    def add(self, *lines):
        self.lines.extend(lines)

    def identity(self, ns, thread=PID, cpu=0):
        where = f" cpu={cpu}" if self.by_cpu else ""
        return (f"sample_id={{pid={thread} tid={thread} "
                f"time={ns // 10**9}.{ns % 10**9:09}s{where}}}")

    def events(self, name, attr, more=""):
        """The trace's event and the one that notes tasks, and up to the records."""
        sample = "IDENTIFIER|IP|TID|TIME" + ("|CPU" if self.by_cpu else "") + more
        common = f"sample_type={sample} read_format=id"
        switch = "|context_switch" if "switches" in self.words else ""
        count = range(len(self.cpus))
        self.add("perfdata-text 1", "container file order=little header_size=104",
                 f"attr {name}={{type=8 size=128 {attr} {common}}} "
                 f"ids=[{' '.join(str(100 + i) for i in count)}]",
                 "attr dummy:u={type=software size=128 config=0x9 sample_period=1 "
                 f"{common} flags=inherit|exclude_kernel|exclude_hv|mmap|comm|enable_on_exec|task|"
                 f"sample_id_all|mmap2|comm_exec{switch}}} "
                 f"ids=[{' '.join(str(200 + i) for i in count)}]",
                 f"ids {name}", "ids dummy:u", "attrs", "data", "record ID_INDEX {entries=[")
        for first in (100, 200):
            for i, cpu in enumerate(self.cpus):
                self.add(f"    {{id={first + i} cpu={cpu} tid={-1 if self.by_cpu else PID}}}")
        self.add("  ]}")

    def tasks(self, start, mapped):
        """`mapped`: a map's address, length, offset and file name."""
        for i in (0, 1):
            who, cpu = PID + i, i if self.by_cpu else 0
            self.add(f'record COMM misc=0x2000 event=dummy:u {{pid={who} tid={who} comm="odd{i}" '
                     f"{self.identity(start + i, who, cpu)}}}",
                     f"record MMAP2 misc=0x2 event=dummy:u {{pid={who} tid={who} {mapped} "
                     f"{self.identity(start + 1000 + i, who, cpu)}}}")

    def switch(self, ns, thread, cpu):
        self.add("record SWITCH_CPU_WIDE misc=0x2000 event=dummy:u "
                 f"{{next_prev_pid={thread} next_prev_tid={thread} {self.identity(ns, 0, cpu)}}}",
                 "record SWITCH_CPU_WIDE misc=0 event=dummy:u {next_prev_pid=0 next_prev_tid=0 "
                 f"{self.identity(ns + 1, thread, cpu)}}}")

    def buffer(self, cpu, offset, trace, ns, reference):
        tid = PID if "workload" in self.words or not self.by_cpu else -1
        self.add(f"record AUX {{aux_offset={offset:#x} aux_size={len(trace):#x} flags=0x0 "
                 f"{self.identity(ns, PID, max(cpu, 0))}}}",
                 f"record AUXTRACE {{data_size={len(trace):#x} offset={offset:#x} "
                 f"reference={reference:#x} idx={max(cpu, 0)} tid={tid} cpu={cpu}}}")
        for i in range(0, len(trace), 120):
            self.add(f'gap x"{trace[i:i + 120].hex()}"')

    def exit(self, ns):
        self.add(f"record EXIT event=dummy:u {{pid={PID} ppid={PID} tid={PID} ptid={PID} "
                 f"time={ns // 10**9}.{ns % 10**9:09}s {self.identity(ns)}}}")

    def features(self, arch, cpuid, pmu):
        """With the list of AUXTRACE records where a word names a file of them."""
        index = [line.split() for word in self.words if os.path.exists(word)
                 for line in open(word)]
        names = "ARCH CPUID CMDLINE PMU_MAPPINGS" + (" AUXTRACE" if index else "")
        self.add("end", f"features {names}", f'feature ARCH {{text="{arch}"}}',
                 f'feature CPUID {{text="{cpuid}"}}',
                 'feature CMDLINE {words=[\n    {text="perf"}\n    {text="record"}\n  ]}',
                 'feature PMU_MAPPINGS {pmus=[\n    {type=1 name="software"}\n'
                 f'    {{type=8 name="{pmu}"}}\n  ]}}')
        if index:
            rows = "\n".join(f"    {{offset={offset} size={size}}}" for offset, size in index)
            self.add(f"feature AUXTRACE {{nr={len(index)} entries=[\n{rows}\n  ]}}")

    def print(self):
        print("\n".join(self.lines))
