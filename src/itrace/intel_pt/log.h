/* SPDX-License-Identifier: MIT */
/* The debug log of decoding (--itrace=d), line by line as perf writes it. Decoders that are given
 * one walk every packet and branch; those without it know nothing of it. */
#ifndef PD_INTEL_PT_LOG_H
#define PD_INTEL_PT_LOG_H
#include "base/hash.h"
#include "base/text.h"
#include "base/vec.h"
#include "itrace/code/code.h"
#include "itrace/intel_pt/packet.h"

/* The runs that perf keeps: it keeps straight runs of instructions by object, and shows only the
 * branch of those that it has kept. */
struct pd_pt_log_runs {
    const void *object;
    uint32_t count, limit;
    struct pd_map64 by_offset; /* the run's bytes << 16 and its instructions; 0: no longer kept */
};

struct pd_pt_log {
    struct pd_text text; /* what has been written; the owner empties it */
    /* Where code lies; false: unknown. NULL: no runs are kept. */
    bool (*place)(struct pd_code_view *view, uint64_t ip, struct pd_code_place *out);
    uint64_t cache_divisor;
    PD_VEC(struct pd_pt_log_runs) runs;
};

void pd_pt_log_free(struct pd_pt_log *log);

void pd_pt_log_packet(struct pd_pt_log *log, uint64_t position, const uint8_t *bytes,
                      const struct pd_pt_packet *packet);
/* Logs an instruction; `bytes` NULL: it is of a run that was kept. */
void pd_pt_log_insn(struct pd_pt_log *log, uint64_t ip, const uint8_t *bytes, unsigned length,
                    unsigned op, unsigned branch, int64_t rel);

/* How many instructions the run has that was kept at `place`; 0: none was. */
uint32_t pd_pt_log_kept(struct pd_pt_log *log, const struct pd_code_place *place);
void pd_pt_log_keep(struct pd_pt_log *log, const struct pd_code_place *place, uint32_t insns,
                    uint64_t bytes);
/* Forgets the runs that hold bytes of [start, end) of the object; `name` is the object's, `ip` the
 * address of start. */
void pd_pt_log_patch(struct pd_pt_log *log, const struct pd_code_place *start, uint64_t size,
                     uint64_t ip, const char *name);

#endif
