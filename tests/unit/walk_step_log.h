/* SPDX-License-Identifier: MIT */
/* Steps that come from a step log are those of a decoder that walks there itself. */
#ifndef PD_WALK_STEP_LOG_H
#define PD_WALK_STEP_LOG_H
#include "itrace/synth/ahead_step_log.h"
#include "walk_image.h"

struct image_logging {
    struct pd_pt_decoder *walker; /* another one, which makes the step logs */
    struct pd_pt_snapshot *seed, *own, *entry;
    bool seeded;
    uint64_t psb; /* the one before */
    struct pd_step_log step_log;
    struct pd_pt_cycles changes;
    struct pd_step_log_reader reader;
    bool reads;
    size_t count; /* steps told from step logs */
};

/* From a PSB before to that place, where it has to be as the other one is. */
static bool image_warm_up(struct image_logging *t, uint64_t place)
{
    const struct pd_pt_state *state;
    pd_pt_snapshot_begin(t->walker, t->seed, t->psb);
    do {
        state = pd_pt_decode(t->walker, UINT64_MAX);
    } while (state &&
             (state->error || !(state->type & PD_PT_PSB_EVENT) || state->psb_offset < place));
    return state && state->psb_offset == place && pd_pt_snapshot_take(t->entry, t->walker) &&
           pd_pt_snapshot_same(t->own, t->entry);
}

/* As far as a part goes: to a PSB where cycles are counted as at its begin. */
static void image_log_steps(struct image_logging *t)
{
    const struct pd_pt_state *state;
    struct pd_pt_counted begin, end;
    size_t steps = 0;
    t->changes.list.count = t->changes.fixed = t->changes.taken = 0;
    t->changes.each = true;
    t->changes.failed = false;
    pd_pt_note_cycles(t->walker, &t->changes);
    pd_step_log_begin(&t->step_log, t->entry);
    pd_pt_snapshot_counted(t->entry, &begin);
    do {
        state = pd_pt_decode(t->walker, UINT64_MAX);
        if (!state || state->error == PD_PT_NO_INSN ||
            !pd_step_log_put_step(&t->step_log, state, false, &t->changes))
            break;
        if (state->error || !(state->type & PD_PT_PSB_EVENT) ||
            !pd_pt_snapshot_take(t->entry, t->walker))
            continue;
        pd_pt_snapshot_counted(t->entry, &end);
        if (end.have_cyc == begin.have_cyc)
            steps = t->step_log.steps.count;
    } while (pd_step_log_put_branches(&t->step_log, t->walker, &t->changes));
    pd_pt_note_cycles(t->walker, NULL);
    t->reads = steps > 0 && !t->changes.failed;
    if (!t->reads)
        return;
    t->step_log.steps.count = steps;
    t->step_log.branches.count = t->step_log.steps.data[steps - 1].branches;
    pd_step_log_open(&t->reader, &t->step_log, &t->changes, t->own);
    t->reader.sees_code = true;
}

/* The decoder has come to a PSB. */
static void image_at_psb(struct image_logging *t, struct pd_pt_decoder *decoder, uint64_t place)
{
    if (pd_pt_snapshot_take(t->own, decoder)) {
        if (t->seeded && !t->reads && image_warm_up(t, place))
            image_log_steps(t);
        if (!t->seeded) {
            struct pd_pt_snapshot *swap = t->seed;
            t->seed = t->own;
            t->own = swap;
            t->seeded = true;
        }
    }
    t->psb = place;
}

static bool image_same_logged(struct image_logging *t, const struct pd_pt_state *x)
{
    const struct pd_pt_state *y = pd_step_log_next(&t->reader);
    struct pd_pt_state plain = *x;
    plain.cycles = y->cycles; /* nobody asks */
    if (!y->est_timestamp)
        plain.est_timestamp = 0;
    t->count++;
    t->reads = !pd_step_log_is_at_end(&t->reader);
    if (same_step(&plain, y) && x->psb_offset == y->psb_offset)
        return true;
    print_step("walked", x);
    print_step("logged", y);
    return false;
}

static int image_no_buffer(void *data, struct pd_pt_buffer *out)
{
    (void)data;
    (void)out;
    return 0;
}

/* How many steps came from step logs; SIZE_MAX: they differ. */
static size_t image_compare_step_log(const struct pd_pt_config *config,
                                     const struct image_trace *trace)
{
    struct image_trace one = *trace;
    struct pd_pt_config alone = *config, walker = *config;
    alone.data = &one;
    walker.buffer = image_no_buffer;
    struct pd_pt_decoder *decoder = pd_pt_decoder_new(&alone);
    struct image_logging t = { .walker = pd_pt_decoder_new(&walker),
                               .seed = pd_pt_snapshot_new(),
                               .own = pd_pt_snapshot_new(),
                               .entry = pd_pt_snapshot_new() };
    pd_pt_set_code(decoder, &image.view, NULL);
    pd_pt_set_code(t.walker, &image.view, NULL);
    const struct pd_pt_state *state;
    bool same = true;
    while (same && (state = pd_pt_decode(decoder, UINT64_MAX)) != NULL) {
        if (t.reads)
            same = image_same_logged(&t, state);
        if (!state->error && state->type & PD_PT_PSB_EVENT)
            image_at_psb(&t, decoder, state->psb_offset);
    }
    pd_pt_decoder_free(decoder);
    pd_pt_decoder_free(t.walker);
    free(t.seed);
    free(t.own);
    free(t.entry);
    pd_vec_free(&t.step_log.branches);
    pd_vec_free(&t.step_log.steps);
    pd_vec_free(&t.changes.list);
    return same ? t.count : SIZE_MAX;
}

#endif
