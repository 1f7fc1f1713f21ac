/* SPDX-License-Identifier: MIT */
/* Children mode. Done once per distinct (entry, stack) and not per sample: what a sample counts for
 * depends on nothing else, and of what the first sample brings each pair knows the least delivery
 * number. */
#include "analyse/hist.h"

/* ---- the words of keys that callers have of their own ---- */

static uint64_t caller_dso(const struct pd_hist *hist, const struct pd_hist_frame *frame)
{
    return pd_hist_dso_word(&hist->options, frame->dso);
}

static uint64_t caller_symbol(const struct pd_hist *hist, const struct pd_hist_frame *frame)
{
    (void)hist;
    return frame->sym == PD_HIST_NONE ? frame->ip : frame->sym;
}

/* perf takes the address of a caller in memory for one in its file, and adds once more what lies
 * between them. */
static uint64_t caller_address(const struct pd_hist *hist, const struct pd_hist_frame *frame)
{
    (void)hist;
    return frame->ip + frame->map_bias;
}

static uint64_t caller_symbol_size(const struct pd_hist *hist, const struct pd_hist_frame *frame)
{
    (void)hist;
    return frame->symbol ? frame->symbol->end - frame->symbol->start : 0;
}

static uint64_t caller_map_size(const struct pd_hist *hist, const struct pd_hist_frame *frame)
{
    (void)hist;
    return frame->map_size;
}

static uint64_t caller_line(const struct pd_hist *hist, const struct pd_hist_frame *frame)
{
    (void)hist;
    return frame->line;
}

static uint64_t caller_file(const struct pd_hist *hist, const struct pd_hist_frame *frame)
{
    (void)hist;
    return frame->file;
}

static const struct {
    uint64_t (*word)(const struct pd_hist *hist, const struct pd_hist_frame *frame);
    bool forgotten; /* perf looks for the entry among the sample's without filling in this key */
} callers[PD_KEY_COUNT] = {
/* clang-format off */
#define KEPT { NULL, false }
#define FORGOTTEN { NULL, true }
#define FRAME(name) { caller_##name, false }
#define KEY(identifier, name, title, mode, ids, order, caller, ...) [PD_KEY_##identifier] = caller,
/* clang-format on */
#include "analyse/keys.def"
};

static perfdata_status number_bases(struct pd_hist *hist)
{
    struct pd_hist bases;
    pd_hist_init_keys(&bases, &hist->options);
    for (size_t i = 0; i < hist->entries.count && !bases.failed; i++) {
        uint64_t words[PD_HIST_WORDS];
        memcpy(words, pd_hist_key_of(hist, (uint32_t)i), hist->words * sizeof *words);
        for (unsigned k = 0; k < hist->options.key_count; k++)
            if (callers[hist->options.keys[k]].word)
                words[k + 1] = 0;
        hist->entries.data[i].base = pd_hist_entry_id(&bases, words);
    }
    bool failed = bases.failed;
    pd_hist_free(&bases);
    return failed ? PERFDATA_ERROR_MEMORY : 0;
}

/* ---- frames of a stack, ahead ---- */

enum { STEPS = 64 };

/* Some frames of a stack and which entry of a base each has; PD_HIST_NONE: none yet, or not asked.
 * Tables of large recordings are in no cache: what a few frames need comes at the same time. */
struct steps {
    uint32_t count, next; /* the cell behind them */
    uint32_t cells[STEPS], frames[STEPS], entries[STEPS];
};

static void fetch_slot(const struct pd_map64 *map, uint64_t key)
{
    if (map->slots)
        __builtin_prefetch(&map->slots[pd_hash64(key) & map->mask]);
}

