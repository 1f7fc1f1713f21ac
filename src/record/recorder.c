/* SPDX-License-Identifier: MIT */
/* <perfdata/recorder.h>: events and what to watch -> a recording that grows. */
#include "base/cpuid.h"
#include "base/memory.h"
#include "record/command.h"
#include "record/events/filter.h"
#include "record/records.h"
#include "record/ring/workers.h"
#include "record/trace/aux.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- opening ---- */

static perfdata_status check_options(perfdata_recorder *recorder)
{
    const struct perfdata_recorder_options *options = &recorder->options;
    if (options->period && options->frequency)
        return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "cannot set frequency and period at the same time");
    if (options->compression < 0 || options->compression > 22)
        return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "compression levels are 1 to 22");
    if (options->affinity > PERFDATA_AFFINITY_CPU)
        return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1, "no such affinity");
    if (options->affinity && options->threads)
        return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "--affinity option is mutually exclusive to parallel streaming mode.");
    if (options->write_blocks && options->threads)
        return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "Asynchronous streaming mode (--aio) is mutually exclusive to parallel "
                       "streaming mode.");
    if (options->snapshot > PERFDATA_SNAPSHOT_AT_END)
        return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1, "no such snapshots");
    if (options->call_graph > PERFDATA_CALL_GRAPH_LBR)
        return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1, "no such call graph");
    return PERFDATA_OK;
}

/* Strings live as long as the recorder. */
static perfdata_status keep_strings(perfdata_recorder *recorder)
{
    struct perfdata_recorder_options *options = &recorder->options;
    const char **const texts[] = { &options->path,           &options->cpus,
                                   &options->pids,           &options->tids,
                                   &options->root,           &options->threads,
                                   &options->guest_kallsyms, &options->guest_modules,
                                   &options->guest_mount };
    for (size_t i = 0; i < PD_LENGTH(texts); i++) {
        const char *text = *texts[i];
        if (text && !(*texts[i] = pd_arena_strdup(&recorder->arena, text)))
            return pd_record_no_memory(recorder);
    }
    recorder->roots.root = options->root;
    recorder->events.guests = options->machines & PERFDATA_MACHINES_GUESTS;
    recorder->events.no_host = recorder->events.guests &&
                               !(options->machines & PERFDATA_MACHINES_HOST);
    if (options->map_build_ids)
        options->flags |= PERFDATA_RECORDER_NO_BUILD_ID;
    return PERFDATA_OK;
}

perfdata_status perfdata_recorder_open(const struct perfdata_recorder_options *options,
                                       perfdata_recorder **out)
{
    perfdata_recorder *recorder = *out = calloc(1, sizeof *recorder);
    if (!recorder)
        return PERFDATA_ERROR_MEMORY;
    pd_context_init(&recorder->context);
    recorder->calls = pd_calls_kernel;
    recorder->output.fd = recorder->output.folder = recorder->stop_fd = -1;
    recorder->command.child_go = recorder->command.child_error = recorder->command.child_fd =
        recorder->command.child_status = -1;
    if (!options)
        return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1, "no options");
    perfdata_status status = pd_take_options(&recorder->context, &recorder->options,
                                             sizeof recorder->options, options);
    if (status == PERFDATA_OK)
        status = keep_strings(recorder);
    if (status == PERFDATA_OK)
        status = check_options(recorder);
    if (status == PERFDATA_OK)
        pd_record_know_stream(recorder);
    if (status == PERFDATA_OK && (recorder->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
        status = pd_fail(&recorder->context, PERFDATA_ERROR_LIMIT, -1, "eventfd: %s",
                         strerrordesc_np(errno));
    return status;
}

static perfdata_status too_late(perfdata_recorder *recorder)
{
    return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                   "the recorder has started, or could not be opened");
}

perfdata_status perfdata_recorder_add_events(perfdata_recorder *recorder, const char *events)
{
    if (recorder->phase.started || recorder->stop_fd < 0 || !events)
        return too_late(recorder);
    recorder->last_list = pd_record_event_count(recorder);
    return pd_events_parse(&recorder->context, &recorder->roots, events, &recorder->events);
}

