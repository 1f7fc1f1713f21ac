# SPDX-License-Identifier: MIT
"""PROGRAM: runs it step by step from main() to its end, as a processor that keeps the last 32
branches would see it, and prints the text of a recording whose samples have them all. Ends with 77
where processes cannot be traced."""
import ctypes, os, re, signal, subprocess, sys

TRACEME, PEEKTEXT, PEEKUSER, POKETEXT, POKEUSER, CONT, SINGLESTEP = 0, 1, 3, 4, 6, 7, 9
RIP = 16 * 8
program = os.path.realpath(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


lengths = {}
for line in run("objdump", "-d", "-w", program).splitlines():
    found = re.match(r" *([0-9a-f]+):\t((?:[0-9a-f]{2} )+)", line)
    if found:
        lengths[int(found[1], 16)] = len(found[2].split())
symbols = {w[2]: int(w[0], 16) for w in map(str.split, run("nm", program).splitlines())
           if len(w) == 3}
pid = os.fork()
if not pid:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if libc.ptrace(TRACEME, 0, None, None) < 0:
        os._exit(77)
    os.execv(program, [program])
if os.WIFEXITED(os.waitpid(pid, 0)[1]):
    sys.exit(77)
is_fixed = "EXEC" in run("readelf", "-h", program).split("Type:")[1].splitlines()[0]
maps = []
for line in open("/proc/%d/maps" % pid):
    words = line.split()
    low, high = (int(w, 16) for w in words[0].split("-"))
    if words[-1] == program and "x" in words[1]:
        maps.append((low, high - low, int(words[2], 16)))
segments = [[int(w, 16) for w in found] for found in
            re.findall(r"LOAD +(\S+) +(\S+) +\S+ +(\S+) +\S+ R E", run("readelf", "-lW", program))]
offset, start, _ = segments[0]
base = 0 if is_fixed else maps[0][0] - maps[0][2] + offset - start
stop = base + symbols["main"]
word = libc.ptrace(PEEKTEXT, pid, stop, None)
libc.ptrace(POKETEXT, pid, stop, (word & ~0xff | 0xcc) & (1 << 64) - 1)
libc.ptrace(CONT, pid, None, None)
os.waitpid(pid, 0)
libc.ptrace(POKETEXT, pid, stop, word & (1 << 64) - 1)
libc.ptrace(POKEUSER, pid, RIP, stop)
at, branches = stop, []
while True:
    libc.ptrace(SINGLESTEP, pid, None, None)
    status = os.waitpid(pid, 0)[1]
    if not os.WIFSTOPPED(status) or os.WSTOPSIG(status) != signal.SIGTRAP:
        break
    to = libc.ptrace(PEEKUSER, pid, RIP, None)
    length = lengths.get(at - base)
    inside = lengths.get(to - base)
    if (length and to != at + length) or (inside and not length):
        branches.append((at, to))
    at = to
print("perfdata-text 1\ncontainer file order=little header_size=104")
print("attr cycles={type=hardware size=128 sample_period=1000"
      " sample_type=IP|TID|TIME|PERIOD|BRANCH_STACK flags=sample_id_all branch_sample_type=0x9}"
      "\nids cycles\nattrs\ndata")
print('record COMM {pid=7 tid=7 comm="step"}')
for low, size, place in maps:
    print('record MMAP2 misc=0x2 {pid=7 tid=7 addr=%#x len=%#x pgoff=%#x maj=8 min=1 ino=7'
          ' ino_generation=1 prot=5 flags=2 filename="%s"}' % (low, size, place, program))
for i in range(0, len(branches), 32):
    some = branches[i:i + 32][::-1]
    print("record SAMPLE misc=0x2 {ip=%#x pid=7 tid=7 time=%d.0s period=1000 branches=[%s]}"
          % (some[0][1], i // 32 + 1, " ".join("%#x %#x 2" % b for b in some)))
print("end")
