/* SPDX-License-Identifier: MIT */
/* Records, and what of the trace comes before each. */
#include "format/names.h"
#include "format/offsets.h"
#include "itrace/synth/ahead_segments.h"
#include "itrace/synth/bts.h"
#include "itrace/synth/spe.h"
#include "itrace/aux/index.h"

enum { LATE_BRANCHES = 1024 }; /* kept beyond what L asks for: the trace is ahead of the samples */

/* ---- opening ---- */

static perfdata_status set_ranges(struct pd_synth *synth, const struct pd_synth_config *config)
{
    if (synth->plan.timeless || !config->range_count)
        return PERFDATA_OK;
    synth->plan.ranges = pd_arena_alloc(&synth->arena,
                                        config->range_count * sizeof *synth->plan.ranges);
    if (!synth->plan.ranges)
        return PERFDATA_ERROR_MEMORY;
    pd_synth_log(synth, "intel_pt_setup_time_ranges: %zu range(s)\n", config->range_count);
    for (size_t i = 0; i < config->range_count; i++) {
        const struct pd_time_range *range = &config->ranges[i];
        struct pd_time_range *ticks = &synth->plan.ranges[i];
        ticks->start = pd_tsc_first(&synth->aux->info.pt.time, range->start);
        ticks->end = pd_tsc_last(&synth->aux->info.pt.time, range->end);
        pd_synth_log(synth, "range %zu: perf time interval: %llu to %llu\n", i,
                     (unsigned long long)range->start, (unsigned long long)range->end);
        pd_synth_log(synth, "range %zu: TSC time interval: 0x%llx to 0x%llx\n", i,
                     (unsigned long long)ticks->start, (unsigned long long)ticks->end);
    }
    synth->plan.range_count = config->range_count;
    return PERFDATA_OK;
}

/* For a whole trace the index helps only where decoding jumps from PSB to PSB. The debug log must
 * name what was read, so it is not used there. */
static perfdata_status load_index(struct pd_synth *synth)
{
    const bool helps = synth->plan.range_count || synth->plan.quick >= 2;
    return helps && !synth->logger ? pd_aux_index_load(synth->aux) : PERFDATA_OK;
}

static void set_mask(struct pd_synth *synth)
{
    const struct pd_itrace_options *options = &synth->options;
    uint32_t mask = 0;
    if (synth->made.events[PD_SYNTH_BRANCHES] || synth->plan.uses_stack)
        mask |= PD_PT_BRANCH;
    if (options->instructions)
        mask |= PD_PT_INSTRUCTION;
    if (options->transactions)
        mask |= PD_PT_TRANSACTION;
    if (options->ptwrites)
        mask |= PD_PT_PTW;
    if (options->power)
        mask |= PD_PT_MWAIT_OP | PD_PT_PWR_ENTRY | PD_PT_EX_STOP | PD_PT_PWR_EXIT |
                PD_PT_CBR_CHANGE | PD_PT_PSB_EVENT;
    if (options->intr_events)
        mask |= PD_PT_EVENT | PD_PT_IF_CHANGE;
    if (synth->pebs)
        mask |= PD_PT_BLOCK_ITEMS;
    /* A change of frequency that was skipped is told at the step that ends the skipping. */
    bool every = synth->logger || (options->power && options->skip);
    synth->plan.mask = every                    ? PD_PT_ALL_STEPS
                       : synth->plan.step_types ? synth->plan.step_types
                                                : mask;
}

static void set_stacks(struct pd_synth *synth)
{
    const struct pd_itrace_options *options = &synth->options;
    synth->plan.chains = options->callchain;
    synth->plan.last_branches = options->last_branch;
    synth->stacks.calls = options->callchain || options->add_callchain || options->thread_stack;
    synth->stacks.mispredicted = options->mispred_all;
    if (options->last_branch || options->add_last_branch)
        synth->stacks.branch_limit = options->last_branch_size;
    if (options->add_last_branch)
        synth->stacks.branch_limit += LATE_BRANCHES;
    synth->plan.uses_stack = synth->stacks.calls || synth->stacks.branch_limit;
}

