/* SPDX-License-Identifier: MIT */
/* Samples -> branches and runs, counted.
 *
 * Workers look addresses up and leave each step as a struct pd_flow; one call at a time adds them
 * up. Of a trace a run needs the thread's branch before, which only the order knows. */
#include "convert/branches/branches.h"
#include "itrace/synth.h"
#include <stdlib.h>

/* What a worker leaves: `flow` with a count of 1. */
struct step {
    struct pd_flow flow;
    bool is_async;   /* an interrupt: it came before the instruction that it leaves from */
    uint64_t trace;  /* number of its buffer + 1; 0: from a branch stack, runs are there as well */
    uint32_t thread; /* with `trace` */
};

struct last_branch {
    struct pd_flow_end from, to;
    uint64_t trace;
};

/* What tells flows apart. */
struct flow_key {
    uint64_t from, to;
    uint32_t from_object, to_object, kind, zero;
};

struct branches {
    pd_branches_fn put;
    struct pd_intern keys;
    struct pd_flow_list list; /* by id in keys */
    PD_VEC(struct last_branch) last;
};

/* ---- workers ---- */

static bool is_branch_event(const struct pd_event *event)
{
    return event->attr.type == PD_TYPE_HARDWARE && event->attr.config == PD_HW_BRANCH_INSTRUCTIONS;
}

static bool find(struct pd_profile_worker *worker, const struct pd_delivered *record,
                 uint8_t cpumode, uint64_t ip, struct pd_flow_end *out)
{
    *out = (struct pd_flow_end){ 0 };
    if (!ip)
        return true;
    const struct pd_location *at = pd_resolve_any(worker->resolver, record->thread, record->number,
                                                  cpumode, ip);
    if (!at)
        return false;
    *out = (struct pd_flow_end){ at->dso ? at->map : NULL, at->sym, at->addr, at->addr };
    return true;
}

static void put_step(struct pd_text *out, const struct step *step)
{
    pd_text_bytes(out, step, sizeof *step);
}

static bool same_object(const struct pd_flow_end *a, const struct pd_flow_end *b)
{
    return a->map && b->map && a->map->dso == b->map->dso;
}

/* The straight line from where `before` led to where `after` left; false: there is none. */
static bool make_run(const struct pd_flow_end *origin, const struct pd_flow_end *begin,
                     const struct pd_flow_end *end, struct pd_flow *out)
{
    if (!same_object(begin, end) || begin->address > end->address)
        return false;
    *out = (struct pd_flow){ .from = *begin, .to = *end, .count = 1 };
    out->kind = same_object(origin, begin) ? PD_FLOW_RUN : PD_FLOW_ENTERED_RUN;
    return true;
}

/* Where only some branches are recorded, calls or those of a stack, code between two of them need
 * not have run in a straight line. */
static bool has_all_branches(const struct pd_event *event)
{
    const uint64_t some = PD_BRANCH_SAMPLE_ANY_CALL | PD_BRANCH_SAMPLE_ANY_RETURN |
                          PD_BRANCH_SAMPLE_IND_CALL | PD_BRANCH_SAMPLE_COND |
                          PD_BRANCH_SAMPLE_CALL_STACK | PD_BRANCH_SAMPLE_IND_JUMP |
                          PD_BRANCH_SAMPLE_CALL;
    const uint64_t type = event->attr.branch_sample_type;
    return type & PD_BRANCH_SAMPLE_ANY || !(type & some);
}

/* The newest branch comes first. */
static void put_stack(struct pd_profile_worker *worker, const struct pd_delivered *record,
                      const struct pd_sample *sample, struct pd_text *out)
{
    struct pd_flow_end next = { 0 };
    const bool runs = has_all_branches(record->event);
    for (uint32_t i = 0; i < sample->branch_count; i++) {
        struct pd_branch branch = pd_branch_at(sample, i);
        struct step step = { .flow = { .count = 1, .kind = PD_FLOW_BRANCH } };
        struct step run = { 0 };
        struct pd_flow *flow = &step.flow;
        flow->misses = PD_BRANCH_PART(branch.flags, MISPRED);
        if (!find(worker, record, sample->cpumode, branch.from, &flow->from) ||
            !find(worker, record, sample->cpumode, branch.to, &flow->to)) {
            out->failed = true;
            return;
        }
        put_step(out, &step);
        if (i && runs && make_run(&flow->from, &flow->to, &next, &run.flow))
            put_step(out, &run);
        next = flow->from;
    }
}

