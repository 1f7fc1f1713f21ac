/* SPDX-License-Identifier: MIT */
/* The tables of one worker: each thing that repeats gets a number. */
#include "analyse/hist.h"
#include "base/memory.h"
#include <stdatomic.h>

void pd_hist_init(struct pd_hist *hist, const struct pd_hist_options *options)
{
    memset(hist, 0, sizeof *hist);
    hist->options = *options;
    hist->words = 1 + options->key_count + (options->keeps_log ? PD_HIST_LOG_WORDS : 0);
}

void pd_hist_init_keys(struct pd_hist *hist, const struct pd_hist_options *options)
{
    pd_hist_init(hist, options);
    hist->options.keys_only = true;
}

void pd_hist_free(struct pd_hist *hist)
{
    pd_vec_free(&hist->syms);
    pd_vec_free(&hist->frames);
    pd_vec_free(&hist->cells);
    pd_vec_free(&hist->comms);
    pd_vec_free(&hist->entries);
    pd_vec_free(&hist->accesses);
    pd_vec_free(&hist->log);
    pd_vec_free(&hist->keys);
    pd_vec_free(&hist->pairs);
    pd_vec_free(&hist->visits);
    pd_vec_free(&hist->namespaces);
    pd_intern_free(&hist->names);
    pd_intern_free(&hist->namespace_keys);
    free(hist->entry_slots);
    free(hist->sym_slots);
    free(hist->frame_slots);
    pd_map64_free(&hist->cell_map);
    pd_vec_free(&hist->pair_of.first);
    pd_map64_free(&hist->pair_of.further);
    pd_map64_free(&hist->child_map);
    pd_vec_free(&hist->comm_of_index);
    pd_vec_free(&hist->comm_of_name);
    memset(hist, 0, sizeof *hist);
}

static uint32_t fail(struct pd_hist *hist)
{
    hist->failed = true;
    return PD_HIST_NONE;
}

/* ---- entries ---- */

PD_INLINE uint64_t key_hash(const uint64_t *key, unsigned words)
{
    uint64_t hash = 0;
    for (unsigned i = 0; i < words; i++)
        hash = pd_hash_add(hash, key[i]);
    return hash;
}

static uint64_t entry_hash(const void *data, size_t id)
{
    const struct pd_hist *hist = data;
    return key_hash(pd_hist_key_of(hist, (uint32_t)id), hist->words);
}

static bool add_entry(struct pd_hist *hist)
{
    struct pd_hist_entry entry = { .first.number = UINT64_MAX, .base = PD_HIST_NONE };
    if (!hist->options.keys_only)
        return pd_vec_push(&hist->entries, entry);
    hist->entries.count++;
    return true;
}

uint64_t pd_hist_key_hash(const struct pd_hist *hist, const uint64_t *key)
{
    return key_hash(key, hist->words);
}

/* Step by step for all of them, since what is read in one depends on the one before. */
void pd_hist_read_entries(const struct pd_hist *hist, const uint64_t *hashes, size_t count)
{
    uint32_t slots[PD_HIST_READ_MAX];
    volatile uint64_t read; /* so that nothing is left out */
    uint64_t sum = 0;
    for (size_t i = 0; i < count && hist->entry_slots; i++)
        slots[i] = hist->entry_slots[hashes[i] & hist->entry_mask];
    for (size_t i = 0; i < count && hist->entry_slots; i++) {
        if (!slots[i])
            continue;
        const uint64_t *key = pd_hist_key_of(hist, slots[i] - 1);
        const struct pd_hist_entry *entry = &hist->entries.data[slots[i] - 1];
        sum += key[0] + key[hist->words - 1] + entry->period + entry->first.number;
        slots[i] = slots[i] <= hist->pair_of.first.count ? hist->pair_of.first.data[slots[i] - 1]
                                                         : 0;
    }
    for (size_t i = 0; i < count && hist->entry_slots; i++)
        sum += slots[i] ? hist->pairs.data[slots[i] - 1].cell : 0;
    read = sum;
    (void)read;
}

