/* SPDX-License-Identifier: MIT */
/* A query -> the weight of each stack; rows of keys with their own and their total weights. */
#include "profile/query.h"
#include <stdlib.h>

void perfdata_rows_free(void *rows)
{
    free(rows);
}

/* ---- the weight of each stack ---- */

static bool *mark_threads(const struct pd_query *query)
{
    const perfdata_profile *profile = query->profile;
    bool *wanted = calloc((size_t)profile->threads.count + 1, sizeof *wanted);
    if (!wanted)
        return NULL;
    if (!query->asked.threads)
        memset(wanted, true, profile->threads.count);
    for (size_t i = 0; query->asked.threads && i < query->asked.thread_count; i++)
        if (query->asked.threads[i] < profile->threads.count)
            wanted[query->asked.threads[i]] = true;
    return wanted;
}

static void weigh_sums(struct pd_query *query, const bool *threads)
{
    const perfdata_profile *profile = query->profile;
    uint32_t event = query->asked.event;
    for (size_t i = 0; i < profile->sums.count; i++) {
        const struct perfdata_profile_sum *sum = &profile->sums.data[i];
        if ((event != PERFDATA_NONE && sum->event != event) || !threads[sum->thread])
            continue;
        query->own[sum->stack].count += sum->count;
        query->own[sum->stack].weight += sum->weight;
    }
}

static void weigh_samples(struct pd_query *query, const bool *threads)
{
    const struct pd_profile_columns *columns = &query->profile->columns;
    const struct perfdata_query *asked = &query->asked;
    bool any_time = !asked->from && !asked->to;
    for (size_t i = 0; i < columns->time.count; i++) {
        uint64_t time = columns->time.data[i];
        if ((!any_time && (time < asked->from || time > asked->to)) ||
            (asked->event != PERFDATA_NONE && columns->event.data[i] != asked->event) ||
            !threads[columns->thread.data[i]])
            continue;
        struct pd_weight *own = &query->own[columns->stack.data[i]];
        own->count++;
        own->weight += columns->weight.data[i];
    }
}

perfdata_status pd_query_open(const perfdata_profile *profile, const struct perfdata_query *query,
                              struct pd_query *out)
{
    memset(out, 0, sizeof *out);
    if (!profile || !query || query->struct_size < sizeof query->struct_size)
        return PERFDATA_ERROR_ARGUMENT;
    out->profile = profile;
    out->asked = (struct perfdata_query)PERFDATA_QUERY_INIT;
    memcpy(&out->asked, query, PD_MIN(query->struct_size, sizeof out->asked));
    switch (out->asked.key) {
    case PERFDATA_BY_FUNCTION: out->key_count = profile->functions.count; break;
    case PERFDATA_BY_FRAME: out->key_count = profile->frames.count; break;
    case PERFDATA_BY_OBJECT: out->key_count = profile->objects.count + 1; break;
    default: return PERFDATA_ERROR_ARGUMENT;
    }
    bool timed = out->asked.from || out->asked.to, summed = profile->sums.count;
    if ((timed || !summed) && !profile->keeps_samples && profile->sample_count)
        return PERFDATA_ERROR_NO_DATA;
    out->own = calloc((size_t)profile->stacks.count + 1, sizeof *out->own);
    bool *threads = mark_threads(out);
    if (out->own && threads) {
        if (timed || !summed)
            weigh_samples(out, threads);
        else
            weigh_sums(out, threads);
    }
    bool ok = out->own && threads;
    free(threads);
    if (!ok)
        pd_query_close(out);
    return ok ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;
}

void pd_query_close(struct pd_query *query)
{
    free(query->own);
    query->own = NULL;
}

/* ---- keys ---- */

uint32_t pd_query_key(const struct pd_query *query, uint32_t stack)
{
    uint32_t frame = pd_profile_stack(query->profile, stack)->frame;
    if (query->asked.key == PERFDATA_BY_FRAME)
        return frame;
    uint32_t function = pd_profile_frame(query->profile, frame)->function;
    if (query->asked.key == PERFDATA_BY_FUNCTION)
        return function;
    uint32_t object = pd_profile_function(query->profile, function)->object;
    return object == PERFDATA_NONE ? query->key_count - 1 : object;
}

static bool is_inlined(const perfdata_profile *profile, uint32_t stack)
{
    uint32_t function =
        pd_profile_frame(profile, pd_profile_stack(profile, stack)->frame)->function;
    return pd_profile_function(profile, function)->flags & PERFDATA_FUNCTION_INLINED;
}

uint32_t pd_query_self(const struct pd_query *query, uint32_t stack)
{
    const perfdata_profile *profile = query->profile;
    uint32_t outer = stack;
    if (!(query->asked.flags & PERFDATA_QUERY_OUTER_SELF))
        return stack;
    while (outer != PERFDATA_NONE && is_inlined(profile, outer))
        outer = pd_profile_stack(profile, outer)->parent;
    return outer == PERFDATA_NONE ? stack : outer;
}

