# SPDX-License-Identifier: MIT
"""The engines that queries run on. Each lays six views over the tables, so that one text of a query
serves all:

    samples    release, host, recording, time, cpu, pid, tid, comm, event, period, address,
               stack_hash
    functions  function_hash, name, object, build_id, flags; a row each, whatever recordings it is
               in
    leaves     stack_hash, function_hash: where the program was
    members    stack_hash, function_hash: every function of the stack once
    paths      stack_hash, path: names from the root, with ; between
"""
import os
import re
import string

FOLDERS = "release=*/host=*/recording=*"


def substitute(text, values):
    """$NAME -> a value; none of them can end the text that it stands in."""
    for name, value in values.items():
        allowed = set(string.ascii_letters + string.digits + "._-+ :")
        if not isinstance(value, int) and not set(value) <= allowed:
            raise SystemExit(f"{name}: {value!r} is no name of a release")
    return string.Template(text).substitute(values)


def views(text):
    """One each where a line begins with three steps and no more."""
    return re.split(r"\n {12}(?! )", text)


class DuckDB:
    def __init__(self, tables):
        import duckdb
        self.engine = duckdb.connect()
        for table in ("samples", "functions", "stacks"):
            files = os.path.join(tables, FOLDERS, f"{table}.parquet").replace("'", "''")
            self.engine.sql(f"create view all_{table} as select * from "
                            f"read_parquet('{files}', hive_partitioning = true, "
                            "hive_types_autocast = false)")
        for view in views("""
            samples as select * from all_samples
            functions as select function_hash, min(name) as name, min(object) as object,
                min(build_id) as build_id, min(flags) as flags from all_functions
                group by function_hash
            stacks as select stack_hash, any_value(frames) as frames from all_stacks
                group by stack_hash
            leaves as select stack_hash, frames[len(frames)] as function_hash from stacks
            members as select distinct stack_hash, unnest(frames) as function_hash from stacks
            paths as select stack_hash, string_agg(name, ';' order by place) as path from (
                select stack_hash, unnest(frames) as function_hash,
                    generate_subscripts(frames, 1) as place from stacks)
                join functions using (function_hash) group by stack_hash""".strip()):
            self.engine.sql(f"create view {view}")

    def rows(self, query):
        return self.engine.sql(query).fetchall()


class ClickHouse:
    """The engine of ClickHouse in this process. A server takes the same text, with file() replaced
    by its tables."""

    def __init__(self, tables):
        from chdb import session
        self.engine = session.Session()
        self.engine.query("create database fleet")
        self.engine.query("use fleet")
        for table, order in (("samples", "(release, recording, time)"),
                             ("functions", "function_hash"), ("stacks", "stack_hash")):
            files = os.path.join(os.path.abspath(tables), FOLDERS,
                                 f"{table}.parquet").replace("'", "\\'")
            keys = ", ".join(f"extract(_path, '/{key}=([^/]*)/') as {key}"
                             for key in ("release", "host", "recording"))
            self.engine.query(f"create table all_{table} engine = MergeTree order by {order} as "
                              f"select *, {keys} from file('{files}', Parquet) settings "
                              "schema_inference_make_columns_nullable = 0, "
                              "use_hive_partitioning = 0")
        for view in views("""
            samples as select * from all_samples
            functions as select function_hash, min(name) as name, min(object) as object,
                min(build_id) as build_id, min(flags) as flags from all_functions
                group by function_hash
            stacks as select stack_hash, any(frames) as frames from all_stacks group by stack_hash
            leaves as select stack_hash, frames[-1] as function_hash from stacks
            members as select distinct stack_hash, arrayJoin(frames) as function_hash from stacks
            paths as select stack_hash, arrayStringConcat(
                    arrayMap(x -> x.2, arraySort(groupArray((place, name)))), ';') as path
                from (select stack_hash, function_hash, place from stacks
                    array join frames as function_hash, arrayEnumerate(frames) as place) e
                join functions f using (function_hash)
                group by stack_hash""".strip()):
            self.engine.query(f"create view {view}")

    def rows(self, query):
        import json
        text = self.engine.query(query, "JSONCompact").bytes().decode()
        if not text:
            return []
        answer = json.loads(text)
        kinds = [re.sub(r"Nullable\((.*)\)", r"\1", column["type"]) for column in answer["meta"]]
        makers = [int if kind.startswith(("Int", "UInt")) else float if kind.startswith("Float")
                  else str for kind in kinds]
        return [tuple(make(value) for make, value in zip(makers, row)) for row in answer["data"]]


class Spark:
    def __init__(self, tables):
        from pyspark.sql import SparkSession
        self.engine = (SparkSession.builder.master("local[2]").appName("fleet")
                       .config("spark.ui.enabled", "false")
                       .config("spark.sql.shuffle.partitions", "4")
                       .config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
                       .config("spark.ui.showConsoleProgress", "false").getOrCreate())
        self.engine.sparkContext.setLogLevel("ERROR")
        for table in ("samples", "functions", "stacks"):
            reader = self.engine.read.option("basePath", tables)
            rows = reader.parquet(os.path.join(tables, FOLDERS, f"{table}.parquet"))
            rows.createOrReplaceTempView(f"all_{table}")
        for view in views("""
            samples as select * from all_samples
            functions as select function_hash, min(name) as name, min(object) as object,
                min(build_id) as build_id, min(flags) as flags from all_functions
                group by function_hash
            stacks as select stack_hash, first(frames) as frames from all_stacks group by stack_hash
            leaves as select stack_hash, element_at(frames, -1) as function_hash from stacks
            members as select distinct stack_hash, explode(frames) as function_hash from stacks
            paths as select stack_hash, array_join(
                    transform(array_sort(collect_list(struct(place, name))), x -> x.name),
                    ';') as path
                from (select stack_hash, posexplode(frames) as (place, function_hash) from stacks)
                join functions using (function_hash) group by stack_hash""".strip()):
            self.engine.sql(f"create or replace temporary view {view}")

    def rows(self, query):
        return [tuple(row) for row in self.engine.sql(query).collect()]


ENGINES = {"duckdb": DuckDB, "clickhouse": ClickHouse, "spark": Spark}
