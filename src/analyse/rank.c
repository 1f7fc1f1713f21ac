/* SPDX-License-Identifier: MIT */
/* Each row gets a rank for all of its keys. Where something is compared that is no order, it stands
 * between two ranks. */
#include "analyse/rank.h"
#include <stdlib.h>

/* ---- keys ---- */

static uint64_t inverted_sign(uint64_t value)
{
    return value ^ UINT64_C(1) << 63;
}

/* Numbers that perf compares by their signed difference are in order when no difference is too
 * large. */
struct extent {
    int64_t least, greatest;
};

static const struct extent no_extent = { INT64_MAX, INT64_MIN };

static void extend(struct extent *extent, uint64_t value)
{
    extent->least = PD_MIN(extent->least, (int64_t)value);
    extent->greatest = PD_MAX(extent->greatest, (int64_t)value);
}

static bool is_ordered(const struct extent *extent)
{
    return extent->least > extent->greatest ||
           (uint64_t)extent->greatest - (uint64_t)extent->least <= INT64_MAX;
}

static void put_value(struct pd_ranking *ranking, size_t row, uint64_t value)
{
    ranking->sorter.items[row] = (struct pd_rank_item){ value, (uint32_t)row };
}

static uint64_t key_word(const struct pd_ranking *ranking, size_t row, int at)
{
    return pd_hist_key_of(ranking->sorting->hist, ranking->index[row])[at];
}

static bool part_by_difference(struct pd_ranking *ranking, uint8_t key, bool greatest_first)
{
    int at = pd_hist_key_at(&ranking->sorting->hist->options, key);
    struct extent extent = no_extent;
    for (size_t i = 0; i < ranking->count; i++) {
        uint64_t value = key_word(ranking, i, at);
        extend(&extent, value);
        put_value(ranking, i, greatest_first ? ~inverted_sign(value) : inverted_sign(value));
    }
    if (!is_ordered(&extent))
        return false;
    pd_rank_parts(ranking);
    return true;
}

static bool part_by_int(struct pd_ranking *ranking, uint8_t key)
{
    int at = pd_hist_key_at(&ranking->sorting->hist->options, key);
    for (size_t i = 0; i < ranking->count; i++)
        put_value(ranking, i, (uint32_t)key_word(ranking, i, at) ^ UINT32_C(1) << 31);
    pd_rank_parts(ranking);
    return true;
}

/* Things that many rows share, each once. */
struct shared {
    const void *thing;
    uint64_t first, second; /* what they are compared by, before their texts */
    const char *text;       /* NULL: not compared */
    uint32_t id;
};

struct sharing {
    struct pd_map64 ids;
    PD_VEC(struct shared) all;
    const void *last; /* the thing of the row before, and its id: neighbours are often alike */
    uint32_t last_id;
};

static int compare_shared(const void *left, const void *right)
{
    const struct shared *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    if (a->second != b->second)
        return a->second < b->second ? -1 : 1;
    return a->text && b->text ? strcmp(a->text, b->text) : 0;
}

/* The id of a thing in the row's part. */
static bool share(struct pd_ranking *ranking, struct sharing *sharing, size_t row,
                  struct shared shared)
{
    uint64_t key = (uint64_t)(uintptr_t)shared.thing;
    if (sharing->all.count && sharing->last == shared.thing) {
        ranking->part[row] = sharing->last_id;
        return !ranking->failed;
    }
    uint32_t id = pd_map64_get(&sharing->ids, key);
    if (id == PD_MAP64_NONE) {
        id = shared.id = (uint32_t)sharing->all.count;
        if (!pd_vec_push(&sharing->all, shared) || !pd_map64_set(&sharing->ids, key, id))
            ranking->failed = true;
    }
    sharing->last = shared.thing;
    ranking->part[row] = sharing->last_id = id;
    return !ranking->failed;
}

/* Ids to ranks, but for rows whose part is PD_HIST_NONE. */
static void rank_shared(struct pd_ranking *ranking, struct sharing *sharing)
{
    size_t count = sharing->all.count;
    if (ranking->failed) /* an id may be that of a thing that could not be kept */
        return;
    uint32_t *ranks = calloc(count + 1, sizeof *ranks), rank = 0;
    if (!ranks) {
        ranking->failed = true;
        return;
    }
    if (count > 1)
        qsort(sharing->all.data, count, sizeof *sharing->all.data, compare_shared);
    for (size_t i = 0; i < count; i++) {
        if (i && compare_shared(&sharing->all.data[i - 1], &sharing->all.data[i]) != 0)
            rank++;
        ranks[sharing->all.data[i].id] = rank;
    }
    for (size_t i = 0; i < ranking->count; i++)
        if (ranking->part[i] != PD_HIST_NONE)
            ranking->part[i] = ranks[ranking->part[i]];
    ranking->parts = count ? rank + 1 : 0;
    free(ranks);
}