static void put_sample(struct pd_direct *direct, struct pd_profile_worker *worker,
                       const struct pd_delivered *record, const struct pd_profile_taken *taken,
                       struct pd_text *out)
{
    const struct pd_sample *sample = taken->sample;
    const struct pd_synth_facts *facts = record->facts;
    (void)direct;
    if (!facts || facts->recorded || !is_branch_event(record->event)) {
        put_stack(worker, record, sample, out);
        return;
    }
    struct step step = { .flow = { .count = 1, .kind = PD_FLOW_BRANCH },
                         .trace = facts->trace + 1,
                         .thread = record->thread->index };
    out->failed |= !find(worker, record, sample->cpumode, sample->ip, &step.flow.from) ||
                   !find(worker, record, sample->cpumode, facts->to, &step.flow.to);
    step.is_async = facts->flags & PD_IP_ASYNC;
    put_step(out, &step);
}

/* ---- in order ---- */

static bool add(struct branches *b, const struct pd_flow *flow)
{
    struct flow_key key = { .from = flow->from.address, .to = flow->to.address };
    key.from_object = flow->from.map ? flow->from.map->dso->index : UINT32_MAX;
    key.to_object = flow->to.map ? flow->to.map->dso->index : UINT32_MAX;
    key.kind = flow->kind;
    if (!flow->from.map && !flow->to.map)
        return true;
    return pd_flow_add(&b->list, &b->keys, &key, sizeof key, flow);
}

static bool add_traced(struct branches *b, const struct step *step, bool runs)
{
    struct pd_flow run;
    while (b->last.count <= step->thread)
        if (!pd_vec_push(&b->last, (struct last_branch){ 0 }))
            return false;
    struct last_branch *last = &b->last.data[step->thread];
    if (runs && last->trace == step->trace &&
        make_run(&last->from, &last->to, &step->flow.from, &run)) {
        run.cut = step->is_async;
        if (!(run.cut && run.from.address == run.to.address) && !add(b, &run))
            return false;
    }
    *last = (struct last_branch){ step->flow.from, step->flow.to, step->trace };
    return add(b, &step->flow);
}

static perfdata_status take(struct pd_direct *direct, const char *bytes, size_t size)
{
    struct branches *b = direct->state;
    if (direct->shared.filter.span_count > 1)
        return pd_fail(direct->x->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "what ran between branches is not known across several ranges of time");
    const bool runs = !direct->shared.itrace.calls && !direct->shared.itrace.returns;
    for (size_t i = 0; i + sizeof(struct step) <= size; i += sizeof(struct step)) {
        struct step step;
        memcpy(&step, bytes + i, sizeof step);
        if (!(step.trace ? add_traced(b, &step, runs) : add(b, &step.flow)))
            return pd_convert_no_memory(direct->x);
    }
    return PERFDATA_OK;
}

/* ---- one object ---- */

static bool is_named(struct pd_symbols *symbols, const struct pd_dso *dso, const char *name)
{
    char hex[2 * PD_BUILD_ID_MAX + 1];
    struct pd_build_id id = pd_symbols_build_id(symbols, dso);
    pd_build_id_text(&id, hex);
    return !strcmp(name, pd_symbols_short_name(symbols, dso)) ||
           !strcmp(name, pd_symbols_long_name(symbols, dso)) || !strcmp(name, dso->name) ||
           (id.size && !strcmp(name, hex));
}

struct candidate {
    const struct pd_dso *dso;
    uint64_t count;
};

/* The object that is asked for, else the one with most branches; NULL: there is none. */
static const struct pd_dso *choose(struct pd_direct *direct, const struct pd_flow_list *list,
                                   bool *failed)
{
    const char *name = direct->x->options->object;
    struct pd_symbols *symbols = direct->shared.session.symbols;
    PD_VEC(struct candidate) all = { 0 };
    struct candidate best = { 0 };
    for (size_t i = 0; i < list->flows.count && !*failed; i++) {
        const struct pd_flow *flow = &list->flows.data[i];
        const struct pd_map *map = flow->from.map ? flow->from.map : flow->to.map;
        while (!*failed && all.count <= map->dso->index)
            *failed = !pd_vec_push(&all, (struct candidate){ 0 });
        if (*failed || flow->kind != PD_FLOW_BRANCH)
            continue;
        all.data[map->dso->index].dso = map->dso;
        all.data[map->dso->index].count += flow->count;
    }
    for (size_t i = 0; i < all.count; i++)
        if (all.data[i].count > best.count && (!name || is_named(symbols, all.data[i].dso, name)))
            best = all.data[i];
    pd_vec_free(&all);
    return best.dso;
}

