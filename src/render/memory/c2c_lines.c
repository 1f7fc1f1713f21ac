/* SPDX-License-Identifier: MIT */
/* c2c report: the table of lines, and below it who accesses each. */
#include "analyse/hist.h"
#include "base/compare.h"
#include "render/report/plan.h"
#include "render/memory/c2c_chains.h"
#include <stdio.h>
#include <stdlib.h>

/* A line with less than a thousandth of all hits is not shown. */
#define LEAST 0.001

enum { RULE = 70, INDEX = 5, ADDRESS = 18, NODE = 4, PHYSICAL = 6, SHORT = 7, LONG = 8 };
enum { SYMBOL_CUT = 30, UNKNOWN_SYMBOL = 22, UNKNOWN_OBJECT = 16, LEVEL_WIDTH = 4 };

struct column {
    const char *group; /* stands above `span` columns; NULL: only `top` stands above this one */
    unsigned span;
    const char *top, *name;
    unsigned width;
};

struct table {
    struct pd_c2c *c2c;
    struct pd_text *out;
    bool peers;                           /* rows count hits in peers' caches, not HITM */
    unsigned symbol, object, task, place; /* widths */
    PD_VEC(uint32_t) lines;               /* those that are shown, in their order */
    PD_VEC(uint32_t) rows;                /* by their line, in their order */
    bool has_places;
    struct pd_text *texts; /* of rows: source lines */
};

/* ---- heads ---- */

static void put_heads(const struct column *columns, size_t count, struct pd_text *out)
{
    pd_text_string(out, "#\n#");
    for (size_t i = 0; i < count; i++) {
        const struct column *column = &columns[i];
        size_t width = column->width;
        for (unsigned k = 1; column->group && k < column->span; k++)
            width += 2 + columns[++i].width;
        const char *text = column->group ? column->group : column->top;
        pd_text_string(out, column == columns ? " " : "  ");
        pd_text_right(out, text, strlen(text), width);
    }
    pd_text_string(out, "\n#");
    for (size_t i = 0; i < count; i++) {
        pd_text_string(out, i ? "  " : " ");
        pd_text_right(out, columns[i].name, strlen(columns[i].name), columns[i].width);
    }
    pd_text_string(out, "\n#");
    for (size_t i = 0; i < count; i++) {
        pd_text_string(out, i ? "  " : " ");
        pd_text_fill(out, '.', columns[i].width);
    }
    pd_text_string(out, "\n#\n");
}

/* ---- cells ---- */

/* How many loads there are of which a level is known. */
static uint64_t count_loads(const uint32_t *n)
{
    return (uint64_t)n[PD_C2C_LD_FB] + n[PD_C2C_LD_L1] + n[PD_C2C_LD_L2] + n[PD_C2C_LD_LLC] +
           n[PD_C2C_LCL_HITM] + n[PD_C2C_RMT_HITM] + n[PD_C2C_RMT_HIT] + n[PD_C2C_LCL_DRAM] +
           n[PD_C2C_RMT_DRAM];
}

static uint64_t count_stores(const uint32_t *n)
{
    return (uint64_t)n[PD_C2C_ST_L1] + n[PD_C2C_ST_L1_MISS] + n[PD_C2C_ST_NA];
}

static void put_number(struct pd_text *out, uint64_t value, unsigned width)
{
    pd_text_string(out, "  ");
    pd_text_u64(out, value, width, ' ');
}

static void put_percent(struct pd_text *out, uint64_t part, uint64_t whole)
{
    double percent = whole ? (double)part / (double)whole * 100 : 0;
    pd_text_format(out, "  %*.2f%%", SHORT - 1, percent);
}

static void put_hex(struct pd_text *out, uint64_t value)
{
    char text[32];
    int length = snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
    pd_text_string(out, "  ");
    pd_text_right(out, text, (size_t)length, ADDRESS);
}

/* Puts numbers that are in order as ranges, "0-2,5". */
static void put_ranges(struct pd_text *out, const uint32_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t last = i;
        while (last + 1 < count && numbers[last + 1] == numbers[last] + 1)
            last++;
        pd_text_format(out, last > i ? "%s%u-%u" : "%s%u", i ? "," : "", numbers[i], numbers[last]);
        i = last;
    }
}

