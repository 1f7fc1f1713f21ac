/* SPDX-License-Identifier: MIT */
/* Trees are built from the root down, by grouping what begins with the same function: a group that
 * cannot be drawn is left at once with all that is below it. */
#include "analyse/chain.h"
#include "analyse/rank.h"
#include "analyse/siblings.h"
#include <math.h>
#include <stdlib.h>

/* ---- the order of siblings ---- */

/* perf compares two functions by their start in the DSO, anything else by the address in the chain.
 * That is no order where a DSO has both: there unknown addresses stand by their place in the DSO
 * until siblings are put in order (siblings.h). */
struct ranking {
    const struct pd_hist_frame *frames;
    uint8_t by;      /* enum pd_hist_frames */
    bool *has_known; /* by DSO index + 1; 0: no DSO */
};

static size_t dso_of(const struct pd_hist_frame *frame)
{
    return frame->dso ? (size_t)frame->dso->index + 1 : 0;
}

enum { NOT_INLINED = 2 };

/* Inlined functions are told apart by their names alone; here they stand before all others. */
static int compare_inlined(const struct pd_hist_frame *a, const struct pd_hist_frame *b)
{
    bool left = a->symbol && a->symbol->inlined, right = b->symbol && b->symbol->inlined;
    if (!left && !right)
        return NOT_INLINED;
    if (left != right)
        return left ? -1 : 1;
    int result = strcmp(a->symbol->name, b->symbol->name);
    return result > 0 ? -1 : result < 0;
}

static int compare_frames(const void *left, const void *right, void *data)
{
    const struct ranking *ranking = data;
    const struct pd_hist_frame *a = &ranking->frames[*(const uint32_t *)left],
                               *b = &ranking->frames[*(const uint32_t *)right];
    if (ranking->by == PD_FRAMES_BY_LINE && (a->text || b->text)) {
        int result = a->text && b->text ? strcmp(a->text, b->text) : a->text ? -1 : 1;
        return result > 0 ? -1 : result < 0;
    }
    int inlined = ranking->by == PD_FRAMES_BY_FUNCTION ? compare_inlined(a, b) : NOT_INLINED;
    if (inlined != NOT_INLINED)
        return inlined;
    size_t x = dso_of(a), y = dso_of(b);
    if (x != y)
        return x > y ? -1 : 1;
    if (ranking->by == PD_FRAMES_BY_ADDRESS)
        return a->ip > b->ip ? -1 : a->ip < b->ip;
    if (ranking->has_known[x]) {
        if (a->place != b->place)
            return a->place > b->place ? -1 : 1;
        if (!a->symbol != !b->symbol)
            return a->symbol ? -1 : 1;
    }
    if (!a->symbol && a->ip != b->ip)
        return a->ip > b->ip ? -1 : 1;
    return 0;
}

/* The same by digits, where no frame is told apart by a text or a name. */

static void put_values(struct pd_rank_sorter *sorter, const struct ranking *ranking, size_t count,
                       uint64_t (*value_of)(const struct ranking *ranking,
                                            const struct pd_hist_frame *frame))
{
    for (size_t i = 0; i < count; i++)
        sorter->items[i].value = value_of(ranking, &ranking->frames[sorter->items[i].row]);
    pd_rank_sort(sorter, count);
}

static uint64_t address_value(const struct ranking *ranking, const struct pd_hist_frame *frame)
{
    return ranking->by == PD_FRAMES_BY_ADDRESS || !frame->symbol ? ~frame->ip : 0;
}

static uint64_t unknown_value(const struct ranking *ranking, const struct pd_hist_frame *frame)
{
    return ranking->by != PD_FRAMES_BY_ADDRESS && ranking->has_known[dso_of(frame)] &&
           !frame->symbol;
}

static uint64_t place_value(const struct ranking *ranking, const struct pd_hist_frame *frame)
{
    bool counts = ranking->by != PD_FRAMES_BY_ADDRESS && ranking->has_known[dso_of(frame)];
    return counts ? ~frame->place : 0;
}

static uint64_t dso_value(const struct ranking *ranking, const struct pd_hist_frame *frame)
{
    (void)ranking;
    return ~(uint64_t)dso_of(frame);
}

