/* SPDX-License-Identifier: MIT */
/* Reports of branches: every branch of a sample's stack counts for itself, once. */
#include "render/report/collect.h"
#include "render/report/branch.h"
#include "render/report/draw.h"
#include "format/names.h"

/* ---- counting ---- */

/* An address in no map is of the mode that perf tries last: none that it shows, or a guest's kernel. What the host could be
 * is the host's. */
static char level_of(const struct state *state, const struct pd_location *location)
{
    if (!location->map)
        return state->shared->session->guests.wanted ? 'g' : 'H';
    bool hides = state->shared->plan->no_host;
    switch (location->level) {
    case 'g': return hides ? 'g' : 'k';
    case 'u': return hides ? 'u' : '.';
    default: return location->level;
    }
}

static struct pd_hist_place place_of(const struct state *state, const struct pd_location *location)
{
    return (struct pd_hist_place){ .dso = location->dso,
                                   .map = location->map,
                                   .symbol = location->sym,
                                   .ip = location->ip,
                                   .addr = location->addr,
                                   .map_bias = location->map ? location->ip - location->addr : 0,
                                   .level = level_of(state, location) };
}

/* The symbols of different objects are one where they lie at the same place in them. */
static uint64_t symbol_word(struct state *state, const struct pd_hist_place *place)
{
    return pd_hist_sym_id(&state->hist, NULL, place->symbol, place->ip);
}

static uint64_t line_word(struct state *state, const struct pd_hist_place *place)
{
    struct pd_location location = { .map = place->map, .sym = place->symbol };
    return pd_report_line_word(state, &location, place->addr, PD_KEY_SRCLINE);
}

uint64_t pd_report_branch_word(struct state *state, const struct pd_hist_access *access,
                               uint8_t key)
{
    uint64_t flags = access->flags;
    switch (key) {
    case PD_KEY_DSO_FROM: return pd_hist_dso_word(&state->hist.options, access->from.dso);
    case PD_KEY_DSO_TO: return pd_hist_dso_word(&state->hist.options, access->to.dso);
    case PD_KEY_SYMBOL_FROM: return symbol_word(state, &access->from);
    case PD_KEY_SYMBOL_TO: return symbol_word(state, &access->to);
    case PD_KEY_ADDR_FROM: return access->from.ip;
    case PD_KEY_ADDR_TO: return access->to.ip;
    case PD_KEY_MISPREDICT:
        return PD_BRANCH_PART(flags, MISPRED) | PD_BRANCH_PART(flags, PREDICTED) << 1;
    case PD_KEY_IN_TX: return PD_BRANCH_PART(flags, IN_TX);
    case PD_KEY_ABORT: return PD_BRANCH_PART(flags, ABORT);
    case PD_KEY_CYCLES: return PD_BRANCH_PART(flags, CYCLES);
    case PD_KEY_SRCLINE_FROM: return line_word(state, &access->from);
    case PD_KEY_SRCLINE_TO: return line_word(state, &access->to);
    default: return 0;
    }
}

static perfdata_status count_branch(struct state *state, struct sample_facts *facts,
                                    const struct pd_hist_access *access, uint32_t position,
                                    bool filtered)
{
    uint64_t key[PD_HIST_WORDS];
    pd_report_fill_key(state, facts, key);
    if (state->hist.options.keeps_log) {
        uint64_t *branch = key + 1 + state->hist.options.key_count;
        branch[0] = access->from.ip;
        branch[1] = access->to.ip;
        branch[2] = access->flags;
    }
    uint32_t id = pd_hist_entry_id(&state->hist, key);
    if (id == PD_HIST_NONE)
        return PERFDATA_ERROR_MEMORY;
    const struct pd_location *to = facts->location;
    struct pd_hist_first first = {
        .number = facts->number,
        .thread = facts->thread,
        .dso = to->dso,
        .symbol = to->sym,
        .addr = to->addr,
        .map_bias = access->to.map_bias,
        .map_size = to->map ? to->map->end - to->map->start : 0,
        .position = position,
        .level = to->level,
        .filtered = filtered,
    };
    bool ok = pd_hist_count_access(&state->hist, id, facts->sample->cpumode, &first, access);
    return ok ? 0 : PERFDATA_ERROR_MEMORY;
}