static perfdata_status keep_filter(perfdata_recorder *recorder, struct pd_selected *event,
                                   struct pd_text *text)
{
    event->filter = text->failed ? NULL
                                 : pd_arena_copy(&recorder->events.arena, text->data, text->length);
    return event->filter ? PERFDATA_OK : pd_record_no_memory(recorder);
}

/* --filter of an event that traces: addresses. Another --filter is joined by "or". */
static perfdata_status filter_addresses(perfdata_recorder *recorder, struct pd_selected *event,
                                        const char *filter)
{
    struct pd_text text = { 0 };
    if (!event->pmu ||
        pd_roots_number(&recorder->roots, 0, PD_PMU_FOLDER "/%s/nr_addr_filters", event->pmu) <= 0)
        return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "This CPU does not support address filtering");
    if (event->filter)
        pd_text_string(&text, event->filter);
    perfdata_status status = pd_filter_resolve(&recorder->context, &recorder->roots, filter, &text);
    if (status == PERFDATA_OK)
        status = keep_filter(recorder, event, &text);
    pd_text_free(&text);
    if (status == PERFDATA_OK)
        pd_record_log(recorder, 1, "Address filter: %s\n", event->filter);
    return status;
}

/* --filter of a tracepoint. Another --filter is joined by "and". */
static perfdata_status filter_fields(perfdata_recorder *recorder, struct pd_selected *event,
                                     const char *filter)
{
    struct pd_text text = { 0 };
    if (event->filter)
        pd_text_format(&text, "(%s) && (%s)", event->filter, filter);
    else
        pd_text_string(&text, filter);
    perfdata_status status = keep_filter(recorder, event, &text);
    pd_text_free(&text);
    return status;
}

perfdata_status perfdata_recorder_set_filter(perfdata_recorder *recorder, const char *filter)
{
    size_t count = pd_record_event_count(recorder);
    perfdata_status status = PERFDATA_OK;
    if (recorder->phase.started || !filter)
        return too_late(recorder);
    if (count == recorder->last_list)
        return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "--filter option should follow a -e tracepoint or HW tracer option");
    if (!pd_record_event(recorder, count - 1)->system)
        return filter_addresses(recorder, pd_record_event(recorder, count - 1), filter);
    for (size_t i = recorder->last_list; i < count && status == PERFDATA_OK; i++)
        status = pd_record_event(recorder, i)->system
                     ? filter_fields(recorder, pd_record_event(recorder, i), filter)
                     : filter_addresses(recorder, pd_record_event(recorder, i), filter);
    return status;
}

/* ---- starting ---- */

/* AMD's processors sample precise cycles with a unit that cannot leave guests out, and perf does
 * not ask them to. */
static bool can_leave_out_guests(const perfdata_recorder *recorder)
{
    char vendor[PD_CPUID_SIZE];
    char *text = pd_roots_read(&recorder->roots, NULL, "/proc/cpuinfo");
    bool is_amd = text && pd_cpuinfo_value(text, "vendor_id", vendor, sizeof vendor) &&
                  !strcmp(vendor, "AuthenticAMD");
    free(text);
    return !is_amd;
}

/* perf's "cycles:P": the most precise cycles that the hardware has. */
static perfdata_status default_events(perfdata_recorder *recorder)
{
    if (pd_record_event_count(recorder))
        return PERFDATA_OK;
    struct pd_selected *event = pd_events_add(&recorder->events, PD_TYPE_HARDWARE, PD_HW_CPU_CYCLES,
                                              "cycles:P");
    if (!event)
        return pd_record_no_memory(recorder);
    event->made = false;
    event->most_precise = true;
    if (recorder->events.no_host)
        event->attr.flags |= UINT64_C(1) << PD_ATTR_EXCLUDE_HOST;
    if (!recorder->events.guests && can_leave_out_guests(recorder))
        event->attr.flags |= UINT64_C(1) << PD_ATTR_EXCLUDE_GUEST;
    return PERFDATA_OK;
}

