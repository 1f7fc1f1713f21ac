/* SPDX-License-Identifier: MIT */
/* c2c report: call chains of the accesses, below the places of each line. */
#include "render/memory/c2c_chains.h"
#include "container/handle.h"
#include "render/report/collect.h"
#include <stdlib.h>

enum { MAX_STACK = 127 }; /* frames, as everywhere in perf */

struct pd_c2c_chains {
    struct perfdata_report_options options; /* of `plan` */
    struct pd_report_plan plan;
    struct pd_report_collecting shared;
    struct pd_report_state *state;
    struct pd_chain_item *items; /* by row */
    size_t *begin;               /* per row, one more at the end */
    struct pd_chain_tree tree;   /* of the row that was drawn last */
};

static bool has_chains(const struct pd_recording *recording)
{
    for (size_t i = 0; i < recording->event_count; i++)
        if (pd_event_fields(recording->events[i]) & PD_SAMPLE_CALLCHAIN)
            return true;
    return false;
}

/* Sets up the plan of a report whose rows are those of c2c: the caller numbers them, so no keys
 * tell them apart. Accesses need the map of each place, so processes must not share locations. */
static void plan_rows(struct pd_report_plan *plan)
{
    plan->mode = PD_REPORT_MEMORY;
    plan->chains.max_stack = MAX_STACK;
    plan->hist.use_chains = true;
    plan->hist.keeps_addresses = plan->hist.frames != PD_FRAMES_BY_FUNCTION;
}

perfdata_status pd_c2c_chains_open(struct pd_c2c *c2c, struct pd_c2c_chains **out)
{
    *out = NULL;
    struct pd_c2c_chains *chains = calloc(1, sizeof *chains);
    if (!chains)
        return PERFDATA_ERROR_MEMORY;
    chains->options.struct_size = sizeof chains->options;
    chains->options.call_graph = c2c->options->call_graph;
    perfdata_status status = pd_report_plan_make(&c2c->recording->context, &chains->options,
                                                 &chains->plan);
    bool wanted = status >= 0 && chains->plan.chains.mode != PD_CHAIN_NONE &&
                  !(c2c->options->flags & (PERFDATA_C2C_NO_CHAINS | PERFDATA_C2C_STATS)) &&
                  has_chains(c2c->recording);
    if (!wanted) {
        pd_c2c_chains_close(chains);
        return status;
    }
    plan_rows(&chains->plan);
    chains->shared = (struct pd_report_collecting){ .plan = &chains->plan,
                                                    .session = &c2c->session,
                                                    .wants_chain = true };
    *out = chains;
    return PERFDATA_OK;
}

bool pd_c2c_chains_begin(struct pd_c2c_chains *chains, struct pd_resolver *resolver)
{
    chains->state = pd_report_state_new(&chains->shared, resolver);
    return chains->state != NULL;
}

bool pd_c2c_chains_count(struct pd_c2c_chains *chains, struct pd_report_facts *facts, uint32_t row)
{
    if (!pd_report_take_chain(chains->state, facts))
        return false;
    if (facts->cell == PD_HIST_NONE)
        return true;
    struct pd_hist_pair *pair = pd_hist_pair_at(&chains->state->hist, row, facts->cell);
    if (!pair)
        return false;
    pair->period += facts->period;
    pair->count++;
    pair->number = PD_MIN(pair->number, facts->number);
    pair->last = facts->number;
    return true;
}

/* Orders stacks by row, and within a row the one with the earliest sample first. */
static int compare_pairs(const void *left, const void *right)
{
    const struct pd_hist_pair *a = left, *b = right;
    if (a->entry != b->entry)
        return a->entry < b->entry ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static bool index_pairs(struct pd_c2c_chains *chains, struct pd_hist *hist, size_t rows)
{
    size_t count = hist->pairs.count, row = 0;
    chains->begin = calloc(rows + 1, sizeof *chains->begin);
    chains->items = calloc(count + 1, sizeof *chains->items);
    if (!chains->begin || !chains->items)
        return false;
    if (count)
        qsort(hist->pairs.data, count, sizeof *hist->pairs.data, compare_pairs);
    for (size_t i = 0; i < count; i++) {
        const struct pd_hist_pair *pair = &hist->pairs.data[i];
        for (; row <= pair->entry; row++)
            chains->begin[row] = i;
        chains->items[i] = (struct pd_chain_item){ .cell = pair->cell,
                                                   .hits = pair->period,
                                                   .count = pair->count,
                                                   .order = (uint32_t)i,
                                                   .last = (uint32_t)i };
    }
    for (; row <= rows; row++)
        chains->begin[row] = count;
    return true;
}

bool pd_c2c_chains_settle(struct pd_c2c_chains *chains, size_t rows)
{
    if (!chains->state) /* there was no record */
        return true;
    struct pd_hist *hist = &chains->state->hist;
    pd_hist_settle(hist);
    return !hist->failed &&
           pd_report_frame_lines(&chains->plan, chains->shared.session->symbols, hist,
                                 &chains->plan.arena) >= 0 &&
           pd_chain_rank(hist) >= 0 && index_pairs(chains, hist, rows);
}

perfdata_status pd_c2c_chains_draw(struct pd_c2c_chains *chains, const struct pd_c2c_cell *line,
                                   const struct pd_c2c_cell *row, struct pd_text *out)
{
    const struct pd_report_plan *plan = &chains->plan;
    const struct pd_report_table table = { .plan = plan,
                                           .hist = &chains->state->hist,
                                           .chain_total = line->period };
    const struct pd_hist_row drawn = { .period = row->period };
    size_t begin = chains->begin[row->key], end = chains->begin[row->key + 1];
    /* Whatever least share -g names, perf leaves nothing out here. */
    perfdata_status status = pd_chain_build(table.hist, chains->items + begin, end - begin,
                                            plan->chains.mode, 0, 0, &chains->tree);
    if (status >= 0)
        pd_report_graph(&table, &drawn, &chains->tree, out);
    return status;
}

void pd_c2c_chains_close(struct pd_c2c_chains *chains)
{
    if (!chains)
        return;
    pd_report_state_free(chains->state);
    pd_report_plan_free(&chains->plan);
    pd_chain_tree_free(&chains->tree);
    free(chains->items);
    free(chains->begin);
    free(chains);
}
