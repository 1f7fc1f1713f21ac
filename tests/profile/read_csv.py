# SPDX-License-Identifier: MIT
"""read_csv.py EXPECTED FOLDER: the tables as Python's csv module reads them, strictly: own weights
by function as profile_totals has them; numbers of stacks and functions lead somewhere; every line
ends with CR LF."""
import collections, csv, io, os, sys

want = collections.Counter()
for line in open(sys.argv[1], errors="surrogateescape"):
    cells = line.rstrip("\n").split("|")
    if int(cells[2]):
        want[cells[0], "|".join(cells[5:]).replace(" (inlined)", "")] += int(cells[1])
def table(name):
    path = os.path.join(sys.argv[2], name + ".csv")
    raw = open(path, "rb").read()
    pairs = raw.count(b"\r\n")
    assert raw.count(b"\n") == pairs and raw.endswith(b"\r\n"), "lines do not end with CR LF"
    rows = list(csv.reader(io.StringIO(raw.decode("utf-8"), newline=""), strict=True))
    cells = {len(row) for row in rows}
    assert len(cells) == 1, "%s: rows differ in their number of cells" % name
    return [dict(zip(rows[0], row)) for row in rows[1:]]
samples, stacks, functions = table("samples"), table("stacks"), table("functions")
assert [int(s["stack"]) for s in stacks] == list(range(len(stacks)))
assert [int(f["function"]) for f in functions] == list(range(len(functions)))
got = collections.Counter()
for s in samples:
    at, depth = int(s["stack"]), 0
    function = functions[int(stacks[at]["function"])]
    name = function["name"]
    assert s["function"] == ("" if name == "[unknown]" else name), (s, function)
    assert s["object"] == function["object"], (s, function)
    depth = int(stacks[at]["depth"])
    while stacks[at]["parent"]:
        assert int(stacks[at]["parent"]) < at
        at, depth = int(stacks[at]["parent"]), depth - 1
    assert depth == 1
    got[s["event"], name] += int(s["period"])
inlined = "--inlined" in sys.argv
if sum(want.values()) != sum(got.values()) or (want != got and not inlined):
    sys.exit("csv: %d against %d; %s" % (sum(got.values()), sum(want.values()),
                                         list(((want - got) + (got - want)).items())[:4]))
print(len(got))
