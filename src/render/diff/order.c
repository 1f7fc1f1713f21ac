/* SPDX-License-Identifier: MIT */
/* Values of rows, and their order: by the value asked for, by what the first recording has, by the
 * other values, by keys. */
#include "base/compare.h"
#include "render/diff/diff.h"
#include <math.h>
#include <stdlib.h>

/* ---- values ---- */

double pd_diff_percent(const struct pd_diff_event *event, const struct pd_diff_row *row,
                       size_t side)
{
    return 100.0 * (double)row->values[side].period / (double)event->totals[side];
}

double pd_diff_delta(const struct pd_diff_event *event, const struct pd_diff_row *row, size_t side)
{
    return pd_diff_percent(event, row, side) - pd_diff_percent(event, row, 0);
}

double pd_diff_ratio(const struct pd_diff_row *row, size_t side)
{
    uint64_t before = row->values[0].period;
    return before ? (double)row->values[side].period / (double)before : 0;
}

int64_t pd_diff_weighted(const struct pd_diff_plan *plan, const struct pd_diff_row *row,
                         size_t side)
{
    uint64_t before = row->values[0].period * (uint64_t)plan->weights[0],
             now = row->values[side].period * (uint64_t)plan->weights[1];
    return (int64_t)(now - before);
}

/* ---- keys ---- */

enum order {
    ORDER_OTHER,
    ORDER_rising,
    ORDER_falling,
    ORDER_signed,
    ORDER_symbol,
    ORDER_comm,
    ORDER_dso,
    ORDER_parent,
    ORDER_trace,
    ORDER_line,
    ORDER_file,
    /* keys of branches, or that only one recording has */
    ORDER_unequal = ORDER_OTHER,
    ORDER_namespace = ORDER_OTHER,
    ORDER_line_from = ORDER_OTHER,
    ORDER_line_to = ORDER_OTHER,
    ORDER_dso_from = ORDER_OTHER,
    ORDER_dso_to = ORDER_OTHER,
    ORDER_symbol_from = ORDER_OTHER,
    ORDER_symbol_to = ORDER_OTHER,
    ORDER_address_from = ORDER_OTHER,
    ORDER_address_to = ORDER_OTHER,
    ORDER_cycles = ORDER_OTHER,
    ORDER_cache_line = ORDER_OTHER
};

static const uint8_t orders[PD_KEY_COUNT] = {
#define KEY(identifier, name, title, mode, ids, order, ...) [PD_KEY_##identifier] = ORDER_##order,
#include "analyse/keys.def"
};

bool pd_diff_knows_key(uint8_t key)
{
    return key < PD_KEY_COUNT && !pd_hist_is_fields(key) && orders[key] != ORDER_OTHER;
}

static int by_text(const char *a, const char *b)
{
    if (!a || !b)
        return a ? -1 : b ? 1 : 0;
    return strcmp(a, b);
}

static int by_word(const struct pd_diff *diff, const struct pd_diff_row *a,
                   const struct pd_diff_row *b, uint8_t key)
{
    uint64_t x = pd_hist_row_word(&diff->sides[a->side].result, a->row, key),
             y = pd_hist_row_word(&diff->sides[b->side].result, b->row, key);
    int rising = x < y ? -1 : x > y;
    if (orders[key] == ORDER_signed)
        rising = (int32_t)x < (int32_t)y ? -1 : (int32_t)x > (int32_t)y;
    return orders[key] == ORDER_falling ? -rising : rising;
}

static int by_key(const struct pd_diff *diff, const struct pd_diff_row *a,
                  const struct pd_diff_row *b, uint8_t key)
{
    const struct pd_hist_row *x = a->row, *y = b->row;
    switch (orders[key]) {
    case ORDER_symbol: return by_text(x->symbol, y->symbol);
    case ORDER_comm: return by_text(x->comm, y->comm);
    case ORDER_dso: return by_text(x->dso, y->dso);
    case ORDER_parent: return by_text(x->parent, y->parent);
    case ORDER_trace: return by_text(x->trace, y->trace);
    case ORDER_line: return by_text(x->line, y->line);
    case ORDER_file: return by_text(x->file, y->file);
    default: return by_word(diff, a, b, key);
    }
}

/* ---- rows ---- */

struct sorting {
    const struct pd_diff *diff;
    const struct pd_diff_event *event;
};

static int by_double(double a, double b)
{
    return a > b ? -1 : a < b;
}

/* The greatest value first; then rows without a value, as the first recording lacks them; last
 * the rows that this recording lacks. */
static int by_value(const struct sorting *sorting, const struct pd_diff_row *a,
                    const struct pd_diff_row *b, size_t side)
{
    const struct pd_diff_plan *plan = sorting->diff->plan;
    const struct pd_diff_event *event = sorting->event;
    if (!a->values[side].has || !b->values[side].has)
        return b->values[side].has - a->values[side].has;
    if (plan->method == PD_DIFF_DELTA)
        return by_double(pd_diff_delta(event, a, side), pd_diff_delta(event, b, side));
    if (plan->method == PD_DIFF_DELTA_ABS)
        return by_double(fabs(pd_diff_delta(event, a, side)), fabs(pd_diff_delta(event, b, side)));
    if (!a->values[0].has && !b->values[0].has)
        return pd_compare_u64(b->values[side].period, a->values[side].period);
    if (!a->values[0].has || !b->values[0].has)
        return b->values[0].has - a->values[0].has;
    if (plan->method == PD_DIFF_RATIO)
        return by_double(pd_diff_ratio(a, side), pd_diff_ratio(b, side));
    int64_t x = pd_diff_weighted(plan, a, side), y = pd_diff_weighted(plan, b, side);
    return x > y ? -1 : x < y;
}

static int compare(const void *left, const void *right, void *data)
{
    const struct pd_diff_row *a = left, *b = right;
    const struct sorting *sorting = data;
    const struct pd_diff *diff = sorting->diff;
    const struct pd_report_plan *plan = &diff->sides[0].plan;
    int result = diff->plan->order ? by_value(sorting, a, b, diff->plan->order) : 0;
    if (!result)
        result = pd_compare_u64(b->values[0].period, a->values[0].period);
    for (size_t side = 1; !result && side < diff->count; side++)
        result = by_value(sorting, a, b, side);
    for (size_t i = 0; !result && i < plan->layout.order_count; i++)
        if (pd_diff_knows_key(plan->layout.order[i]))
            result = by_key(diff, a, b, plan->layout.order[i]);
    return result ? result : a->index < b->index ? -1 : a->index > b->index;
}

void pd_diff_sort(const struct pd_diff *diff, struct pd_diff_event *event)
{
    struct sorting sorting = { diff, event };
    if (event->rows.count)
        qsort_r(event->rows.data, event->rows.count, sizeof *event->rows.data, compare, &sorting);
}
