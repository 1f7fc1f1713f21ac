/* SPDX-License-Identifier: MIT */
/* report: count, merge, sort, draw. */
#include "base/parallel.h"
#include "container/handle.h"
#include "render/about/header.h"
#include "render/report/branch.h"
#include "render/report/rows.h"
#include "render/report/run.h"
#include "render/report/settings.h"
#include "render/raw_dump/raw_dump.h"
#include "render/about/stats.h"
#include "render/about/tasks.h"
#include "format/names.h"
#include <stdlib.h>

static perfdata_status give(void *data, struct pd_text *text)
{
    struct pd_report *report = data;
    return pd_text_give(text, report->write, report->data);
}

static perfdata_status give_long(void *data, struct pd_text *text)
{
    return text->length > (1 << 18) ? give(data, text) : 0;
}

/* ---- what stands above a table ---- */

static void lead(const struct pd_report *report, struct pd_text *out)
{
    uint64_t flags = report->options->flags;
    if (report->plan.quiet)
        return;
    if (flags & (PERFDATA_REPORT_HEADER | PERFDATA_REPORT_HEADER_ONLY)) {
        pd_header_text(report->recording, flags & PERFDATA_REPORT_HEADER_FULL, out);
    } else if (!(flags & (PERFDATA_REPORT_STATS | PERFDATA_REPORT_TASKS | PERFDATA_REPORT_MMAPS))) {
        pd_text_string(out, "# To display the perf.data header info, please use "
                            "--header/--header-only options.\n#\n");
        if (flags & PERFDATA_REPORT_HEADER_FULL && !(flags & PERFDATA_REPORT_DUMP) &&
            report->recording->kind == PD_CONTAINER_PIPE)
            pd_header_features(report->recording, true, out);
    }
}

static void elided_names(const struct pd_report_plan *plan, struct pd_text *out)
{
    for (size_t i = 0; i < plan->layout.column_count; i++) {
        if (plan->layout.columns[i].what == PD_KEY_COMM && plan->only.show_comm)
            pd_text_format(out, "# comm: %s\n", plan->only.comm);
        if (plan->layout.columns[i].what == PD_KEY_DSO && plan->only.show_dso)
            pd_text_format(out, "# dso: %s\n", plan->only.dso);
        if (plan->layout.columns[i].what == PD_KEY_SYMBOL && plan->only.show_symbol)
            pd_text_format(out, "# symbol: %s\n", plan->only.symbol);
    }
}

static void table_title(const struct pd_report *report, const struct pd_report_group *group,
                        struct pd_text *out)
{
    static const char units[] = " KMG";
    const struct pd_report_plan *plan = &report->plan;
    uint64_t samples = 0, period = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct pd_hist_event *event = &report->result.events[group->events[i]];
        samples += plan->relative ? event->count_unfiltered : event->count;
        period += plan->relative ? event->period_unfiltered : event->period;
    }
    unsigned unit = 0;
    while (samples > 1000 && unit < 3) {
        samples /= 1000;
        unit++;
    }
    pd_text_format(out, "# Samples: %llu%c of event%s '", (unsigned long long)samples, units[unit],
                   group->is_plural ? "s" : "");
    const size_t names = out->length;
    pd_report_group_names(&report->groups, group, out);
    const bool borrows = plan->options->flags & PERFDATA_REPORT_BORROWED_CHAINS && !out->failed &&
                         memmem(out->data + names, out->length - names, "call-graph=no", 13);
    pd_text_char(out, '\'');
    if (plan->options->time)
        pd_text_format(out, " (time slices: %s)", plan->options->time);
    if (borrows) /* only of events that were asked for by this name */
        pd_text_string(out, ", show reference callgraph");
    const char *what = plan->mode == PD_REPORT_MEMORY ? "Total weight " : "Event count (approx.)";
    pd_text_format(out, "\n# %s: %llu\n", what, (unsigned long long)period);
    if (plan->mode == PD_REPORT_MEMORY) {
        pd_text_string(out, "# Sort order   : ");
        pd_report_sort_text(plan, out);
        pd_text_char(out, '\n');
    }
    if (plan->filter.has_socket)
        pd_text_format(out, "# Processor Socket: %u\n", plan->filter.socket);
    pd_text_string(out, "#\n");
}

