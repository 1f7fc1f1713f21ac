# SPDX-License-Identifier: MIT
"""The package beside the program: what it says is what `script`, `report`, `dump` and `export` say.

Run by tests/python/python.sh, which sets PERFDATA, SOURCE, PYTHONPATH, PERFDATA_LIBRARY."""
import ctypes
import doctest
import gc
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

import perfdata
from perfdata import _library, rows

SOURCE = os.environ["SOURCE"]
DEMO = os.path.join(SOURCE, "tests/data/demo/")
SYMBOLS = dict(symfs=DEMO + "symfs", kallsyms=DEMO + "symfs/kallsyms", home=None)


def has(module):
    return importlib.util.find_spec(module) is not None


def demo(name):
    return DEMO + name


def run(*words):
    return subprocess.run([os.environ["PERFDATA"], *words], check=True,
                          capture_output=True).stdout.decode()


def opened(name="spin.data", **options):
    return perfdata.open(demo(name), **{**SYMBOLS, **options})


def text_of(sample):
    """As `script -F comm,tid,time,ip,sym,dso --ns` prints it."""
    lines = [f"{sample.comm} {sample.tid} {sample.time // 10**9}.{sample.time % 10**9:09d}"]
    for frame in sample.frames:
        symbol, owner = frame.symbol or "[unknown]", frame.object or "[unknown]"
        lines.append(f"{frame.address:x} {symbol} ({owner})")
    return lines


class Library(unittest.TestCase):
    def test_structures_are_those_of_c(self):
        """Those that begin with their size may have grown since: what is known of them is where it
        was."""
        compiler = os.environ.get("CC", "cc")
        lines = ['#include <perfdata/perfdata.h>', '#include <stdio.h>', 'int main(void) {']
        want = []
        for name, structure in _library.STRUCTURES.items():
            offsets = []
            lines.append(f'printf("{name}");')
            for field in structure._fields_:
                member = "from" if field[0] == "from_" else field[0]
                lines.append(f'printf(" {member}=%zu", offsetof(struct {name}, {member}));')
                offsets.append(f"{member}={getattr(structure, field[0]).offset}")
            size = ctypes.sizeof(structure)
            grows = structure._fields_[0][0] == "struct_size"
            same = ">=" if grows else "=="
            lines.append(f'printf(" %d\\n", sizeof(struct {name}) {same} {size});')
            want.append(" ".join([name, *offsets, "1"]))
        lines.append("}")
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "sizes")
            subprocess.run([*compiler.split(), "-x", "c", "-", "-I",
                            os.path.join(SOURCE, "include"), "-o", program],
                           input="\n".join(lines), text=True, check=True)
            got = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        self.assertEqual(got.splitlines(), want)

    def test_packed_rows(self):
        from perfdata import records
        self.assertEqual(records._LOCATION.size, ctypes.sizeof(_library.Location))
        self.assertLessEqual(records._ROW.size, ctypes.sizeof(_library.SampleRow))

    def test_doctests(self):
        for name in ("perfdata.recording", "perfdata.profile", "perfdata.export"):
            if name == "perfdata.profile" and not has("pyarrow"):
                continue
            result = doctest.testmod(importlib.import_module(name), extraglobs={"demo": demo})
            self.assertGreater(result.attempted, 0)
            self.assertEqual(result.failed, 0)