/* Rows without any such thing are alike, and behind the others. */
static void part_rest(struct pd_ranking *ranking)
{
    bool some = false;
    for (size_t i = 0; i < ranking->count; i++) {
        if (ranking->part[i] != PD_HIST_NONE)
            continue;
        ranking->part[i] = ranking->parts;
        some = true;
    }
    ranking->parts += some;
}

static void sharing_free(struct sharing *sharing)
{
    pd_map64_free(&sharing->ids);
    pd_vec_free(&sharing->all);
}

/* Its first eight bytes, which decide most comparisons of texts. */
static uint64_t beginning(const char *text)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++) {
        value = value << 8 | (uint8_t)*text;
        text += *text != 0;
    }
    return value;
}

static void share_text(struct pd_ranking *ranking, struct sharing *sharing, size_t row,
                       const char *text)
{
    ranking->part[row] = PD_HIST_NONE;
    if (text)
        share(ranking, sharing, row,
              (struct shared){ .thing = text, .first = beginning(text), .text = text });
}

static void rank_texts(struct pd_ranking *ranking, struct sharing *sharing)
{
    if (!ranking->failed)
        rank_shared(ranking, sharing);
    if (!ranking->failed)
        part_rest(ranking);
    sharing_free(sharing);
}

static bool part_by_text(struct pd_ranking *ranking,
                         const char *(*text_of)(const struct pd_hist_row *row))
{
    struct sharing sharing = { 0 };
    for (size_t i = 0; i < ranking->count && !ranking->failed; i++)
        share_text(ranking, &sharing, i, text_of(ranking->rows[i]));
    rank_texts(ranking, &sharing);
    return true;
}

/* Objects that were accessed are compared the other way round: the last name is the first. */
static bool part_by_object(struct pd_ranking *ranking, uint8_t key)
{
    struct sharing sharing = { 0 };
    for (size_t i = 0; i < ranking->count && !ranking->failed; i++) {
        const struct pd_hist_access *access = pd_hist_access_of(ranking->sorting->all,
                                                                ranking->rows[i]->entry);
        const struct pd_hist_place *place = key == PD_KEY_DSO_FROM ? &access->from : &access->to;
        share_text(ranking, &sharing, i, place->dso_name);
    }
    rank_texts(ranking, &sharing);
    for (size_t i = 0; i < ranking->count && !ranking->failed; i++)
        ranking->part[i] = ranking->parts - 1 - ranking->part[i];
    return true;
}

static const char *comm_of(const struct pd_hist_row *row)
{
    return row->comm;
}
static const char *dso_of(const struct pd_hist_row *row)
{
    return row->dso;
}
static const char *parent_of(const struct pd_hist_row *row)
{
    return row->parent;
}
static const char *trace_of(const struct pd_hist_row *row)
{
    return row->trace;
}
static const char *line_of(const struct pd_hist_row *row)
{
    return row->line;
}
static const char *file_of(const struct pd_hist_row *row)
{
    return row->file;
}
static const char *symbol_of(const struct pd_hist_row *row)
{
    return row->symbol;
}

static const char *(*text_of_key(uint8_t key))(const struct pd_hist_row *row)
{
    switch (key) {
    case PD_KEY_COMM: return comm_of;
    case PD_KEY_DSO: return dso_of;
    case PD_KEY_PARENT: return parent_of;
    case PD_KEY_TRACE: return trace_of;
    case PD_KEY_SRCLINE: return line_of;
    case PD_KEY_SRCFILE: return file_of;
    default: return NULL;
    }
}

/* Tells functions apart as perf does once their objects are the same. */
static bool part_by_symbol(struct pd_ranking *ranking)
{
    struct extent starts = no_extent, ends = no_extent;
    struct sharing sharing = { 0 };
    bool ordered = true;
    for (size_t i = 0; i < ranking->count && ordered && !ranking->failed; i++) {
        const struct pd_symbol *symbol = ranking->rows[i]->entry->first.symbol;
        ranking->part[i] = PD_HIST_NONE;
        if (!symbol)
            continue;
        extend(&starts, symbol->start);
        extend(&ends, symbol->end);
        ordered = !symbol->inlined;
        share(ranking, &sharing, i,
              (struct shared){ .thing = symbol,
                               .first = inverted_sign(symbol->start),
                               .second = inverted_sign(symbol->end) });
    }
    ordered = ordered && is_ordered(&starts) && is_ordered(&ends);
    if (ordered && !ranking->failed)
        rank_shared(ranking, &sharing);
    if (ordered && !ranking->failed)
        part_rest(ranking);
    sharing_free(&sharing);
    return ordered;
}

/* The part of each row by a key as pd_hist_compare_identities() has it; false: it is no order of
 * numbers. */