/* ---- tables ---- */

static uint64_t least_hits(const struct pd_report *report, uint32_t event)
{
    const struct pd_hist_event *sums = &report->result.events[event];
    uint64_t total = report->plan.relative ? sums->chain_period_unfiltered : sums->chain_period;
    return (uint64_t)((double)total * (report->plan.chains.percent / 100));
}

static bool records_chains(const struct pd_report *report, uint32_t event)
{
    const struct pd_event *of = report->recording->events[event];
    return (pd_event_fields(of) | of->added_type) & PD_SAMPLE_CALLCHAIN;
}

static perfdata_status index_chains(struct pd_report *report)
{
    const struct pd_report_plan *plan = &report->plan;
    size_t count = report->result.event_count;
    uint64_t *least = calloc(count + 1, sizeof *least);
    if (!least)
        return PERFDATA_ERROR_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        least[i] = plan->chains.mode == PD_CHAIN_FRACTAL ? 0 : least_hits(report, i);
        if (!plan->chains.shows_ends && !records_chains(report, i) &&
            !(report->options->flags & PERFDATA_REPORT_BORROWED_CHAINS))
            least[i] = UINT64_MAX;
    }
    perfdata_status status = pd_chain_rank(&report->counts.hist);
    if (status == 0)
        status = pd_chain_index_make(&report->counts.hist, &report->result, least, &report->chains);
    free(least);
    return status;
}

/* A kernel in the upper half of 32 bits shows that the machine has 32 bits. */
static int is_high_32_bit_kernel(void *data, const struct pd_map *map)
{
    (void)data;
    return map->main_kernel && map->start >> 31 == 1;
}

/* How many digits an address has, as in the perf of the recording's own machine. A recording that
 * was never finished does not name its machine, so that its kernel map decides. */
static uint32_t address_digits(const struct pd_report *report)
{
    const struct pd_feature_arch *arch = &report->recording->features.arch;
    bool narrow = arch->present && arch->text.text
                      ? pd_arch_is_32_bit(arch->text.text)
                      : pd_timeline_each_kernel_map(report->session.timeline, UINT64_MAX,
                                                    is_high_32_bit_kernel, NULL) != 0;
    return narrow ? 8 : 16;
}

bool pd_report_is_drawn(const struct pd_report *report, uint32_t leader)
{
    return report->plan.options->flags & PERFDATA_REPORT_SHOW_EMPTY ||
           report->result.events[leader].count;
}

struct pd_report_table pd_report_table_of(struct pd_report *report,
                                          const struct pd_report_group *group)
{
    const struct pd_report_plan *plan = &report->plan;
    uint32_t leader = group->events[0];
    const struct pd_hist_event *event = &report->result.events[leader];
    bool has_chains = plan->chains.mode != PD_CHAIN_NONE && plan->hist.use_chains;
    const uint64_t total = plan->relative ? event->period_unfiltered : event->period;
    return (struct pd_report_table){
        .plan = plan,
        .hist = &report->counts.hist,
        .result = &report->result,
        .timeline = report->session.timeline,
        .event = event,
        .events = group->events,
        .event_count = group->count,
        .chains = has_chains ? &report->chains : NULL,
        .total = total,
        .chain_total = plan->hist.levels ? total : event->period,
        .least = plan->chains.mode == PD_CHAIN_FRACTAL ? 0 : least_hits(report, leader),
        .address_digits = address_digits(report),
        .last_mispredict = &report->last_mispredict,
        .like_perf = report->recording->like_perf,
        /* rows of branches depend on the row before: see last_mispredict */
        .threads = plan->mode == PD_REPORT_BRANCH ? 1 : report->threads,
    };
}

static perfdata_status draw_table(struct pd_report *report, const struct pd_report_group *group,
                                  struct pd_text *out)
{
    const struct pd_report_plan *plan = &report->plan;
    if (!pd_report_is_drawn(report, group->events[0]))
        return 0;
    struct pd_report_table table = pd_report_table_of(report, group);
    if (!plan->quiet)
        table_title(report, group, out);
    if (plan->total_cycles) {
        pd_report_cycles_table(plan, out);
        return 0;
    }
    perfdata_status status = pd_report_draw(&table, out, give, report);
    pd_text_string(out, "\n\n");
    return status;
}

