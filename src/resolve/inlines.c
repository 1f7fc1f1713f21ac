/* SPDX-License-Identifier: MIT */
/* Frames of functions that the compiler has inlined into others. */
#include "resolve/resolver.h"
#include "object/symtab/demangle.h"
#include <stdlib.h>

void pd_inlined_symbols_init(struct pd_inlined_symbols *inlined)
{
    pthread_mutex_init(&inlined->lock, NULL);
}

void pd_inlined_symbols_free(struct pd_inlined_symbols *inlined)
{
    pthread_mutex_destroy(&inlined->lock);
    pd_arena_free(&inlined->arena);
    pd_intern_free(&inlined->keys);
    pd_vec_free(&inlined->list);
}

/* ---- their symbols ---- */

/* The name as the symbol table would show it. */
static const char *shown_name(struct pd_symbols *symbols, const char *name)
{
    char *text = symbols->search.demangle ? pd_demangle(name, symbols->search.verbose_names) : NULL;
    const char *copy = pd_arena_strdup(&symbols->inlined.arena, text ? text : name);
    free(text);
    return copy;
}

/* The function itself keeps its symbol: perf recognises it by its name. */
static const struct pd_symbol *new_symbol(struct pd_symbols *symbols,
                                          const struct pd_symbol *within, const char *raw)
{
    const char *name = shown_name(symbols, raw);
    if (!name || !strcmp(name, within->name))
        return name ? within : NULL;
    struct pd_symbol *symbol = pd_arena_alloc(&symbols->inlined.arena, sizeof *symbol);
    if (!symbol)
        return NULL;
    *symbol = *within;
    symbol->name = name;
    symbol->name_length = (uint32_t)strlen(name);
    symbol->inlined = true;
    return symbol;
}

static const struct pd_symbol *symbol_of(struct pd_symbols *symbols, const struct pd_symbol *within,
                                         const char *name, struct pd_text *key)
{
    struct pd_inlined_symbols *inlined = &symbols->inlined;
    const struct pd_symbol *symbol = NULL;
    key->length = 0;
    pd_text_bytes(key, (const char *)&within, sizeof(const struct pd_symbol *));
    pd_text_string(key, name);
    if (key->failed)
        return NULL;
    pthread_mutex_lock(&inlined->lock);
    uint32_t id = pd_intern(&inlined->keys, key->data, key->length);
    if (id != PD_INTERN_NONE && id < inlined->list.count)
        symbol = inlined->list.data[id];
    else if (id != PD_INTERN_NONE && (symbol = new_symbol(symbols, within, name)) != NULL &&
             !pd_vec_push(&inlined->list, symbol))
        symbol = NULL;
    pthread_mutex_unlock(&inlined->lock);
    return symbol;
}

/* ---- frames ---- */

static bool make_list(struct pd_resolver *resolver, const struct pd_location *location,
                      struct pd_nested_list *out)
{
    struct pd_lines_function functions[PD_LINES_NESTED_MAX];
    struct pd_text key = { 0 };
    size_t count = pd_symbols_functions(resolver->symbols, location->map, location->addr,
                                        resolver->inlines.turn, functions);
    struct pd_nested *made = count ? pd_arena_alloc(&resolver->arena, count * sizeof *made) : NULL;
    bool ok = made || !count;
    for (size_t i = 0; ok && i < count; i++) {
        made[i] = (struct pd_nested){ *location, functions[i].file, functions[i].line };
        made[i].location.sym = symbol_of(resolver->symbols, location->sym, functions[i].name, &key);
        made[i].location.is_nested = true;
        made[i].location.index = resolver->count++;
        memset(made[i].location.memo, 0, sizeof made[i].location.memo);
        ok = made[i].location.sym != NULL;
    }
    pd_text_free(&key);
    *out = (struct pd_nested_list){ made, count };
    return ok;
}

/* -1: no memory. */
static int list_of(struct pd_resolver *resolver, const struct pd_location *location,
                   struct pd_nested_list *out)
{
    uint64_t key = (uint64_t)(uintptr_t)location;
    *out = (struct pd_nested_list){ 0 };
    if (!location->map || !location->sym || location->is_kernel_map)
        return 0;
    uint32_t id = pd_map64_get(&resolver->inlines.nested_of, key);
    if (id != PD_MAP64_NONE) {
        *out = resolver->inlines.nested.data[id];
        return 0;
    }
    if (!make_list(resolver, location, out) || !pd_vec_push(&resolver->inlines.nested, *out))
        return -1;
    return pd_map64_set(&resolver->inlines.nested_of, key,
                        (uint32_t)resolver->inlines.nested.count - 1)
               ? 0
               : -1;
}

/* If perf shows chains from the caller, it walks the unwound part from there, too. */
static bool ask_callers_first(struct pd_resolver *resolver, const struct pd_frame *frames,
                              size_t recorded, size_t count)
{
    struct pd_nested_list list;
    for (size_t i = count; i > recorded; i--)
        if (list_of(resolver, frames[i - 1].location, &list) < 0)
            return false;
    return true;
}

struct pd_frame *pd_chain_inlined(struct pd_resolver *resolver, struct pd_frame *frames,
                                  size_t *count)
{
    size_t recorded = *count - resolver->unwound, added = 0;
    if (PD_LIKELY(!resolver->unwound))
        return frames;
    if (resolver->inlines.turn && resolver->ways.from_caller &&
        !ask_callers_first(resolver, frames, recorded, *count))
        return NULL;
    resolver->inlines.inlined.count = 0;
    for (size_t i = 0; i < *count; i++) {
        struct pd_nested_list list = { 0 };
        if (i >= recorded && list_of(resolver, frames[i].location, &list) < 0)
            return NULL;
        for (size_t at = 0; at < list.count; at++) {
            struct pd_frame frame = { .ip = frames[i].ip,
                                      .location = &list.functions[at].location };
            if (!pd_vec_push(&resolver->inlines.inlined, frame))
                return NULL;
        }
        if (!list.count && !pd_vec_push(&resolver->inlines.inlined, frames[i]))
            return NULL;
        added += list.count;
    }
    if (!added)
        return frames;
    resolver->unwound += resolver->inlines.inlined.count - *count;
    *count = resolver->inlines.inlined.count;
    return resolver->inlines.inlined.data;
}
