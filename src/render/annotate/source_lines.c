/* SPDX-License-Identifier: MIT */
/* Which source lines the samples of a function lie on. */
#include "render/annotate/annotation.h"
#include "render/report/collect.h"

/* A source line with the sums of its instructions' percentages. */
struct source {
    const char *text;
    size_t line;      /* of the listing, the first one */
    double *percents; /* of each event */
    size_t events;
};

static int by_text(const void *left, const void *right)
{
    const struct source *a = left, *b = right;
    int order = strcmp(a->text, b->text);
    return order ? order : a->line < b->line ? -1 : a->line > b->line;
}

static int by_percent(const void *left, const void *right)
{
    const struct source *a = left, *b = right;
    for (size_t i = 0; i < a->events; i++) {
        if (a->percents[i] > b->percents[i])
            return -1;
        if (a->percents[i] < b->percents[i])
            return 1;
    }
    return strcmp(b->text, a->text);
}

/* Names the source lines of instructions with enough samples. False: no memory. */
static bool name_lines(struct pd_annotation *annotation, const struct pd_report_plan *plan,
                       struct pd_symbols *symbols, struct pd_arena *arena, size_t *count)
{
    const struct pd_listing *listing = annotation->listing;
    struct pd_text text = { 0 };
    bool ok = true;
    annotation->sources = pd_arena_zalloc(arena,
                                          (listing->lines.count + 1) * sizeof *annotation->sources);
    *count = 0;
    if (!annotation->sources)
        return false;
    for (size_t i = 0; ok && i < listing->lines.count; i++) {
        const struct pd_listing_line *line = &listing->lines.data[i];
        if (line->offset == PD_LISTING_NO_OFFSET ||
            pd_annotation_percent_max(annotation, i) <= PD_ANNOTATION_LEAST)
            continue;
        text.length = 0;
        ok = pd_report_source_line(plan, symbols, annotation->map,
                                   annotation->symbol->start + line->offset, &text);
        if (ok)
            annotation->sources[i] = pd_arena_copy(arena, text.data, text.length);
        ok = ok && annotation->sources[i];
        ++*count;
    }
    pd_text_free(&text);
    return ok;
}

/* Joins lines of the same text. Returns how many are left; `list` and its percentages have room for
 * all. */
static size_t sum_up(const struct pd_annotation *annotation, struct source *list, double *percents)
{
    size_t count = 0, events = annotation->event_count, left = 0;
    for (size_t i = 0; i < annotation->listing->lines.count; i++)
        if (annotation->sources[i])
            list[count++] = (struct source){ annotation->sources[i], i, NULL, events };
    if (count)
        qsort(list, count, sizeof *list, by_text);
    for (size_t i = 0; i < count; i++) {
        if (!left || strcmp(list[left - 1].text, list[i].text) != 0) {
            list[left] = list[i];
            list[left].percents = percents + left * events;
            left++;
        }
        for (size_t event = 0; event < events; event++)
            list[left - 1].percents[event] += pd_annotation_percent(annotation, list[i].line,
                                                                    event);
    }
    if (left)
        qsort(list, left, sizeof *list, by_percent);
    return left;
}

static void draw_summary(const struct pd_annotation *annotation, const struct source *list,
                         size_t count, struct pd_text *out)
{
    pd_text_format(out, "\nSorted summary for file %s\n", annotation->object);
    pd_text_string(out, "----------------------------------------------\n\n");
    if (!count)
        pd_text_format(out, " Nothing higher than %1.1f%%\n", PD_ANNOTATION_LEAST);
    for (size_t i = 0; i < count; i++) {
        for (size_t event = 0; event < annotation->event_count; event++)
            pd_text_format(out, " %7.2f", list[i].percents[event]);
        pd_text_format(out, " %s\n", list[i].text);
    }
}

bool pd_annotation_source_lines(struct pd_annotation *annotation, const struct pd_report_plan *plan,
                                struct pd_symbols *symbols, struct pd_arena *arena,
                                struct pd_text *out)
{
    size_t count;
    if (!name_lines(annotation, plan, symbols, arena, &count))
        return false;
    struct source *list = pd_arena_alloc(arena, (count + 1) * sizeof *list);
    double *percents = pd_arena_zalloc(arena,
                                       (count * annotation->event_count + 1) * sizeof *percents);
    if (!list || !percents)
        return false;
    draw_summary(annotation, list, sum_up(annotation, list, percents), out);
    return true;
}