/* Where perf makes branch stacks of a trace, a branch that the trace tells is a stack of its own. */
static bool is_branch(const struct state *state, const struct sample_facts *facts)
{
    const struct pd_event *event = facts->event;
    return event->synthesised && state->shared->plan->itrace.last_branch &&
           event->attr.type == PD_TYPE_HARDWARE && event->attr.config == PD_HW_BRANCH_INSTRUCTIONS;
}

perfdata_status pd_report_count_branches(struct state *state, struct sample_facts *facts,
                                         bool filtered)
{
    const struct pd_sample *sample = facts->sample;
    char level = facts->location->level;
    bool hide = state->hist.options.hide_unresolved;
    bool alone = is_branch(state, facts);
    uint32_t count = alone ? 1 : sample->branch_count;
    perfdata_status status = 0;
    for (uint32_t i = 0; i < count && status == 0; i++) {
        struct pd_branch branch = alone ? (struct pd_branch){ sample->ip, sample->addr, 0 }
                                        : pd_branch_at(sample, i);
        const struct pd_location *from = pd_resolve_unmoded(state->resolver, facts->thread,
                                                            facts->number, branch.from),
                                 *to = pd_resolve_unmoded(state->resolver, facts->thread,
                                                          facts->number, branch.to);
        if (!from || !to)
            return PERFDATA_ERROR_MEMORY;
        if (hide && (!from->sym || !to->sym))
            continue;
        struct pd_hist_access access = { place_of(state, from), place_of(state, to), branch.flags };
        /* The row stands for the target, but the processor was where the sample was taken. */
        struct pd_location location = *to;
        location.addr = to->ip;
        location.level = level;
        location.memo[0] = location.memo[1] = 0;
        facts->location = &location;
        facts->access = &access;
        facts->period = 1;
        status = count_branch(state, facts, &access, i, filtered);
    }
    return status;
}

/* ---- columns ---- */

static void widen(uint32_t *width, size_t length)
{
    *width = (uint32_t)PD_MAX((size_t)*width, length);
}

static void measure_place(struct pd_report_table *table, const struct pd_hist_place *place,
                          uint8_t symbol_key, uint8_t dso_key, uint8_t address_key)
{
    const struct pd_report_plan *plan = table->plan;
    uint32_t *widths = table->widths, digits = table->address_digits;
    if (place->symbol) {
        widen(&widths[symbol_key],
              pd_symbol_width(place->symbol) + 4u + pd_report_origin_width(table));
        if (place->dso_name)
            widen(&widths[dso_key], strlen(place->dso_name));
        return;
    }
    widen(&widths[symbol_key], digits + 4 + 2);
    widen(&widths[address_key], digits + 4 + 2);
    if (widths[dso_key] < digits && !plan->options->column_widths && !plan->options->separator &&
        !plan->filter.has_dsos)
        widths[dso_key] = digits;
}

static const char *line_text(const struct pd_report_table *table, const struct pd_hist_row *row,
                             uint8_t key)
{
    uint64_t word = pd_hist_row_word(table->result, row, key);
    return pd_intern_text(&table->hist->names, (uint32_t)word);
}

