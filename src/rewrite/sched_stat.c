/* SPDX-License-Identifier: MIT */
/* Where and how long tasks slept: a sched_stat sample says how long but not where, the sched_switch
 * before it where but not how long. */
#include "rewrite/inject.h"
#include "tracepoint/tracepoint.h"
#include <stdlib.h>

struct switched {
    uint8_t *record; /* NULL: none */
    uint32_t size;
    const struct pd_event *event;
};

struct sched_stat {
    struct pd_copy *copy;
    struct pd_tracing *tracing;
    struct pd_map64 by_tid; /* -> number in `all` */
    PD_VEC(struct switched) all;
};

static struct switched *find(struct sched_stat *s, uint32_t tid)
{
    uint32_t at = pd_map64_get(&s->by_tid, tid);
    return at == PD_MAP64_NONE ? NULL : &s->all.data[at];
}

static void forget(struct sched_stat *s, uint32_t tid)
{
    struct switched *known = find(s, tid);
    if (!known)
        return;
    free(known->record);
    known->record = NULL;
}

static perfdata_status keep(struct sched_stat *s, uint32_t tid, const struct pd_delivered *record)
{
    struct switched *known = find(s, tid), fresh = { NULL, 0, NULL };
    if (!known) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a push that succeeds has room */
        if (!pd_vec_push(&s->all, fresh) ||
            !pd_map64_set(&s->by_tid, tid, (uint32_t)s->all.count - 1))
            return pd_no_memory(&s->copy->recording->context, NULL);
        known = find(s, tid);
    }
    if (!known)
        return pd_no_memory(&s->copy->recording->context, NULL);
    forget(s, tid);
    known->record = malloc(record->size);
    if (!known->record)
        return pd_no_memory(&s->copy->recording->context, NULL);
    memcpy(known->record, record->data, record->size);
    known->size = record->size;
    known->event = record->event;
    return PERFDATA_OK;
}

/* The task that a sched_stat event is of: its field pid. */
static bool stat_pid(struct sched_stat *s, const struct pd_delivered *record, uint32_t *pid)
{
    struct pd_sample sample;
    uint64_t value;
    const struct pd_trace_format *format = s->tracing ? pd_tracing_format(
                                                            s->tracing, record->event->attr.config)
                                                      : NULL;
    const struct pd_trace_field *field = format ? pd_trace_field(format, "pid") : NULL;
    if (!field || pd_delivered_sample(record, &sample) < 0 || !sample.raw ||
        !pd_trace_number(format, field, sample.raw, sample.raw_size, &value))
        return false;
    *pid = (uint32_t)value;
    return true;
}

static perfdata_status put_merged(struct sched_stat *s, const struct pd_delivered *record)
{
    uint32_t pid;
    if (!stat_pid(s, record, &pid))
        return PERFDATA_OK;
    const struct switched *from = find(s, pid);
    if (!from || !from->record)
        return PERFDATA_OK;
    const struct pd_plan *to = &from->event->plan, *stat = &record->event->plan;
    bool swap = to->swap;
    if (to->time && stat->time && to->time + 8u <= from->size && stat->time + 8u <= record->size)
        pd_store64(from->record + to->time, pd_load64(record->data + stat->time, swap), swap);
    if (to->period && to->period + 8u <= from->size) {
        uint64_t period = record->event->attr.sample_period;
        if (stat->period && stat->period + 8u <= record->size)
            period = pd_load64(record->data + stat->period, swap);
        pd_store64(from->record + to->period, period, swap);
    }
    return pd_copy_record(s->copy, from->event, from->record, from->size);
}

static perfdata_status take(struct sched_stat *s, const struct pd_delivered *record)
{
    const struct pd_event *event = record->event;
    if (record->type != PD_RECORD_SAMPLE || !event || strncmp(event->name, "sched:sched_", 12) != 0)
        return pd_copy_delivered(s->copy, record, NULL);
    bool has_tid = event->plan.tid && event->plan.tid + 8u <= record->size;
    uint32_t tid = has_tid ? pd_load32(record->data + event->plan.tid + 4, event->plan.swap) : 0;
    const char *name = event->name + 12;
    if (!strcmp(name, "switch"))
        return has_tid ? keep(s, tid, record) : PERFDATA_OK;
    if (!strcmp(name, "process_exit")) {
        if (has_tid)
            forget(s, tid);
        return PERFDATA_OK;
    }
    if (!strncmp(name, "stat_", 5))
        return put_merged(s, record);
    return pd_copy_delivered(s->copy, record, NULL);
}

perfdata_status pd_inject_sched_stat(struct pd_copy *copy)
{
    struct sched_stat s = { .copy = copy };
    struct pd_recording *recording = copy->recording;
    const struct pd_feature_bytes *bytes = &recording->feature_table.bytes[PD_FEATURE_TRACING_DATA];
    struct pd_order *order = NULL;
    struct pd_delivered record;
    int got = PERFDATA_OK;
    if (bytes->size)
        got = pd_tracing_open(&recording->context, bytes->data, bytes->size, NULL, &s.tracing);
    if (got >= 0)
        got = pd_order_open(recording, PD_ORDER_DELIVERY, &order);
    while (got >= 0 && (got = pd_order_next(order, &record)) > 0) {
        got = take(&s, &record);
        if (got < 0)
            break;
    }
    pd_order_close(order);
    for (size_t i = 0; i < s.all.count; i++)
        free(s.all.data[i].record);
    pd_vec_free(&s.all);
    pd_map64_free(&s.by_tid);
    pd_tracing_free(s.tracing);
    return got;
}