static perfdata_status sort_tables(struct pd_report *report)
{
    const struct pd_report_plan *plan = &report->plan;
    perfdata_status status = 0;
    for (size_t i = 0; i < report->groups.count && status == 0; i++) {
        const struct pd_report_group *group = &report->groups.list[i];
        if (pd_report_is_drawn(report, group->events[0]))
            status = pd_hist_sort(&report->counts.hist, &report->result,
                                  &report->result.events[group->events[0]], plan->layout.order,
                                  plan->layout.order_count, group->count,
                                  plan->options->group_sort);
    }
    return status;
}

enum { INDEXING, SORTING, PREPARATIONS };

struct preparing {
    struct pd_report *report;
    perfdata_status status[PREPARATIONS];
};

static void prepare_part(void *data, unsigned worker, size_t part)
{
    struct preparing *preparing = data;
    (void)worker;
    preparing->status[part] = part == SORTING ? sort_tables(preparing->report)
                                              : index_chains(preparing->report);
}

/* Puts rows in order, and finds the chains of each. These can run side by side, unless sorting
 * counts once more, or filters rows anew by their levels. */
static perfdata_status prepare(struct pd_report *report)
{
    const struct pd_report_plan *plan = &report->plan;
    struct preparing preparing = { .report = report };
    if (!plan->hist.use_chains)
        return sort_tables(report);
    perfdata_status status = pd_report_frame_lines(plan, report->session.symbols,
                                                   &report->counts.hist, &report->result.arena);
    if (status < 0)
        return status;
    const bool alone = plan->hist.keeps_log || (plan->hist.levels && plan->hist.filters);
    pd_parallel(alone ? 1 : report->threads, PREPARATIONS, prepare_part, &preparing);
    return preparing.status[SORTING] < 0 ? preparing.status[SORTING] : preparing.status[INDEXING];
}

perfdata_status pd_report_prepare(struct pd_report *report)
{
    struct pd_report_groups *groups = &report->groups;
    perfdata_status status = pd_report_groups_make(report->recording, &report->plan,
                                                   &report->counts, groups);
    /* Linking groups adds rows of members to their leaders. Chains are gathered after that. */
    for (size_t i = 0; i < groups->count && status == 0; i++)
        if (groups->list[i].count > 1)
            status = pd_hist_link(&report->result, groups->list[i].events, groups->list[i].count);
    return status == 0 ? prepare(report) : status;
}

static perfdata_status draw_tables(struct pd_report *report, struct pd_text *out)
{
    const struct pd_report_groups *groups = &report->groups;
    perfdata_status status = pd_report_prepare(report);
    if (!report->plan.quiet)
        pd_text_format(out, "#\n# Total Lost Samples: %llu\n#\n",
                       (unsigned long long)report->counts.lost_samples);
    if (!report->plan.quiet && report->counts.dropped_samples)
        pd_text_format(out, "# Total Samples Dropped by BPF: %llu\n#\n",
                       (unsigned long long)report->counts.dropped_samples);
    for (size_t i = 0; i < groups->count && status == 0; i++) {
        status = draw_table(report, &groups->list[i], out);
        if (status == 0)
            status = give_long(report, out);
    }
    if (!report->plan.quiet)
        pd_text_string(out, "#\n# (Tip: To see where time goes without the callers: perfdata "
                            "report --no-children)\n#\n");
    if (status == 0 && report->plan.layout.thread_counts)
        status = pd_report_reads_text(&report->counts.reads,
                                      report->options->flags & PERFDATA_REPORT_THREAD_COUNTS_RAW,
                                      give_long, report, out);
    if (status == 0 && report->plan.mode == PD_REPORT_BRANCH)
        pd_report_branch_statistics(&report->counts.hist, &report->result, out);
    return status;
}

/* ---- the run ---- */

