# SPDX-License-Identifier: MIT
"""What each form of a profile says that functions take, read as its own consumers read it, beside
what is expected.

readers.py EXPECTED FORM FILE [REFERENCE], where EXPECTED has for each function a line
"event|self|samples|share|object|function" (totals.c). A FORM with a reader of its own comes as that
reader's text: go tool pprof -top, callgrind_annotate, shown_* what viewers.sh has programs show.
REFERENCE is another form whose totals are to be the same."""
import bisect
import collections
import html
import json
import re
import sys


def expected(path, counted=False):
    """Own weights (or counts) by function, and for names that one function has the share that it
    has with its callees; unknown functions are told by their object."""
    own, seen, shares = collections.Counter(), collections.Counter(), {}
    for line in open(path, encoding="utf-8", errors="surrogateescape"):
        _, self_weight, samples, share, obj, name = line.rstrip("\n").split("|", 5)
        if counted:
            self_weight = samples
        if name == "[unknown]":
            name = obj if obj.startswith("[") else "[%s]" % obj
        seen[name.replace(" (inlined)", "")] += 1
        shares[name] = share
        if int(self_weight):
            own[name.replace(" (inlined)", "")] += int(self_weight)
    return own, {name: share for name, share in shares.items() if seen[name] == 1}


def add(own, total, names, weight):
    own[names[-1]] += weight
    for name in set(names):
        total[name] += weight


def folded(path):
    own, total = collections.Counter(), collections.Counter()
    for line in open(path, encoding="utf-8"):
        stack, weight = line.rstrip("\n").rsplit(" ", 1)
        add(own, total, stack.split(";")[1:], int(weight))
    return own, total


def speedscope(path):
    own, total = collections.Counter(), collections.Counter()
    data = json.load(open(path))
    frames = [f["name"] for f in data["shared"]["frames"]]
    for profile in data["profiles"]:
        assert profile["endValue"] == sum(profile["weights"])
        for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
            add(own, total, [frames[i] for i in stack], weight)
    return own, total


def chrome(path):
    own, total = collections.Counter(), collections.Counter()
    data = json.load(open(path))
    for sample in data["samples"]:
        names, at = [], str(sample["sf"])
        while at is not None:
            names.insert(0, data["stackFrames"][at]["name"])
            at = data["stackFrames"][at].get("parent")
        add(own, total, names, sample["weight"])
    return own, total


def firefox(path):
    own, total = collections.Counter(), collections.Counter()
    data = json.load(open(path))
    shared = data["shared"]
    stacks, frames, functions = shared["stackTable"], shared["frameTable"], shared["funcTable"]
    for thread in data["threads"]:
        samples = thread["samples"]
        for at, weight in zip(samples["stack"], samples["weight"], strict=True):
            names = []
            while at is not None:
                name = functions["name"][frames["func"][stacks["frame"][at]]]
                names.insert(0, shared["stringArray"][name])
                at = stacks["prefix"][at]
            add(own, total, names, weight)
    return own, total


def pprof(path):
    own, total = collections.Counter(), collections.Counter()
    for line in open(path, encoding="utf-8"):
        found = re.match(r" *(-?[\d.]+)[a-z]* +[\d.]+% +[\d.]+% +(-?[\d.]+)[a-z]* +[\d.]+% +(.*)",
                         line)
        if found:
            own[found[3]] += round(float(found[1]))
            total[found[3]] += round(float(found[2]))
    return own, total


def callgrind(path):
    values = collections.Counter()
    for line in open(path, encoding="utf-8"):
        found = re.match(r" *([\d,]+) \( *[\d.]+%\)  .*?:(.*) \[.*\]$", line)
        if found and found[2] != "(root)":
            values[found[2]] += int(found[1].replace(",", ""))
    return values, None


def callgrind_inclusive(path):
    """Without unknown functions: those of an object are one there, which calls itself, and its
    reader counts each of these calls."""
    totals = callgrind(path)[0]
    return None, {name: weight for name, weight in totals.items() if name[0] != "["}


def shown_inferno(path):
    """A flame graph: what is above a rectangle, within its bounds, is called by it."""
    own, total, levels = collections.Counter(), collections.Counter(), collections.defaultdict(list)
    found = re.findall(r'<g><title>(.*?)</title><rect [^>]*?y="(\d+)"[^>]*? fg:x="(\d+)"'
                       r' fg:w="(\d+)"', open(path, encoding="utf-8").read())
    for title, y, x, width in found:
        name = re.fullmatch(r"(.*) \([\d,]+ samples, [\d.]+%\)", html.unescape(title))[1]
        levels[int(y)].append((int(x), int(width), name))
    below = [(0, None, frozenset())]
    for level, y in enumerate(sorted(levels, reverse=True)):
        here = []
        for x, width, name in sorted(levels[y]):
            _, caller, callers = below[bisect.bisect(below, x, key=lambda r: r[0]) - 1]
            if caller is not None:
                own[caller] -= width
            if level:  # the first one is "all"
                own[name] += width
                total[name] += 0 if name in callers else width
                here.append((x, name, callers | {name}))
            else:
                here.append((x, None, callers))
        below = here
    return own, total


def shown_profiler_cli(path):
    own, total = collections.Counter(), collections.Counter()
    for line in open(path, encoding="utf-8"):
        whole, self_weight, name = line.rstrip("\n").split(" ", 2)
        own[name] += int(self_weight)
        total[name] += int(whole)
    return own, total


shown_speedscope = shown_profiler_cli


def check_counts(own, want, total, reference, shares):
    """Counts have no share in report: the form that was shown has totals of its own."""
    wrong = {name: (total[name], reference[name]) for name in shares
             if total[name] != reference[name]}
    wrong.update((name, (own[name], want[name])) for name in own.keys() | want.keys()
                 if own[name] != want[name])
    if wrong or not want:
        print("counts differ:", list(wrong.items())[:5])
    return bool(wrong or not want)


def check_totals(total, weight, shares, partial):
    """Whether the shares are those of the profile, which totals.sh compares with what report
    --children says."""
    if partial:
        shares = {name: share for name, share in shares.items() if name[0] != "["}
    found = {name: "%.2f" % (total.get(name, 0) * 100 / weight) for name in shares}
    wrong = {name: (found[name], shares[name]) for name in shares if found[name] != shares[name]}
    if wrong:
        print("totals are not those of report --children:", list(wrong.items())[:5])
    return not wrong and (partial or bool(shares))


def main():
    counted = sys.argv[2] == "shown_speedscope"
    want, shares = expected(sys.argv[1], counted)
    own, total = globals()[sys.argv[2]](sys.argv[3])
    if counted:
        return check_counts(+own, want, total, speedscope(sys.argv[4])[1], shares)
    if total is not None and not check_totals(total, sum(want.values()), shares,
                                              own is None):
        return 1
    if own is None:
        return 0
    own = +own
    if len(sys.argv) > 4:
        reference = folded(sys.argv[4])[1]
        if total != reference:
            print("totals differ:", list(((total - reference) | (reference - total)).items())[:5])
            return 1
    if own != want or not want:
        print("own weights differ:",
              {k: (own[k], want[k]) for k in own.keys() | want.keys() if own[k] != want[k]})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
