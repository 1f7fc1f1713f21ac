/* SPDX-License-Identifier: MIT */
/* The functions of an address as a process of binutils' addr2line tells them that was asked for
 * others before, found by asking it in different orders:
 *
 * A function whose name in DWARF the linker does not know (lambdas, what is static or in an unnamed
 * namespace, as long as the language is not C) is called, the first time that it is the innermost
 * one of an address, by the symbol that the address lies in, which is the name of the function that
 * it was put into. If that symbol begins where the function does, it keeps the name. From the
 * second time on, and as one that others were put into, it has its name. */
#include "object/lines/internal.h"

/* What it is called by now; *known: it was the innermost one before. */
static const char *name_now(struct pd_lines *lines, const struct pd_lines_nameless *function,
                            bool *known)
{
    uint32_t name = pd_map64_get(&lines->asked.functions, function->place);
    *known = name != PD_MAP64_NONE;
    return *known && name ? pd_intern_text(&lines->files, name - 1) : function->name;
}

/* Asks for the name of the innermost function, the first time. False: no memory. */
static bool ask_first(struct pd_lines *lines, uint64_t address,
                      const struct pd_lines_nameless *function, const char **name)
{
    const struct pd_lines_symbol *symbol = pd_lines_symbol_at(lines, address);
    const char *text = symbol ? pd_intern_text(&lines->files, symbol->name) : "";
    if (!*text)
        return true;
    bool keeps = function->has_low && symbol->value == function->low;
    *name = text;
    return pd_map64_set(&lines->asked.functions, function->place, keeps ? symbol->name + 1 : 0);
}

static bool ask(struct pd_lines *lines, uint64_t address, const struct pd_lines_nameless *nameless,
                size_t count, struct pd_lines_function *out)
{
    for (size_t i = 0; i < count; i++) {
        bool known;
        if (!nameless[i].name)
            continue;
        out[i].name = name_now(lines, &nameless[i], &known);
        if (!i && !known && !ask_first(lines, address, &nameless[i], &out[i].name))
            return false;
    }
    return true;
}

static bool keep(struct pd_lines_asked *asked, uint64_t address,
                 const struct pd_lines_function *functions, size_t count)
{
    size_t size = count * sizeof *functions;
    struct pd_lines_list list = { pd_arena_alloc(&asked->arena, size), count };
    if (!list.functions || !pd_vec_push(&asked->lists, list))
        return false;
    memcpy(list.functions, functions, size);
    return pd_map64_set(&asked->addresses, address, (uint32_t)asked->lists.count - 1);
}

/* With the lock. False: it was not asked for yet. */
static bool find_asked(const struct pd_lines_asked *asked, uint64_t address,
                       struct pd_lines_function *out, size_t *count)
{
    uint32_t at = pd_map64_get(&asked->addresses, address);
    if (at == PD_MAP64_NONE)
        return false;
    const struct pd_lines_list *list = &asked->lists.data[at];
    *count = list->count;
    memcpy(out, list->functions, list->count * sizeof *out);
    return true;
}

static bool has_nameless(const struct pd_lines_nameless *nameless, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (nameless[i].name)
            return true;
    return false;
}

size_t pd_lines_functions_asked(struct pd_lines *lines, uint64_t address,
                                const struct pd_lines_turn *turn, struct pd_lines_function *out)
{
    struct pd_lines_nameless nameless[PD_LINES_NESTED_MAX];
    size_t count;
    pthread_mutex_lock(&lines->lock);
    bool is_known = find_asked(&lines->asked, address, out, &count);
    if (!is_known) {
        count = pd_lines_list(lines, address, out, nameless);
        is_known = !has_nameless(nameless, count);
    }
    if (!is_known && turn->wait) {
        pthread_mutex_unlock(&lines->lock);
        turn->wait(turn->data);
        pthread_mutex_lock(&lines->lock);
        is_known = find_asked(&lines->asked, address, out, &count);
    }
    if (!is_known &&
        (!ask(lines, address, nameless, count, out) || !keep(&lines->asked, address, out, count)))
        count = 0;
    pthread_mutex_unlock(&lines->lock);
    return count;
}
