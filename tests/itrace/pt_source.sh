#!/bin/sh
# SPDX-License-Identifier: MIT
# script --pt-events=src-trace beside the view --src-trace of perf's script intel-pt-events.py: a
# program with lines of several files, and the corpus, whose programs have no lines.
. "$SOURCE/tests/itrace/common.sh"
case $(uname -m) in x86_64) ;; *) echo 'skipped: made for x86-64'; exit 77 ;; esac
cd "$work"

awk 'BEGIN { for (i = 1; i <= 20000; i++) printf "\tline %d;  \n", i }' >start.c
awk 'BEGIN { for (i = 1; i <= 60; i++) printf "other %d\n", i }' >other.c
printf '\n   \nwith a return\r\nand\ta zero: \000.\n' >blank.c
seq 3 >a_file_with_quite_a_long_name_and_a_longer_one_still.c
link="-nostdlib -static -Wl,--build-id=none,-z,noseparate-code"
printf '.text\n.globl without_lines\n.type without_lines, @function\nwithout_lines: nop\nret\n.size without_lines, .-without_lines\n' >plain.S
printf '.text\nnop\nnop\nret\n' >bare.S
cp "$SOURCE/tests/itrace/source_lines.S" program.S
# shellcheck disable=SC2086
{ "$CC" -c -g program.S -o program.o && "$CC" -c plain.S -o plain.o && "$CC" -c bare.S -o bare.o &&
    "$CC" $link -Wl,-Ttext=0x400200,--defsym=without_symbols=0x500200 program.o plain.o \
    -o program &&
    "$CC" $link -s -Wl,-Ttext=0x500200,-e,0 bare.o -o bare; } 2>said ||
    { cat said; echo 'skipped: no such program is built'; exit 77; }
