/* SPDX-License-Identifier: MIT */
/* --hierarchy: a line for each row of the tree of rows, deeper ones further to the right. */
#include "render/report/draw.h"

#define INDENT 3
enum { DOTS_MAX = 207 }; /* perf 6.1 has no more of them for the levels */

/* The column that names the rows of a depth. */
static const struct pd_report_column *key_column(const struct pd_report_table *table, size_t depth)
{
    const struct pd_report_plan *plan = table->plan;
    for (size_t i = 0; i < plan->layout.column_count; i++)
        if (plan->layout.columns[i].what < PD_KEY_COUNT && !depth--)
            return &plan->layout.columns[i];
    return NULL;
}

static bool is_number(const struct pd_report_column *column)
{
    return column->what >= PD_KEY_COUNT;
}

/* The width of the numbers of a line, with the blanks before them. */
static size_t numbers_width(const struct pd_report_table *table)
{
    const struct pd_report_plan *plan = table->plan;
    size_t width = 0;
    for (size_t i = 0; i < plan->layout.column_count; i++)
        if (is_number(&plan->layout.columns[i]))
            width += 2 + pd_report_column_width(table, &plan->layout.columns[i]);
    return width;
}

static size_t deepest(const struct pd_report_table *table)
{
    unsigned keys = table->plan->hist.key_count;
    return keys ? keys - 1 : 0;
}

/* Puts the titles of the keys. Returns how wide they are, which is the width of the rows' keys,
 * too. */
static size_t put_keys(const struct pd_report_table *table, struct pd_text *out)
{
    size_t begin = out->length, width = 0;
    const struct pd_report_column *column;
    for (size_t depth = 0; (column = key_column(table, depth)); depth++) {
        const char *title = column->title;
        pd_text_string(out, depth ? " / " : "");
        pd_text_string(out, title + strspn(title, " "));
        width = PD_MAX(width, depth * INDENT + pd_report_column_width(table, column));
    }
    return PD_MAX(width, out->length - begin);
}

static void put_titles(const struct pd_report_table *table, struct pd_text *out)
{
    const struct pd_report_plan *plan = table->plan;
    const char *given = plan->options->separator, *separator = given ? given : "  ";
    pd_text_string(out, "# ");
    if (!given)
        pd_text_fill(out, ' ', deepest(table) * INDENT);
    for (size_t i = 0; i < plan->layout.column_count; i++) {
        const struct pd_report_column *column = &plan->layout.columns[i];
        if (!is_number(column))
            continue;
        pd_text_right(out, column->title, strlen(column->title),
                      pd_report_column_width(table, column));
        pd_text_string(out, separator);
    }
    size_t keys = put_keys(table, out);
    pd_text_string(out, "\n# ");
    for (size_t i = 0; given && i < plan->layout.column_count; i++)
        if (is_number(&plan->layout.columns[i])) {
            pd_text_fill(out, '.', pd_report_column_width(table, &plan->layout.columns[i]));
            pd_text_string(out, separator);
        }
    if (!given) {
        pd_text_fill(out, '.', deepest(table) * INDENT + numbers_width(table) - 2);
        pd_text_string(out, "  ");
    }
    pd_text_fill(out, '.', PD_MIN(keys, (size_t)DOTS_MAX));
    pd_text_string(out, "\n#\n");
}

static void put_row(const struct pd_report_table *table, const struct pd_hist_level *level,
                    struct pd_text *out)
{
    const struct pd_report_plan *plan = table->plan;
    const char *given = plan->options->separator;
    bool first = true;
    pd_text_fill(out, ' ', level->depth * (size_t)INDENT);
    for (size_t i = 0; i < plan->layout.column_count; i++) {
        const struct pd_report_column *column = &plan->layout.columns[i];
        if (!is_number(column))
            continue;
        pd_text_string(out, !given ? "  " : first ? "" : given);
        first = false;
        size_t begin = out->length, width = pd_report_column_width(table, column);
        pd_report_number_cell(table, column, level->row, out);
        pd_text_pad(out, begin, width);
    }
    if (!given)
        pd_text_fill(out, ' ', deepest(table) * INDENT);
    pd_text_string(out, given ? given : "  ");
    const struct pd_report_column *column = key_column(table, level->depth);
    size_t begin = out->length;
    if (column)
        pd_report_key_cell(table, column, level->row, out);
    size_t blanks = 0;
    while (!out->failed && begin + blanks < out->length && out->data[begin + blanks] == ' ')
        blanks++;
    if (blanks) {
        memmove(out->data + begin, out->data + begin + blanks, out->length - begin - blanks);
        out->length -= blanks;
    }
    pd_report_replace_separator(out, begin, given);
    pd_text_char(out, '\n');
}

static bool is_shown(const struct pd_report_table *table, const struct pd_hist_row *row)
{
    return !row->filtered && !pd_report_is_below_limit(table, row);
}

/* The row behind all that is below this one. */
static size_t behind(const struct pd_hist_event *event, size_t at)
{
    size_t i = at + 1;
    while (i < event->levels.count && event->levels.data[i].depth > event->levels.data[at].depth)
        i++;
    return i;
}

static bool has_shown(const struct pd_report_table *table, size_t at)
{
    const struct pd_hist_event *event = table->event;
    size_t end = behind(event, at);
    for (size_t i = at + 1; i < end; i = behind(event, i))
        if (is_shown(table, event->levels.data[i].row))
            return true;
    return false;
}

static void put_nothing(const struct pd_report_table *table, size_t depth, struct pd_text *out)
{
    pd_text_fill(out, ' ', depth * INDENT + numbers_width(table) + deepest(table) * INDENT + 2);
    pd_text_format(out, "no entry >= %.2f%%\n", (double)table->plan->percent_limit);
}

perfdata_status pd_report_draw_levels(struct pd_report_table *table, struct pd_text *out,
                                      perfdata_status (*flush)(void *data, struct pd_text *text),
                                      void *data)
{
    const struct pd_hist_event *event = table->event;
    struct pd_chain_tree tree = { 0 };
    perfdata_status status = 0;
    if (!table->plan->quiet)
        put_titles(table, out);
    for (size_t i = 0; i < event->levels.count && status == 0; i++) {
        const struct pd_hist_level *level = &event->levels.data[i];
        bool leaf = level->depth == deepest(table);
        if (!is_shown(table, level->row))
            continue;
        put_row(table, level, out);
        if (!leaf && !has_shown(table, i))
            put_nothing(table, level->depth + 1, out);
        if (leaf && table->chains && level->row->index < table->result->row_count_with_entry)
            status = pd_report_row_chains(table, level->row, &tree, out);
        if (status == 0 && out->length > (1 << 18))
            status = flush(data, out);
    }
    pd_chain_tree_free(&tree);
    return status;
}
