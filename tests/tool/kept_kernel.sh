#!/bin/sh
# SPDX-License-Identifier: MIT
# buildid-cache --kcore keeps a kernel's code, and recordings of that kernel are resolved by it:
# with perf's text, whichever of the two keeps it and whichever reads.
set -u
command -v python3 >/dev/null 2>&1 || { echo 'skipped: no python3'; exit 77; }
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
cd "$t" || exit 1
export HOME="$t" PERF_CONFIG=/dev/null TZ=UTC LC_ALL=C
id=000102030405060708090a0b0c0d0e0f10111213
kept="$t/.debug/[kernel.kcore]/$id"
ln -s "$PERFDATA" "$t/perf"
failed=0
fail() { echo "FAIL: $*"; failed=1; }

# A made-up machine's /proc and /sys: 24 KiB of kernel, of which three pages are text, and a module.
cat >machine.py <<'END'
import os, struct
os.makedirs('vm/proc')
os.makedirs('vm/sys/kernel')
build_id = bytes(range(20))
with open('vm/sys/kernel/notes', 'wb') as file:
    file.write(struct.pack('<III', 4, len(build_id), 3) + b'GNU\0' + build_id)
kernel, module = 0xffffffff81000000, 0xffffffffc0100000
with open('vm/proc/kallsyms', 'w') as file:
    for offset, kind, name in ((0, 'T', '_text'), (0, 'T', '_stext'), (0x100, 'T', 'first_function'),
                               (0x800, 'T', 'second_function'), (0x3000, 'T', '_etext'),
                               (0x4000, 'D', 'some_data')):
        file.write(f'{kernel + offset:016x} {kind} {name}\n')
    file.write(f'{module:016x} t foo_init\t[foo]\n{module + 0x100:016x} t foo_work\t[foo]\n')
with open('vm/proc/modules', 'w') as file:
    file.write(f'foo 16384 0 - Live 0x{module:x}\n')
segments = ((kernel, 0x6000), (module, 0x8000))
table, data, offset = b'', b'', 0x1000
for start, size in segments:
    table += struct.pack('<IIQQQQQQ', 1, 7, offset, start, start, size, size, 0x1000)
    data += bytes((i * 7 + (start >> 20)) & 255 for i in range(size))
    offset += size
head = b'\x7fELF\x02\x01\x01' + bytes(9) + struct.pack(
    '<HHIQQQIHHHHHH', 4, 62, 1, 0, 64, 0, 0, 64, 56, len(segments), 0, 0, 0)
with open('vm/proc/kcore', 'wb') as file:
    file.write((head + table).ljust(0x1000, b'\0') + data)
END
python3 machine.py || exit 1
cat >recording.pdt <<END
perfdata-text 1
container file order=little header_size=104
attr clock={type=software size=128 sample_type=IP|TID|TIME flags=sample_id_all} ids=[7]
ids clock
attrs
data
record MMAP misc=0x1 {pid=-1 addr=0xffffffff81000000 len=0x3000 pgoff=0xffffffff81000000 filename="[kernel.kallsyms]_text" sample_id={pid=-1 time=0s}}
record MMAP misc=0x1 {pid=-1 addr=0xffffffffc0100000 len=0x4000 filename="[foo]" sample_id={pid=-1 time=0s}}
record COMM {pid=10 tid=10 comm="true" sample_id={pid=10 tid=10 time=1.1s}}
record SAMPLE misc=0x1 {ip=0xffffffff81000110 pid=10 tid=10 time=1.5s}
record SAMPLE misc=0x1 {ip=0xffffffff81000810 pid=10 tid=10 time=1.6s}
record SAMPLE misc=0x1 {ip=0xffffffffc0100120 pid=10 tid=10 time=1.7s}
end
features BUILD_ID
feature BUILD_ID {entries=[
    {misc=32769 pid=-1 build_id=x"$id" build_id_size=20 filename="[kernel.kallsyms]"/64}
]}
END
"$PERFDATA" assemble recording.pdt -o recording.data || exit 1

# reads NAME: what the program prints of the recording; the name of the copy is the time.
reads() {
    "$1" script --show-kernel-path -F ip,sym,symoff,dso -i recording.data 2>/dev/null |
        sed 's/[0-9]\{16\}\/kcore/TIME\/kcore/'
}
dso="($kept/TIME/kcore)"
cat >resolved <<END
 ffffffff81000110 first_function+0x10 $dso
 ffffffff81000810 second_function+0x10 $dso
 ffffffffc0100120 foo_work+0x20 $dso
