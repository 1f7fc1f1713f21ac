# SPDX-License-Identifier: MIT
"""The tables of `export parquet` in FOLDER say what EXPECTED (totals.c) says of each function, read
by pyarrow and by DuckDB.

parquet.py EXPECTED FOLDER SAMPLES"""
import collections
import sys

import pyarrow.parquet as parquet

expected, folder, samples = sys.argv[1], sys.argv[2], int(sys.argv[3])
want = collections.Counter()
for line in open(expected, encoding="utf-8"):
    _, own, _, _, obj, name = line.rstrip("\n").split("|", 5)
    if int(own):
        want[name] += int(own)
tables = {name: parquet.read_table(f"{folder}/{name}.parquet").to_pydict()
          for name in ("samples", "stacks", "functions", "events", "mappings")}
stacks = dict(zip(tables["stacks"]["stack_hash"], tables["stacks"]["frames"], strict=True))
names = dict(zip(tables["functions"]["function_hash"], tables["functions"]["name"], strict=True))
assert len(stacks) == len(tables["stacks"]["frames"])
assert len(names) == len(tables["functions"]["name"])
assert len(tables["samples"]["time"]) == samples, len(tables["samples"]["time"])
assert set(tables["samples"]["event"]) <= set(tables["events"]["event"])
got = collections.Counter()
for stack, period in zip(tables["samples"]["stack_hash"], tables["samples"]["period"], strict=True):
    got[names[stacks[stack][-1]]] += period
assert +got == want, (got - want, want - got)
try:
    import duckdb
except ImportError:
    print("read by pyarrow only: no duckdb")
    sys.exit(0)
rows = duckdb.sql(f"""
    select f.name, sum(s.period)::bigint from '{folder}/samples.parquet' s
    join '{folder}/stacks.parquet' t using (stack_hash)
    join '{folder}/functions.parquet' f on f.function_hash = t.frames[len(t.frames)]
    group by 1""").fetchall()
assert {name: own for name, own in rows if own} == dict(want)