/* `wanted`: per frame whether to look for its entry; NULL: for all. */
static void look_ahead(const struct pd_hist *hist, uint32_t base, uint32_t cell, const bool *wanted,
                       struct steps *steps)
{
    const uint64_t high = (uint64_t)base << 32;
    uint32_t count = 0;
    for (; cell != PD_HIST_NONE && count < STEPS; cell = hist->cells.data[cell].next) {
        uint32_t frame = hist->cells.data[cell].frame;
        steps->cells[count] = cell;
        steps->frames[count++] = frame;
        if (!wanted)
            __builtin_prefetch(&hist->frames.data[frame]);
        if (!wanted || wanted[frame])
            fetch_slot(&hist->child_map, high | frame);
    }
    steps->count = count;
    steps->next = cell;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t frame = steps->frames[i], entry = PD_HIST_NONE;
        if (!wanted || wanted[frame])
            entry = pd_map64_get(&hist->child_map, high | frame);
        steps->entries[i] = entry;
        if (!wanted && entry != PD_HIST_NONE) {
            __builtin_prefetch(&hist->entries.data[entry].children_period);
            __builtin_prefetch(&hist->entries.data[entry].max_depth);
        }
    }
}

/* ---- entries of callers ---- */

static uint32_t child_entry(struct pd_hist *hist, uint32_t parent, uint32_t frame_id)
{
    uint32_t base = hist->entries.data[parent].base;
    uint64_t at = (uint64_t)base << 32 | frame_id;
    uint32_t id = pd_map64_get(&hist->child_map, at);
    if (id != PD_MAP64_NONE)
        return id;
    const struct pd_hist_frame *frame = &hist->frames.data[frame_id];
    uint64_t words[PD_HIST_WORDS];
    memcpy(words, pd_hist_key_of(hist, parent), hist->words * sizeof *words);
    for (unsigned k = 0; k < hist->options.key_count; k++)
        if (callers[hist->options.keys[k]].word)
            words[k + 1] = callers[hist->options.keys[k]].word(hist, frame);
    id = pd_hist_entry_id(hist, words);
    if (id == PD_HIST_NONE)
        return id;
    hist->entries.data[id].base = base;
    if (!pd_map64_set(&hist->child_map, at, id)) {
        hist->failed = true;
        return PD_HIST_NONE;
    }
    return id;
}

/* False when every function of the stack counts again, as for perf. */
static bool counts_once(const struct pd_hist *hist, uint32_t entry)
{
    const uint64_t *key = pd_hist_key_of(hist, entry);
    for (unsigned k = 0; k < hist->options.key_count; k++)
        if (callers[hist->options.keys[k]].forgotten && key[k + 1])
            return false;
    return true;
}

static void count_child(struct pd_hist *hist, const struct pd_hist_pair *pair, uint32_t id,
                        const struct pd_hist_frame *frame, char level, uint32_t position)
{
    struct pd_hist_entry *entry = &hist->entries.data[id];
    entry->children_period += pair->period;
    entry->children_count += pair->count;
    if (pd_hist_is_first(&entry->first, pair->number, position))
        entry->first = (struct pd_hist_first){
            .number = pair->number,
            .thread = pair->thread,
            .dso = frame->dso,
            .symbol = frame->symbol,
            .addr = frame->ip,
            .map_bias = frame->map_bias,
            .map_size = frame->map_size,
            .position = position,
            .level = level,
            .filtered = pair->filtered,
        };
}

static void deepen(struct pd_hist *hist, uint32_t entry, uint32_t depth)
{
    uint32_t *max_depth = &hist->entries.data[entry].max_depth;
    *max_depth = PD_MAX(*max_depth, depth);
}

/* The map of the newest sample that counts for an entry. */
struct last_map {
    uint64_t number, bias;
};

struct expansion {
    struct pd_hist *hist;
    PD_VEC(uint32_t) seen;        /* per entry: the last pair + 1 */
    PD_VEC(struct last_map) maps; /* per entry; of data only */
};

/* perf keeps the address that a row began with, and the map of its newest sample. Where processes
 * have an object at different places, the offset that it shows of data depends on both. */
static void keep_last_map(struct expansion *expansion, const struct pd_hist_pair *pair, uint32_t id,
                          const struct pd_hist_frame *frame)
{
    if (PD_LIKELY(!frame->is_data))
        return;
    if (!pd_vec_widen_to(&expansion->maps, (size_t)id + 1)) {
        expansion->hist->failed = true;
        return;
    }
    struct last_map *map = &expansion->maps.data[id];
    if (pair->last >= map->number)
        *map = (struct last_map){ pair->last, frame->map_bias };
    expansion->hist->entries.data[id].first.map_bias = map->bias;
}