static struct pd_object_search search_of(const struct pd_report *report)
{
    const struct perfdata_report_options *options = report->options;
    struct pd_object_search search = pd_search_of(report->recording, &options->search, NULL);
    search.ignore_vmlinux = options->flags & PERFDATA_REPORT_IGNORE_VMLINUX;
    PD_SEARCH_BY_FLAGS(&search, options->flags, PERFDATA_REPORT, VERBOSE);
    return search;
}

/* ---- -D ---- */

struct dump_run {
    struct pd_raw_dump dump;
    struct pd_report *report;
    _Atomic uint64_t *kept; /* samples by the event's index; NULL: all are kept */
    struct pd_stats *stats;
    struct pd_stats_options counts; /* what they include */
};

static perfdata_status begin_dump(void *data, unsigned index, struct pd_resolver *resolver,
                                  void **state)
{
    (void)data;
    (void)index;
    *state = resolver;
    return PERFDATA_OK;
}

static bool keeps_all(const struct pd_report_plan *plan)
{
    return !plan->filter.span_count && !plan->filter.has_cpus && !plan->hist.hide_unresolved;
}

static void count_kept(const struct dump_run *run, struct pd_resolver *resolver,
                       const struct pd_delivered *record)
{
    const struct pd_report_plan *plan = &run->report->plan;
    struct pd_sample sample;
    if (record->type != PD_RECORD_SAMPLE || !record->event ||
        !pd_filter_early(&plan->filter, record) || pd_delivered_sample(record, &sample) < 0)
        return;
    if (plan->hist.hide_unresolved) {
        const struct pd_location *location = pd_resolve(resolver, record->thread, record->number,
                                                        sample.cpumode, sample.ip);
        if (!location || !location->sym)
            return;
    }
    const struct pd_event *event = pd_delivered_event(run->report->recording, record);
    if (event->index >= run->counts.kept_count) /* one that a stream brings late */
        return;
    atomic_fetch_add_explicit(&run->kept[event->index],
                              plan->mode == PD_REPORT_BRANCH ? sample.branch_count : 1,
                              memory_order_relaxed);
}

static perfdata_status dump_batch(void *data, void *state, struct pd_batch *batch)
{
    const struct dump_run *run = data;
    pd_resolver_trim(state);
    for (size_t i = 0; i < batch->count; i++) {
        pd_raw_dump_record(&run->dump, state, &batch->records[i],
                           i && batch->records[i].data == batch->records[i - 1].data, &batch->text);
        pd_raw_dump_behind(&run->dump, &batch->records[i], &batch->text);
        if (run->kept)
            count_kept(run, state, &batch->records[i]);
    }
    return PERFDATA_OK;
}

static perfdata_status sink_dump(void *data, const char *text, size_t length)
{
    struct pd_report *report = ((struct dump_run *)data)->report;
    return report->write(report->data, text, length) ? PERFDATA_ERROR_OUTPUT : PERFDATA_OK;
}

static int front_dump(void *data, const struct pd_delivered *record)
{
    struct dump_run *run = data;
    pd_raw_dump_front(&run->dump, record);
    return pd_stats_see(run->stats, &run->counts, record)
               ? PD_FRONT_PASS
               : (int)pd_no_memory(&run->report->recording->context, "counts");
}

static perfdata_status run_dump(struct dump_run *run, struct pd_consumer *consumer,
                                struct pd_text *out)
{
    struct pd_report *report = run->report;
    struct pd_object_search search = search_of(report);
    perfdata_status status = give(report, out);
    if (status == 0)
        status = pd_session_open(report->recording, &search, &report->session);
    if (status < 0)
        return status;
    run->dump.symbols = report->session.symbols;
    status = pd_pipeline_run(&report->session, consumer, report->options->threads);
    if (status == 0)
        status = pd_session_warn_kernel(&report->session);
    pd_session_close(&report->session);
    run->counts.made = pd_raw_dump_made(&run->dump);
    if (status == 0)
        pd_stats_put(run->stats, &run->counts, out);
    return status;
}

