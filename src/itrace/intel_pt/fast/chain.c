/* SPDX-License-Identifier: MIT */
/* Runs that follow one another -> chains, which go over many packets at once. */
#include "itrace/intel_pt/fast/run.h"
#include <stdlib.h>

/* ---- the tables ---- */

enum { LINE = 64 };

struct pd_pt_tables *pd_pt_tables_new(void)
{
    const size_t runs = WALK_RUNS * sizeof(struct walk_run);
    const size_t chains = WALK_CHAINS * sizeof(struct walk_chain);
    const size_t more = WALK_CHAINS * sizeof(struct walk_chain_more);
    const size_t known = WALK_KNOWN * sizeof(struct walk_known);
    /* Zero pages until they are used. */
    struct pd_pt_tables *tables = calloc(1, sizeof *tables + LINE + runs + chains + more + known);
    if (!tables)
        return NULL;
    uint8_t *at = (uint8_t *)(tables + 1);
    at += -(uintptr_t)at & (LINE - 1);
    tables->runs = (void *)at;
    tables->chains.slots = (void *)(at + runs);
    tables->chains.epoch = 1;
    tables->chains.more = (void *)(at + runs + chains);
    tables->known = (void *)(at + runs + chains + more);
    return tables;
}

void walk_clear_tables(struct pd_pt_tables *tables)
{
    struct walk_chains *chains = &tables->chains;
    memset(tables->known, 0, WALK_KNOWN * sizeof *tables->known);
    memset(tables->runs, 0, WALK_RUNS * sizeof *tables->runs);
    if (++chains->epoch)
        return;
    chains->epoch = 1;
    memset(chains->slots, 0, WALK_CHAINS * sizeof *chains->slots);
}

void walk_rest_from_chains(struct walk_chains *chains)
{
    enum { LEAST_REST = 1 << 15, MOST_REST = 1 << 22 };
    /* A miss costs what several hits save: a look into the table that waits for memory. */
    chains->pays = chains->hit >= 4 * chains->missed;
    if (chains->pays) {
        chains->next_rest = LEAST_REST;
    } else {
        chains->rest = PD_MAX(chains->next_rest, (uint32_t)LEAST_REST);
        chains->next_rest = PD_MIN(chains->rest * 2, (uint32_t)MOST_REST);
    }
    chains->hit = chains->missed = 0;
}

/* ---- finding out ---- */

enum { NO_CONTROL = 0xff };
#define CONTROL(b)                                                                                 \
    (!((b)&1)             ? (b) > 2 ? 1 : NO_CONTROL                                               \
     : ((b)&0x1f) != 0x0d ? NO_CONTROL                                                             \
     : (b) >> 5 == 1      ? 3                                                                      \
     : (b) >> 5 == 2      ? 5                                                                      \
     : (b) >> 5 == 3      ? 7                                                                      \
                          : NO_CONTROL)
#define CONTROL4(b) CONTROL(b), CONTROL((b) + 1), CONTROL((b) + 2), CONTROL((b) + 3)
#define CONTROL16(b) CONTROL4(b), CONTROL4((b) + 4), CONTROL4((b) + 8), CONTROL4((b) + 12)
#define CONTROL64(b) CONTROL16(b), CONTROL16((b) + 16), CONTROL16((b) + 32), CONTROL16((b) + 48)
const uint8_t walk_control_size[256] = { CONTROL64(0), CONTROL64(64), CONTROL64(128),
                                         CONTROL64(192) };

#define FIRST(n)                                                                                   \
    {                                                                                              \
        (n) < 8 ? (UINT64_C(1) << 8 * ((n)&7)) - 1 : UINT64_MAX,                                   \
            (n) <= 8   ? 0                                                                         \
            : (n) < 16 ? (UINT64_C(1) << 8 * ((n)&7)) - 1                                          \
                       : UINT64_MAX                                                                \
    }
const struct walk_bytes walk_first_bytes[WALK_CHAIN_BYTES + 1] = {
    FIRST(0), FIRST(1),  FIRST(2),  FIRST(3),  FIRST(4),  FIRST(5),  FIRST(6),  FIRST(7), FIRST(8),
    FIRST(9), FIRST(10), FIRST(11), FIRST(12), FIRST(13), FIRST(14), FIRST(15), FIRST(16)
};

