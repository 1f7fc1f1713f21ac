/* SPDX-License-Identifier: MIT */
/* One line of a table: its title, a row, the chains below that. */
#include "render/report/draw.h"

/* ---- titles ---- */

static void title(const struct pd_report_table *table, const struct pd_report_column *column,
                  struct pd_text *out)
{
    uint32_t width = pd_report_column_width(table, column);
    size_t length = strlen(column->title);
    if (column->what < PD_KEY_COUNT)
        pd_text_left(out, column->title, PD_MIN(length, width), width);
    else
        pd_text_right(out, column->title, length, width);
}

/* A column, or one field of a key that has several. */
struct cell {
    const struct pd_report_column *column;
    size_t at, field; /* of the plan's columns, of its fields */
    size_t index;     /* of the field within its key */
};

/* next_cell() where columns have several cells or none. */
static PD_NOINLINE bool next_of_any(const struct pd_report_table *table, struct cell *cell)
{
    const struct pd_report_plan *plan = table->plan;
    bool started = cell->column != NULL;
    for (size_t i = cell->at + (started && !pd_hist_is_fields(cell->column->what));
         i < plan->layout.column_count; i++) {
        const struct pd_report_column *column = &plan->layout.columns[i];
        bool same = column == cell->column;
        if (column->elided)
            continue;
        if (!pd_hist_is_fields(column->what)) {
            *cell = (struct cell){ .column = column, .at = i };
            return true;
        }
        for (size_t f = same ? cell->field + 1 : 0; f < plan->payloads.fields.count; f++)
            if (plan->payloads.fields.data[f].key == column->what &&
                plan->payloads.fields.data[f].event == table->events[0]) {
                *cell = (struct cell){ column, i, f, same ? cell->index + 1 : 0 };
                return true;
            }
    }
    return false;
}

/* Goes through the cells of a line, one after another; *cell begins as all zero. */
PD_INLINE bool next_cell(const struct pd_report_table *table, struct cell *cell)
{
    const struct pd_report_plan *plan = table->plan;
    const size_t i = cell->column ? cell->at + 1 : 0;
    const struct pd_report_column *column = &plan->layout.columns[i];
    if (PD_UNLIKELY(i >= plan->layout.column_count || column->elided ||
                    pd_hist_is_fields(column->what) ||
                    (cell->column && pd_hist_is_fields(cell->column->what))))
        return next_of_any(table, cell);
    cell->column = column;
    cell->at = i;
    cell->field = cell->index = 0;
    return true;
}

static uint32_t cell_width(const struct pd_report_table *table, const struct cell *cell)
{
    return pd_hist_is_fields(cell->column->what) ? table->field_widths[cell->field]
                                                 : pd_report_column_width(table, cell->column);
}

static void cell_title(const struct pd_report_table *table, const struct cell *cell,
                       struct pd_text *out)
{
    if (!pd_hist_is_fields(cell->column->what)) {
        title(table, cell->column, out);
        return;
    }
    const char *name = table->plan->payloads.fields.data[cell->field].field->name;
    const uint32_t width = table->field_widths[cell->field];
    pd_text_right(out, name, PD_MIN(strlen(name), width), width);
}

void pd_report_title_line(const struct pd_report_table *table, struct pd_text *out)
{
    const char *given = table->plan->options->separator, *separator = given ? given : "  ";
    struct cell cell = { 0 };
    for (bool first = true; next_cell(table, &cell); first = false) {
        if (!first)
            pd_text_string(out, separator);
        cell_title(table, &cell, out);
    }
    pd_text_char(out, '\n');
}

void pd_report_rule_line(const struct pd_report_table *table, struct pd_text *out)
{
    struct cell cell = { 0 };
    for (bool first = true; next_cell(table, &cell); first = false) {
        if (!first)
            pd_text_string(out, "  ");
        pd_text_fill(out, '.', cell_width(table, &cell));
    }
}

void pd_report_titles(const struct pd_report_table *table, struct pd_text *out)
{
    pd_text_string(out, "# ");
    pd_report_title_line(table, out);
    if (table->plan->options->separator)
        return;
    pd_text_string(out, "# ");
    pd_report_rule_line(table, out);
    pd_text_string(out, "\n#\n");
}

/* ---- cells ---- */

uint64_t pd_report_total(const struct pd_report_plan *plan, const struct pd_hist_event *event,
                         uint8_t what)
{
    if (what == PD_COLUMN_LATENCY)
        return plan->relative ? event->latency_unfiltered : event->latency;
    return plan->relative ? event->period_unfiltered : event->period;
}