static perfdata_status dump(struct pd_report *report, struct pd_text *out)
{
    struct dump_run run = { .report = report };
    struct pd_consumer consumer = { .kind = PD_CONSUME_ORDERED,
                                    .warns = PD_WARN_READ,
                                    .data = &run,
                                    .order = PD_ORDER_DELIVERY,
                                    .begin = begin_dump,
                                    .work = dump_batch,
                                    .sink = sink_dump,
                                    .front = front_dump };
    pd_raw_dump_init(&run.dump, report->recording, PD_RAW_DUMP_REPORT);
    run.dump.colored = report->options->flags & PERFDATA_REPORT_COLOR;
    run.dump.filter = &report->plan.filter;
    run.dump.no_packets = report->options->flags & PERFDATA_REPORT_NO_ITRACE;
    if (report->options->flags & PERFDATA_REPORT_FILE_ORDER) {
        consumer.order = PD_ORDER_FILE;
        run.dump.unsorted = true;
    }
    if (!keeps_all(&report->plan)) {
        run.kept = calloc(report->recording->event_count + 1, sizeof *run.kept);
        if (!run.kept)
            return pd_no_memory(&report->recording->context, "counts");
    }
    run.counts = (struct pd_stats_options){
        .empty = report->options->flags & PERFDATA_REPORT_SHOW_EMPTY,
        .branches = !run.kept && report->plan.mode == PD_REPORT_BRANCH,
        .kept = run.kept,
        .kept_count = run.kept ? report->recording->event_count : 0,
    };
    run.stats = pd_stats_new(report->recording);
    pd_raw_dump_want(&consumer);
    perfdata_status status = run.stats ? run_dump(&run, &consumer, out)
                                       : pd_no_memory(&report->recording->context, "counts");
    pd_stats_free(run.stats);
    free((void *)run.kept);
    return status;
}

/* ---- the tables ---- */

/* Samples made of the trace come among the others. */
static perfdata_status decode(struct pd_report *report)
{
    struct pd_synth_config config = { .options = &report->plan.itrace,
                                      .no_host = report->plan.no_host,
                                      .guest_code = report->session.guests.code,
                                      .threads = report->options->threads };
    pd_filter_trace(&report->plan.filter, &config);
    report->log.write = report->write;
    report->log.write_data = report->data;
    perfdata_status status = pd_trace_log_decode(&report->log, &report->session, PD_TRACE_LOG_WRITE,
                                                 &config);
    /* A recording whose samples hold the trace is known to have chains only when the trace is
     * decoded. */
    if (report->session.synth && report->plan.itrace.callchain &&
        report->plan.chains.mode != PD_CHAIN_NONE && report->plan.mode != PD_REPORT_BRANCH)
        report->plan.hist.use_chains = true;
    return status;
}

perfdata_status pd_report_count(struct pd_report *report)
{
    const struct perfdata_report_options *options = report->options;
    struct pd_object_search search = search_of(report);
    perfdata_status status = pd_session_open(report->recording, &search, &report->session);
    if (status < 0)
        return status;
    report->is_open = true;
    report->session.guests.wanted |= (options->flags & PERFDATA_REPORT_GUESTS) != 0;
    report->session.guests.code = options->flags & PERFDATA_REPORT_GUEST_CODE;
    pd_session_want_guests(&report->session, &options->search);
    report->threads = pd_pipeline_threads(&report->session, options->threads);
    struct pd_hist *hist = &report->counts.hist;
    status = decode(report);
    if (status == 0)
        status = pd_report_collect(&report->session, &report->plan, options->threads,
                                   &report->counts);
    if (status == 0)
        status = pd_session_warn_kernel(&report->session);
    if (status == 0 && !hist->entries.count) {
        status = pd_fail(&report->recording->context, PERFDATA_ERROR_NO_DATA, -1,
                         "The %s data has no samples!", report->recording->path);
        report->perf_exit = 0;
    }
    if (status == 0 && report->plan.hist.children)
        status = pd_hist_expand(hist);
    if (status == 0)
        status = pd_hist_collapse(hist, report->recording->event_count, report->session.symbols,
                                  options->symbol_filter, &report->result);
    if (status == 0 && report->plan.total_cycles && hist->has_cycles)
        status = pd_fail(&report->recording->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                         "the cycles of blocks (option --total-cycles) are not counted yet");
    return status;
}