class Recordings(unittest.TestCase):
    def test_samples_are_those_of_script(self):
        for name in ("spin.data", "shapes.data"):
            want = [line.split("\n") for line in run(
                "script", "-i", demo(name), "--ns", "-F", "comm,tid,time,ip,sym,dso", "--symfs",
                SYMBOLS["symfs"], "--kallsyms", SYMBOLS["kallsyms"]).strip().split("\n\n")]
            with opened(name) as recording:
                got = [text_of(sample) for sample in recording.iter_samples()]
            self.assertEqual(len(got), len(want))
            for ours, theirs in zip(got, want):
                head = theirs[0].split()
                self.assertEqual(ours[0].split(), [*head[:-1], head[-1].rstrip(":")])
                self.assertEqual(ours[1:], [" ".join(line.split()) for line in theirs[1:]])

    def test_records_are_those_of_dump(self):
        want = [json.loads(line)
                for line in run("dump", "--json", "-i", demo("spin.data")).splitlines()]
        with opened() as recording:
            got = [record.as_dict() for record in recording.records("file")]
        self.assertGreater(len(got), 100)
        self.assertEqual(len(got), len(want))
        for ours, theirs in zip(got, want):
            self.assertEqual(ours["fields"], theirs["fields"])
            self.assertEqual((ours["offset"], ours["type"]), (theirs["offset"], theirs["type"]))

    def test_fields(self):
        with opened() as recording:
            names = {record.name: record.field("filename") for record in recording
                     if record.name == "MMAP2"}
            self.assertIn("MMAP2", names)
            record = next(iter(recording))
            with self.assertRaises(perfdata.Error):
                record.field("no_such_field")
            self.assertEqual(len(record.bytes), record.field("size"))

    def test_tracepoints(self):
        with perfdata.open(os.path.join(SOURCE, "tests/data/report/traces.data"),
                           home=None) as recording:
            found = 0
            for sample in recording.iter_samples(frames=False):
                fields = {field.name: field.value for field in sample.tracepoint_fields}
                if fields:
                    found += 1
                    self.assertIn("common_pid", fields)
                    self.assertTrue(sample.raw)
                    self.assertIsInstance(sample.tracepoint_text, str)
            self.assertGreater(found, 0)

    def test_header(self):
        with opened() as recording:
            self.assertEqual(recording.header["features"]["arch"]["text"], "x86_64")
            self.assertEqual([event.name for event in recording.events], ["cpu-clock"])
            event = recording.events[0]
            self.assertEqual(event.attr("sample_period"), 997)
            self.assertEqual(int.from_bytes(event.attr_bytes()[4:8], sys.byteorder), 128)
            self.assertIn("/own/bin/spin", [entry.path for entry in recording.build_ids])

    def test_what_is_gone(self):
        recording = opened()
        samples = recording.iter_samples()
        first = next(samples)
        next(samples)
        self.assertEqual(first.comm, "spin")
        self.assertTrue(str(first.frames[0]))
        with self.assertRaises(perfdata.Error):
            first.number
        recording.close()
        self.assertTrue(str(first.frames[0]))
        self.assertEqual(list(samples), [])
        with self.assertRaises(perfdata.ArgumentError):
            recording.events
        recording.close()

    def test_iterations_are_independent(self):
        with opened() as recording:
            one, other = recording.iter_samples(), recording.iter_samples()
            next(one)
            next(one)
            self.assertEqual(next(other).number, min(s.number for s in recording.iter_samples()))
            self.assertEqual(len(list(one)) + 2, len(list(other)) + 1)

    def test_bytes(self):
        with open(demo("spin.data"), "rb") as file:
            content = file.read()
        with perfdata.open(content, **SYMBOLS) as recording, opened() as same:
            self.assertEqual([s.time for s in recording.iter_samples()],
                             [s.time for s in same.iter_samples()])

    def test_errors(self):
        with self.assertRaises(perfdata.OpenError) as caught:
            perfdata.open("/no/such/file")
        self.assertIsInstance(caught.exception, OSError)
        with self.assertRaises(perfdata.FormatError) as caught:
            perfdata.open(b"x" * 1000)
        self.assertEqual(caught.exception.offset, 0)
        with open(demo("spin.data"), "rb") as file:
            content = file.read()
        with perfdata.open(content[:5000], home=None) as recording:
            list(recording)
            self.assertIn("truncated", [issue.kind for issue in recording.issues])
        with self.assertRaises(perfdata.StrictError):
            with perfdata.open(content[:5000], strict=True, home=None) as recording:
                list(recording)
        with opened() as recording:
            for wrong in (dict(detail="x"), dict(columns=["x"]), dict(time="x")):
                with self.assertRaises(perfdata.ArgumentError):
                    recording.profile(**wrong)
            with self.assertRaises(perfdata.ArgumentError):
                recording.export("no-such-form")
            with self.assertRaises(perfdata.Error):
                recording.records("sideways")

    def test_memory_does_not_grow(self):
        def count():
            gc.collect()
            return sum(isinstance(x, perfdata.Recording) for x in gc.get_objects())
        before = count()
        for _ in range(3):
            with opened() as recording:
                list(recording.iter_samples())
                recording.profile().rows()
        del recording
        self.assertEqual(count(), before)


