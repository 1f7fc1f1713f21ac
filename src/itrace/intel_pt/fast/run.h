/* SPDX-License-Identifier: MIT */
/* What packets do from a place in the code on, found out once and then looked up: runs, of the bits
 * of one TNT, and chains, of several packets behind each other. Only for those who do not want to
 * see the branches. */
#ifndef PD_INTEL_PT_WALK_RUN_H
#define PD_INTEL_PT_WALK_RUN_H
#include "itrace/intel_pt/walk/walk.h"

enum { WALK_RUNS = 8192, WALK_RUN_BITS = 6 };

/* What some bits of TNT do from a node on, as long as that depends on nothing else. */
struct walk_run {
    struct pd_code_node *node;     /* where it begins; NULL: free */
    struct pd_code_node *end;      /* where it ends, not walked */
    struct pd_code_node *last;     /* walked last; NULL: none */
    struct pd_code_node *calls[3]; /* that have not returned */
    uint32_t insns, end_insns;     /* walked; those of `end` */
    uint8_t bits;                  /* the outcomes below a stop bit; 1: none, for a TIP */
    uint8_t used;                  /* of them */
    uint8_t flags;                 /* RUN_... */
    uint8_t call_count;
};
_Static_assert(sizeof(void *) != 8 || sizeof(struct walk_run) == 64, "a cache line each");

enum {
    RUN_DIRECT = 1, /* direct branches before the first outcome */
    RUN_TAKEN = 2,  /* the first outcome is taken */
    RUN_STEP = 4,   /* a branch that would be a step behind the first outcome, or with it */
    RUN_NOT_TAKEN = 8
};

/* NULL: not all of the way is linked yet, or there is nothing to keep. */
struct walk_run *walk_find_run(struct pd_pt_decoder *d, struct pd_code_node *node, unsigned bits);

PD_INLINE struct walk_run *walk_run_slot(struct pd_pt_decoder *d, const struct pd_code_node *node,
                                         unsigned bits)
{
    uintptr_t at = (uintptr_t)node;
    return &d->learnt.runs[(at >> 4 ^ at >> 15 ^ bits * 0x6a9u) % WALK_RUNS];
}

PD_INLINE struct walk_run *walk_get_run(struct pd_pt_decoder *d, struct pd_code_node *node,
                                        unsigned bits)
{
    struct walk_run *run = walk_run_slot(d, node, bits);
    return PD_LIKELY(run->node == node && run->bits == bits) ? run : walk_find_run(d, node, bits);
}

PD_INLINE void walk_push_calls(struct pd_pt_decoder *d, const struct walk_run *run)
{
    for (unsigned i = 0; i < run->call_count; i++)
        walk_push_return(d, run->calls[i]);
}

/* The node behind a return that TNT covers; NULL: the return needs a closer look. */
PD_INLINE struct pd_code_node *walk_unreported_return(struct pd_pt_decoder *d,
                                                      const struct pd_code_node *node, bool taken)
{
    if (node->op != PD_INSN_RET || node->branch != PD_BRANCH_INDIRECT || !taken ||
        !d->config.return_compression || d->stack.count <= d->stack.stale)
        return NULL;
    struct pd_code_node *next = d->stack.returns[d->stack.count - 1].call->fall;
    if (!next || walk_is_place(d, next->ip))
        return NULL;
    d->stack.count--;
    return next;
}

/* ---- chains ----
 * Short TNTs and TIPs that follow each other, with nothing but CYCs in between: what they do is
 * found by their bytes. */

enum { WALK_CHAINS = 16384, WALK_CHAIN_BYTES = 16 };

struct walk_bytes {
    uint64_t low, high;
};