static void set_rates(struct pd_synth *synth)
{
    const struct pd_pt_info *info = &synth->aux->info.pt;
    uint64_t frequency = pd_ns_to_ticks(&info->time, UINT64_C(1000000000));
    synth->plan.max_non_turbo = (uint32_t)info->max_non_turbo_ratio;
    if (!synth->plan.max_non_turbo)
        synth->plan.max_non_turbo = (uint32_t)((frequency + 50000000) / 100000000);
    synth->plan.cbr_to_khz = synth->plan.max_non_turbo
                                 ? frequency / synth->plan.max_non_turbo / 1000
                                 : 0;
    pd_synth_log(synth, "TSC frequency %llu\n", (unsigned long long)frequency);
    pd_synth_log(synth, "Maximum non-turbo ratio %u\n", synth->plan.max_non_turbo);
}

/* Which thread runs is not known then: each is the one that a buffer names. */
static perfdata_status no_format(struct pd_synth *synth)
{
    synth->switches.event = NULL;
    return pd_issue(&synth->recording->context, PERFDATA_ISSUE_BAD_FEATURE, -1,
                    "the tracing data does not describe sched:sched_switch: which thread the trace "
                    "belongs to is not known");
}

/* sched:sched_switch, the last one. */
static perfdata_status open_tracepoint(struct pd_synth *synth)
{
    const struct pd_features *features = &synth->recording->features;
    const struct pd_span *data = &features->tracing_data.data;
    for (size_t i = 0; i < synth->recording->event_count; i++)
        if (synth->recording->events[i]->attr.type == PD_TYPE_TRACEPOINT &&
            !strcmp(synth->recording->events[i]->name, "sched:sched_switch"))
            synth->switches.event = synth->recording->events[i];
    if (!synth->switches.event)
        return pd_fail(&synth->recording->context, PERFDATA_ERROR_NO_DATA, -1,
                       "intel_pt_process_auxtrace_info: missing sched_switch event");
    if (!features->tracing_data.present)
        return no_format(synth);
    perfdata_status status = pd_tracing_open(&synth->recording->context, data->data, data->size,
                                             NULL, &synth->switches.tracing);
    if (!status)
        synth->switches.format = pd_tracing_format(synth->switches.tracing,
                                                   synth->switches.event->attr.config);
    if (!status && !synth->switches.format)
        status = no_format(synth);
    return status;
}

static perfdata_status open_switches(struct pd_synth *synth)
{
    uint64_t way = synth->aux->info.pt.have_sched_switch;
    if (way == 1)
        return open_tracepoint(synth);
    if (way != 2)
        return PERFDATA_OK;
    for (size_t i = 0; i < synth->recording->event_count; i++)
        if (pd_attr_flag(&synth->recording->events[i]->attr, PD_ATTR_CONTEXT_SWITCH))
            return PERFDATA_OK;
    return pd_fail(&synth->recording->context, PERFDATA_ERROR_NO_DATA, -1,
                   "intel_pt_process_auxtrace_info: missing context_switch attribute flag");
}

static perfdata_status open_all(struct pd_synth *synth, const struct pd_synth_config *config)
{
    const struct pd_itrace_options *options = &synth->options;
    synth->plan.timeless = synth->aux->modes.timeless || options->timeless;
    synth->plan.quick = (uint8_t)PD_MAX(options->quick, synth->aux->modes.no_tnt);
    synth->plan.step_through = synth->plan.timeless && synth->aux->modes.sampling &&
                               !synth->aux->info.pt.snapshot_mode;
    perfdata_status status = pd_synth_log_open(synth, config);
    if (status)
        return status;
    set_rates(synth);
    set_stacks(synth);
    pd_synth_plan_branches(synth);
    synth->code_reader = pd_code_reader_new(synth->code);
    if (!synth->code_reader)
        return pd_no_memory(&synth->recording->context, "decoding");
    status = set_ranges(synth, config);
    if (!status)
        status = load_index(synth);
    if (!status)
        status = pd_synth_parse_filters(synth, synth->aux->info.pt.filter);
    if (!status)
        status = open_switches(synth);
    if (!status && options->other)
        status = pd_pebs_open(synth);
    if (!status)
        status = pd_synth_add_events(synth);
    if (status)
        return status;
    set_mask(synth);
    status = pd_synth_make_queues(synth);
    return status ? status : pd_synth_segments_open(synth, config->threads);
}