END
# all_read WHO: the recording is resolved by the copy that WHO has kept.
all_read() {
    for reader in "$PERFDATA" ./perf ${perf:+"$perf"}; do
        reads "$reader" | diff resolved - || fail "$reader by what $1 kept"
    done
}
perf=$(command -v perf) && "$perf" --version | grep -q '^perf version 6\.1' || perf=

"$PERFDATA" script -i recording.data 2>/dev/null | grep -q first_function && fail 'known before'
for keeper in "$PERFDATA" ./perf ${perf:+"$perf"}; do
    rm -rf .debug
    "$keeper" buildid-cache -v --kcore vm/proc/kcore 2>said || fail "$keeper: exit $?"
    grep -qF "kcore added to build-id cache directory $kept/20" said ||
        { fail "$keeper says:"; cat said; }
    all_read "$keeper"
    for copy in "$kept"/*; do
        cmp -s vm/proc/kallsyms "$copy/kallsyms" || fail "$keeper: kallsyms"
        cmp -s vm/proc/modules "$copy/modules" || fail "$keeper: modules"
        # The text lies behind a page of headers in both.
        cmp -s -n 12288 -i 4096 vm/proc/kcore "$copy/kcore" || fail "$keeper: the code"
    done
    # The same kernel at the same place is kept once.
    for again in "$PERFDATA" ./perf ${perf:+"$perf"}; do
        "$again" buildid-cache -v -k vm/proc/kcore 2>said
        grep -qF "same kcore found in $kept/20" said || { fail "$again again:"; cat said; }
    done
    set -- "$kept"/*
    [ $# = 1 ] || fail "$keeper: $# copies"
done

# Another boot: what lies elsewhere does not tell of this recording, and is kept beside the first.
sed -i 's/^ffffffff810/ffffffff820/' vm/proc/kallsyms
"$PERFDATA" buildid-cache -k vm/proc/kcore 2>/dev/null && fail 'code that kcore has not was kept'
set -- "$kept"/*
[ $# = 1 ] || fail 'a copy that failed was left'
sed -i 's/^ffffffff820/ffffffff810/' vm/proc/kallsyms
echo 'bar 4096 0 - Live 0xffffffffc0200000' >>vm/proc/modules
"$PERFDATA" buildid-cache -k vm/proc/kcore || fail 'with another module'
set -- "$kept"/*
[ $# = 2 ] || fail "with another module: $# copies"
all_read 'both boots'

# Nobody waits for those who may write into a FIFO.
mkdir -p fifo/proc fifo/sys && cp -r vm/sys/kernel fifo/sys/ && cp vm/proc/kcore fifo/proc/
mkfifo fifo/proc/kallsyms fifo/proc/modules
timeout 20 "$PERFDATA" buildid-cache -k fifo/proc/kcore 2>/dev/null
[ $? = 1 ] || fail 'a FIFO in place of kallsyms'
rm fifo/proc/kallsyms && cp vm/proc/kallsyms fifo/proc/
timeout 20 "$PERFDATA" buildid-cache -k fifo/proc/kcore 2>/dev/null
[ $? != 124 ] || fail 'a FIFO in place of modules'
rm -rf .debug

# What cannot be kept is told, with exit code 1 under our own name and 0 as perf.
refuses() {
    "$PERFDATA" buildid-cache -k "$1" 2>said
    [ $? = 1 ] && grep -q "Couldn't add $1: $2" said || { fail "$1 says:"; cat said; }
    ./perf buildid-cache -k "$1" 2>said || fail "$1: called as perf, exit $?"
    [ "$(cat said)" = "Couldn't add $1" ] || { fail "$1, called as perf, says:"; cat said; }
}
refuses vm/proc/modules 'Invalid argument'
refuses nowhere/kcore 'No such file'
mkdir -p text/proc text/sys && cp -r vm/sys/kernel text/sys/ && cp vm/proc/kallsyms text/proc/
echo 'this is no core file, but it is long enough for a header of sixty-four bytes' >text/proc/kcore
refuses text/proc/kcore 'Exec format error'
sed -i 's/^[0-9a-f]*/0000000000000000/' vm/proc/kallsyms
refuses vm/proc/kcore 'Permission denied'
rm vm/sys/kernel/notes
refuses vm/proc/kcore 'No such file'
exit $failed
