/* SPDX-License-Identifier: MIT */
/* Rows in order by their ranks: a stable sort does what perf's trees do, which keep the order of
 * equal rows. Only where something is compared that is no order, rows pass through the tree. */
#include "analyse/misses.h"
#include "analyse/rank.h"
#include <stdlib.h>

static void arrange_by_value(struct pd_ranking *ranking, uint32_t *order,
                             uint64_t (*value_of)(const struct pd_hist_row *row))
{
    for (size_t i = 0; i < ranking->count; i++)
        ranking->sorter.items[i] = (struct pd_rank_item){ value_of(ranking->rows[order[i]]),
                                                          order[i] };
    pd_rank_sort(&ranking->sorter, ranking->count);
    for (size_t i = 0; i < ranking->count; i++)
        order[i] = ranking->sorter.items[i].row;
}

static uint64_t index_of(const struct pd_hist_row *row)
{
    return row->index;
}
static uint64_t number_of(const struct pd_hist_row *row)
{
    return row->entry->first.number;
}
static uint64_t position_of(const struct pd_hist_row *row)
{
    return row->entry->first.position;
}

/* Whether the rows stand as they were met, no two of them with the same sample. */
static bool is_by_first(const struct pd_ranking *ranking)
{
    for (size_t i = 1; i < ranking->count; i++) {
        const struct pd_hist_first *before = &ranking->rows[i - 1]->entry->first,
                                   *first = &ranking->rows[i]->entry->first;
        if (!pd_hist_is_first(first, before->number, before->position))
            return false;
    }
    return true;
}

/* In the order in which perf met them; false: two came with the same sample. */
static bool arrange_by_first(struct pd_ranking *ranking, uint32_t *order)
{
    for (size_t i = 0; i < ranking->count; i++)
        order[i] = (uint32_t)i;
    if (is_by_first(ranking))
        return true;
    arrange_by_value(ranking, order, index_of);
    arrange_by_value(ranking, order, position_of);
    arrange_by_value(ranking, order, number_of);
    for (size_t i = 1; i < ranking->count; i++) {
        const struct pd_hist_first *a = &ranking->rows[order[i - 1]]->entry->first,
                                   *b = &ranking->rows[order[i]]->entry->first;
        if (a->number == b->number && a->position == b->position)
            return false;
    }
    return true;
}

static void arrange_by_rank(struct pd_ranking *ranking, const uint32_t *ranks, uint32_t *order)
{
    for (size_t i = 0; i < ranking->count; i++)
        ranking->sorter.items[i] = (struct pd_rank_item){ ranks[order[i]], order[i] };
    pd_rank_sort(&ranking->sorter, ranking->count);
    for (size_t i = 0; i < ranking->count; i++)
        order[i] = ranking->sorter.items[i].row;
}

/* ---- trees ---- */

PD_INLINE bool is_before_by_address(const struct pd_rank *a, const struct pd_rank *b)
{
    return pd_rank_compare(a, b) < 0;
}

PD_INLINE bool is_before_by_depth(const struct pd_rank *a, const struct pd_rank *b,
                                  bool deeper_first)
{
    if (a->head != b->head)
        return a->head < b->head;
    if (a->middle != b->middle && a->middle >> 32 == b->middle >> 32)
        return (a->middle > b->middle) == deeper_first;
    return a->tail < b->tail;
}

PD_INLINE bool is_before_deeper_first(const struct pd_rank *a, const struct pd_rank *b)
{
    return is_before_by_depth(a, b, true);
}

PD_INLINE bool is_before_deeper_last(const struct pd_rank *a, const struct pd_rank *b)
{
    return is_before_by_depth(a, b, false);
}

/* Made for each order by itself: a call for each step down the tree would be most of the time. */
PD_INLINE void insert_by_rank(struct pd_rb_tree *tree, const struct pd_rank *ranks, uint32_t node,
                              bool (*is_before)(const struct pd_rank *a, const struct pd_rank *b))
{
    const struct pd_rb_node *nodes = tree->nodes;
    struct pd_rank rank = ranks[node];
    uint32_t parent = 0;
    bool left = false;
    for (uint32_t at = tree->root; at;) {
        parent = at;
        left = is_before(&rank, &ranks[at]);
        at = left ? nodes[at].left : nodes[at].right;
    }
    pd_rb_link(tree, node, parent, left);
}

