/* SPDX-License-Identifier: MIT */
/* Code for the walk without files: some bytes at an address, as nodes. For one test, or one input
 * of a fuzzer. */
#ifndef PD_WALK_IMAGE_H
#define PD_WALK_IMAGE_H
#include "itrace/intel_pt/walk/decoder.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { IMAGE_MAX = 4096, IMAGE_RUN = 16 };

static struct {
    struct pd_code_view view;
    uint64_t base;
    size_t size;
    uint8_t bytes[IMAGE_MAX];
    struct pd_code_node *nodes[IMAGE_MAX]; /* by offset */
} image;

static void image_clear(void)
{
    for (size_t i = 0; i < IMAGE_MAX; i++) {
        if (image.nodes[i])
            free((void *)(uintptr_t)image.nodes[i]->lengths);
        free(image.nodes[i]);
    }
    memset(&image, 0, sizeof image);
}

static void image_set(uint64_t base, const void *bytes, size_t size)
{
    image_clear();
    image.base = base;
    image.size = PD_MIN(size, (size_t)IMAGE_MAX);
    memcpy(image.bytes, bytes, image.size);
    image.view.kernel_start = UINT64_C(1) << 63;
}

/* Instructions up to a branch, or IMAGE_RUN of them. */
static struct pd_code_node *image_node(uint64_t ip)
{
    static const char mark[] = "\x0f\x0bperf,ptwrite  ";
    uint8_t lengths[IMAGE_RUN];
    size_t at = (size_t)(ip - image.base);
    struct pd_insn insn = { 0 };
    struct pd_code_node *node = calloc(1, sizeof *node);
    node->ip = node->next_ip = ip;
    while (node->insns < IMAGE_RUN && at < image.size && insn.branch == PD_BRANCH_NONE &&
           pd_insn_decode(image.bytes + at, PD_MIN(image.size - at, 16), true, &insn)) {
        lengths[node->insns++] = insn.length;
        node->last_ip = node->next_ip;
        node->next_ip += insn.length;
        at += insn.length;
        node->op = insn.op;
        node->branch = insn.branch;
        node->length = insn.length;
    }
    if (!node->insns) {
        free(node);
        return NULL;
    }
    if (node->branch == PD_BRANCH_CONDITIONAL || node->branch == PD_BRANCH_UNCONDITIONAL)
        node->target = node->next_ip + (uint64_t)(int64_t)insn.rel;
    node->emulated_ptwrite = node->op == PD_INSN_JMP && insn.rel == 16 && image.size - at >= 16 &&
                             !memcmp(image.bytes + at, mark, 16);
    uint8_t *copy = malloc(node->insns);
    memcpy(copy, lengths, node->insns);
    node->lengths = copy;
    return node;
}

static struct pd_code_node *image_at(struct pd_code_view *view, uint64_t ip,
                                     enum pd_code_error *error)
{
    (void)view;
    *error = PD_CODE_NO_MAP;
    if (ip - image.base >= image.size)
        return NULL;
    struct pd_code_node **slot = &image.nodes[ip - image.base];
    *error = PD_CODE_UNDECODABLE;
    return *slot ? *slot : (*slot = image_node(ip));
}

static struct pd_code_node *image_link(struct pd_code_view *view, struct pd_code_node *node,
                                       bool taken, enum pd_code_error *error)
{
    struct pd_code_node *to = image_at(view, taken ? node->target : node->next_ip, error);
    if (taken)
        node->taken = to;
    else
        node->fall = to;
    return to;
}

/* A trace in some buffers. */
struct image_trace {
    const uint8_t *bytes;
    size_t size, cut; /* the second buffer begins there; 0: one buffer */
    bool gap;         /* the second one does not go on where the first ends */
    size_t given;
};

static int image_buffer(void *data, struct pd_pt_buffer *out)
{
    struct image_trace *trace = data;
    if (trace->given >= trace->size)
        return 0;
    size_t from = trace->given, to = from < trace->cut ? trace->cut : trace->size;
    *out = (struct pd_pt_buffer){ .data = trace->bytes + from,
                                  .size = to - from,
                                  .reference = 0x10000000,
                                  .trace_nr = from ? 2 : 1,
                                  .position = from,
                                  .consecutive = from && !trace->gap };
    trace->given = to;
    return 1;
}

static struct pd_pt_config image_config(struct image_trace *trace)
{
    return (struct pd_pt_config){ .branches = true,
                                  .return_compression = true,
                                  .mtc_shift = 3,
                                  .tsc_ctc_n = 184,
                                  .tsc_ctc_d = 2,
                                  .max_non_turbo_ratio = 23,
                                  .wanted = PD_PT_ALL_STEPS,
                                  .timeful = true,
                                  .kernel_start = UINT64_C(1) << 63,
                                  .data = trace,
                                  .buffer = image_buffer,
                                  .code_at = image_at,
                                  .code_link = image_link };
}

