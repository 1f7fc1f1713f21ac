/* SPDX-License-Identifier: MIT */
/* bundle: the addresses that occur in a recording, by object; bundle_folder.c writes what belongs
 * to them. */
#include "rewrite/bundle.h"
#include "base/memory.h"
#include "container/handle.h"
#include <perfdata/bundle.h>
#include <stdlib.h>

enum { MAX_STACK = 1024 };

/* ---- the walk ---- */

struct worker {
    struct pd_bundle *bundle;
    struct pd_resolver *resolver;
    PD_VEC(struct pd_frame) frames;
    PD_VEC(struct pd_bundle_hit) hits;
};

static bool hit(struct worker *worker, struct pd_location *location)
{
    if (!location)
        return false;
    if (!location->map || location->memo[0])
        return true;
    location->memo[0] = 1;
    const struct pd_bundle_hit new = { location->map, location->addr, location->ip };
    return pd_vec_push(&worker->hits, new);
}

static bool hit_chain(struct worker *worker, const struct pd_delivered *record,
                      const struct pd_sample *sample)
{
    size_t room = (size_t)sample->callchain_count + 2 * (size_t)sample->branch_count +
                  2 * (size_t)MAX_STACK + 4;
    bool invalid;
    if (!sample->callchain && !sample->stack)
        return true;
    if (!pd_vec_reserve(&worker->frames, room))
        return false;
    size_t count = pd_resolve_chain(worker->resolver, sample, record->thread, record->number,
                                    MAX_STACK, worker->frames.data, room, &invalid);
    for (size_t i = 0; i < count && !invalid; i++)
        if (!hit(worker, worker->frames.data[i].location))
            return false;
    return true;
}

static bool hit_any(struct worker *worker, const struct pd_delivered *record,
                    const struct pd_sample *sample, uint64_t address)
{
    return hit(worker, pd_resolve_any(worker->resolver, record->thread, record->number,
                                      sample->cpumode, address)) &&
           hit(worker,
               pd_resolve_unmoded(worker->resolver, record->thread, record->number, address));
}

/* A tracepoint may have kernel addresses in its fields, which are printed as functions: every word
 * that could be one counts. */
static bool hit_raw(struct worker *worker, const struct pd_delivered *record,
                    const struct pd_sample *sample)
{
    enum { STEP = 4, WORD = 8 };
    struct pd_symbols *symbols = pd_resolver_symbols(worker->resolver);
    uint64_t start = sample->raw_size >= WORD ? pd_symbols_kernel_start(symbols, record->number)
                                              : UINT64_MAX;
    for (uint32_t at = 0; start != UINT64_MAX && at + WORD <= sample->raw_size; at += STEP) {
        uint64_t word = pd_load64(sample->raw + at, sample->swap);
        if (word >= start && word < PD_CHAIN_FIRST_CONTEXT &&
            !hit(worker, pd_resolve(worker->resolver, record->thread, record->number,
                                    PD_CPUMODE_KERNEL, word)))
            return false;
    }
    return true;
}

static bool hit_sample(struct worker *worker, const struct pd_delivered *record)
{
    const uint64_t type = record->event->attr.sample_type;
    struct pd_sample sample;
    bool ok = true;
    (void)pd_sample_decode(record->event, record->data, record->size, &sample);
    if (type & PD_SAMPLE_IP)
        ok = hit(worker, pd_resolve(worker->resolver, record->thread, record->number,
                                    sample.cpumode, sample.ip)) &&
             hit_any(worker, record, &sample, sample.ip);
    if (ok && type & PD_SAMPLE_ADDR)
        ok = hit(worker, pd_resolve(worker->resolver, record->thread, record->number,
                                    sample.cpumode, sample.addr)) &&
             hit_any(worker, record, &sample, sample.addr);
    for (uint32_t i = 0; i < sample.branch_count && ok; i++) {
        const struct pd_branch branch = pd_branch_at(&sample, i);
        ok = hit_any(worker, record, &sample, branch.from) &&
             hit_any(worker, record, &sample, branch.to);
    }
    return ok && hit_raw(worker, record, &sample) && hit_chain(worker, record, &sample);
}

static int front(void *data, const struct pd_delivered *record)
{
    struct pd_bundle *bundle = data;
    bundle->has_trace |= record->type == PD_RECORD_AUXTRACE;
    return PD_FRONT_PASS;
}

static perfdata_status begin(void *data, unsigned number, struct pd_resolver *resolver,
                             void **state)
{
    struct worker *worker = calloc(1, sizeof *worker);
    (void)number;
    if (!worker)
        return PERFDATA_ERROR_MEMORY;
    worker->bundle = data;
    worker->resolver = resolver;
    *state = worker;
    return PERFDATA_OK;
}

