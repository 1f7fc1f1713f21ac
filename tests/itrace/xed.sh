#!/bin/sh
# SPDX-License-Identifier: MIT
# --xed: the same lines with a disassembly in place of the bytes, in xed's form, for samples and
# blocks of branches.
set -eu
cd "$SOURCE/tests/data/script"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
script() { "$PERFDATA" script --symfs symfs -i branch-code.data "$@" 2>/dev/null; }
script -F ip,insn >"$work/bytes"
script -F ip,insn --xed >"$work/xed"
[ "$(wc -l <"$work/bytes")" = "$(wc -l <"$work/xed")" ]
# What stands before the bytes stays; a tab each for name and distance, as xed puts them.
sed 's/ insn:.*//' "$work/bytes" >"$work/before"
sed 's/ 		[a-z].*//' "$work/xed" | cmp "$work/before" -
[ -s "$work/before" ]
if grep -q insn: "$work/xed"; then exit 1; fi
script -F ip,brstackinsn --xed >"$work/blocks"
grep -q '^	000000000040042a			add %rax, %rbp $' "$work/blocks"
grep -q '^	0000000000400206			retq  *	# ABORT 1 cycles \[2\] 2.00 IPC$' "$work/blocks"