uint32_t pd_hist_entry_id(struct pd_hist *hist, const uint64_t *key)
{
    return pd_hist_entry_by_hash(hist, key, key_hash(key, hist->words));
}

uint32_t pd_hist_entry_by_hash(struct pd_hist *hist, const uint64_t *key, uint64_t hash)
{
    unsigned words = hist->words;
    if (PD_UNLIKELY((hist->entries.count + 1) * 2 > hist->entry_mask + 1 || !hist->entry_slots) &&
        !pd_slots_reserve(&hist->entry_slots, &hist->entry_mask, hist->entries.count, entry_hash,
                          hist))
        return fail(hist);
    size_t at = hash & hist->entry_mask;
    for (uint32_t slot; (slot = hist->entry_slots[at]); at = (at + 1) & hist->entry_mask) {
        const uint64_t *other = pd_hist_key_of(hist, slot - 1);
        unsigned i = 0;
        while (i < words && other[i] == key[i])
            i++;
        if (i == words)
            return slot - 1;
    }
    if (!pd_vec_reserve(&hist->keys, hist->keys.count + words) || !add_entry(hist))
        return fail(hist);
    memcpy(hist->keys.data + hist->keys.count, key, words * sizeof *key);
    hist->keys.count += words;
    hist->entry_slots[at] = (uint32_t)hist->entries.count;
    return (uint32_t)hist->entries.count - 1;
}

bool pd_hist_reserve(struct pd_hist *hist, size_t entries)
{
    size_t size = 1024;
    while (size < (entries + 1) * 2)
        size *= 2;
    if (hist->entry_slots)
        return true;
    hist->entry_slots = pd_large_calloc(size, sizeof *hist->entry_slots);
    hist->entry_mask = size - 1;
    if (hist->entry_slots && pd_vec_reserve(&hist->keys, entries * hist->words) &&
        (hist->options.keys_only || pd_vec_reserve(&hist->entries, entries)))
        return true;
    return fail(hist), false;
}

/* Entries that have no branch yet get room for one. */
static struct pd_hist_access *access_at(struct pd_hist *hist, uint32_t entry)
{
    if (!pd_vec_widen_to(&hist->accesses, hist->entries.count)) {
        hist->failed = true;
        return NULL;
    }
    return &hist->accesses.data[entry];
}

bool pd_hist_keep_access(struct pd_hist *hist, uint32_t entry, const struct pd_hist_access *access)
{
    struct pd_hist_access *at = access_at(hist, entry);
    if (at)
        *at = *access;
    return at != NULL;
}

bool pd_hist_count_access(struct pd_hist *hist, uint32_t id, uint8_t cpumode,
                          const struct pd_hist_first *first, const struct pd_hist_access *access)
{
    struct pd_hist_entry *entry = &hist->entries.data[id];
    struct pd_hist_access *at = access_at(hist, id);
    if (!at)
        return false;
    PD_HIST_COUNT(entry, cpumode, 1);
    hist->has_cycles |= access->to.symbol && PD_BRANCH_PART(access->flags, CYCLES);
    if (pd_hist_is_first(&entry->first, first->number, first->position)) {
        entry->first = *first;
        *at = *access;
    }
    uint32_t logged = id | (uint32_t)cpumode << PD_HIST_LOG_MODE;
    if (hist->options.keeps_log && (id > PD_HIST_LOG_ENTRY || !pd_vec_push(&hist->log, logged)))
        hist->failed = true;
    return !hist->failed;
}

/* ---- symbols ---- */

/* Functions inlined into another share its range, so that their names must tell them apart. */
static const char *inlined_name(const struct pd_hist_sym *sym)
{
    return sym->symbol && sym->symbol->inlined ? sym->symbol->name : "";
}

static uint64_t sym_hash_of(const struct pd_hist_sym *sym)
{
    const char *inlined = inlined_name(sym);
    uint64_t hash = pd_hash_add(pd_hash_pair(sym->start, sym->end),
                                sym->dso_name + (sym->symbol ? UINT64_C(1) << 40 : 0));
    return *inlined ? hash ^ pd_hash_bytes(inlined, strlen(inlined)) : hash;
}

