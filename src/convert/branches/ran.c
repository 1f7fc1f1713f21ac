/* SPDX-License-Identifier: MIT */
/* Runs -> how often each instruction ran.
 *
 * The functions that ran are decoded from their begin to their end, so that what never ran in them
 * is known as well; then one pass over the ends of all runs gives each instruction its count. */
#include "convert/branches/ran.h"
#include "base/compare.h"
#include "itrace/code/insn.h"
#include "object/image.h"
#include <stdlib.h>

enum { RANGES_MAX = 64 };

/* A range of a function's code. */
struct part {
    uint64_t low, high;
    uint64_t moved; /* from places in the image to addresses */
};

/* What a run adds from there on. */
struct edge {
    uint64_t address, change;
};

struct counting {
    struct pd_ran *ran;
    const struct pd_image *image;
    PD_VEC(struct part) parts;
    PD_VEC(struct edge) edges;
};

static int by_low(const void *a, const void *b)
{
    const struct part *left = a, *right = b;
    return left->low != right->low ? pd_compare_u64(left->low, right->low)
                                   : pd_compare_u64(left->high, right->high);
}

static int by_address(const void *a, const void *b)
{
    return pd_compare_u64(((const struct edge *)a)->address, ((const struct edge *)b)->address);
}

static bool is_run(const struct pd_flow *flow)
{
    return flow->kind != PD_FLOW_BRANCH && flow->from.map && flow->to.map;
}

/* The function of an end of a run, unless it was the last one's as well. */
static bool add_parts(struct counting *c, const struct pd_flow_end *end)
{
    struct pd_lines_range ranges[RANGES_MAX];
    const struct part *last = c->parts.count ? &c->parts.data[c->parts.count - 1] : NULL;
    if (last && end->address >= last->low && end->address < last->high)
        return true;
    size_t count = pd_lines_ranges(c->ran->lines, end->address, ranges, RANGES_MAX);
    for (size_t i = 0; i < count; i++)
        if (!pd_vec_push(&c->parts,
                         (struct part){ ranges[i].low, ranges[i].high, end->address - end->place }))
            return false;
    return true;
}

/* From `at`, where an instruction begins. What is no instruction ends the part. */
static bool decode_part(struct counting *c, const struct part *part, uint64_t at)
{
    while (at < part->high && at - part->moved < c->image->size) {
        struct pd_insn insn;
        uint64_t place = at - part->moved;
        if (!pd_insn_decode(c->image->data + place, c->image->size - place, true, &insn))
            break;
        bool goes_on = insn.op != PD_INSN_RET && insn.op != PD_INSN_JMP;
        if (!pd_vec_push(
                &c->ran->insns,
                (struct pd_ran_insn){ .address = at, .length = insn.length, .goes_on = goes_on }))
            return false;
        at += insn.length;
    }
    return true;
}

/* Functions may share code: each byte is decoded once. */
static bool decode(struct counting *c)
{
    uint64_t end = 0;
    if (c->parts.count)
        qsort(c->parts.data, c->parts.count, sizeof *c->parts.data, by_low);
    for (size_t i = 0; i < c->parts.count; i++) {
        const struct part *part = &c->parts.data[i];
        if (part->high <= end)
            continue;
        if (!decode_part(c, part, PD_MAX(part->low, end)))
            return false;
        end = part->high;
    }
    return true;
}

/* Is there an instruction in the run, but for its last one, behind which nothing runs? The kernel
 * and processors leave such runs where branches were lost. `ends` has those instructions. */
static bool is_impossible(const struct pd_flow *run, const uint64_t *ends, size_t count)
{
    size_t before = pd_count_upto(ends, sizeof *ends, count, run->from.address - 1);
    return run->from.address && before < count && ends[before] < run->to.address;
}

static bool add_run(struct counting *c, const struct pd_flow *run)
{
    const struct edge edges[] = { { run->from.address, run->count },
                                  { run->to.address, 0 - run->cut },
                                  { run->to.address + 1, run->cut - run->count } };
    for (size_t i = 0; i < PD_LENGTH(edges); i++)
        if (edges[i].change && !pd_vec_push(&c->edges, edges[i]))
            return false;
    return true;
}

static bool add_edges(struct counting *c, const struct pd_flow_list *list)
{
    PD_VEC(uint64_t) ends = { 0 };
    bool ok = true;
    for (size_t i = 0; i < c->ran->insns.count && ok; i++)
        ok = c->ran->insns.data[i].goes_on || pd_vec_push(&ends, c->ran->insns.data[i].address);
    for (size_t i = 0; i < list->flows.count && ok; i++) {
        const struct pd_flow *flow = &list->flows.data[i];
        if (!is_run(flow))
            continue;
        if (is_impossible(flow, ends.data, ends.count))
            c->ran->impossible += flow->count;
        else
            ok = add_run(c, flow);
    }
    pd_vec_free(&ends);
    return ok;
}

/* A run lies outside where it covers something, but no instruction of a function. */
static void sweep(struct counting *c)
{
    uint64_t count = 0;
    size_t at = 0;
    if (c->edges.count)
        qsort(c->edges.data, c->edges.count, sizeof *c->edges.data, by_address);
    for (size_t i = 0; i < c->ran->insns.count; i++) {
        struct pd_ran_insn *insn = &c->ran->insns.data[i];
        for (; at < c->edges.count && c->edges.data[at].address <= insn->address; at++)
            count += c->edges.data[at].change;
        insn->count = count;
    }
}

/* Runs that begin in no function that is known. */
static uint64_t count_outside(struct pd_ran *ran, const struct pd_flow_list *list)
{
    uint64_t outside = 0;
    for (size_t i = 0; i < list->flows.count; i++) {
        const struct pd_flow *flow = &list->flows.data[i];
        size_t upto = is_run(flow)
                          ? pd_upto(ran->insns.data, ran->insns.count, address, flow->from.address)
                          : 0;
        const struct pd_ran_insn *insn = upto ? &ran->insns.data[upto - 1] : NULL;
        if (is_run(flow) && (!insn || flow->from.address - insn->address >= insn->length))
            outside += flow->count;
    }
    return outside;
}

static bool count_all(struct counting *c, struct pd_symbols *symbols,
                      const struct pd_flow_list *list)
{
    for (size_t i = 0; i < list->flows.count; i++) {
        const struct pd_flow *flow = &list->flows.data[i];
        if (!is_run(flow))
            continue;
        if (!c->image)
            c->image = pd_symbols_image(symbols, flow->from.map);
        if (!c->image || !c->image->is_64_bit)
            return true;
        if (!add_parts(c, &flow->from) || !add_parts(c, &flow->to))
            return false;
    }
    if (!decode(c) || !add_edges(c, list))
        return false;
    sweep(c);
    c->ran->outside = count_outside(c->ran, list);
    return true;
}

perfdata_status pd_ran_count(struct pd_convert *x, struct pd_symbols *symbols,
                             const struct pd_flow_list *list, struct pd_ran *out)
{
    struct counting c = { .ran = out };
    for (size_t i = 0; i < list->flows.count && !out->lines; i++) {
        const struct pd_flow *flow = &list->flows.data[i];
        out->lines = pd_symbols_lines(symbols, flow->from.map ? flow->from.map : flow->to.map);
    }
    bool ok = !out->lines || count_all(&c, symbols, list);
    pd_vec_free(&c.parts);
    pd_vec_free(&c.edges);
    return ok ? PERFDATA_OK : pd_convert_no_memory(x);
}

void pd_ran_free(struct pd_ran *ran)
{
    pd_vec_free(&ran->insns);
}
