/* SPDX-License-Identifier: MIT */
/* A processor that runs code by chance and traces itself as Intel PT does: user mode only, one
 * processor of a machine whose cycles are ticks of the TSC. */
#ifndef BENCH_PT_WALK_H
#define BENCH_PT_WALK_H
#include "pt_code.h"

enum { PT_FRAMES = 512, PT_RETURNS = 64, PT_PROGRAM = 0, PT_LIBRARY, PT_IMAGES };

/* What the trace holds beside branches. */
enum pt_clock { PT_TSC_ONLY, PT_CYC_MTC };

enum {
    PT_CTC_TICKS = 92,      /* ticks of the TSC in one of the crystal's clock */
    PT_MTC_PERIOD = 3,      /* an MTC packet each 2^3 ticks of that clock */
    PT_PSB_BYTES = 16 << 10 /* between two PSB packets */
};

struct pt_frame {
    uint8_t image;
    uint32_t at;
};

struct pt_thread {
    uint32_t pid;
    uint64_t base[PT_IMAGES];          /* where the code of each file stands */
    struct pt_frame at;                /* the next instruction */
    struct pt_frame frames[PT_FRAMES]; /* where calls return to, the newest last */
    uint32_t depth;
    bool started;
};

struct pt_cpu {
    struct pt_code *code; /* PT_IMAGES of them */
    enum pt_clock clock;
    struct pt_thread *thread;
    uint64_t random, tsc, instructions, branches;

    uint8_t *bytes; /* of the trace since they were last taken */
    size_t size, room;
    uint64_t total; /* bytes before these */

    uint64_t last_ip, next_psb, last_cyc, next_mtc; /* the clocks in ticks of the TSC */
    uint64_t returns[PT_RETURNS];                   /* that a RET may be compressed to */
    uint32_t return_count, return_top;
    uint8_t tnt, tnt_count;
};

void pt_cpu_start(struct pt_cpu *cpu, uint64_t seed);

/* Runs cpu->thread until this time; the trace ends as an interrupt ends it. */
void pt_cpu_run(struct pt_cpu *cpu, uint64_t until);

/* PAD packets up to a multiple of eight bytes, as AUX buffers are copied. */
void pt_cpu_pad(struct pt_cpu *cpu);

#endif