static uint64_t sym_hash(const void *data, size_t id)
{
    const struct pd_hist *hist = data;
    return sym_hash_of(&hist->syms.data[id]);
}

static uint32_t sym_add(struct pd_hist *hist, const struct pd_hist_sym *sym)
{
    if (!pd_slots_reserve(&hist->sym_slots, &hist->sym_mask, hist->syms.count, sym_hash, hist))
        return fail(hist);
    size_t at = sym_hash_of(sym) & hist->sym_mask;
    for (uint32_t slot; (slot = hist->sym_slots[at]); at = (at + 1) & hist->sym_mask) {
        const struct pd_hist_sym *other = &hist->syms.data[slot - 1];
        if (other->start == sym->start && other->end == sym->end &&
            other->dso_name == sym->dso_name && !other->symbol == !sym->symbol &&
            !strcmp(inlined_name(other), inlined_name(sym)))
            return slot - 1;
    }
    if (!pd_vec_push(&hist->syms, *sym))
        return fail(hist);
    hist->sym_slots[at] = (uint32_t)hist->syms.count;
    return (uint32_t)hist->syms.count - 1;
}

/* Whether an address without a symbol is its own word. Numbers have 32 bits, PD_HIST_NONE too. */
static bool is_own_word(const struct pd_symbol *symbol, uint64_t addr)
{
    return !symbol && addr > UINT32_MAX;
}

uint64_t pd_hist_sym_word(struct pd_hist *hist, const struct pd_dso *dso,
                          const struct pd_symbol *symbol, uint64_t addr)
{
    if (is_own_word(symbol, addr))
        return addr;
    /* Unknown addresses are equal in whatever DSO they lie. */
    struct pd_hist_sym sym = {
        .symbol = symbol,
        .start = symbol ? symbol->start : addr,
        .end = symbol ? symbol->end : 0,
        .dso_name = symbol ? (uint32_t)pd_hist_dso_word(&hist->options, dso) : PD_HIST_NONE,
    };
    return sym_add(hist, &sym);
}

/* ---- names ---- */

static uint32_t *id_slot(struct pd_hist *hist, uint32_t **data, size_t *count, size_t *capacity,
                         size_t index)
{
    if (!pd_vec_widen((void **)data, count, capacity, index + 1, sizeof **data)) {
        hist->failed = true;
        return NULL;
    }
    return *data + index;
}

#define ID_SLOT(hist, vec, index)                                                                  \
    id_slot((hist), &(vec)->data, &(vec)->count, &(vec)->capacity, (index))

uint32_t pd_hist_bytes_id(struct pd_hist *hist, const char *bytes, size_t length)
{
    uint32_t id = pd_intern(&hist->names, bytes, length);
    return id == PD_INTERN_NONE ? fail(hist) : id;
}

uint32_t pd_hist_name_id(struct pd_hist *hist, const char *text)
{
    return pd_hist_bytes_id(hist, text, strlen(text));
}

uint32_t pd_hist_comm_id(struct pd_hist *hist, const struct pd_comm *comm, uint64_t number)
{
    if (!comm)
        return PD_HIST_NONE;
    /* Once its default name is replaced, an object's text is final: forks by the thousand then
     * share one name. */
    bool own = comm->default_text &&
               number < atomic_load_explicit(&comm->replaced_at, memory_order_acquire);
    uint32_t *by_index = ID_SLOT(hist, &hist->comm_of_index, (size_t)comm->index * 2 + own);
    if (!by_index)
        return PD_HIST_NONE;
    if (*by_index)
        return *by_index - 1;
    uint32_t *by_name = NULL;
    if (!own) {
        uint32_t name = pd_hist_name_id(hist, pd_comm_final_text(comm));
        if (name == PD_HIST_NONE || !(by_name = ID_SLOT(hist, &hist->comm_of_name, name)))
            return PD_HIST_NONE;
        if (*by_name)
            return (*by_index = *by_name) - 1;
    }
    if (!pd_vec_push(&hist->comms, (struct pd_hist_comm){ comm, own }))
        return fail(hist);
    *by_index = (uint32_t)hist->comms.count;
    if (by_name)
        *by_name = *by_index;
    return *by_index - 1;
}

