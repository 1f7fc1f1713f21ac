/* SPDX-License-Identifier: MIT */
/* `perf inject` without itrace: a recording copied record by record. */
#include "rewrite/inject.h"
#include "rewrite/kernel_copy.h"
#include "container/handle.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct inject {
    struct pd_copy copy;
    struct pd_build_ids ids;
    bool with_ids; /* a table of build-ids is made */
    bool as_found; /* and records of them stand before what shows the objects, as perf puts them */
    bool jit, only_jit; /* files made from jitdumps get build-ids; with only_jit no others do */
    size_t told;        /* bytes of the table that a pipe was given */
    struct perfdata_inject_options options;
};

/* Entries of the table are the bodies of records: only the type differs. */
static perfdata_status put_new_ids(void *data)
{
    struct inject *inject = data;
    struct pd_build_ids *ids = &inject->ids;
    bool swap = ids->big_endian != pd_is_big_endian(false);
    perfdata_status status = PERFDATA_OK;
    if (inject->copy.output.kind != PD_WRITE_PIPE)
        return PERFDATA_OK;
    while (inject->told < ids->table.count && status == PERFDATA_OK) {
        uint8_t *entry = ids->table.data + inject->told;
        size_t size = pd_load16(entry + 6, swap);
        pd_store32(entry, PD_RECORD_HEADER_BUILD_ID, swap);
        status = pd_writer_put_record(inject->copy.writer, entry, size);
        pd_store32(entry, 0, swap);
        inject->told += size;
    }
    return status;
}

static perfdata_status put_found_id(struct inject *inject, const struct pd_event *event,
                                    const uint8_t *record, uint32_t size, uint32_t type,
                                    uint16_t misc)
{
    struct pd_build_ids *ids = &inject->ids;
    perfdata_status status = pd_build_ids_record(ids, event, record, size, type, misc);
    if (status < 0 || !ids->record.length)
        return status;
    return pd_writer_put_record(inject->copy.writer, ids->record.data,
                                (uint32_t)ids->record.length);
}

static perfdata_status take(void *data, const struct pd_walk *walk, struct pd_raw *raw)
{
    (void)walk;
    struct inject *inject = data;
    perfdata_status status = PERFDATA_OK;
    if (inject->as_found)
        status = put_found_id(inject, raw->event, raw->data, raw->size, raw->type, raw->misc);
    return status < 0 ? status : pd_copy_raw(&inject->copy, raw);
}

/* What samples hit can only be told in the order of time, and so perf writes them in it. */
static perfdata_status copy_by_time(struct inject *inject)
{
    struct pd_order *order;
    struct pd_delivered record;
    int got = pd_order_open(inject->copy.recording, PD_ORDER_TIME, &order);
    if (got < 0)
        return got;
    while ((got = pd_order_next(order, &record)) > 0) {
        got = put_found_id(inject, record.event, record.data, record.size, record.type,
                           record.misc);
        if (got == PERFDATA_OK)
            got = pd_copy_delivered(&inject->copy, &record, pd_order_payload(order));
        if (got < 0)
            break;
    }
    pd_order_close(order);
    return got;
}

static perfdata_status give_table(struct inject *inject)
{
    const struct pd_build_ids *ids = &inject->ids;
    return ids->table.count ? pd_copy_set_feature(&inject->copy, PD_FEATURE_BUILD_ID,
                                                  ids->table.data, ids->table.count)
                            : PERFDATA_OK;
}

static perfdata_status copy_records(struct inject *inject)
{
    if (inject->options.flags & PERFDATA_INJECT_SCHED_STAT)
        return pd_inject_sched_stat(&inject->copy);
    if (inject->jit)
        return pd_inject_jit(&inject->copy, &inject->ids, put_new_ids, inject);
    return inject->as_found && !inject->ids.all ? copy_by_time(inject)
                                                : pd_copy_take_records(&inject->copy, take, inject);
}

/* The input's ids of objects that no record showed: perf loses them in a pipe. Here they come at
 * its end, where they change nothing else. */