class Profiles(unittest.TestCase):
    def test_rows_are_those_of_report(self):
        for name in ("spin.data", "shapes.data"):
            want = {}
            for line in run("report", "--stdio", "-i", demo(name), "--no-children", "-g", "none",
                            "-t", "|", "-F", "period,sample,sym", "--symfs", SYMBOLS["symfs"],
                            "--kallsyms", SYMBOLS["kallsyms"]).splitlines():
                if line and not line.startswith("#"):
                    period, samples, symbol = (word.strip() for word in line.split("|", 2))
                    symbol = symbol.split(" ", 1)[1]
                    symbol = "[unknown]" if symbol.startswith("0x") else symbol
                    held = want.get(symbol, (0, 0))
                    want[symbol] = (held[0] + int(period), held[1] + int(samples))
            with opened(name) as recording:
                got = {}
                for row in recording.profile().rows(outer_self=True):
                    held = got.get(row.name, (0, 0))
                    got[row.name] = (held[0] + row.self_period, held[1] + row.self_samples)
            self.assertEqual({name: sums for name, sums in got.items() if sums[1]}, want)

    def test_samples_are_those_of_the_recording(self):
        for name in ("spin.data", "shapes.data"):
            with opened(name) as recording:
                profile = recording.profile(detail="address", columns=["ip"])
                got, want = list(profile.iter_samples()), list(recording.iter_samples())
            self.assertEqual(len(got), len(want))
            for ours, theirs in zip(got, want):
                self.assertEqual((ours.time, ours.cpu, ours.period, ours.event, ours.thread.comm,
                                  ours.thread.pid, ours.thread.tid, ours.columns),
                                 (theirs.time, theirs.cpu, theirs.period, theirs.event.name,
                                  theirs.comm, theirs.pid, theirs.tid, (theirs.ip,)))
                self.assertEqual([(at.symbol, at.address, at.path) for at in ours.frames],
                                 [(at.symbol, at.address, at.object) for at in theirs.frames])
            self.assertTrue(any(len(ours.frames) > 2 for ours in got))
            for ours in got:  # equal stacks are one tuple
                self.assertIs(ours.frames, next(at.frames for at in got
                                                if at.frames == ours.frames))

    def test_samples_in_small_batches(self):
        """Frames, functions and stacks of later batches join those of earlier ones."""
        at_once = rows._AT_ONCE
        with opened("shapes.data") as recording:
            profile = recording.profile(detail="line")
            want = list(profile.iter_samples())
            self.assertGreater(len(want), 20)
            try:
                for rows._AT_ONCE in (1, 3, 7):
                    self.assertEqual(list(profile.iter_samples()), want)
            finally:
                rows._AT_ONCE = at_once
        self.assertTrue(gc.isenabled())
        gc.disable()
        try:
            self.assertEqual(list(profile.iter_samples()), want)
            self.assertFalse(gc.isenabled())
        finally:
            gc.enable()

    def test_deep_stacks(self):
        addresses = [0x400000 + 16 * at for at in range(120)]
        listed = " ".join(hex(at) for at in [(1 << 64) - 512, *addresses])
        text = f"""perfdata-text 1
container file order=little header_size=104
attr cycles={{size=128 sample_type=IP|TID|TIME|CALLCHAIN|PERIOD flags=comm}} ids=[7]
ids cycles
attrs
data
record SAMPLE misc=0x2 {{ip=0x400000 pid=100 tid=100 time=1 period=7 ips=[{listed}]}}
end
"""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "deep.data")
            subprocess.run([os.environ["PERFDATA"], "assemble", "-", "-o", path], check=True,
                           input=text.encode())
            with perfdata.open(path, home=None) as recording:
                sample, = recording.profile(detail="address").iter_samples()
        self.assertEqual([frame.address for frame in sample.frames], addresses)

    def test_samples_by_line_and_function(self):
        with opened("shapes.data") as recording:
            by_line = recording.profile(detail="line")
            lines = {(frame.file, frame.line) for sample in by_line.iter_samples()
                     for frame in sample.frames if frame.file}
            self.assertEqual(lines, {(row["file"], row["line"] or 0)
                                     for row in by_line.frames().to_list() if row["file"]}
                             if has("pyarrow") else lines)
            periods = {}
            for sample in recording.profile().iter_samples():
                stack = ";".join([sample.thread.comm, *(
                    frame.symbol or f"[{os.path.basename(frame.object or 'unknown')}]"
                    for frame in reversed(sample.frames))])
                periods[stack] = periods.get(stack, 0) + sample.period
                self.assertEqual({frame.address for frame in sample.frames}, {0})
            self.assertEqual(sorted(periods.values()),
                             sorted(recording.profile().folded().values()))
            with self.assertRaises(perfdata.NoDataError):
                recording.profile(samples=False).iter_samples()

    def test_what_samples_lack(self):
        text = """perfdata-text 1
container file order=little header_size=104
attr cycles={size=128 sample_type=IP|TID|PERIOD flags=comm} ids=[7]
ids cycles
attrs
data
record SAMPLE misc=0x2 {ip=0x400800 pid=100 tid=-1 period=7}
end
"""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "bare.data")
            subprocess.run([os.environ["PERFDATA"], "assemble", "-", "-o", path], check=True,
                           input=text.encode())
            with perfdata.open(path, home=None) as recording:
                sample, = recording.profile().iter_samples()
        frame, = sample.frames
        self.assertEqual((sample.time, sample.cpu, sample.thread.tid, sample.period),
                         (None, None, None, 7))
        self.assertEqual((frame.symbol, frame.object, frame.file, frame.line),
                         (None, None, None, 0))

    def test_folded_is_export(self):
        for name in ("spin.data", "shapes.data"):
            text = run("export", "folded", "-i", demo(name), "--symfs", SYMBOLS["symfs"],
                       "--kallsyms", SYMBOLS["kallsyms"])
            with opened(name) as recording:
                self.assertEqual(recording.export("folded").decode(), text)
                folded = recording.profile(samples=False).folded()
                tree = recording.profile(samples=False).tree()
            self.assertEqual(sum(folded.values()),
                             sum(int(line.rpartition(" ")[2]) for line in text.splitlines()))
            self.assertEqual(sum(node.self_period for node in tree), sum(folded.values()))

    def test_ranges_and_comparison(self):
        with opened() as recording:
            profile = recording.profile()
            first, last = profile.times
            middle = (first + last) // 2
            halves = [sum(row.self_samples for row in profile.rows(time=span))
                      for span in ((first, middle), (middle + 1, last))]
            self.assertEqual(sum(halves), profile.sample_count)
            self.assertTrue(all(halves))
            early = recording.profile(time=f"{first / 1e9:.9f},{middle / 1e9:.9f}")
            changes = profile.compare(early)
            self.assertEqual({change.after.name for change in changes if change.after},
                             {row.name for row in profile.rows()})

    def test_exports(self):
        with opened() as recording, tempfile.TemporaryDirectory() as folder:
            profile = recording.profile()
            for form in perfdata.formats():
                if form.name in ("sqlite", "postgresql"):
                    continue
                if form.folder:
                    with self.assertRaises(perfdata.ArgumentError):
                        recording.export(form.name)
                    recording.export(form.name, f"{folder}/{form.name}")
                    self.assertTrue(os.listdir(f"{folder}/{form.name}"), form.name)
                    continue
                try:
                    content = recording.export(form.name)
                except (perfdata.NoDataError, perfdata.UnsupportedError):
                    continue
                self.assertTrue(content, form.name)
            recording.flame(folder + "/page.html", title="here")
            recording.flame(folder + "/graph.svg", svg=True)
            with open(folder + "/graph.svg", encoding="utf-8") as file:
                self.assertIn("gamma_leaf", file.read())
            self.assertIn("metadata", os.listdir(folder + "/ctf"))
            profile.export("folded", folder + "/folded")
            profile.export("parquet", folder + "/tables")
            self.assertIn("samples.parquet", os.listdir(folder + "/tables"))
            self.assertEqual([name for name in os.listdir(folder) if name.startswith(".")], [])

    def test_examples(self):
        code = os.path.join(SOURCE, "examples/flame_data.py")
        with open(code, encoding="utf-8") as file:
            lines = [line for line in file if line.strip()
                     and not line.startswith(("#", '"""', "import"))]
        self.assertLessEqual(len(lines), 20)
        out = subprocess.run([sys.executable, code, demo("spin.data"), SYMBOLS["symfs"],
                              SYMBOLS["kallsyms"]], check=True,
                             capture_output=True, text=True).stdout
        tree = json.loads(out)
        self.assertEqual(tree["value"], 90270810)
        self.assertEqual(tree["children"][0]["name"], "_start")