uint32_t pd_hist_namespace_id(struct pd_hist *hist, uint32_t device, uint64_t inode)
{
    const uint64_t key[] = { device, inode };
    uint32_t id = pd_intern(&hist->namespace_keys, (const char *)key, sizeof key);
    if (id == PD_INTERN_NONE ||
        (id == hist->namespaces.count &&
         !pd_vec_push(&hist->namespaces, (struct pd_hist_namespace){ device, inode })))
        return fail(hist);
    return id + 1;
}

/* ---- frames and cells ---- */

/* Of data the offset is shown, which depends on the address and on where the map lies. */
static bool has_own_address(const struct pd_hist_frame *frame)
{
    return !frame->symbol || frame->is_data;
}

static uint64_t frame_hash_of(const struct pd_hist_frame *frame)
{
    uint64_t place = has_own_address(frame) ? frame->ip : (uint64_t)(uintptr_t)frame->symbol;
    uint64_t hash = pd_hash_pair(place, (uint64_t)(uintptr_t)frame->dso + frame->kernel);
    return pd_hash_pair(hash ^ frame->map_size, frame->addr) ^ frame->end;
}

static uint64_t frame_hash(const void *data, size_t id)
{
    const struct pd_hist *hist = data;
    return frame_hash_of(&hist->frames.data[id]);
}

uint32_t pd_hist_frame_id(struct pd_hist *hist, const struct pd_hist_frame *frame)
{
    if (!pd_slots_reserve(&hist->frame_slots, &hist->frame_mask, hist->frames.count, frame_hash,
                          hist))
        return fail(hist);
    size_t at = frame_hash_of(frame) & hist->frame_mask;
    for (uint32_t slot; (slot = hist->frame_slots[at]); at = (at + 1) & hist->frame_mask) {
        struct pd_hist_frame *other = &hist->frames.data[slot - 1];
        if (other->dso != frame->dso || other->symbol != frame->symbol ||
            other->kernel != frame->kernel || other->map_size != frame->map_size ||
            other->end != frame->end || other->addr != frame->addr ||
            ((has_own_address(frame) || frame->map) && other->ip != frame->ip) ||
            other->nested != frame->nested || other->call_file != frame->call_file ||
            other->call_line != frame->call_line)
            continue;
        other->ip = PD_MIN(other->ip, frame->ip);
        return slot - 1;
    }
    struct pd_hist_frame added = *frame;
    added.sym = PD_HIST_NONE;
    if (!is_own_word(frame->symbol, frame->ip))
        added.sym = (uint32_t)pd_hist_sym_word(hist, frame->dso, frame->symbol, frame->ip);
    if (hist->failed || !pd_vec_push(&hist->frames, added))
        return fail(hist);
    hist->frame_slots[at] = (uint32_t)hist->frames.count;
    return (uint32_t)hist->frames.count - 1;
}

uint32_t pd_hist_cell_id(struct pd_hist *hist, uint32_t frame, uint32_t next)
{
    uint64_t key = (uint64_t)frame << 32 | next;
    uint32_t id = pd_map64_get(&hist->cell_map, key);
    if (id != PD_MAP64_NONE)
        return id;
    if (PD_UNLIKELY(frame == PD_HIST_NONE))
        return fail(hist);
    struct pd_hist_cell cell = { .frame = frame, .next = next, .depth = 1 };
    cell.has_unknown = !hist->frames.data[frame].symbol;
    if (next != PD_HIST_NONE) {
        cell.depth = hist->cells.data[next].depth + 1;
        cell.has_unknown |= hist->cells.data[next].has_unknown;
    }
    id = (uint32_t)hist->cells.count;
    if (!pd_vec_push(&hist->cells, cell) || !pd_map64_set(&hist->cell_map, key, id))
        return fail(hist);
    return id;
}

