/* SPDX-License-Identifier: MIT */
/* A recording and options -> a profile: filters, the session, the run. */
#include "profile/profile.h"
#include "profile/switches.h"
#include "container/handle.h"
#include "io/config.h"
#include <stdlib.h>

enum { DEFAULT_MAX_STACK = 127 };

/* ---- the run ---- */

static perfdata_status begin(void *data, unsigned index, struct pd_resolver *resolver, void **state)
{
    struct pd_profile_shared *shared = data;
    (void)index;
    *state = pd_profile_worker_new(shared, resolver);
    return *state ? PERFDATA_OK : pd_no_memory(&shared->recording->context, "a worker");
}

static perfdata_status work(void *data, void *state, struct pd_batch *batch)
{
    (void)data;
    return pd_profile_collect(state, batch);
}

static perfdata_status in_order(void *data, struct pd_batch *batch)
{
    return batch->result ? pd_profile_merge(data, batch->result) : PERFDATA_OK;
}

static void end(void *data, unsigned index, void *state)
{
    struct pd_profile_shared *shared = data;
    struct pd_profile_worker *worker = state;
    (void)index;
    for (size_t i = 0; worker && i < worker->kernel_maps.count; i++)
        shared->lacks_memory |= !pd_vec_push(&shared->known.kernel_maps,
                                             worker->kernel_maps.data[i]);
    pd_profile_worker_free(worker);
}

static void drop(void *data, struct pd_batch *batch)
{
    struct pd_profile_rows *rows = batch->result;
    (void)data;
    if (!rows)
        return;
    pd_profile_tables_leave(rows->tables);
    pd_vec_free(&rows->rows);
    pd_vec_free(&rows->values);
    pd_vec_free(&rows->switches);
    pd_vec_free(&rows->branches);
    pd_vec_free(&rows->marks);
    pd_text_free(&rows->mark_texts);
    free(rows);
    batch->result = NULL;
}

int pd_profile_front(void *data, const struct pd_delivered *record)
{
    const struct pd_profile_shared *shared = data;
    if (record->type != PD_RECORD_SAMPLE || !record->event)
        return PD_FRONT_PASS;
    return pd_filter_early(&shared->filter, record) ? PD_FRONT_PASS : PD_FRONT_IGNORE;
}

static perfdata_status run(struct pd_profile_shared *shared)
{
    const struct perfdata_profile_options *options = shared->options;
    struct pd_consumer consumer = {
        .kind = PD_CONSUME_SEQUENTIAL,
        .warns = PD_WARN_READ,
        .data = shared,
        .order = PD_ORDER_DELIVERY,
        .begin = begin,
        .work = work,
        .in_order = in_order,
        .end = end,
        .drop = drop,
        .front = pd_profile_needs_front(shared) ? pd_profile_front : NULL,
    };
    if (options->flags & PERFDATA_PROFILE_SWITCHES)
        consumer.types[0] = UINT64_C(1) << PD_RECORD_SWITCH | UINT64_C(1)
                                                                  << PD_RECORD_SWITCH_CPU_WIDE;
    if (options->flags & PERFDATA_PROFILE_MARKS) {
        consumer.types[0] |= UINT64_C(1) << PD_RECORD_LOST | UINT64_C(1) << PD_RECORD_AUX;
        consumer.types[PD_RECORD_AUXTRACE_ERROR / 64] |= UINT64_C(1)
                                                         << PD_RECORD_AUXTRACE_ERROR % 64;
    }
    const struct pd_itrace_options *itrace = &shared->itrace;
    for (size_t i = 0; i < shared->recording->event_count; i++)
        shared->by_exec |= pd_attr_flag(&shared->recording->events[i]->attr, PD_ATTR_COMM_EXEC);
    shared->pairs = options->flags & PERFDATA_PROFILE_CALLS && shared->session.synth &&
                    (itrace->branches || (itrace->calls && itrace->returns)) &&
                    !pd_filter_has_location(&shared->filter);
    shared->by_points = !shared->lines && !shared->session.synth &&
                        !pd_filter_has_location(&shared->filter) && !shared->filter.address_count &&
                        !shared->stop.count;
    const uint32_t workers = pd_pipeline_threads(&shared->session, options->threads);
    if (shared->bounds.numbered > PD_PROFILE_NUMBERED_LEAST)
        shared->bounds.numbered = PD_MAX(shared->bounds.numbered / workers,
                                         (uint32_t)PD_PROFILE_NUMBERED_LEAST);
    pd_timeline_log_maps(shared->session.timeline, &shared->known.maps);
    perfdata_status status = pd_pipeline_run(&shared->session, &consumer, options->threads);
    if (status >= 0 && shared->lacks_memory)
        status = pd_no_memory(&shared->recording->context, "the profile");
    if (status >= 0)
        status = pd_profile_calls_end(shared);
    if (status >= 0 && options->max_switches &&
        !pd_profile_thin_switches(shared->profile, options->max_switches))
        status = pd_fail(&shared->recording->context, PERFDATA_ERROR_MEMORY, -1,
                         "no memory for the profile");
    if (status >= 0)
        status = pd_profile_finish(shared);
    return pd_analysis_status(&shared->recording->context, status);
}

