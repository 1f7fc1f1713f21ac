# SPDX-License-Identifier: MIT
"""The tables of `export parquet` in FOLDER say what EXPECTED (totals.c) says of each function, read
by pyarrow and by DuckDB, which sums up the callees, too.

parquet.py EXPECTED FOLDER SAMPLES"""
import collections
import sys

import pyarrow.parquet as parquet

expected, folder, samples = sys.argv[1], sys.argv[2], int(sys.argv[3])
want, shares, seen = collections.Counter(), {}, collections.Counter()
for line in open(expected, encoding="utf-8"):
    _, own, _, share, obj, name = line.rstrip("\n").split("|", 5)
    shares[name] = share
    seen[name] += 1
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
# With callees, a function counts once for each sample. The share of a name that one function has is
# the one that totals.sh compares with report --children.
totals = dict(duckdb.sql(f"""
    with called as (select stack_hash, unnest(list_distinct(frames)) as function_hash
                    from '{folder}/stacks.parquet')
    select f.name, sum(s.period)::bigint from '{folder}/samples.parquet' s
    join called using (stack_hash) join '{folder}/functions.parquet' f using (function_hash)
    group by 1""").fetchall())
shares = {name: share for name, share in shares.items() if seen[name] == 1}
assert shares
all_of_it = sum(want.values())
got = {name: "%.2f" % (totals.get(name, 0) * 100 / all_of_it) for name in shares}
assert got == shares, [(name, got[name], shares[name]) for name in got
                       if got[name] != shares[name]][:5]