/* Within the chain, and with what stands beside it. */
enum {
    CALLS = PD_LENGTH(((struct walk_chain *)0)->calls),
    MOST_CALLS = CALLS + PD_LENGTH(((struct walk_chain_more *)0)->calls),
    RETURNS = PD_LENGTH(((struct walk_chain *)0)->returns),
    MOST_RETURNS = RETURNS + PD_LENGTH(((struct walk_chain_more *)0)->returns)
};

/* What a chain does so far. */
struct learner {
    struct pd_pt_decoder *d;
    struct walk_chain chain;
    struct pd_code_node *calls[MOST_CALLS], *returns[MOST_RETURNS];
    uint64_t last_ip;
    uint64_t insns;
};

static bool learn_calls(struct learner *l, struct pd_code_node *const *calls, unsigned count)
{
    struct walk_chain *chain = &l->chain;
    if (chain->call_count + count > MOST_CALLS)
        return false;
    for (unsigned i = 0; i < count; i++)
        l->calls[chain->call_count++] = calls[i];
    return true;
}

static bool learn_run(struct learner *l, const struct walk_run *run)
{
    if (!run)
        return false;
    l->chain.need = PD_MAX(l->chain.need, (uint32_t)l->insns + run->insns + run->end_insns);
    l->insns += run->insns;
    l->chain.end = run->end;
    if (run->last)
        l->chain.last = run->last;
    return learn_calls(l, run->calls, run->call_count);
}

/* A return that TNT covers. */
static bool learn_return(struct learner *l, bool taken)
{
    const struct pd_pt_decoder *d = l->d;
    struct walk_chain *chain = &l->chain;
    struct pd_code_node *ret = chain->end, *call;
    if (ret->op != PD_INSN_RET || ret->branch != PD_BRANCH_INDIRECT || !taken ||
        !d->config.return_compression)
        return false;
    if (chain->call_count) {
        call = l->calls[--chain->call_count];
    } else {
        if (chain->pops >= MOST_RETURNS || d->stack.count - d->stack.stale <= chain->pops)
            return false;
        call = d->stack.returns[d->stack.count - 1 - chain->pops].call;
        chain->more_returns |= chain->pops >= RETURNS;
        l->returns[chain->pops++] = call;
    }
    l->insns += ret->insns;
    chain->last = ret;
    chain->end = call->fall;
    return chain->end && !walk_is_place(d, chain->end->ip);
}

static bool learn_tnt(struct learner *l, unsigned head)
{
    unsigned bits = head >> 1, count = 31 - (unsigned)__builtin_clz(bits);
    const struct walk_run *run = walk_get_run(l->d, l->chain.end, bits);
    if (run && ((run->flags & RUN_TAKEN) || !run->used)) /* a return is a step */
        l->chain.takes |= (uint16_t)(1u << l->chain.size);
    while (learn_run(l, run)) {
        count -= run->used;
        if (!count)
            return true;
        if (!run->used || l->chain.end->branch == PD_BRANCH_INDIRECT) {
            if (!learn_return(l, bits >> (count - 1) & 1))
                return false;
            if (!--count)
                return true;
        }
        run = walk_get_run(l->d, l->chain.end, (bits & ((1u << count) - 1)) | 1u << count);
    }
    return false;
}

static void learn_last_ip(struct learner *l, unsigned size, uint64_t ip)
{
    struct walk_chain *chain = &l->chain;
    const unsigned keeps = size / 16;
    if (!chain->keeps) {
        chain->keeps = (uint8_t)keeps;
        chain->ip_before = l->last_ip & walk_ip_kept[keeps];
    }
    l->last_ip = size == 48 ? (uint64_t)((int64_t)(ip << 16) >> 16)
                            : (l->last_ip & walk_ip_kept[keeps]) | ip;
    chain->ip_behind = l->last_ip;
}

