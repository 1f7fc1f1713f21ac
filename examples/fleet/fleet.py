# SPDX-License-Identifier: MIT
"""Recordings of many machines as tables, and questions to all of them.

    fleet.py load TABLES --release 1.4 [--host NAME] [--spark] RECORDING...
    fleet.py query TABLES NAME [--engine duckdb|clickhouse|spark] [NAME=VALUE...]

A recording becomes a folder TABLES/release=R/host=H/recording=NAME of Parquet files; queries lie in
queries/NAME.sql.
"""
import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import engines
import perfdata

QUERIES = Path(__file__).resolve().parent / "queries"
DEFAULTS = {"limit": 20, "start": 0, "stop": (1 << 63) - 1}


def load_one(tables, path, release, host, search):
    """A task for one recording: run it where the recording is, or on any machine that has the
    symbols."""
    with perfdata.open(path, threads=1, **search) as recording:
        host = host or recording.header["features"].get("hostname", {}).get("text", "unknown")
        folder = Path(tables, f"release={release}", f"host={host}", f"recording={Path(path).stem}")
        folder.parent.mkdir(parents=True, exist_ok=True)
        recording.export("parquet", folder)
        return str(folder), [issue.text for issue in recording.issues]


def load(options):
    search = {name: getattr(options, name) for name in ("symfs", "kallsyms")
              if getattr(options, name)}
    load_path = partial(load_one, options.tables, release=options.release, host=options.host,
                        search=search)
    if options.spark:
        from pyspark.sql import SparkSession
        context = SparkSession.builder.appName("fleet").getOrCreate().sparkContext
        done = context.parallelize(options.recordings,
                                   len(options.recordings)).map(load_path).collect()
        show_loaded(done)
    else:
        with ProcessPoolExecutor() as pool:
            show_loaded(pool.map(load_path, options.recordings))


def show_loaded(done):
    for folder, issues in done:
        print(folder, *(f"({issue})" for issue in issues[:1]))


def text(name, values):
    """A query with its values in place; $compare is the text of compare.sql."""
    words = (QUERIES / f"{name}.sql").read_text()
    if "$compare" in words:
        words = words.replace("$compare", (QUERIES / "compare.sql").read_text())
    return engines.substitute(words, {**DEFAULTS, **values})


def query(options):
    given = dict(word.split("=", 1) for word in options.values)
    values = {name: int(value) if name in DEFAULTS else value for name, value in given.items()}
    for row in engines.ENGINES[options.engine](options.tables).rows(text(options.name, values)):
        print("\t".join(f"{value:.3f}" if isinstance(value, float) else str(value)
                        for value in row))


def main(words):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("load")
    verb.add_argument("tables")
    verb.add_argument("--release", required=True)
    verb.add_argument("--host")
    verb.add_argument("--symfs")
    verb.add_argument("--kallsyms")
    verb.add_argument("--spark", action="store_true",
                      help="a task of Spark for each recording; TABLES is seen by all workers")
    verb.add_argument("recordings", nargs="+")
    verb.set_defaults(run=load)
    verb = verbs.add_parser("query")
    verb.add_argument("tables")
    verb.add_argument("name", choices=sorted(path.stem for path in QUERIES.glob("*.sql")))
    verb.add_argument("--engine", choices=sorted(engines.ENGINES), default="duckdb")
    verb.add_argument("values", nargs="*")
    verb.set_defaults(run=query)
    options = parser.parse_args(words)
    options.run(options)


if __name__ == "__main__":
    main(sys.argv[1:])