static void put_memory(struct pd_text *out, const struct pd_c2c_cell *cell)
{
    struct pd_text nodes = { 0 };
    if (cell->nodes.count)
        put_ranges(&nodes, cell->nodes.data, cell->nodes.count);
    else
        pd_text_string(&nodes, "N/A");
    pd_text_string(out, "  ");
    pd_text_right(out, nodes.failed ? "" : nodes.data, nodes.length, NODE);
    out->failed |= nodes.failed;
    pd_text_free(&nodes);
    put_number(out, cell->physical_changes, PHYSICAL);
}

/* ---- lines ---- */

struct sorted {
    const struct pd_c2c *c2c;
    const struct pd_c2c_cell *cell;
    uint64_t wanted;
};

static int compare_lines(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    struct pd_hist_cache_line m, n;
    if (x->wanted != y->wanted)
        return x->wanted < y->wanted ? 1 : -1;
    memcpy(&m, pd_keys_at(&x->c2c->line_keys, x->cell->key), sizeof m);
    memcpy(&n, pd_keys_at(&y->c2c->line_keys, y->cell->key), sizeof n);
    return pd_hist_compare_cache_lines(&m, &n);
}

static uint64_t sum_wanted(const struct pd_c2c *c2c)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < c2c->lines.count; i++)
        sum += pd_c2c_wanted_of(&c2c->lines.data[i], c2c->display);
    return sum;
}

static bool choose_lines(struct table *table, uint64_t total)
{
    struct pd_c2c *c2c = table->c2c;
    bool all = c2c->options->flags & PERFDATA_C2C_SHOW_ALL, ok = true;
    struct sorted *sorted = calloc(c2c->lines.count + 1, sizeof *sorted);
    size_t count = 0;
    if (!sorted)
        return false;
    for (size_t i = 0; i < c2c->lines.count; i++) {
        const struct pd_c2c_cell *cell = &c2c->lines.data[i];
        uint64_t wanted = pd_c2c_wanted_of(cell, c2c->display);
        if (all || (wanted && (double)wanted / (double)total >= LEAST))
            sorted[count++] = (struct sorted){ c2c, cell, wanted };
    }
    qsort(sorted, count, sizeof *sorted, compare_lines);
    for (size_t i = 0; ok && i < count; i++)
        ok = pd_vec_push(&table->lines, sorted[i].cell->key);
    free(sorted);
    return ok;
}

static void put_line_heads(const struct table *table)
{
    bool peers = table->peers;
    static const char *const wanted[] = { [PERFDATA_C2C_TOTAL] = "Tot",
                                          [PERFDATA_C2C_LOCAL] = "Lcl",
                                          [PERFDATA_C2C_REMOTE] = "Rmt",
                                          [PERFDATA_C2C_PEER] = "Peer" };
    const struct column columns[] = {
        { NULL, 0, "", "Index", INDEX },
        { "----------- Cacheline ----------", 3, "", "Address", ADDRESS },
        { NULL, 0, "", "Node", NODE },
        { NULL, 0, "", "PA cnt", PHYSICAL },
        { NULL, 0, wanted[table->c2c->display], peers ? "Snoop" : "Hitm", SHORT },
        { peers ? "------- Load Peer -------" : "------- Load Hitm -------", 3, "", "Total",
          SHORT },
        { NULL, 0, "", peers ? "Local" : "LclHitm", SHORT },
        { NULL, 0, "", peers ? "Remote" : "RmtHitm", SHORT },
        { NULL, 0, "Total", "records", SHORT },
        { NULL, 0, "Total", "Loads", SHORT },
        { NULL, 0, "Total", "Stores", SHORT },
        { "--------- Stores --------", 3, "", "L1Hit", SHORT },
        { NULL, 0, "", "L1Miss", SHORT },
        { NULL, 0, "", "N/A", SHORT },
        { "----- Core Load Hit -----", 3, "", "FB", SHORT },
        { NULL, 0, "", "L1", SHORT },
        { NULL, 0, "", "L2", SHORT },
        { "- LLC Load Hit --", 2, "", "LclHit", LONG },
        { NULL, 0, "", "LclHitm", SHORT },
        { "- RMT Load Hit --", 2, "", "RmtHit", LONG },
        { NULL, 0, "", "RmtHitm", SHORT },
        { "--- Load Dram ----", 2, "", "Lcl", LONG },
        { NULL, 0, "", "Rmt", LONG },
    };
    put_heads(columns, PD_LENGTH(columns), table->out);
}

