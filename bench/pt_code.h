/* SPDX-License-Identifier: MIT */
/* The code that a made trace walks: the executable segment of an ELF file, each instruction decoded
 * once, and where its functions begin. */
#ifndef BENCH_PT_CODE_H
#define BENCH_PT_CODE_H
#include "itrace/code/insn.h"

/* Where a conditional branch nearly always goes, since the other way leads to an error or into the
 * kernel. */
enum pt_way { PT_WAY_UNKNOWN, PT_WAY_EITHER, PT_WAY_TAKEN, PT_WAY_FALL };

struct pt_insn {
    uint8_t op, branch, length; /* of struct pd_insn; length 0: not decoded yet */
    uint8_t way;                /* enum pt_way of a conditional branch */
    bool stops;                 /* the walk does not execute it: undefined, hlt, int, iret... */
    int32_t rel;
};

/* What an indirect branch has gone to so far is a choice of its address alone. */
enum { PT_TARGETS = 8 };
struct pt_site {
    uint64_t address; /* in the file; 0: none */
    uint32_t count;
    uint32_t targets[PT_TARGETS]; /* indices of bytes of the code */
};

struct pt_code {
    const char *path;
    uint8_t *bytes;                 /* of the segment */
    struct pt_insn *insns;          /* one for each byte */
    uint64_t address, offset, size; /* of the segment: in memory before relocation, in the file */
    uint64_t file_size, inode, device;
    uint32_t *functions; /* indices of bytes, sorted */
    size_t function_count;
    bool *rare;       /* of each function: it enters the kernel */
    uint32_t *starts; /* those of them that may be called from anywhere */
    size_t start_count;
    struct pt_site *sites;
    size_t site_count, site_room;
};

_Noreturn void pt_stop(const char *why, const char *what);

/* Stops the program when the file is no x86-64 ELF file with code. */
void pt_code_load(struct pt_code *code, const char *path);
void pt_code_free(struct pt_code *code);

/* The instruction at this byte. */
const struct pt_insn *pt_code_insn(struct pt_code *code, uint32_t at);

/* Of the conditional branch at this byte, which has been decoded. */
enum pt_way pt_code_way(struct pt_code *code, uint32_t at);

/* The places where the indirect branch at this byte goes: labels of its own function for a jump
 * from a table, functions of this file otherwise. */
const struct pt_site *pt_code_site(struct pt_code *code, uint32_t at);

/* The function that holds this byte: its index, or function_count. */
size_t pt_code_function(const struct pt_code *code, uint32_t at);

PD_INLINE uint64_t pt_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

#endif
