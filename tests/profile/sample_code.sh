#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 27: perfdata_sample_insn() and perfdata_record_source(), and Python's Sample.insn and
# .source(), are what script's fields insn, srcline and srccode show. READER: the program of
# sample_code.c.
set -u
export LC_ALL=C.UTF-8 PERF_CONFIG=/dev/null TZ=UTC
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
reader=$1
for tool in python3 objdump; do
    command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
[ "$(uname -m)" = x86_64 ] || { echo 'skipped: not x86-64'; exit 77; }
printf '%s\n' 'int work(int n)' '{' '    int s = 0; // \t\303\251' \
    '    for (int i = 0; i < n; i++)' '        s += i * n;' '    return s;' '}' \
    'int main(int argc, char **argv) { (void)argv; return work(argc) & 1; }' >"$work/code.c"
(cd "$work" && $CC -g -O1 -fno-inline code.c -o code) || { echo "skipped: no $CC"; exit 77; }
cat >"$work/make.py" <<'END'
import re, subprocess, sys
program = sys.argv[1]
run = lambda *c: subprocess.run(c, capture_output=True, text=True, check=True).stdout
code = run("objdump", "-d", "--no-show-raw-insn", program)
addresses = [int(a, 16) for name in ("work", "main")
             for a in re.findall(r"^ *([0-9a-f]+):", code.split("<%s>:" % name)[1].split("\n\n")[0], re.M)]
offset, start, size = [int(w, 16) for w in re.search(
    r"LOAD +(\S+) +(\S+) +\S+ +(\S+) +\S+ R E", run("readelf", "-lW", program)).groups()]
base = 0x555555554000
print("perfdata-text 1\ncontainer file order=little header_size=104")
print("attr cycles={type=hardware size=128 sample_period=1000 sample_type=IP|TID|TIME|PERIOD"
      " flags=sample_id_all}\nids cycles\nattrs\ndata")
print('record COMM {pid=7 tid=7 comm="code"}')
print('record MMAP misc=0x2 {pid=7 tid=7 addr=%#x len=%#x pgoff=%#x filename="%s"}' % (
    base + (start & ~4095), (size + 4095 + start % 4096) & ~4095, offset & ~4095, program))
for i, ip in enumerate([a + base for a in addresses] + [0x1000, base + 0x100]):
    print("record SAMPLE misc=0x2 {ip=%#x pid=7 tid=7 time=%d.0s period=1000}" % (ip, i + 1))
print("end\nfeatures ARCH\nfeature ARCH {text=\"x86_64\"}\nend")
END
python3 "$work/make.py" "$work/code" >"$work/code.pdt" &&
    "$PERFDATA" assemble "$work/code.pdt" -o "$work/code.data" || exit 1
"$reader" "$work/code.data" >"$work/ours" || { echo 'the library fails'; exit 1; }
"$PERFDATA" script -i "$work/code.data" -F ip,insn >"$work/insn" || exit 1
"$PERFDATA" script -i "$work/code.data" -F ip,sym,srcline >"$work/srcline" || exit 1
"$PERFDATA" script -i "$work/code.data" -F ip,srccode >"$work/srccode" || exit 1
cat >"$work/check.py" <<'END'
import os, re, sys
work = sys.argv[1]
ours = [line.rstrip("\n").split("\t", 3) for line in open(work + "/ours", encoding="utf-8")]
wrong = 0
def expect(what, mine, theirs):
    global wrong
    if mine != theirs:
        print("%s: %s, script says %s" % (what, mine, theirs))
        wrong += 1
insns = [re.match(r" *([0-9a-f]+)(?:.*insn: (.*?))?\s*$", l).groups() for l in open(work + "/insn")]
expect("insn", [(o[0], o[1] or None) for o in ours], insns)
lines = [m[1] for m in re.finditer(r"^  (code\.c:\d+)$", open(work + "/srcline").read(), re.M)]
expect("srcline", [os.path.basename(o[2]) for o in ours if len(o) > 2], lines)
source = open(work + "/code.c", encoding="utf-8").read().split("\n")
for o in ours:
    if len(o) > 2:
        expect("code of " + o[2], o[3], source[int(o[2].split(":")[1]) - 1])
shown = re.findall(r"^\|(\d+) +?(.*)$", open(work + "/srccode", encoding="utf-8").read(), re.M)
mine, last = [], None
for o in ours:
    if len(o) > 2 and o[2] != last:
        last = o[2]
        mine.append((o[2].split(":")[1], o[3].strip()))
expect("srccode", mine, [(number, code.strip()) for number, code in shown])
if len(lines) < 10 or sum(1 for o in ours if o[1]) < 10 or len(ours) - len(lines) < 2:
    sys.exit("too little: %s" % ours)
if len(sys.argv) > 2:
    import perfdata
    for o, s in zip(ours, perfdata.open(work + "/code.data").iter_samples()):
        at = s.source()
        expect("insn in Python", s.insn and s.insn.hex(" "), o[1] or None)
        expect("source in Python", at and ["%s:%d" % (at.file, at.line), at.code], o[2:] or None)
print("%d samples, %d with a line" % (len(ours), len(lines)))
sys.exit(wrong != 0)
END
if [ -z "$SANITIZE" ]; then
    PYTHONPATH=$SOURCE/python PERFDATA_LIBRARY=$LIBPERFDATA PYTHONDONTWRITEBYTECODE=1 \
        python3 "$work/check.py" "$work" python
else
    python3 "$work/check.py" "$work"
fi