static void put_line(const struct table *table, size_t index, uint64_t total)
{
    static const struct {
        enum pd_c2c_count count;
        unsigned width;
    } counts[] = { { PD_C2C_ST_L1, SHORT },   { PD_C2C_ST_L1_MISS, SHORT },
                   { PD_C2C_ST_NA, SHORT },   { PD_C2C_LD_FB, SHORT },
                   { PD_C2C_LD_L1, SHORT },   { PD_C2C_LD_L2, SHORT },
                   { PD_C2C_LD_LLC, LONG },   { PD_C2C_LCL_HITM, SHORT },
                   { PD_C2C_RMT_HIT, LONG },  { PD_C2C_RMT_HITM, SHORT },
                   { PD_C2C_LCL_DRAM, LONG }, { PD_C2C_RMT_DRAM, LONG } };
    const struct pd_c2c_cell *cell = &table->c2c->lines.data[table->lines.data[index]];
    const uint32_t *n = cell->n;
    struct pd_text *out = table->out;
    uint64_t local = n[table->peers ? PD_C2C_LCL_PEER : PD_C2C_LCL_HITM],
             remote = n[table->peers ? PD_C2C_RMT_PEER : PD_C2C_RMT_HITM];
    put_number(out, index, INDEX);
    put_hex(out, PD_CACHE_LINE_OF(cell->address));
    put_memory(out, cell);
    put_percent(out, pd_c2c_wanted_of(cell, table->c2c->display), total);
    put_number(out, local + remote, SHORT);
    put_number(out, local, SHORT);
    put_number(out, remote, SHORT);
    put_number(out, count_loads(n) + count_stores(n), SHORT);
    put_number(out, count_loads(n), SHORT);
    put_number(out, n[PD_C2C_STORES], SHORT);
    for (size_t i = 0; i < PD_LENGTH(counts); i++)
        put_number(out, n[counts[i].count], counts[i].width);
    pd_text_char(out, '\n');
}

/* ---- rows ---- */

static int compare_objects(struct pd_symbols *symbols, const struct pd_dso *a,
                           const struct pd_dso *b)
{
    if (!a || !b) /* rows without an object come last */
        return a ? -1 : b != NULL;
    return strcmp(pd_symbols_short_name(symbols, a), pd_symbols_short_name(symbols, b));
}

static int compare_by(const struct sorted *x, const struct sorted *y)
{
    const struct pd_c2c_cell *m = x->cell, *n = y->cell;
    struct pd_symbols *symbols = x->c2c->session.symbols;
    int result = 0;
    for (unsigned i = 0; !result && i < x->c2c->by_count; i++)
        switch (x->c2c->by[i]) {
        case PD_C2C_BY_PID: result = pd_compare_u64(n->pid, m->pid); break;
        case PD_C2C_BY_TID: result = pd_compare_u64(m->thread->tid, n->thread->tid); break;
        case PD_C2C_BY_CODE: result = pd_compare_u64(m->ip, n->ip); break;
        default: result = compare_objects(symbols, m->dso, n->dso);
        }
    return result ? result : pd_compare_u64(m->key, n->key);
}

static uint64_t offset_of(const struct pd_c2c_cell *cell)
{
    return cell->address - PD_CACHE_LINE_OF(cell->address);
}

static int compare_rows(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    if (x->cell->line != y->cell->line)
        return pd_compare_u64(x->cell->line, y->cell->line);
    if (offset_of(x->cell) != offset_of(y->cell))
        return pd_compare_u64(offset_of(x->cell), offset_of(y->cell));
    if (x->wanted != y->wanted)
        return pd_compare_u64(y->wanted, x->wanted);
    /* Rows with as many hits of the kind shown are sorted by their local and remote hits
     * together. */
    uint64_t m = pd_c2c_wanted_of(x->cell, PERFDATA_C2C_TOTAL),
             n = pd_c2c_wanted_of(y->cell, PERFDATA_C2C_TOTAL);
    return m != n && x->c2c->display != PERFDATA_C2C_PEER ? pd_compare_u64(n, m) : compare_by(x, y);
}

