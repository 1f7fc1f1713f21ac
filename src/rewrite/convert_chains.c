/* SPDX-License-Identifier: MIT */
/* inject --convert-callchain: copies of stacks unwound, and call chains in their place. */
#include "base/memory.h"
#include "pipeline/pipeline.h"
#include "rewrite/inject.h"
#include <stdlib.h>

enum { MAX_STACK = 127 }; /* frames, as everywhere in perf */

#define STACK_FIELDS (PD_SAMPLE_REGS_USER | PD_SAMPLE_STACK_USER)

struct converting {
    struct pd_copy copy;
    struct pd_session session;
    uint64_t *types, *flags; /* of events, as they were recorded */
    PD_VEC(struct pd_frame) frames;
    PD_VEC(uint8_t) made; /* a sample */
    uint64_t without;     /* samples with a stack that gave no frame */
};

static perfdata_status no_memory(struct converting *converting)
{
    return pd_no_memory(&converting->copy.recording->context, NULL);
}

static bool is_converted(uint64_t sample_type)
{
    const uint64_t needed = STACK_FIELDS | PD_SAMPLE_CALLCHAIN;
    return (sample_type & needed) == needed;
}

/* ---- the head ---- */

/* The events as they are written; samples are read as they were recorded, by their plans. */
static bool change_events(struct converting *converting, struct pd_recording *recording)
{
    bool any = false;
    for (size_t i = 0; i < recording->event_count; i++) {
        struct pd_attr *attr = &recording->events[i]->attr;
        converting->types[i] = attr->sample_type;
        converting->flags[i] = attr->flags;
        if (!is_converted(attr->sample_type))
            continue;
        any = true;
        attr->sample_type &= ~(uint64_t)STACK_FIELDS;
        attr->flags &= ~(UINT64_C(1) << PD_ATTR_EXCLUDE_CALLCHAIN_USER);
    }
    return any;
}

static void restore_events(const struct converting *converting, struct pd_recording *recording)
{
    for (size_t i = 0; i < recording->event_count; i++) {
        recording->events[i]->attr.sample_type = converting->types[i];
        recording->events[i]->attr.flags = converting->flags[i];
    }
}

static perfdata_status begin_copy(struct converting *converting, struct pd_recording *recording,
                                  const struct perfdata_output *output, unsigned how)
{
    bool any = change_events(converting, recording);
    perfdata_status status = pd_copy_open(recording, output, how | PD_COPY_ROUNDS | PD_COPY_REORDER,
                                          &converting->copy);
    if (status == PERFDATA_OK && !any)
        status = pd_fail(&recording->context, PERFDATA_ERROR_NO_DATA, -1,
                         "no event has call chains with copies of stacks: nothing to convert");
    if (status == PERFDATA_OK && converting->copy.convert)
        status = pd_fail(&recording->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                         "--convert-callchain and another byte order need two runs");
    if (status == PERFDATA_OK)
        status = pd_copy_describe_events(&converting->copy);
    if (status == PERFDATA_OK)
        status = pd_copy_begin(&converting->copy);
    restore_events(converting, recording);
    return status;
}

/* ---- samples ---- */

static bool put_bytes(struct converting *converting, const uint8_t *from, const uint8_t *to)
{
    size_t size = (size_t)(to - from);
    if (!pd_vec_reserve(&converting->made, converting->made.count + size))
        return false;
    if (size)
        memcpy(converting->made.data + converting->made.count, from, size);
    converting->made.count += size;
    return true;
}

static bool put_word(struct converting *converting, uint64_t value, bool swap)
{
    uint8_t bytes[8];
    pd_store64(bytes, value, swap);
    return put_bytes(converting, bytes, bytes + sizeof bytes);
}

/* The frames in user space, which no recorded entry tells; false: no memory. */
static bool unwind(struct converting *converting, struct pd_resolver *resolver,
                   const struct pd_delivered *record, const struct pd_sample *sample, size_t *first,
                   size_t *count)
{
    size_t room = (size_t)sample->callchain_count + 2 * (size_t)sample->branch_count +
                  2 * (size_t)MAX_STACK + 4;
    bool invalid;
    *first = *count = 0;
    if (!pd_vec_reserve(&converting->frames, room))
        return false;
    size_t all = pd_resolve_chain(resolver, sample, record->thread, record->number, MAX_STACK,
                                  converting->frames.data, room, &invalid);
    if (invalid)
        return true;
    *first = all - pd_chain_unwound(resolver);
    for (size_t i = *first; i < all; i++) /* what looks like a marker would spoil the chain */
        if (converting->frames.data[i].ip < PD_CHAIN_FIRST_CONTEXT)
            converting->frames.data[*first + (*count)++] = converting->frames.data[i];
    if (!*count && sample->stack_dynamic_size)
        converting->without++;
    return true;
}

