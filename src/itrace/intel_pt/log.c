/* SPDX-License-Identifier: MIT */
/* Packets and what is made of them -> lines of the debug log. */
#include "itrace/intel_pt/log.h"
#include <stdlib.h>

void pd_pt_log_free(struct pd_pt_log *log)
{
    pd_text_free(&log->text);
    for (size_t i = 0; i < log->runs.count; i++)
        pd_map64_free(&log->runs.data[i].by_offset);
    pd_vec_free(&log->runs);
}

void pd_pt_log_packet(struct pd_pt_log *log, uint64_t position, const uint8_t *bytes,
                      const struct pd_pt_packet *packet)
{
    pd_text_bytes(&log->text, "  ", 2);
    pd_pt_put_bytes(&log->text, position, bytes, packet->size);
    if (packet->kind == PD_PT_BAD) /* other than in -D */
        pd_text_string(&log->text, "Bad Packet!");
    else
        pd_pt_packet_text(packet, &log->text);
    pd_text_char(&log->text, '\n');
}

void pd_pt_log_insn(struct pd_pt_log *log, uint64_t ip, const uint8_t *bytes, unsigned length,
                    unsigned op, unsigned branch, int64_t rel)
{
    static const char *const names[] = {
        [PD_INSN_OTHER] = "Other",   [PD_INSN_CALL] = "Call",       [PD_INSN_RET] = "Ret",
        [PD_INSN_JCC] = "Jcc",       [PD_INSN_JMP] = "Jmp",         [PD_INSN_LOOP] = "Loop",
        [PD_INSN_IRET] = "IRet",     [PD_INSN_INT] = "Int",         [PD_INSN_SYSCALL] = "Syscall",
        [PD_INSN_SYSRET] = "Sysret", [PD_INSN_VMENTRY] = "VMentry",
    };
    pd_text_fill(&log->text, ' ', 10);
    pd_pt_put_bytes(&log->text, ip, bytes, bytes ? length : 0);
    pd_text_string(&log->text, names[op]);
    if (branch == PD_BRANCH_CONDITIONAL || branch == PD_BRANCH_UNCONDITIONAL)
        pd_text_format(&log->text, rel ? " %+lld" : " %lld", (long long)rel);
    pd_text_char(&log->text, '\n');
}

/* ---- runs that perf keeps ---- */

enum { LEAST_BITS = 10, MOST_BITS = 21, LEAST_SIZE = 1000, LOAD = 2 };

/* How many runs of an object are kept before all are forgotten. */
static uint32_t limit_of(const struct pd_pt_log *log, uint64_t size)
{
    size /= log->cache_divisor ? log->cache_divisor : 1;
    if (size < LEAST_SIZE)
        return LOAD << LEAST_BITS;
    if (size > UINT64_C(1) << MOST_BITS)
        return LOAD << MOST_BITS;
    return (uint32_t)LOAD << (32 - (unsigned)__builtin_clz((uint32_t)size));
}

static struct pd_pt_log_runs *runs_of(struct pd_pt_log *log, const struct pd_code_place *place)
{
    for (size_t i = log->runs.count; i--;)
        if (log->runs.data[i].object == place->object)
            return &log->runs.data[i];
    return NULL;
}

uint32_t pd_pt_log_kept(struct pd_pt_log *log, const struct pd_code_place *place)
{
    const struct pd_pt_log_runs *runs = runs_of(log, place);
    uint32_t insns = runs ? pd_map64_get(&runs->by_offset, place->offset) : PD_MAP64_NONE;
    return insns == PD_MAP64_NONE ? 0 : insns & 0xffff;
}

void pd_pt_log_keep(struct pd_pt_log *log, const struct pd_code_place *place, uint32_t insns,
                    uint64_t bytes)
{
    if (insns > UINT16_MAX || bytes > INT16_MAX)
        return;
    struct pd_pt_log_runs *runs = runs_of(log, place);
    if (!runs) {
        struct pd_pt_log_runs none = { .object = place->object,
                                       .limit = limit_of(log, place->size) };
        if (!pd_vec_push(&log->runs, none))
            return;
        runs = &log->runs.data[log->runs.count - 1];
    }
    if (runs->count >= runs->limit) {
        pd_map64_free(&runs->by_offset);
        runs->count = 0;
    }
    if (pd_map64_set(&runs->by_offset, place->offset, (uint32_t)bytes << 16 | insns))
        runs->count++;
}

void pd_pt_log_patch(struct pd_pt_log *log, const struct pd_code_place *start, uint64_t size,
                     uint64_t ip, const char *name)
{
    enum { LONGEST = 4096 };
    struct pd_pt_log_runs *runs = runs_of(log, start);
    /* Goes backwards, up to a run that ends before the patch: no earlier one can reach it. */
    for (uint64_t left = runs ? LONGEST + size : 0, at = size - 1; left; left--, at--) {
        uint32_t run = pd_map64_get(&runs->by_offset, start->offset + at);
        if (run == PD_MAP64_NONE || !run)
            continue;
        if ((int64_t)(at + (run >> 16)) <= 0)
            return;
        if (pd_map64_set(&runs->by_offset, start->offset + at, 0))
            runs->count--;
        pd_text_format(&log->text, "Invalidated instruction cache for %s at 0x%llx\n", name,
                       (unsigned long long)(ip + at));
    }
}
