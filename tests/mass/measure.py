#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs verbs on masses: recordings with many things of a kind, as make_mass makes them (issue 24,
points 6 and 7).

    measure.py MAKE_MASS FOLDER KINDS VERBS

KINDS and VERBS are lists with commas, or "all". A verb may not take three times as long for each of
64,000 things (of some kinds fewer: LARGE_OF) as for each of 2,000, and may not take more than
1 GiB. Prints a line for each run; exit 1 when one is wrong.
"""
import os
import resource
import shutil
import signal
import sys

SMALL, LARGE, FEW = 2000, 64000, 20
# libtraceevent looks through the formats that it has for each one more: of 64,000 it takes half a
# minute, whatever we do. A kernel has some 2,500.
LARGE_OF = {"tracepoints": 8000}
LIMIT = 3.0
SECONDS = 60  # of CPU time for one run; far more than any takes
WAIT = 1200  # seconds for one run on a machine that does much else
MEMORY = 1024  # MiB
LEAST = 0.001  # what 2,000 things take at least, since less cannot be measured
TRIES = 5

KINDS = (
    "maps cuts threads nested forks comms cgroups namespaces ids id-flood dsos dso-flood ksymbols "
    "events tracepoints build-ids sections addresses chains"
).split()

VERBS = {
    "script": ["script", "-i", "@"],
    "script-tasks": ["script", "--show-task-events", "--show-mmap-events", "-i", "@"],
    "report": ["report", "--stdio", "-i", "@"],
    "report-keys": ["report", "--stdio", "-s", "comm,pid,dso,sym,cgroup_id,cgroup", "-i", "@"],
    "hierarchy": ["report", "--stdio", "--hierarchy", "-s", "pid,comm,dso,sym", "-i", "@"],
    "mmaps": ["report", "--mmaps", "-i", "@"],
    "tasks": ["report", "--tasks", "-i", "@"],
    "stats": ["report", "--stats", "-i", "@"],
    "raw": ["report", "-D", "-i", "@"],
    "header": ["header", "@"],
    "evlist": ["evlist", "-v", "-i", "@"],
    "buildid-list": ["buildid-list", "-i", "@"],
    "check": ["check", "@"],
    "dump": ["dump", "@"],
    "pdt": ["dump", "--pdt", "@"],
    "inject": ["inject", "-b", "-i", "@", "-o", "%"],
    "slice": ["slice", "--time", "0,", "-i", "@", "-o", "%"],
    "repair": ["repair", "-o", "%", "@"],
    "anonymize": ["anonymize", "-o", "%", "@"],
    "merge": ["merge", "-o", "%", "@", "@"],
    "sqlite": ["export", "sqlite", "-o", "%", "-i", "@"],
    "aux": ["aux", "list", "-i", "@"],
    "annotate": ["annotate", "--stdio", "-i", "@"],
    "flame": ["flame", "-i", "@", "-o", "%"],
    "pprof": ["export", "pprof", "-i", "@", "-o", "%"],
    "firefox": ["export", "firefox", "-i", "@", "-o", "%"],
    "otlp": ["export", "otlp", "-i", "@", "-o", "%"],
    "diff": ["diff", "@", "@"],
    "chrome": ["export", "chrome", "-i", "@", "-o", "%"],
    "callgrind": ["export", "callgrind", "-i", "@", "-o", "%"],
    "speedscope": ["export", "speedscope", "-i", "@", "-o", "%"],
    "perfetto": ["export", "perfetto", "-i", "@", "-o", "%"],
    "csv": ["export", "csv", "-i", "@", "-o", "%"],
    "ctf": ["export", "ctf", "-i", "@", "-o", "%"],
    "folded": ["export", "folded", "-i", "@", "-o", "%"],
    "json": ["data", "convert", "--to-json", "%", "-i", "@"],
}

# What a kind makes of the output: each of N processes has 1,000 maps, its line as many blanks as it
# has ancestors, or each sample a value of each event.
SIZED_BY_OUTPUT = {("forks", "mmaps"), ("nested", "tasks"), ("nested", "mmaps"),
                   ("tracepoints", "pprof")}


def run(program, arguments, out):
    """The wait status, seconds of CPU time and MiB of memory."""
    if os.path.isdir(out):
        shutil.rmtree(out)
    elif os.path.exists(out):
        os.unlink(out)
    actions = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_WRONLY, 0) for fd in (1, 2)]
    pid = os.posix_spawn(program, [program] + arguments, os.environ, file_actions=actions)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
    resource.prlimit(pid, resource.RLIMIT_CPU, (SECONDS, SECONDS))
    signal.alarm(WAIT)
    _, status, usage = os.wait4(pid, 0)
    signal.alarm(0)
    return status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(program, folder, kind, verb):
    """What is wrong, or None; prints the figures."""
    out = os.path.join(folder, "out")
    large = LARGE_OF.get(kind, LARGE)

    def once(count):
        path = os.path.join(folder, "%s.%d" % (kind, count))
        arguments = [a.replace("@", path).replace("%", out) for a in VERBS[verb]]
        status, seconds, memory = run(program, arguments, out)
        if os.WIFSIGNALED(status):
            raise RuntimeError("%s of %d %s: signal %d" % (verb, count, kind, os.WTERMSIG(status)))
        return seconds, memory

    best = {FEW: 1e9, SMALL: 1e9, large: 1e9}
    memory, ratio = 0.0, 1e9
    for _ in range(TRIES):
        for count in best:
            seconds, used = once(count)
            best[count] = min(best[count], seconds)
            memory = max(memory, used)
        ratio = (best[large] - best[FEW]) / large / (max(best[SMALL] - best[FEW], LEAST) / SMALL)
        if ratio < LIMIT or (kind, verb) in SIZED_BY_OUTPUT:
            break
    print("%-11s %-13s %8.1f ms %9.1f ms  %5.2f times  %6.1f MiB" %
          (kind, verb, best[SMALL] * 1e3, best[large] * 1e3, ratio, memory), flush=True)
    if ratio >= LIMIT and (kind, verb) not in SIZED_BY_OUTPUT:
        return ("%s takes %.1f times as long for each of many %s as for each of few"
                % (verb, ratio, kind))
    if memory > MEMORY:
        return "%s of %d %s takes %.0f MiB" % (verb, large, kind, memory)
    return None


def main():
    make, folder = sys.argv[1:3]
    kinds = KINDS if sys.argv[3] == "all" else sys.argv[3].split(",")
    verbs = VERBS if sys.argv[4] == "all" else sys.argv[4].split(",")
    program = os.environ["PERFDATA"]
    wrong = []
    for kind in kinds:
        counts = (FEW, SMALL, LARGE_OF.get(kind, LARGE))
        for count in counts:
            path = os.path.join(folder, "%s.%d" % (kind, count))
            if os.spawnv(os.P_WAIT, make, [make, kind, str(count), path]) != 0:
                sys.exit("%d %s cannot be made" % (count, kind))
        for verb in verbs:
            try:
                told = measure(program, folder, kind, verb)
            except RuntimeError as error:
                told = str(error)
            if told:
                wrong.append(told)
        for count in counts:
            os.unlink(os.path.join(folder, "%s.%d" % (kind, count)))
    for told in wrong:
        print(told, file=sys.stderr)
    sys.exit(1 if wrong else 0)


main()