struct pd_hist_pair *pd_hist_pair_at(struct pd_hist *hist, uint32_t entry, uint32_t cell)
{
    uint64_t key = (uint64_t)entry << 32 | cell;
    uint32_t id = (uint32_t)hist->pairs.count;
    struct pd_hist_pair pair = { .entry = entry, .cell = cell, .number = UINT64_MAX };
    bool ok = pd_vec_widen_to(&hist->pair_of.first, (size_t)entry + 1);
    uint32_t *first = ok ? &hist->pair_of.first.data[entry] : NULL;
    if (ok && *first) {
        if (hist->pairs.data[*first - 1].cell == cell)
            return &hist->pairs.data[*first - 1];
        uint32_t known = pd_map64_get(&hist->pair_of.further, key);
        if (known != PD_MAP64_NONE)
            return &hist->pairs.data[known];
        ok = pd_map64_set(&hist->pair_of.further, key, id);
    } else if (ok) {
        *first = id + 1;
    }
    if (!ok || !pd_vec_push(&hist->pairs, pair)) {
        hist->failed = true;
        return NULL;
    }
    return &hist->pairs.data[id];
}

static void forget(uint32_t **slots, size_t *mask)
{
    free(*slots);
    *slots = NULL;
    *mask = 0;
}

void pd_hist_settle(struct pd_hist *hist)
{
    forget(&hist->sym_slots, &hist->sym_mask);
    forget(&hist->frame_slots, &hist->frame_mask);
    pd_map64_free(&hist->cell_map);
    pd_map64_free(&hist->pair_of.further);
    pd_vec_free(&hist->pair_of.first);
}

void pd_hist_forget_entries(struct pd_hist *hist)
{
    forget(&hist->entry_slots, &hist->entry_mask);
}

/* ---- merging ---- */

/* From the ids of one table to those of another. */
struct remap {
    uint32_t *comms, *syms, *frames, *cells, *entries, *names, *namespaces, *pairs;
};

static void *remap_new(size_t count)
{
    return malloc((count ? count : 1) * sizeof(uint32_t));
}

static void remap_free(struct remap *map)
{
    free(map->comms);
    free(map->syms);
    free(map->frames);
    free(map->cells);
    free(map->entries);
    free(map->names);
    free(map->namespaces);
    free(map->pairs);
}

static bool remap_things(struct pd_hist *into, const struct pd_hist *from, struct remap *map)
{
    map->comms = remap_new(from->comms.count);
    map->syms = remap_new(from->syms.count);
    map->frames = remap_new(from->frames.count);
    map->cells = remap_new(from->cells.count);
    map->entries = remap_new(from->entries.count);
    map->names = remap_new(from->names.strings.count);
    map->namespaces = remap_new(from->namespaces.count + 1);
    map->pairs = remap_new(from->pairs.count);
    if (!map->pairs || !map->comms || !map->syms || !map->frames || !map->cells || !map->entries ||
        !map->names || !map->namespaces)
        return false;
    for (size_t i = 0; i < from->comms.count; i++)
        map->comms[i] = pd_hist_comm_id(into, from->comms.data[i].comm,
                                        from->comms.data[i].own ? 0 : UINT64_MAX);
    for (size_t i = 0; i < from->names.strings.count; i++)
        map->names[i] = pd_hist_bytes_id(into, from->names.strings.data[i].text,
                                         from->names.strings.data[i].length);
    map->namespaces[0] = 0;
    for (size_t i = 0; i < from->namespaces.count; i++)
        map->namespaces[i + 1] = pd_hist_namespace_id(into, from->namespaces.data[i].device,
                                                      from->namespaces.data[i].inode);
    for (size_t i = 0; i < from->syms.count; i++)
        map->syms[i] = sym_add(into, &from->syms.data[i]);
    for (size_t i = 0; i < from->frames.count; i++) {
        struct pd_hist_frame frame = from->frames.data[i];
        if (from->options.keeps_addresses && frame.line != PD_HIST_NONE)
            frame.line = map->names[frame.line];
        if (from->options.keeps_addresses && frame.file != PD_HIST_NONE)
            frame.file = map->names[frame.file];
        map->frames[i] = pd_hist_frame_id(into, &frame);
    }
    for (size_t i = 0; i < from->cells.count; i++) {
        const struct pd_hist_cell *cell = &from->cells.data[i];
        map->cells[i] = pd_hist_cell_id(into, map->frames[cell->frame],
                                        cell->next == PD_HIST_NONE ? PD_HIST_NONE
                                                                   : map->cells[cell->next]);
    }
    return !into->failed;
}