/* False: no memory. */
static bool sort_frames(const struct ranking *ranking, uint32_t *order, size_t count)
{
    struct pd_rank_sorter sorter = {
        .items = malloc((count + 1) * sizeof *sorter.items),
        .spare = malloc((count + 1) * sizeof *sorter.spare),
    };
    bool ok = sorter.items && sorter.spare;
    for (size_t i = 0; ok && i < count; i++)
        sorter.items[i].row = (uint32_t)i;
    if (ok) {
        put_values(&sorter, ranking, count, address_value);
        put_values(&sorter, ranking, count, unknown_value);
        put_values(&sorter, ranking, count, place_value);
        put_values(&sorter, ranking, count, dso_value);
    }
    for (size_t i = 0; ok && i < count; i++)
        order[i] = sorter.items[i].row;
    free(sorter.items);
    free(sorter.spare);
    return ok;
}

perfdata_status pd_chain_rank(struct pd_hist *hist)
{
    size_t count = hist->frames.count, dsos = 1;
    for (size_t i = 0; i < count; i++)
        dsos = PD_MAX(dsos, dso_of(&hist->frames.data[i]) + 1);
    struct ranking ranking = { hist->frames.data, hist->options.frames,
                               calloc(dsos, sizeof(bool)) };
    uint32_t *order = malloc((count + 1) * sizeof *order);
    bool ok = order && ranking.has_known;
    for (size_t i = 0; ok && i < count; i++) {
        order[i] = (uint32_t)i;
        const struct pd_symbol *symbol = hist->frames.data[i].symbol;
        ranking.has_known[dso_of(&hist->frames.data[i])] |= symbol != NULL;
        hist->has_inlined |= symbol && symbol->inlined &&
                             hist->options.frames == PD_FRAMES_BY_FUNCTION;
        hist->has_ends |= hist->frames.data[i].end != 0;
    }
    if (ok && (hist->has_inlined || ranking.by == PD_FRAMES_BY_LINE))
        qsort_r(order, count, sizeof *order, compare_frames, &ranking);
    else if (ok)
        ok = sort_frames(&ranking, order, count);
    uint32_t rank = 0;
    for (size_t i = 0; ok && i < count; i++) {
        if (i && compare_frames(&order[i - 1], &order[i], &ranking))
            rank++;
        hist->frames.data[order[i]].rank = rank;
    }
    free(order);
    free(ranking.has_known);
    return ok ? 0 : PERFDATA_ERROR_MEMORY;
}

/* ---- which stacks a row has ---- */

struct gathered {
    uint32_t row, cell;
    uint32_t depth, place; /* place: among all by `last` */
    uint64_t hits, count, number, last;
};

struct gathering {
    const struct pd_hist *hist;
    const struct pd_hist_result *result;
    const bool *wanted; /* per row */
    struct pd_map64 map;
    PD_VEC(struct gathered) all;
    bool failed;
};

static void gather(void *data, uint32_t pair_index, uint32_t entry, uint32_t cell)
{
    struct gathering *gathering = data;
    uint32_t row = gathering->result->row_of_entry[entry];
    if (!gathering->wanted[row])
        return;
    const struct pd_hist_pair *pair = &gathering->hist->pairs.data[pair_index];
    uint64_t key = (uint64_t)row << 32 | cell;
    uint32_t id = pd_map64_get(&gathering->map, key);
    if (id == PD_MAP64_NONE) {
        struct gathered made = { .row = row,
                                 .cell = cell,
                                 .depth = gathering->hist->cells.data[cell].depth,
                                 .number = UINT64_MAX };
        id = (uint32_t)gathering->all.count;
        if (!pd_vec_push(&gathering->all, made) || !pd_map64_set(&gathering->map, key, id)) {
            gathering->failed = true;
            return;
        }
    }
    struct gathered *all = &gathering->all.data[id];
    all->hits += pair->period; /* NOLINT: the push succeeded, so there is data */
    all->count += pair->count;
    all->number = PD_MIN(all->number, pair->number);
    all->last = PD_MAX(all->last, pair->last);
}

/* The frames that count for a row that is wanted: most rows are too small for any chain to be
 * drawn. */
static void mark_frames(const struct gathering *gathering, bool *frames)
{
    const struct pd_map64 *children = &gathering->hist->child_map;
    for (size_t i = 0; children->slots && i <= children->mask; i++) {
        const struct pd_map64_slot *slot = &children->slots[i];
        if (slot->value != PD_MAP64_NONE)
            frames[(uint32_t)slot->key] |=
                gathering->wanted[gathering->result->row_of_entry[slot->value]];
    }
}

