# SPDX-License-Identifier: MIT
"""A program whose functions, sources and own file have names that attack, and a recording of it.

names_made.py source FOLDER: program.c, whose names are as long but plain.
names_made.py recording FOLDER: of FOLDER/program the same with these names below FOLDER/odd, with
plain names below FOLDER/plain; and FOLDER/odd.pdt, plain.pdt. Function N has N + 1 samples of
1000, each with a call of it and its return as branches."""
import os
import re
import subprocess
import sys

NAMES = [
    b"a;b\"c'd<script>alert(1)</script>&\xff\xfe,%s%n",
    b"x" * 10240,
    b"line\nbreak\ttab\rreturn\x7f\x01bell\x1b[31mred",
    b"target:1 two:22 :3 four:5",
    b":77 colon first:",
    b"[main:3 @ inner]",
    b"[open bracket",
    b"#hash number 5",
    b"!CFGChecksum: 5",
    b"12345 digits: 6",
    b"  spaces at both ends  ",
    b"back\\slash, \\\\two, \\x41 hex and \\n line",
    b"\xed\xa0\x80\xc3( no UTF-8 \xf4\x90\x80\x80",
    b"\xe2\x80\xae\xef\xbb\xbfright to left\xe2\x80\xa8",
    b"${jndi:x} $(id) `id` {{7*7}} %00",
    b"fn=(1) cfn=(2) calls=3 4 +5 *",
    b"\", \"name\": [{\"",
    b"'); DROP TABLE symbols; --",
    b"=1+1|@SUM(A1),\"quoted\"",
]
INLINED = b"in;lined\"<b>\n\\x41\xff:9 put there"
FILE = b"so;u\"r'ce\n<b>\xff\\x41.c"
OBJECT = b"pro;g\"r'am\n<b>\xff\\x41 x"
COMM = b"s;\"\n\xff<b>\\ than sixteen"
HOST = b"ho\"s't\n\\<b>"
EVENT = b"cy;c\"l'es\n<b>\\x41,\xff/u"


def plain(number, name):
    """A name of this length that nothing else in the program has."""
    return (b"zq%02d_" % number).ljust(len(name), b"_")


def text(name):
    """A text of the text recording."""
    return "".join("\\%03o" % c if c < 32 or c > 126 or c in b"\"\\" else chr(c) for c in name)


def source(folder):
    inlined = plain(99, INLINED).decode()
    lines = ["static inline __attribute__((always_inline)) int %s(int n)" % inlined,
             "{ volatile int k = n; return k * 3; }"]
    for number, name in enumerate(NAMES):
        lines += ["int __attribute__((noinline)) %s(int n)" % plain(number, name).decode(),
                  "{ volatile int k = n; return %s(k) + 1; }" % (inlined if not number else "")]
    lines.append("int main(void) { int n = 0;")
    lines += ["n += %s(n);" % plain(number, name).decode() for number, name in enumerate(NAMES)]
    lines.append("return n & 1; }")
    with open(folder + "/program.c", "w", encoding="ascii") as file:
        file.write('#line 1 "%s"\n%s\n' % (plain(98, FILE).decode(), "\n".join(lines)))


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def places(program):
    """Of each function: where it is called from, begins, returns, and is returned to."""
    code = run("objdump", "-dw", "--no-show-raw-insn", program)
    bodies = {m[1]: re.findall(r"^ *([0-9a-f]+):\t(.*)", m[0], re.M)
              for m in re.finditer(r"^[0-9a-f]+ <([^>]*)>:\n(?: .*\n)*", code, re.M)}
    found = []
    for number, name in enumerate(NAMES):
        body, main = bodies[plain(number, name).decode()], bodies["main"]
        begin = body[0][0]
        end = [at for at, what in body if what.startswith("ret")][0]
        call = [i for i, (_, what) in enumerate(main) if re.match("call +%s " % begin, what)][0]
        found.append([int(at, 16) for at in (main[call][0], begin, end, main[call + 1][0])])
    return found


def recording(folder):
    program = open(folder + "/program", "rb").read()
    offset, start, size = [int(w, 16) for w in re.search(
        r"LOAD +(\S+) +(\S+) +\S+ +(\S+) +\S+ R E", run("readelf", "-lW", folder + "/program"))
        .groups()]
    odd = program
    for number, name in [*enumerate(NAMES), (99, INLINED), (98, FILE)]:
        assert odd.count(plain(number, name)) >= (1 if number > 90 else 2)
        odd = odd.replace(plain(number, name), name)
    for kind, data, names in (("odd", odd, (COMM, OBJECT, HOST, EVENT)),
                              ("plain", program, (b"step", b"program", b"host", b"cycles"))):
        comm, path, host, event = names
        os.mkdir("%s/%s" % (folder, kind))
        with open(os.fsencode("%s/%s/" % (folder, kind)) + path, "wb") as file:
            file.write(data)
        lines = ["perfdata-text 1\ncontainer file order=little header_size=104",
                 "attr e={type=hardware size=128 sample_period=1000 sample_type="
                 "IP|TID|TIME|PERIOD|CALLCHAIN|BRANCH_STACK flags=sample_id_all"
                 " branch_sample_type=0x9} ids=[7]\nids e\nattrs\ndata",
                 'record COMM {pid=7 tid=7 comm="%s" sample_id={pid=7 tid=7 time=1.0s}}'
                 % text(comm),
                 "record MMAP2 misc=0x2 {pid=7 tid=7 addr=%#x len=%#x pgoff=%#x maj=8 min=1 ino=7"
                 ' ino_generation=1 prot=5 flags=2 filename="/%s" sample_id={pid=7 tid=7'
                 " time=1.0s}}" % (start & ~4095, (size + 4095 + start % 4096) & ~4095,
                                   offset & ~4095, text(path))]
        time = 1
        for number, (call, begin, end, back) in enumerate(places(folder + "/program")):
            for _ in range(number + 1):
                time += 1
                lines.append(
                    "record SAMPLE misc=0x2 {ip=%#x pid=7 tid=7 time=%d.0s period=1000"
                    " ips=[0xfffffffffffffe00 %#x %#x] branches=[%#x %#x 2 %#x %#x 2]}"
                    % (end, time, end, back, end, back, call, begin))
        lines.append('end\nfeatures HOSTNAME ARCH EVENT_DESC\nfeature HOSTNAME {text="%s"}'
                     '\nfeature ARCH {text="x86_64"}\nfeature EVENT_DESC {attr_size=128'
                     ' events=[{attr={type=hardware size=128 sample_period=1000} name="%s"'
                     " ids=[7]}]}"
                     % (text(host), text(event)))
        with open("%s/%s.pdt" % (folder, kind), "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