static bool is_new(struct expansion *expansion, uint32_t entry, uint32_t pair, bool once)
{
    if (!pd_vec_widen_to(&expansion->seen, (size_t)entry + 1)) {
        expansion->hist->failed = true;
        return false;
    }
    if (once && expansion->seen.data[entry] == pair + 1)
        return false;
    expansion->seen.data[entry] = pair + 1;
    return true;
}

static void expand_pair(struct expansion *expansion, uint32_t index)
{
    struct pd_hist *hist = expansion->hist;
    struct pd_hist_pair pair = hist->pairs.data[index];
    bool once = counts_once(hist, pair.entry);
    char level = pair.level;
    uint32_t position = 0;
    is_new(expansion, pair.entry, index, false);
    if (!pair.borrowed)
        deepen(hist, pair.entry, hist->cells.data[pair.cell].depth);
    struct steps steps;
    steps.next = pair.cell;
    while (steps.next != PD_HIST_NONE && !hist->failed) {
        look_ahead(hist, hist->entries.data[pair.entry].base, steps.next, NULL, &steps);
        for (uint32_t i = 0; i < steps.count; i++) {
            const struct pd_hist_frame *frame = &hist->frames.data[steps.frames[i]];
            uint32_t id = steps.entries[i];
            position++;
            if (!frame->symbol && hist->options.hide_unresolved)
                return;
            level = pd_hist_frame_level(frame, level);
            if (id == PD_HIST_NONE)
                id = child_entry(hist, pair.entry, steps.frames[i]);
            if (id == PD_HIST_NONE)
                continue;
            if (is_new(expansion, id, index, once)) {
                count_child(hist, &pair, id, frame, level, position);
                deepen(hist, id, hist->cells.data[steps.cells[i]].depth);
            }
            keep_last_map(expansion, &pair, id, frame);
        }
    }
}

perfdata_status pd_hist_expand(struct pd_hist *hist)
{
    perfdata_status status = number_bases(hist);
    if (status < 0)
        return status;
    for (size_t i = 0; i < hist->entries.count; i++) {
        struct pd_hist_entry *entry = &hist->entries.data[i];
        entry->children_period = entry->period;
        entry->children_count = entry->count;
    }
    struct expansion expansion = { .hist = hist };
    for (size_t i = 0; i < hist->pairs.count && !hist->failed; i++)
        expand_pair(&expansion, (uint32_t)i);
    pd_vec_free(&expansion.seen);
    pd_vec_free(&expansion.maps);
    return hist->failed ? PERFDATA_ERROR_MEMORY : 0;
}

perfdata_status
pd_hist_climb(const struct pd_hist *hist, struct pd_hist_climb *climb, uint32_t index,
              void (*each)(void *data, uint32_t pair, uint32_t entry, uint32_t cell), void *data)
{
    if (climb->seen.count < hist->entries.count) {
        if (!pd_vec_reserve(&climb->seen, hist->entries.count))
            return PERFDATA_ERROR_MEMORY;
        memset(climb->seen.data, 0, hist->entries.count * sizeof *climb->seen.data);
        climb->seen.count = hist->entries.count;
    }
    const struct pd_hist_pair *pair = &hist->pairs.data[index];
    bool once = counts_once(hist, pair->entry);
    uint32_t base = hist->entries.data[pair->entry].base;
    climb->seen.data[pair->entry] = index + 1;
    if (!pair->borrowed)
        each(data, index, pair->entry, pair->cell);
    struct steps steps;
    steps.next = pair->cell;
    while (steps.next != PD_HIST_NONE) {
        look_ahead(hist, base, steps.next, climb->frames, &steps);
        for (uint32_t i = 0; i < steps.count; i++) {
            uint32_t id = steps.entries[i];
            if (hist->options.hide_unresolved && !hist->frames.data[steps.frames[i]].symbol)
                return 0;
            if (id == PD_HIST_NONE || (once && climb->seen.data[id] == index + 1))
                continue;
            climb->seen.data[id] = index + 1;
            each(data, index, id, steps.cells[i]);
        }
    }
    return 0;
}