/* Size of the identity behind records that are no samples: 8 bytes a field. */
static size_t trailer_size(const struct pd_attr *attr)
{
    const uint64_t fields = PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_ID | PD_SAMPLE_STREAM_ID |
                            PD_SAMPLE_CPU | PD_SAMPLE_IDENTIFIER;
    return pd_attr_flag(attr, PD_ATTR_SAMPLE_ID_ALL)
               ? 8 * (size_t)__builtin_popcountll(attr->sample_type & fields)
               : 0;
}

static perfdata_status add_events(perfdata_recorder *recorder)
{
    perfdata_status status = PERFDATA_OK;
    for (size_t e = 0; e < pd_record_event_count(recorder) && status == PERFDATA_OK; e++) {
        const pd_opened_vec *opened = &recorder->live.opened[e];
        PD_VEC(uint64_t) ids = { 0 };
        for (size_t i = 0; i < opened->count && status == PERFDATA_OK; i++)
            if (opened->data[i].fd >= 0 && !pd_vec_push(&ids, opened->data[i].id))
                status = pd_record_no_memory(recorder);
        if (status == PERFDATA_OK)
            status = pd_writer_add_event(recorder->output.writer,
                                         &pd_record_event(recorder, e)->attr, ids.data, ids.count);
        pd_vec_free(&ids);
    }
    return status;
}

static bool synthesizes_late(const perfdata_recorder *recorder)
{
    return recorder->options.tail_synthesis ||
           pd_record_flag(recorder, PERFDATA_RECORDER_OVERWRITE);
}

/* Tells readers whether records lie in other files of the directory, too: version 1; else 0. */
static perfdata_status set_directory(perfdata_recorder *recorder)
{
    uint8_t version[8];
    pd_store64(version, recorder->options.threads != NULL, false);
    return pd_writer_set_feature(recorder->output.writer, PD_FEATURE_DIR_FORMAT, version,
                                 sizeof version);
}

static perfdata_status put_beginning(perfdata_recorder *recorder)
{
    enum { MOST_BLOCKS = 16 };
    static const uint8_t zeros[16];
    bool file = recorder->options.path != NULL;
    struct pd_writer_options options = { .kind = file ? PD_WRITE_FILE : PD_WRITE_PIPE,
                                         .level = recorder->options.compression,
                                         .blocks = PD_MIN(recorder->options.write_blocks,
                                                          (uint32_t)MOST_BLOCKS) };
    pd_memory_forget();
    perfdata_status status = pd_writer_open_fd(&recorder->context, recorder->output.fd, &options,
                                               &recorder->output.writer);
    if (status == PERFDATA_OK)
        status = add_events(recorder);
    if (status == PERFDATA_OK)
        status = pd_record_machine(recorder);
    if (status == PERFDATA_OK)
        status = pd_record_event_features(recorder);
    if (status == PERFDATA_OK)
        status = pd_record_tracing_data(recorder);
    if (status == PERFDATA_OK && !file)
        status = pd_writer_set_feature(recorder->output.writer, PD_FEATURE_SAMPLE_TIME, zeros,
                                       sizeof zeros);
    if (status == PERFDATA_OK && pd_record_is_directory(recorder))
        status = set_directory(recorder);
    if (status == PERFDATA_OK && file && recorder->live.rings.count &&
        recorder->live.rings.data[0].aux)
        status = pd_writer_set_feature(recorder->output.writer, PD_FEATURE_AUXTRACE, zeros, 8);
    if (status == PERFDATA_OK)
        status = pd_bpf_read(recorder);
    if (status == PERFDATA_OK)
        status = pd_bpf_set_features(recorder);
    if (status == PERFDATA_OK)
        status = pd_writer_begin(recorder->output.writer);
    recorder->trailer = trailer_size(&pd_record_event(recorder, 0)->attr);
    bool at_end = synthesizes_late(recorder);
    if (status == PERFDATA_OK && !at_end)
        status = pd_record_synthesize_head(recorder);
    if (status == PERFDATA_OK && !at_end)
        status = pd_record_synthesize_tasks(recorder);
    if (status == PERFDATA_OK)
        status = pd_record_synthesize_command(recorder);
    if (status == PERFDATA_OK)
        status = pd_record_put_simple(recorder, PD_RECORD_FINISHED_INIT);
    /* a system's file that could not be read for lack of memory must not count as missing */
    if (status == PERFDATA_OK && pd_memory_failed())
        status = pd_record_no_memory(recorder);
    return status < 0 ? status : pd_writer_sync(recorder->output.writer);
}

