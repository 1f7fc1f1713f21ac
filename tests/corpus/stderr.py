#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Warnings as perf's, side by side (issue 24, point 22).

stderr.py PERFDATA [--folders own,own-pt,...] [--cases script,...] [--only TEXT] [--show]

Runs the installed perf and PERFDATA (under the name perf) over the recordings of PERFDATA_CORPUS
that MANIFEST.tsv files list, and compares what they write to standard error. Left out are runs
where perf gives up on the recording, because perfdata reads on there and tells that in its own
words, and the lines of NOT_SAID, with the reason for each. Exits with 1 when a run differs, with 77
when there is nothing to compare with."""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

CASES = {
    "script": ["script"],
    "report": ["report", "--stdio"],
    "report-sort": ["report", "--stdio", "-s", "comm"],
    "report-dump": ["report", "--stdio", "-D"],
    "report-quiet": ["report", "--stdio", "-q"],
    "stats": ["report", "--stdio", "--stats"],
    "buildid-hits": ["buildid-list", "-H"],
    "evlist": ["evlist"],
    "inject": ["inject", "-o", "/dev/null"],
    "inject-itrace": ["inject", "--itrace", "-o", "/dev/null"],
}
# perf stops reading here, or does not begin.
GIVES_UP = re.compile(
    r"failed to process|incompatible file format|unexpected end of event stream|bad event header"
    r"|Failed to process auxtrace index|File exists|Couldn't decompress|wrong feature ID"
    r"|size field is 0|CS ETM|Selected -b but no branch data"
)
NOT_SAID = (
    # perf cannot unwind for another machine; perfdata does.
    r"unwind: target platform=\w+ is not supported",
    # perf cannot swap them; perfdata does.
    r"interpreting \w+ from systems with endianness is not yet supported",
    # The shell's word about a helper that perf would run for a 32-bit vdso.
    r"sh: \d+: perf-read-vdso(x)?32: (not found|Permission denied)",
)
# perf looks for symbols that it does not print: for its cache, or of a tracepoint's address that no
# field shows.
NO_SYMBOLS = re.compile(r"No kallsyms or vmlinux with build-id [0-9a-f]+ was found")
SYMBOL_CASES = ("report", "report-sort", "report-dump", "report-quiet")
OURS = re.compile(r"perf [a-z-]+: .*")


def recordings(corpus, folders):
    for folder in folders:
        top = os.path.join(corpus, folder)
        try:
            lines = open(os.path.join(top, "MANIFEST.tsv"), encoding="utf-8").read().splitlines()
        except OSError:
            continue
        for line in lines[1:]:
            path = os.path.join(top, line.split("\t")[0])
            if os.path.isfile(path) and "/fuzz/" not in path and "/damaged/" not in path:
                with open(path, "rb") as file:
                    if file.read(8) in (b"PERFILE2", b"2ELIFREP"):
                        yield top, path


def run(program, case, top, path):
    with tempfile.TemporaryDirectory() as home:
        environment = {"PATH": os.environ["PATH"], "HOME": home, "LC_ALL": "C", "TZ": "UTC",
                       "PAGER": "cat", "PERF_CONFIG": "/dev/null"}
        arguments = [program, *CASES[case], "-i", path]
        symfs = os.path.join(top, "symfs")
        if CASES[case][0] in ("script", "report") and os.path.isdir(symfs):
            arguments += ["--symfs", symfs]
            if os.path.exists(symfs + "/kallsyms"):
                arguments += ["--kallsyms", symfs + "/kallsyms"]
        result = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, env=environment, cwd=home, timeout=120,
                                check=False)
        return result.returncode, result.stderr.decode("utf-8", "replace")


def comparable(text):
    lines = [line for line in text.splitlines()
             if not any(re.fullmatch(line_form, line) for line_form in NOT_SAID)]
    return "\n".join(line for line in lines if not OURS.fullmatch(line))


def compare(job):
    perf, ours, case, top, path = job
    code, expected = run(perf, case, top, path)
    if GIVES_UP.search(expected) or code != 0:
        return "left out", case, path, expected, ""
    expected = comparable(expected)
    code, found = run(ours, case, top, path)
    if code == 77:
        return "left out", case, path, expected, found
    found = comparable(found)
    if case not in SYMBOL_CASES and not NO_SYMBOLS.search(found):
        expected = re.sub(NO_SYMBOLS.pattern + "\n?", "", expected)
    verdict = "differs" if expected != found else "warned" if expected.strip() else "silent"
    return verdict, case, path, expected, found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("--folders", default="own,own-pt,public,foreign/aarch64,foreign/s390x,"
                                             "foreign/armhf")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--only", default="")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    perf, corpus = shutil.which("perf"), os.environ.get("PERFDATA_CORPUS")
    if not perf or not corpus:
        print("skipped: no perf, or PERFDATA_CORPUS is not set")
        return 77
    with tempfile.TemporaryDirectory() as links:
        ours = os.path.join(links, "perf")
        os.symlink(os.path.abspath(arguments.perfdata), ours)
        jobs = [(perf, ours, case, top, path)
                for top, path in recordings(corpus, arguments.folders.split(","))
                for case in arguments.cases.split(",") if arguments.only in path]
        counts = {}
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for verdict, case, path, expected, found in pool.map(compare, jobs):
                counts[verdict] = counts.get(verdict, 0) + 1
                if verdict == "differs":
                    print(f"{case} {os.path.relpath(path, corpus)}\n  perf: {expected!r}\n"
                          f"  ours: {found!r}")
                elif arguments.show:
                    print(verdict, case, os.path.relpath(path, corpus))
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return 1 if counts.get("differs") or not counts.get("warned") else 0


if __name__ == "__main__":
    sys.exit(main())
