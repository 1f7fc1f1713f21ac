/* SPDX-License-Identifier: MIT */
/* A row of a table -> its typed cells, and these as JSON. */
#include "render/report/rows.h"
#include "render/report/draw.h"

static bool push(struct pd_report_making *making, const struct perfdata_report_cell *cell,
                 size_t at)
{
    return pd_vec_push(&making->cells, *cell) && pd_vec_push(&making->at, at);
}

/* Makes a text of what was written from `at` on, without the blanks around it. */
static void trim(struct pd_text *text, size_t at)
{
    size_t from = at;
    while (text->length > at && text->data[text->length - 1] == ' ')
        text->length--;
    while (from < text->length && text->data[from] == ' ')
        from++;
    if (from > at)
        memmove(text->data + at, text->data + from, text->length - from);
    text->length -= from - at;
}

/* Takes the letter off "[k] name", since programs get it apart from the name. */
static char take_level(struct pd_text *text, size_t at)
{
    enum { LEVEL = 4 };
    if (text->length - at < LEVEL || text->data[at] != '[' || text->data[at + 2] != ']')
        return 0;
    char level = text->data[at + 1];
    memmove(text->data + at, text->data + at + LEVEL, text->length - at - LEVEL);
    text->length -= LEVEL;
    return level;
}

static bool add_text(struct pd_report_making *making, const char *name, size_t at, bool symbol)
{
    struct pd_text *text = &making->text;
    struct perfdata_report_cell cell = { .column = name, .kind = PERFDATA_CELL_TEXT };
    if (text->failed)
        return false;
    trim(text, at);
    cell.level = symbol ? (uint32_t)(uint8_t)take_level(text, at) : 0;
    cell.length = text->length - at;
    pd_text_char(text, 0);
    return !text->failed && push(making, &cell, at);
}

static bool add_number(struct pd_report_making *making, const struct pd_report_column *column,
                       uint32_t event, const struct pd_hist_row *row)
{
    const struct pd_report_table *table = making->table;
    const struct pd_hist_event *sums = &table->result->events[event];
    uint64_t total = pd_report_total(table->plan, sums, column->what);
    bool plain = column->what == PD_COLUMN_SAMPLES || column->what == PD_COLUMN_PERIOD;
    struct perfdata_report_cell cell = {
        .column = pd_report_key_of(column->what),
        .kind = plain ? PERFDATA_CELL_COUNT : PERFDATA_CELL_SHARE,
        .event = event,
        .number = row ? pd_hist_row_value(row, column->what) : 0,
    };
    if (column->what == PD_COLUMN_CHILDREN && !table->plan->hist.children)
        return true; /* "N/A" */
    if (event == table->events[0] && column->what != PD_COLUMN_LATENCY)
        total = table->total;
    cell.share = total ? 100.0 * (double)cell.number / (double)total : 0;
    return push(making, &cell, SIZE_MAX);
}

static bool add_fields(struct pd_report_making *making, uint8_t key, const struct pd_hist_row *row)
{
    const struct pd_report_plan *plan = making->table->plan;
    size_t index = 0;
    for (size_t i = 0; i < plan->payloads.fields.count; i++) {
        const struct pd_report_field *field = &plan->payloads.fields.data[i];
        if (field->key != key || field->event != making->table->events[0])
            continue;
        size_t at = making->text.length;
        pd_report_field_cell(making->table, row, key, index++, making->table->field_widths[i],
                             &making->text);
        if (!add_text(making, field->field->name, at, false))
            return false;
        making->cells.data[making->cells.count - 1].is_payload = 1;
    }
    return true;
}

static bool add_cell(struct pd_report_making *making, const struct pd_report_column *column,
                     const struct pd_hist_row *row)
{
    const struct pd_report_table *table = making->table;
    if (pd_hist_is_fields(column->what))
        return add_fields(making, column->what, row);
    if (column->what < PD_KEY_COUNT) {
        size_t at = making->text.length;
        pd_report_key_cell(table, column, row, &making->text);
        return add_text(making, pd_report_key_of(column->what), at,
                        column->what == PD_KEY_SYMBOL || column->what == PD_KEY_SYMBOL_FROM ||
                            column->what == PD_KEY_SYMBOL_TO ||
                            column->what == PD_KEY_SYMBOL_DADDR ||
                            column->what == PD_KEY_SYMBOL_IADDR ||
                            column->what == PD_KEY_DCACHELINE || column->what == PD_KEY_PHYS_DADDR);
    }
    bool ok = add_number(making, column, table->events[0], row);
    for (size_t m = 0; ok && m + 1 < table->event_count; m++)
        ok = add_number(making, column, table->events[m + 1],
                        row->members ? row->members[m] : NULL);
    return ok;
}

