/* SPDX-License-Identifier: MIT */
/* Annotated functions as rows, for programs that show them in their own way. */
#include "render/annotate/run.h"
#include <stdlib.h>

/* The function's share of an event, for the event where it is greatest. */
static double share_of(const struct pd_annotate *annotate, const struct pd_code_function *function)
{
    double most = 0;
    for (uint32_t event = 0; event < annotate->result.event_count; event++) {
        uint64_t period = 0, whole = annotate->result.events[event].period;
        size_t count;
        const struct pd_code_cell *cells = pd_code_hist_cells(&annotate->counts.code, function,
                                                              event, &count);
        for (size_t i = 0; i < count; i++)
            period += cells[i].period;
        if (whole)
            most = PD_MAX(most, (double)period / (double)whole);
    }
    return most;
}

struct weighed {
    struct pd_annotate_row row;
    const char *object;
    double share;
};

static int by_share(const void *left, const void *right)
{
    const struct weighed *a = left, *b = right;
    if (a->share != b->share)
        return a->share > b->share ? -1 : 1;
    int order = strcmp(a->row.symbol->name, b->row.symbol->name);
    if (!order)
        order = strcmp(a->object, b->object);
    if (order)
        return order;
    return (a->row.symbol->start > b->row.symbol->start) -
           (a->row.symbol->start < b->row.symbol->start);
}

static size_t weigh(const struct pd_annotate *annotate, struct weighed *list)
{
    const struct pd_code_hist *code = &annotate->counts.code;
    double least = annotate->options->percent_limit ? (double)annotate->plan.percent_limit / 100
                                                    : 0;
    size_t count = 0;
    for (uint32_t i = 0; i < code->functions.count; i++) {
        const struct pd_code_function *function = &code->functions.data[i];
        double share = share_of(annotate, function);
        if (share < least)
            continue;
        const char *object = pd_symbols_long_name(annotate->session.symbols, function->dso);
        list[count++] = (struct weighed){ .row = { .symbol = function->symbol, .function = i },
                                          .object = object ? object : "",
                                          .share = share };
    }
    if (count)
        qsort(list, count, sizeof *list, by_share);
    return count;
}

perfdata_status pd_annotate_list_code(struct pd_annotate *annotate)
{
    struct pd_code_hist *code = &annotate->counts.code;
    pd_code_hist_sort(code);
    annotate->codes = calloc(code->functions.count + 1, sizeof *annotate->codes);
    struct weighed *list = malloc((code->functions.count + 1) * sizeof *list);
    bool ok = annotate->codes && list && pd_vec_reserve(&annotate->rows, code->functions.count);
    size_t count = ok ? weigh(annotate, list) : 0;
    for (size_t i = 0; i < count; i++) {
        annotate->codes[list[i].row.function].last = i;
        annotate->rows.data[annotate->rows.count++] = list[i].row;
    }
    free(list);
    return ok ? 0 : PERFDATA_ERROR_MEMORY;
}

/* Sums up all events, one beside the other. */
static bool sum_up(struct pd_annotate *annotate, const struct pd_code_function *function,
                   const struct pd_listing *listing, struct pd_annotation *out)
{
    struct pd_arena *arena = &annotate->arena;
    size_t count = annotate->result.event_count;
    uint32_t *events = pd_arena_alloc(arena, (count + 1) * sizeof *events);
    struct pd_report_group *group = pd_arena_zalloc(arena, sizeof *group);
    if (!events || !group)
        return false;
    for (size_t i = 0; i < count; i++)
        events[i] = (uint32_t)i;
    *group = (struct pd_report_group){ .events = events, .count = count };
    *out = (struct pd_annotation){
        .group = group,
        .hist = &annotate->counts.code,
        .function = function,
        .symbol = function->symbol,
        .listing = listing,
        .event_count = count,
    };
    return pd_annotation_count(out, arena);
}

