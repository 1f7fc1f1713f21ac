#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 27: names with quotes, separators, newlines, bad UTF-8, tags and 10 KB leave every form
# valid for its reader, and nothing of them is lost: what a function with a plain name took, one
# with such a name takes as well.
set -u
export LC_ALL=C PERF_CONFIG=/dev/null TZ=UTC
command -v python3 >/dev/null || { echo 'skipped: no python3'; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# go builds pprof once, not in each new home.
command -v go >/dev/null && GOCACHE=$(go env GOCACHE) && export GOCACHE
export PPROF_TMPDIR="$work" HOME="$work"
demo=$SOURCE/tests/data/demo
failed=0
cat >"$work/make.py" <<'END'
import re, sys
demo, work = sys.argv[1:]
nasty = b'a;b"c\'d<script>alert(1)</script>&\xff\xfe\\x41,%s'
names = {b"finish_task_switch.isra.0": nasty, b"handle_softirqs": b"x" * 10240,
         b"ktime_get_ts64": b"\xed\xa0\x80\xc3("}
table = open(demo + "/symfs/kallsyms", "rb").read()
for old, new in names.items():
    assert table.count(b" " + old + b"\n") == 1
    table = table.replace(b" " + old + b"\n", b" " + new + b"\n")
open(work + "/kallsyms", "wb").write(table)
text = open(work + "/plain.pdt", "rb").read()
text, count = re.subn(rb'comm="spin" sample_id',
                      rb'comm="s;\\"\\n\\377<b>\\000tail" sample_id', text)
assert count == 1
open(work + "/nasty.pdt", "wb").write(text)
END
"$PERFDATA" dump --pdt -i "$demo/spin.data" >"$work/plain.pdt" &&
    python3 "$work/make.py" "$demo" "$work" &&
    "$PERFDATA" assemble "$work/nasty.pdt" -o "$work/nasty.data" ||
    { echo 'the recording could not be made'; exit 1; }
formats=$("$PERFDATA" export 2>&1 | sed -n 's/.*one of \(.*\)sqlite, postgresql.*/\1/p' | tr -d , |
    sed "s/bolt fdata autofdo llvm //") # these need branches: branches.sh, llvm.sh
for format in $formats; do
    rm -rf "$work/$format"
    "$PERFDATA" export "$format" -i "$work/nasty.data" --symfs "$demo/symfs" \
        --kallsyms "$work/kallsyms" -o "$work/$format" || {
        echo "$format fails"; failed=1; }
done
cat >"$work/check.py" <<'END'
import json, os, sys
work, ok = sys.argv[1], True
def total(name, weights, want=90270810):
    global ok
    if sum(weights) != want:
        print(name, "lost something:", sum(weights))
        ok = False
lines = open(work + "/folded", encoding="utf-8").read().splitlines()  # fails where it is no UTF-8
total("folded", [int(line.rsplit(" ", 1)[1]) for line in lines])
leaves = {line.rsplit(" ", 1)[0].split(";")[-1] for line in lines}
ok &= "x" * 10240 in leaves and any(l.startswith("a:b\"c'd<script>") and "\\xff\\xfe" in l for l in leaves)
ok &= all(line.startswith('s:"\\x0a\\xff<b>;') for line in lines)
if not ok:
    print("folded:", [l[:80] for l in lines])
data = json.load(open(work + "/speedscope"))
total("speedscope", sum((p["weights"] for p in data["profiles"]), []))
data = json.load(open(work + "/chrome"))
total("chrome", [s["weight"] for s in data["samples"]])
data = json.load(open(work + "/firefox"))
total("firefox", sum((t["samples"]["weight"] for t in data["threads"]), []))
data = json.load(open(work + "/json", encoding="utf-8"))
ok &= {s["comm"] for s in data["samples"]} == {'s;"\n\uffffffff<b>'} and any(
    "x" * 10240 == f.get("symbol") for s in data["samples"] for f in s["callchain"])
import csv, io
with open(work + "/csv/samples.csv", encoding="utf-8", newline="") as samples:
    rows = list(csv.DictReader(io.StringIO(samples.read(), newline=""), strict=True))
total("csv", [int(row["period"]) for row in rows])
ok &= {row["comm"] for row in rows} == {'s;"\\x0a\\xff<b>'} and "x" * 10240 in {row["function"] for row in rows}
for name in ("folded", "callgrind"):
    text = open(work + "/" + name, "rb").read()
    text.decode("utf-8")
    ok &= not any(c < 32 and c != 10 for c in text)
sys.exit(not ok)
END
python3 "$work/check.py" "$work" || failed=1
# Protobuf has texts of UTF-8 alone, which these classes insist on.
python=$SOURCE/build-oracles/python/bin/python
[ -x "$python" ] || python=${PERFDATA_ORACLES:-/nowhere}/python/bin/python
[ -x "$python" ] || python=python3
cat >"$work/protobuf.py" <<'END'
import sys
work, form = sys.argv[1:]
data = open(work + "/" + form, "rb").read()
if form == "otlp":
    from opentelemetry.proto.profiles.v1development import profiles_pb2
    read = profiles_pb2.ProfilesData.FromString(data)
    names = set(read.dictionary.string_table)
    comms = {a.value.string_value for a in read.dictionary.attribute_table
             if a.value.HasField("string_value")}
    total = sum(v for r in read.resource_profiles for s in r.scope_profiles for p in s.profiles
                for x in p.samples for v in x.values)
else:
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    read = perfetto_trace_pb2.Trace.FromString(data)
    names = {f.str.decode("utf-8") for p in read.packet for f in p.interned_data.function_names}
    comms = {t.name for p in read.packet for t in p.process_tree.threads}
    total = sum(p.stack_sample.primary_weight for p in read.packet)
ok = total == 90270810 and "x" * 10240 in names and any(n.startswith("a;b\"c'd<script>") and "\\xff\\xfe" in n for n in names)
if not ok or 's;"\\x0a\\xff<b>' not in comms:
    sys.exit("%s: %d, %s, %s" % (form, total, sorted(n[:40] for n in names)[:9], comms))
END
for pair in otlp:opentelemetry.proto.profiles.v1development.profiles_pb2 \
    perfetto:perfetto.protos.perfetto.trace.perfetto_trace_pb2; do
    if "$python" -c "import ${pair#*:}" 2>/dev/null; then
        "$python" "$work/protobuf.py" "$work" "${pair%%:*}" || failed=1
    else
        echo "${pair%%:*} is not read: its classes are not installed (./dev setup --oracles)"
    fi
done
if command -v go >/dev/null; then
    go tool pprof -top -nodecount=100000 -unit=ns "$work/pprof" >"$work/text" 2>&1 ||
        { cat "$work/text"; failed=1; }
    grep -q '^Showing.* 90270810ns, 100%' "$work/text" && grep -q '<script>' "$work/text" ||
        { cut -c1-200 "$work/text"; failed=1; }
fi
if command -v callgrind_annotate >/dev/null; then
    callgrind_annotate --threshold=100 "$work/callgrind" >"$work/text" 2>&1 ||
        { cut -c1-200 "$work/text"; failed=1; }
    grep -q '90,270,810 .*PROGRAM TOTALS' "$work/text" && grep -q '<script>' "$work/text" ||
        { cut -c1-200 "$work/text"; failed=1; }
fi
[ -n "$formats" ] || failed=1
exit $failed
