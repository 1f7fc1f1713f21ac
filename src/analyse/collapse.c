/* SPDX-License-Identifier: MIT */
/* Entries to rows: names that became equal are joined, the events of a group stand side by side. */
#include "analyse/order.h"
#include <stdlib.h>

/* For each comm the first with the same final text. */
static uint32_t *same_comms(struct pd_hist *hist, const char ***texts)
{
    size_t count = hist->comms.count;
    uint32_t *same = calloc(count + 1, sizeof *same);
    uint32_t *by_name = calloc(hist->names.strings.count + count + 1, sizeof *by_name);
    *texts = malloc((count + 1) * sizeof **texts);
    bool ok = same && by_name && *texts;
    for (size_t i = 0; ok && i < count; i++) {
        const char *text = (*texts)[i] = pd_comm_final_text(hist->comms.data[i].comm);
        uint32_t name = pd_hist_name_id(hist, text);
        ok = name != PD_HIST_NONE;
        if (ok && !by_name[name])
            by_name[name] = (uint32_t)i + 1;
        if (ok)
            same[i] = by_name[name] - 1;
    }
    free(by_name);
    if (ok)
        return same;
    free(same);
    free(*texts);
    *texts = NULL;
    return NULL;
}

static struct pd_hist_row *row_new(struct pd_hist_result *result, const struct pd_hist_entry *entry,
                                   uint32_t event)
{
    struct pd_hist_row *row = pd_arena_zalloc(&result->arena, sizeof *row);
    if (!row)
        return NULL;
    row->entry = entry;
    row->event = event;
    row->index = (uint32_t)result->all.count;
    if (!pd_vec_push(&result->all, row))
        return NULL;
    return row;
}

static void row_add(struct pd_hist_row *row, const struct pd_hist_entry *entry)
{
    PD_HIST_ADD(row, entry);
    row->children_period += entry->children_period;
    row->children_count += entry->children_count;
    row->max_depth = PD_MAX(row->max_depth, entry->max_depth);
    if (pd_hist_is_first(&row->entry->first, entry->first.number, entry->first.position))
        row->entry = entry;
}

static const char *name_of(struct pd_symbols *symbols, const struct pd_hist_options *options,
                           const struct pd_dso *dso)
{
    if (!dso)
        return NULL;
    return options->long_names ? pd_symbols_long_name(symbols, dso)
                               : pd_symbols_short_name(symbols, dso);
}

static void row_name(struct pd_hist_row *row, const struct pd_hist *hist, const uint64_t *key,
                     const char **comms, struct pd_symbols *symbols, const char *symbol_filter)
{
    const struct pd_hist_first *first = &row->entry->first;
    int at = pd_hist_key_at(&hist->options, PD_KEY_COMM);
    if (at)
        row->comm = key[at] == PD_HIST_NONE ? "" : comms[key[at]];
    at = pd_hist_key_at(&hist->options, PD_KEY_PARENT);
    if (at && key[at] != PD_HIST_NONE)
        row->parent = pd_intern_text(&hist->names, (uint32_t)key[at]);
    at = pd_hist_key_at(&hist->options, PD_KEY_TRACE);
    if (at && key[at] != PD_HIST_NONE)
        row->trace = pd_intern_text(&hist->names, (uint32_t)key[at]);
    at = pd_hist_key_at(&hist->options, PD_KEY_SRCLINE);
    if (at && key[at] != PD_HIST_NONE)
        row->line = pd_intern_text(&hist->names, (uint32_t)key[at]);
    at = pd_hist_key_at(&hist->options, PD_KEY_SRCFILE);
    if (at && key[at] != PD_HIST_NONE)
        row->file = pd_intern_text(&hist->names, (uint32_t)key[at]);
    row->dso = name_of(symbols, &hist->options, first->dso);
    row->symbol = first->symbol ? first->symbol->name : NULL;
    row->addr = first->addr;
    row->filtered = first->filtered;
    /* perf applies these two while collapsing, which it does for comms and levels only; the second
     * one to the first event. */
    const bool collapses = row->comm || hist->options.levels;
    if (!collapses)
        row->filtered &= PD_FILTERED_SAMPLE;
    if (symbol_filter && collapses && !row->event &&
        (!row->symbol || !strstr(row->symbol, symbol_filter)))
        row->filtered |= PD_FILTERED_NAME;
}