/* `end`: also the event that tells of tasks, which otherwise stays on all the time. */
static perfdata_status enable(perfdata_recorder *recorder, bool on, bool end)
{
    unsigned long request = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;
    for (size_t e = 0; e < pd_record_event_count(recorder); e++) {
        const struct pd_selected *event = pd_record_event(recorder, e);
        /* a group follows its leader */
        if (event->leader != e || (event->made && event->tracking && !end))
            continue;
        for (size_t i = 0; i < recorder->live.opened[e].count; i++) {
            int fd = recorder->live.opened[e].data[i].fd;
            if (fd >= 0 && recorder->calls.control(recorder->calls.data, fd, request, NULL) < 0)
                return pd_fail(&recorder->context, PERFDATA_ERROR_IO, -1, "%s: cannot %s it: %s",
                               event->name, on ? "enable" : "disable", strerrordesc_np(errno));
        }
    }
    recorder->phase.enabled = on;
    return PERFDATA_OK;
}

perfdata_status perfdata_recorder_enable(perfdata_recorder *recorder, int on)
{
    if (!recorder->phase.started || recorder->phase.finished)
        return too_late(recorder);
    return enable(recorder, on, false);
}

static perfdata_status watch(perfdata_recorder *recorder)
{
    struct pollfd stop = { .fd = recorder->stop_fd, .events = POLLIN };
    struct pollfd child = { .fd = recorder->command.child_fd, .events = POLLIN };
    struct pollfd other = { .fd = recorder->options.watch_fd ? recorder->options.watch_fd : -1,
                            .events = POLLIN };
    return pd_vec_push(&recorder->live.polls, stop) && pd_vec_push(&recorder->live.polls, child) &&
                   pd_vec_push(&recorder->live.polls, other)
               ? PERFDATA_OK
               : pd_record_no_memory(recorder);
}

perfdata_status perfdata_recorder_start(perfdata_recorder *recorder)
{
    const struct perfdata_recorder_options *options = &recorder->options;
    if (recorder->phase.started || recorder->stop_fd < 0)
        return too_late(recorder);
    recorder->phase.started = true;
    if (recorder->cgroups.count && !pd_record_flag(recorder, PERFDATA_RECORDER_ALL_CPUS))
        return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "cgroup monitoring only available in system-wide mode");
    perfdata_status status = default_events(recorder);
    if (status == PERFDATA_OK)
        status = options->command ? pd_command_fork(recorder) : PERFDATA_OK;
    if (status == PERFDATA_OK)
        status = pd_record_targets(recorder);
    if (status == PERFDATA_OK)
        status = pd_workers_prepare(recorder);
    if (status == PERFDATA_OK)
        status = pd_record_open_output(recorder);
    if (status == PERFDATA_OK)
        status = pd_record_configure(recorder);
    if (status == PERFDATA_OK)
        status = pd_record_open_events(recorder);
    if (status == PERFDATA_OK)
        status = pd_record_map_rings(recorder);
    if (status == PERFDATA_OK)
        status = watch(recorder);
    if (status == PERFDATA_OK)
        status = pd_triggers_open(recorder);
    if (status == PERFDATA_OK)
        status = put_beginning(recorder);
    if (status == PERFDATA_OK)
        status = pd_workers_start(recorder);
    bool on_exec = !recorder->targets.by_cpu && !options->pids && !options->tids &&
                   !options->has_user;
    if (status == PERFDATA_OK && !on_exec && !options->delay)
        status = enable(recorder, true, false);
    recorder->phase.enabled |= on_exec;
    return status < 0 ? status : pd_command_go(recorder);
}

/* ---- recording ---- */

