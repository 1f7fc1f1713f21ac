/* SPDX-License-Identifier: MIT */
/* Rows of several recordings as a table, or as JSON. */
#include "render/diff/diff.h"
#include "render/report/draw.h"
#include "render/report/rows.h"
#include <math.h>
#include <stdio.h>

enum { PERCENT_WIDTH = 7, NUMBER_WIDTH = 14, FORMULA_WIDTH = 70, TEXT_ROOM = 160 };

enum kind { BASELINE, BASE_PERIOD, VALUE, FORMULA, PERIOD };

struct drawing {
    const struct pd_diff *diff;
    struct pd_diff_event *event;
    struct pd_report_table *tables; /* by recording: how its rows' keys are written */
    struct pd_hist_event *shown;    /* by recording: the rows that it shows */
    struct pd_text *out;
};

/* ---- columns of numbers ---- */

static const char *kind_name(const struct pd_diff_plan *plan, enum kind kind)
{
    static const char *const names[] = { [BASELINE] = "Baseline",
                                         [BASE_PERIOD] = "Base period",
                                         [FORMULA] = "Formula",
                                         [PERIOD] = "Period" };
    static const char *const methods[] = { [PD_DIFF_DELTA_ABS] = "Delta Abs",
                                           [PD_DIFF_DELTA] = "Delta",
                                           [PD_DIFF_RATIO] = "Ratio",
                                           [PD_DIFF_WEIGHTED] = "Weighted diff" };
    return kind == VALUE ? methods[plan->method] : names[kind];
}

static uint32_t least_width(const struct pd_diff_plan *plan, enum kind kind)
{
    switch (kind) {
    case BASELINE: return PERCENT_WIDTH;
    case FORMULA: return FORMULA_WIDTH;
    case VALUE:
        return plan->method == PD_DIFF_DELTA || plan->method == PD_DIFF_DELTA_ABS ? PERCENT_WIDTH
                                                                                  : NUMBER_WIDTH;
    default: return NUMBER_WIDTH;
    }
}

/* Makes the title of a column and returns its width. */
static uint32_t title_of(const struct drawing *drawing, enum kind kind, size_t side, char *title,
                         size_t size)
{
    const struct pd_diff_plan *plan = drawing->diff->plan;
    int length = drawing->diff->count > 2
                     ? snprintf(title, size, "%s/%zu", kind_name(plan, kind), side)
                     : snprintf(title, size, "%s", kind_name(plan, kind));
    return PD_MAX(least_width(plan, kind), (uint32_t)length);
}

static void formula(const struct drawing *drawing, const struct pd_diff_row *row, size_t side,
                    char *text)
{
    const struct pd_diff_plan *plan = drawing->diff->plan;
    unsigned long long before = row->values[0].period, now = row->values[side].period;
    if (plan->method == PD_DIFF_RATIO)
        snprintf(text, TEXT_ROOM, "%.0F / %.0F", (double)now, (double)before);
    else if (plan->method == PD_DIFF_WEIGHTED)
        snprintf(text, TEXT_ROOM, "(%llu * %lld) - (%llu * %lld)", now, (long long)plan->weights[1],
                 before, (long long)plan->weights[0]);
    else
        snprintf(text, TEXT_ROOM, "(%llu * 100 / %llu) - (%llu * 100 / %llu)", now,
                 (unsigned long long)drawing->event->totals[side], before,
                 (unsigned long long)drawing->event->totals[0]);
}

static void value(const struct drawing *drawing, const struct pd_diff_row *row, size_t side,
                  char *text)
{
    const struct pd_diff_plan *plan = drawing->diff->plan;
    bool of_both = plan->method == PD_DIFF_RATIO || plan->method == PD_DIFF_WEIGHTED;
    if (of_both && !row->values[0].has)
        snprintf(text, TEXT_ROOM, "N/A");
    else if (plan->method == PD_DIFF_RATIO)
        snprintf(text, TEXT_ROOM, "%14.6F", pd_diff_ratio(row, side));
    else if (plan->method == PD_DIFF_WEIGHTED)
        snprintf(text, TEXT_ROOM, "%14lld", (long long)pd_diff_weighted(plan, row, side));
    else
        snprintf(text, TEXT_ROOM, plan->separator ? "%+4.2F%%" : "%+4.2f%%",
                 pd_diff_delta(drawing->event, row, side));
}