/* ---- what there is before the run ---- */

static perfdata_status take_events(struct pd_profile_shared *shared)
{
    struct pd_recording *recording = shared->recording;
    perfdata_profile *profile = shared->profile;
    uint64_t types = 0;
    bool traced = shared->session.synth != NULL;
    for (size_t i = 0; i < recording->event_count; i++) {
        const struct pd_event *event = recording->events[i];
        struct perfdata_profile_event *made = pd_blocks_push(&profile->events, sizeof *made);
        const char *name = pd_arena_strdup(&profile->arena, event->name);
        if (!made || !name)
            return pd_no_memory(&recording->context, "the profile");
        *made = (struct perfdata_profile_event){
            .name = name,
            .type = event->attr.type,
            .config = event->attr.config,
            .sample_type = event->attr.sample_type | event->added_type,
        };
        types |= made->sample_type;
    }
#define COLUMN(NAME, name, bits, get)                                                              \
    if ((bits) ? types & (bits) : traced)                                                          \
        profile->has_columns |= 1u << PERFDATA_COLUMN_##NAME;
#include "profile/columns.def"
#undef COLUMN
    for (uint32_t i = 0; i < PERFDATA_COLUMN_COUNT; i++)
        if (shared->options->columns & profile->has_columns & 1u << i)
            shared->columns[shared->column_count++] = i;
    return PERFDATA_OK;
}

static perfdata_status make_filter(struct pd_profile_shared *shared)
{
    const struct perfdata_profile_options *options = shared->options;
    struct pd_filter *filter = &shared->filter;
    const struct pd_filter_lists lists = PD_FILTER_LISTS(options);
    perfdata_status status = pd_filter_add_lists(filter, &shared->recording->context, &lists,
                                                 &shared->stop);
    if (!status && options->cpus)
        status = pd_filter_add_cpus(filter, shared->recording, options->cpus);
    if (!status && options->time)
        status = pd_filter_add_times(filter, shared->recording, options->time, false);
    return status;
}

/* Samples made of the trace come among the others. */
static perfdata_status decode(struct pd_profile_shared *shared)
{
    const struct perfdata_profile_options *options = shared->options;
    if (options->flags & PERFDATA_PROFILE_NO_ITRACE)
        return PERFDATA_OK;
    if (shared->itrace.callchain)
        shared->max_stack = PD_MAX(shared->max_stack, shared->itrace.callchain_size);
    struct pd_synth_config config = {
        .options = &shared->itrace,
        .guest_code = options->flags & PERFDATA_PROFILE_GUEST_CODE,
        .threads = options->threads,
    };
    pd_filter_trace(&shared->filter, &config);
    return pd_trace_log_decode(&shared->log, &shared->session, PD_TRACE_LOG_REFUSED, &config);
}

/* The session with what the options ask of it. */
static perfdata_status open_session(struct pd_profile_shared *shared)
{
    const struct perfdata_profile_options *options = shared->options;
    struct pd_object_search search = pd_search_of(shared->recording, &options->search,
                                                  &shared->itrace);
    PD_SEARCH_BY_FLAGS(&search, options->flags, PERFDATA_PROFILE, VERBOSE_NAMES);
    perfdata_status status = pd_session_open(shared->recording, &search, &shared->session);
    if (status < 0)
        return status;
    shared->has_session = true;
    pd_session_want_guests(&shared->session, &options->search);
    return decode(shared);
}