/* Waits; false: nothing more can come by itself. */
static bool wait_for_data(perfdata_recorder *recorder, int timeout)
{
    size_t rings = recorder->live.rings.count, others = recorder->readers.workers.count ? rings : 0;
    int ready = poll(recorder->live.polls.data + others, recorder->live.polls.count - others,
                     timeout);
    pd_triggers_read(recorder);
    if (others) { /* the buffers are those of the workers, who tell when all tasks are gone */
        pd_command_poll(recorder);
        return true;
    }
    recorder->wakeups += ready > 0;
    bool any = pd_record_drop_gone(recorder->live.polls.data, rings, ready);
    pd_command_poll(recorder);
    return any;
}

/* Pauses tracing, or lets it go on. */
static void pause_traces(perfdata_recorder *recorder, bool pause)
{
    const struct pd_calls *calls = &recorder->calls;
    for (size_t i = 0; i < recorder->live.rings.count; i++)
        if (recorder->live.rings.data[i].aux)
            (void)calls->control(calls->data, recorder->live.rings.data[i].fd,
                                 pause ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE, NULL);
}

/* Writes the end of each trace; before it, the records so far, which tell whose it is. */
perfdata_status perfdata_recorder_snapshot(perfdata_recorder *recorder)
{
    uint64_t moved;
    if (!recorder->output.writer || recorder->phase.finished || !pd_aux_area_snapshots(recorder))
        return PERFDATA_ERROR_ARGUMENT; /* this recording takes no snapshots, or not now */
    pause_traces(recorder, true);
    perfdata_status status = pd_record_read_rings(recorder, false, &moved);
    for (size_t i = 0; i < recorder->live.rings.count && status == PERFDATA_OK; i++)
        if (recorder->live.rings.data[i].aux)
            status = pd_aux_area_take(recorder, (uint32_t)i);
    if (recorder->phase.enabled)
        pause_traces(recorder, false);
    if (status == PERFDATA_OK)
        status = pd_record_put_simple(recorder, PD_RECORD_FINISHED_ROUND);
    return status < 0 ? status : pd_writer_sync(recorder->output.writer);
}

static perfdata_status move(perfdata_recorder *recorder, bool last, uint64_t *moved)
{
    perfdata_status status = pd_record_read_rings(recorder, last, moved);
    if (status == PERFDATA_OK && *moved)
        status = pd_record_put_simple(recorder, PD_RECORD_FINISHED_ROUND);
    return status < 0 || !*moved ? status : pd_writer_sync(recorder->output.writer);
}

int perfdata_recorder_read(perfdata_recorder *recorder, int timeout_ms)
{
    uint64_t moved = 0;
    if (!recorder->phase.started || recorder->phase.finished || !recorder->output.writer)
        return too_late(recorder);
    perfdata_status status = recorder->readers.workers.count ? pd_workers_status(recorder)
                                                             : move(recorder, false, &moved);
    if (status < 0)
        return status;
    pd_command_poll(recorder);
    bool ended = recorder->stop || recorder->command.child_done;
    if (ended && recorder->phase.enabled) {
        status = enable(recorder, false, true); /* then what is still there is read */
        return status < 0 ? status : 1;
    }
    if (ended)
        return moved != 0;
    if (!wait_for_data(recorder, timeout_ms) && !recorder->command.child)
        recorder->stop = 1;
    return 1;
}

/* ---- the end ---- */

uint64_t perfdata_recorder_size(const perfdata_recorder *recorder)
{
    return recorder->output.writer
               ? pd_writer_position(recorder->output.writer) + pd_workers_size(recorder)
               : 0;
}

/* All that is left goes to the recording, then what its header says of it. */
static perfdata_status complete(perfdata_recorder *recorder, uint64_t *samples)
{
    uint64_t moved;
    perfdata_status status = PERFDATA_OK;
    if (recorder->options.snapshot == PERFDATA_SNAPSHOT_AT_END)
        status = perfdata_recorder_snapshot(recorder);
    if (status == PERFDATA_OK)
        status = recorder->readers.workers.count ? pd_workers_finish(recorder)
                                                 : move(recorder, true, &moved);
    pd_memory_forget();
    if (status == PERFDATA_OK && synthesizes_late(recorder)) {
        status = pd_record_synthesize_head(recorder);
        if (status == PERFDATA_OK)
            status = pd_record_synthesize_tasks(recorder);
    }
    /* programs that were loaded meanwhile, and still are */
    if (status == PERFDATA_OK && recorder->options.path)
        status = pd_bpf_read(recorder);
    if (status == PERFDATA_OK && recorder->options.path)
        status = pd_bpf_set_features(recorder);
    return status < 0 ? status : pd_record_look_back(recorder, samples);
}