static void cell_text(const struct drawing *drawing, const struct pd_diff_row *row, enum kind kind,
                      size_t side, char *text)
{
    uint64_t period = row->values[side].period;
    *text = '\0';
    if (kind == BASE_PERIOD || (kind == PERIOD && row->values[side].has))
        snprintf(text, TEXT_ROOM, "%llu", (unsigned long long)period);
    else if (!row->values[side].has)
        return;
    else if (kind == BASELINE)
        snprintf(text, TEXT_ROOM, drawing->diff->plan->separator ? "%.2f" : "%.2f%%",
                 100.0 * (double)period / (double)drawing->event->shown_total);
    else if (kind == FORMULA)
        formula(drawing, row, side, text);
    else if (kind == VALUE)
        value(drawing, row, side, text);
}

/* Calls `each` for every column of numbers in turn. */
static void each_number(const struct drawing *drawing, const struct pd_diff_row *row,
                        void (*each)(const struct drawing *drawing, const struct pd_diff_row *row,
                                     enum kind kind, size_t side))
{
    const struct pd_diff_plan *plan = drawing->diff->plan;
    each(drawing, row, BASELINE, 0);
    if (plan->periods)
        each(drawing, row, BASE_PERIOD, 0);
    for (size_t side = 1; side < drawing->diff->count; side++) {
        each(drawing, row, VALUE, side);
        if (plan->formula)
            each(drawing, row, FORMULA, side);
        if (plan->periods)
            each(drawing, row, PERIOD, side);
    }
}

/* ---- titles and rows ---- */

static void put_separator(const struct drawing *drawing, bool first)
{
    const char *separator = drawing->diff->plan->separator;
    if (!first)
        pd_text_string(drawing->out, separator ? separator : "  ");
}

static void put_title(const struct drawing *drawing, const struct pd_diff_row *row, enum kind kind,
                      size_t side)
{
    char title[TEXT_ROOM];
    uint32_t width = title_of(drawing, kind, side, title, sizeof title);
    (void)row;
    put_separator(drawing, kind == BASELINE);
    pd_text_right(drawing->out, title, strlen(title), width);
}

static void put_dots(const struct drawing *drawing, const struct pd_diff_row *row, enum kind kind,
                     size_t side)
{
    char title[TEXT_ROOM];
    (void)row;
    put_separator(drawing, kind == BASELINE);
    pd_text_fill(drawing->out, '.', title_of(drawing, kind, side, title, sizeof title));
}

static void put_number(const struct drawing *drawing, const struct pd_diff_row *row, enum kind kind,
                       size_t side)
{
    char title[TEXT_ROOM], text[TEXT_ROOM];
    uint32_t width = title_of(drawing, kind, side, title, sizeof title);
    bool padded = !drawing->diff->plan->separator;
    if (padded || kind != BASELINE)
        put_separator(drawing, false);
    cell_text(drawing, row, kind, side, text);
    size_t begin = drawing->out->length;
    /* perf aligns such a text in the column's least width, which it fills, and not in its actual
     * one. */
    bool aligned = kind == VALUE && strlen(text) >= NUMBER_WIDTH;
    pd_text_right(drawing->out, text, strlen(text), padded && !aligned ? width : 0);
    pd_text_pad(drawing->out, begin, width);
}

/* The next column of a sort key that is shown. */
static const struct pd_report_column *next_key(const struct pd_report_plan *plan, size_t *at)
{
    while (*at < plan->layout.column_count) {
        const struct pd_report_column *column = &plan->layout.columns[(*at)++];
        if (column->what < PD_KEY_COUNT && !column->elided)
            return column;
    }
    return NULL;
}

