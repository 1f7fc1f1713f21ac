/* SPDX-License-Identifier: MIT */
/* Rows -> the columns of sort keys: how wide they are, and the text of a cell. */
#include "format/names.h"
#include "render/data_source.h"
#include "render/raw_dump/raw_dump.h"
#include "render/report/draw.h"
#include <stdio.h>

/* The least widths of keys and of columns of numbers. */
static const uint8_t least_width[PD_COLUMN_COUNT] = {
#define KEY(identifier, name, title, mode, ids, order, caller, width, ...)                         \
    [PD_KEY_##identifier] = (width),
#define COLUMN(identifier, name, title, width, ...) [PD_COLUMN_##identifier] = (width),
#include "analyse/keys.def"
};

uint32_t pd_report_number_width(const struct pd_report_column *column)
{
    return column->user_width ? column->user_width : least_width[column->what];
}

/* ---- texts that both widths and cells need ---- */

static const char *thread_comm(const struct pd_thread *thread)
{
    const struct pd_comm *comm = thread ? pd_thread_comm(thread, UINT64_MAX) : NULL;
    const char *text = comm ? pd_comm_final_text(comm) : NULL;
    return text ? text : "";
}

static const char *cgroup_text(const struct pd_report_table *table, uint64_t id)
{
    const char *text = id ? pd_timeline_cgroup(table->timeline, UINT64_MAX, id) : NULL;
    return text ? text : id ? "unknown" : "N/A";
}

static const char *name_text(const struct pd_report_table *table, uint64_t word)
{
    return pd_intern_text(&table->hist->names, (uint32_t)word);
}

/* The width of what -v puts before each symbol: an address, and where its object's symbols are
 * from. */
static size_t origin_width(const struct pd_report_table *table)
{
    return table->plan->hist.long_names ? table->address_digits + 2 + 3 : 0;
}

/* ---- widths ---- */

static void widen(uint32_t *width, size_t length)
{
    *width = (uint32_t)PD_MAX((size_t)*width, length);
}

/* Measures a column that shows a symbol, or an address where no symbol is known. */
static void measure_symbol(struct pd_report_table *table, const struct pd_symbol *symbol,
                           uint8_t symbol_key, uint8_t dso_key)
{
    const struct pd_report_plan *plan = table->plan;
    uint32_t *widths = table->widths, digits = table->address_digits;
    if (symbol) {
        widen(&widths[symbol_key], pd_symbol_width(symbol) + 4u + origin_width(table));
        return;
    }
    widen(&widths[symbol_key], digits + 4 + 2);
    if (!plan->options->column_widths && !plan->options->separator && !plan->filter.has_dsos)
        widen(&widths[dso_key], digits);
}

static void measure_place(struct pd_report_table *table, const struct pd_hist_place *place,
                          uint8_t symbol_key, uint8_t dso_key, uint8_t address_key)
{
    measure_symbol(table, place->symbol, symbol_key, dso_key);
    if (!place->symbol)
        widen(&table->widths[address_key], table->address_digits + 4 + 2);
    else if (place->dso_name)
        widen(&table->widths[dso_key], strlen(place->dso_name));
}

static void measure_line(struct pd_report_table *table, const struct pd_hist_row *row, uint8_t key)
{
    if (table->widths[key])
        widen(&table->widths[key],
              strlen(name_text(table, pd_hist_row_word(table->result, row, key))));
}

static void measure_branch(struct pd_report_table *table, const struct pd_hist_row *row)
{
    const struct pd_hist_access *access = pd_hist_access_of(table->hist, row->entry);
    measure_place(table, &access->from, PD_KEY_SYMBOL_FROM, PD_KEY_DSO_FROM, PD_KEY_ADDR_FROM);
    measure_place(table, &access->to, PD_KEY_SYMBOL_TO, PD_KEY_DSO_TO, PD_KEY_ADDR_TO);
    if (row->met & PD_MET_LINE_FROM)
        measure_line(table, row, PD_KEY_SRCLINE_FROM);
    if (row->met & PD_MET_LINE_TO)
        measure_line(table, row, PD_KEY_SRCLINE_TO);
}

static void measure_memory(struct pd_report_table *table, const struct pd_hist_row *row)
{
    const struct pd_hist_access *access = pd_hist_access_of(table->hist, row->entry);
    uint32_t *widths = table->widths, digits = table->address_digits;
    const struct pd_symbol *data = access->to.symbol, *code = access->from.symbol;
    size_t unknown = digits + 4 + 2;
    widen(&widths[PD_KEY_SYMBOL_DADDR], unknown + (data ? pd_symbol_width(data) : 0));
    widen(&widths[PD_KEY_DCACHELINE], unknown + (data ? pd_symbol_width(data) + 1u : 0));
    widen(&widths[PD_KEY_SYMBOL_IADDR], unknown + (code ? pd_symbol_width(code) : 0));
    if (access->to.dso_name)
        widen(&widths[PD_KEY_DSO_DADDR], strlen(access->to.dso_name));
    else if (!table->plan->options->column_widths && !table->plan->options->separator &&
             !table->plan->filter.has_dsos)
        widen(&widths[PD_KEY_DSO_DADDR], digits);
}

/* What perf makes room for where any sample has a transaction, whatever its text is. */
enum { TRANSACTION_WIDTH = 32 };

static void measure_row(struct pd_report_table *table, const struct pd_hist_row *row)
{
    const struct pd_report_plan *plan = table->plan;
    uint32_t *widths = table->widths;
    measure_symbol(table, row->entry->first.symbol, PD_KEY_SYMBOL, PD_KEY_DSO);
    size_t comm = strlen(thread_comm(row->entry->first.thread));
    if (comm > widths[PD_KEY_COMM]) {
        widths[PD_KEY_COMM] = (uint32_t)comm;
        widen(&widths[PD_KEY_PID], comm + 8);
    }
    if (plan->mode == PD_REPORT_BRANCH)
        measure_branch(table, row);
    if (plan->mode == PD_REPORT_MEMORY)
        measure_memory(table, row);
    if (row->dso)
        widen(&widths[PD_KEY_DSO], strlen(row->dso));
    if (row->parent)
        widen(&widths[PD_KEY_PARENT], strlen(row->parent));
    if (row->trace && row->met & PD_MET_TRACE)
        widen(&widths[PD_KEY_TRACE], strlen(row->trace));
    if (row->line && row->met & PD_MET_LINE)
        widen(&widths[PD_KEY_SRCLINE], strlen(row->line));
    if (row->file && row->met & PD_MET_FILE)
        widen(&widths[PD_KEY_SRCFILE], strlen(row->file));
    if (widths[PD_KEY_TRANSACTION] && pd_hist_row_word(table->result, row, PD_KEY_TRANSACTION))
        widen(&widths[PD_KEY_TRANSACTION], TRANSACTION_WIDTH);
    widen(&widths[PD_KEY_TIME], plan->options->flags & PERFDATA_REPORT_NS ? 16 : 12);
    if (widths[PD_KEY_CGROUP]) {
        uint64_t id = pd_hist_row_word(table->result, row, PD_KEY_CGROUP);
        if (id)
            widen(&widths[PD_KEY_CGROUP], strlen(cgroup_text(table, id)));
    }
}

void pd_report_measure(struct pd_report_table *table)
{
    bool any = false;
    memset(table->widths, 0, sizeof table->widths);
    for (size_t i = 0; i < table->plan->layout.column_count; i++) {
        const struct pd_report_column *column = &table->plan->layout.columns[i];
        if (column->what < PD_KEY_COUNT)
            widen(&table->widths[column->what], strlen(column->title));
    }
    const struct pd_hist_event *event = table->event;
    const bool levels = table->plan->hist.levels; /* rows above leaves have all fields of one */
    const size_t count = levels ? event->levels.count : event->rows.count;
    for (size_t i = 0; i < count; i++) {
        const struct pd_hist_row *row = levels ? event->levels.data[i].row : event->rows.data[i];
        if (!levels && i % PD_REPORT_ROWS_AT_ONCE == 0)
            pd_report_read_rows(table, i, PD_MIN(i + PD_REPORT_ROWS_AT_ONCE, count));
        if (!row->filtered) {
            measure_row(table, row);
            any = true;
        }
    }
    for (size_t key = 0; any && key < PD_KEY_COUNT; key++)
        widen(&table->widths[key], least_width[key]);
}

uint32_t pd_report_column_width(const struct pd_report_table *table,
                                const struct pd_report_column *column)
{
    if (column->what < PD_KEY_COUNT)
        return column->user_width ? column->user_width : table->widths[column->what];
    bool is_sum = column->what == PD_COLUMN_SAMPLES || column->what == PD_COLUMN_PERIOD;
    if (table->periods && !is_sum)
        return (uint32_t)table->event_count * PD_REPORT_PERIOD_WIDTH;
    uint32_t one = least_width[column->what], width = pd_report_number_width(column);
    if (table->event_count > 1 || table->plan->group_all)
        width = PD_MAX(width, (uint32_t)table->event_count * one);
    widen(&width, strlen(column->title));
    return width;
}

/* ---- parts of cells ---- */

/* %-*.*s */
static void cut_text(const char *text, size_t width, struct pd_text *out)
{
    size_t length = strlen(text);
    pd_text_left(out, text, PD_MIN(length, width), width);
}

/* %.*s */
static void put_text(const char *text, size_t width, struct pd_text *out)
{
    if (text)
        pd_text_bytes(out, text, strnlen(text, width));
}

static void left_number(uint64_t number, size_t width, struct pd_text *out)
{
    size_t before = out->length;
    pd_text_u64(out, number, 0, ' ');
    pd_text_pad(out, before, width);
}

static void put_size(bool known, uint64_t size, size_t width, struct pd_text *out)
{
    if (known)
        pd_text_format(out, "%*d", (int)width, (int)size);
    else
        pd_text_right(out, "unknown", 7, width);
}

/* For the kernel, perf adds the map's bias to a file's address, to show the one in memory. It adds
 * this to a caller's address as well, which is one in memory already. An object made of a section
 * goes by its file. */
static uint64_t shown_address(const struct pd_dso *dso, uint64_t address, uint64_t map_bias)
{
    return dso && dso->kind == PD_DSO_KERNEL && dso->listed ? address + map_bias : address;
}

static void put_origin(const struct pd_report_table *table, const struct pd_dso *dso,
                       uint64_t address, uint64_t map_bias, struct pd_text *out)
{
    if (!table->plan->hist.long_names)
        return;
    size_t begin = out->length;
    pd_text_hex_prefixed(out, shown_address(dso, address, map_bias));
    pd_text_pad(out, begin, table->address_digits + 2);
    pd_text_char(out, ' ');
    pd_text_char(out, dso ? pd_symbols_origin(dso) : '!');
    pd_text_char(out, ' ');
}

static void put_level(char level, struct pd_text *out)
{
    pd_text_char(out, '[');
    pd_text_char(out, level);
    pd_text_string(out, "] ");
}

static void put_address(const struct pd_report_table *table, uint64_t address, struct pd_text *out)
{
    pd_text_string(out, address ? "0x" : "");
    pd_text_hex(out, address, table->address_digits, '0');
}

static void put_name(const struct pd_symbol *symbol, size_t width, struct pd_text *out)
{
    pd_text_bytes(out, symbol->name,
                  width < 4 ? symbol->name_length : PD_MIN((size_t)symbol->name_length, width - 4));
}

/* perf takes the address, which is one in the file, for one in memory and subtracts the map's
 * bias. */
static void put_data(const struct pd_symbol *symbol, uint64_t address, uint64_t map_bias,
                     struct pd_text *out)
{
    pd_text_string(out, symbol->name);
    pd_text_format(out, "+0x%llx", (unsigned long long)(address - symbol->start - map_bias));
}

/* ---- a function for each kind of cell ---- */

struct key_cell {
    const struct pd_report_table *table;
    const struct pd_hist_row *row;
    const struct pd_hist_first *first;   /* the row's */
    const struct pd_hist_access *access; /* the row's branch; NULL: rows are no branches */
    uint64_t word;                       /* of the key */
    size_t width;                        /* of the column */
};

static void cell_thread(const struct key_cell *cell, struct pd_text *out)
{
    pd_text_i64(out, (int32_t)cell->word, 7);
    pd_text_char(out, ':');
    cut_text(thread_comm(cell->first->thread), cell->width < 8 ? SIZE_MAX : cell->width - 8, out);
}

static void cell_comm(const struct key_cell *cell, struct pd_text *out)
{
    cut_text(cell->row->comm, cell->width, out);
}

static void cell_dso(const struct key_cell *cell, struct pd_text *out)
{
    cut_text(cell->row->dso ? cell->row->dso : "[unknown]", cell->width, out);
}

static void cell_symbol(const struct key_cell *cell, struct pd_text *out)
{
    const struct pd_hist_first *first = cell->first;
    const struct pd_symbol *symbol = first->symbol;
    uint64_t address = cell->row->addr;
    put_origin(cell->table, first->dso, address, first->map_bias, out);
    put_level(first->level, out);
    if (!symbol) {
        put_address(cell->table, address, out);
    } else if (pd_symbol_is_data(symbol)) {
        put_data(symbol, address, first->map_bias, out);
    } else {
        put_name(symbol, cell->width, out);
        pd_text_string(out, symbol->inlined ? " (inlined)" : "");
    }
}

static void cell_parent(const struct key_cell *cell, struct pd_text *out)
{
    cut_text(cell->row->parent ? cell->row->parent : "[other]", cell->width, out);
}

static void cell_cpu(const struct key_cell *cell, struct pd_text *out)
{
    pd_text_format(out, "%*.*d", (int)cell->width, (int)cell->width, (int)cell->word);
}

static void cell_socket(const struct key_cell *cell, struct pd_text *out)
{
    pd_text_format(out, "%*.*d", (int)cell->width, (int)cell->width - 3, (int)cell->word);
}

static void cell_count(const struct key_cell *cell, struct pd_text *out)
{
    pd_text_u64(out, cell->word, cell->width, ' ');
}

/* A number that each of the samples has. */
static void cell_one(const struct key_cell *cell, struct pd_text *out)
{
    left_number(cell->word, cell->width, out);
}

/* The sum of a number that each of the samples has. */
static void cell_all(const struct key_cell *cell, struct pd_text *out)
{
    left_number(cell->word * cell->row->count, cell->width, out);
}

static void cell_size(const struct key_cell *cell, struct pd_text *out)
{
    size_t before = out->length;
    pd_size_text(cell->word, out);
    pd_text_pad(out, before, cell->width);
}

static void cell_address(const struct key_cell *cell, struct pd_text *out)
{
    size_t before = out->length;
    pd_text_hex_prefixed(out, cell->word);
    pd_text_pad(out, before, cell->width);
}

static void cell_transaction(const struct key_cell *cell, struct pd_text *out)
{
    size_t before = out->length;
    uint64_t word = cell->word, abort = word >> 32;
    for (const struct pd_name *name = pd_names_transaction.items; name->text; name++)
        if (word & name->value)
            pd_text_format(out, "%s ", name->text);
    if (word && !(word & (PD_TXN_SYNC | PD_TXN_ASYNC)))
        pd_text_string(out, "NEITHER ");
    if (abort)
        pd_text_format(out, ":%llx", (unsigned long long)abort);
    pd_text_pad(out, before, cell->width);
}

static void cell_trace(const struct key_cell *cell, struct pd_text *out)
{
    put_text(cell->row->trace ? cell->row->trace : "N/A", cell->width, out);
}

static void cell_line(const struct key_cell *cell, struct pd_text *out)
{
    put_text(cell->row->line, cell->width, out);
}

static void cell_file(const struct key_cell *cell, struct pd_text *out)
{
    put_text(cell->row->file, cell->width, out);
}

static void cell_symbol_size(const struct key_cell *cell, struct pd_text *out)
{
    put_size(cell->first->symbol != NULL, cell->word, cell->width, out);
}

static void cell_map_size(const struct key_cell *cell, struct pd_text *out)
{
    put_size(cell->first->dso != NULL, cell->word, cell->width, out);
}

static void cell_cgroup(const struct key_cell *cell, struct pd_text *out)
{
    pd_text_string(out, cgroup_text(cell->table, cell->word));
}

static void cell_namespace(const struct key_cell *cell, struct pd_text *out)
{
    const struct pd_hist_namespace *all = cell->table->hist->namespaces.data, none = { 0, 0 };
    const struct pd_hist_namespace *at = cell->word ? &all[cell->word - 1] : &none;
    pd_text_format(out, "%u/0x%llx", at->device, (unsigned long long)at->inode);
}

static void cell_no_ipc(const struct key_cell *cell, struct pd_text *out)
{
    pd_text_left(out, "-      -", 8, cell->width);
}

static void cell_time(const struct key_cell *cell, struct pd_text *out)
{
    char text[64];
    unsigned long long seconds = cell->word / 1000000000, rest = cell->word % 1000000000;
    if (cell->table->plan->options->flags & PERFDATA_REPORT_NS)
        snprintf(text, sizeof text, "%llu.%09llu", seconds, rest);
    else
        snprintf(text, sizeof text, "%llu.%06llu", seconds, rest / 1000);
    put_text(text, cell->width, out);
}

/* ---- the same of branches ---- */

static void cut_cell(const struct key_cell *cell, const char *text, struct pd_text *out)
{
    size_t begin = out->length;
    put_text(text, cell->width, out);
    pd_text_pad(out, begin, cell->width);
}

static void cell_dso_from(const struct key_cell *cell, struct pd_text *out)
{
    const char *name = cell->access->from.dso_name;
    cut_cell(cell, name ? name : "[unknown]", out);
}

static void cell_dso_to(const struct key_cell *cell, struct pd_text *out)
{
    const char *name = cell->access->to.dso_name;
    cut_cell(cell, name ? name : "[unknown]", out);
}

static void put_place(const struct key_cell *cell, const struct pd_hist_place *place,
                      struct pd_text *out)
{
    put_origin(cell->table, place->dso, place->addr, place->map_bias, out);
    put_level(place->level, out);
    if (!place->symbol)
        put_address(cell->table, place->addr, out);
    else if (pd_symbol_is_data(place->symbol))
        put_data(place->symbol, place->addr, place->map_bias, out);
    else
        put_name(place->symbol, cell->width, out);
}

static void cell_symbol_from(const struct key_cell *cell, struct pd_text *out)
{
    put_place(cell, &cell->access->from, out);
}

static void cell_symbol_to(const struct key_cell *cell, struct pd_text *out)
{
    put_place(cell, &cell->access->to, out);
}

static void put_place_address(const struct key_cell *cell, const struct pd_hist_place *place,
                              struct pd_text *out)
{
    const struct pd_symbol *symbol = place->symbol;
    put_level(cell->first->level, out);
    if (!symbol) {
        put_address(cell->table, place->addr, out);
    } else if (pd_symbol_is_data(symbol)) {
        put_data(symbol, place->addr, place->map_bias, out);
    } else {
        put_name(symbol, cell->width, out);
        if (place->addr != symbol->start)
            pd_text_format(out, "+0x%llx", (unsigned long long)(place->addr - symbol->start));
    }
}

static void cell_address_from(const struct key_cell *cell, struct pd_text *out)
{
    put_place_address(cell, &cell->access->from, out);
}

static void cell_address_to(const struct key_cell *cell, struct pd_text *out)
{
    put_place_address(cell, &cell->access->to, out);
}

/* Where the hardware says neither yes nor no, perf repeats what it said in the row before. */
static void cell_mispredict(const struct key_cell *cell, struct pd_text *out)
{
    const char **last = cell->table->last_mispredict;
    if (PD_BRANCH_PART(cell->access->flags, PREDICTED))
        *last = "N";
    else if (PD_BRANCH_PART(cell->access->flags, MISPRED))
        *last = "Y";
    cut_cell(cell, *last, out);
}

static void cell_in_tx(const struct key_cell *cell, struct pd_text *out)
{
    cut_cell(cell, PD_BRANCH_PART(cell->access->flags, IN_TX) ? "T" : ".", out);
}

static void cell_abort(const struct key_cell *cell, struct pd_text *out)
{
    cut_cell(cell, PD_BRANCH_PART(cell->access->flags, ABORT) ? "A" : ".", out);
}

static void cell_cycles(const struct key_cell *cell, struct pd_text *out)
{
    size_t begin = out->length;
    uint64_t cycles = PD_BRANCH_PART(cell->access->flags, CYCLES);
    if (cycles)
        pd_text_i64(out, (int16_t)cycles, 0);
    else
        pd_text_char(out, '-');
    pd_text_pad(out, begin, cell->width);
}

static void cell_name(const struct key_cell *cell, struct pd_text *out)
{
    cut_cell(cell, name_text(cell->table, cell->word), out);
}

/* IPC is not computed from cycles yet. */
static void cell_ipc(const struct key_cell *cell, struct pd_text *out)
{
    bool none = cell->row->symbol && !cell->table->hist->has_cycles;
    size_t begin = out->length;
    pd_text_string(out, none ? "0.00  [  0.0%]" : "-");
    pd_text_pad(out, begin, cell->width);
}

/* ---- the same of accesses to memory ---- */

/* How many characters are left of a column. One that is full already does not cut anything. */
static size_t room_behind(const struct key_cell *cell, size_t used)
{
    return used <= cell->width ? cell->width - used : SIZE_MAX;
}

static void put_access(const struct key_cell *cell, const struct pd_hist_place *place, char level,
                       uint64_t address, struct pd_text *out)
{
    size_t begin = out->length;
    put_origin(cell->table, place->dso, address, place->map_bias, out);
    put_level(level, out);
    if (!place->symbol)
        put_address(cell->table, address, out);
    else if (pd_symbol_is_data(place->symbol))
        put_data(place->symbol, address, place->map_bias, out);
    else
        put_text(place->symbol->name, room_behind(cell, out->length - begin), out);
}

static void cell_data_symbol(const struct key_cell *cell, struct pd_text *out)
{
    const struct pd_hist_place *data = &cell->access->to;
    put_access(cell, data, data->level, data->ip, out);
}

static void cell_code_symbol(const struct key_cell *cell, struct pd_text *out)
{
    const struct pd_hist_place *code = &cell->access->from;
    put_access(cell, code, code->level, code->ip, out);
}

/* The level is X where nothing is known of the line, and s where it is of a shared, writable
 * mapping of a file. */
static void cell_cache_line(const struct key_cell *cell, struct pd_text *out)
{
    const struct pd_hist_place *data = &cell->access->to;
    const struct pd_map *map = data->map;
    const struct pd_dso *dso = data->dso;
    char level = map ? data->level : 'X';
    if (map && data->level != 'k' && !(map->prot & PD_PROT_EXEC) && map->flags & PD_MAP_SHARED &&
        (dso->maj || dso->min || dso->ino || dso->ino_generation))
        level = 's';
    put_access(cell, data, level, PD_CACHE_LINE_OF(data->addr), out);
}

static void cell_physical(const struct key_cell *cell, struct pd_text *out)
{
    size_t begin = out->length;
    put_level(cell->first->level, out);
    put_address(cell->table, cell->word, out);
    pd_text_pad(out, begin, cell->width);
}

/* perf has room for this much of a level, a snoop and a TLB, however wide the column is. */
enum { MEMORY_TEXT = 62 };

static void put_part(const struct key_cell *cell, enum pd_data_source_part part, size_t most,
                     bool padded, struct pd_text *out)
{
    size_t begin = out->length;
    pd_data_source_part_text(cell->access->flags, part, cell->table->like_perf, out);
    out->length = PD_MIN(out->length, begin + most);
    if (padded)
        pd_text_pad(out, begin, cell->width);
}

static void cell_level(const struct key_cell *cell, struct pd_text *out)
{
    put_part(cell, PD_DATA_SOURCE_LEVEL, MEMORY_TEXT, true, out);
}

static void cell_snoop(const struct key_cell *cell, struct pd_text *out)
{
    put_part(cell, PD_DATA_SOURCE_SNOOP, MEMORY_TEXT, true, out);
}

static void cell_tlb(const struct key_cell *cell, struct pd_text *out)
{
    put_part(cell, PD_DATA_SOURCE_TLB, MEMORY_TEXT, true, out);
}

static void cell_locked(const struct key_cell *cell, struct pd_text *out)
{
    put_part(cell, PD_DATA_SOURCE_LOCK, cell->width, false, out);
}

static void cell_blocked(const struct key_cell *cell, struct pd_text *out)
{
    put_part(cell, PD_DATA_SOURCE_BLOCK, cell->width, false, out);
}

/* ---- any cell ---- */

void pd_report_key_cell(const struct pd_report_table *table, const struct pd_report_column *column,
                        const struct pd_hist_row *row, struct pd_text *out)
{
    static void (*const cells[PD_KEY_COUNT])(const struct key_cell *cell, struct pd_text *out) = {
#define KEY(identifier, name, title, mode, ids, order, caller, width, word, cell)                  \
    [PD_KEY_##identifier] = cell_##cell,
#include "analyse/keys.def"
    };
    struct key_cell cell = {
        .table = table,
        .row = row,
        .first = &row->entry->first,
        .word = pd_hist_row_word(table->result, row, column->what),
        .width = pd_report_column_width(table, column),
    };
    if (table->plan->hist.has_access)
        cell.access = pd_hist_access_of(table->hist, row->entry);
    if (column->what < PD_KEY_COUNT && cells[column->what])
        cells[column->what](&cell, out);
}

void pd_report_percent(const struct pd_report_plan *plan, const char *space, int width,
                       double percent, struct pd_text *out)
{
    bool colored = plan->options->flags & PERFDATA_REPORT_COLOR && percent > 0.5;
    if (colored)
        pd_text_string(out, percent >= 5 ? "\033[31m" : "\033[32m");
    pd_text_string(out, space);
    pd_text_hundredths(out, percent, (unsigned)width);
    pd_text_char(out, '%');
    if (colored)
        pd_text_string(out, "\033[m");
}
