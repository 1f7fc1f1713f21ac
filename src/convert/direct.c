/* SPDX-License-Identifier: MIT */
/* A recording -> its samples, resolved and filtered as for a profile, but with all that they
 * recorded. */
#include "convert/direct.h"
#include "container/handle.h"
#include <stdlib.h>

struct direct_worker {
    struct pd_profile_worker *worker;
    uint64_t samples, records, bytes;
};

static perfdata_status begin(void *data, unsigned index, struct pd_resolver *resolver, void **state)
{
    struct pd_direct *direct = data;
    struct direct_worker *own = calloc(1, sizeof *own);
    (void)index;
    if (own)
        own->worker = pd_profile_worker_new(&direct->shared, resolver);
    *state = own;
    return own && own->worker ? PERFDATA_OK : pd_convert_no_memory(direct->x);
}

static void end(void *data, unsigned index, void *state)
{
    struct pd_direct *direct = data;
    struct direct_worker *own = state;
    (void)index;
    if (!own)
        return;
    direct->sample_count += own->samples;
    direct->record_count += own->records;
    direct->bytes += own->bytes;
    pd_profile_worker_free(own->worker);
    free(own);
}

/* Returns a verdict, or a status below 0. */
static int take_sample(struct pd_direct *direct, struct direct_worker *own,
                       const struct pd_delivered *record, struct pd_text *out)
{
    struct pd_profile_taken taken;
    if (!record->event || !direct->x->events[record->event->index])
        return PD_PROFILE_DROPPED;
    int verdict = pd_profile_take(own->worker, record, &taken);
    if (verdict == PD_PROFILE_TAKEN) {
        direct->sample(direct, own->worker, record, &taken, out);
        own->samples++;
        own->bytes += record->size;
    }
    return verdict;
}

static void take_record(struct pd_direct *direct, struct direct_worker *own,
                        const struct pd_delivered *record, struct pd_text *out)
{
    const struct pd_filter *filter = &direct->shared.filter;
    struct pd_identity identity;
    pd_record_identity(record->event, record->data, record->size, record->type, &identity);
    if (!pd_filter_time(filter, identity.time) || !pd_filter_cpu(filter, identity.cpu) ||
        (pd_filter_has_thread(filter) &&
         (!record->thread || !pd_filter_thread(filter, record->thread, record->number))) ||
        !direct->record(direct, own->worker, record, out))
        return;
    own->records++;
    own->bytes += record->size;
}

static perfdata_status work(void *data, void *state, struct pd_batch *batch)
{
    struct pd_direct *direct = data;
    struct direct_worker *own = state;
    pd_resolver_trim(own->worker->resolver);
    for (size_t i = 0; i < batch->count; i++) {
        const struct pd_delivered *record = &batch->records[i];
        pd_batch_ahead(batch, i, own->worker->resolver);
        if (record->type == PD_RECORD_SAMPLE) {
            int verdict = take_sample(direct, own, record, &batch->text);
            if (verdict < 0)
                return (perfdata_status)verdict;
        } else if (direct->record) {
            take_record(direct, own, record, &batch->text);
        }
    }
    return batch->text.failed ? pd_convert_no_memory(direct->x) : PERFDATA_OK;
}

static perfdata_status sink(void *data, const char *text, size_t length)
{
    struct pd_direct *direct = data;
    return direct->take(direct, text, length);
}

static int front(void *data, const struct pd_delivered *record)
{
    struct pd_direct *direct = data;
    return pd_profile_front(&direct->shared, record);
}

static perfdata_status run(struct pd_direct *direct)
{
    struct pd_profile_shared *shared = &direct->shared;
    struct pd_consumer consumer = {
        .kind = PD_CONSUME_ORDERED,
        .warns = PD_WARN_READ,
        .data = direct,
        .types = { direct->types },
        .order = PD_ORDER_DELIVERY,
        .begin = begin,
        .work = work,
        .sink = sink,
        .end = end,
        .front = pd_profile_needs_front(shared) ? front : NULL,
    };
    perfdata_status status = pd_convert_choose_events(direct->x);
    return status < 0 ? status
                      : pd_pipeline_run(&shared->session, &consumer, direct->options.threads);
}

perfdata_status pd_direct_check(struct pd_convert *x, const struct perfdata_profile_options *how,
                                const char *form)
{
    const struct perfdata_export_options *options = x->options;
    const char *wrong = options->group                           ? "groups"
                        : options->detail >= 0                   ? "a choice of detail"
                        : options->flags & PERFDATA_EXPORT_COUNT ? "counts in place of periods"
                        : how->flags & PERFDATA_PROFILE_LINES    ? "source lines"
                                                                 : NULL;
    return wrong
               ? pd_fail(x->context, PERFDATA_ERROR_ARGUMENT, -1, "form %s has not %s", form, wrong)
               : PERFDATA_OK;
}

perfdata_status pd_direct_run(struct pd_direct *direct, struct perfdata_export_result *result)
{
    direct->shared.recording = direct->x->recording;
    direct->shared.options = &direct->options;
    perfdata_status status = pd_profile_open(&direct->shared);
    if (status >= 0 && direct->open)
        status = direct->open(direct);
    if (status >= 0)
        status = run(direct);
    if (status >= 0 && direct->finish)
        status = direct->finish(direct);
    if (result) {
        struct perfdata_export_result out = {
            .struct_size = sizeof out,
            .samples = direct->sample_count,
            .trace_errors = pd_profile_trace_errors(&direct->shared),
            .records = direct->record_count,
            .bytes = direct->bytes,
        };
        pd_give_result(result, &out, sizeof out);
    }
    return pd_profile_close(&direct->shared, status);
}