static void number(const struct pd_report_table *table, const struct pd_report_column *column,
                   uint64_t value, uint64_t total, struct pd_text *out)
{
    uint32_t width = pd_report_number_width(column);
    bool separated = table->plan->options->separator != NULL;
    if (column->what == PD_COLUMN_SAMPLES || column->what == PD_COLUMN_PERIOD) {
        pd_text_char(out, ' ');
        pd_text_u64(out, value, separated ? 1 : width - 1, ' ');
        return;
    }
    if (table->periods) {
        pd_text_char(out, ' ');
        pd_text_u64(out, value, PD_REPORT_PERIOD_WIDTH - 1, ' ');
        return;
    }
    double percent = total ? 100.0 * (double)value / (double)total : 0;
    if (!separated) {
        pd_report_percent(table->plan, " ", (int)width - 2, percent, out);
        return;
    }
    pd_text_char(out, ' '); /* perf leaves these without colour */
    pd_text_hundredths(out, percent, 0);
    pd_text_char(out, '%');
}

void pd_report_number_cell(const struct pd_report_table *table,
                           const struct pd_report_column *column, const struct pd_hist_row *row,
                           struct pd_text *out)
{
    const struct pd_report_plan *plan = table->plan;
    if (column->what == PD_COLUMN_CHILDREN && !plan->hist.children) {
        uint32_t width = pd_report_number_width(column);
        pd_text_format(out, " %*s", plan->options->separator ? 1 : (int)width - 1, "N/A");
        return;
    }
    uint64_t total = column->what == PD_COLUMN_LATENCY
                         ? pd_report_total(plan, table->event, column->what)
                         : table->total;
    number(table, column, pd_hist_row_value(row, column->what), total, out);
    for (size_t m = 0; m + 1 < table->event_count; m++) {
        const struct pd_hist_row *member = row->members ? row->members[m] : NULL;
        const struct pd_hist_event *event = &table->result->events[table->events[m + 1]];
        number(table, column, member ? pd_hist_row_value(member, column->what) : 0,
               pd_report_total(plan, event, column->what), out);
    }
}

/* Where a text separates fields, no field may contain its first character. */
void pd_report_replace_separator(struct pd_text *out, size_t from, const char *separator)
{
    if (!separator || !*separator || out->failed)
        return;
    for (size_t i = from; i < out->length; i++)
        if (out->data[i] == *separator)
            out->data[i] = '.';
}

/* perf's buffer for a row with separators has two bytes for each column besides its width. So three
 * things may not fit and are cut: the mark of an inlined function, which no width counts, and what
 * follows a level of memory or a transaction that is longer than its column. */
static void cut_row(const struct pd_report_table *table, const struct pd_hist_row *row,
                    size_t begin, struct pd_text *out)
{
    const struct pd_symbol *symbol = row->entry->first.symbol;
    struct cell cell = { 0 };
    size_t room = 1;
    bool may_be_long = (symbol && symbol->inlined) || table->plan->mode == PD_REPORT_MEMORY ||
                       pd_hist_key_at(&table->plan->hist, PD_KEY_TRANSACTION);
    if (!table->plan->options->separator || !may_be_long)
        return;
    while (next_cell(table, &cell))
        room += cell_width(table, &cell) + 2;
    if (!out->failed && out->length - begin > room)
        out->length = begin + room;
}

void pd_report_row_line(const struct pd_report_table *table, const struct pd_hist_row *row,
                        struct pd_text *out)
{
    size_t line = out->length;
    const struct pd_report_plan *plan = table->plan;
    const char *separator = plan->options->separator;
    struct cell cell = { 0 };
    for (bool first = true; next_cell(table, &cell); first = false) {
        const struct pd_report_column *column = cell.column;
        if (!separator || !first)
            pd_text_string(out, separator ? separator : "  ");
        size_t begin = out->length;
        if (pd_hist_is_fields(column->what)) {
            pd_report_field_cell(table, row, column->what, cell.index,
                                 table->field_widths[cell.field], out);
        } else if (column->what < PD_KEY_COUNT) {
            pd_report_key_cell(table, column, row, out);
            pd_report_replace_separator(out, begin, separator);
        } else {
            pd_report_number_cell(table, column, row, out);
        }
        if (cell.at + 1 < plan->layout.column_count)
            pd_text_pad(out, begin, cell_width(table, &cell));
    }
    cut_row(table, row, line, out);
    pd_text_char(out, '\n');
}

/* ---- rows ---- */

perfdata_status pd_report_row_chains(const struct pd_report_table *table,
                                     const struct pd_hist_row *row, struct pd_chain_tree *tree,
                                     struct pd_text *out)
{
    const struct pd_chain_index *chains = table->chains;
    uint64_t begin = chains->begin[row->index], end = chains->begin[row->index + 1];
    if (begin == end) /* most rows are too small for any chain to be drawn */
        return PERFDATA_OK;
    perfdata_status status = pd_chain_build(table->hist, chains->items + begin, end - begin,
                                            table->plan->chains.mode, table->least,
                                            table->plan->chains.percent, tree);
    if (status == 0)
        pd_report_graph(table, row, tree, out);
    return status;
}

bool pd_report_is_below_limit(const struct pd_report_table *table, const struct pd_hist_row *row)
{
    uint64_t value = table->plan->hist.children ? row->children_period : row->period;
    float percent = table->total ? (float)((double)value * 100.0 / (double)table->total) : 0;
    return percent < table->plan->percent_limit;
}
