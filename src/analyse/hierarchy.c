/* SPDX-License-Identifier: MIT */
/* --hierarchy: rows below rows, a level for each sort key. */
#include "analyse/order.h"
#include <stdlib.h>

struct node {
    struct pd_hist_row *row;
    uint32_t parent, first, count; /* node + 1, 0: none; children in `sorted` */
    uint32_t depth;
};

struct growing {
    const struct pd_hist_sorting *sorting;
    struct pd_hist_result *result;
    size_t members;
    unsigned depths;
    struct pd_hist identities[PD_KEY_COUNT]; /* by depth: the keys down to there */
    PD_VEC(uint32_t) node_of[PD_KEY_COUNT];  /* their entries -> node */
    PD_VEC(struct node) nodes;
    PD_VEC(uint32_t) sorted; /* nodes, by parent, then in the order of output */
};

static struct pd_hist_row *row_above(struct growing *growing, const struct pd_hist_row *leaf)
{
    struct pd_hist_row *row = pd_arena_zalloc(&growing->result->arena, sizeof *row);
    if (!row)
        return NULL;
    *row = *leaf;
    row->period = row->sys = row->user = row->guest_sys = row->guest_user = row->count = 0;
    row->latency = 0;
    row->members = NULL;
    return row;
}

static bool add_leaf(struct growing *growing, struct pd_hist_row *row,
                     const struct pd_hist_row *leaf)
{
    struct pd_arena *arena = &growing->result->arena;
    PD_HIST_ADD(row, leaf);
    if (!leaf->members)
        return true;
    if (!row->members)
        row->members = pd_arena_zalloc(arena, growing->members * sizeof(struct pd_hist_row *));
    for (size_t m = 0; row->members && m < growing->members; m++) {
        if (!leaf->members[m])
            continue;
        if (!row->members[m])
            row->members[m] = pd_arena_zalloc(arena, sizeof *row);
        if (!row->members[m])
            return false;
        PD_HIST_ADD(row->members[m], leaf->members[m]);
    }
    return row->members != NULL;
}

/* The node of `leaf` at a depth, made when it is the first there. PD_HIST_NONE: no memory. */
static uint32_t node_at(struct growing *growing, unsigned depth, uint32_t parent,
                        struct pd_hist_row *leaf)
{
    struct pd_hist *identities = &growing->identities[depth];
    const struct pd_hist *all = growing->sorting->hist;
    uint64_t words[PD_HIST_WORDS] = { 0 };
    memcpy(words, pd_hist_key_of(all, leaf->index), (depth + 2) * sizeof *words);
    uint32_t id = pd_hist_entry_id(identities, words);
    if (id == PD_HIST_NONE)
        return id;
    if (id < growing->node_of[depth].count)
        return growing->node_of[depth].data[id];
    uint32_t made = (uint32_t)growing->nodes.count;
    struct node node = { .parent = parent, .depth = depth };
    node.row = depth + 1 == growing->depths ? leaf : row_above(growing, leaf);
    if (!node.row || !pd_vec_push(&growing->nodes, node) ||
        !pd_vec_push(&growing->node_of[depth], made))
        return PD_HIST_NONE;
    return made;
}

static bool add_row(struct growing *growing, struct pd_hist_row *leaf)
{
    uint32_t parent = 0;
    for (unsigned depth = 0; depth < growing->depths; depth++) {
        uint32_t node = node_at(growing, depth, parent, leaf);
        if (node == PD_HIST_NONE)
            return false;
        if (depth + 1 < growing->depths && !add_leaf(growing, growing->nodes.data[node].row, leaf))
            return false;
        parent = node + 1;
    }
    return true;
}

/* ---- filters ---- */

static uint8_t filter_of(uint8_t key)
{
    switch (key) {
    case PD_KEY_COMM:
    case PD_KEY_PID: return PD_FILTERED_THREAD;
    case PD_KEY_DSO: return PD_FILTERED_DSO;
    case PD_KEY_SYMBOL: return PD_FILTERED_SYMBOL;
    default: return 0;
    }
}

/* Shows all rows above one. Who shows a symbol shows what is above it whatever its own name is. */
static void pass_above(struct growing *growing, const struct node *node, uint8_t filter)
{
    if (filter & PD_FILTERED_SYMBOL)
        filter |= PD_FILTERED_NAME;
    for (uint32_t at = node->parent; at; at = growing->nodes.data[at - 1].parent)
        growing->nodes.data[at - 1].row->filtered &= (uint8_t)~filter;
}

/* A filter decides about rows of the levels that it is about, each by its first leaf. What is above
 * a row that passes is shown, what is below one that does not is not; where there is no such level,
 * nothing is. Other filters decide about each row by itself. Nodes stand behind their parents. */