static bool sort_rows(struct table *table)
{
    struct pd_c2c *c2c = table->c2c;
    struct sorted *sorted = calloc(c2c->rows.count + 1, sizeof *sorted);
    bool ok = true;
    if (!sorted)
        return false;
    for (size_t i = 0; i < c2c->rows.count; i++)
        sorted[i] = (struct sorted){ c2c, &c2c->rows.data[i],
                                     pd_c2c_wanted_of(&c2c->rows.data[i], c2c->display) };
    qsort(sorted, c2c->rows.count, sizeof *sorted, compare_rows);
    for (size_t i = 0; ok && i < c2c->rows.count; i++)
        ok = pd_vec_push(&table->rows, sorted[i].cell->key);
    free(sorted);
    return ok;
}

static const struct pd_c2c_cell *row_at(const struct table *table, size_t at)
{
    return &table->c2c->rows.data[table->rows.data[at]];
}

/* Rows that have only loads without hits are left out. */
static bool is_shown(const struct table *table, const struct pd_c2c_cell *row)
{
    const uint32_t *n = row->n;
    return pd_c2c_wanted_of(row, table->c2c->display) || n[PD_C2C_STORES];
}

static const char *task_name(const struct pd_c2c_cell *row)
{
    const struct pd_comm *comm = row->thread ? pd_thread_comm(row->thread, UINT64_MAX) : NULL;
    return comm ? pd_comm_final_text(comm) : "";
}

static const char *object_name(const struct table *table, const struct pd_c2c_cell *row)
{
    return row->dso ? pd_symbols_short_name(table->c2c->session.symbols, row->dso) : "[unknown]";
}

static void measure_row(struct table *table, const struct pd_c2c_cell *row)
{
    size_t object = strlen(object_name(table, row)), symbol = UNKNOWN_SYMBOL;
    if (row->symbol)
        symbol = strlen(row->symbol->name) + LEVEL_WIDTH;
    else
        object = PD_MAX(object, (size_t)UNKNOWN_OBJECT);
    table->symbol = PD_MAX(table->symbol, (unsigned)symbol);
    table->object = PD_MAX(table->object, (unsigned)object);
    table->task = PD_MAX(table->task, (unsigned)strlen(task_name(row)) + LONG);
}

static bool put_place(struct pd_text *out, struct pd_symbols *symbols,
                      const struct pd_c2c_cell *row)
{
    struct pd_source_line line = { .answer = PD_LINES_NAMELESS };
    if (row->map && !pd_symbols_line(symbols, row->map, row->code, &line))
        return false;
    if (line.answer == PD_LINES_FOUND) {
        const char *slash = strrchr(line.file, '/');
        pd_text_format(out, "%s:%u", slash ? slash + 1 : line.file, line.line);
    } else if (line.answer == PD_LINES_NAMELESS) {
        pd_text_string(out, "??:0");
    } else if (row->symbol) {
        pd_text_format(out, "%s+%llu", row->symbol->name,
                       (unsigned long long)(row->code - row->symbol->start));
    } else {
        pd_text_format(out, "%s[%llx]", pd_symbols_short_name(symbols, row->map->dso),
                       (unsigned long long)line.address);
    }
    return !out->failed;
}

static bool read_places(struct table *table)
{
    struct pd_c2c *c2c = table->c2c;
    table->has_places = c2c->by_set & PD_C2C_BY_CODE &&
                        !(c2c->options->flags & PERFDATA_C2C_NO_SOURCE);
    table->texts = calloc(c2c->rows.count + 1, sizeof *table->texts);
    if (!table->texts)
        return false;
    for (size_t i = 0; table->has_places && i < c2c->rows.count; i++)
        if (!put_place(&table->texts[i], c2c->session.symbols, &c2c->rows.data[i]))
            return false;
    return true;
}

/* Measures the columns of each line's rows, which have widths of their own. */
static void measure(struct table *table, const size_t *begin, uint32_t line)
{
    table->symbol = table->object = table->task = 0;
    table->place = table->has_places ? (unsigned)strlen("Source:Line") : 0;
    for (size_t at = begin[line]; at < begin[line + 1]; at++) {
        const struct pd_c2c_cell *row = row_at(table, at);
        measure_row(table, row);
        if (table->has_places)
            table->place = PD_MAX(table->place, (unsigned)table->texts[row->key].length);
    }
    if (!(table->c2c->options->flags & PERFDATA_C2C_FULL_SYMBOLS))
        table->symbol = PD_MIN(table->symbol, (unsigned)SYMBOL_CUT);
}

