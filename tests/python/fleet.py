# SPDX-License-Identifier: MIT
"""Issue 27: a fleet of 20 recordings. Every engine that is installed answers the same; what
functions take is what `report` says of each recording; the slow function of the second release and
the slow host are found. Run by tests/python/python.sh."""
import collections
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE, PERFDATA = os.environ["SOURCE"], os.environ["PERFDATA"]
sys.path.insert(0, os.path.join(SOURCE, "examples/fleet"))
import engines  # noqa: E402
import fleet  # noqa: E402
import perfdata  # noqa: E402

MODULES = {"duckdb": "duckdb", "clickhouse": "chdb", "spark": "pyspark"}


def installed():
    """pyspark needs Java, too."""
    return [name for name, module in MODULES.items()
            if importlib.util.find_spec(module) and (name != "spark" or shutil.which("java"))]


QUERIES = {"top": {"limit": 50}, "totals": {}, "flame": {"release": "2"},
           "compare": {"before": "1", "after": "2"}, "regressions": {"before": "1", "after": "2"},
           "hosts": {"limit": 40}}


def near(one, other):
    return len(one) == len(other) and all(
        len(a) == len(b)
        and all(abs(x - y) < 1e-6 * max(1, abs(x)) if isinstance(x, float) else x == y
                for x, y in zip(a, b))
        for a, b in zip(one, other))


def ask(engine, name):
    return engine.rows(fleet.text(name, QUERIES[name]))


def report(path):
    """Own periods by function."""
    text = subprocess.run([PERFDATA, "report", "--stdio", "-i", path, "--no-children", "-g", "none",
                           "-t", "|", "-F", "period,sym"],
                          check=True, capture_output=True, text=True).stdout
    sums = collections.Counter()
    for line in text.splitlines():
        if line and not line.startswith("#"):
            period, symbol = line.split("|", 1)
            name = symbol.strip().split(" ", 1)[1]
            sums["[unknown]" if name.startswith("0x") else name] += int(period)
    return sums


def report_children(path):
    """Percent of all periods by function, with all that it called; of functions with a name."""
    text = subprocess.run([PERFDATA, "report", "--json", "-i", path, "--children", "-g", "none",
                           "-F", "overhead_children,sym"],
                          check=True, capture_output=True, text=True).stdout
    sums = collections.Counter()
    for row in map(json.loads, text.splitlines()):
        if not re.fullmatch("(0x)?[0-9a-f]{16}", row["symbol"]):
            sums[row["symbol"]] += row["overhead_children"]
    return sums


def check_children(whole, path):
    everything = sum(report(path).values())
    for name, percent in report_children(path).items():
        ours = whole[name] * 100 / everything
        assert abs(ours - percent) < 2e-6, (path, name, whole[name], percent)


def check_spark_load(folder, recording):
    """A task of Spark makes the same tables as a process."""
    made = subprocess.run([sys.executable, os.path.join(SOURCE, "examples/fleet/fleet.py"), "load",
                           "--spark", "--release", "1", "--host", "host-0",
                           os.path.join(folder, "spark"), recording], capture_output=True,
                           text=True)
    assert not made.returncode, made.stderr
    part = Path("release=1/host=host-0", f"recording={recording.stem}")
    for table in ("samples", "functions", "stacks"):
        one, other = (Path(folder, base, part, f"{table}.parquet").read_bytes()
                      for base in ("tables", "spark"))
        assert one == other, table


def check_totals(rows, recordings):
    own = collections.defaultdict(collections.Counter)
    whole = collections.defaultdict(collections.Counter)
    for recording, name, self_period, total in rows:
        own[recording][name] += self_period
        whole[recording][name] += total
    for path in recordings:
        assert +own[path.stem] == report(path), (path, own[path.stem] - report(path),
                                                 report(path) - own[path.stem])
        check_children(whole[path.stem], path)
        with perfdata.open(path) as recording:
            want = collections.Counter()
            for row in recording.profile(samples=False).rows():
                want[row.name] += row.total_period
        assert whole[path.stem] == want, (path, whole[path.stem] - want, want - whole[path.stem])


def main(folder):
    present = installed()
    if "duckdb" not in present:
        print("skipped: no duckdb (./dev setup --oracles)")
        return 77
    made = subprocess.run(["sh", os.path.join(SOURCE, "examples/fleet/make_fleet.sh"), folder],
                          capture_output=True, text=True,
                          env={**os.environ, "PYTHON": sys.executable, "REQUESTS": "1000"})
    if made.returncode:
        print("skipped: recordings cannot be made here:", made.stderr.strip()[-200:])
        return 77
    recordings = sorted(Path(folder, "recordings").glob("*.data"))
    assert len(recordings) == 20, recordings
    answers = {}
    for name in present:
        engine = engines.ENGINES[name](os.path.join(folder, "tables"))
        answers[name] = {query: ask(engine, query) for query in QUERIES}
    first = answers["duckdb"]
    for name in present[1:]:
        for query in QUERIES:
            one, other = first[query], answers[name][query]
            assert near(one, other), (name, query, one[:3], other[:3])
    check_totals(first["totals"], recordings)
    if "spark" in present:
        check_spark_load(folder, recordings[0])
    assert first["regressions"] and first["regressions"][0][0] == "parse", first["regressions"]
    assert {row[1] for row in first["hosts"][:2]} == {"host-7"}, first["hosts"][:3]
    assert sum(row[1] for row in first["flame"]) == sum(sum(report(path).values())
                                                        for path in recordings
                                                        if path.stem.startswith("r2-"))
    missing = [name for name in MODULES if name not in present]
    print("engines:", ", ".join(present),
          *(f"(not installed: {', '.join(missing)})" for _ in missing[:1]))
    return 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        code = main(place)
        sys.stdout.flush()
    os._exit(code)  # engines that run in the process may wait for threads of theirs