/* Whether it is worth looking for a trace, for which records have to be read up to AUXTRACE_INFO.
 * Features and events tell; without features there are no names, and events tell by a PMU that has
 * a number only where the recording was made. */
static bool may_have_trace(const struct pd_recording *recording)
{
    static const uint32_t types[] = { PD_AUXTRACE_INTEL_PT, PD_AUXTRACE_INTEL_BTS,
                                      PD_AUXTRACE_ARM_SPE };
    bool pmu = false;
    if (pd_recording_has_feature(recording, PD_FEATURE_AUXTRACE))
        return true;
    for (size_t i = 0; i < recording->event_count; i++) {
        const struct pd_attr *attr = &recording->events[i]->attr;
        bool traces = attr->sample_type & PD_SAMPLE_AUX;
        for (size_t k = 0; k < PD_LENGTH(types) && !traces; k++) {
            const char *unit = pd_name_of(&pd_names_auxtrace_type, types[k]);
            traces = !strncmp(recording->events[i]->name, unit, strlen(unit));
        }
        if (traces)
            return true;
        pmu |= attr->type > PD_TYPE_BREAKPOINT && attr->type != (uint32_t)PD_TYPE_SYNTH;
    }
    return pmu &&
           (recording->kind == PD_CONTAINER_PIPE || recording->unfinished || recording->truncated);
}

/* Reports of what kind a trace is that no samples are made of. */
static perfdata_status tell_kind(struct pd_recording *recording, const struct pd_aux_info *info)
{
    const char *name = pd_aux_kind_name(info->type);
    return pd_issue(
        &recording->context, PERFDATA_ISSUE_UNSUPPORTED, -1,
        "no samples are made of the trace, which is %s: only Intel Processor Trace, Intel BTS "
        "and Arm SPE are decoded. 'aux list' and 'aux extract' give its bytes, 'script -D' %s, "
        "--no-itrace leaves it out",
        name ? name : "of an unknown kind",
        info->type == PD_AUXTRACE_CS_ETM ? "its packets" : "its records");
}

/* Whether a trace of that type is decoded. Only Intel PT has steps. */
static bool is_decoded(uint32_t type, const struct pd_synth_config *config)
{
    if (config->step_types)
        return type == PD_AUXTRACE_INTEL_PT;
    return type == PD_AUXTRACE_INTEL_PT || type == PD_AUXTRACE_ARM_SPE ||
           type == PD_AUXTRACE_INTEL_BTS;
}

perfdata_status pd_synth_open(const struct pd_synth_config *config, struct pd_synth **out)
{
    struct pd_recording *recording = config->recording;
    struct pd_aux *aux;
    *out = NULL;
    if (!config->options->decode || !config->symbols || !may_have_trace(recording))
        return PERFDATA_OK;
    /* What comes before the trace in a stream is decoded with it. Where its head does not tell of
     * one, the front does. */
    bool is_stream = pd_source_is_stream(recording->source);
    if (is_stream && !recording->head.has_trace)
        return PERFDATA_OK;
    perfdata_status status = is_stream ? pd_recording_spool(recording) : PERFDATA_OK;
    if (!status)
        status = pd_aux_open(recording, &config->aux, &aux);
    if (status)
        return status;
    status = pd_aux_load(aux);
    struct pd_synth *synth = status ? NULL : calloc(1, sizeof *synth);
    if (!synth || !aux->info.present || !is_decoded(aux->info.type, config)) {
        if (synth && aux->info.present)
            status = tell_kind(recording, &aux->info);
        else if (!synth && !status)
            status = pd_no_memory(&recording->context, "decoding");
        free(synth);
        pd_aux_close(aux);
        return status;
    }
    synth->recording = recording;
    synth->timeline = config->timeline;
    synth->symbols = config->symbols;
    synth->code = config->code;
    synth->options = *config->options;
    synth->plan.guest_code = config->guest_code;
    synth->plan.no_host = config->no_host;
    synth->plan.step_types = config->step_types;
    synth->plan.step_queue = config->step_queue;
    synth->scheduler.limit = UINT64_MAX;
    synth->guests = config->guests;
    synth->aux = aux;
    status = aux->info.type == PD_AUXTRACE_ARM_SPE     ? pd_spe_open(synth)
             : aux->info.type == PD_AUXTRACE_INTEL_BTS ? pd_bts_open(synth)
                                                       : open_all(synth, config);
    if (status)
        pd_synth_close(synth);
    else
        *out = synth;
    return status;
}