static void put_row_heads(const struct table *table)
{
    bool peers = table->peers;
    unsigned by = table->c2c->by_set;
    static const char *const nodes[] = { "Node", "Node{cpus %hitms %stores}", "Node{cpu list}",
                                         "Node{cpu list}" };
    struct column columns[24] = {
        { NULL, 0, "", "Num", INDEX },
        { peers ? "-- Peer Snoop --" : "----- HITM -----", 2, "", peers ? "Rmt" : "RmtHitm",
          SHORT },
        { NULL, 0, "", peers ? "Lcl" : "LclHitm", SHORT },
        { "------- Store Refs ------", 3, "", "L1 Hit", SHORT },
        { NULL, 0, "", "L1 Miss", SHORT },
        { NULL, 0, "", "N/A", SHORT },
        { "--------- Data address ---------", 3, "", "Offset", ADDRESS },
        { NULL, 0, "", "Node", NODE },
        { NULL, 0, "", "PA cnt", PHYSICAL },
    };
    size_t count = 9;
    if (by & PD_C2C_BY_PID)
        columns[count++] = (struct column){ NULL, 0, "", "Pid", SHORT };
    if (by & PD_C2C_BY_TID)
        columns[count++] = (struct column){ NULL, 0, "", "Tid", table->task };
    if (by & PD_C2C_BY_CODE)
        columns[count++] = (struct column){ NULL, 0, "", "Code address", ADDRESS };
    columns[count++] = (struct column){ "---------- cycles ----------", 3, "",
                                        peers ? "rmt peer" : "rmt hitm", LONG };
    columns[count++] = (struct column){ NULL, 0, "", peers ? "lcl peer" : "lcl hitm", LONG };
    columns[count++] = (struct column){ NULL, 0, "", "load", LONG };
    columns[count++] = (struct column){ NULL, 0, "Total", "records", SHORT };
    columns[count++] = (struct column){ NULL, 0, "cpu", "cnt", LONG };
    if (by & PD_C2C_BY_CODE)
        columns[count++] = (struct column){ NULL, 0, "", "Symbol", table->symbol };
    if (by & (PD_C2C_BY_CODE | PD_C2C_BY_DSO))
        columns[count++] = (struct column){ NULL, 0, "Shared", "Object", table->object };
    if (table->has_places)
        columns[count++] = (struct column){ NULL, 0, "", "Source:Line", table->place };
    const char *node = nodes[table->c2c->options->node_info];
    if (peers && table->c2c->options->node_info == 1)
        node = "Node{cpus %peers %stores}";
    columns[count++] = (struct column){ NULL, 0, "", node, NODE };
    put_heads(columns, count, table->out);
}

/* ---- nodes of CPUs ---- */

static void put_share(struct pd_text *out, uint64_t part, uint64_t whole)
{
    if (whole)
        pd_text_format(out, "%5.1f%% ", (double)part / (double)whole * 100);
    else
        pd_text_format(out, "%6s ", "n/a");
}

static void put_node(const struct table *table, const struct pd_c2c_cell *row, uint32_t node,
                     size_t *at, struct pd_text *out)
{
    struct pd_c2c_cpu sum = { 0 };
    PD_VEC(uint32_t) cpus = { 0 };
    for (; *at < row->cpus.count; (*at)++) {
        const struct pd_c2c_cpu *cpu = &row->cpus.data[*at];
        if (table->c2c->node_of[cpu->cpu] != (int32_t)node)
            continue;
        sum.wanted += cpu->wanted;
        sum.stores += cpu->stores;
        out->failed |= !pd_vec_push(&cpus, cpu->cpu);
    }
    pd_text_format(out, "%2u", node);
    if (table->c2c->options->node_info == 1) {
        pd_text_format(out, "{%2zu ", cpus.count);
        put_share(out, sum.wanted, pd_c2c_wanted_of(row, table->c2c->display));
        put_share(out, sum.stores, row->n[PD_C2C_STORES]);
        out->length -= !out->failed; /* the blank behind the last one */
        pd_text_char(out, '}');
    } else if (table->c2c->options->node_info) {
        pd_text_char(out, '{');
        put_ranges(out, cpus.data, cpus.count);
        pd_text_char(out, '}');
    }
    pd_vec_free(&cpus);
}