/* The end as the file counts; what is not of the object becomes 0. */
static void localise(struct pd_symbols *symbols, const struct pd_dso *dso, struct pd_flow_end *end)
{
    if (!end->map || end->map->dso != dso)
        *end = (struct pd_flow_end){ 0 };
    else
        pd_symbols_file_address(symbols, end->map, &end->address);
}

static int by_place(const void *a, const void *b)
{
    const struct pd_flow *left = a, *right = b;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    return pd_flow_order(left, right);
}

/* Keeps what is of the object, and makes one of what leads to the outside. */
static void keep(struct pd_symbols *symbols, const struct pd_dso *dso, struct pd_flow_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->flows.count; i++) {
        struct pd_flow flow = list->flows.data[i];
        localise(symbols, dso, &flow.from);
        localise(symbols, dso, &flow.to);
        if (flow.from.map || flow.to.map)
            list->flows.data[kept++] = flow;
    }
    if (kept)
        qsort(list->flows.data, kept, sizeof *list->flows.data, by_place);
    list->flows.count = 0;
    for (size_t i = 0; i < kept; i++) {
        struct pd_flow *before = list->flows.count ? &list->flows.data[list->flows.count - 1]
                                                   : NULL;
        if (before && !by_place(before, &list->flows.data[i])) {
            before->count += list->flows.data[i].count;
            before->misses += list->flows.data[i].misses;
            before->cut += list->flows.data[i].cut;
        } else {
            list->flows.data[list->flows.count++] = list->flows.data[i];
        }
    }
}

static perfdata_status finish(struct pd_direct *direct)
{
    struct branches *b = direct->state;
    struct pd_convert *x = direct->x;
    bool failed = false;
    const struct pd_dso *dso = choose(direct, &b->list, &failed);
    if (failed)
        return pd_convert_no_memory(x);
    if (!b->list.flows.count)
        return pd_fail(x->context, PERFDATA_ERROR_NO_DATA, -1,
                       "the recording has neither branch stacks nor branches of a trace");
    if (!dso)
        return pd_fail(x->context, PERFDATA_ERROR_NO_DATA, -1,
                       "the recording has no branches of an object '%s'",
                       x->options->object ? x->options->object : "");
    keep(direct->shared.session.symbols, dso, &b->list);
    return b->put(x, direct->shared.session.symbols, &b->list);
}

/* ---- a run of it ---- */

static perfdata_status check(struct pd_convert *x, const struct perfdata_profile_options *how,
                             const char *form)
{
    const char *wrong = how->dsos || how->symbols || how->address_range
                            ? "samples chosen by their place: see its option for an object"
                        : how->cpus ? "a choice of CPUs"
                                    : NULL;
    perfdata_status status = pd_direct_check(x, how, form);
    return status >= 0 && wrong
               ? pd_fail(x->context, PERFDATA_ERROR_ARGUMENT, -1, "form %s has not %s", form, wrong)
               : status;
}

perfdata_status pd_branches_end_line(struct pd_convert *x, uint64_t count)
{
    pd_text_u64(&x->out, count, 0, ' ');
    pd_text_char(&x->out, '\n');
    return pd_convert_flush(x, false);
}

perfdata_status pd_branches_run(struct pd_convert *x, const struct perfdata_profile_options *how,
                                struct perfdata_export_result *result, const char *form,
                                pd_branches_fn put)
{
    static const char *const all_branches[] = { "b" };
    struct branches b = { .put = put };
    struct pd_direct direct = { .x = x, .options = *how, .state = &b, .sample = put_sample };
    direct.take = take;
    direct.finish = finish;
    direct.options.flags |= PERFDATA_PROFILE_NO_DEMANGLE;
    if (!how->itrace_count) {
        direct.options.itrace = all_branches;
        direct.options.itrace_count = PD_LENGTH(all_branches);
    }
    perfdata_status status = check(x, how, form);
    if (status >= 0)
        status = pd_direct_run(&direct, result);
    pd_intern_free(&b.keys);
    pd_vec_free(&b.list.flows);
    pd_vec_free(&b.last);
    return status < 0 ? status : pd_convert_flush(x, true);
}