static struct perfdata_code_sum *public_sums(struct pd_arena *arena, const struct pd_line_sum *from,
                                             size_t count)
{
    struct perfdata_code_sum *sums = pd_arena_alloc(arena, (count + 1) * sizeof *sums);
    for (size_t i = 0; sums && i < count; i++)
        sums[i] = (struct perfdata_code_sum){ from[i].count, from[i].period };
    return sums;
}

/* "/a/b.c:12", "./b.c:12 (discriminator 3)" */
static bool is_place(const char *text)
{
    size_t path = strcspn(text, ": "), digits = 0;
    if (text[path] != ':' || !memchr(text, '/', path))
        return false;
    digits = strspn(text + path + 1, "0123456789");
    const char *behind = text + path + 1 + digits;
    return digits && (!*behind || !strncmp(behind, " (discriminator ", 16));
}

/* Headings such as "Disassembly of section .text:" and "0000000000401126 <main>:", and empty
 * lines. */
static bool is_heading(const char *text)
{
    size_t digits = strspn(text, "0123456789abcdef");
    return !*text || !strncmp(text, "Disassembly of section ", 23) ||
           (digits >= 8 && text[digits] == ' ' && text[digits + 1] == '<');
}

/* The lines with what lies on them, but without the headings at their beginning. */
static bool public_lines(struct pd_arena *arena, const struct pd_annotation *annotation,
                         struct perfdata_code_function *out)
{
    const struct pd_listing *listing = annotation->listing;
    size_t first = 0, count = listing->lines.count, events = annotation->event_count;
    while (first < count && listing->lines.data[first].offset == PD_LISTING_NO_OFFSET &&
           is_heading(pd_listing_text(listing, first)))
        first++;
    struct perfdata_code_line *lines = pd_arena_alloc(arena, (count + 1) * sizeof *lines);
    out->lines = lines;
    out->line_count = count - first;
    out->sums = public_sums(arena, annotation->sums + first * events, out->line_count * events);
    for (size_t i = 0; lines && i < out->line_count; i++) {
        const struct pd_listing_line *line = &listing->lines.data[first + i];
        const char *text = pd_listing_text(listing, first + i);
        bool is_code = line->offset != PD_LISTING_NO_OFFSET;
        lines[i] = (struct perfdata_code_line){ .text = text,
                                                .offset = line->offset,
                                                .kind = is_code          ? PERFDATA_CODE_INSTRUCTION
                                                        : is_place(text) ? PERFDATA_CODE_PLACE
                                                                         : PERFDATA_CODE_SOURCE,
                                                .indent = is_code ? 0 : line->indent };
    }
    return out->lines && out->sums;
}

perfdata_status pd_annotate_give_code(struct pd_annotate *annotate, size_t index)
{
    uint32_t id = annotate->rows.data[index].function;
    const struct pd_code_function *function = &annotate->counts.code.functions.data[id];
    const struct pd_annotate_code *code = &annotate->codes[id];
    const char *object = pd_symbols_long_name(annotate->session.symbols, function->dso);
    bool there = code->done && !code->error && code->file.source == PD_CODE_IN_FILE;
    struct pd_listing none = { .failed = false };
    const struct pd_listing *listing = there ? &code->listing : &none;
    struct pd_arena *arena = &annotate->arena;
    struct pd_annotation annotation;
    if (code->error == PD_OBJDUMP_MEMORY)
        return PERFDATA_ERROR_MEMORY;
    pd_arena_empty(arena);
    if (!sum_up(annotate, function, listing, &annotation))
        return PERFDATA_ERROR_MEMORY;
    struct perfdata_code_function given = {
        .name = function->symbol->name,
        .object = object ? object : "",
        .address = code->file.address,
        .index = index,
        .count = annotate->rows.count,
        .event_count = annotation.event_count,
        .totals = public_sums(arena, annotation.totals, annotation.event_count),
    };
    if (!given.totals || !public_lines(arena, &annotation, &given))
        return PERFDATA_ERROR_MEMORY;
    *(given.line_count ? &annotate->told.functions : &annotate->told.missing) += 1;
    annotate->enough = annotate->take(annotate->data, &given) != 0;
    return 0;
}