perfdata_status pd_profile_open(struct pd_profile_shared *shared)
{
    const struct perfdata_profile_options *options = shared->options;
    struct pd_context *context = &shared->recording->context;
    struct pd_config_places places = PD_CONFIG_PLACES(options);
    if (options->detail > PERFDATA_FRAMES_BY_ADDRESS)
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "no such detail of frames");
    shared->max_stack = options->max_stack ? options->max_stack : DEFAULT_MAX_STACK;
    shared->by_address = options->detail == PERFDATA_FRAMES_BY_ADDRESS;
    shared->lines = options->detail == PERFDATA_FRAMES_BY_LINE ||
                    (shared->by_address && options->flags & PERFDATA_PROFILE_LINES);
    perfdata_status status = pd_itrace_options_take(&shared->itrace, PD_ITRACE_SCRIPT, context,
                                                    &places, options->itrace,
                                                    options->itrace_count);
    if (status >= 0)
        status = make_filter(shared);
    return status < 0 ? status : open_session(shared);
}

perfdata_status pd_profile_close(struct pd_profile_shared *shared, perfdata_status status)
{
    pd_filter_free(&shared->filter);
    if (!shared->has_session)
        return status;
    pd_session_close(&shared->session);
    return pd_trace_log_close(&shared->log, status);
}

uint64_t pd_profile_trace_errors(const struct pd_profile_shared *shared)
{
    return pd_session_trace_errors(&shared->session);
}

static perfdata_status build(struct pd_profile_shared *shared)
{
    perfdata_status status = pd_profile_open(shared);
    if (status >= 0)
        status = take_events(shared);
    if (status >= 0)
        status = run(shared);
    shared->profile->trace_errors = pd_profile_trace_errors(shared);
    pd_profile_merge_free(shared);
    return pd_profile_close(shared, status);
}

perfdata_status perfdata_profile_build(perfdata_recording *recording,
                                       const struct perfdata_profile_options *options,
                                       perfdata_profile **out)
{
    static const struct pd_profile_bounds bounds = PD_PROFILE_BOUNDS;
    return pd_profile_build(recording, options, &bounds, out);
}

/* Parts are no longer there when the profile is complete, so nothing in it may refer to them. */
static bool takes_parts(const struct pd_profile_bounds *bounds,
                        const struct perfdata_profile_options *options)
{
    const uint32_t refer = PERFDATA_PROFILE_KEEP_SAMPLES | PERFDATA_PROFILE_CALLS |
                           PERFDATA_PROFILE_NO_SUMS;
    return bounds->take && !options->samples && !(options->flags & refer);
}

perfdata_status pd_profile_build(perfdata_recording *recording,
                                 const struct perfdata_profile_options *options,
                                 const struct pd_profile_bounds *bounds, perfdata_profile **out)
{
    struct perfdata_profile_options known = { 0 };
    if (!recording || !options || !out)
        return PERFDATA_ERROR_ARGUMENT;
    *out = NULL;
    struct pd_context *context = &recording->recording.context;
    if (!recording->open)
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "the recording is not open");
    perfdata_status status = pd_take_options(context, &known, sizeof known, options);
    if (status < 0)
        return status;
    perfdata_profile *profile = calloc(1, sizeof *profile);
    if (!profile)
        return pd_no_memory(context, "the profile");
    pd_profile_hold(profile);
    profile->first_time = UINT64_MAX;
    profile->keeps_samples = known.flags & PERFDATA_PROFILE_KEEP_SAMPLES;
    struct pd_profile_shared shared = {
        .recording = &recording->recording,
        .options = &known,
        .profile = profile,
        .bounds = *bounds,
    };
    if (!takes_parts(bounds, &known))
        shared.bounds.stacks = UINT32_MAX;
    status = build(&shared);
    if (status < 0) {
        perfdata_profile_free(profile);
        return status;
    }
    *out = profile;
    return PERFDATA_OK;
}