perfdata_status pd_report_end(struct pd_report *report, perfdata_status status)
{
    if (!report->is_open)
        return status;
    report->is_open = false;
    status = pd_analysis_status(&report->recording->context, status);
    pd_chain_index_free(&report->chains);
    pd_hist_result_free(&report->result);
    pd_hist_free(&report->counts.hist);
    pd_report_reads_free(&report->counts.reads);
    report->trace_errors = pd_session_trace_errors(&report->session);
    pd_session_close(&report->session);
    status = pd_trace_log_close(&report->log, status);
    return status;
}

static perfdata_status run(struct pd_report *report, struct pd_text *out)
{
    perfdata_status status = pd_report_count(report);
    if (status == PERFDATA_ERROR_UNSUPPORTED)
        out->length = 0;
    if (status == 0)
        status = draw_tables(report, out);
    return pd_report_end(report, status);
}

static perfdata_status parse_itrace(struct pd_report *report)
{
    const struct perfdata_report_options *options = report->options;
    struct pd_itrace_options *itrace = &report->plan.itrace;
    struct pd_config_places places = PD_CONFIG_PLACES(options);
    perfdata_status status = pd_itrace_options_take(itrace, PD_ITRACE_REPORT,
                                                    &report->recording->context, &places,
                                                    options->itrace, options->itrace_count);
    if (status < 0)
        return status;
    if (options->flags & PERFDATA_REPORT_NO_ITRACE) {
        itrace->decode = itrace->callchain = itrace->add_callchain = false;
        itrace->set = true;
    }
    report->plan.chains.max_stack = options->max_stack;
    if (itrace->set && (itrace->callchain || itrace->add_callchain))
        report->plan.chains.max_stack = PD_MAX(options->max_stack, itrace->callchain_size);
    return 0;
}

static perfdata_status print_overview(struct pd_report *report, struct pd_text *out)
{
    struct pd_recording *recording = report->recording;
    uint64_t flags = report->options->flags;
    size_t before = out->length;
    pd_recording_skip_header(recording);
    if (!(flags & PERFDATA_REPORT_STATS)) {
        struct pd_object_search search = search_of(report);
        search.jitdump = NULL; /* it would add maps that no record tells */
        return pd_tasks_text(recording, flags & PERFDATA_REPORT_MMAPS ? &search : NULL, out, give,
                             report);
    }
    struct pd_stats_options stats = { .lost = true, .empty = flags & PERFDATA_REPORT_SHOW_EMPTY };
    perfdata_status status = pd_stats_text(recording, stats, out);
    if (status < 0 && recording->stay_closed) /* what was printed might pass for the whole report */
        out->length = before;
    return status;
}

perfdata_status pd_report_start(struct pd_report *report)
{
    const uint64_t flags = report->options->flags;
    if (flags & PERFDATA_REPORT_STATS && flags & (PERFDATA_REPORT_TASKS | PERFDATA_REPORT_MMAPS)) {
        report->perf_exit = 0;
        return pd_fail(&report->recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "--tasks and --mmaps can't be used together with --stats");
    }
    perfdata_status status = pd_report_plan_make(&report->recording->context, report->options,
                                                 &report->plan);
    if (status == 0)
        status = parse_itrace(report);
    if (status < 0) {
        /* perf says that --hierarchy and --fields exclude each other, or that --parent is no
         * pattern, and ends with 0 */
        bool exclude = report->plan.hist.levels && report->options->fields;
        report->perf_exit = exclude || report->plan.patterns.parent_refused ? 0 : 129;
        return status;
    }
    status = pd_event_switch_init(&report->plan.event_switch, report->recording,
                                  &report->options->event_switch);
    if (status < 0)
        report->perf_exit = 254;
    return status;
}

/* perf's report notices wrong CPUs only after it has printed its head, and gives the reason on a
 * line before the heading "Error:". */
static perfdata_status fail_like_perf(struct pd_context *context)
{
    char reason[sizeof context->message];
    snprintf(reason, sizeof reason, "%s", context->message);
    return pd_fail(context, PERFDATA_ERROR_NO_DATA, -1, "%s\nError:\nfailed to set cpu bitmap",
                   reason);
}