/* ---- with branches seen and not seen, the rest is the same ---- */

static bool same_step(const struct pd_pt_state *a, const struct pd_pt_state *b)
{
    bool here = a->error || b->error; /* of an error only where, when and how much counts */
    return a->error == b->error && a->from_ip == b->from_ip && a->timestamp == b->timestamp &&
           a->est_timestamp == b->est_timestamp && a->tot_insn_cnt == b->tot_insn_cnt &&
           a->tot_cyc_cnt == b->tot_cyc_cnt && a->cycles == b->cycles &&
           a->trace_nr == b->trace_nr && a->cbr == b->cbr &&
           (here ||
            (a->type == b->type && a->flags == b->flags && a->to_ip == b->to_ip &&
             a->insn_op == b->insn_op && a->insn_length == b->insn_length &&
             a->insn_ip == b->insn_ip && a->from_nr == b->from_nr && a->to_nr == b->to_nr &&
             a->from_if == b->from_if && a->to_if == b->to_if && a->payload.ptw == b->payload.ptw));
}

static void print_step(const char *name, const struct pd_pt_state *s)
{
    if (!s) {
        fprintf(stderr, "%s: end\n", name);
        return;
    }
    fprintf(stderr,
            "%s: error %d type %x flags %x %" PRIx64 " -> %" PRIx64 " time %" PRIx64 " (%" PRIx64
            ") insns %" PRIu64 " cycles %" PRIu64 " %" PRIu64 " op %d+%d at %" PRIx64
            " cbr %u nr %d%d if %d%d\n",
            name, s->error, s->type, s->flags, s->from_ip, s->to_ip, s->timestamp, s->est_timestamp,
            s->tot_insn_cnt, s->tot_cyc_cnt, s->cycles, s->insn_op, s->insn_length, s->insn_ip,
            s->cbr, s->from_nr, s->to_nr, s->from_if, s->to_if);
}

static bool image_is_place(const struct pd_pt_state *state, const struct pd_pt_config *config)
{
    return config->watches_ips && state->type & PD_PT_BRANCH &&
           (!state->to_ip || state->to_ip == config->watch_ips[0] ||
            state->to_ip == config->watch_ips[1]);
}

static bool image_kept(const struct pd_pt_state *state, const struct pd_pt_config *config,
                       uint64_t limit)
{
    return state->error || (state->type & config->wanted) || state->timestamp >= limit ||
           image_is_place(state, config);
}

static bool image_returns(const struct pd_pt_state *state, const struct pd_pt_config *config)
{
    return config->timeful && state->to_ip && state->to_ip < config->kernel_start &&
           (!state->from_ip || state->from_ip >= config->kernel_start);
}

/* The next step of the one that sees all that the other one tells, `x`. A return to user space may
 * be told with a later step, unless its time is the limit's. */
static const struct pd_pt_state *image_next(struct pd_pt_decoder *seen,
                                            const struct pd_pt_config *config, uint64_t limit,
                                            const struct pd_pt_state *x)
{
    const struct pd_pt_state *y;
    uint64_t skipped = 0;
    while ((y = pd_pt_decode(seen, limit)) != NULL) {
        const bool told = !x || x->skipped_timestamp == skipped;
        if (image_kept(y, config, limit) || (x && told && same_step(x, y)))
            return told ? y : NULL;
        if (!image_returns(y, config))
            continue;
        if (y->est_timestamp >= limit)
            return y;
        skipped = y->est_timestamp;
    }
    return NULL;
}

/* How many steps were told; SIZE_MAX: they differ. `step`: ticks to the next limit, 0: none. */
static size_t image_compare(const struct pd_pt_config *config, struct image_trace *trace,
                            uint64_t step)
{
    struct image_trace one = *trace, other = *trace;
    struct pd_pt_config unreported = *config, seen = *config;
    unreported.data = &one;
    seen.data = &other;
    seen.wanted |= PD_PT_BRANCH | PD_PT_INSTRUCTION;
    struct pd_pt_decoder *a = pd_pt_decoder_new(&unreported), *b = pd_pt_decoder_new(&seen);
    pd_pt_set_code(a, &image.view, &image.view);
    pd_pt_set_code(b, &image.view, &image.view);
    uint64_t limit = step ? 0 : UINT64_MAX;
    size_t count = 0;
    for (;;) {
        const struct pd_pt_state *x = pd_pt_decode(a, limit), *y = image_next(b, config, limit, x);
        if (!x && !y)
            break;
        if (!x || !y || !same_step(x, y)) {
            print_step("branches not seen", x);
            print_step("branches seen", y);
            count = SIZE_MAX;
            break;
        }
        count++;
        if (step)
            limit = x->timestamp + step;
    }
    pd_pt_decoder_free(a);
    pd_pt_decoder_free(b);
    return count;
}

