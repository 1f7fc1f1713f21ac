#!/bin/sh
# SPDX-License-Identifier: MIT
# Source lines of a kernel whose vmlinux is named, at the address where the kernel was and at
# another one, and of one that is only known by its symbols and its code.
. "$SOURCE/tests/itrace/common.sh"
needs perf
needs as
needs addr2line
# The traced programs are not where they were. perf dies, though not each time, when it asks an
# addr2line that has ended for want of its file: this one goes on and knows nothing.
real=$(command -v addr2line)
mkdir "$work/bin"
cat >"$work/bin/addr2line" <<END
#!/bin/sh
[ "\$1" = -e ] && [ ! -e "\$2" ] || exec "$real" "\$@"
while read -r _; do printf '??\n??:0\n'; done
END
chmod +x "$work/bin/addr2line"
PATH=$work/bin:$PATH
make() {
    python3 "$SOURCE/tests/itrace/make_vmlinux.py" "$own/symfs/boot/vmlinux-tp" "$1" \
        "$work/vmlinux.$1"
}
make 0xffffffff81000000
make 0xffffffff91000000
for vmlinux in "$work"/vmlinux.0x*0 "$own/symfs/boot/vmlinux-tp"; do
    traced() {
        same "$@" -k "$vmlinux" -i "$own/rec/k_vmlinux.data"
    }
    traced script --itrace=i1us -F ip,sym,srcline
    traced script --itrace=i1usg -F ip,sym,srcline
    traced script --itrace=i1us -F ip,dso,srcline --full-source-path
    traced report --stdio --itrace=i1us -s srcline,sym
    traced report --stdio --itrace=i1us -s srcline --full-source-path
    traced report --stdio --itrace=i1usg -s srcfile -g caller,srcline
done
grep -q 'made\.c:[1-9]' "$work/perf" && complain 'a vmlinux without lines has lines'
"$PERFDATA" script --itrace=i1us -F ip,srcline -k "$work/vmlinux.0xffffffff91000000" \
    -i "$own/rec/k_vmlinux.data" >"$work/ours"
grep -q 'made\.c:[1-9]' "$work/ours" || complain 'a vmlinux with lines has none'
# perf may die of programs that are not there; what it prints of the kernel are the addresses
# themselves.
"$PERFDATA" script --itrace=i10us -F ip,srcline -i "$own/rec/k_konly" >"$work/ours"
awk 'NR % 2 { ip = $1; next } { n++; other += $1 != "[kernel.kallsyms][" ip "]" } END { exit !(n && !other) }' "$work/ours" ||
    complain 'a kernel known by its symbols is not shown by address'
[ $failed = 0 ] && echo "$count texts are perf's"
exit $failed