void pd_synth_close(struct pd_synth *synth)
{
    if (!synth)
        return;
    pd_spe_close(synth);
    pd_bts_close(synth);
    pd_synth_segments_close(synth);
    pd_synth_free_queues(synth);
    pd_synth_log_close(synth);
    pd_synth_remove_events(synth);
    pd_pebs_close(synth->pebs);
    pd_stacks_free(&synth->stacks);
    pd_tracing_free(synth->switches.tracing);
    if (synth->code_reader)
        pd_code_reader_free(synth->code_reader);
    pd_aux_close(synth->aux);
    pd_vec_free(&synth->switches.current_tids);
    pd_map64_free(&synth->switches.thread_cpus);
    pd_vec_free(&synth->filters);
    pd_arena_free(&synth->arena);
    free(synth);
}

void pd_synth_statistics(const struct pd_synth *synth, struct pd_synth_stats *out)
{
    *out = synth->stats;
}

uint64_t pd_synth_needs(const struct pd_synth *synth)
{
    return pd_synth_segments_need(synth);
}

/* ---- records ---- */

/* What of the trace comes before this record. */
static int run_before(struct pd_synth *synth, const struct pd_delivered *record)
{
    if (synth->logger && synth->plan.timeless && pd_synth_set_up(synth) < 0)
        return synth->status;
    if (!synth->plan.timeless) {
        if (!record)
            return pd_synth_run_until(synth, UINT64_MAX);
        if (record->time == PD_NO_TIME || !record->time)
            return 0;
        return pd_synth_run_until(synth, pd_time_to_tsc(&synth->aux->info.pt.time, record->time));
    }
    if (!record)
        return synth->plan.step_through ? 0 : pd_synth_run_thread(synth, PD_NOBODY, UINT64_MAX);
    if (synth->aux->modes.sampling)
        return record->type == PD_RECORD_SAMPLE ? pd_synth_run_sample(synth, record) : 0;
    if (record->type != PD_RECORD_EXIT || record->size < 24)
        return 0;
    uint32_t tid = pd_load32(record->data + PD_AT(exit, tid), synth->recording->swap);
    return pd_synth_run_thread(synth, tid, record->time);
}

int pd_synth_before(struct pd_synth *synth, struct pd_delivered *record, uint64_t number,
                    struct pd_synth_sink *sink)
{
    if (record && record->type >= PD_RECORD_KERNEL_END)
        return 0;
    if (sink->capacity - sink->count < PD_SYNTH_STEP)
        return 1;
    synth->sink = sink;
    synth->number = number;
    synth->base = number + 1 - sink->count;
    if (synth->spe)
        return pd_spe_before(synth, record);
    if (synth->bts)
        return pd_bts_before(synth, record);
    int got = run_before(synth, record);
    if (got || !record) {
        pd_synth_log_flush(synth);
        return got;
    }
    if (record->type == PD_RECORD_SAMPLE) {
        perfdata_status status = pd_synth_enrich(synth, record);
        if (!status)
            status = pd_synth_add_depth(synth, record);
        if (status < 0)
            return status;
    }
    pd_synth_take_record(synth, record);
    pd_synth_log_record(synth, record);
    pd_synth_log_flush(synth);
    return synth->status;
}