static void insert_by_address(struct pd_rb_tree *tree, const struct pd_rank *ranks, uint32_t node)
{
    insert_by_rank(tree, ranks, node, is_before_by_address);
}

static void insert_deeper_first(struct pd_rb_tree *tree, const struct pd_rank *ranks, uint32_t node)
{
    insert_by_rank(tree, ranks, node, is_before_deeper_first);
}

static void insert_deeper_last(struct pd_rb_tree *tree, const struct pd_rank *ranks, uint32_t node)
{
    insert_by_rank(tree, ranks, node, is_before_deeper_last);
}

static bool pass_through_tree(struct pd_ranking *ranking, const struct pd_ranks *all,
                              uint32_t *order,
                              void (*insert)(struct pd_rb_tree *tree, const struct pd_rank *ranks,
                                             uint32_t node))
{
    size_t count = ranking->count, to = 0;
    struct pd_rank *ranks = malloc((count + 1) * sizeof *ranks);
    struct pd_rb_node *nodes = calloc(count + 1, sizeof *nodes);
    bool ok = ranks && nodes;
    struct pd_rb_tree tree = { nodes, 0 };
    for (uint32_t i = 1; ok && i <= count; i++) {
        uint32_t row = ranking->sorter.items[i - 1].row = order[i - 1];
        ranks[i] = (struct pd_rank){ all->heads[row], all->tails[row], all->middles[row] };
        insert(&tree, ranks, i);
    }
    for (uint32_t node = ok ? pd_rb_first(&tree) : 0; node; node = pd_rb_next(&tree, node))
        order[to++] = ranking->sorter.items[node - 1].row;
    free(ranks);
    free(nodes);
    ranking->failed |= !ok;
    return ok;
}

/* Rows stand as they enter the tree: what is compared lies near. */
static bool pass_through_trees_with_misses(struct pd_ranking *ranking, const struct pd_ranks *all,
                                           uint32_t *order, bool joined)
{
    size_t count = ranking->count;
    bool *without_order = pd_rank_without_order(ranking, all), *may_be_missed = malloc(count + 1);
    struct pd_rank *ranks = malloc((count + 1) * sizeof *ranks);
    struct pd_hist_row **rows = malloc((count + 1) * sizeof *rows);
    uint32_t *sorted = malloc((count + 1) * sizeof *sorted);
    bool ok = without_order && may_be_missed && ranks && rows && sorted;
    for (uint32_t i = 0; ok && i < count; i++) {
        uint32_t row = order[i];
        ranks[i] = (struct pd_rank){ all->heads[row], all->tails[row], all->middles[row] };
        rows[i] = ranking->rows[row];
        may_be_missed[i] = without_order[row];
        sorted[i] = i;
    }
    struct pd_hist_misses misses = {
        .sorting = ranking->sorting,
        .rows = rows,
        .count = count,
        .ranks = ranks,
        .may_be_missed = may_be_missed,
        .order = sorted,
    };
    ok = ok && pd_hist_order_with_misses(&misses, joined);
    for (size_t i = 0; ok && i < count; i++)
        sorted[i] = order[sorted[i]];
    if (ok)
        memcpy(order, sorted, count * sizeof *order);
    free(without_order);
    free(may_be_missed);
    free(ranks);
    free(rows);
    free(sorted);
    ranking->failed |= !ok;
    return ok;
}

/* Arranges rows as the trees of samples and of collapsed rows leave them. */
static bool arrange_by_identity(struct pd_ranking *ranking, struct pd_ranks *ranks, uint32_t *order)
{
    if (ranks->has_middles && !pd_rank_join(ranking, ranks)) {
        bool twice = pd_hist_key_at(&ranking->sorting->hist->options, PD_KEY_COMM);
        if (ranking->failed || !arrange_by_first(ranking, order))
            return false;
        if (ranking->sorting->all->visits.count)
            return pass_through_trees_with_misses(ranking, ranks, order, twice);
        return pass_through_tree(ranking, ranks, order, insert_by_address) &&
               (!twice || pass_through_tree(ranking, ranks, order, insert_by_address));
    }
    arrange_by_first(ranking, order);
    arrange_by_rank(ranking, ranks->heads, order);
    return true;
}