struct walk_chain {
    struct pd_code_node *node; /* where it begins; NULL: free */
    struct walk_bytes bytes;   /* the packets, without CYCs; zeros behind them */
    uint64_t ip_before,
        ip_behind; /* of the last IP: what the first TIP keeps; where the last leads */
    struct pd_code_node *end, *last; /* as in a run; end NULL: seen once, nothing known */
    struct pd_code_node *calls[3];   /* that have not returned, the first ones */
    struct pd_code_node
        *returns[2]; /* to which TNT bits return, the first calls before the chain; NULL: any */
    uint32_t insns, need; /* walked; a budget above this one is enough */
    /* walked before the last packet, and before the one before; UINT32_MAX: there is none */
    uint32_t insns_last[2];
    /* a bit for each packet, by its place: it begins with a step that takes the cycles */
    uint16_t takes;
    uint8_t at_last[2]; /* places of the packets of insns_last */
    uint8_t size;       /* of the packets; 0: they must be walked one by one */
    uint8_t keeps;      /* index of walk_ip_kept */
    uint8_t last_kind;  /* of them */
    uint8_t pops, call_count;
    uint8_t epoch;
    bool more_returns;
};
_Static_assert(sizeof(void *) != 8 || sizeof(struct walk_chain) == 128, "two cache lines each");

/* The calls and returns for which the chain has no room; few chains have any. */
struct walk_chain_more {
    struct pd_code_node *calls[8], *returns[4];
};

/* What of the last IP the first TIP keeps: there is none, or one with 16, 32 or 48 bits. */
static const uint64_t walk_ip_kept[4] = { 0, ~UINT64_C(0xffff), ~UINT64_C(0xffffffff), 0 };

/* By the first byte: the size of a short TNT, or of a TIP with an IP; of other packets more than
 * WALK_CHAIN_BYTES. */
extern const uint8_t walk_control_size[256];

/* For packets that are new at this place: finds out what they do, if that pays or they were seen
 * before. `size`: of the packets that must be walked one by one this time. */
void walk_learn_chain(struct pd_pt_decoder *d, struct walk_chain *set, struct pd_code_node *node,
                      const struct walk_bytes *bytes, unsigned size, uint64_t last_ip);

/* Does without chains for a while: they pay only where the same ones come again. */
void walk_rest_from_chains(struct walk_chains *chains);
PD_INLINE void walk_judge_chains(struct walk_chains *chains, size_t bytes)
{
    enum { JUDGED = 1 << 14 };
    chains->rest -= PD_MIN(chains->rest, (uint32_t)bytes);
    if (PD_UNLIKELY(chains->hit + chains->missed > JUDGED))
        walk_rest_from_chains(chains);
}

PD_INLINE struct walk_bytes walk_chain_bytes(const uint8_t *at)
{
    return (struct walk_bytes){ pd_load64(at, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__),
                                pd_load64(at + 8, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) };
}

/* A mask of the bytes before the first one that may begin an MTC, and of that one's low bits; all
 * ones: none may. */
PD_INLINE uint64_t walk_before_mtc(uint64_t bytes)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), other = bytes ^ 0x59 * ones;
    const uint64_t mtcs = (other - ones) & ~other & ones << 7;
    return (mtcs & -mtcs) - 1;
}

/* The bytes before an MTC: what it tells changes all the time, so nothing from there on is kept. */
PD_INLINE struct walk_bytes walk_without_mtc(struct walk_bytes bytes)
{
    const uint64_t low = walk_before_mtc(bytes.low), high = walk_before_mtc(bytes.high);
    return (struct walk_bytes){ bytes.low & low, ~low ? 0 : bytes.high & high };
}

/* Masks of the first bytes, by how many they are. */
extern const struct walk_bytes walk_first_bytes[WALK_CHAIN_BYTES + 1];

PD_INLINE struct walk_bytes walk_first(struct walk_bytes bytes, unsigned size)
{
    bytes.low &= walk_first_bytes[size].low;
    bytes.high &= walk_first_bytes[size].high;
    return bytes;
}

/* Whether the bytes begin with the chain's packets. For a chain whose packets must be walked one by
 * one, or that was only seen, all bytes count. */
PD_INLINE bool walk_begins_with(struct walk_bytes bytes, const struct walk_chain *chain)
{
    bytes = walk_first(bytes, chain->size ? chain->size : WALK_CHAIN_BYTES);
    return bytes.low == chain->bytes.low && bytes.high == chain->bytes.high;
}

PD_INLINE struct walk_chain *walk_chain_set(const struct walk_chains *chains,
                                            const struct pd_code_node *node,
                                            struct walk_bytes bytes)
{
    uint64_t hash = (bytes.low ^ (uintptr_t)node << 20) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32 ^ bytes.high;
    hash *= UINT64_C(0xff51afd7ed558ccd);
    return &chains->slots[hash >> 40 & (WALK_CHAINS - 2)];
}

#endif