static void apply_filters(struct growing *growing)
{
    const struct pd_hist_options *options = &growing->sorting->hist->options;
    uint8_t about[PD_KEY_COUNT], above[PD_KEY_COUNT] = { 0 }; /* at a depth, and above it */
    for (unsigned depth = 0; depth < growing->depths; depth++) {
        about[depth] = filter_of(options->keys[depth]);
        if (depth + 1 < growing->depths)
            above[depth + 1] = above[depth] | about[depth];
    }
    for (size_t i = 0; i < growing->nodes.count; i++) {
        const struct node *node = &growing->nodes.data[i];
        uint8_t others = options->filters & (uint8_t)~about[node->depth];
        uint8_t inherited = node->parent ? growing->nodes.data[node->parent - 1].row->filtered &
                                               above[node->depth]
                                         : 0;
        node->row->filtered |= others & (inherited | (uint8_t)~above[node->depth]);
    }
    for (size_t i = growing->nodes.count; i-- > 0;) {
        const struct node *node = &growing->nodes.data[i];
        uint8_t passed = options->filters & about[node->depth] & (uint8_t)~node->row->filtered;
        if (passed)
            pass_above(growing, node, passed);
    }
}

/* What relative percentages are of: the rows at the top that are shown. */
static void sum_unfiltered(const struct growing *growing, struct pd_hist_event *event)
{
    event->period_unfiltered = event->latency_unfiltered = 0;
    for (size_t i = 0; i < growing->nodes.count; i++) {
        const struct node *node = &growing->nodes.data[i];
        if (node->parent || node->row->filtered)
            continue;
        event->period_unfiltered += node->row->period;
        event->latency_unfiltered += node->row->latency;
    }
}

/* ---- order ---- */

static int compare_nodes(const void *left, const void *right, void *data)
{
    const struct growing *growing = data;
    uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;
    const struct node *a = &growing->nodes.data[x], *b = &growing->nodes.data[y];
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    int result = pd_hist_compare_order(growing->sorting, a->row, b->row);
    return result ? result : x < y ? -1 : x > y;
}

static bool sort_nodes(struct growing *growing)
{
    for (uint32_t i = 0; i < growing->nodes.count; i++)
        if (!pd_vec_push(&growing->sorted, i))
            return false;
    if (growing->sorted.count > 1)
        qsort_r(growing->sorted.data, growing->sorted.count, sizeof *growing->sorted.data,
                compare_nodes, growing);
    for (uint32_t i = 0; i < growing->sorted.count; i++) {
        uint32_t parent = growing->nodes.data[growing->sorted.data[i]].parent;
        if (!parent)
            continue;
        struct node *node = &growing->nodes.data[parent - 1];
        if (!node->count++)
            node->first = i;
    }
    return true;
}

/* From the top down, each before its children. */
static bool list_nodes(struct growing *growing, struct pd_hist_event *event)
{
    struct {
        uint32_t at, end;
    } stack[PD_KEY_COUNT];
    uint32_t tops = 0;
    while (tops < growing->sorted.count && !growing->nodes.data[growing->sorted.data[tops]].parent)
        tops++;
    unsigned depth = 0;
    stack[0].at = 0;
    stack[0].end = tops;
    for (;;) {
        if (stack[depth].at == stack[depth].end) {
            if (!depth--)
                return true;
            continue;
        }
        const struct node *node = &growing->nodes.data[growing->sorted.data[stack[depth].at++]];
        struct pd_hist_level level = { node->row, node->depth };
        if (!pd_vec_push(&event->levels, level))
            return false;
        if (node->count) {
            depth++;
            stack[depth].at = node->first;
            stack[depth].end = node->first + node->count;
        }
    }
}

perfdata_status pd_hist_make_levels(const struct pd_hist_sorting *sorting,
                                    struct pd_hist_result *result, struct pd_hist_event *event)
{
    struct growing *growing = calloc(1, sizeof *growing);
    if (!growing)
        return PERFDATA_ERROR_MEMORY;
    growing->sorting = sorting;
    growing->result = result;
    growing->members = sorting->group_size ? sorting->group_size - 1 : 0;
    growing->depths = sorting->hist->options.key_count;
    for (unsigned i = 0; i < growing->depths; i++)
        pd_hist_init_keys(&growing->identities[i], &sorting->hist->options);
    bool ok = growing->depths != 0;
    for (size_t i = 0; ok && i < event->rows.count; i++)
        ok = add_row(growing, event->rows.data[i]);
    event->levels.count = 0;
    if (ok && sorting->hist->options.filters)
        apply_filters(growing);
    if (ok)
        sum_unfiltered(growing, event);
    ok = ok && sort_nodes(growing) && list_nodes(growing, event);
    for (unsigned i = 0; i < growing->depths; i++) {
        pd_hist_free(&growing->identities[i]);
        pd_vec_free(&growing->node_of[i]);
    }
    pd_vec_free(&growing->nodes);
    pd_vec_free(&growing->sorted);
    free(growing);
    return ok || !event->rows.count ? 0 : PERFDATA_ERROR_MEMORY;
}
