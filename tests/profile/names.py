# SPDX-License-Identifier: MIT
"""names.py FOLDER FORM...: each form of the recording of names_made.py, FOLDER/FORM, as its readers
read it: valid, and of each function it has the whole name and all that it took. FOLDER/plain-FORM
is the same form of the recording with plain names. Exits with 1 where a form has no reader here."""
import collections
import csv
import gzip
import importlib
import io
import json
import re
import sqlite3
import shutil
import subprocess
import sys
import xml.dom.minidom

from names_made import COMM, EVENT, FILE, INLINED, NAMES, OBJECT, plain
import readers
from protobuf import fields, packed

FOLDER = sys.argv[1]
SKIPPED = []


def escaped(name):
    """As texts say it: \\xNN of what is no UTF-8 and of control characters, and of a \\ before an
    x, so that no two names become one."""
    told = re.sub(r"\\(?=x)", "\0", surrogates(name))  # no name has a NUL
    return "".join("\\x5c" if c == "\0" else "\\x%02x" % (ord(c) & 0xff)
                   if c < " " or c == "\x7f" or "\udc80" <= c <= "\udcff" else c for c in told)


def surrogates(name):
    return name.decode("utf-8", "surrogateescape")


def took(told):
    """What each function took, by what `told` makes of its name."""
    return {told(name): 1000 * (number + 1) for number, name in enumerate(NAMES)}


def same(got, want, what="weights"):
    assert got == want, "%s: %s" % (what, {
        str(k)[:60]: (got.get(k), want.get(k)) for k in {*got, *want} if got.get(k) != want.get(k)})


def read(form):
    with open("%s/%s" % (FOLDER, form), "rb") as file:
        return file.read()


def lines_of(form):
    """Lines of UTF-8 without control characters."""
    text = read(form).decode("utf-8")
    assert text.endswith("\n")
    assert not re.search("[\0-\x09\x0b-\x1f\x7f]", text), "a control character"
    return text.split("\n")[:-1]