static bool make_sample(struct converting *converting, struct pd_resolver *resolver,
                        const struct pd_delivered *record, const struct pd_sample *sample)
{
    bool swap = sample->swap, ok = true;
    const uint8_t *chain_end = sample->callchain + 8 * (size_t)sample->callchain_count;
    /* the form of the registers is told in front of them, the size of the stack in front of the
     * stack */
    const uint8_t *regs = (sample->user_regs ? sample->user_regs : sample->stack - 8) - 8;
    const uint8_t *rest = sample->stack_size ? sample->stack + sample->stack_size + 8
                                             : sample->stack;
    size_t first, count;
    if (!unwind(converting, resolver, record, sample, &first, &count))
        return false;
    converting->made.count = 0;
    ok = put_bytes(converting, record->data, sample->callchain - 8) &&
         put_word(converting, sample->callchain_count + count + (count ? 1 : 0), swap) &&
         put_bytes(converting, sample->callchain, chain_end) &&
         (!count || put_word(converting, PD_CONTEXT_USER, swap));
    for (size_t i = first; ok && i < first + count; i++)
        ok = put_word(converting, converting->frames.data[i].ip, swap);
    return ok && put_bytes(converting, chain_end, regs) &&
           put_bytes(converting, rest, record->data + record->size);
}

static perfdata_status put(struct converting *converting, struct pd_resolver *resolver,
                           const struct pd_delivered *record)
{
    struct pd_sample sample;
    const struct pd_event *event = record->event;
    if (record->type != PD_RECORD_SAMPLE || !event || !is_converted(event->attr.sample_type))
        return pd_copy_delivered(&converting->copy, record, NULL);
    if (pd_sample_decode(event, record->data, record->size, &sample) < 0 || !sample.callchain ||
        !sample.stack)
        return pd_issue(&converting->copy.recording->context, PERFDATA_ISSUE_BAD_SAMPLE,
                        (int64_t)record->offset, "sample left out: its content exceeds its size");
    if (!make_sample(converting, resolver, record, &sample))
        return no_memory(converting);
    uint8_t *made = converting->made.data;
    if (converting->made.count > UINT16_MAX)
        return pd_issue(&converting->copy.recording->context, PERFDATA_ISSUE_BAD_SAMPLE,
                        (int64_t)record->offset, "sample left out: its chain has no room in it");
    pd_store16(made + 6, (uint16_t)converting->made.count, sample.swap);
    return pd_copy_record(&converting->copy, event, made, (uint32_t)converting->made.count);
}

/* ---- the run ---- */

static perfdata_status begin(void *data, unsigned worker, struct pd_resolver *resolver,
                             void **state)
{
    (void)data, (void)worker;
    *state = resolver;
    return PERFDATA_OK;
}

static perfdata_status work(void *data, void *state, struct pd_batch *batch)
{
    perfdata_status status = PERFDATA_OK;
    pd_resolver_trim(state);
    for (size_t i = 0; i < batch->count && status >= 0; i++)
        status = put(data, state, &batch->records[i]);
    return status;
}

perfdata_status pd_inject_chains(struct pd_recording *recording,
                                 const struct perfdata_output *output,
                                 const struct perfdata_inject_options *options, unsigned how)
{
    struct converting converting = { .types = NULL };
    struct pd_object_search search = pd_search_of(recording, &options->search, NULL);
    const struct pd_consumer consumer = {
        .kind = PD_CONSUME_SEQUENTIAL,
        .warns = PD_WARN_COPY,
        .data = &converting,
        .types = { UINT64_MAX, UINT64_MAX },
        .unknown_types = true,
        .alone = true,
        .order = PD_ORDER_DELIVERY,
        .begin = begin,
        .work = work,
    };
    search.ignore_vmlinux = options->flags & PERFDATA_INJECT_IGNORE_VMLINUX;
    perfdata_status status = pd_session_open(recording, &search, &converting.session);
    converting.copy.recording = recording;
    converting.types = calloc(recording->event_count + 1, sizeof *converting.types);
    converting.flags = calloc(recording->event_count + 1, sizeof *converting.flags);
    bool opened = status == PERFDATA_OK && converting.types && converting.flags;
    if (status == PERFDATA_OK && !opened)
        status = no_memory(&converting);
    if (opened)
        status = begin_copy(&converting, recording, output, how);
    if (status == PERFDATA_OK)
        status = pd_pipeline_run(&converting.session, &consumer, 0);
    if (status == PERFDATA_OK && converting.without)
        status = pd_issue(&recording->context, PERFDATA_ISSUE_OBJECT, -1,
                          "%llu samples have no frame in user space: their programs were not found "
                          "or tell nothing of frames",
                          (unsigned long long)converting.without);
    if (opened)
        status = pd_copy_close(&converting.copy, status);
    pd_session_close(&converting.session);
    pd_vec_free(&converting.frames);
    pd_vec_free(&converting.made);
    free(converting.types);
    free(converting.flags);
    return status;
}