/* Without branches, the IPC column only repeats what the symbol's column has. */
static bool is_wanted(const struct pd_report_making *making, uint8_t what)
{
    return !making->only_keys || (what < PD_KEY_COUNT && what != PD_KEY_IPC_NULL);
}

perfdata_status pd_report_make_cells(struct pd_report_making *making, const struct pd_hist_row *row)
{
    const struct pd_report_plan *plan = making->table->plan;
    making->text.length = making->cells.count = making->at.count = 0;
    for (size_t i = 0; i < plan->layout.column_count; i++)
        if (is_wanted(making, plan->layout.columns[i].what) &&
            !add_cell(making, &plan->layout.columns[i], row))
            return PERFDATA_ERROR_MEMORY;
    for (size_t i = 0; i < making->cells.count; i++)
        if (making->at.data[i] != SIZE_MAX)
            making->cells.data[i].text = making->text.data + making->at.data[i];
    return PERFDATA_OK;
}

void pd_report_making_free(struct pd_report_making *making)
{
    pd_text_free(&making->text);
    pd_vec_free(&making->cells);
    pd_vec_free(&making->at);
}

/* ---- as JSON ---- */

void pd_report_put_cell(struct pd_text *text, const struct perfdata_report_cell *cell)
{
    pd_text_string(text, cell->is_payload ? "\"trace." : "\"");
    pd_text_string(text, cell->column);
    pd_text_string(text, "\":");
    switch (cell->kind) {
    case PERFDATA_CELL_SHARE: pd_text_format(text, "%.6f", cell->share); break;
    case PERFDATA_CELL_COUNT:
        pd_text_char(text, '"');
        pd_text_u64(text, cell->number, 0, ' ');
        pd_text_char(text, '"');
        break;
    default: pd_text_json(text, cell->text, cell->length); break;
    }
    if (cell->level)
        pd_text_format(text, ",\"%s_level\":\"%c\"", cell->column, (char)cell->level);
}

/* Adds the other events of a group, each with its numbers. */
static void put_members(struct pd_report_json *json, const struct perfdata_report_row *row)
{
    struct pd_text *text = json->out;
    bool some = false;
    for (size_t i = 0; i < json->recording->event_count; i++) {
        bool begun = false;
        for (size_t c = 0; c < row->cell_count; c++) {
            const struct perfdata_report_cell *cell = &row->cells[c];
            if (cell->kind == PERFDATA_CELL_TEXT || cell->event != i || cell->event == row->event)
                continue;
            const char *name = json->recording->events[i]->name;
            if (!begun) {
                pd_text_string(text, some ? ",{\"event\":" : ",\"members\":[{\"event\":");
                pd_text_json(text, name, strlen(name));
            }
            some = begun = true;
            pd_text_char(text, ',');
            pd_report_put_cell(text, cell);
        }
        if (begun)
            pd_text_char(text, '}');
    }
    if (some)
        pd_text_char(text, ']');
}

int pd_report_json_row(void *data, const struct perfdata_report_row *row)
{
    struct pd_report_json *json = data;
    struct pd_text *text = json->out;
    pd_text_string(text, "{\"event\":");
    pd_text_json(text, row->event_name, strlen(row->event_name));
    for (size_t i = 0; i < row->cell_count; i++) {
        if (row->cells[i].kind != PERFDATA_CELL_TEXT && row->cells[i].event != row->event)
            continue;
        pd_text_char(text, ',');
        pd_report_put_cell(text, &row->cells[i]);
    }
    put_members(json, row);
    pd_text_bytes(text, "}\n", 2);
    json->status = text->length > (1 << 18) || text->failed ? json->flush(json->data, text)
                                                            : PERFDATA_OK;
    return json->status < 0;
}