static bool has_node(const struct table *table, const struct pd_c2c_cell *row, uint32_t node)
{
    for (size_t i = 0; i < row->cpus.count; i++)
        if (table->c2c->node_of[row->cpus.data[i].cpu] == (int32_t)node)
            return true;
    return false;
}

static void put_nodes(const struct table *table, const struct pd_c2c_cell *row)
{
    enum { NODE_WIDTH = 20 }; /* "%2d{%2d %5.1f%% %5.1f%%}" */
    uint32_t count = table->c2c->recording->features.numa_topology.nodes_count;
    struct pd_text *out = table->out;
    bool first = true;
    pd_text_string(out, "  ");
    for (uint32_t i = 0; i < count; i++) {
        size_t at = 0;
        bool has = has_node(table, row, i);
        if (!has && table->c2c->options->node_info != 1)
            continue;
        if (!first)
            pd_text_char(out, ' ');
        first = false;
        if (has)
            put_node(table, row, i, &at, out);
        else
            pd_text_fill(out, ' ', NODE_WIDTH);
    }
}

/* ---- a row ---- */

static void put_cycles(struct pd_text *out, const struct pd_c2c_cycles *cycles)
{
    pd_text_format(out, "  %*.0f", LONG, cycles->mean);
}

static void put_code(const struct table *table, const struct pd_c2c_cell *row)
{
    struct pd_text *out = table->out;
    unsigned by = table->c2c->by_set;
    if (by & PD_C2C_BY_CODE) {
        char unknown[32];
        snprintf(unknown, sizeof unknown, "0x%016llx", (unsigned long long)row->code);
        int room = (int)(table->symbol - LEVEL_WIDTH);
        pd_text_format(out, "  [%c] %-*.*s", row->level, room, room,
                       row->symbol ? row->symbol->name : unknown);
    }
    if (by & (PD_C2C_BY_CODE | PD_C2C_BY_DSO))
        pd_text_format(out, "  %-*.*s", (int)table->object, (int)table->object,
                       object_name(table, row));
    if (table->has_places) {
        const struct pd_text *text = &table->texts[row->key];
        pd_text_string(out, "  ");
        pd_text_left(out, text->length ? text->data : "", text->length, table->place);
    }
}

static void put_row(const struct table *table, const struct pd_c2c_cell *line,
                    const struct pd_c2c_cell *row)
{
    static const enum pd_c2c_count stores[] = { PD_C2C_ST_L1, PD_C2C_ST_L1_MISS, PD_C2C_ST_NA };
    struct pd_text *out = table->out;
    bool peers = table->peers;
    unsigned by = table->c2c->by_set;
    const uint32_t *n = row->n, *all = line->n;
    enum pd_c2c_count remote = peers ? PD_C2C_RMT_PEER : PD_C2C_RMT_HITM,
                      local = peers ? PD_C2C_LCL_PEER : PD_C2C_LCL_HITM;
    pd_text_fill(out, ' ', 2 + INDEX);
    put_percent(out, n[remote], all[remote]);
    put_percent(out, n[local], all[local]);
    for (size_t i = 0; i < PD_LENGTH(stores); i++)
        put_percent(out, n[stores[i]], all[stores[i]]);
    put_hex(out, offset_of(row));
    put_memory(out, row);
    if (by & PD_C2C_BY_PID)
        pd_text_format(out, "  %*d", SHORT, (int)row->pid);
    if (by & PD_C2C_BY_TID)
        pd_text_format(out, "  %*d:%-*s", SHORT, row->thread ? (int)row->thread->tid : -1,
                       (int)(table->task - LONG), task_name(row));
    if (by & PD_C2C_BY_CODE)
        put_hex(out, row->ip);
    put_cycles(out, &row->cycles[peers ? PD_C2C_CYCLES_RMT_PEER : PD_C2C_CYCLES_RMT_HITM]);
    put_cycles(out, &row->cycles[peers ? PD_C2C_CYCLES_LCL_PEER : PD_C2C_CYCLES_LCL_HITM]);
    put_cycles(out, &row->cycles[PD_C2C_CYCLES_LOAD]);
    put_number(out, count_loads(n) + count_stores(n), SHORT);
    put_number(out, row->cpus.count, LONG);
    put_code(table, row);
    put_nodes(table, row);
    pd_text_char(out, '\n');
}

