/* SPDX-License-Identifier: MIT */
/* Which rows of several recordings mean the same. The texts of their keys decide, so that different
 * builds of a program can be compared. */
#include "render/diff/diff.h"

static void put_text(struct pd_text *out, const char *text)
{
    pd_text_char(out, text ? 1 : 0);
    pd_text_string(out, text ? text : "");
    pd_text_char(out, 0);
}

static void put_key(const struct pd_diff_side *side, const struct pd_hist_row *row, uint8_t key,
                    struct pd_text *out)
{
    uint64_t word;
    switch (key) {
    case PD_KEY_COMM: put_text(out, row->comm); break;
    case PD_KEY_DSO: put_text(out, row->dso); break;
    case PD_KEY_SYMBOL: put_text(out, row->symbol); break;
    case PD_KEY_PARENT: put_text(out, row->parent); break;
    case PD_KEY_TRACE: put_text(out, row->trace); break;
    case PD_KEY_SRCLINE: put_text(out, row->line); break;
    case PD_KEY_SRCFILE: put_text(out, row->file); break;
    default:
        word = pd_hist_row_word(&side->result, row, key);
        pd_text_bytes(out, &word, sizeof word);
        break;
    }
}

/* The number of the rows with these keys. PD_INTERN_NONE: no memory, or `known` and there are none
 * yet. */
static uint32_t identity_of(const struct pd_diff_side *side, const struct pd_hist_row *row,
                            bool known, struct pd_intern *identities, struct pd_text *text)
{
    const struct pd_hist_options *options = &side->plan.hist;
    text->length = 0;
    for (unsigned k = 0; k < options->key_count; k++)
        put_key(side, row, options->keys[k], text);
    if (text->failed)
        return PD_INTERN_NONE;
    return known ? pd_intern_find(identities, text->data, text->length)
                 : pd_intern(identities, text->data, text->length);
}

static uint64_t place_of(const struct pd_hist_row *row)
{
    const struct pd_symbol *symbol = row->entry->first.symbol;
    return symbol ? symbol->start : row->addr;
}

/* perf's tree begins with the lowest address, and the kernel's are negative there. */
static bool stands_before(const struct pd_hist_row *a, const struct pd_hist_row *b)
{
    return (int64_t)place_of(a) < (int64_t)place_of(b);
}

static bool add_row(struct pd_diff *diff, struct pd_diff_event *event, uint32_t side,
                    const struct pd_hist_row *row, uint32_t id)
{
    if (id == event->rows.count) {
        struct pd_diff_row made = { .row = row, .side = side, .index = id };
        made.values = pd_arena_zalloc(&diff->arena, diff->count * sizeof *made.values);
        if (!made.values || !pd_vec_push(&event->rows, made))
            return false;
    }
    struct pd_diff_row *known = &event->rows.data[id];
    struct pd_diff_value *value = &known->values[side];
    if (known->side == side && value->has && stands_before(row, known->row))
        known->row = row;
    value->has = true;
    value->period += row->period;
    value->count += row->count;
    return true;
}

/* A side's rows with the same keys: the one that perf keeps, and what all hold. */
struct joined {
    const struct pd_hist_row *row;
    uint64_t period;
};

/* What the rows of a side that the filters leave hold together. perf adds up whole rows, with those
 * samples that a filter drops, and asks of rows that it joins only the one that it keeps. */
static perfdata_status kept_period(const struct pd_diff_side *side,
                                   const struct pd_hist_event *event, struct pd_text *text,
                                   uint64_t *out)
{
    struct pd_intern identities = { 0 };
    PD_VEC(struct joined) all = { 0 };
    bool ok = true;
    for (size_t i = 0; i < event->rows.count && ok; i++) {
        const struct pd_hist_row *row = event->rows.data[i];
        struct joined made = { row, 0 };
        uint32_t id = identity_of(side, row, false, &identities, text);
        const bool is_new = id >= all.count;
        ok = id != PD_INTERN_NONE && (!is_new || pd_vec_push(&all, made));
        if (!ok)
            break;
        struct joined *known = &all.data[is_new ? all.count - 1 : id];
        if (stands_before(row, known->row))
            known->row = row;
        known->period += row->period;
    }
    *out = 0;
    for (size_t i = 0; i < all.count; i++)
        *out += all.data[i].row->filtered ? 0 : all.data[i].period;
    pd_vec_free(&all);
    pd_intern_free(&identities);
    return ok ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;
}

