/* SPDX-License-Identifier: MIT */
/* An annotated function as a list: what lies on each line, its address, its text. */
#include "render/annotate/annotation.h"

/* ---- what lies on a line ---- */

/* Running sums over the cells of one event, from which the sum of any range follows. */
struct prefixes {
    const struct pd_code_cell *cells;
    size_t count;
    struct pd_line_sum *sums; /* count + 1 */
};

static size_t cells_below(const struct prefixes *prefixes, uint64_t offset)
{
    size_t low = 0, high = prefixes->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (prefixes->cells[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool make_prefixes(const struct pd_annotation *annotation, uint32_t event,
                          struct prefixes *out)
{
    out->cells = pd_code_hist_cells(annotation->hist, annotation->function, event, &out->count);
    out->sums = calloc(out->count + 1, sizeof *out->sums);
    for (size_t i = 0; out->sums && i < out->count; i++) {
        out->sums[i + 1].count = out->sums[i].count + out->cells[i].count;
        out->sums[i + 1].period = out->sums[i].period + out->cells[i].period;
    }
    return out->sums != NULL;
}

static void count_event(struct pd_annotation *annotation, size_t event,
                        const struct prefixes *prefixes)
{
    const struct pd_listing *listing = annotation->listing;
    uint64_t size = annotation->symbol->end - annotation->symbol->start;
    annotation->totals[event] = prefixes->sums[prefixes->count];
    for (size_t i = 0; i < listing->lines.count; i++) {
        const struct pd_listing_line *line = &listing->lines.data[i];
        if (line->offset == PD_LISTING_NO_OFFSET)
            continue;
        uint64_t end = line->next < listing->lines.count ? listing->lines.data[line->next].offset
                                                         : size;
        if (end <= line->offset)
            continue;
        const struct pd_line_sum *from = &prefixes->sums[cells_below(prefixes, line->offset)],
                                 *to = &prefixes->sums[cells_below(prefixes, end)];
        annotation->sums[i * annotation->event_count + event] = (struct pd_line_sum){
            .count = to->count - from->count,
            .period = to->period - from->period,
        };
    }
}

bool pd_annotation_count(struct pd_annotation *annotation, struct pd_arena *arena)
{
    size_t events = annotation->event_count, lines = annotation->listing->lines.count;
    annotation->sums = pd_arena_zalloc(arena, (lines * events + 1) * sizeof *annotation->sums);
    annotation->totals = pd_arena_zalloc(arena, events * sizeof *annotation->totals);
    bool ok = annotation->sums && annotation->totals;
    for (size_t event = 0; ok && event < events; event++) {
        struct prefixes prefixes;
        ok = make_prefixes(annotation, annotation->group->events[event], &prefixes);
        if (ok)
            count_event(annotation, event, &prefixes);
        free(prefixes.sums);
    }
    return ok;
}

double pd_annotation_percent(const struct pd_annotation *annotation, size_t line, size_t event)
{
    struct pd_percent_type type = annotation->plan->percent;
    const struct pd_line_sum *sum = &annotation->sums[line * annotation->event_count + event],
                             *total = &annotation->totals[event];
    if (!total->count)
        return 0;
    if (type.hits) /* perf does not know the event's samples when it divides by them */
        return type.global ? 0 : 100.0 * (double)sum->count / (double)total->count;
    /* perf sums up the other events of a group only when it has printed the function. */
    if (type.global && event)
        return 0;
    uint64_t of = type.global ? annotation->period : total->period;
    return of ? 100.0 * (double)sum->period / (double)of : 0;
}

double pd_annotation_percent_max(const struct pd_annotation *annotation, size_t line)
{
    double highest = 0;
    for (size_t event = 0; event < annotation->event_count; event++) {
        double percent = pd_annotation_percent(annotation, line, event);
        highest = PD_MAX(highest, percent);
    }
    return highest;
}

const char *pd_percent_type_name(struct pd_percent_type type)
{
    return type.global ? type.hits ? "global hits" : "global period"
           : type.hits ? "local hits"
                       : "local period";
}

/* ---- the list ---- */

void pd_annotation_put_value(const struct pd_annotation *annotation, size_t line, size_t event,
                             unsigned width, struct pd_text *out)
{
    const struct pd_line_sum *sum = &annotation->sums[line * annotation->event_count + event];
    if (annotation->plan->total_period)
        pd_text_u64(out, sum->period, PD_ANNOTATION_PERIOD_WIDTH, ' ');
    else if (annotation->plan->samples)
        pd_text_u64(out, sum->count, width, ' ');
    else
        pd_text_format(out, "%*.2f", (int)width, pd_annotation_percent(annotation, line, event));
}

enum { PERCENT_WIDTH = 8, PERIOD_WIDTH = PD_ANNOTATION_PERIOD_WIDTH + 1 };

static size_t column_width(const struct pd_annotation *annotation)
{
    return (annotation->plan->total_period ? PERIOD_WIDTH : PERCENT_WIDTH) *
           annotation->event_count;
}

/* The line of dashes below the title is longer than the title by as much as perf's is. */
static void draw_title(const struct pd_annotation *annotation, struct pd_text *out)
{
    enum { LONGER = 5 };
    const struct pd_annotate_plan *plan = annotation->plan;
    const char *title = plan->total_period ? "Period" : plan->samples ? "Samples" : "Percent";
    const char *slash = plan->full_paths ? NULL : strrchr(annotation->object, '/');
    size_t begin = out->length;
    pd_text_char(out, ' ');
    pd_text_left(out, title, strlen(title), column_width(annotation));
    pd_text_format(out, "|\tSource code & Disassembly of %s for ",
                   slash ? slash + 1 : annotation->object);
    pd_report_group_names(annotation->groups, annotation->group, out);
    pd_text_format(out, " (%llu samples, percent: %s)",
                   (unsigned long long)annotation->totals[0].count,
                   pd_percent_type_name(plan->percent));
    size_t length = out->length - begin;
    pd_text_char(out, '\n');
    pd_text_fill(out, '-', length + LONGER);
    pd_text_char(out, '\n');
}

/* How many samples of the leader lie on each address. */
static void draw_addresses(const struct pd_annotation *annotation, struct pd_text *out)
{
    enum { WIDTH = 32 };
    size_t count;
    const struct pd_code_cell *cells = pd_code_hist_cells(annotation->hist, annotation->function,
                                                          annotation->group->events[0], &count);
    for (size_t i = 0; i < count; i++) {
        pd_text_hex(out, annotation->start + cells[i].offset, WIDTH, ' ');
        pd_text_format(out, ": %llu\n", (unsigned long long)cells[i].count);
    }
    pd_text_format(out, "%*s: %llu\n", WIDTH, "h->nr_samples",
                   (unsigned long long)annotation->totals[0].count);
}

static void draw_values(const struct pd_annotation *annotation, size_t line, struct pd_text *out)
{
    for (size_t event = 0; event < annotation->event_count; event++) {
        pd_text_char(out, ' ');
        pd_annotation_put_value(annotation, line, event, PERCENT_WIDTH - 1, out);
    }
}

/* How many digits the last instruction's address has. */
static unsigned address_width(const struct pd_annotation *annotation)
{
    const struct pd_listing *listing = annotation->listing;
    for (size_t i = listing->lines.count; i-- > 0;) {
        uint64_t offset = listing->lines.data[i].offset;
        unsigned digits = 1;
        if (offset == PD_LISTING_NO_OFFSET)
            continue;
        for (uint64_t at = annotation->start + offset; at >>= 4;)
            digits++;
        return digits;
    }
    return 0;
}

static void draw_instruction(const struct pd_annotation *annotation, size_t line, unsigned width,
                             const char **source, struct pd_text *out)
{
    draw_values(annotation, line, out);
    pd_text_string(out, " :   ");
    pd_text_hex(out, annotation->start + annotation->listing->lines.data[line].offset, width, ' ');
    pd_text_char(out, ':');
    pd_text_string(out, pd_listing_text(annotation->listing, line));
    const char *next = annotation->sources ? annotation->sources[line] : NULL;
    if (next && (!*source || strcmp(*source, next) != 0)) {
        pd_text_format(out, " // %s", next);
        *source = next;
    }
    pd_text_char(out, '\n');
}

static void draw_other(const struct pd_annotation *annotation, size_t line, unsigned width,
                       struct pd_text *out)
{
    const char *text = pd_listing_text(annotation->listing, line);
    pd_text_fill(out, ' ', column_width(annotation) + 1);
    pd_text_char(out, ':');
    if (*text) {
        size_t begin = out->length + 1;
        pd_text_format(out, " %u", annotation->listing->lines.data[line].number);
        pd_text_pad(out, begin, width);
        pd_text_format(out, " %s", text);
    }
    pd_text_char(out, '\n');
}

void pd_annotation_draw(const struct pd_annotation *annotation, struct pd_text *out)
{
    const struct pd_listing *listing = annotation->listing;
    /* perf compares the first line with the last one of the function before. That text is freed by
     * then, unless it was the constant for an unknown line. */
    const char *source = *annotation->unknown_source ? PD_SOURCE_UNKNOWN : NULL;
    unsigned width = address_width(annotation);
    draw_title(annotation, out);
    if (annotation->plan->verbose)
        draw_addresses(annotation, out);
    for (size_t i = 0; i < listing->lines.count; i++) {
        if (listing->lines.data[i].offset == PD_LISTING_NO_OFFSET)
            draw_other(annotation, i, width, out);
        else
            draw_instruction(annotation, i, width, &source, out);
    }
    *annotation->unknown_source = source && !strcmp(source, PD_SOURCE_UNKNOWN);
}
