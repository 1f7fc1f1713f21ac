# SPDX-License-Identifier: MIT
"""make.py PROGRAM BASE: text of a recording whose branch stacks run through work()'s loop, and on
stderr what it says."""
import re, subprocess, sys
program, base = sys.argv[1], int(sys.argv[2], 0)
code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program], capture_output=True,
                      text=True).stdout
begin = int(re.search(r"^([0-9a-f]+) <work>:", code, re.M)[1], 16)
body = code[code.index("<work>:"):].split("\n\n")[0]
jumps = [(int(a, 16), int(b, 16))
         for a, b in re.findall(r"^ *([0-9a-f]+):\s+j[a-z]+ +([0-9a-f]+) <work", body, re.M)]
back, top = [(a, b) for a, b in jumps if b < a][-1]
call = int(re.search(r"^ *([0-9a-f]+):\s+call +[0-9a-f]+ <work>", code, re.M)[1], 16)
segments = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True).stdout
offset, start, size = [int(w, 16)
                       for w in re.search(r"LOAD +(\S+) +(\S+) +\S+ +(\S+) +\S+ R E",
                                          segments).groups()]
stack = [(back, top, 2)] * 5 + [(back, top, 1), (call, begin, 2)]
print("perfdata-text 1\ncontainer file order=little header_size=104")
print("attr cycles={type=hardware size=128 sample_period=1000"
      " sample_type=IP|TID|TIME|PERIOD|BRANCH_STACK flags=sample_id_all branch_sample_type=0x9}"
      "\nids cycles\nattrs\ndata")
print('record COMM {pid=7 tid=7 comm="loop"}')
print('record MMAP misc=0x2 {pid=7 tid=7 addr=%#x len=%#x pgoff=%#x filename="%s"}' % (
    base + (start & ~4095), (size + 4095 + start % 4096) & ~4095, offset & ~4095, program))
for i in range(20):
    branches = " ".join("%#x %#x %d" % (base + a, base + b, f) for a, b, f in stack)
    print("record SAMPLE misc=0x2 {ip=%#x pid=7 tid=7 time=%d.0s period=1000 branches=[%s]}"
          % (base + top, i + 1, branches))
print("end")
for line in sorted([(0, "B %x %x 120 20" % (back, top), back),
                    (0, "B %x %x 20 0" % (call, begin), call),
                    (1, "F %x %x 100" % (top, back), top),
                    (1, "F %x %x 20" % (begin, back), begin)], key=lambda l: (l[0], l[2])):
    print(line[1], file=sys.stderr)