/* `known`: only rows that a side before has, too. */
static perfdata_status add_side(struct pd_diff *diff, struct pd_diff_event *event, uint32_t side,
                                bool known, struct pd_intern *identities, struct pd_text *text)
{
    const struct pd_diff_side *from = &diff->sides[side];
    if (event->events[side] == PD_DIFF_NO_EVENT)
        return 0;
    const struct pd_hist_event *rows = &from->result.events[event->events[side]];
    event->totals[side] = rows->period;
    if (from->plan.relative && kept_period(from, rows, text, &event->totals[side]) < 0)
        return PERFDATA_ERROR_MEMORY;
    event->counts[side] = from->plan.relative ? rows->count_unfiltered : rows->count;
    for (size_t i = 0; i < rows->rows.count; i++) {
        uint32_t id = identity_of(from, rows->rows.data[i], known, identities, text);
        if (id == PD_INTERN_NONE && known && !text->failed)
            continue;
        if (id == PD_INTERN_NONE || !add_row(diff, event, side, rows->rows.data[i], id))
            return PERFDATA_ERROR_MEMORY;
    }
    return 0;
}

static bool has_pair(const struct pd_diff *diff, const struct pd_diff_row *row)
{
    for (size_t side = 1; side < diff->count; side++)
        if (row->values[side].has)
            return true;
    return false;
}

/* -b: keeps the rows that all recordings have, and makes percentages of their sum. */
static void keep_baseline(const struct pd_diff *diff, struct pd_diff_event *event)
{
    size_t left = 0;
    event->shown_total = 0;
    for (size_t i = 0; i < event->rows.count; i++) {
        const struct pd_diff_row *row = &event->rows.data[i];
        if (!row->values[0].has || !has_pair(diff, row))
            continue;
        if (!row->row->filtered || !diff->sides[0].plan.relative)
            event->shown_total += row->values[0].period;
        event->rows.data[left++] = *row;
    }
    event->rows.count = left;
}

static void drop_filtered(struct pd_diff_event *event)
{
    size_t left = 0;
    for (size_t i = 0; i < event->rows.count; i++)
        if (!event->rows.data[i].row->filtered)
            event->rows.data[left++] = event->rows.data[i];
    event->rows.count = left;
}

struct kind {
    uint64_t type, config;
};

static bool list_kinds(struct pd_diff_side *side)
{
    for (uint32_t i = 0; i < side->recording->event_count; i++) {
        const struct pd_attr *attr = &side->recording->events[i]->attr;
        struct kind kind = { attr->type, attr->config };
        uint32_t id = pd_intern(&side->kinds, (const char *)&kind, sizeof kind);
        if (id == PD_INTERN_NONE || (id == side->first.count && !pd_vec_push(&side->first, i)))
            return false;
    }
    return true;
}

/* Finds the side's first event of the same type and config. False: no memory. */
static bool find_event(struct pd_diff_side *side, const struct pd_attr *like, uint32_t *out)
{
    struct kind kind = { like->type, like->config };
    if (!side->first.count && !list_kinds(side))
        return false;
    uint32_t id = pd_intern_find(&side->kinds, (const char *)&kind, sizeof kind);
    *out = id == PD_INTERN_NONE ? PD_DIFF_NO_EVENT : side->first.data[id];
    return true;
}

/* An event of the other recordings may stand beside several of the first one. perf shows what only
 * it has beside the first of them. */
static bool shows_new_rows(struct pd_diff *diff, uint32_t event, bool *out)
{
    uint32_t first = event;
    bool ok = diff->plan->json ||
              find_event(&diff->sides[0], &diff->sides[0].recording->events[event]->attr, &first);
    *out = first == event;
    return ok;
}

perfdata_status pd_diff_link(struct pd_diff *diff, uint32_t event, struct pd_diff_event *out)
{
    struct pd_intern identities = { 0 };
    struct pd_text text = { 0 };
    uint32_t *events = pd_arena_alloc(&diff->arena, diff->count * sizeof *events);
    *out = (struct pd_diff_event){ .event = diff->sides[0].recording->events[event],
                                   .events = events };
    out->totals = pd_arena_zalloc(&diff->arena, diff->count * sizeof *out->totals);
    out->counts = pd_arena_zalloc(&diff->arena, diff->count * sizeof *out->counts);
    bool shows_new = true;
    bool ok = events && out->totals && out->counts && shows_new_rows(diff, event, &shows_new);
    perfdata_status status = ok ? 0 : PERFDATA_ERROR_MEMORY;
    for (uint32_t side = 0; side < diff->count && status == 0; side++) {
        events[side] = event;
        bool found = !side || find_event(&diff->sides[side], &out->event->attr, &events[side]);
        status = found ? add_side(diff, out, side, side && !shows_new, &identities, &text)
                       : PERFDATA_ERROR_MEMORY;
    }
    if (status == 0) {
        out->shown_total = out->totals[0];
        if (diff->plan->baseline_only)
            keep_baseline(diff, out);
        drop_filtered(out);
    }
    pd_intern_free(&identities);
    pd_text_free(&text);
    return status;
}

void pd_diff_event_free(struct pd_diff_event *event)
{
    pd_vec_free(&event->rows);
}