static perfdata_status put_other_ids(struct inject *inject)
{
    struct pd_build_ids *ids = &inject->ids;
    bool swap = ids->big_endian != pd_is_big_endian(false);
    perfdata_status status = PERFDATA_OK;
    size_t size = 8;
    for (size_t at = 0; at + 8 <= ids->recorded && size >= 8 && status == PERFDATA_OK; at += size) {
        uint8_t *entry = ids->table.data + at;
        size = pd_load16(entry + 6, swap);
        if (size > ids->recorded - at || pd_build_ids_told(ids, entry, size))
            continue;
        pd_store32(entry, PD_RECORD_HEADER_BUILD_ID, swap);
        status = pd_writer_put_record(inject->copy.writer, entry, (uint32_t)size);
        pd_store32(entry, 0, swap);
    }
    return status;
}

static perfdata_status run(struct inject *inject)
{
    perfdata_status status = PERFDATA_OK;
    bool late = inject->as_found || inject->jit;
    if (inject->with_ids && !inject->as_found && !inject->only_jit) {
        status = pd_build_ids_read(&inject->ids, NULL, NULL);
        if (status == PERFDATA_OK)
            status = give_table(inject);
    }
    inject->told = inject->ids.table.count;
    if (status == PERFDATA_OK)
        status = pd_copy_begin(&inject->copy);
    if (status == PERFDATA_OK)
        status = copy_records(inject);
    if (status == PERFDATA_OK && late && inject->copy.output.kind == PD_WRITE_FILE)
        status = give_table(inject);
    if (status == PERFDATA_OK && inject->as_found && inject->copy.output.kind == PD_WRITE_PIPE &&
        !inject->copy.recording->like_perf)
        status = put_other_ids(inject);
    return status;
}

static perfdata_status inject_records(struct pd_recording *inner,
                                      const struct perfdata_output *output,
                                      const struct perfdata_inject_options *options, unsigned how)
{
    struct inject inject = { .options = *options };
    uint32_t flags = options->flags;
    const uint32_t ids = PERFDATA_INJECT_BUILD_IDS | PERFDATA_INJECT_ALL_BUILD_IDS;
    bool stream = pd_source_is_stream(inner->source), sched = flags & PERFDATA_INJECT_SCHED_STAT;
    inject.with_ids = flags & ids;
    inject.jit = flags & PERFDATA_INJECT_JIT;
    inject.as_found = inject.with_ids && !sched && !inject.jit;
    if (inject.with_ids && stream && !inject.as_found)
        return pd_fail(&inner->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "a pipe is read once: build-ids and %s need two runs",
                       sched ? "sched-stat" : "jit");
    if (sched && inject.jit)
        return pd_fail(&inner->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "sched-stat and jit need two runs");
    if (inject.as_found)
        how |= PD_COPY_OPEN | (flags & PERFDATA_INJECT_ALL_BUILD_IDS ? 0 : PD_COPY_REORDER) |
               PD_COPY_ROUNDS | PD_COPY_NO_IDS;
    else if (sched || inject.jit)
        how |= PD_COPY_REORDER;
    perfdata_status status = pd_copy_open(inner, output, how, &inject.copy);
    inject.only_jit = inject.jit && !inject.with_ids;
    inject.with_ids = inject.with_ids || inject.jit;
    if (status == PERFDATA_OK && inject.with_ids)
        status = pd_build_ids_open(inner, flags & PERFDATA_INJECT_ALL_BUILD_IDS,
                                   inject.copy.big_endian, inject.options.known_build_ids,
                                   &inject.ids);
    inject.ids.want_records = inject.as_found;
    if (status == PERFDATA_OK)
        status = run(&inject);
    if (inject.with_ids) {
        status = pd_analysis_status(&inner->context, status);
        pd_build_ids_close(&inject.ids);
    }
    return pd_copy_close(&inject.copy, status);
}