static void put_titles(const struct drawing *drawing)
{
    const struct pd_report_table *table = &drawing->tables[0];
    const struct pd_report_column *column;
    struct pd_text *out = drawing->out;
    pd_text_string(out, "# ");
    each_number(drawing, NULL, put_title);
    for (size_t at = 0; (column = next_key(table->plan, &at));) {
        uint32_t width = pd_report_column_width(table, column);
        put_separator(drawing, false);
        pd_text_left(out, column->title, PD_MIN(strlen(column->title), width), width);
    }
    pd_text_char(out, '\n');
    if (drawing->diff->plan->separator)
        return;
    pd_text_string(out, "# ");
    each_number(drawing, NULL, put_dots);
    for (size_t at = 0; (column = next_key(table->plan, &at));) {
        put_separator(drawing, false);
        pd_text_fill(out, '.', pd_report_column_width(table, column));
    }
    pd_text_string(out, "\n#\n");
}

static void put_row(const struct drawing *drawing, const struct pd_diff_row *row)
{
    const struct pd_report_table *table = &drawing->tables[row->side];
    const struct pd_report_column *column, *next;
    struct pd_text *out = drawing->out;
    size_t at = 0;
    each_number(drawing, row, put_number);
    for (column = next_key(table->plan, &at); column; column = next) {
        put_separator(drawing, false);
        size_t begin = out->length;
        pd_report_key_cell(table, column, row->row, out);
        pd_report_replace_separator(out, begin, drawing->diff->plan->separator);
        next = next_key(table->plan, &at);
        if (next)
            pd_text_pad(out, begin, pd_report_column_width(table, column));
    }
    pd_text_char(out, '\n');
}

/* ---- the table ---- */

/* Writes the rows of each recording; a column is as wide as the widest cell of any recording. */
static bool make_tables(struct drawing *drawing, struct pd_arena *arena)
{
    const struct pd_diff *diff = drawing->diff;
    uint32_t widths[PD_KEY_COUNT] = { 0 };
    drawing->tables = pd_arena_zalloc(arena, diff->count * sizeof *drawing->tables);
    drawing->shown = pd_arena_zalloc(arena, diff->count * sizeof *drawing->shown);
    struct pd_hist_row **rows = pd_arena_alloc(arena, (drawing->event->rows.count + 1) *
                                                          sizeof(struct pd_hist_row *));
    if (!drawing->tables || !drawing->shown || !rows)
        return false;
    for (size_t side = 0; side < diff->count; side++) {
        const struct pd_diff_side *from = &diff->sides[side];
        struct pd_hist_event *shown = &drawing->shown[side];
        shown->rows.data = rows;
        for (size_t i = 0; i < drawing->event->rows.count; i++)
            if (drawing->event->rows.data[i].side == side) {
                struct pd_hist_row *row =
                    from->result.all.data[drawing->event->rows.data[i].row->index];
                row->met = PD_MET_ALL; /* joining rows compared their texts */
                shown->rows.data[shown->rows.count++] = row;
            }
        rows += shown->rows.count;
        drawing->tables[side] = (struct pd_report_table){ .plan = &from->plan,
                                                          .hist = &from->counts.hist,
                                                          .result = &from->result,
                                                          .timeline = from->session.timeline,
                                                          .event = shown,
                                                          .events = &drawing->event->events[side],
                                                          .event_count = 1,
                                                          .address_digits = 16 };
        pd_report_measure(&drawing->tables[side]);
        for (size_t key = 0; key < PD_KEY_COUNT; key++)
            widths[key] = PD_MAX(widths[key], drawing->tables[side].widths[key]);
    }
    for (size_t side = 0; side < diff->count; side++)
        memcpy(drawing->tables[side].widths, widths, sizeof widths);
    return true;
}

static void put_files(const struct pd_diff *diff, struct pd_text *out)
{
    pd_text_string(out, "# Data files:\n");
    for (size_t side = 0; side < diff->count; side++)
        pd_text_format(out, "#  [%zu] %s %s\n", side, diff->sides[side].recording->path,
                       side ? "" : "(Baseline)");
    pd_text_string(out, "#\n");
}

void pd_diff_draw(const struct pd_diff *diff, struct pd_diff_event *event, bool first,
                  struct pd_text *out)
{
    const struct pd_diff_plan *plan = diff->plan;
    struct pd_arena arena = { 0 };
    struct drawing drawing = { .diff = diff, .event = event, .out = out };
    if (!plan->quiet) {
        pd_text_string(out, first ? "# Event '" : "\n# Event '");
        pd_text_bytes(out, event->event->name, event->event->name_length);
        pd_text_string(out, "'\n#\n");
    }
    if (plan->verbose || (diff->count > 2 && !plan->quiet))
        put_files(diff, out);
    if (!make_tables(&drawing, &arena)) {
        out->failed = true;
    } else {
        if (!plan->quiet)
            put_titles(&drawing);
        for (size_t i = 0; i < event->rows.count; i++)
            put_row(&drawing, &event->rows.data[i]);
    }
    pd_arena_free(&arena);
}

