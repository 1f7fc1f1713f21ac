/* SPDX-License-Identifier: MIT */
/* <perfdata/itrace.h>: buffers and their bytes, and what the printers of these share. */
#include "render/aux/view.h"
#include "itrace/aux/index.h"
#include <stdlib.h>

enum { OUT_SIZE = 1 << 20 };

static bool cpu_wanted(void *data, uint32_t cpu)
{
    const struct pd_filter *filter = data;
    return !filter->has_cpus || (cpu < PD_FILTER_CPUS && filter->cpus[cpu / 64] >> cpu % 64 & 1);
}

perfdata_status perfdata_aux_open(perfdata_recording *recording,
                                  const struct perfdata_aux_options *options, perfdata_aux **out)
{
    struct perfdata_aux_options asked = { 0 };
    *out = NULL;
    if (!recording->open)
        return PERFDATA_ERROR_ARGUMENT;
    struct pd_context *context = &recording->recording.context;
    perfdata_status taken = pd_take_options(context, &asked, sizeof asked, options);
    if (taken < 0)
        return taken;
    perfdata_aux *view = calloc(1, sizeof *view);
    if (!view)
        return pd_no_memory(context, NULL);
    view->recording = &recording->recording;
    view->flags = asked.flags;
    perfdata_status status = PERFDATA_OK;
    if (asked.cpus)
        status = pd_filter_add_cpus(&view->filter, view->recording, asked.cpus);
    struct pd_aux_options inner = {
        .cpu_wanted = cpu_wanted, .data = &view->filter, .records = true, .count_all = true
    };
    if (status == PERFDATA_OK)
        status = pd_aux_open(view->recording, &inner, &view->aux);
    if (status == PERFDATA_OK)
        status = pd_aux_load(view->aux);
    if (status == PERFDATA_OK && !view->aux->info.present && !view->aux->buffers.count)
        status = pd_fail(context, PERFDATA_ERROR_NO_DATA, -1, "the recording has no AUX areas");
    if (status == PERFDATA_OK && view->aux->dropped && !view->aux->buffers.count)
        status = pd_filter_no_cpu(context, asked.cpus, "traces of CPUs", view->aux->dropped_cpus);
    if (status < 0) {
        perfdata_aux_close(view);
        return status;
    }
    *out = view;
    return PERFDATA_OK;
}

void perfdata_aux_close(perfdata_aux *view)
{
    if (!view)
        return;
    pd_aux_close(view->aux);
    pd_filter_free(&view->filter);
    free(view);
}

uint32_t perfdata_aux_kind(const perfdata_aux *view)
{
    return view->aux->info.type;
}

const char *perfdata_aux_kind_name(uint32_t kind)
{
    return pd_aux_kind_name(kind);
}

size_t perfdata_aux_buffer_count(const perfdata_aux *view)
{
    return view->aux->buffers.count;
}

perfdata_status perfdata_aux_buffer(const perfdata_aux *view, size_t index,
                                    struct perfdata_aux_buffer *out)
{
    if (index >= view->aux->buffers.count)
        return PERFDATA_ERROR_ARGUMENT;
    const struct pd_aux_buffer *buffer = &view->aux->buffers.data[index];
    struct perfdata_aux_buffer told = {
        .size = buffer->size,
        .offset = buffer->offset,
        .reference = buffer->reference,
        .file_offset = buffer->file_offset,
        .flags = pd_aux_flags_of(view->aux, buffer),
        .queue = buffer->queue,
        .cpu = (int32_t)buffer->cpu,
        .pid = (int32_t)buffer->pid,
        .tid = (int32_t)buffer->tid,
        .sample = buffer->sample,
    };
    pd_give_result(out, &told, sizeof told);
    return PERFDATA_OK;
}

perfdata_status perfdata_aux_read(const perfdata_aux *view, size_t index, uint64_t from, void *to,
                                  size_t size, size_t *got)
{
    *got = 0;
    if (index >= view->aux->buffers.count)
        return PERFDATA_ERROR_ARGUMENT;
    return pd_aux_read(view->aux, &view->aux->buffers.data[index], from, to, size, got);
}

perfdata_status perfdata_aux_store_index(perfdata_aux *view)
{
    perfdata_status status = pd_aux_need_pt(view);
    return status < 0 ? status : pd_aux_index_store(view->aux);
}

/* ---- what printing shares ---- */

bool pd_aux_out_flush(struct pd_aux_out *out, bool all)
{
    if (out->status < 0)
        return false;
    if (out->text.failed)
        out->status = pd_no_memory(out->context, NULL);
    else if ((all || out->text.length >= OUT_SIZE) && out->text.length) {
        if (out->write(out->data, out->text.data, out->text.length))
            out->status = pd_fail(out->context, PERFDATA_ERROR_OUTPUT, -1,
                                  "the text could not be written");
        out->text.length = 0;
    }
    return out->status == PERFDATA_OK;
}

perfdata_status pd_aux_out_end(struct pd_aux_out *out, perfdata_status status)
{
    pd_aux_out_flush(out, true);
    pd_text_free(&out->text);
    return out->status < 0 ? out->status : status;
}

perfdata_status pd_aux_need_pt(const struct perfdata_aux *view)
{
    const char *name = pd_aux_kind_name(view->aux->info.type);
    if (view->aux->info.type == PD_AUXTRACE_INTEL_PT)
        return PERFDATA_OK;
    return pd_fail(&view->recording->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                   "the AUX areas are %s: only Intel Processor Trace is decoded",
                   name ? name : "of an unknown kind");
}

uint64_t pd_aux_flags_of(const struct pd_aux *aux, const struct pd_aux_buffer *buffer)
{
    uint64_t flags = 0, end;
    if (buffer->sample || pd_add_overflows(buffer->offset, buffer->size, &end))
        return 0;
    for (size_t i = 0; i < aux->records.count; i++) {
        const struct pd_aux_record *record = &aux->records.data[i];
        bool same = buffer->cpu != UINT32_MAX ? record->cpu == buffer->cpu
                                              : record->tid == buffer->tid;
        /* a record without bytes only tells flags: those of a buffer that ends or begins there */
        if (same && record->offset <= end && record->offset + record->size >= buffer->offset &&
            (record->size ? record->offset < end && record->offset + record->size > buffer->offset
                          : true))
            flags |= record->flags;
    }
    return flags;
}

void pd_aux_queue_name(const struct pd_aux_queue *queue, struct pd_text *out)
{
    if (queue->cpu != UINT32_MAX)
        pd_text_format(out, "cpu%u", queue->cpu);
    else if (queue->tid != UINT32_MAX)
        pd_text_format(out, "tid%u", queue->tid);
    else
        pd_text_format(out, "queue%u", queue->number);
}