static bool learn_tip(struct learner *l, unsigned size, uint64_t ip)
{
    enum pd_code_error error;
    struct pd_pt_decoder *d = l->d;
    struct walk_chain *chain = &l->chain;
    if (!learn_run(l, walk_get_run(d, chain->end, 1)))
        return false;
    struct pd_code_node *branch = chain->end;
    learn_last_ip(l, size, ip);
    /* Nodes of the kernel may belong to several views. */
    if (branch->branch != PD_BRANCH_INDIRECT || walk_is_place(d, l->last_ip) ||
        (branch->last_ip >= d->code.view->kernel_start) !=
            (l->last_ip >= d->code.view->kernel_start))
        return false;
    l->insns += branch->insns;
    chain->need = PD_MAX(chain->need, (uint32_t)l->insns);
    chain->last = branch;
    chain->takes |= (uint16_t)(1u << chain->size);
    if (branch->op == PD_INSN_CALL && !learn_calls(l, &branch, 1))
        return false;
    if (branch->op == PD_INSN_RET) {
        if (chain->call_count)
            chain->call_count--;
        else
            chain->pops++;
    }
    chain->end = walk_look_up(d, l->last_ip, &error);
    return chain->end != NULL;
}

/* Notes that the packet at that place does what has been learnt. */
static void learnt(struct learner *l, unsigned size, unsigned kind)
{
    struct walk_chain *chain = &l->chain;
    chain->insns_last[1] = chain->insns_last[0];
    chain->at_last[1] = chain->at_last[0];
    chain->insns_last[0] = chain->insns;
    chain->at_last[0] = chain->size;
    chain->insns = (uint32_t)l->insns;
    chain->last_kind = (uint8_t)kind;
    chain->size = (uint8_t)(chain->size + size);
}

/* Learns as many of the packets as possible. */
static void learn(struct learner *l, const struct walk_bytes *bytes, unsigned size)
{
    uint8_t packets[WALK_CHAIN_BYTES + 8] = { 0 };
    pd_store64(packets, bytes->low, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    pd_store64(packets + 8, bytes->high, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    while (l->chain.size < size) {
        const uint8_t *p = packets + l->chain.size;
        struct learner before = *l;
        const unsigned packet = walk_control_size[*p], bits = 8 * (packet - 1);
        uint64_t ip = bits ? pd_load64(p + 1, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
                                     << (64 - bits) >>
                                 (64 - bits)
                           : 0;
        if (!(bits ? learn_tip(l, bits, ip) : learn_tnt(l, *p)) || l->insns > UINT32_MAX / 2) {
            *l = before;
            break;
        }
        learnt(l, packet, bits ? PD_PT_TIP : PD_PT_TNT);
    }
    if (l->chain.size)
        l->chain.bytes = walk_first(*bytes, l->chain.size);
}

/* Where the chain is to be kept; *known: it was seen before. NULL: its packets must be walked one
 * by one. */
static struct walk_chain *place_for(struct walk_chains *chains, struct walk_chain *set,
                                    const struct walk_chain *chain, bool *known)
{
    struct walk_chain *place = NULL;
    for (unsigned i = 0; i < 2; i++) {
        struct walk_chain *slot = &set[i];
        bool alive = slot->node && slot->epoch == chain->epoch;
        bool same = alive && slot->node == chain->node && walk_begins_with(chain->bytes, slot);
        if (same && slot->end && !slot->size)
            return NULL;
        *known |= same;
        if ((!alive || !slot->end) && (same || !place))
            place = slot;
    }
    return place ? place : &set[chains->turn++ & 1];
}

/* Stores what has been learnt, with what has no room within the chain. */
static void store(struct walk_chains *chains, struct walk_chain *place, const struct learner *l)
{
    *place = l->chain;
    memcpy(place->calls, l->calls, sizeof place->calls);
    memcpy(place->returns, l->returns, sizeof place->returns);
    if (place->call_count <= CALLS && !place->more_returns)
        return;
    struct walk_chain_more *more = &chains->more[place - chains->slots];
    memcpy(more->calls, l->calls + CALLS, sizeof more->calls);
    memcpy(more->returns, l->returns + RETURNS, sizeof more->returns);
}

void walk_learn_chain(struct pd_pt_decoder *d, struct walk_chain *set, struct pd_code_node *node,
                      const struct walk_bytes *bytes, unsigned size, uint64_t last_ip)
{
    struct learner l = { .d = d,
                         .chain = { .node = node,
                                    .bytes = *bytes,
                                    .insns_last = { UINT32_MAX, UINT32_MAX },
                                    .epoch = d->learnt.chains->epoch },
                         .last_ip = last_ip };
    bool known = false;
    struct walk_chain *place = place_for(d->learnt.chains, set, &l.chain, &known);
    if (!place)
        return;
    if (known || d->learnt.chains->pays) {
        l.chain.end = node;
        learn(&l, bytes, size);
    }
    store(d->learnt.chains, place, &l);
}