static void put_rule(struct pd_text *out)
{
    pd_text_string(out, "  ");
    pd_text_fill(out, '-', RULE);
    pd_text_char(out, '\n');
}

static bool put_rows(const struct table *table, const size_t *begin, size_t index)
{
    const struct pd_c2c_cell *line = &table->c2c->lines.data[table->lines.data[index]];
    const uint32_t *n = line->n;
    struct pd_text *out = table->out;
    if (index)
        pd_text_char(out, '\n');
    put_rule(out);
    put_number(out, index, INDEX);
    put_number(out, n[table->peers ? PD_C2C_RMT_PEER : PD_C2C_RMT_HITM], SHORT);
    put_number(out, n[table->peers ? PD_C2C_LCL_PEER : PD_C2C_LCL_HITM], SHORT);
    put_number(out, n[PD_C2C_ST_L1], SHORT);
    put_number(out, n[PD_C2C_ST_L1_MISS], SHORT);
    put_number(out, n[PD_C2C_ST_NA], SHORT);
    put_hex(out, PD_CACHE_LINE_OF(line->address));
    pd_text_char(out, '\n');
    put_rule(out);
    for (size_t at = begin[line->key]; at < begin[line->key + 1]; at++) {
        const struct pd_c2c_cell *row = row_at(table, at);
        if (!is_shown(table, row))
            continue;
        put_row(table, line, row);
        if (table->c2c->chains && pd_c2c_chains_draw(table->c2c->chains, line, row, out) < 0)
            return false;
    }
    return true;
}

/* Where the rows of each line begin among all rows. */
static size_t *index_rows(const struct table *table)
{
    size_t *begin = calloc(table->c2c->lines.count + 2, sizeof *begin), line = 0;
    for (size_t at = 0; begin && at < table->rows.count; at++)
        while (line <= row_at(table, at)->line)
            begin[line++] = at;
    for (; begin && line <= table->c2c->lines.count; line++)
        begin[line] = table->rows.count;
    return begin;
}

/* ---- both ---- */

static void put_title(struct pd_text *out, const char *title)
{
    static const char rule[] = "=================================================\n";
    pd_text_char(out, '\n');
    pd_text_string(out, rule);
    pd_text_string(out, title);
    pd_text_string(out, rule);
}

static void free_table(struct table *table)
{
    for (size_t i = 0; table->texts && i < table->c2c->rows.count; i++)
        pd_text_free(&table->texts[i]);
    free(table->texts);
    pd_vec_free(&table->lines);
    pd_vec_free(&table->rows);
}

perfdata_status pd_c2c_put_lines(struct pd_c2c *c2c, struct pd_text *out)
{
    struct table table = { .c2c = c2c, .out = out, .peers = c2c->display == PERFDATA_C2C_PEER };
    uint64_t total = sum_wanted(c2c);
    size_t *begin = NULL;
    bool ok = choose_lines(&table, total);
    ok = ok && (!c2c->chains || pd_c2c_chains_settle(c2c->chains, c2c->rows.count)) &&
         sort_rows(&table) && read_places(&table) && (begin = index_rows(&table));
    if (ok) {
        put_title(out, "           Shared Data Cache Line Table          \n");
        put_line_heads(&table);
        for (size_t i = 0; i < table.lines.count; i++)
            put_line(&table, i, total);
        put_title(out, "      Shared Cache Line Distribution Pareto      \n");
        if (table.lines.count) {
            measure(&table, begin, table.lines.data[0]);
            put_row_heads(&table);
        } else {
            pd_text_string(out, "#\n");
        }
        for (size_t i = 0; ok && i < table.lines.count; i++) {
            measure(&table, begin, table.lines.data[i]);
            ok = put_rows(&table, begin, i);
        }
    }
    free(begin);
    free_table(&table);
    return ok && !out->failed ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;
}