perfdata_status perfdata_recorder_switch(perfdata_recorder *recorder, const char *name)
{
    uint64_t samples;
    const char *path = recorder->options.path;
    if (!recorder->output.writer || recorder->phase.finished)
        return too_late(recorder);
    if (!path)
        return pd_fail(&recorder->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "a stream has no name that could change");
    if (pd_record_is_directory(recorder))
        return pd_fail(&recorder->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "the output cannot be switched where it is a directory");
    perfdata_status status = complete(recorder, &samples);
    if (status == PERFDATA_OK)
        status = pd_writer_finish(recorder->output.writer);
    if (status < 0)
        return status;
    pd_writer_close(recorder->output.writer);
    recorder->output.writer = NULL;
    pd_record_close_output(recorder);
    if (rename(path, name) < 0)
        return pd_fail(&recorder->context, PERFDATA_ERROR_OUTPUT, -1, "failed to rename %s : %s",
                       path, strerrordesc_np(errno));
    status = pd_record_open_output(recorder);
    return status < 0 ? status : put_beginning(recorder);
}

static void fill_result(const perfdata_recorder *recorder, uint64_t samples,
                        struct perfdata_recorder_result *out)
{
    struct perfdata_recorder_result result = { .bytes = perfdata_recorder_size(recorder),
                                               .wakeups = recorder->wakeups,
                                               .samples = samples,
                                               .command_status = recorder->command.child_status };
    if (recorder->output.writer)
        pd_writer_packed(recorder->output.writer, &result.uncompressed, &result.compressed);
    pd_workers_packed(recorder, &result.uncompressed, &result.compressed);
    pd_give_result(out, &result, sizeof result);
}

perfdata_status perfdata_recorder_finish(perfdata_recorder *recorder,
                                         struct perfdata_recorder_result *result)
{
    uint64_t samples = 0;
    perfdata_status status = recorder->output.writer && !recorder->phase.finished
                                 ? PERFDATA_OK
                                 : too_late(recorder);
    bool failed = recorder->context.status < 0;
    pd_command_end(recorder);
    if (status == PERFDATA_OK && !failed)
        status = complete(recorder, &samples);
    if (result)
        fill_result(recorder, samples, result);
    if (status == PERFDATA_OK && !failed)
        status = pd_writer_finish(recorder->output.writer);
    recorder->phase.finished = true;
    return failed ? recorder->context.status : status;
}

void perfdata_recorder_close(perfdata_recorder *recorder)
{
    if (!recorder)
        return;
    pd_command_end(recorder);
    pd_workers_close(recorder);
    for (size_t e = 0; recorder->live.opened && e < pd_record_event_count(recorder); e++) {
        for (size_t i = 0; i < recorder->live.opened[e].count; i++)
            if (recorder->live.opened[e].data[i].fd >= 0)
                close(recorder->live.opened[e].data[i].fd);
        pd_vec_free(&recorder->live.opened[e]);
    }
    free(recorder->live.opened);
    pd_record_unmap_rings(recorder);
    pd_triggers_close(recorder);
    pd_record_close_cgroups(recorder);
    pd_writer_close(recorder->output.writer);
    pd_record_close_output(recorder);
    if (recorder->stop_fd >= 0)
        close(recorder->stop_fd);
    free(recorder->targets.cpus.data);
    pd_vec_free(&recorder->readers.bound);
    pd_mapped_ids_free(&recorder->mapped_ids);
    pd_bpf_free(&recorder->bpf);
    free(recorder->targets.threads.data);
    pd_vec_free(&recorder->live.polls);
    pd_events_free(&recorder->events);
    pd_arena_free(&recorder->arena);
    pd_context_fini(&recorder->context);
    free(recorder);
}

const char *perfdata_recorder_error(const perfdata_recorder *recorder)
{
    return recorder->context.message;
}