/* ---- JSON ---- */

/* Half the width of the 95 % confidence interval for the difference of two shares of so many
 * samples. */
static bool confidence(const struct pd_diff_event *event, const struct pd_diff_row *row,
                       size_t side, double *half)
{
    enum { FEW = 30 };
    const double z = 1.959964;
    double a = pd_diff_percent(event, row, 0) / 100, b = pd_diff_percent(event, row, side) / 100;
    double before = (double)event->counts[0], now = (double)event->counts[side];
    if (before < FEW || now < FEW)
        return false;
    *half = 100 * z * sqrt(fmax(0, a * (1 - a)) / before + fmax(0, b * (1 - b)) / now);
    return true;
}

static void put_values(const struct pd_diff_event *event, const struct pd_diff_row *row,
                       size_t side, struct pd_text *out)
{
    const struct pd_diff_value *values = &row->values[side];
    double half;
    if (!values->has) {
        pd_text_string(out, "null");
        return;
    }
    pd_text_format(out, "{\"period\":\"%llu\",\"samples\":%llu", (unsigned long long)values->period,
                   (unsigned long long)values->count);
    if (event->totals[side])
        pd_text_format(out, ",\"percent\":%.6f", pd_diff_percent(event, row, side));
    if (side && event->totals[0] && event->totals[side]) {
        pd_text_format(out, ",\"delta\":%.6f", pd_diff_delta(event, row, side));
        if (confidence(event, row, side, &half))
            pd_text_format(out, ",\"confidence\":[%.6f,%.6f]",
                           pd_diff_delta(event, row, side) - half,
                           pd_diff_delta(event, row, side) + half);
        if (row->values[0].period)
            pd_text_format(out, ",\"ratio\":%.6f", pd_diff_ratio(row, side));
    }
    pd_text_char(out, '}');
}

static void put_json_row(const struct drawing *drawing, const struct pd_diff_row *row,
                         struct pd_report_making *making)
{
    struct pd_text *out = drawing->out;
    making->table = &drawing->tables[row->side];
    if (pd_report_make_cells(making, row->row) != PERFDATA_OK)
        out->failed = true;
    pd_text_char(out, '{');
    for (size_t i = 0; i < making->cells.count; i++) {
        pd_report_put_cell(out, &making->cells.data[i]);
        pd_text_char(out, ',');
    }
    pd_text_string(out, "\"recordings\":[");
    for (size_t side = 0; side < drawing->diff->count; side++) {
        if (side)
            pd_text_char(out, ',');
        put_values(drawing->event, row, side, out);
    }
    pd_text_string(out, "]}");
}

void pd_diff_draw_json(const struct pd_diff *diff, struct pd_diff_event *event, bool first,
                       struct pd_text *out)
{
    struct pd_arena arena = { 0 };
    struct drawing drawing = { .diff = diff, .event = event, .out = out };
    struct pd_report_making making = { .only_keys = true };
    if (!make_tables(&drawing, &arena))
        out->failed = true;
    pd_text_string(out, first ? "\n{\"event\":" : ",\n{\"event\":");
    pd_text_json(out, event->event->name, event->event->name_length);
    pd_text_string(out, ",\"totals\":[");
    for (size_t side = 0; side < diff->count; side++)
        pd_text_format(out, "%s{\"period\":\"%llu\",\"samples\":%llu}", side ? "," : "",
                       (unsigned long long)event->totals[side],
                       (unsigned long long)event->counts[side]);
    pd_text_string(out, "],\"rows\":[");
    for (size_t i = 0; i < event->rows.count && !out->failed; i++) {
        pd_text_string(out, i ? ",\n " : "\n ");
        put_json_row(&drawing, &event->rows.data[i], &making);
    }
    pd_text_string(out, "]}");
    pd_report_making_free(&making);
    pd_arena_free(&arena);
}