/* ---- rows ---- */

/* The tree of stacks, to be walked without recursion: the first callee of each, and the next one of
 * its caller. */
struct links {
    uint32_t *first, *next, root;
};

static bool link_stacks(const perfdata_profile *profile, struct links *links)
{
    uint32_t count = profile->stacks.count;
    links->first = malloc(((size_t)count + 1) * sizeof *links->first);
    links->next = malloc(((size_t)count + 1) * sizeof *links->next);
    links->root = PERFDATA_NONE;
    if (!links->first || !links->next)
        return false;
    memset(links->first, 0xff, (size_t)count * sizeof *links->first);
    for (uint32_t i = count; i-- > 0;) {
        uint32_t parent = pd_profile_stack(profile, i)->parent;
        uint32_t *head = parent == PERFDATA_NONE ? &links->root : &links->first[parent];
        links->next[i] = *head;
        *head = i;
    }
    return true;
}

static void free_links(struct links *links)
{
    free(links->first);
    free(links->next);
}

/* For each stack, what it and all stacks that begin with it weigh. */
static struct pd_weight *weigh_all(const struct pd_query *query)
{
    const perfdata_profile *profile = query->profile;
    uint32_t count = profile->stacks.count;
    struct pd_weight *all = malloc(((size_t)count + 1) * sizeof *all);
    if (!all)
        return NULL;
    memcpy(all, query->own, (size_t)count * sizeof *all);
    for (uint32_t i = count; i-- > 0;) { /* callees have greater numbers than their callers */
        uint32_t parent = pd_profile_stack(profile, i)->parent;
        if (parent == PERFDATA_NONE)
            continue;
        all[parent].count += all[i].count;
        all[parent].weight += all[i].weight;
    }
    return all;
}

/* Totals: a key's weight counts where it comes first on a path, not again below. */
static void add_totals(const struct pd_query *query, const struct links *links,
                       const struct pd_weight *all, uint32_t *on_path, struct perfdata_row *rows)
{
    uint32_t at = links->root;
    while (at != PERFDATA_NONE) {
        uint32_t key = pd_query_key(query, at);
        if (!on_path[key]++) {
            rows[key].total_count += all[at].count;
            rows[key].total_weight += all[at].weight;
        }
        if (links->first[at] != PERFDATA_NONE && all[at].count) {
            at = links->first[at];
            continue;
        }
        on_path[key]--;
        while (links->next[at] == PERFDATA_NONE) {
            at = pd_profile_stack(query->profile, at)->parent;
            if (at == PERFDATA_NONE)
                return;
            on_path[pd_query_key(query, at)]--;
        }
        at = links->next[at];
    }
}

static int by_weight(const void *a, const void *b)
{
    const struct perfdata_row *left = a, *right = b;
    if (left->self_weight != right->self_weight)
        return left->self_weight > right->self_weight ? -1 : 1;
    if (left->total_weight != right->total_weight)
        return left->total_weight > right->total_weight ? -1 : 1;
    return left->key < right->key ? -1 : 1;
}

static size_t keep_used(const struct pd_query *query, struct perfdata_row *rows)
{
    size_t kept = 0;
    for (uint32_t i = 0; i < query->key_count; i++) {
        if (!rows[i].total_count)
            continue;
        rows[kept] = rows[i];
        rows[kept++].key = pd_query_shown(query, i);
    }
    if (kept)
        qsort(rows, kept, sizeof *rows, by_weight);
    return kept;
}

static struct perfdata_row *make_rows(const struct pd_query *query)
{
    struct links links = { 0 };
    struct pd_weight *all = weigh_all(query);
    uint32_t *on_path = calloc((size_t)query->key_count + 1, sizeof *on_path);
    struct perfdata_row *rows = calloc((size_t)query->key_count + 1, sizeof *rows);
    bool ok = all && on_path && rows && link_stacks(query->profile, &links);
    if (ok)
        add_totals(query, &links, all, on_path, rows);
    for (uint32_t i = 0; ok && i < query->profile->stacks.count; i++) {
        if (!query->own[i].count)
            continue;
        struct perfdata_row *row = &rows[pd_query_key(query, pd_query_self(query, i))];
        row->self_count += query->own[i].count;
        row->self_weight += query->own[i].weight;
    }
    free(all);
    free(on_path);
    free_links(&links);
    if (ok)
        return rows;
    free(rows);
    return NULL;
}

perfdata_status perfdata_profile_rows(const perfdata_profile *profile,
                                      const struct perfdata_query *query,
                                      struct perfdata_row **rows, size_t *count)
{
    struct pd_query open;
    *rows = NULL;
    *count = 0;
    perfdata_status status = pd_query_open(profile, query, &open);
    if (status < 0)
        return status;
    *rows = make_rows(&open);
    if (*rows)
        *count = keep_used(&open, *rows);
    else
        status = PERFDATA_ERROR_MEMORY;
    pd_query_close(&open);
    return status;
}