/* Whether no two comms have become the same: then entries stay apart, and each is a row. */
static bool comms_differ(const struct pd_hist *hist, const uint32_t *same)
{
    for (size_t i = 0; i < hist->comms.count; i++)
        if (same[i] != i)
            return false;
    return true;
}

/* The entry of `joined` that has the key of an entry with its final comm. */
static uint32_t joined_id(const struct pd_hist *hist, const uint32_t *same, uint32_t entry,
                          struct pd_hist *joined)
{
    int comm_at = pd_hist_key_at(&hist->options, PD_KEY_COMM);
    uint64_t words[PD_HIST_WORDS];
    memcpy(words, pd_hist_key_of(hist, entry), hist->words * sizeof *words);
    if (comm_at && words[comm_at] != PD_HIST_NONE)
        words[comm_at] = same[words[comm_at]];
    return pd_hist_entry_id(joined, words);
}

static bool collect_rows(struct pd_hist *hist, const uint32_t *same, struct pd_hist_result *out)
{
    bool apart = out->identities == hist;
    if (!pd_vec_reserve(&out->all, hist->entries.count) ||
        (!apart && !pd_hist_reserve(&out->joined, hist->entries.count)))
        return false;
    for (size_t i = 0; i < hist->entries.count; i++) {
        const struct pd_hist_entry *entry = &hist->entries.data[i];
        const uint64_t *words = pd_hist_key_of(hist, (uint32_t)i);
        uint32_t id = apart ? (uint32_t)i : joined_id(hist, same, (uint32_t)i, &out->joined);
        if (id == PD_HIST_NONE)
            return false;
        if (id == out->all.count && !row_new(out, entry, (uint32_t)words[0]))
            return false;
        row_add(out->all.data[id], entry);
        out->row_of_entry[i] = id;
        struct pd_hist_event *event = &out->events[words[0]];
        event->count += entry->count;
        event->chain_period += entry->period;
        if (!(entry->first.filtered & PD_FILTERED_SAMPLE)) {
            event->count_unfiltered += entry->count;
            event->chain_period_unfiltered += entry->period;
        }
    }
    return true;
}

static struct pd_hist_event *event_of(const struct pd_hist_result *result, uint32_t logged)
{
    uint32_t row = result->row_of_entry[logged & PD_HIST_LOG_ENTRY];
    return &result->events[result->all.data[row]->event];
}

/* Gives each event its part of the log. */
static bool split_log(const struct pd_hist *hist, struct pd_hist_result *out)
{
    uint32_t *at = pd_arena_alloc(&out->arena, (hist->log.count + 1) * sizeof *at);
    if (!at)
        return false;
    for (size_t i = 0; i < hist->log.count; i++)
        event_of(out, hist->log.data[i])->log_count++;
    for (size_t i = 0; i < out->event_count; i++) {
        struct pd_hist_event *event = &out->events[i];
        event->log = at;
        at += event->log_count;
        event->log_count = 0;
    }
    for (size_t i = 0; i < hist->log.count; i++) {
        struct pd_hist_event *event = event_of(out, hist->log.data[i]);
        event->log[event->log_count++] = hist->log.data[i];
    }
    return true;
}

