/* SPDX-License-Identifier: MIT */
/* BOLT's own profile (`llvm-bolt -data`): a line a branch, by function and offset. It has no runs:
 * the conditional branches that were not taken in them are lines of their own, for which the code
 * of x86-64 objects is read. */
#include "convert/branches/branches.h"
#include "itrace/code/insn.h"
#include "object/image.h"
#include <stdlib.h>

/* A run that is longer has no such line: no code is that straight. */
enum { LONGEST_RUN = 1 << 16 };

struct lines {
    struct pd_intern keys;
    struct pd_flow_list list;
    const struct pd_symtab *table; /* of the last run's map */
    const struct pd_map *map;
    const struct pd_image *image;
};

static bool add(struct lines *lines, const struct pd_flow *flow)
{
    uint64_t key[2] = { flow->from.address, flow->to.address };
    return pd_flow_add(&lines->list, &lines->keys, key, sizeof key, flow);
}

static bool look_at(struct lines *lines, struct pd_symbols *symbols, const struct pd_map *map)
{
    if (map != lines->map) {
        lines->map = map;
        lines->table = pd_symbols_table(symbols, map);
        lines->image = pd_symbols_image(symbols, map);
    }
    return lines->table && lines->image && lines->image->is_64_bit;
}

/* Conditional branches of a run that were not taken. */
static bool add_run(struct lines *lines, struct pd_symbols *symbols, const struct pd_flow *run)
{
    uint64_t at = run->from.place, end = run->to.place;
    if (!look_at(lines, symbols, run->from.map) || end - at > LONGEST_RUN)
        return true;
    uint64_t moved = run->from.address - at; /* from the table's addresses to the file's */
    while (at < end && at < lines->image->size) {
        struct pd_insn insn;
        if (!pd_insn_decode(lines->image->data + at, lines->image->size - at, true, &insn))
            return true;
        uint64_t next = at + insn.length;
        if (insn.branch == PD_BRANCH_CONDITIONAL && next <= end) {
            struct pd_flow flow = { .count = run->count, .kind = PD_FLOW_BRANCH };
            flow.from = (struct pd_flow_end){ run->from.map, pd_symtab_find(lines->table, at),
                                              at + moved, at };
            flow.to = (struct pd_flow_end){ run->from.map, pd_symtab_find(lines->table, next),
                                            next + moved, next };
            if (!add(lines, &flow))
                return false;
        }
        at = next;
    }
    return true;
}

/* "1 function offset"; what has no function is not a symbol: 0. BOLT numbers local functions of a
 * name. */
static void put_end(struct pd_text *out, const struct pd_flow_end *end)
{
    if (!end->symbol) {
        pd_text_string(out, "0 [unknown] ");
        pd_text_hex(out, end->address, 0, ' ');
        return;
    }
    pd_text_string(out, "1 ");
    struct pd_text name = { 0 };
    pd_convert_name(&name, end->symbol->name, end->symbol->name_length);
    for (size_t i = 0; i < name.length; i++) {
        if (name.data[i] == ' ' || name.data[i] == '\\')
            pd_text_char(out, '\\');
        pd_text_char(out, name.data[i]);
    }
    out->failed |= name.failed;
    pd_text_free(&name);
    if (end->symbol->binding == PD_SYMBOL_LOCAL)
        pd_text_string(out, "/1");
    pd_text_char(out, ' ');
    pd_text_hex(out, end->place - end->symbol->start, 0, ' ');
}

static int by_place(const void *a, const void *b)
{
    return pd_flow_order(a, b);
}

static perfdata_status put_lines(struct pd_convert *x, const struct pd_flow_list *list)
{
    perfdata_status status = PERFDATA_OK;
    if (list->flows.count)
        qsort(list->flows.data, list->flows.count, sizeof *list->flows.data, by_place);
    for (size_t i = 0; i < list->flows.count && status >= 0; i++) {
        const struct pd_flow *flow = &list->flows.data[i];
        put_end(&x->out, &flow->from);
        pd_text_char(&x->out, ' ');
        put_end(&x->out, &flow->to);
        pd_text_char(&x->out, ' ');
        pd_text_u64(&x->out, flow->misses, 0, ' ');
        pd_text_char(&x->out, ' ');
        status = pd_branches_end_line(x, flow->count);
    }
    return status;
}

static perfdata_status put(struct pd_convert *x, struct pd_symbols *symbols,
                           const struct pd_flow_list *list)
{
    struct lines lines = { 0 };
    bool room = true;
    const char *arch = x->recording->features.arch.text.text;
    bool readable = !arch || !strcmp(arch, "x86_64");
    for (size_t i = 0; i < list->flows.count && room; i++) {
        const struct pd_flow *flow = &list->flows.data[i];
        if (flow->kind == PD_FLOW_BRANCH)
            room = add(&lines, flow);
        else if (readable)
            room = add_run(&lines, symbols, flow);
    }
    perfdata_status status = room ? put_lines(x, &lines.list) : pd_convert_no_memory(x);
    pd_intern_free(&lines.keys);
    pd_vec_free(&lines.list.flows);
    return status;
}

static perfdata_status run(struct pd_convert *x, const struct perfdata_profile_options *how,
                           struct perfdata_export_result *result)
{
    return pd_branches_run(x, how, result, "fdata", put);
}

const struct pd_format pd_format_fdata = { .flags = PERFDATA_FORMAT_OBJECT, .run = run };