def load(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        SKIPPED.append(name)
        return None


def has(tool):
    if not shutil.which(tool):
        SKIPPED.append(tool)
        return False
    return True


def run(*command):
    done = subprocess.run(command, capture_output=True)
    assert not done.returncode, done.stderr.decode(errors="replace")[:500]
    return done.stdout.decode("utf-8")


# ---- profiles ----


def folded():
    own, _ = readers.folded(FOLDER + "/folded")
    same(own, took(lambda name: escaped(name).replace(";", ":")))
    comm = escaped(COMM).replace(";", ":").replace(" ", "_")
    assert all(line.startswith(comm + ";main;") for line in lines_of("folded"))


def texts_of(data):
    if isinstance(data, str):
        return {data}
    parts = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return set().union(*map(texts_of, parts))


def of_json(form, told):
    own, _ = getattr(readers, form)(FOLDER + "/" + form)
    same(own, took(told))
    assert any(told(COMM) in text for text in texts_of(json.loads(read(form))))


def speedscope():
    of_json("speedscope", surrogates)
    assert any(text.endswith("/" + surrogates(FILE))
               for text in texts_of(json.loads(read("speedscope"))))


def chrome():
    of_json("chrome", surrogates)


def firefox():
    of_json("firefox", surrogates)


def json_():
    """perf's text: a byte that a char has for negative is \\uffffffNN."""
    def told(name):
        return "".join(chr(c) if c < 128 else "\uffffff%02x" % c for c in name)
    data = json.loads(read("json"))
    own = collections.Counter()
    for sample in data["samples"]:
        assert sample["comm"] == told(COMM)
        own[sample["callchain"][0]["symbol"]] += 1000
        assert sample["callchain"][0]["dso"] == told(OBJECT)
    same(own, took(told))


def callgrind():
    names, own, function = {}, collections.Counter(), None
    lines = iter(lines_of("callgrind"))
    for line in lines:
        found = re.match(r"(c?fn|c?ob|c?f[lie])=(?:\((\d+)\))?(?: (.*))?", line)
        if found and found[1] in ("fn", "cfn"):
            if found[3]:
                names[found[2]] = found[3]
            function = names[found[2]] if found[1] == "fn" else function
        elif line.startswith("calls="):
            next(lines)
        elif re.match(r"\d+ \d+$", line):
            own[function] += int(line.split()[1])
    same(own, took(escaped))
    assert any(re.match("c?f[ile]=.*/%s$" % re.escape(escaped(FILE)), line)
               for line in lines_of("callgrind"))
    if has("callgrind_annotate"):
        text = run("callgrind_annotate", "--threshold=100", FOLDER + "/callgrind")
        assert re.search("190,000 .*PROGRAM TOTALS", text) and "<script>" in text


def numbers(value):
    """A repeated number, packed or not."""
    if isinstance(value, int):
        return [value]
    return list(packed(value))


def pprof():
    message = collections.defaultdict(list)
    for number, value in fields(gzip.decompress(read("pprof"))):
        message[number].append(value)
    texts = [text.decode("utf-8") for text in message[6]]
    names = {dict(fields(f))[1]: texts[dict(fields(f))[2]] for f in message[5]}
    places = {}
    for location in message[4]:
        line = [v for number, v in fields(location) if number == 4][0]
        places[dict(fields(location))[1]] = names[dict(fields(line))[1]]
    own = collections.Counter()
    for sample in message[2]:
        parts = collections.defaultdict(list)
        for number, value in fields(sample):
            if number < 3:
                parts[number] += numbers(value)
        own[places[parts[1][0]]] += parts[2][-1]
    same(own, took(escaped))
    assert {escaped(COMM), "/" + escaped(OBJECT)} <= {*texts}, texts
    assert any(text.endswith("/" + escaped(FILE)) for text in texts)
    if has("go"):
        text = run("go", "tool", "pprof", "-top", "-nodecount=1000", FOLDER + "/pprof")
        assert "190000" in text.replace("190k", "190000") or "100%" in text
        assert "<script>" in text


def otlp():
    classes = load("opentelemetry.proto.profiles.v1development.profiles_pb2")
    if not classes:
        return
    data = classes.ProfilesData.FromString(read("otlp"))
    d = data.dictionary
    own = collections.Counter()
    for sample in data.resource_profiles[0].scope_profiles[0].profiles[0].samples:
        location = d.location_table[d.stack_table[sample.stack_index].location_indices[0]]
        name = d.string_table[d.function_table[location.lines[-1].function_index].name_strindex]
        own[name] += sum(sample.values)
    same(own, took(escaped))
    assert escaped(COMM) in {a.value.string_value for a in d.attribute_table}
    assert "/" + escaped(OBJECT) in d.string_table
    assert any(text.endswith("/" + escaped(FILE)) for text in d.string_table)


def perfetto():
    classes = load("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    if not classes:
        return
    own, names, frames, stacks, files = collections.Counter(), {}, {}, {}, set()
    for packet in classes.Trace.FromString(read("perfetto")).packet:
        interned = packet.interned_data
        names.update((f.iid, f.str.decode("utf-8")) for f in interned.function_names)
        frames.update((f.iid, names[f.function_name_id]) for f in interned.frames)
        stacks.update((s.iid, frames[s.frame_ids[-1]]) for s in interned.callstacks)
        if packet.HasField("stack_sample"):
            own[stacks[packet.stack_sample.callstack_iid]] += packet.stack_sample.primary_weight
        for thread in packet.process_tree.threads:
            assert thread.name == escaped(COMM)
        files |= {f.str.decode("utf-8").split("/")[-1] for f in interned.source_paths}
    same(own, took(escaped))
    assert files == {escaped(FILE)}, files


# ---- what is no form of export, but is read by programs ----


def report_json():
    share = {}
    for line in read("report-json").decode("utf-8").split("\n")[:-1]:
        row = json.loads(line)
        share[row["symbol"]] = round(row["overhead"] * 1900)
        assert (row["comm"], row["event"], row["dso"]) == (
            surrogates(COMM), surrogates(EVENT), surrogates(OBJECT)), row
    same(share, took(lambda name: surrogates(name).rstrip(" ")))


def script_json():
    own = collections.Counter()
    for line in read("script-json").decode("utf-8").split("\n")[:-1]:
        sample = json.loads(line)
        own[sample["sym"]] += int(sample["period"])
        assert (sample["comm"], sample["event"], sample["dso"]) == (
            surrogates(COMM), surrogates(EVENT), "/" + surrogates(OBJECT)), sample
    same(own, took(surrogates))


def svg():
    """For people: there a backslash before an x is one as well."""
    def shown(name):
        return escaped(name).replace("\\x5cx", "\\x")
    titles = xml.dom.minidom.parse(FOLDER + "/svg").getElementsByTagName("title")
    found = [re.fullmatch("(?s)(.*): [0-9.]+ %, [0-9]+, self ([0-9]+)", title.firstChild.data)
             for title in titles]
    same({each[1]: int(each[2]) for each in found if int(each[2])},
         took(lambda name: "%s (/%s)" % (shown(name), shown(OBJECT))))


# ---- tables ----


def csv_():
    def table(name):
        text = read("csv/%s.csv" % name).decode("utf-8")
        return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    own = collections.Counter()
    for row in table("samples"):
        own[row["function"]] += int(row["period"])
        assert row["comm"] == escaped(COMM) and row["event"] == escaped(EVENT)
        assert row["object"] == "/" + escaped(OBJECT)
    same(own, took(escaped))
    assert {row["file"].split("/")[-1] for row in table("stacks")} == {escaped(FILE)}
    assert {row["name"] for row in table("functions")} == {"main", *map(escaped, NAMES)}


def parquet():
    reader = load("pyarrow.parquet")
    if not reader:
        return
    tables = {name: reader.read_table("%s/parquet/%s.parquet" % (FOLDER, name)).to_pydict()
              for name in ("samples", "stacks", "functions", "mappings")}
    stacks = dict(zip(tables["stacks"]["stack_hash"], tables["stacks"]["frames"]))
    names = dict(zip(tables["functions"]["function_hash"], tables["functions"]["name"]))
    own = collections.Counter()
    for stack, period in zip(tables["samples"]["stack_hash"], tables["samples"]["period"]):
        own[names[stacks[stack][-1]]] += period
    same(own, took(escaped))
    assert set(tables["samples"]["comm"]) == {escaped(COMM)}


def of_database(query):
    own = collections.Counter()
    for name, period, comm, event, path in query(
            "select symbols.name, period, comm, selected_events.name, long_name from samples"
            " join symbols on symbols.id = symbol_id join comms on comms.id = comm_id"
            " join selected_events on selected_events.id = evsel_id"
            " join dsos on dsos.id = samples.dso_id where samples.id > 0"):
        own[name] += int(period)
        assert (comm, event, path) == (escaped(COMM), escaped(EVENT), "/" + escaped(OBJECT)), (
            comm, event, path)
    same(own, took(escaped))


def sqlite():
    of_database(sqlite3.connect(FOLDER + "/sqlite").execute)


def postgresql():
    """What psql would send, and what a server made of it, FOLDER/rows, where there is one."""
    table, names = None, []
    for line in lines_of_copy():
        if line.startswith("COPY "):
            table = line.split()[1]
        elif line == "\\.":
            table = None
        elif table == "symbols":
            names.append(line.split("\t")[-1].replace("\\\\", "\\"))
    assert {*names} >= {*map(escaped, NAMES)}, {*map(escaped, NAMES)} - {*names}
    try:
        rows = read("rows").decode("utf-8")
    except FileNotFoundError:
        SKIPPED.append("postgres")
        return
    of_database(lambda _: list(csv.reader(io.StringIO(rows, newline=""), strict=True)))


def lines_of_copy():
    text = read("postgresql").decode("utf-8")
    assert not re.search("[\0-\x08\x0b-\x1f\x7f]", text), "a control character"
    return text.split("\n")


def ctf():
    if has("babeltrace2"):
        lines = run("babeltrace2", "--names=none", FOLDER + "/ctf").splitlines()
        assert len(lines) == 190 and all(escaped(EVENT) + ":" in line for line in lines)


# ---- branches ----


def bolt():
    """It has addresses alone, as has autofdo."""
    assert read("bolt") == read("plain-bolt") and len(lines_of("bolt")) > 2 * len(NAMES)


def autofdo():
    assert read("autofdo") == read("plain-autofdo") and len(lines_of("autofdo")) > 2 * len(NAMES)


def fdata():
    """Words that blanks part, unless a \\ is before."""
    def parse(form):
        for line in lines_of(form):
            words = [re.sub(r"\\(.)", r"\1", word) for word in re.findall(r"(?:\\.|[^ \\])+", line)]
            assert len(words) == 8, line
            yield words
    known = dict(zip(map(str, (plain(*both).decode() for both in enumerate(NAMES))),
                     map(escaped, NAMES)))
    want = [[known.get(word, word) for word in words] for words in parse("plain-fdata")]
    assert sorted(parse("fdata")) == sorted(want)
    assert {*known.values()} <= {words[1] for words in want}


def of_llvm(form):
    """As LLVM's reader has it: functions by name, with totals, and the targets of calls."""
    totals, targets = {}, {}
    for line in lines_of(form):
        if not line.startswith(" "):
            assert line[0] not in "#[0123456789", line
            name, total, head = line.rsplit(":", 2)
            totals[name] = int(total), int(head)
            continue
        count = re.fullmatch(r" +[\d.]+: (\d+)(?: (.*))?", line)
        if not count:
            inlined = re.fullmatch(r" +[\d.]+: (\D.*):(\d+)", line)
            totals[inlined[1]] = int(inlined[2])
        rest = count[2] if count else None
        while rest:
            # The first : that a number and a blank, or the end, are behind.
            target = re.match(r"(.+?):(\d+)(?: +|$)", rest)
            assert target and rest[0] != ":", line
            targets[target[1]] = int(target[2])
            rest = rest[target.end():]
    return totals, targets


def llvm():
    def unescaped(name):
        return re.sub(rb"\\x([0-9a-f]{2})", lambda found: bytes([int(found[1], 16)]), name.encode())
    odd, ordinary = of_llvm("llvm"), of_llvm("plain-llvm")
    known = {plain(*both): both[1] for both in [*enumerate(NAMES), (99, INLINED)]}
    for got, want in zip(odd, ordinary):
        want = {known.get(name.encode(), name.encode()): count for name, count in want.items()}
        same({unescaped(name): count for name, count in got.items()}, want)
    assert {*NAMES, INLINED} <= {*map(unescaped, odd[0])}
    assert {*NAMES} == {*map(unescaped, odd[1])}
    if has("llvm-profdata"):
        text = run("llvm-profdata", "merge", "--sample", "--text", FOLDER + "/llvm")
        assert text == read("llvm").decode("utf-8"), "llvm-profdata reads other names"


def main():
    failed = 0
    for form in sys.argv[2:]:
        check = globals().get({"json": "json_", "csv": "csv_"}.get(form, form.replace("-", "_")))
        try:
            assert check, "has no reader in names.py"
            check()
        except (AssertionError, ValueError, KeyError, sqlite3.Error) as error:
            print("%s: %s: %s" % (form, type(error).__name__, str(error)[:600]))
            failed = 1
    if SKIPPED:
        print("not read for lack of: " + " ".join(sorted({*SKIPPED})))
    return failed


sys.exit(main())