/* ---- steps handed over at once are those that come one by one ---- */

enum { IMAGE_MORE = 64 };

/* Those behind a step, as the step each of them would be. */
struct image_more {
    struct pd_pt_state steps[IMAGE_MORE];
    size_t count;
};

static void image_push(struct image_more *more, struct pd_pt_state step)
{
    step.insn_ip = step.from_ip;
    step.est_timestamp = 0; /* nobody asks */
    if (more->count < IMAGE_MORE)
        more->steps[more->count++] = step;
}

static void image_straight(struct image_more *more, const struct pd_pt_state *like,
                           const struct pd_pt_straight *straight, uint64_t insns)
{
    struct pd_pt_state step = *like;
    step.type = PD_PT_INSTRUCTION;
    step.from_ip = straight->ip;
    step.to_ip = 0;
    step.insn_op = PD_INSN_OTHER;
    for (size_t i = 0; i < straight->count; i++) {
        step.insn_length = straight->lengths[i];
        step.tot_insn_cnt = insns + i + 1;
        image_push(more, step);
        step.from_ip += step.insn_length;
    }
}

static void image_get_more(struct pd_pt_decoder *decoder, const struct pd_pt_state *step,
                           size_t most, struct image_more *more)
{
    struct pd_pt_branch branches[IMAGE_RUN];
    struct pd_pt_straight straight;
    struct pd_pt_state last = *step;
    uint64_t insns = step->tot_insn_cnt;
    last.from_if = last.to_if;
    last.from_nr = last.to_nr;
    more->count = 0;
    size_t count = pd_pt_branches(decoder, IMAGE_MORE, branches, most);
    const uint32_t all = step->type & PD_PT_INSTRUCTION;
    for (size_t i = 0; i < count; i++) {
        struct pd_pt_state branch = last; /* what is not handed over stays as it is */
        size_t before = branches[i].straight.count;
        last.flags = before && branches[i].straight.has_cycles ? PD_PT_SAMPLE_IPC : 0;
        image_straight(more, &last, &branches[i].straight, branches[i].insns - before - 1);
        branch.timestamp = branches[i].timestamp;
        branch.tot_cyc_cnt = branches[i].tot_cycles;
        branch.cycles = branches[i].cycles;
        branch.flags = branches[i].has_cycles ? PD_PT_SAMPLE_IPC : 0;
        branch.type = all | (branches[i].to ? PD_PT_BRANCH : 0);
        branch.from_ip = branches[i].from;
        branch.to_ip = branches[i].to;
        branch.insn_op = branches[i].insn_op;
        branch.insn_length = branches[i].insn_length;
        branch.tot_insn_cnt = branches[i].insns;
        image_push(more, branch);
        last = branch;
    }
    if (!count && pd_pt_straight(decoder, most, &straight))
        image_straight(more, step, &straight, insns);
}

/* None of them has come to the limit. */
static bool image_below(const struct image_more *more, uint64_t limit)
{
    for (size_t i = 0; i < more->count; i++)
        if (more->steps[i].timestamp >= limit)
            return false;
    return true;
}

/* How many were handed over so; SIZE_MAX: they differ. `step`: ticks to the next limit, 0: none. */
static size_t image_compare_more(const struct pd_pt_config *config, const struct image_trace *trace,
                                 size_t most, uint64_t step)
{
    struct image_trace one = *trace, other = *trace;
    struct pd_pt_config alone = *config, together = *config;
    struct image_more more = { .count = 0 };
    alone.data = &one;
    together.data = &other;
    struct pd_pt_decoder *a = pd_pt_decoder_new(&alone), *b = pd_pt_decoder_new(&together);
    pd_pt_set_code(a, &image.view, &image.view);
    pd_pt_set_code(b, &image.view, &image.view);
    size_t at = 0, left = 0, count = 0;
    uint64_t limit = step ? step : UINT64_MAX;
    for (;;) {
        const struct pd_pt_state *x = pd_pt_decode(a, limit), *y;
        y = left ? &more.steps[at] : pd_pt_decode(b, limit);
        if (!x && !y)
            break;
        struct pd_pt_state plain = x ? *x : (struct pd_pt_state){ 0 };
        plain.est_timestamp = left ? 0 : plain.est_timestamp;
        if (!x || !y || !same_step(&plain, y) || !image_below(&more, limit)) {
            print_step("alone", x);
            print_step("together", y);
            count = SIZE_MAX;
            break;
        }
        if (left) {
            left--;
            at++;
        } else if (y->timestamp >= limit) {
            limit = y->timestamp + step;
            more.count = 0;
        } else if (!y->error) {
            image_get_more(b, y, PD_MIN(most, (size_t)IMAGE_RUN), &more);
            left = more.count;
            count += left;
            at = 0;
        }
    }
    pd_pt_decoder_free(a);
    pd_pt_decoder_free(b);
    return count;
}
#endif
