/* SPDX-License-Identifier: MIT */
/* The finished table: binary search, perf's tree where symbols overlap, names demangled on first
 * need. */
#include "object/symtab/table.h"
#include "base/memory.h"

#include "object/symtab/demangle.h"
#include "object/symtab/rbtree.h"

#define PLT_SUFFIX "@plt"
#define PLT_NAME_MAX 1023 /* perf builds these names in a buffer of 1024 */

/* False when the system has no memory. */
static bool keep_history(struct pd_symtab *table, struct pd_symtab_builder *builder)
{
    struct pd_symtab_history *history = &table->history;
    size_t inserted = builder->all.count;

    history->inserted = inserted;
    history->starts = pd_memory_noted(malloc((inserted + 1) * sizeof *history->starts));
    history->final = pd_memory_noted(malloc((inserted + 1) * sizeof *history->final));
    if (!history->starts || !history->final)
        return false;
    for (size_t i = 0; i < inserted; i++) {
        history->starts[i + 1] = builder->all.data[i].start;
        history->final[i + 1] = PD_SYMBOL_ERASED;
    }
    for (size_t i = 0; i < table->count; i++)
        history->final[builder->order.data[i] + 1] = (uint32_t)i;
    history->erased = builder->erased.data;
    history->erased_count = builder->erased.count;
    memset(&builder->erased, 0, sizeof builder->erased);
    return true;
}

static const struct pd_symbol *living(const struct pd_symtab_builder *builder, size_t i)
{
    return &builder->all.data[builder->order.data[i]];
}

static bool find_overlaps(struct pd_symtab *table, struct pd_symtab_builder *builder)
{
    uint64_t reach = 0;
    bool overlap = false;

    for (size_t i = 0; i < table->count && !overlap; i++) {
        overlap = reach > table->starts[i];
        reach = PD_MAX(reach, pd_symbol_reach(living(builder, i)->start, living(builder, i)->end));
    }
    if (!overlap)
        return true;
    table->reach = pd_memory_noted(malloc((table->count + 1) * sizeof *table->reach));
    if (!table->reach)
        return false;
    reach = 0;
    for (size_t i = 0; i < table->count; i++) {
        table->reach[i] = reach;
        reach = PD_MAX(reach, pd_symbol_reach(living(builder, i)->start, living(builder, i)->end));
    }
    return keep_history(table, builder);
}

/* Where those that live stand in order, they only move up in the builder's own array. */
static bool take_symbols(struct pd_symtab *table, struct pd_symtab_builder *builder)
{
    bool in_order = true;

    for (size_t i = 1; i < table->count && in_order; i++)
        in_order = builder->order.data[i - 1] < builder->order.data[i];
    table->symbols = in_order && builder->all.data
                         ? builder->all.data
                         : pd_memory_noted(malloc((table->count + 1) * sizeof *table->symbols));
    if (!table->symbols)
        return false;
    for (size_t i = 0; i < table->count; i++) {
        uint32_t index = builder->order.data[i];
        table->symbols[i] = builder->all.data[index]; /* NOLINT: what is listed was added */
        table->symbols[i].index = (uint32_t)i;
        atomic_init(&table->state[i], builder->state.data[index]);
    }
    if (table->symbols == builder->all.data)
        memset(&builder->all, 0, sizeof builder->all);
    return true;
}

static bool fill(struct pd_symtab *table, struct pd_symtab_builder *builder)
{
    size_t count = builder->order.count;

    table->count = count;
    table->starts = pd_memory_noted(malloc((count + 1) * sizeof *table->starts));
    table->state = pd_memory_noted(malloc((count + 1) * sizeof *table->state));
    if (!table->starts || !table->state)
        return false;
    for (size_t i = 0; i < count; i++)
        table->starts[i] = living(builder, i)->start;
    return find_overlaps(table, builder) && take_symbols(table, builder);
}

struct pd_symtab *pd_symtab_finish(struct pd_symtab_builder *builder)
{
    struct pd_symtab *table = pd_memory_noted(calloc(1, sizeof *table));

    if (table) {
        pthread_mutex_init(&table->lock, NULL);
        table->demangle = builder->demangle;
        if (pd_symtab_sort(builder) && fill(table, builder)) {
            table->arena = builder->arena;
            memset(&builder->arena, 0, sizeof builder->arena);
            table->text = builder->text;
            table->text_size = builder->text_size;
            builder->text = NULL;
        } else {
            pd_symtab_free(table);
            table = NULL;
        }
    }
    pd_symtab_builder_free(builder);
    return table;
}