# linkers keep their names for what has no lines: perf would look for lines in them, and die of some
# files
rm ./*.o

# One run of it: begins at _start, the loop goes round once, three returns to where they were called
# from, a system call.
cat >pass.pdt <<EOF
perfdata-text 1
container file order=little header_size=104
attr intel_pt//u={type=8 size=128 config=0xe603 sample_period=1 sample_type=IDENTIFIER|IP|TID|TIME read_format=id flags=disabled|exclude_kernel|sample_id_all} ids=[100]
attr dummy:u={type=software size=128 config=9 sample_period=1 sample_type=IDENTIFIER|IP|TID|TIME read_format=id flags=exclude_kernel|mmap|comm|task|sample_id_all|mmap2|comm_exec} ids=[101]
ids intel_pt//u
ids dummy:u
attrs
data
record ID_INDEX {entries=[{id=100 cpu=-1 tid=70} {id=101 cpu=-1 tid=70}]}
record TIME_CONV {time_shift=31 time_mult=933688542 time_zero=17488726757321 time_mask=0xffffffffffffff cap_user_time_zero=1}
record AUXTRACE_INFO {auxtrace_type=intel_pt priv=[8 0x1f 0x37a6f4de 0xfe7e9588fc9 1 0x400 0x800 0 0 0 0x200 0x3c000 0xb8 2 2 0x17 0 0]}
record ITRACE_START {pid=70 tid=70 sample_id={pid=70 tid=70 time=18000.000000400s}}
record COMM misc=0x2000 event=dummy:u {pid=70 tid=70 comm="program" sample_id={pid=70 tid=70 time=18000.000000500s}}
record MMAP2 misc=2 event=dummy:u {pid=70 tid=70 addr=0x400000 len=0x1000 prot=READ|EXEC flags=PRIVATE filename="$work/program" sample_id={pid=70 tid=70 time=18000.000000500s}}
record MMAP2 misc=2 event=dummy:u {pid=70 tid=70 addr=0x500000 len=0x1000 prot=READ|EXEC flags=PRIVATE filename="$work/bare" sample_id={pid=70 tid=70 time=18000.000000500s}}
record AUX {aux_size=56 sample_id={pid=70 tid=70 time=18000.000002000s}}
record EXIT event=dummy:u {pid=70 ppid=70 tid=70 ptid=70 time=18000.000003000s sample_id={pid=70 tid=70 time=18000.000003000s}}
record AUXTRACE {data_size=56 reference=0x111cadd1aeb tid=70 cpu=-1}
gap x"0282028202820282028202820282028219af53ccca1101000273b14300130002031700022399015100024000530c4b1e4301000000000000"
end
features HOSTNAME EVENT_DESC AUXTRACE
feature HOSTNAME {text="host"}
feature EVENT_DESC {attr_size=128 events=[
    {attr={type=8 size=128 config=0xe603} name="intel_pt//u" ids=[100]}
    {attr={type=software size=128 config=9} name="dummy:u" ids=[101]}
  ]}
feature AUXTRACE {nr=1 entries=[{offset=0 size=48}]}
EOF
make() { # its index of traces tells other places now, and is not believed
    "$PERFDATA" assemble "$1.pdt" -o "$1.data" || complain "$1: no recording"
}
make pass

# What it has to be, whatever perf is there.
"$PERFDATA" script --pt-events=src-trace -i pass.data >all
has() { # COUNT PATTERN
    [ "$(grep -a -c -e "$2" all)" = "$1" ] || complain "not $1 lines with '$2'"
}
has 1 '^Intel PT Source Trace$'
has 1 ' _start+0x0  *[^ ]*start\.c *2 .line 2;  $'
has 3 ' again+0x[0-9a-f]*  *[^ ]*start\.c *3 .line 3;  $' # not where the line before is of it
has 5 ' again+0x[0-9a-f]*  *$'
has 2 ' again+0x2  *[^ ]*other\.c *40 other 40$'
has 1 '[^ ]*start\.c *12345 .line 12345;  $'
has 4 ' <source not found>$'
has 1 ' again+0xf  *\.\.\._a_long_name_and_a_longer_one_still\.c    2 2$'
has 1 ' a_function_with_a_name_that_is_longer_than_the_column+0x0 [^ ]*start\.c *5 '
has 2 " 500200  *$work/bare\$"
has 2 ' 500201  *$'
"$PERFDATA" script -j 1 --pt-events=src-trace -i pass.data | cmp -s all - ||
    complain 'one thread prints something else'
# Whether there is a trace the events say, too
sed '/^feature AUXTRACE/d; s/^\(features .*\) AUXTRACE/\1/' pass.pdt >bare.pdt
make bare
"$PERFDATA" script --pt-events=src-trace -i bare.data | cmp -s all - ||
    complain 'nothing is decoded without AUXTRACE in the header'
code=0
"$PERFDATA" script --pt-events=insn-trace,src-trace -i pass.data >/dev/null 2>said || code=$?
[ $code = 2 ] && grep -q 'insn-trace and src-trace' said ||
    complain 'two views at once are not refused'

# And what perf prints.
script=$(perf --exec-path 2>/dev/null)/scripts/python/intel-pt-events.py
[ -f "$script" ] || { echo 'not compared: perf has no intel-pt-events.py here'; exit $failed; }
beside() { # RECORDING ITRACE
    perf script --itrace="$2" -i "$1" -s "$script" -- --src-trace >theirs 2>/dev/null || :
    [ -s theirs ] || { echo 'not compared: perf cannot run Python here'; exit $failed; }
    "$PERFDATA" script --pt-events=src-trace --itrace="$2" -i "$1" >ours 2>/dev/null || :
    cmp theirs ours || complain "$1 with $2 differs"
    [ "$(wc -l <theirs)" -gt 30 ] || complain "$1 with $2: perf prints too little"
    count=$((count + 1))
}
beside pass.data i0nsepwxI
beside pass.data bi0nsepwxI
# perf has addr2line read the files where they were, wherever symfs is: here they are there.
for name in t_ptw t_tsx d_flipc c_switch2; do
    "$PERFDATA" dump --pdt "$own/rec/$name.data" |
        sed "s,\"/ptcorpus/,\"$own/symfs/ptcorpus/," >"$name.pdt"
    make "$name"
    beside "$name.data" i0nsepwxI
done
echo "$count comparisons"
exit $failed