/* What the word of a key numbers. */
enum ids { NUMBER, COMMS, SYMS, NAMES, NAMESPACES };

static uint64_t remap_word(const struct remap *map, uint8_t key, uint64_t word)
{
    static const uint8_t ids_of[PD_KEY_COUNT] = {
#define KEY(identifier, name, title, mode, ids, ...) [PD_KEY_##identifier] = (ids),
#include "analyse/keys.def"
    };
    if (word == PD_HIST_NONE)
        return word;
    switch (pd_hist_is_fields(key) ? NAMES : (enum ids)ids_of[key]) {
    case COMMS: return map->comms[word];
    case SYMS: return word > UINT32_MAX ? word : map->syms[word];
    case NAMES: return map->names[word];
    case NAMESPACES: return map->namespaces[word];
    default: return word;
    }
}

static void entry_add(struct pd_hist_entry *to, const struct pd_hist_entry *from)
{
    PD_HIST_ADD(to, from);
    if (pd_hist_is_first(&to->first, from->first.number, from->first.position))
        to->first = from->first;
}

/* `into` has the pairs already. */
static bool merge_visits(struct pd_hist *into, const struct pd_hist *from, const struct remap *map)
{
    if (!pd_vec_reserve(&into->visits, into->visits.count + from->visits.count + 1))
        return false;
    for (size_t i = 0; i < from->visits.count; i++) {
        struct pd_hist_visit visit = from->visits.data[i];
        visit.pair = map->pairs[visit.pair];
        into->visits.data[into->visits.count++] = visit; /* NOLINT: there is room for each */
    }
    return true;
}

perfdata_status pd_hist_merge(struct pd_hist *into, const struct pd_hist *from)
{
    struct remap map = { 0 };
    bool done = false;
    if (!remap_things(into, from, &map))
        goto out;
    for (size_t i = 0; i < from->entries.count; i++) {
        const uint64_t *key = pd_hist_key_of(from, (uint32_t)i);
        uint64_t words[PD_HIST_WORDS] = { key[0] };
        for (unsigned k = 0; k < from->options.key_count; k++)
            words[k + 1] = remap_word(&map, from->options.keys[k], key[k + 1]);
        uint32_t id = map.entries[i] = pd_hist_entry_id(into, words);
        if (id == PD_HIST_NONE)
            goto out;
        const struct pd_hist_first *first = &from->entries.data[i].first;
        bool brings = into->options.has_access && pd_hist_is_first(&into->entries.data[id].first,
                                                                   first->number, first->position);
        entry_add(&into->entries.data[id], &from->entries.data[i]);
        struct pd_hist_access *access = brings ? access_at(into, id) : NULL;
        if (access)
            *access = from->accesses.data[i];
    }
    for (size_t i = 0; i < from->pairs.count; i++) {
        const struct pd_hist_pair *pair = &from->pairs.data[i];
        struct pd_hist_pair *to = pd_hist_pair_at(into, map.entries[pair->entry],
                                                  map.cells[pair->cell]);
        if (!to)
            goto out;
        map.pairs[i] = (uint32_t)(to - into->pairs.data);
        to->period += pair->period;
        to->count += pair->count;
        to->last = PD_MAX(to->last, pair->last);
        to->borrowed = pair->borrowed;
        if (pair->number < to->number) {
            to->number = pair->number;
            to->thread = pair->thread;
            to->level = pair->level;
            to->filtered = pair->filtered;
        }
    }
    into->has_cycles |= from->has_cycles;
    done = merge_visits(into, from, &map) && !into->failed && !from->failed;
out:
    remap_free(&map);
    return done ? 0 : PERFDATA_ERROR_MEMORY;
}