static void free_tree(struct pd_symtab_tree *tree)
{
    if (!tree)
        return;
    free(tree->nodes);
    free(tree->final);
    free(tree);
}

void pd_symtab_free(struct pd_symtab *table)
{
    if (!table)
        return;
    free_tree(atomic_load_explicit(&table->tree, memory_order_relaxed));
    free(table->history.starts);
    free(table->history.final);
    free(table->history.erased);
    free(table->symbols);
    free(table->starts);
    free(table->reach);
    free((void *)table->state);
    free(table->text);
    free(table->pieces);
    free((void *)table->pages);
    pd_symbol_image_free(table->image);
    pd_arena_free(&table->arena);
    pthread_mutex_destroy(&table->lock);
    free(table);
}

size_t pd_symtab_count(const struct pd_symtab *table)
{
    return table->count;
}

size_t pd_symtab_memory(const struct pd_symtab *table)
{
    size_t each = table->symbols ? sizeof *table->symbols + sizeof *table->starts + 1 : 0;

    if (table->reach)
        each += sizeof *table->reach;
    if (table->pages)
        each += sizeof *table->pages / PD_SYMTAB_PAGE + 1;
    return sizeof *table + table->count * each + table->arena.total + table->text_size +
           table->history.inserted * (sizeof(uint64_t) + sizeof(uint32_t));
}

/* ---- names ---- */

void pd_symtab_make_name(struct pd_symtab *table, struct pd_symbol *symbol,
                         enum pd_name_state state)
{
    char *text = NULL;

    if (table->demangle != PD_DEMANGLE_NONE)
        text = pd_demangle(symbol->name, table->demangle == PD_DEMANGLE_VERBOSE);
    if (!text && state == PD_NAME_RAW)
        return;
    const char *base = text ? text : symbol->name;
    size_t length = strlen(base), total = length;
    if (state == PD_NAME_RAW_PLT)
        total = PD_MIN(length + strlen(PLT_SUFFIX), (size_t)PLT_NAME_MAX);
    char *copy = pd_arena_alloc(&table->arena, length + strlen(PLT_SUFFIX) + 1);
    if (copy) { /* without memory the raw name stays */
        memcpy(copy, base, length);
        memcpy(copy + length, PLT_SUFFIX, strlen(PLT_SUFFIX));
        copy[total] = '\0';
        symbol->name = copy;
        symbol->name_length = (uint32_t)total;
    }
    free(text);
}

static const struct pd_symbol *named(const struct pd_symtab *shared, size_t index)
{
    /* const for callers: what changes here changes once, behind lock and state */
    struct pd_symtab *table = (struct pd_symtab *)(uintptr_t)shared;

    if (atomic_load_explicit(&table->state[index], memory_order_acquire) != PD_NAME_READY) {
        pthread_mutex_lock(&table->lock);
        enum pd_name_state state = atomic_load_explicit(&table->state[index], memory_order_relaxed);
        if (state != PD_NAME_READY) {
            pd_symtab_make_name(table, &table->symbols[index], state);
            atomic_store_explicit(&table->state[index], PD_NAME_READY, memory_order_release);
        }
        pthread_mutex_unlock(&table->lock);
    }
    return &table->symbols[index];
}

const struct pd_symbol *pd_symtab_at(const struct pd_symtab *table, size_t index)
{
    if (table->image)
        return pd_symtab_at_mapped(table, index);
    return index < table->count ? named(table, index) : NULL;
}

/* ---- lookups ---- */

static struct pd_symtab_tree *build_tree(const struct pd_symtab *table)
{
    const struct pd_symtab_history *history = &table->history;
    struct pd_symtab_tree *tree = pd_memory_noted(calloc(1, sizeof *tree));

    if (!tree)
        return NULL;
    tree->nodes = pd_memory_noted(calloc(history->inserted + 1, sizeof *tree->nodes));
    tree->final = pd_memory_noted(malloc((history->inserted + 1) * sizeof *tree->final));
    if (!tree->nodes || !tree->final) {
        free_tree(tree);
        return NULL;
    }
    memcpy(tree->final, history->final, (history->inserted + 1) * sizeof *tree->final);
    struct pd_rb_tree work = { .nodes = tree->nodes };
    size_t erased = 0;
    for (uint32_t i = 0;; i++) {
        for (; erased < history->erased_count && history->erased[erased].inserted == i; erased++)
            pd_rb_erase(&work, history->erased[erased].index + 1);
        if (i == history->inserted)
            break;
        pd_rb_insert(&work, history->starts, i + 1);
    }
    tree->root = work.root;
    return tree;
}

