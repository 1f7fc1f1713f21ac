#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 24, point 15: anonymize leaves no name that a program or a user chose, also where it looks
# like the kernel's, and leaves the kernel's own. Every name below that must go has "acme" in it.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

complain() {
    echo "$*"
    failed=$((failed + 1))
}

# Fails where the input has no such name: then nothing would be tested.
no_acme() {
    grep -aq acme "$2" || complain "$1: the input has no name that could leak"
    grep -aq acme "$3" &&
        complain "$1: leaks $(grep -aoE '.{0,12}acme.{0,12}' "$3" | tr -d '\0' | head -n 5)"
}

# The recording of the report: threads in brackets, memfds, named memory.
field=$SOURCE/tests/data/field/anonymize-leaks/rec.data
"$PERFDATA" anonymize -i "$field" -o "$work/field" || complain 'anonymize fails'
no_acme 'threads and maps' "$field" "$work/field"

# ---- each place where a name can stand ----

hex() {
    od -An -v -tx1 | tr -d ' \n'
}
le4() {
    printf '%08x' "$1" | sed 's/\(..\)\(..\)\(..\)\(..\)/\4\3\2\1/'
}
# A text behind its size of 4 or 8 bytes
sized4() {
    le4 ${#1}
    printf '%s' "$1" | hex
}
sized8() {
    le4 ${#1}
    printf 00000000
    printf '%s' "$1" | hex
}

tab=$(printf '\t')
format='name: acts
ID: 77
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:char comm[16];	offset:8;	size:16;	signed:0;

print fmt: "comm=%s", REC->comm
'
tracing=$({
    printf '\027\010\104tracing0.6\000\000\010' | hex
    le4 4096
    printf 'header_page\000' | hex
    sized8 ''
    printf 'header_event\000' | hex
    sized8 ''
    le4 0
    le4 1
    printf 'sched\000' | hex
    le4 1
    sized8 "$format"
    sized4 "ffffffff81000000 T do_fork
ffffffffc0000000 t acme_open${tab}[acme_drv]
ffffffffc0001000 t bpf_prog_0123456789abcdef_acme${tab}[bpf]
"
    sized4 ''
    sized8 "17 acme-worker
18 swapper/1
"
})
raw=$(printf 'M\000\000\000\021\000\000\000acme-task\000acme\000\000\000\000\000\000' | hex)
unknown=$(printf 'an acme record  ' | hex)
trailer='sample_id={pid=10 tid=10 time=1s}'

cat >"$work/places.pdt" <<END
perfdata-text 1
container file order=little header_size=104
attr sched:acts={type=tracepoint size=128 config=77 sample_period=1 sample_type=IP|TID|TIME|RAW flags=sample_id_all|mmap2|comm|task} ids=[7]
ids sched:acts
attrs
data
record COMM {pid=10 tid=10 comm="acme" $trailer}
record COMM {pid=10 tid=11 comm="swapper-acme" $trailer}
record COMM {pid=10 tid=12 comm="[kernel acme]" $trailer}
record COMM {pid=10 tid=13 comm="inode_class_acme" $trailer}
record COMM {pid=10 tid=14 comm="//acme" $trailer}
record COMM {pid=0 tid=0 comm="swapper" $trailer}
record COMM {pid=0 tid=1 comm="swapper/12" $trailer}
record MMAP2 misc=0x2 {pid=10 tid=10 addr=0x1000 len=0x1000 prot=5 filename="/opt/acme/libacme.so.1.2" $trailer}
record MMAP2 misc=0x2 {pid=10 tid=10 addr=0x2000 len=0x1000 prot=5 filename="/opt/x.so.acme" $trailer}
record MMAP2 misc=0x2 {pid=10 tid=10 addr=0x3000 len=0x1000 prot=5 filename="/opt/x.song-acme" $trailer}
record MMAP2 misc=0x2 {pid=10 tid=10 addr=0x4000 len=0x1000 prot=5 filename="/dev/zero-acme" $trailer}
record MMAP2 misc=0x2 {pid=10 tid=10 addr=0x5000 len=0x1000 prot=5 filename="/SYSVacme" $trailer}
record MMAP2 misc=0x2 {pid=10 tid=10 addr=0x6000 len=0x1000 prot=5 filename="/SYSV0012abcd (deleted)" $trailer}
record MMAP2 misc=0x2 {pid=10 tid=10 addr=0x7000 len=0x1000 prot=5 filename="anon_inode:acme" $trailer}
record MMAP2 misc=0x2 {pid=10 tid=10 addr=0x8000 len=0x1000 prot=5 filename="[anon_shmem:acme]" $trailer}
record MMAP2 misc=0x2 {pid=10 tid=10 addr=0x9000 len=0x1000 prot=5 filename="[vdso]" $trailer}
record MMAP2 misc=0x2 {pid=10 tid=10 addr=0xa000 len=0x1000 prot=5 filename="[stack:17]" $trailer}
record MMAP2 misc=0x2 {pid=10 tid=10 addr=0xb000 len=0x1000 prot=5 filename="[stack:acme]" $trailer}
record MMAP misc=0x1 {pid=-1 addr=0xffffffff81000000 len=0x1000000 filename="[kernel.kallsyms]_text" $trailer}
record MMAP misc=0x1 {pid=-1 addr=0xffffffffc0000000 len=0x1000 filename="[acme_drv]" $trailer}
record MMAP misc=0x1 {pid=-1 addr=0xffffffffc0002000 len=0x1000 filename="/lib/modules/6.1/acme_net.ko.xz" $trailer}
record KSYMBOL {addr=0xffffffffc0001000 len=0x40 ksym_type=bpf name="bpf_prog_0123456789abcdef_acme" $trailer}
record CGROUP {id=77 path="/acme.slice/pod" $trailer}
record THREAD_MAP {entries=[
    {pid=10 comm="acme"}
  ]}
record HEADER_BUILD_ID misc=0x2 {pid=-1 filename="/opt/acme/bin"}
record SAMPLE misc=0x2 {ip=0x1010 pid=10 tid=10 time=1.5s raw=x"$raw"}
record 91 {unread=x"$unknown"}
end
features TRACING_DATA HOSTNAME CMDLINE
feature TRACING_DATA {data=x"$tracing"}
feature HOSTNAME {text="host-acme"}
feature CMDLINE {words=[
    {text="perf"}
    {text="acme"}
  ]}
END
"$PERFDATA" assemble "$work/places.pdt" -o "$work/places" ||
    complain 'the places cannot be assembled'
"$PERFDATA" anonymize -i "$work/places" -o "$work/out" 2>"$work/err" ||
    complain 'anonymize of all places fails'
no_acme 'all places' "$work/places" "$work/out"
grep -q '1 records are left out' "$work/err" ||
    complain "the unknown record goes in silence: $(cat "$work/err")"
"$PERFDATA" dump "$work/out" >"$work/text" 2>&1
for name in swapper swapper/12 '/SYSV0012abcd (deleted)' '\[vdso\]' '\[stack:17\]' \
    '\[kernel.kallsyms\]_text'; do
    grep -q "\"$name\"" "$work/text" || complain "the kernel's own $name is gone"
done
for shape in '/[a-z]*/[a-z]*/[a-z]*\.so\.1\.2' 'anon_inode:[a-z]*' '\[anon_shmem:[a-z]*\]' \
    '/[a-z/0-9.]*\.ko\.xz'; do
    grep -q "\"$shape\"" "$work/text" || complain "what marks a name's kind is gone: $shape"
done
"$PERFDATA" script -F comm,event,trace "$work/out" 2>"$work/err" |
    grep -q 'sched:acts: comm=[a-z]\{9\}$' ||
    complain 'the tracepoint of the output is not shown'
"$PERFDATA" check "$work/out" | grep '^file' && complain 'the output is damaged'

# A stream has the same names as records.
"$PERFDATA" inject -i "$work/places" --pipe -o "$work/pipe" 2>/dev/null
"$PERFDATA" anonymize -i "$work/pipe" -o "$work/out" 2>/dev/null ||
    complain 'anonymize of a stream fails'
no_acme 'a stream' "$work/pipe" "$work/out"

# Raw bytes of a tracepoint whose format is not there become zeros.
sed 's/config=77/config=78/' "$work/places.pdt" >"$work/bare.pdt"
"$PERFDATA" assemble "$work/bare.pdt" -o "$work/bare" ||
    complain 'the one without format cannot be assembled'
"$PERFDATA" anonymize -i "$work/bare" -o "$work/out" 2>"$work/err" ||
    complain 'anonymize without format fails'
no_acme 'raw bytes' "$work/bare" "$work/out"
grep -q 'raw bytes of 1 samples' "$work/err" || complain 'raw bytes become zeros in silence'

# Tracing data that ends early: nobody knows where the rest of its names are, so it goes.
cut=$(printf '%s' "$tracing" | cut -c 1-$((${#tracing} - 16)))
sed "s/$tracing/$cut/" "$work/places.pdt" >"$work/cut.pdt"
"$PERFDATA" assemble "$work/cut.pdt" -o "$work/cut" || complain 'the cut one cannot be assembled'
"$PERFDATA" anonymize -i "$work/cut" -o "$work/out" 2>"$work/err"
[ $? = 1 ] || complain 'cut tracing data are not told by the exit code'
no_acme 'cut tracing data' "$work/cut" "$work/out"
grep -q 'TRACING_DATA is left out' "$work/err" || complain 'tracing data go in silence'

# Address filters of a trace name files: words 17 (the length) and on of AUXTRACE_INFO.
filter='filter 0x10/0x20@/opt/acme'
words=$(printf '%s\000\000\000\000\000\000' "$filter" | od -An -v -tx8 | tr -s ' \n' '  ' |
    sed 's/ \(0\|[1-9a-f]\)/ 0x\1/g')
zeros='0x8 0 0x1 0 0 0x1 0x400 0x800 0x3 0x1 0x1 0x200 0x3 0xb8 0x2 0x2 0x17'
sed -n '1,/^record MMAP2/p' "$work/places.pdt" | sed '/^record COMM/d' >"$work/filter.pdt"
{
    echo "record AUXTRACE_INFO {auxtrace_type=intel_pt priv=[$zeros]}" |
        sed "s/ 0x17\]/ ${#filter}$words]/"
    echo end
    echo features
} >>"$work/filter.pdt"
"$PERFDATA" assemble "$work/filter.pdt" -o "$work/filter" ||
    complain 'the filter cannot be assembled'
"$PERFDATA" anonymize -i "$work/filter" -o "$work/out" 2>/dev/null ||
    complain 'anonymize of a filter fails'
grep -aq "$filter" "$work/filter" || complain 'the filter is not in the input'
no_acme 'an address filter' "$work/filter" "$work/out"
grep -aq 'filter 0x10/0x20@/[a-z]*/*[a-z]*' "$work/out" || complain 'the filter itself is gone'

# What holds names in a form of its own: simpleperf's features and records, BPF programs.
for name in feature_file feature_file2 feature_meta_info feature_bpf_prog_info record_sp_dso \
    record_sp_symbol \
    record_sp_kernel_symbol record_sp_debug record_bpf_metadata; do
    "$PERFDATA" assemble "$SOURCE/tests/golden/$name.pdt" -o "$work/golden" ||
        complain "$name is not there"
    "$PERFDATA" anonymize -i "$work/golden" -o "$work/out" 2>"$work/err" ||
        complain "anonymize of $name fails"
    case $name in
    record_sp_dso | record_sp_symbol)
        "$PERFDATA" dump "$work/golden" | sed -n 's/^ *name: //p' >"$work/name"
        [ -s "$work/name" ] || complain "$name: has no name"
        "$PERFDATA" dump "$work/out" | grep -qFf "$work/name" && complain "$name: its name stays"
        ;;
    *) grep -q 'left out' "$work/err" || complain "$name: stays, or goes in silence" ;;
    esac
done
[ $failed -eq 0 ]
