# SPDX-License-Identifier: MIT
"""children.py REPORT FORM PATH [FOLDER]: what each function takes with its callees, summed up of a
form as its own readers read it, beside the rows of `report --children --json`. Functions of which
report has several rows (two of one name, or one that is also inlined) are left out: forms tell them
by more than the name. `json` has neither events nor weights: its samples are counted, as those of
the tables of csv in FOLDER are."""
import collections, csv, json, os, re, sys


def of_csv(path):
    def table(name):
        with open(os.path.join(path, name + ".csv"), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file, strict=True))
    stacks, functions = table("stacks"), table("functions")
    for sample in table("samples"):
        names, at = [], sample["stack"]
        while at:
            names.append(functions[int(stacks[int(at)]["function"])]["name"])
            at = stacks[int(at)]["parent"]
        yield sample["event"], names, int(sample["period"])


def of_json(path):
    for sample in json.load(open(path, encoding="utf-8"))["samples"]:
        yield "", [frame.get("symbol", "[unknown]") for frame in sample["callchain"]], 1


def of_counts(path):
    for _, names, _ in of_csv(path):
        yield "", names, 1


def of_parquet(path):
    import pyarrow.parquet as pq
    def rows(name):
        return pq.read_table(os.path.join(path, name + ".parquet")).to_pylist()
    names = {f["function_hash"]: f["name"] for f in rows("functions")}
    stacks = {s["stack_hash"]: [names[f] for f in s["frames"]] for s in rows("stacks")}
    for sample in rows("samples"):
        yield sample["event"], stacks[sample["stack_hash"]], sample["period"]


def of_polars_parquet(path):
    """Each sample beside the frames of its stack, by a join and an explosion of polars' own."""
    import polars
    samples, stacks, functions = (polars.read_parquet(os.path.join(path, name + ".parquet"))
                                  for name in ("samples", "stacks", "functions"))
    frames = stacks.select("stack_hash", "frames").explode("frames").join(
        functions.select("function_hash", "name"), left_on="frames", right_on="function_hash")
    sums = samples.group_by("event", "stack_hash").agg(polars.col("period").sum())
    named = frames.group_by("stack_hash").agg("name")
    yield from sums.join(named, on="stack_hash").select("event", "name", "period").iter_rows()


def of_polars_csv(path):
    import polars
    samples, stacks, functions = (polars.read_csv(os.path.join(path, name + ".csv"),
                                                  infer_schema_length=None)
                                  for name in ("samples", "stacks", "functions"))
    names = dict(functions.select("function", "name").iter_rows())
    above = {at: (parent, names[function]) for at, parent, function
             in stacks.select("stack", "parent", "function").iter_rows()}
    sums = samples.group_by("event", "stack").agg(polars.col("period").sum())
    for event, at, period in sums.iter_rows():
        found = []
        while at is not None:
            at, name = above[at]
            found.append(name)
        yield event, found, period


def of_otlp(path):
    from opentelemetry.proto.profiles.v1development import profiles_pb2
    data = profiles_pb2.ProfilesData.FromString(open(path, "rb").read())
    d = data.dictionary
    for resource in data.resource_profiles:
        for scope in resource.scope_profiles:
            for profile in scope.profiles:
                event = d.string_table[profile.sample_type.type_strindex]
                for sample in profile.samples:
                    stack = d.stack_table[sample.stack_index]
                    lines = [line for i in stack.location_indices
                             for line in d.location_table[i].lines]
                    names = [d.string_table[d.function_table[line.function_index].name_strindex]
                             for line in lines]
                    yield event, names, sum(sample.values)


def of_perfetto(path):
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    tables = collections.defaultdict(dict)
    for packet in perfetto_trace_pb2.Trace.FromString(open(path, "rb").read()).packet:
        for field, entries in packet.interned_data.ListFields():
            tables[field.name].update((entry.iid, entry) for entry in entries)
        if packet.HasField("stack_sample"):
            sample = packet.stack_sample
            event = tables["stack_sample_counter_descriptors"][sample.primary_descriptor_iid].name
            stack = tables["callstacks"][sample.callstack_iid]
            frames = [tables["frames"][i] for i in stack.frame_ids]
            names = [tables["function_names"][f.function_name_id].str.decode("utf-8")
                     for f in frames]
            yield event, names, sample.primary_weight


def totals(form, path):
    sums, whole = collections.Counter(), collections.Counter()
    if form == "sqlite":
        import sqlite3
        db = sqlite3.connect(path)
        view = db.execute("SELECT event, name, total FROM profile_functions_view")
        for event, name, total in view:
            sums[event, name] += total
        events = db.execute("SELECT event, sum(period) FROM profile_samples GROUP BY event")
        whole.update(dict(events))
        return sums, whole
    for event, names, weight in globals()["of_" + form](path):
        whole[event] += weight
        for name in set(names):
            sums[event, name] += weight
    return sums, whole


def main():
    report, form, path = sys.argv[1:4]
    sums, whole = totals(form, path)
    compared, wrong = 0, []
    if form == "json":
        want, _ = totals("counts", sys.argv[4])
        names = {name for _, name in (want | sums) if name != "[unknown]"}
        compared = len(names)
        wrong = [(name, sums["", name], want["", name]) for name in names
                 if sums["", name] != want["", name]]
    else:
        rows = [json.loads(line) for line in open(report, encoding="utf-8")]
        rows = [(r["event"], r["symbol"].replace(" (inlined)", ""), r["overhead_children"])
                for r in rows if r.get("symbol")]
        seen = collections.Counter((event, name) for event, name, _ in rows)
        for event, name, share in rows:
            is_address = re.fullmatch("0x[0-9a-f]+|[0-9a-f]{8}|[0-9a-f]{16}", name)
            if seen[event, name] > 1 or name == "[unknown]" or is_address:
                continue
            compared += 1
            got = sums[event, name] * 100 / whole[event] if whole[event] else 0
            if abs(got - share) > 1.5e-6:
                wrong.append((event, name, got, share))
    if wrong or not compared:
        sys.exit("%s: %d of %d functions differ: %s" % (form, len(wrong), compared, wrong[:4]))
    print(compared)


main()
