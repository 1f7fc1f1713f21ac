#!/bin/sh
# SPDX-License-Identifier: MIT
# Length and kind of each instruction of the traced programs against objdump's. insn_objdump.sh
# TEST-PROGRAM
set -eu
[ -n "${PERFDATA_CORPUS:-}" ] || { echo 'skipped: PERFDATA_CORPUS is not set'; exit 77; }
command -v objdump >/dev/null || { echo 'skipped: no objdump'; exit 77; }
symfs=$PERFDATA_CORPUS/own-pt/symfs
[ -d "$symfs" ] || { echo 'skipped: no own-pt in the corpus'; exit 77; }
for file in "$symfs"/ptcorpus/bin/* "$symfs"/boot/*; do
    case $(objdump -f "$file" | grep 'file format') in
    *elf64*) bits=64 ;;
    *) bits=32 ;;
    esac
    printf '%s: ' "${file##*/}"
    objdump -d -w "$file" | "$1" "$bits"
done