const struct pd_symtab_tree *pd_symtab_tree(const struct pd_symtab *shared)
{
    struct pd_symtab *table = (struct pd_symtab *)(uintptr_t)shared;
    struct pd_symtab_tree *tree = atomic_load_explicit(&table->tree, memory_order_acquire);

    if (tree)
        return tree;
    pthread_mutex_lock(&table->lock);
    tree = atomic_load_explicit(&table->tree, memory_order_relaxed);
    if (!tree) {
        tree = build_tree(table);
        atomic_store_explicit(&table->tree, tree, memory_order_release);
    }
    pthread_mutex_unlock(&table->lock);
    return tree;
}

/* perf's descent: the first symbol met that holds the address. */
static const struct pd_symbol *descend(const struct pd_symtab *table, uint64_t address)
{
    const struct pd_symtab_tree *tree = pd_symtab_tree(table);

    for (uint32_t at = tree ? tree->root : 0; at;) {
        const struct pd_symbol *symbol = &table->symbols[tree->final[at]];
        if (address < symbol->start)
            at = tree->nodes[at].left;
        else if (address > symbol->end || (address == symbol->end && symbol->end != symbol->start))
            at = tree->nodes[at].right;
        else
            return named(table, symbol->index);
    }
    return NULL;
}

/* How many symbols start at the address or before it. */
PD_INLINE size_t starts_upto(const struct pd_symtab *table, uint64_t address)
{
    const uint64_t *base = table->starts;
    size_t left = table->count;

    if (!left || address < base[0])
        return 0;
    while (left > 1) { /* no branch to mispredict */
        size_t half = left / 2;
        base += base[half] <= address ? half : 0;
        left -= half;
    }
    return (size_t)(base - table->starts) + 1;
}

const struct pd_symbol *pd_symtab_find(const struct pd_symtab *table, uint64_t address)
{
    if (table->image)
        return pd_symtab_find_mapped(table, address);
    const size_t upto = starts_upto(table, address);
    if (!upto)
        return NULL;
    const size_t index = upto - 1;
    if (table->reach && table->reach[index] > address)
        return descend(table, address);
    const struct pd_symbol *symbol = &table->symbols[index];
    return pd_symbol_is_before(symbol->start, symbol->end, address) ? NULL : named(table, index);
}

struct pd_symbol_span pd_symtab_find_span(const struct pd_symtab *table, uint64_t address)
{
    if (table->image)
        return pd_symtab_find_span_mapped(table, address);
    const size_t upto = starts_upto(table, address);
    const uint64_t next = upto < table->count ? table->starts[upto] : UINT64_MAX;
    if (!upto)
        return (struct pd_symbol_span){ NULL, 0, next };
    const struct pd_symbol *symbol = &table->symbols[upto - 1];
    /* Where others reach into it each address is asked alone. */
    if (table->reach && table->reach[upto - 1] > symbol->start)
        return (struct pd_symbol_span){ pd_symtab_find(table, address), address, 1 };
    struct pd_symbol_span span = pd_symbol_span_at(symbol->start, symbol->end, next, address);
    if (!pd_symbol_is_before(symbol->start, symbol->end, address))
        span.symbol = named(table, upto - 1);
    return span;
}

bool pd_symtab_may_find(const struct pd_symtab *table, uint64_t first, uint64_t last,
                        const char *name)
{
    if (table->image)
        return pd_symtab_may_find_mapped(table, first, last, name);
    size_t upto = starts_upto(table, last);
    for (unsigned step = 0; step < PD_SYMTAB_MAY_STEPS && upto; step++) {
        const size_t at = --upto;
        const struct pd_symbol *symbol = &table->symbols[at];
        if (pd_symbol_reach(symbol->start, symbol->end) > first &&
            !strcmp(named(table, at)->name, name))
            return true;
        if (symbol->start <= first && !(table->reach && table->reach[at] > first))
            return false;
    }
    return upto != 0;
}