static perfdata_status check_options(struct pd_recording *inner,
                                     const struct perfdata_inject_options *options)
{
    const uint32_t traced = PERFDATA_INJECT_STRIP | PERFDATA_INJECT_NO_HW_INDEX |
                            PERFDATA_INJECT_IGNORE_VMLINUX;
    bool chains = options->flags & PERFDATA_INJECT_CONVERT_CHAINS;
    if (options->flags & traced && !options->itrace_count && !chains)
        return pd_fail(&inner->context, PERFDATA_ERROR_ARGUMENT, -1,
                       options->flags & PERFDATA_INJECT_STRIP
                           ? "--strip option requires --itrace option"
                           : "branch stacks and kernel images are of itrace");
    if (options->itrace_count && options->flags & ~traced)
        return pd_fail(&inner->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "itrace and other ways of injecting need two runs");
    if (chains && options->flags &
                      ~(uint32_t)(PERFDATA_INJECT_CONVERT_CHAINS | PERFDATA_INJECT_IGNORE_VMLINUX))
        return pd_fail(&inner->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "convert-callchain and other ways of injecting need two runs");
    if (options->guest && (options->flags || options->itrace_count || options->known_build_ids))
        return pd_fail(&inner->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "guest data and other ways of injecting need two runs");
    if (options->guest && (!options->guest->open || !options->guest_pid))
        return pd_fail(&inner->context, PERFDATA_ERROR_ARGUMENT, -1, "no guest's recording");
    if (!inner->event_count && inner->kind != PD_CONTAINER_PIPE)
        return pd_fail(&inner->context, PERFDATA_ERROR_NO_DATA, -1, "no event in the recording");
    return PERFDATA_OK;
}

static perfdata_status inject_guest(struct pd_recording *inner,
                                    const struct perfdata_output *output,
                                    const struct perfdata_inject_options *options, unsigned how)
{
    struct pd_guest_input guest = { .recording = &options->guest->recording,
                                    .pid = options->guest_pid,
                                    .offset = options->guest_tsc_offset,
                                    .scale = options->guest_tsc_scale };
    if (guest.scale == 0)
        guest.scale = 1;
    return pd_inject_guest(inner, output, &guest, how);
}

/* The copy of the guest's kernel lies beside the host's, under its hypervisor's pid. */
static perfdata_status copy_guest_kernel(struct pd_recording *inner,
                                         const struct perfdata_output *output,
                                         const struct perfdata_inject_options *options,
                                         perfdata_status status)
{
    const struct pd_recording *guest = &options->guest->recording;
    struct pd_kernel_copy kernel = { .context = &inner->context };
    struct stat info;
    if (status < 0 || !guest->directory || !output->path || stat(output->path, &info) ||
        !S_ISDIR(info.st_mode))
        return status;
    if (asprintf(&kernel.from, "%s/kcore_dir", guest->path) < 0 ||
        asprintf(&kernel.to, "%s/kcore_dir__%u", output->path, options->guest_pid) < 0)
        return pd_no_memory(&inner->context, NULL);
    bool there = !access(kernel.from, R_OK);
    if (!there) {
        free(kernel.from);
        kernel.from = NULL;
    }
    return pd_kernel_copy_end(&kernel, status);
}

perfdata_status perfdata_inject(perfdata_recording *recording, const struct perfdata_output *output,
                                const struct perfdata_inject_options *options)
{
    if (!recording->open || !output)
        return PERFDATA_ERROR_ARGUMENT;
    struct pd_recording *inner = &recording->recording;
    struct perfdata_inject_options asked = { 0 };
    perfdata_status status = pd_take_options(&inner->context, &asked, sizeof asked, options);
    if (status == PERFDATA_OK)
        status = check_options(inner, &asked);
    if (status < 0)
        return status;
    if (asked.flags & PERFDATA_INJECT_STRIP) /* made for others: one file */
        return pd_inject_itrace(inner, output, &asked, 0);
    struct pd_kernel_copy kernel;
    status = pd_kernel_copy_begin(inner, output, &kernel);
    unsigned how = kernel.from ? PD_COPY_DIRECTORY : 0;
    if (status == PERFDATA_OK)
        status = asked.guest ? inject_guest(inner, &kernel.output, &asked, how)
                 : asked.flags & PERFDATA_INJECT_CONVERT_CHAINS
                     ? pd_inject_chains(inner, &kernel.output, &asked, how)
                 : asked.itrace_count ? pd_inject_itrace(inner, &kernel.output, &asked, how)
                                      : inject_records(inner, &kernel.output, &asked, how);
    status = pd_kernel_copy_end(&kernel, status);
    return asked.guest ? copy_guest_kernel(inner, output, &asked, status) : status;
}