@unittest.skipUnless(has("pyarrow"), "no pyarrow")
class Arrow(unittest.TestCase):
    def test_every_table_is_valid(self):
        import pyarrow
        for name in ("spin.data", "shapes.data"):
            with opened(name) as recording:
                profile = recording.profile(columns=perfdata.COLUMNS, switches=True,
                                            detail="address", lines=True)
            for table in ("samples", "stacks", "functions", "frames", "objects", "threads",
                          "events", "mappings", "switches", "sums"):
                read = pyarrow.table(getattr(profile, table)())
                read.validate(full=True)
                if table == "samples":
                    self.assertEqual(read.num_rows, profile.sample_count)
            for by in ("function", "frame", "object"):
                rows = pyarrow.table(profile.rows_table(by)).to_pylist()
                self.assertEqual([(row["name"], row["self_period"], row["total_samples"])
                                  for row in rows],
                                 [(row.name, row.self_period, row.total_samples)
                                  for row in profile.rows(by)])

    def test_portable_tables_are_those_of_parquet(self):
        import pyarrow
        import pyarrow.parquet
        with opened("shapes.data") as recording, tempfile.TemporaryDirectory() as folder:
            recording.export("parquet", folder + "/tables")
            profile = recording.profile(columns=["ip"])
            for name in ("samples", "stacks", "functions", "events", "mappings"):
                want = pyarrow.parquet.read_table(f"{folder}/tables/{name}.parquet")
                got = pyarrow.table(getattr(profile, name)(portable=True))
                self.assertEqual(got.column_names, want.column_names)
                if name == "stacks":  # the file has those of samples only
                    known = dict(zip(got["stack_hash"].to_pylist(), got["frames"].to_pylist()))
                    for row in want.to_pylist():
                        self.assertEqual(known[row["stack_hash"]], row["frames"])
                else:
                    self.assertEqual(got.to_pylist(), want.to_pylist())

    def test_columns_outlive_the_profile(self):
        import pyarrow
        with opened() as recording:
            profile = recording.profile()
            want = [sample.time for sample in recording.iter_samples()]
        column = pyarrow.table(profile.samples())["time"]
        chunk = pyarrow.table(profile.samples(portable=True))["comm"]
        del profile
        gc.collect()
        self.assertEqual(column.to_pylist(), want)
        self.assertEqual(set(chunk.to_pylist()), {"spin"})

    def test_capsules_that_nobody_reads(self):
        with opened() as recording:
            profile = recording.profile()
        for _ in range(100):
            profile.samples().__arrow_c_stream__()
        with opened() as recording, self.assertRaises(perfdata.NoDataError):
            recording.profile(samples=False).samples().__arrow_c_stream__()

    @unittest.skipUnless(has("duckdb"), "no duckdb")
    def test_duckdb(self):
        import duckdb
        with opened() as recording:
            profile = recording.profile()
        samples, stacks, functions = profile.samples(), profile.stacks(), profile.functions()
        rows = duckdb.sql("""select f.name, sum(s.period)::bigint from samples s
            join stacks t using (stack) join functions f
            on f.function = t.functions[len(t.functions)] group by 1""").fetchall()
        self.assertEqual(dict(rows),
                         {row.name: row.self_period for row in profile.rows() if row.self_period})

    @unittest.skipUnless(has("polars"), "no polars")
    def test_polars(self):
        import polars
        with opened() as recording:
            frame = polars.DataFrame(recording.samples())
        self.assertEqual(frame["period"].sum(), 90270810)

    @unittest.skipUnless(has("pandas"), "no pandas")
    def test_pandas(self):
        with opened() as recording:
            frame = recording.profile(columns=["ip"]).samples(portable=True).to_pandas()
        self.assertEqual(int(frame["period"].sum()), 90270810)
        self.assertEqual(set(frame["comm"]), {"spin"})


if __name__ == "__main__":
    program = unittest.main(exit=False)
    missing = [name for name in ("pyarrow", "duckdb", "polars", "pandas") if not has(name)]
    if missing:
        print("not tested for lack of:", ", ".join(missing))
    sys.exit(not program.result.wasSuccessful())
