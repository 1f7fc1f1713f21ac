/* SPDX-License-Identifier: MIT */
/* Address filters of hardware that traces: text with symbols -> what the kernel takes, addresses in
 * files. */
#include "record/events/filter.h"
#include "object/kernel/kallsyms.h"
#include "object/object.h"
#include <stdio.h>
#include <stdlib.h>

enum { NAME_MOST = 512, FILTER_MOST = 4096 /* of the kernel: a page */ };

/* An address, a size, or the symbol that means it. */
struct place {
    bool given, is_symbol, whole; /* whole: "*" */
    uint64_t number;
    char name[NAME_MOST];
    bool global;        /* #g, #0 */
    unsigned number_of; /* #n, 0: the only one */
};

struct region {
    const char *action;
    bool has_size; /* whether the action takes a size */
    struct place start, size;
    char file[4096];
};

struct filter {
    struct pd_context *context;
    const struct pd_roots *roots;
    const char *text, *at;
    struct pd_symtab *kernel; /* NULL: not read yet */
};

static perfdata_status bad(struct filter *filter, const char *what, const char *which)
{
    return pd_fail(
        filter->context, PERFDATA_ERROR_ARGUMENT, filter->at - filter->text,
        "address filter '%.150s': %s%.100s\n"
        "A filter is: filter|start|stop|tracestop START [/ SIZE] [@FILE], where START and "
        "SIZE are numbers or symbols with blanks around",
        filter->text, what, which);
}

/* ---- the text ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static void skip_blanks(struct filter *filter)
{
    while (is_blank(*filter->at))
        filter->at++;
}

/* What stands up to a blank or a comma. */
static bool take_word(struct filter *filter, char *out, size_t room)
{
    size_t length = 0;
    while (filter->at[length] && filter->at[length] != ',' && !is_blank(filter->at[length]))
        length++;
    if (!length || length >= room)
        return false;
    memcpy(out, filter->at, length);
    out[length] = 0;
    filter->at += length;
    return true;
}

/* "#3", "#0", "#g", "#G" behind a symbol. */
static bool take_choice(struct place *place)
{
    char *mark = strrchr(place->name, '#'), *end;
    if (!mark || mark == place->name)
        return true;
    *mark++ = 0;
    place->global = !strcmp(mark, "g") || !strcmp(mark, "G") || !strcmp(mark, "0");
    if (place->global)
        return true;
    unsigned long number = *mark >= '1' && *mark <= '9' ? strtoul(mark, &end, 10) : 0;
    place->number_of = number > UINT32_MAX ? UINT32_MAX : (unsigned)number;
    return number && !*end;
}

static perfdata_status take_place(struct filter *filter, struct place *out)
{
    skip_blanks(filter);
    out->given = true;
    if (*filter->at >= '0' && *filter->at <= '9') {
        char *end;
        out->number = strtoull(filter->at, &end, 0);
        filter->at = end;
        return !*end || strchr("/@,", *end) || is_blank(*end) ? PERFDATA_OK
                                                              : bad(filter, "not a number", "");
    }
    if (!take_word(filter, out->name, sizeof out->name))
        return bad(filter, "an address or a symbol is missing", "");
    out->whole = !strcmp(out->name, "*");
    out->is_symbol = !out->whole;
    return out->whole || take_choice(out) ? PERFDATA_OK : bad(filter, "which one is ", out->name);
}

static perfdata_status take_region(struct filter *filter, struct region *out)
{
    static const struct {
        const char *name;
        bool has_size;
    } actions[] = {
        { "filter", true }, { "start", false }, { "stop", false }, { "tracestop", true }
    };
    char word[16];
    memset(out, 0, sizeof *out);
    if (!take_word(filter, word, sizeof word))
        return bad(filter, "an action is missing", "");
    for (size_t i = 0; i < PD_LENGTH(actions); i++)
        if (!strcmp(word, actions[i].name)) {
            out->action = actions[i].name;
            out->has_size = actions[i].has_size;
        }
    if (!out->action)
        return bad(filter, "no such action: ", word);
    perfdata_status status = take_place(filter, &out->start);
    skip_blanks(filter);
    if (status == PERFDATA_OK && *filter->at == '/') {
        filter->at++;
        status = take_place(filter, &out->size);
        if (status == PERFDATA_OK && (out->size.whole || out->start.whole))
            return bad(filter, "* has no size", "");
        skip_blanks(filter);
    }
    if (status < 0 || *filter->at != '@')
        return status;
    filter->at++;
    skip_blanks(filter);
    return take_word(filter, out->file, sizeof out->file) ? PERFDATA_OK
                                                          : bad(filter, "a file is missing", "");
}

/* ---- symbols ---- */

static bool is_function(const struct pd_symbol *symbol, bool kernel)
{
    enum { FUNCTION = 2, INDIRECT = 10 };
    return kernel || symbol->type == FUNCTION || symbol->type == INDIRECT;
}

static bool is_named(const struct pd_symbol *symbol, const char *name)
{
    size_t length = strcspn(symbol->name, "\t"); /* a module's name may follow */
    return strlen(name) == length && !memcmp(symbol->name, name, length);
}