static bool part_by_key(struct pd_ranking *ranking, uint8_t key)
{
    switch (key) {
    case PD_KEY_COMM:
    case PD_KEY_DSO:
    case PD_KEY_PARENT:
    case PD_KEY_TRACE:
    case PD_KEY_SRCLINE:
    case PD_KEY_SRCFILE: return part_by_text(ranking, text_of_key(key));
    case PD_KEY_DSO_FROM:
    case PD_KEY_DSO_TO:
    case PD_KEY_DSO_DADDR: return part_by_object(ranking, key);
    case PD_KEY_PID:
    case PD_KEY_CPU:
    case PD_KEY_SOCKET: return part_by_int(ranking, key);
    case PD_KEY_LOCAL_WEIGHT:
    case PD_KEY_WEIGHT:
    case PD_KEY_LOCAL_INS_LAT:
    case PD_KEY_INS_LAT:
    case PD_KEY_LOCAL_STAGE:
    case PD_KEY_STAGE: return part_by_difference(ranking, key, true);
    case PD_KEY_SYMBOL_SIZE:
    case PD_KEY_DSO_SIZE:
    case PD_KEY_CGROUP:
    case PD_KEY_TIME:
    case PD_KEY_CODE_PAGE_SIZE:
    case PD_KEY_SYMBOL_DADDR:
    case PD_KEY_SYMBOL_IADDR:
    case PD_KEY_LOCKED:
    case PD_KEY_TLB:
    case PD_KEY_MEM:
    case PD_KEY_SNOOP:
    case PD_KEY_PHYS_DADDR:
    case PD_KEY_DATA_PAGE_SIZE:
    case PD_KEY_BLOCKED: return part_by_difference(ranking, key, false);
    default: return false;
    }
}

static bool is_symbol_key(uint8_t key)
{
    return key == PD_KEY_SYMBOL || key == PD_KEY_IPC_NULL || key == PD_KEY_IPC_LBR;
}

static void refine_more(struct pd_ranking *ranking, struct pd_ranks *ranks)
{
    if (ranking->failed) /* the parts are incomplete */
        return;
    if (ranks->has_middles)
        ranks->tail_count = pd_rank_refine(ranking, ranks->tails, ranks->tail_count);
    else
        ranks->head_count = pd_rank_refine(ranking, ranks->heads, ranks->head_count);
}

/* Addresses without a symbol, which may be anything that a stack held. */
static bool refine_by_address(struct pd_ranking *ranking, struct pd_ranks *ranks)
{
    bool some = false;
    for (size_t i = 0; i < ranking->count; i++)
        some |= !ranking->rows[i]->entry->first.symbol;
    if (!some)
        return true;
    if (ranks->has_middles || !ranking->sorting->dso_is_key)
        return false;
    for (size_t i = 0; i < ranking->count; i++) {
        const struct pd_hist_row *row = ranking->rows[i];
        ranks->middles[i] = row->entry->first.symbol ? 0 : row->addr;
    }
    ranks->has_middles = true;
    return true;
}

/* Puts the row's parts aside, for the same key to come. */
static void keep_part(struct pd_ranking *ranking, uint8_t key)
{
    uint32_t *next = malloc((ranking->count + 1) * sizeof *next);
    if (!next) {
        ranking->failed = true;
        return;
    }
    ranking->kept[key].part = ranking->part;
    ranking->kept[key].parts = ranking->parts;
    ranking->part = next;
}

static void refine_by_kept(struct pd_ranking *ranking, uint8_t key, struct pd_ranks *ranks)
{
    uint32_t *own = ranking->part;
    ranking->part = ranking->kept[key].part;
    ranking->parts = ranking->kept[key].parts;
    refine_more(ranking, ranks);
    ranking->part = own;
}

/* False: the key is no order of numbers. */
static bool refine_by_key(struct pd_ranking *ranking, uint8_t key, struct pd_ranks *ranks)
{
    bool by_symbol = is_symbol_key(key);
    if (ranking->kept[key].part) {
        refine_by_kept(ranking, key, ranks);
        return true;
    }
    if (by_symbol && !ranking->sorting->dso_is_key) {
        part_by_text(ranking, dso_of);
        refine_more(ranking, ranks);
    }
    if (!(by_symbol ? part_by_symbol(ranking) : part_by_key(ranking, key)))
        return false;
    refine_more(ranking, ranks);
    return !ranking->failed && (!by_symbol || refine_by_address(ranking, ranks));
}

/* ---- rows ---- */

static bool is_ordered_by(const struct pd_hist_sorting *sorting, uint8_t key)
{
    for (size_t i = 0; i < sorting->order_count; i++)
        if (sorting->order[i] == key)
            return true;
    return false;
}