static bool arrange_by_output(struct pd_ranking *ranking, struct pd_ranks *ranks, uint32_t *order)
{
    if (!ranks->has_middles)
        arrange_by_rank(ranking, ranks->heads, order);
    else
        pass_through_tree(ranking, ranks, order,
                          ranking->sorting->hist->options.caller_order ? insert_deeper_first
                                                                       : insert_deeper_last);
    return !ranking->failed;
}

/* ---- all of it ---- */

/* Texts whose comparison is noted: when they are the first key, each row's is compared with
 * another's. */
static bool notes_first_key_only(const struct pd_hist_sorting *sorting, uint8_t *met)
{
    static const struct {
        uint8_t key, met;
    } noted[] = { { PD_KEY_TRACE, PD_MET_TRACE },
                  { PD_KEY_SRCLINE, PD_MET_LINE },
                  { PD_KEY_SRCFILE, PD_MET_FILE } };
    *met = 0;
    for (size_t i = 0; i < PD_LENGTH(noted); i++) {
        int at = pd_hist_key_at(&sorting->hist->options, noted[i].key);
        if (at > 1)
            return false;
        if (at == 1)
            *met = noted[i].met;
    }
    return true;
}

static void begin_ranks(const struct pd_ranking *ranking, struct pd_ranks *ranks)
{
    memset(ranks->heads, 0, ranking->count * sizeof *ranks->heads);
    memset(ranks->tails, 0, ranking->count * sizeof *ranks->tails);
    ranks->head_count = ranks->tail_count = 1;
    ranks->has_middles = false;
}

static bool order_rows(struct pd_ranking *ranking, uint32_t *order)
{
    struct pd_ranks ranks = {
        .heads = malloc(ranking->count * sizeof *ranks.heads),
        .tails = malloc(ranking->count * sizeof *ranks.tails),
        .middles = calloc(ranking->count, sizeof *ranks.middles),
    };
    bool ok = ranks.heads && ranks.tails && ranks.middles;
    ranking->failed |= !ok;
    if (ok) {
        begin_ranks(ranking, &ranks);
        ok = pd_rank_identities(ranking, &ranks) && arrange_by_identity(ranking, &ranks, order);
    }
    if (ok) {
        begin_ranks(ranking, &ranks);
        ok = pd_rank_output(ranking, &ranks) && arrange_by_output(ranking, &ranks, order);
    }
    free(ranks.heads);
    free(ranks.tails);
    free(ranks.middles);
    return ok;
}

perfdata_status pd_hist_sort_by_rank(struct pd_hist_sorting *sorting, struct pd_hist_event *event,
                                     bool *sorted)
{
    size_t count = event->rows.count;
    uint8_t met;
    *sorted = false;
    if (count < 2 || count > UINT32_MAX / 2 || !notes_first_key_only(sorting, &met))
        return 0;
    struct pd_ranking ranking = {
        .sorting = sorting,
        .rows = event->rows.data,
        .count = count,
        .sorter = { malloc(count * sizeof *ranking.sorter.items),
                    malloc(count * sizeof *ranking.sorter.spare) },
        .part = malloc(count * sizeof *ranking.part),
        .index = malloc(count * sizeof *ranking.index),
    };
    uint32_t *order = calloc(count, sizeof *order);
    struct pd_hist_row **rows = malloc(count * sizeof *rows);
    ranking.failed = !ranking.sorter.items || !ranking.sorter.spare || !ranking.part ||
                     !ranking.index || !order || !rows;
    for (size_t i = 0; !ranking.failed && i < count; i++)
        ranking.index[i] = ranking.rows[i]->index;
    if (!ranking.failed && order_rows(&ranking, order)) {
        memcpy(rows, event->rows.data, count * sizeof(struct pd_hist_row *));
        for (size_t i = 0; i < count; i++) {
            event->rows.data[i] = rows[order[i]];
            if (sorting->met)
                rows[i]->met = sorting->met[rows[i]->index] |= met;
        }
        *sorted = true;
    }
    free(ranking.sorter.items);
    free(ranking.sorter.spare);
    free(ranking.part);
    free(ranking.index);
    for (size_t key = 0; key < PD_KEY_COUNT; key++)
        free(ranking.kept[key].part);
    free(order);
    free(rows);
    return ranking.failed ? PERFDATA_ERROR_MEMORY : 0;
}