static perfdata_status work(void *data, void *state, struct pd_batch *batch)
{
    struct worker *worker = state;
    (void)data;
    pd_resolver_trim(worker->resolver);
    for (size_t i = 0; i < batch->count; i++)
        if (batch->records[i].type == PD_RECORD_SAMPLE && batch->records[i].event &&
            !hit_sample(worker, &batch->records[i]))
            return PERFDATA_ERROR_MEMORY;
    return PERFDATA_OK;
}

static void end(void *data, unsigned number, void *state)
{
    struct pd_bundle *bundle = data;
    struct worker *worker = state;
    (void)number;
    for (size_t i = 0; i < worker->hits.count && !bundle->no_memory; i++)
        bundle->no_memory = !pd_vec_push(&bundle->hits, worker->hits.data[i]);
    pd_vec_free(&worker->hits);
    pd_vec_free(&worker->frames);
    free(worker);
}

/* ---- by object ---- */

static int compare_hits(const void *left, const void *right)
{
    const struct pd_bundle_hit *a = left, *b = right;
    if (a->map->dso != b->map->dso)
        return a->map->dso->index < b->map->dso->index ? -1 : 1;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->ip != b->ip)
        return a->ip < b->ip ? -1 : 1;
    return 0;
}

static int compare_objects(const void *left, const void *right)
{
    const struct pd_bundle_object *a = left, *b = right;
    int order = memcmp(a->id.bytes, b->id.bytes, sizeof a->id.bytes);
    if (order)
        return order;
    if (a->id.size != b->id.size)
        return a->id.size < b->id.size ? -1 : 1;
    return (a->hits->map->dso->index > b->hits->map->dso->index) -
           (a->hits->map->dso->index < b->hits->map->dso->index);
}

/* As the recording has it: only by that is it found elsewhere. */
static struct pd_build_id recorded_id(const struct pd_dso *dso)
{
    uint8_t size = dso->id_distrusted ? 0 : atomic_load(&dso->build_id_size);
    return pd_build_id_make(dso->build_id, size);
}

static bool group(struct pd_bundle *bundle)
{
    const struct pd_bundle_hit *hits = bundle->hits.data;
    if (bundle->hits.count)
        qsort(bundle->hits.data, bundle->hits.count, sizeof *hits, compare_hits);
    for (size_t i = 0, next; i < bundle->hits.count; i = next) {
        const struct pd_dso *dso = hits[i].map->dso;
        for (next = i + 1; next < bundle->hits.count && hits[next].map->dso == dso;)
            next++;
        const struct pd_bundle_object object = { .id = recorded_id(dso),
                                                 .hits = &hits[i],
                                                 .count = next - i };
        if (!pd_vec_push(&bundle->objects, object))
            return false;
    }
    if (bundle->objects.count)
        qsort(bundle->objects.data, bundle->objects.count, sizeof *bundle->objects.data,
              compare_objects);
    return true;
}

perfdata_status perfdata_bundle_write(perfdata_recording *recording,
                                      const struct perfdata_bundle_options *options,
                                      struct perfdata_bundle_result *result)
{
    struct perfdata_bundle_options asked = { 0 };
    struct pd_bundle bundle = { .no_memory = false };
    const struct pd_consumer consumer = {
        .kind = PD_CONSUME_COMMUTATIVE,
        .warns = PD_WARN_READ,
        .data = &bundle,
        .order = PD_ORDER_DELIVERY,
        .begin = begin,
        .work = work,
        .end = end,
        .front = front,
    };
    if (!recording->open || !options)
        return PERFDATA_ERROR_ARGUMENT;
    struct pd_recording *inner = &recording->recording;
    perfdata_status status = pd_take_options(&inner->context, &asked, sizeof asked, options);
    if (status >= 0 && !asked.path)
        status = pd_fail(&inner->context, PERFDATA_ERROR_ARGUMENT, -1, "no folder is named");
    if (status < 0)
        return status;
    struct pd_object_search search = pd_search_of(inner, &asked.search, NULL);
    bundle.context = &inner->context;
    status = pd_session_open(inner, &search, &bundle.session);
    if (status < 0)
        return status;
    status = pd_pipeline_run(&bundle.session, &consumer, 0);
    if (status >= 0 && (bundle.no_memory || !group(&bundle)))
        status = pd_no_memory(&inner->context, "a bundle");
    if (status >= 0 && bundle.has_trace)
        status = pd_issue(&inner->context, PERFDATA_ISSUE_OBJECT, -1,
                          "the code that the trace runs through is not in the bundle: only what "
                          "recorded samples show");
    if (status >= 0)
        status = pd_bundle_folder(&bundle, asked.path);
    pd_session_close(&bundle.session);
    pd_vec_free(&bundle.hits);
    pd_vec_free(&bundle.objects);
    if (status >= 0)
        pd_give_result(result, &bundle.result, sizeof bundle.result);
    return pd_analysis_status(&inner->context, status);
}
