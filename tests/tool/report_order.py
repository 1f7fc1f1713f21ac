# SPDX-License-Identifier: MIT
"""report_order.py [COUNT [SEED]]: rows of `report` that are equal stand where perf 6.1 has them.

Recordings by chance: a few threads of three commands, call chains of few functions of two objects
and addresses without any, periods that are nearly all 1. So most rows have a weight that others
have, too. Each is printed with several sets of keys by the installed perf and by us as `perf`;
without perf 6.1 nothing can be said."""
import os
import random
import re
import subprocess
import sys
import tempfile

SETS = [
    "--children -g none",
    "--children -g none -s comm,sym",
    "--children -g none -s dso,sym",
    "--children -g none -s comm",
    "--no-children -g none",
    "--children",
]
# perf may show an address without a symbol in two rows: docs/differences-from-perf.md
KNOWN_SETS = ["--children -g none -s sym", "--children -g none -s pid,sym"]
FOLDER = os.path.join(os.environ["SOURCE"], "tests/data/demo/symfs/own/bin")
CODE, SECOND = 0x400000, 0x100000
ADDRESSES = [0x9, 0x10, 0x400FF0, 0x5500001000, 0x3EAD0000BEEF, 0x7FFF00000000]


def functions():
    """Addresses within the functions of the program."""
    text = subprocess.run(
        ["nm", os.path.join(FOLDER, "spin")], capture_output=True, text=True, check=True
    ).stdout
    return [int(line.split()[0], 16) for line in text.splitlines() if line.split()[1] in "tT"]


class Recording:
    """A recording in text: times rise by a microsecond a record."""

    def __init__(self, program, other):
        self.files = (program, other)
        self.time = 0
        self.lines = [
            "perfdata-text 1",
            "container file order=little header_size=104",
            "attr cycles:u={size=128 sample_period=1 sample_type=IP|TID|TIME|PERIOD|CALLCHAIN"
            " read_format=id flags=mmap|comm|sample_id_all|mmap2}",
            "ids cycles:u",
            "attrs",
            "data",
        ]

    def now(self):
        self.time += 1
        return f"1.{self.time * 1000:09d}s"

    def add(self, head, pid, tid, fields):
        identity = f"pid={pid} tid={tid}"
        self.lines.append(
            f"record {head} {{{identity} {fields} sample_id={{{identity} time={self.now()}}}}}"
        )

    def thread(self, pid, tid, name):
        self.add("COMM misc=0x2000", pid, tid, f'comm="{name}"')

    def maps(self, pid):
        for number, path in enumerate(self.files):
            self.add(
                "MMAP2 misc=0x2",
                pid,
                pid,
                f"addr={CODE + number * SECOND:#x} len=0x1000 maj=8 min=1 ino={77 + number}"
                f' prot=READ|EXEC flags=PRIVATE filename="{path}"',
            )

    def sample(self, pid, tid, chain, period):
        ips = " ".join(f"{address:#x}" for address in chain)
        self.lines.append(
            f"record SAMPLE misc=0x2 {{ip={chain[0]:#x} pid={pid} tid={tid} time={self.now()}"
            f" period={period} ips=[0xfffffffffffffe00 {ips}]}}"
        )


def make(chance, starts, files, unknown):
    recording = Recording(*files)
    threads = []
    for number, name in enumerate(("bb", "aa", "cc")):
        pid = 100 + 10 * number
        for tid in range(pid, pid + chance.choice((1, 2))):
            threads.append((pid, tid))
            recording.thread(pid, tid, name)
        recording.maps(pid)
    places = [start + 1 + second for start in starts for second in (0, SECOND)]
    for _ in range(chance.randint(3, 30)):
        chain = [
            chance.choice(ADDRESSES if chance.random() < unknown else places)
            for _ in range(chance.randint(1, 5))
        ]
        recording.sample(*chance.choice(threads), chain, chance.choice((1, 1, 1, 2)))
    return "\n".join(recording.lines + ["end", ""])


def rows(program, options, path):
    done = subprocess.run(
        [program, "report", "--stdio", "-f", *options.split(), "-i", path],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in done.stdout.splitlines() if not line.startswith("# (")]


def main():
    try:
        version = subprocess.run(["perf", "--version"], capture_output=True, text=True).stdout
    except OSError:
        version = ""
    if not re.match(r"perf version 6\.1\.", version):
        print("skipped: no perf 6.1")
        return 77
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    starts, reports, printed, differ = functions(), 0, 0, 0
    with tempfile.TemporaryDirectory() as work:
        os.environ.update(HOME=work, PERF_CONFIG="/dev/null", LC_ALL="C", COLUMNS="160")
        ours, path = os.path.join(work, "perf"), os.path.join(work, "chance.data")
        os.symlink(os.environ["PERFDATA"], ours)
        files = [os.path.join(work, name) for name in ("spin", "twin")]
        for name in files:
            os.symlink(os.path.join(FOLDER, "spin"), name)
        for seed in range(first, first + count):
            with open(path + ".pdt", "w", encoding="utf-8") as text:
                text.write(make(random.Random(seed), starts, files, 0.3 * (seed % 2)))
            subprocess.run(
                [os.environ["PERFDATA"], "assemble", path + ".pdt", "-o", path], check=True
            )
            for options in SETS + ([] if seed % 2 else KNOWN_SETS):
                reports += 1
                expected, found = rows("perf", options, path), rows(ours, options, path)
                printed += sum(not line.startswith("#") and bool(line.strip()) for line in found)
                if found != expected:
                    differ += 1
                    only = "in their order" if sorted(found) == sorted(expected) else "in text"
                    print(f"seed {seed}, {options}: rows differ {only}")
    print(f"{count} recordings, {reports} reports, {printed} lines: {differ} differ")
    return int(differ > 0 or printed < 100 * count)


if __name__ == "__main__":
    sys.exit(main())