perfdata_status pd_report_fit(struct pd_report *report)
{
    struct pd_recording *recording = report->recording;
    if (report->options->separator && !strcmp(report->options->separator, "."))
        return pd_fail(&recording->context, PERFDATA_ERROR_NO_DATA, -1,
                       "'.' is the only non valid --field-separator argument");
    perfdata_status status = pd_report_plan_fit(recording, &report->plan, &report->perf_exit);
    return report->plan.cpus_refused && recording->like_perf ? fail_like_perf(&recording->context)
                                                             : status;
}

static perfdata_status print(struct pd_report *report, struct pd_text *out)
{
    uint64_t flags = report->options->flags;
    struct pd_recording *recording = report->recording;
    perfdata_status status = pd_report_start(report);
    if (status < 0)
        return status;
    if ((status = pd_report_check_modes(recording, &report->plan)) < 0)
        return status;
    if (flags & PERFDATA_REPORT_DUMP && !(flags & PERFDATA_REPORT_FILE_ORDER))
        pd_raw_dump_warning(recording, out);
    lead(report, out);
    status = pd_report_fit(report);
    /* A key that does not parse is noticed before anything is printed. */
    bool early = (status == PERFDATA_ERROR_ARGUMENT && !report->perf_exit) ||
                 status == PERFDATA_ERROR_UNSUPPORTED;
    if (flags & PERFDATA_REPORT_HEADER_ONLY && !early)
        return PERFDATA_OK;
    if (early)
        out->length = 0;
    else if (status < 0) /* perf says it before it notices that there is nothing to show */
        elided_names(&report->plan, out);
    if (status < 0)
        return status;
    if (report->options->group_sort && !pd_report_groups_any(recording, &report->plan)) {
        report->perf_exit = 234;
        out->length = 0;
        return pd_fail(&recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "--group-sort-idx needs events in groups: as recorded, or by --group");
    }
    elided_names(&report->plan, out);
    if (flags & PERFDATA_REPORT_DUMP)
        return dump(report, out);
    if (flags & (PERFDATA_REPORT_STATS | PERFDATA_REPORT_TASKS | PERFDATA_REPORT_MMAPS))
        return print_overview(report, out);
    return run(report, out);
}

/* Prints each row as a JSON object on a line. */
static perfdata_status print_json(struct pd_report *report, perfdata_recording *handle,
                                  struct pd_text *out, struct perfdata_report_result *told)
{
    struct pd_report_json json = { report->recording, out, give, report, PERFDATA_OK };
    perfdata_status status = pd_report_each_row(handle, report->options, pd_report_json_row, &json,
                                                told);
    return json.status < 0 ? json.status : status;
}

perfdata_status perfdata_report_run(perfdata_recording *recording,
                                    const struct perfdata_report_options *options,
                                    perfdata_write_fn write, void *data,
                                    struct perfdata_report_result *result)
{
    struct perfdata_report_options known = { 0 };
    perfdata_status status = pd_handle_print(recording, &known, sizeof known, options, write);
    if (status < 0)
        return status;
    struct pd_report report = { .recording = &recording->recording,
                                .options = &known,
                                .write = write,
                                .data = data,
                                .last_mispredict = "N/A" };
    struct pd_report_settings settings = { 0 };
    struct perfdata_report_result told = { .perf_exit = 255 };
    struct pd_text out = { 0 };
    if (known.flags & PERFDATA_REPORT_JSON) {
        status = print_json(&report, recording, &out, &told);
    } else {
        status = pd_report_settings_take(&report.recording->context, &known, &settings);
        if (status == 0) {
            status = print(&report, &out);
            told.perf_exit = report.perf_exit;
            told.trace_errors = report.trace_errors;
        }
    }
    perfdata_status given = status == PERFDATA_ERROR_MEMORY ? 0 : give(&report, &out);
    if (status == 0)
        status = given;
    if (status == PERFDATA_ERROR_MEMORY)
        pd_fail(&recording->recording.context, status, -1, "no memory for the report");
    pd_report_plan_free(&report.plan);
    pd_text_free(&out);
    pd_give_result(result, &told, sizeof told);
    return status;
}