/* Of several stacks of one sample, the whole one comes first. */
static int compare_samples(uint64_t a, uint64_t b, uint32_t depth_a, uint32_t depth_b)
{
    if (a != b)
        return a < b ? -1 : 1;
    return depth_a > depth_b ? -1 : depth_a < depth_b;
}

static int compare_first(const void *left, const void *right)
{
    const struct gathered *a = left, *b = right;
    return compare_samples(a->number, b->number, a->depth, b->depth);
}

static int compare_last(const void *left, const void *right, void *data)
{
    const struct gathered *all = data, *a = &all[*(const uint32_t *)left],
                          *b = &all[*(const uint32_t *)right];
    return compare_samples(a->last, b->last, a->depth, b->depth);
}

/* What came first and what came last matters where a frame shows one of several texts. */
static bool put_in_order(struct gathering *gathering)
{
    const struct pd_hist *hist = gathering->hist;
    struct gathered *all = gathering->all.data;
    size_t count = gathering->all.count;
    if (!count || (hist->options.frames != PD_FRAMES_BY_LINE && !hist->has_ends))
        return true;
    qsort(all, count, sizeof *all, compare_first);
    if (!hist->has_ends)
        return true;
    uint32_t *order = malloc(count * sizeof *order);
    if (!order)
        return false;
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, count, sizeof *order, compare_last, all);
    for (size_t i = 0; i < count; i++)
        all[order[i]].place = (uint32_t)i;
    free(order);
    return true;
}

static bool distribute(const struct gathering *gathering, size_t rows, struct pd_chain_index *out)
{
    size_t count = gathering->all.count;
    out->begin = calloc(rows + 2, sizeof *out->begin);
    out->items = malloc((count + 1) * sizeof *out->items);
    if (!out->begin || !out->items)
        return false;
    for (size_t i = 0; i < count; i++)
        out->begin[gathering->all.data[i].row + 1]++;
    for (size_t i = 0; i <= rows; i++)
        out->begin[i + 1] += out->begin[i];
    for (size_t i = 0; i < count; i++) {
        const struct gathered *item = &gathering->all.data[i];
        out->items[out->begin[item->row]++] = (struct pd_chain_item){ .cell = item->cell,
                                                                      .hits = item->hits,
                                                                      .count = item->count,
                                                                      .order = (uint32_t)i,
                                                                      .last = item->place };
    }
    /* begin[r] now is the end of row r: shift. */
    memmove(out->begin + 1, out->begin, (rows + 1) * sizeof *out->begin);
    out->begin[0] = 0;
    return true;
}

perfdata_status pd_chain_index_make(struct pd_hist *hist, const struct pd_hist_result *result,
                                    const uint64_t *least, struct pd_chain_index *out)
{
    memset(out, 0, sizeof *out);
    size_t rows = result->all.count;
    bool *wanted = calloc(rows + 1, sizeof *wanted);
    struct gathering gathering = {
        .hist = hist, .result = result, .wanted = wanted, .failed = !wanted
    };
    for (size_t i = 0; wanted && i < rows; i++) {
        const struct pd_hist_row *row = result->all.data[i];
        wanted[i] = !row->filtered && (hist->options.children ? row->children_period
                                                              : row->period) >= least[row->event];
    }
    bool *frames = calloc(hist->frames.count + 1, sizeof *frames);
    struct pd_hist_climb climb = { .frames = frames };
    if (frames && wanted)
        mark_frames(&gathering, frames);
    gathering.failed |= !frames;
    for (size_t i = 0; i < hist->pairs.count && !gathering.failed; i++) {
        const struct pd_hist_pair *pair = &hist->pairs.data[i];
        if (!hist->options.children)
            gather(&gathering, (uint32_t)i, pair->entry, pair->cell);
        else if (pd_hist_climb(hist, &climb, (uint32_t)i, gather, &gathering) < 0)
            gathering.failed = true;
    }
    bool ok = !gathering.failed && put_in_order(&gathering) && distribute(&gathering, rows, out);
    free(frames);
    pd_vec_free(&climb.seen);
    pd_vec_free(&gathering.all);
    pd_map64_free(&gathering.map);
    free(wanted);
    if (ok)
        return 0;
    pd_chain_index_free(out);
    return PERFDATA_ERROR_MEMORY;
}

