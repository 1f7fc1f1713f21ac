/* SPDX-License-Identifier: MIT */
/* A table of the kernel's symbols -> the lines of some addresses. */
#include "object/cut/internal.h"
#include "base/intern.h"
#include "object/kernel/kallsyms.h"

/* The kernel's or a module's first and last symbol. */
struct bounds {
    uint64_t first, last;
};

struct cutting {
    pd_cut_list all, kept; /* where symbols begin */
    struct pd_intern names;
    PD_VEC(struct bounds) bounds; /* by the name of the module, "" of the kernel */
};

static bool is_symbol(const struct pd_kallsyms_line *line)
{
    return line->type && strchr("TtWwDdBb", line->type);
}

/* Others say where the kernel was loaded. */
static bool is_reference(const struct pd_kallsyms_line *line)
{
    static const char *const names[] = { "_text", "_stext", "_etext" };
    for (size_t i = 0; i < PD_LENGTH(names); i++)
        if (line->length == strlen(names[i]) && !memcmp(line->name, names[i], line->length))
            return true;
    return false;
}

static bool note(struct cutting *cutting, const struct pd_kallsyms_line *line)
{
    const char *tab = memchr(line->name, '\t', line->length);
    const size_t rest = tab ? (size_t)(line->name + line->length - tab) : 0;
    uint32_t id = pd_intern(&cutting->names, tab ? tab : "", rest);
    if (id == PD_INTERN_NONE ||
        (id == cutting->bounds.count &&
         !pd_vec_push(&cutting->bounds, (struct bounds){ line->address, line->address })))
        return false;
    struct bounds *bounds = &cutting->bounds.data[id];
    bounds->first = PD_MIN(bounds->first, line->address);
    bounds->last = PD_MAX(bounds->last, line->address);
    return pd_vec_push(&cutting->all, line->address) &&
           (!is_reference(line) || pd_vec_push(&cutting->kept, line->address));
}

/* The symbol at or below an address, and the one behind it. */
static bool keep(struct cutting *cutting, uint64_t address)
{
    const pd_cut_list *all = &cutting->all;
    size_t low = 0, high = all->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all->data[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return (!low || pd_vec_push(&cutting->kept, all->data[low - 1])) &&
           (low >= all->count || pd_vec_push(&cutting->kept, all->data[low]));
}

bool pd_cut_kallsyms(const char *text, size_t size, const uint64_t *addresses, size_t count,
                     struct pd_text *out)
{
    struct cutting cutting = { .names = { .mask = 0 } };
    struct pd_kallsyms_line line;
    const char *end = text + size, *at = text;
    bool ok = true;
    while (ok && pd_kallsyms_next(&at, end, &line))
        ok = !is_symbol(&line) || note(&cutting, &line);
    pd_cut_sort(&cutting.all);
    for (size_t i = 0; i < count && ok; i++)
        ok = keep(&cutting, addresses[i]);
    for (size_t i = 0; i < cutting.bounds.count && ok; i++)
        ok = keep(&cutting, cutting.bounds.data[i].first) &&
             keep(&cutting, cutting.bounds.data[i].last);
    pd_cut_sort(&cutting.kept);
    for (const char *begin = at = text; ok && pd_kallsyms_next(&at, end, &line); begin = at)
        if (line.type &&
            (is_symbol(&line) ? pd_cut_has(&cutting.kept, line.address) : is_reference(&line)))
            pd_text_bytes(out, begin, (size_t)(at - begin));
    pd_vec_free(&cutting.all);
    pd_vec_free(&cutting.kept);
    pd_vec_free(&cutting.bounds);
    pd_intern_free(&cutting.names);
    return ok && !out->failed;
}