perfdata_status pd_hist_collapse(struct pd_hist *hist, size_t event_count,
                                 struct pd_symbols *symbols, const char *symbol_filter,
                                 struct pd_hist_result *out)
{
    memset(out, 0, sizeof *out);
    pd_hist_init_keys(&out->joined, &hist->options);
    out->event_count = event_count;
    out->events = pd_arena_zalloc(&out->arena, (event_count + 1) * sizeof *out->events);
    out->row_of_entry = pd_arena_alloc(&out->arena,
                                       (hist->entries.count + 1) * sizeof *out->row_of_entry);
    const char **comms = NULL;
    uint32_t *same = same_comms(hist, &comms);
    out->identities = same && comms_differ(hist, same) ? hist : &out->joined;
    pd_hist_forget_entries(hist);
    bool ok = out->events && out->row_of_entry && same && collect_rows(hist, same, out) &&
              split_log(hist, out);
    for (size_t i = 0; ok && i < out->all.count; i++) {
        struct pd_hist_row *row = out->all.data[i];
        struct pd_hist_event *event = &out->events[row->event];
        row_name(row, hist, pd_hist_key_of(out->identities, (uint32_t)i), comms, symbols,
                 symbol_filter);
        event->period += row->period;
        event->latency += row->latency;
        if (!row->filtered) {
            event->period_unfiltered += row->period;
            event->latency_unfiltered += row->latency;
        }
        ok = pd_vec_push(&event->rows, row);
    }
    for (size_t i = 0; i < hist->accesses.count; i++) {
        struct pd_hist_access *access = &hist->accesses.data[i];
        access->from.dso_name = name_of(symbols, &hist->options, access->from.dso);
        access->to.dso_name = name_of(symbols, &hist->options, access->to.dso);
    }
    out->row_count_with_entry = out->all.count;
    free(comms);
    free(same);
    return ok ? 0 : PERFDATA_ERROR_MEMORY;
}

void pd_hist_result_free(struct pd_hist_result *result)
{
    for (size_t i = 0; result->events && i < result->event_count; i++) {
        pd_vec_free(&result->events[i].rows);
        pd_vec_free(&result->events[i].levels);
    }
    pd_vec_free(&result->all);
    pd_hist_free(&result->joined);
    pd_arena_free(&result->arena);
    memset(result, 0, sizeof *result);
}

/* ---- groups ---- */

/* Gives the rows keys of their own, as rows come that no entry has. */
static bool separate_keys(struct pd_hist_result *result)
{
    const struct pd_hist *hist = result->identities;
    if (hist == &result->joined)
        return true;
    if (!pd_hist_reserve(&result->joined, result->all.count))
        return false;
    for (uint32_t i = 0; i < result->all.count; i++)
        if (pd_hist_entry_id(&result->joined, pd_hist_key_of(hist, i)) == PD_HIST_NONE)
            return false;
    result->identities = &result->joined;
    return true;
}

static struct pd_hist_row *leader_row(struct pd_hist_result *result, uint32_t leader,
                                      const struct pd_hist_row *row)
{
    uint64_t words[PD_HIST_WORDS];
    memcpy(words, pd_hist_key_of(&result->joined, row->index),
           result->joined.words * sizeof *words);
    words[0] = leader;
    uint32_t id = pd_hist_entry_id(&result->joined, words);
    if (id == PD_HIST_NONE)
        return NULL;
    if (id < result->all.count)
        return result->all.data[id];
    struct pd_hist_row *added = row_new(result, row->entry, leader);
    if (!added)
        return NULL;
    added->filtered = row->filtered;
    added->comm = row->comm;
    added->dso = row->dso;
    added->parent = row->parent;
    added->symbol = row->symbol;
    added->trace = row->trace;
    added->line = row->line;
    added->file = row->file;
    added->addr = row->addr;
    return pd_vec_push(&result->events[leader].rows, added) ? added : NULL;
}

perfdata_status pd_hist_link(struct pd_hist_result *result, const uint32_t *events, size_t count)
{
    if (!separate_keys(result))
        return PERFDATA_ERROR_MEMORY;
    for (size_t m = 1; m < count; m++) {
        const struct pd_hist_event *event = &result->events[events[m]];
        for (size_t i = 0; i < event->rows.count; i++) {
            struct pd_hist_row *row = event->rows.data[i],
                               *leader = leader_row(result, events[0], row);
            if (!leader)
                return PERFDATA_ERROR_MEMORY;
            if (!leader->members)
                leader->members = pd_arena_zalloc(&result->arena,
                                                  (count - 1) * sizeof *leader->members);
            if (!leader->members)
                return PERFDATA_ERROR_MEMORY;
            leader->members[m - 1] = row;
        }
    }
    return 0;
}