bool pd_rank_identities(struct pd_ranking *ranking, struct pd_ranks *ranks)
{
    const struct pd_hist_options *options = &ranking->sorting->hist->options;
    for (unsigned k = 0; k < options->key_count && !ranking->failed; k++) {
        uint8_t key = options->keys[k];
        if (!refine_by_key(ranking, key, ranks))
            return false;
        if (!ranking->kept[key].part && !is_symbol_key(key) && is_ordered_by(ranking->sorting, key))
            keep_part(ranking, key);
    }
    return !ranking->failed;
}

/* The greater before the less. */
static void refine_by_column(struct pd_ranking *ranking, uint8_t column, struct pd_ranks *ranks)
{
    bool grouped = column != PD_COLUMN_CHILDREN;
    for (size_t m = 0; m < ranking->sorting->group_values; m++) {
        if (m && !grouped)
            break;
        for (size_t i = 0; i < ranking->count; i++) {
            const struct pd_hist_row *own = ranking->rows[i];
            const struct pd_hist_row *row = grouped ? pd_hist_value_row(ranking->sorting, own, m)
                                                    : own;
            put_value(ranking, i, row ? ~pd_hist_row_value(row, column) : UINT64_MAX);
        }
        pd_rank_parts(ranking);
        refine_more(ranking, ranks);
    }
}

/* perf puts callers above callees, but within a thread only. */
static bool refine_by_depth(struct pd_ranking *ranking, struct pd_ranks *ranks)
{
    struct sharing sharing = { 0 };
    for (size_t i = 0; i < ranking->count && !ranking->failed; i++) {
        const struct pd_hist_row *row = ranking->rows[i];
        if (share(ranking, &sharing, i, (struct shared){ .thing = row->entry->first.thread }))
            ranks->middles[i] = (uint64_t)ranking->part[i] << 32 | row->max_depth;
    }
    sharing_free(&sharing);
    ranks->has_middles = true;
    return !ranking->failed;
}

bool pd_rank_output(struct pd_ranking *ranking, struct pd_ranks *ranks)
{
    const struct pd_hist_sorting *sorting = ranking->sorting;
    bool ok = true;
    for (size_t i = 0; ok && i < sorting->order_count; i++) {
        uint8_t what = sorting->order[i];
        if (what == PD_COLUMN_CHILDREN) {
            if (!sorting->hist->options.children || ranks->has_middles)
                continue;
            refine_by_column(ranking, what, ranks);
            ok = !sorting->has_chains || refine_by_depth(ranking, ranks);
        } else if (what >= PD_KEY_COUNT) {
            refine_by_column(ranking, what, ranks);
        } else if (what == PD_KEY_SYMBOL) {
            part_by_text(ranking, symbol_of);
            refine_more(ranking, ranks);
        } else {
            bool had_middles = ranks->has_middles;
            ok = refine_by_key(ranking, what, ranks) && ranks->has_middles == had_middles;
        }
        ok = ok && !ranking->failed;
    }
    return ok;
}

/* The extents of the middles below each head; NULL: no memory. */
static struct extent *extents_of(const struct pd_ranking *ranking, const struct pd_ranks *ranks)
{
    struct extent *extents = calloc(ranks->head_count + 1, sizeof *extents);
    for (size_t i = 0; extents && i < ranks->head_count; i++)
        extents[i] = no_extent;
    for (size_t i = 0; extents && i < ranking->count; i++)
        extend(&extents[ranks->heads[i]], ranks->middles[i]);
    return extents;
}

bool *pd_rank_without_order(const struct pd_ranking *ranking, const struct pd_ranks *ranks)
{
    struct extent *extents = extents_of(ranking, ranks);
    bool *without = extents ? malloc(ranking->count + 1) : NULL;
    for (size_t i = 0; without && i < ranking->count; i++)
        without[i] = !is_ordered(&extents[ranks->heads[i]]);
    free(extents);
    return without;
}

/* Addresses are in order where those with the same head are: then there are heads only. */
bool pd_rank_join(struct pd_ranking *ranking, struct pd_ranks *ranks)
{
    struct extent *extents = extents_of(ranking, ranks);
    bool ordered = extents != NULL;
    ranking->failed |= !ordered;
    for (size_t i = 0; ordered && i < ranks->head_count; i++)
        ordered = is_ordered(&extents[i]);
    free(extents);
    if (!ordered)
        return false;
    for (size_t i = 0; i < ranking->count; i++)
        put_value(ranking, i, inverted_sign(ranks->middles[i]));
    pd_rank_parts(ranking);
    ranks->head_count = pd_rank_refine(ranking, ranks->heads, ranks->head_count);
    memcpy(ranking->part, ranks->tails, ranking->count * sizeof *ranking->part);
    ranking->parts = ranks->tail_count;
    ranks->head_count = pd_rank_refine(ranking, ranks->heads, ranks->head_count);
    ranks->has_middles = false;
    return true;
}