void pd_report_branch_measure(struct pd_report_table *table, const struct pd_hist_row *row)
{
    const struct pd_hist_access *access = pd_hist_access_of(table->hist, row->entry);
    measure_place(table, &access->from, PD_KEY_SYMBOL_FROM, PD_KEY_DSO_FROM, PD_KEY_ADDR_FROM);
    measure_place(table, &access->to, PD_KEY_SYMBOL_TO, PD_KEY_DSO_TO, PD_KEY_ADDR_TO);
    if (row->met & PD_MET_LINE_FROM && table->widths[PD_KEY_SRCLINE_FROM])
        widen(&table->widths[PD_KEY_SRCLINE_FROM],
              strlen(line_text(table, row, PD_KEY_SRCLINE_FROM)));
    if (row->met & PD_MET_LINE_TO && table->widths[PD_KEY_SRCLINE_TO])
        widen(&table->widths[PD_KEY_SRCLINE_TO], strlen(line_text(table, row, PD_KEY_SRCLINE_TO)));
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

/* perf takes the address for one in memory, which it is not. */
static void put_data(const struct pd_hist_place *place, struct pd_text *out)
{
    pd_text_string(out, place->symbol->name);
    pd_text_format(out, "+0x%llx",
                   (unsigned long long)(place->addr - place->symbol->start - place->map_bias));
}

static void symbol_cell(const struct pd_report_table *table, const struct pd_hist_place *place,
                        size_t width, struct pd_text *out)
{
    pd_report_put_origin(table, place->dso, place->addr, place->map_bias, out);
    put_level(place->level, out);
    if (!place->symbol)
        put_address(table, place->addr, out);
    else if (place->symbol->type == 1 /* data */)
        put_data(place, out);
    else
        put_name(place->symbol, width, out);
}

static void address_cell(const struct pd_report_table *table, const struct pd_hist_row *row,
                         const struct pd_hist_place *place, size_t width, struct pd_text *out)
{
    put_level(row->entry->first.level, out);
    if (!place->symbol) {
        put_address(table, place->addr, out);
        return;
    }
    if (place->symbol->type == 1 /* data */) {
        put_data(place, out);
        return;
    }
    put_name(place->symbol, width, out);
    if (place->addr != place->symbol->start)
        pd_text_format(out, "+0x%llx", (unsigned long long)(place->addr - place->symbol->start));
}

/* Where the hardware says neither, perf says what it said in the row before. */
static const char *mispredict_text(const struct pd_report_table *table, uint64_t flags)
{
    if (PD_BRANCH_PART(flags, PREDICTED))
        *table->last_mispredict = "N";
    else if (PD_BRANCH_PART(flags, MISPRED))
        *table->last_mispredict = "Y";
    return *table->last_mispredict;
}

static const char *flag_text(const struct pd_report_table *table,
                             const struct pd_hist_access *access, uint8_t key)
{
    switch (key) {
    case PD_KEY_MISPREDICT: return mispredict_text(table, access->flags);
    case PD_KEY_IN_TX: return PD_BRANCH_PART(access->flags, IN_TX) ? "T" : ".";
    default: return PD_BRANCH_PART(access->flags, ABORT) ? "A" : ".";
    }
}

void pd_report_branch_cell(const struct pd_report_table *table, const struct pd_hist_row *row,
                           uint8_t key, size_t width, struct pd_text *out)
{
    const struct pd_hist_access *access = pd_hist_access_of(table->hist, row->entry);
    size_t begin = out->length;
    switch (key) {
    case PD_KEY_DSO_FROM:
    case PD_KEY_DSO_TO: {
        const char *name = key == PD_KEY_DSO_FROM ? access->from.dso_name : access->to.dso_name;
        name = name ? name : "[unknown]";
        pd_text_bytes(out, name, strnlen(name, width));
        break;
    }
    case PD_KEY_SYMBOL_FROM: symbol_cell(table, &access->from, width, out); return;
    case PD_KEY_SYMBOL_TO: symbol_cell(table, &access->to, width, out); return;
    case PD_KEY_ADDR_FROM: address_cell(table, row, &access->from, width, out); return;
    case PD_KEY_ADDR_TO: address_cell(table, row, &access->to, width, out); return;
    case PD_KEY_CYCLES: {
        uint64_t cycles = PD_BRANCH_PART(access->flags, CYCLES);
        if (cycles)
            pd_text_i64(out, (int16_t)cycles, 0);
        else
            pd_text_char(out, '-');
        break;
    }
    case PD_KEY_SRCLINE_FROM:
    case PD_KEY_SRCLINE_TO: {
        const char *line = line_text(table, row, key);
        pd_text_bytes(out, line, strnlen(line, width));
        break;
    }
    case PD_KEY_IPC_LBR: /* of cycles nothing is made yet */
        pd_text_string(out, row->symbol && !table->hist->has_cycles ? "0.00  [  0.0%]" : "-");
        break;
    default: {
        const char *text = flag_text(table, access, key);
        pd_text_bytes(out, text, strnlen(text, width));
    }
    }
    pd_text_pad(out, begin, width);
}

/* ---- --total-cycles ---- */

void pd_report_cycles_table(const struct pd_report_plan *plan, struct pd_text *out)
{
    static const struct {
        const char *title;
        uint32_t width;
    } columns[] = { { "Sampled Cycles%", 15 },       { "Sampled Cycles", 14 },
                    { "Avg Cycles%", 11 },           { "Avg Cycles", 10 },
                    { "[Program Block Range]", 70 }, { "Shared Object", 20 } };
    const char *given = plan->options->separator, *separator = given ? given : "  ";
    for (size_t i = 0; i < PD_LENGTH(columns); i++) {
        pd_text_string(out, i ? separator : "# ");
        pd_text_right(out, columns[i].title, strlen(columns[i].title), columns[i].width);
    }
    pd_text_char(out, '\n');
    if (given)
        return;
    for (size_t i = 0; i < PD_LENGTH(columns); i++) {
        pd_text_string(out, i ? "  " : "# ");
        pd_text_fill(out, '.', columns[i].width);
    }
    pd_text_string(out, "\n#\n");
}

/* ---- statistics ---- */

struct kinds {
    uint64_t of[64]; /* by the bit of enum pd_chain_end_part */
    uint64_t total;
};

/* perf asks an entry, not each of its branches. */
static void count_kind(struct kinds *kinds, const struct pd_hist_access *access, uint64_t count)
{
    struct pd_branch branch = { access->from.ip, access->to.ip, access->flags };
    uint64_t told = branch.from ? pd_branch_kinds(&branch) : 0;
    if (told && PD_BRANCH_PART(branch.flags, TYPE) != PD_BRANCH_EXTEND_ABI)
        kinds->total += count; /* of which even the extended ones are told a share */
    for (; told; told &= told - 1)
        kinds->of[__builtin_ctzll(told)] += count;
}

static void put_kind(const struct kinds *kinds, const char *name, uint64_t kind,
                     struct pd_text *out)
{
    uint64_t count = kinds->of[__builtin_ctzll(kind)];
    if (count && name)
        pd_text_format(out, "\n%8s: %5.1f%%", name, 100.0 * (double)count / (double)kinds->total);
}

void pd_report_branch_statistics(const struct pd_hist *hist, const struct pd_hist_result *result,
                                 struct pd_text *out)
{
    struct kinds kinds = { 0 };
    for (size_t i = 0; !hist->options.keeps_log && i < hist->entries.count; i++)
        count_kind(&kinds, &hist->accesses.data[i], hist->entries.data[i].count);
    for (size_t e = 0; hist->options.keeps_log && e < result->event_count; e++)
        for (size_t i = 0; i < result->events[e].rows.count; i++) {
            const struct pd_hist_row *row = result->events[e].rows.data[i];
            count_kind(&kinds, pd_hist_access_of(hist, row->entry), row->count);
        }
    if (!kinds.total)
        return;
    pd_text_string(out, "\n#\n# Branch Statistics:\n#");
    put_kind(&kinds, "COND_FWD", PD_END_FORWARD, out);
    put_kind(&kinds, "COND_BWD", PD_END_BACKWARD, out);
    put_kind(&kinds, "CROSS_4K", PD_END_CROSS_4K, out);
    put_kind(&kinds, "CROSS_2M", PD_END_CROSS_2M, out);
    for (unsigned i = 0; i < PD_BRANCH_EXTEND_ABI; i++)
        put_kind(&kinds, pd_name_of(&pd_names_branch_type, i),
                 UINT64_C(1) << (PD_END_TYPE_SHIFT + i), out);
    for (unsigned i = 0; i < 1U << PD_BRANCH_WIDTH_NEW_TYPE; i++)
        put_kind(&kinds, pd_name_of(&pd_names_branch_new_type, i),
                 UINT64_C(1) << (PD_END_NEW_TYPE_SHIFT + i), out);
}