void pd_chain_index_free(struct pd_chain_index *index)
{
    free(index->begin);
    free(index->items);
    memset(index, 0, sizeof *index);
}

/* ---- one tree ---- */

enum { FEW_ITEMS = 40, DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

/* For a few items. */
static void insert_by_rank(struct pd_chain_item *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct pd_chain_item item = items[i];
        size_t at = i;
        for (; at && items[at - 1].rank > item.rank; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* One digit of the rank: from -> to, equal ones as they stand. */
static void sort_by_digit(const struct pd_chain_item *from, struct pd_chain_item *to, size_t count,
                          unsigned shift)
{
    uint32_t at[DIGITS] = { 0 }, sum = 0;
    for (size_t i = 0; i < count; i++)
        at[from[i].rank >> shift & (DIGITS - 1)]++;
    for (unsigned digit = 0; digit < DIGITS; digit++) {
        uint32_t here = at[digit];
        at[digit] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++)
        to[at[from[i].rank >> shift & (DIGITS - 1)]++] = from[i];
}

/* By rank, equal ones as they stand: digit by digit, but for those that all have in common. False:
 * no memory. */
static bool sort_items(struct pd_chain_tree *tree, size_t begin, size_t end)
{
    struct pd_chain_item *items = tree->items.data + begin, *from = items;
    size_t count = end - begin;
    uint32_t bits = 0;
    if (count <= FEW_ITEMS) {
        insert_by_rank(items, count);
        return true;
    }
    if (!pd_vec_reserve(&tree->spare, count))
        return false;
    struct pd_chain_item *to = tree->spare.data;
    for (size_t i = 1; i < count; i++)
        bits |= items[i].rank ^ items[0].rank;
    for (unsigned shift = 0; shift < 32; shift += DIGIT_BITS) {
        if (!(bits >> shift & (DIGITS - 1)))
            continue;
        sort_by_digit(from, to, count, shift);
        struct pd_chain_item *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
    return true;
}

static uint32_t frame_of(const struct pd_hist *hist, const struct pd_chain_item *item)
{
    return hist->cells.data[item->cell].frame;
}

static uint32_t rank_of(const struct pd_hist *hist, uint32_t cell)
{
    return hist->frames.data[hist->cells.data[cell].frame].rank;
}

static uint32_t node_new(struct pd_chain_tree *tree, uint32_t parent)
{
    struct pd_chain_node node = { .first_frame = (uint32_t)tree->frames.count,
                                  .parent = parent,
                                  .child = PD_HIST_NONE,
                                  .next = PD_HIST_NONE };
    return pd_vec_push(&tree->nodes, node) ? (uint32_t)tree->nodes.count - 1 : PD_HIST_NONE;
}

static void add_end(struct pd_chain_ends *ends, uint64_t end, uint64_t count)
{
    ends->count += count;
    if (end & PD_END_TO) {
        ends->kinds |= end;
        ends->predicted += end & PD_END_PREDICTED ? count : 0;
        ends->aborted += end & PD_END_ABORT ? count : 0;
        return;
    }
    ends->sources += count;
    ends->cycles += count * (end >> PD_END_CYCLES_SHIFT & UINT16_MAX);
    ends->loops += count * (end >> PD_END_LOOPS_SHIFT & UINT8_MAX);
    ends->loop_cycles += count * (end >> PD_END_LOOP_CYCLES_SHIFT);
}

/* Sums the ends of the frame that items [begin, end) begin with; `first` is the item that came
 * first. */
static struct pd_chain_ends sum_ends(const struct pd_hist *hist, const struct pd_chain_item *items,
                                     size_t begin, size_t end, size_t first)
{
    struct pd_chain_ends ends = { 0 };
    uint32_t last = 0;
    for (size_t i = begin; i < end; i++) {
        uint64_t word = hist->frames.data[frame_of(hist, &items[i])].end;
        if (!word)
            continue;
        add_end(&ends, word, items[i].count);
        if (items[i].last >= last) {
            last = items[i].last;
            ends.is_target = word & PD_END_TO;
        }
    }
    ends.sources -= !!(hist->frames.data[frame_of(hist, &items[first])].end & PD_END_FROM);
    return ends;
}

/* Follows items [begin, end), which all begin with one function, as long as none ends and none
 * turns off; then what is left of them becomes work for the node's children. */
static bool follow(const struct pd_hist *hist, struct pd_chain_tree *tree, uint32_t node_id,
                   size_t begin, size_t end)
{
    struct pd_chain_item *items = tree->items.data;
    struct pd_chain_node *node = &tree->nodes.data[node_id];
    /* Several functions may share a line: the chain that came first names it. */
    bool by_order = hist->options.frames == PD_FRAMES_BY_LINE || hist->has_ends;
    for (;;) {
        size_t first = begin;
        for (size_t i = begin; by_order && i < end; i++)
            first = items[i].order < items[first].order ? i : first;
        if (!pd_vec_push(&tree->frames, frame_of(hist, &items[first])))
            return false;
        if (hist->has_ends && !pd_vec_push(&tree->ends, sum_ends(hist, items, begin, end, first)))
            return false;
        node->frame_count++;
        size_t left = begin;
        for (size_t i = begin; i < end; i++) {
            uint32_t next = hist->cells.data[items[i].cell].next;
            if (next == PD_HIST_NONE) {
                node->hits += items[i].hits;
                node->count += items[i].count;
                continue;
            }
            items[left] = items[i];
            items[left].cell = next;
            items[left++].rank = rank_of(hist, next);
        }
        bool ended = left < end, turned = false;
        end = left;
        for (size_t i = begin + 1; i < end && !turned; i++)
            turned = items[i].rank != items[begin].rank;
        if (end == begin)
            return true;
        if (!ended && !turned)
            continue;
        for (size_t i = begin; i < end; i++) {
            node->below_hits += items[i].hits;
            node->below_count += items[i].count;
        }
        if (turned && !sort_items(tree, begin, end))
            return false;
        return pd_vec_push(&tree->work, (struct pd_chain_work){ node_id, begin, end });
    }
}

struct building {
    const struct pd_hist *hist;
    struct pd_chain_tree *tree;
    enum pd_chain_mode mode;
    uint64_t least;
    double share;
};

static uint64_t hits_of(const struct pd_chain_tree *tree, uint64_t group)
{
    uint64_t hits = 0;
    for (size_t at = group >> 32; at < (group & UINT32_MAX); at++)
        hits += tree->items.data[at].hits;
    return hits;
}

/* The groups of items with the same rank that have enough hits, as begin << 32 | end, in the order
 * of siblings. */
static bool list_groups(const struct building *building, struct pd_chain_work work, uint64_t least)
{
    struct pd_chain_tree *tree = building->tree;
    const struct pd_hist *hist = building->hist;
    const struct pd_chain_item *items = tree->items.data;
    bool unknown = false;
    tree->order.count = 0;
    for (size_t begin = work.begin, end; begin < work.end; begin = end) {
        for (end = begin; end < work.end && items[end].rank == items[begin].rank; end++)
            continue;
        uint64_t group = (uint64_t)begin << 32 | end;
        if (hits_of(tree, group) < least)
            continue;
        unknown |= !hist->frames.data[frame_of(hist, &items[begin])].symbol;
        if (!pd_vec_push(&tree->order, group))
            return false;
    }
    const bool by_rank = hist->options.frames != PD_FRAMES_BY_FUNCTION ||
                         !(unknown || hist->has_inlined);
    return by_rank || pd_siblings_sort(tree, hist);
}

/* The groups of one work item become children of its node, in the order of rank. */
static bool branch(const struct building *building, struct pd_chain_work work)
{
    struct pd_chain_tree *tree = building->tree;
    uint64_t least = building->least;
    if (building->mode == PD_CHAIN_FRACTAL)
        least = (uint64_t)ceil((double)tree->nodes.data[work.node].below_hits * building->share);
    uint32_t last = PD_HIST_NONE;
    if (!list_groups(building, work, least))
        return false;
    for (size_t i = 0; i < tree->order.count; i++) {
        size_t begin = tree->order.data[i] >> 32, end = tree->order.data[i] & UINT32_MAX;
        uint32_t id = node_new(tree, work.node);
        if (id == PD_HIST_NONE || !follow(building->hist, tree, id, begin, end))
            return false;
        if (last == PD_HIST_NONE)
            tree->nodes.data[work.node].child = id;
        else
            tree->nodes.data[last].next = id;
        last = id;
    }
    return true;
}

/* Siblings by hits, most first; equal ones stay. */
static bool sort_children(struct pd_chain_tree *tree, uint32_t parent)
{
    tree->order.count = 0;
    for (uint32_t id = tree->nodes.data[parent].child; id != PD_HIST_NONE;
         id = tree->nodes.data[id].next)
        if (!pd_vec_push(&tree->order, id))
            return false;
    const uint64_t *order = tree->order.data;
    size_t count = tree->order.count;
    if (count < 2)
        return true;
    if (!pd_siblings_sort_by_hits(tree))
        return false;
    tree->nodes.data[parent].child = (uint32_t)order[0];
    for (size_t i = 0; i < count; i++)
        tree->nodes.data[order[i]].next = i + 1 < count ? (uint32_t)order[i + 1] : PD_HIST_NONE;
    return true;
}

static int compare_flat(const void *left, const void *right, void *data)
{
    const struct pd_chain_tree *tree = data;
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    uint64_t x = tree->nodes.data[a & UINT32_MAX].hits, y = tree->nodes.data[b & UINT32_MAX].hits;
    if (x != y)
        return x > y ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* All nodes in which enough stacks end; among equals those deeper first, as a walk that ends with
 * the parent meets them. */
static bool list_flat(struct pd_chain_tree *tree, uint64_t least)
{
    uint64_t place = 0;
    tree->order.count = 0;
    uint32_t at = tree->nodes.data[0].child;
    while (at != PD_HIST_NONE) {
        while (tree->nodes.data[at].child != PD_HIST_NONE)
            at = tree->nodes.data[at].child;
        for (;;) {
            const struct pd_chain_node *node = &tree->nodes.data[at];
            if (node->hits && node->hits >= least && !pd_vec_push(&tree->order, place++ << 32 | at))
                return false;
            if (node->next != PD_HIST_NONE || node->parent == 0 || node->parent == PD_HIST_NONE) {
                at = node->next;
                break;
            }
            at = node->parent;
        }
    }
    if (tree->order.count > 1)
        qsort_r(tree->order.data, tree->order.count, sizeof *tree->order.data, compare_flat, tree);
    for (size_t i = 0; i < tree->order.count; i++)
        if (!pd_vec_push(&tree->list, (uint32_t)tree->order.data[i]))
            return false;
    return true;
}

perfdata_status pd_chain_build(const struct pd_hist *hist, const struct pd_chain_item *items,
                               size_t count, enum pd_chain_mode mode, uint64_t least,
                               double percent, struct pd_chain_tree *tree)
{
    bool flat = mode == PD_CHAIN_FLAT || mode == PD_CHAIN_FOLDED;
    struct building building = { hist, tree, mode, least, percent / 100 };
    tree->nodes.count = tree->frames.count = tree->ends.count = tree->list.count =
        tree->items.count = tree->work.count = 0;
    uint32_t root = node_new(tree, PD_HIST_NONE);
    if (root == PD_HIST_NONE || !pd_vec_reserve(&tree->items, count + 1))
        return PERFDATA_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        tree->items.data[i] = items[i];
        tree->items.data[i].rank = rank_of(hist, items[i].cell);
        tree->nodes.data[0].below_hits += items[i].hits;
        tree->nodes.data[0].below_count += items[i].count;
    }
    tree->items.count = count;
    bool ok = sort_items(tree, 0, count);
    ok = ok && (!count || pd_vec_push(&tree->work, (struct pd_chain_work){ 0, 0, count }));
    while (ok && tree->work.count)
        ok = branch(&building, tree->work.data[--tree->work.count]);
    for (size_t i = 0; ok && !flat && i < tree->nodes.count; i++)
        ok = sort_children(tree, (uint32_t)i);
    if (ok && flat)
        ok = list_flat(tree, least);
    return ok ? 0 : PERFDATA_ERROR_MEMORY;
}

void pd_chain_tree_free(struct pd_chain_tree *tree)
{
    pd_vec_free(&tree->nodes);
    pd_vec_free(&tree->frames);
    pd_vec_free(&tree->ends);
    pd_vec_free(&tree->list);
    pd_vec_free(&tree->items);
    pd_vec_free(&tree->spare);
    pd_vec_free(&tree->work);
    pd_vec_free(&tree->order);
}
