/* SPDX-License-Identifier: MIT */
/* `perf buildid-list` (text reference, section 4). The DSOs are listed in the timeline's order:
 * first those of the header's table, then each as a map of it appears. */
#include "base/memory.h"
#include "container/handle.h"
#include "object/elf/build_id.h"
#include "pipeline/pipeline.h"
#include <perfdata/text.h>

/* Which DSOs samples hit, by index; each worker has its own. */
struct hits {
    PD_VEC(uint8_t) dsos;
};

struct run {
    struct pd_session session;
    struct hits all;
    perfdata_status status;
};

static bool mark(struct hits *hits, uint32_t index)
{
    if (!pd_vec_reserve(&hits->dsos, index + 1u))
        return false;
    while (hits->dsos.count <= index)
        hits->dsos.data[hits->dsos.count++] = 0;
    hits->dsos.data[index] = 1;
    return true;
}

static perfdata_status begin(void *data, unsigned worker, struct pd_resolver *resolver,
                             void **state)
{
    (void)data, (void)worker, (void)resolver;
    struct hits *hits = calloc(1, sizeof *hits);
    *state = hits;
    return hits ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;
}

static const struct pd_map *find_map(const struct run *run, const struct pd_delivered *record,
                                     uint64_t ip)
{
    switch (record->misc & PD_MISC_CPUMODE_MASK) {
    case PD_CPUMODE_KERNEL:
        return pd_timeline_kernel_map(run->session.timeline, record->number, ip);
    case PD_CPUMODE_USER:
        return record->thread ? pd_thread_map(record->thread, record->number, ip) : NULL;
    default: return NULL; /* no guests here */
    }
}

static perfdata_status work(void *data, void *state, struct pd_batch *batch)
{
    const struct run *run = data;
    for (size_t i = 0; i < batch->count; i++) {
        const struct pd_delivered *record = &batch->records[i];
        uint32_t at = record->event ? record->event->plan.ip : 0;
        if (!at || at + 8 > record->size)
            continue;
        uint64_t ip = pd_load64(record->data + at, record->event->plan.swap);
        const struct pd_map *map = find_map(run, record, ip);
        if (map && map->dso && !mark(state, map->dso->index))
            return PERFDATA_ERROR_MEMORY;
    }
    return PERFDATA_OK;
}

static void end(void *data, unsigned worker, void *state)
{
    struct run *run = data;
    struct hits *hits = state;
    (void)worker;
    for (size_t i = 0; hits && i < hits->dsos.count; i++)
        if (hits->dsos.data[i] && !mark(&run->all, (uint32_t)i))
            run->status = PERFDATA_ERROR_MEMORY;
    if (hits)
        pd_vec_free(&hits->dsos);
    free(hits);
}

static perfdata_status read_records(struct run *run)
{
    struct pd_consumer consumer = {
        .kind = PD_CONSUME_COMMUTATIVE,
        .warns = PD_WARN_READ,
        .data = run,
        .order = PD_ORDER_DELIVERY,
        .begin = begin,
        .work = work,
        .end = end,
    };
    pd_timeline_remove_exited(run->session.timeline);
    perfdata_status status = pd_pipeline_run(&run->session, &consumer, 0);
    return status < 0 ? status : run->status;
}

static void put_line(const struct pd_dso *dso, struct pd_text *out)
{
    char text[2 * PD_BUILD_ID_MAX + 1];
    struct pd_build_id id = pd_build_id_make(dso->build_id, dso->build_id_size);
    size_t length = pd_build_id_text(&id, text);
    pd_text_left(out, text, length, 2 * PD_BUILD_ID_MAX);
    pd_text_format(out, " %s\n", dso->long_name);
}

static void put_list(const struct run *run, bool only_hits, struct pd_text *out)
{
    size_t count = pd_timeline_dso_count(run->session.timeline);
    for (size_t i = 0; i < count; i++) {
        const struct pd_dso *dso = pd_timeline_dso(run->session.timeline, i);
        bool hit = dso->index < run->all.dsos.count && run->all.dsos.data[dso->index];
        if (dso->listed && (hit || !only_hits))
            put_line(dso, out);
    }
}

perfdata_status perfdata_build_ids_print(perfdata_recording *recording, uint32_t flags,
                                         perfdata_write_fn write, void *data)
{
    if (!recording->open)
        return PERFDATA_ERROR_ARGUMENT;
    struct pd_recording *inner = &recording->recording;
    struct pd_text text = { 0 };
    struct run run = { 0 };
    bool only_hits = flags & PERFDATA_BUILD_IDS_HITS;
    if (pd_recording_has_feature(inner,
                                 PD_FEATURE_AUXTRACE)) /* hits would need the trace decoded */
        only_hits = false;
    if (!pd_recording_has_feature(inner, PD_FEATURE_BUILD_ID))
        only_hits = true;
    if (only_hits)
        pd_recording_skip_header(inner);
    perfdata_status status = pd_session_open(inner, NULL, &run.session);
    if (status < 0)
        return status;
    if (only_hits)
        status = read_records(&run);
    if (status == PERFDATA_OK || !inner->stay_closed)
        put_list(&run, only_hits, &text);
    perfdata_status written = pd_api_emit(&inner->context, &text, write, data);
    pd_vec_free(&run.all.dsos);
    pd_session_close(&run.session);
    return status < 0 ? status : written;
}

perfdata_status perfdata_file_build_id(const char *path, uint8_t id[20], size_t *size)
{
    struct pd_build_id found;
    pd_memory_forget();
    perfdata_status status = pd_build_id_read(path, &found);
    *size = 0;
    if (status < 0)
        status = pd_build_id_read_notes(path, &found);
    if (status < 0)
        return pd_memory_failed() ? PERFDATA_ERROR_MEMORY : status;
    memcpy(id, found.bytes, sizeof found.bytes);
    *size = found.size;
    return PERFDATA_OK;
}
