/* SPDX-License-Identifier: MIT */
/* Reports of branches: every branch of a sample's stack counts for itself, once. */
#include "render/report/collect.h"
#include "render/report/branch.h"
#include "format/names.h"

/* ---- counting ---- */

/* An address in no map has the mode that perf tries last: 'H', which it does not show, or a guest's
 * kernel. Where the address may be the host's, it is taken for the host's. */
static char level_of(const struct pd_report_state *state, const struct pd_location *location)
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

static struct pd_hist_place place_of(const struct pd_report_state *state,
                                     const struct pd_location *location)
{
    return pd_report_place(location, level_of(state, location));
}

static perfdata_status count_branch(struct pd_report_state *state, struct pd_report_facts *facts,
                                    const struct pd_hist_access *access, uint32_t position,
                                    uint8_t filtered)
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

/* Whether the sample itself is a branch. Where perf makes branch stacks of a trace, each branch
 * that the trace tells is a stack of one. */
static bool is_branch(const struct pd_report_state *state, const struct pd_report_facts *facts)
{
    const struct pd_event *event = facts->event;
    return event->synthesised && state->shared->plan->itrace.last_branch &&
           event->attr.type == PD_TYPE_HARDWARE && event->attr.config == PD_HW_BRANCH_INSTRUCTIONS;
}

perfdata_status pd_report_count_branches(struct pd_report_state *state,
                                         struct pd_report_facts *facts, uint8_t filtered)
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

/* Counts the kinds of an entry's first branch. perf looks at an entry once, not at each branch of
 * it. */
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