static perfdata_status find_symbol(struct filter *filter, const struct pd_symtab *table,
                                   bool kernel, const struct place *place,
                                   const struct pd_symbol **out)
{
    unsigned found = 0;
    *out = NULL;
    for (size_t i = 0; i < pd_symtab_count(table); i++) {
        const struct pd_symbol *symbol = pd_symtab_at(table, i);
        if (!is_function(symbol, kernel) || !is_named(symbol, place->name) ||
            (place->global && symbol->binding != PD_SYMBOL_GLOBAL))
            continue;
        found++;
        if (!*out && (!place->number_of || found == place->number_of))
            *out = symbol;
    }
    if (!*out)
        return bad(filter, found ? "not so many symbols " : "no function ", place->name);
    if (found > 1 && !place->number_of)
        return bad(filter, "choose with #1, #2... or #g among the symbols ", place->name);
    return PERFDATA_OK;
}

static perfdata_status cover(struct filter *filter, const struct pd_symtab *table, bool kernel,
                             uint64_t *start, uint64_t *size)
{
    const struct pd_symbol *first = NULL, *last = NULL;
    for (size_t i = 0; i < pd_symtab_count(table); i++) {
        const struct pd_symbol *symbol = pd_symtab_at(table, i);
        if (!is_function(symbol, kernel))
            continue;
        first = first ? first : symbol;
        last = symbol;
    }
    if (!first)
        return bad(filter, "no functions are known", "");
    *start = first->start;
    *size = last->end - first->start;
    return PERFDATA_OK;
}

static perfdata_status locate(struct filter *filter, const struct pd_symtab *table, bool kernel,
                              const struct region *region, uint64_t *start, uint64_t *size)
{
    const struct pd_symbol *symbol = NULL, *end = NULL;
    perfdata_status status = PERFDATA_OK;
    *start = region->start.number;
    *size = region->size.number;
    if (region->start.whole)
        return cover(filter, table, kernel, start, size);
    if (region->start.is_symbol)
        status = find_symbol(filter, table, kernel, &region->start, &symbol);
    if (status == PERFDATA_OK && region->size.is_symbol)
        status = find_symbol(filter, table, kernel, &region->size, &end);
    if (status < 0)
        return status;
    if (symbol)
        *start = symbol->start;
    if (symbol && !region->size.given)
        *size = symbol->end - symbol->start;
    if (end && end->end <= *start)
        return bad(filter, "it ends before it starts, with ", region->size.name);
    if (end)
        *size = end->end - *start;
    return PERFDATA_OK;
}

/* Once for all regions of a filter. */
static perfdata_status load_kernel(struct filter *filter)
{
    size_t size;
    if (filter->kernel)
        return PERFDATA_OK;
    struct pd_symtab_builder *builder = pd_symtab_builder_new(PD_DEMANGLE_NONE);
    char *text = pd_roots_read_all(filter->roots, &size, "/proc/kallsyms");
    bool good = text && builder;
    if (!good)
        free(text);
    good = good && pd_kallsyms_parse(builder, text, size) && pd_symtab_fix_ends(builder, true);
    filter->kernel = good ? pd_symtab_finish(builder) : NULL;
    if (!good)
        pd_symtab_builder_free(builder);
    return filter->kernel ? PERFDATA_OK : bad(filter, "the kernel's symbols cannot be read", "");
}

static perfdata_status resolve_symbols(struct filter *filter, const struct region *region,
                                       uint64_t *start, uint64_t *size)
{
    struct pd_object *object;
    struct pd_object_search search = { .demangle = true };
    perfdata_status status;
    if (!*region->file) {
        status = load_kernel(filter);
        return status < 0 ? status : locate(filter, filter->kernel, true, region, start, size);
    }
    status = pd_object_load(&search, region->file, NULL, &object);
    if (status < 0)
        return pd_fail(filter->context, status, -1, "out of memory");
    status = locate(filter, object->symtab, false, region, start, size);
    pd_object_free(object);
    return status;
}

/* ---- the result ---- */

static perfdata_status put_region(struct filter *filter, struct region *region, struct pd_text *out)
{
    uint64_t start = region->start.number, size = region->size.number;
    bool symbols = region->start.whole || region->start.is_symbol || region->size.is_symbol;
    perfdata_status status = PERFDATA_OK;
    char *file = *region->file ? realpath(region->file, NULL) : NULL;
    if (*region->file && !file)
        return bad(filter, "no such file: ", region->file);
    if (symbols)
        status = resolve_symbols(filter, region, &start, &size);
    if (status == PERFDATA_OK && region->has_size && !size)
        status = bad(filter, "a size is needed for ", region->action);
    pd_text_format(out, "%s%s 0x%llx", out->length ? " " : "", region->action,
                   (unsigned long long)start);
    if (region->has_size)
        pd_text_format(out, "/0x%llx", (unsigned long long)size);
    if (file)
        pd_text_format(out, "@%s", file);
    free(file);
    return status;
}

perfdata_status pd_filter_resolve(struct pd_context *context, const struct pd_roots *roots,
                                  const char *text, struct pd_text *out)
{
    struct filter filter = { .context = context, .roots = roots, .text = text, .at = text };
    struct region *region = malloc(sizeof *region);
    perfdata_status status = region ? PERFDATA_OK : pd_no_memory(context, NULL);
    bool any = false;
    while (region && status == PERFDATA_OK) {
        while (*filter.at == ',' || is_blank(*filter.at))
            filter.at++;
        if (!*filter.at)
            break;
        status = take_region(&filter, region);
        if (status == PERFDATA_OK)
            status = put_region(&filter, region, out);
        any = true;
    }
    free(region);
    if (filter.kernel)
        pd_symtab_free(filter.kernel);
    if (status == PERFDATA_OK && out->length >= FILTER_MOST)
        return bad(&filter, "it is too long", "");
    return status < 0 || any ? status : bad(&filter, "nothing in it", "");
}
