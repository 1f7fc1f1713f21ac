/* SPDX-License-Identifier: MIT */
/* annotate: count by address, disassemble, print. */
#include "container/handle.h"
#include "format/names.h"
#include "render/annotate/run.h"
#include <stdio.h>
#include <sys/utsname.h>

/* ---- options ---- */

static perfdata_status parse_percent_type(struct pd_annotate *annotate)
{
    static const char *const scopes[] = { "local", "global" }, *const units[] = { "period",
                                                                                  "hits" };
    const char *text = annotate->options->percent_type;
    char words[2][32];
    if (!text)
        return 0;
    for (int i = 0; i < 4; i++) {
        snprintf(words[0], sizeof words[0], "%s-%s", scopes[i & 1], units[i >> 1]);
        snprintf(words[1], sizeof words[1], "%s-%s", units[i >> 1], scopes[i & 1]);
        if (strcmp(text, words[0]) != 0 && strcmp(text, words[1]) != 0)
            continue;
        annotate->look.percent = (struct pd_percent_type){ .global = i & 1, .hits = i >> 1 };
        return 0;
    }
    return pd_fail(&annotate->recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                   "a percentage is local or global, of period or hits, as local-period, not '%s'",
                   text);
}

/* The name may stand in `here`, which is the caller's: several threads annotate at once. */
static const char *machine_arch(struct utsname *here)
{
    return uname(here) ? "" : pd_arch_normalise(here->machine);
}

static perfdata_status choose_objdump(struct pd_annotate *annotate)
{
    const struct perfdata_annotate_options *options = annotate->options;
    const struct pd_feature_arch *recorded = &annotate->recording->features.arch;
    struct utsname here;
    const char *arch = recorded->present && recorded->text.text
                           ? pd_arch_normalise(recorded->text.text)
                           : NULL;
    annotate->objdump = (struct pd_objdump){
        .program = options->objdump ? options->objdump : "objdump",
        .style = options->style,
        .prefix = options->prefix,
        .prefix_strip = options->prefix_strip,
        .source = !(options->flags & PERFDATA_ANNOTATE_NO_SOURCE),
        .raw = options->flags & PERFDATA_ANNOTATE_RAW,
    };
    if (options->flags & PERFDATA_ANNOTATE_BROWSER &&
        strcmp(arch ? arch : machine_arch(&here), "x86") != 0)
        return pd_fail(&annotate->recording->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "the browser's text (--stdio2) is that of x86 only so far");
    if (options->objdump || !arch || !strcmp(arch, machine_arch(&here)))
        return 0;
    annotate->objdump.program = annotate->objdump_name;
    if (pd_objdump_find(arch, annotate->objdump_name, sizeof annotate->objdump_name))
        return 0;
    annotate->told.perf_exit = 255;
    return pd_fail(&annotate->recording->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                   "Please install objdump for %s.\nYou can add it to PATH, set CROSS_COMPILE or "
                   "override the default using --objdump.",
                   arch);
}

static uint64_t report_flags(uint64_t flags)
{
    static const uint64_t same[][2] = {
        { PERFDATA_ANNOTATE_GROUP, PERFDATA_REPORT_GROUP },
        { PERFDATA_ANNOTATE_NO_GROUP, PERFDATA_REPORT_NO_GROUP },
        { PERFDATA_ANNOTATE_FULL_PATHS, PERFDATA_REPORT_FULL_SOURCE_PATH },
        { PERFDATA_ANNOTATE_NO_ITRACE, PERFDATA_REPORT_NO_ITRACE },
        { PERFDATA_ANNOTATE_VERBOSE, PERFDATA_REPORT_VERBOSE },
    };
    uint64_t made = PERFDATA_REPORT_NO_CHILDREN | PERFDATA_REPORT_NO_CALL_GRAPH |
                    PERFDATA_REPORT_NO_BRANCH_STACK;
    for (size_t i = 0; i < PD_LENGTH(same); i++)
        made |= flags & same[i][0] ? same[i][1] : 0;
    return made;
}

static perfdata_status fit_plan(struct pd_annotate *annotate)
{
    perfdata_status status = pd_report_plan_fit(annotate->recording, &annotate->plan,
                                                &annotate->told.perf_exit);
    if (status < 0 && annotate->options->cpus)
        annotate->told.perf_exit = 255;
    return status;
}

static perfdata_status make_plan(struct pd_annotate *annotate)
{
    enum { MAX_STACK = 127 };
    const struct perfdata_annotate_options *options = annotate->options;
    struct pd_context *context = &annotate->recording->context;
    struct pd_report_plan *plan = &annotate->plan;
    annotate->report = (struct perfdata_report_options){
        .struct_size = sizeof annotate->report,
        .flags = report_flags(options->flags),
        .max_stack = MAX_STACK,
        .threads = options->threads,
        .sort = "dso,symbol",
        .percent_limit = options->percent_limit,
        PD_REPORT_WHICH_SAMPLES(options),
        .time = options->time,
        .search = options->search,
    };
    annotate->look = (struct pd_annotate_plan){
        .samples = options->flags & PERFDATA_ANNOTATE_SAMPLES,
        .total_period = options->flags & PERFDATA_ANNOTATE_TOTAL_PERIOD,
        .source_lines = options->flags & PERFDATA_ANNOTATE_SOURCE_LINES,
        .verbose = options->flags & PERFDATA_ANNOTATE_VERBOSE,
        .browser = options->flags & PERFDATA_ANNOTATE_BROWSER,
        .hides_source = options->flags & PERFDATA_ANNOTATE_HIDE_SOURCE,
        .addresses = options->flags & PERFDATA_ANNOTATE_ADDRESSES,
        .line_numbers = options->flags & PERFDATA_ANNOTATE_LINE_NUMBERS,
        .jump_counts = options->flags & PERFDATA_ANNOTATE_JUMP_COUNTS,
        .full_paths = options->flags & PERFDATA_ANNOTATE_FULL_PATHS,
    };
    annotate->told.perf_exit = 129;
    perfdata_status status = pd_report_plan_make(context, &annotate->report, plan);
    if (status == 0)
        status = parse_percent_type(annotate);
    struct pd_config_places places = PD_CONFIG_PLACES(options);
    if (status == 0)
        status = pd_itrace_options_take(&plan->itrace, PD_ITRACE_REPORT, context, &places,
                                        options->itrace, options->itrace_count);
    if (status < 0)
        return status;
    if (options->flags & PERFDATA_ANNOTATE_NO_ITRACE) {
        plan->itrace.decode = plan->itrace.callchain = plan->itrace.add_callchain = false;
        plan->itrace.set = true;
    }
    plan->counts_code = true;
    plan->code_symbol = options->symbol;
    status = choose_objdump(annotate);
    return status < 0 ? status : fit_plan(annotate);
}

/* ---- rows ---- */

static const struct pd_hist_event *leader_of(const struct pd_annotate *annotate,
                                             const struct pd_report_group *group)
{
    return &annotate->result.events[group->events[0]];
}

static bool is_too_light(const struct pd_annotate *annotate, const struct pd_hist_row *row,
                         uint64_t total)
{
    return annotate->options->percent_limit && total &&
           100.0 * (double)row->period / (double)total < (double)annotate->plan.percent_limit;
}

static perfdata_status add_rows(struct pd_annotate *annotate, const struct pd_report_group *group)
{
    const struct pd_hist_event *event = leader_of(annotate, group);
    for (size_t i = 0; i < event->rows.count; i++) {
        const struct pd_hist_row *row = event->rows.data[i];
        const struct pd_symbol *symbol = row->entry->first.symbol;
        const struct pd_code_function *function = pd_code_hist_function(&annotate->counts.code,
                                                                        symbol);
        if (!function || is_too_light(annotate, row, event->period))
            continue;
        struct pd_annotate_row made = {
            group, symbol, (uint32_t)(function - annotate->counts.code.functions.data)
        };
        annotate->codes[made.function].last = annotate->rows.count;
        if (!pd_vec_push(&annotate->rows, made))
            return PERFDATA_ERROR_MEMORY;
    }
    return 0;
}

static perfdata_status list_rows(struct pd_annotate *annotate)
{
    struct pd_report_plan *plan = &annotate->plan;
    struct pd_code_hist *code = &annotate->counts.code;
    pd_code_hist_sort(code);
    annotate->codes = calloc(code->functions.count + 1, sizeof *annotate->codes);
    if (!annotate->codes)
        return PERFDATA_ERROR_MEMORY;
    perfdata_status status = pd_report_groups_make(annotate->recording, plan, &annotate->counts,
                                                   &annotate->groups);
    for (size_t i = 0; i < annotate->groups.count && status == 0; i++) {
        const struct pd_report_group *group = &annotate->groups.list[i];
        struct pd_hist_event *event = &annotate->result.events[group->events[0]];
        if (!event->count)
            continue;
        status = pd_hist_sort(&annotate->counts.hist, &annotate->result, event, plan->layout.order,
                              plan->layout.order_count, 1, 0);
        if (status == 0)
            status = add_rows(annotate, group);
    }
    return status;
}

/* ---- functions whose code cannot be had ---- */

static void put_no_kernel(struct pd_annotate *annotate, const struct pd_dso *dso,
                          struct pd_text *out)
{
    struct pd_build_id id = pd_symbols_build_id(annotate->session.symbols, dso);
    pd_text_string(out, "No vmlinux file");
    if (id.size) {
        pd_text_string(out, " with build id ");
        pd_text_hex_bytes(out, id.bytes, id.size);
    }
    pd_text_string(out, "\nwas found in the path.\n\n"
                        "Note that annotation using /proc/kcore requires CAP_SYS_RAWIO "
                        "capability.\n\nPlease use:\n\n"
                        "  perf buildid-cache -vu vmlinux\n\nor:\n\n  --vmlinux vmlinux\n");
}

static void put_reason(struct pd_annotate *annotate, const struct pd_code_function *function,
                       const struct pd_annotate_code *code, struct pd_text *out)
{
    if (code->file.source == PD_CODE_IN_FILE && (code->failed || !code->listing.lines.count)) {
        if (code->failed) {
            pd_text_string(out, "Error running ");
            pd_objdump_command(&annotate->objdump, code->file.address, code->end, out);
            pd_text_char(out, '\n');
        }
        if (code->error == PD_OBJDUMP_NO_OUTPUT) {
            pd_text_string(out, "No output from ");
            pd_objdump_command(&annotate->objdump, code->file.address, code->end, out);
            pd_text_char(out, '\n');
        }
    }
    pd_text_format(out, "Error:\nCouldn't annotate %s:\n", function->symbol->name);
    if (code->file.source == PD_CODE_OF_BPF)
        pd_text_string(out, "Please link with binutils's libopcode to enable BPF annotation\n");
    else if (code->file.source == PD_CODE_OF_KERNEL)
        put_no_kernel(annotate, function->dso, out);
    else
        pd_text_format(out, "Internal error: Invalid %d error code\n", code->error);
}

static perfdata_status refuse(struct pd_annotate *annotate, const struct pd_code_function *function,
                              const struct pd_annotate_code *code)
{
    struct pd_text reason = { 0 };
    bool silent = annotate->options->flags & PERFDATA_ANNOTATE_SKIP_MISSING &&
                  !annotate->recording->like_perf;
    perfdata_status status = 0;
    annotate->told.missing++;
    if (code->error == PD_OBJDUMP_MEMORY ||
        !pd_map64_set(&annotate->refused, (uintptr_t)function->dso, 0))
        return PERFDATA_ERROR_MEMORY;
    put_reason(annotate, function, code, &reason);
    pd_text_char(&reason, 0);
    if (reason.failed)
        status = PERFDATA_ERROR_MEMORY;
    else if (!silent)
        status = pd_warning(&annotate->recording->context, PERFDATA_ISSUE_OBJECT, -1, "%s",
                            reason.data);
    pd_text_free(&reason);
    return status;
}

/* ---- printing ---- */

static perfdata_status draw(struct pd_annotate *annotate, const struct pd_annotate_row *row,
                            const struct pd_code_function *function,
                            const struct pd_annotate_code *code)
{
    struct pd_annotation annotation = {
        .plan = &annotate->look,
        .groups = &annotate->groups,
        .group = row->group,
        .function = function,
        .hist = &annotate->counts.code,
        .symbol = row->symbol,
        .map = function->map,
        .object = pd_symbols_long_name(annotate->session.symbols, function->dso),
        .start = code->file.address,
        .listing = &code->listing,
        .event_count = row->group->count,
        .period = leader_of(annotate, row->group)->period,
        .symbols = annotate->session.symbols,
        .frequency = annotate->recording->events[row->group->events[0]]->attr.sample_period,
        .unknown_source = &annotate->unknown_source,
    };
    struct pd_arena *arena = &annotate->arena;
    pd_arena_empty(arena);
    if (!pd_annotation_count(&annotation, arena))
        return PERFDATA_ERROR_MEMORY;
    if (annotate->look.source_lines &&
        !pd_annotation_source_lines(&annotation, &annotate->plan, annotate->session.symbols, arena,
                                    &annotate->text))
        return PERFDATA_ERROR_MEMORY;
    for (size_t i = 0; i < row->group->count; i++)
        annotation.samples += annotate->result.events[row->group->events[i]].count;
    if (!annotate->look.browser)
        pd_annotation_draw(&annotation, &annotate->text);
    else if (!pd_annotation_browse(&annotation, arena, &annotate->text))
        return PERFDATA_ERROR_MEMORY;
    annotate->told.functions++;
    return pd_text_give(&annotate->text, annotate->write, annotate->data);
}

static perfdata_status print_row(struct pd_annotate *annotate, size_t index)
{
    const struct pd_annotate_row *row = &annotate->rows.data[index];
    const struct pd_code_function *function = &annotate->counts.code.functions.data[row->function];
    struct pd_annotate_code *code = &annotate->codes[row->function];
    perfdata_status status = 0;
    if (!annotate->take && (!code->done || pd_annotate_is_refused(annotate, row->function)))
        return 0;
    if (annotate->take)
        status = pd_annotate_give_code(annotate, index);
    else if (code->error || code->file.source != PD_CODE_IN_FILE)
        status = refuse(annotate, function, code);
    else
        status = draw(annotate, row, function, code);
    if (code->last == index)
        pd_listing_free(&code->listing);
    return status;
}

/* Code of more and more rows is fetched ahead: so the first rows are printed soon, while later runs
 * of objdump cover many functions of an object at once. */
static perfdata_status print_rows(struct pd_annotate *annotate)
{
    enum { FIRST = 16, MORE = 4, MOST = 2048 }; /* functions; the first ones of each thread */
    size_t step = (size_t)FIRST * annotate->threads;
    perfdata_status status = 0;
    for (size_t i = 0; i < annotate->rows.count && status == 0 && !annotate->enough;) {
        size_t end = PD_MIN(annotate->rows.count, i + step);
        status = pd_annotate_fetch(annotate, i, &end);
        for (; i < end && status == 0 && !annotate->enough; i++)
            status = print_row(annotate, i);
        step = PD_MIN(step * MORE, (size_t)MOST);
    }
    return status;
}

/* ---- the run ---- */

static perfdata_status decode(struct pd_annotate *annotate)
{
    struct pd_synth_config config = { .options = &annotate->plan.itrace,
                                      .threads = annotate->options->threads };
    pd_filter_trace(&annotate->plan.filter, &config);
    annotate->log.write = annotate->write;
    annotate->log.write_data = annotate->data;
    return pd_trace_log_decode(&annotate->log, &annotate->session, PD_TRACE_LOG_WRITE, &config);
}

static struct pd_object_search search_of(const struct pd_annotate *annotate)
{
    uint64_t flags = annotate->options->flags;
    struct pd_object_search search = pd_search_of(annotate->recording, &annotate->options->search,
                                                  NULL);
    search.ignore_vmlinux = flags & PERFDATA_ANNOTATE_IGNORE_VMLINUX;
    PD_SEARCH_BY_FLAGS(&search, flags, PERFDATA_ANNOTATE, VERBOSE);
    return search;
}

static perfdata_status run(struct pd_annotate *annotate)
{
    struct pd_object_search search = search_of(annotate);
    struct pd_context *context = &annotate->recording->context;
    struct pd_hist *hist = &annotate->counts.hist;
    perfdata_status status = pd_session_open(annotate->recording, &search, &annotate->session);
    if (status < 0)
        return status;
    annotate->threads = pd_pipeline_threads(&annotate->session, annotate->options->threads);
    status = decode(annotate);
    if (status == 0)
        status = pd_report_collect(&annotate->session, &annotate->plan, annotate->options->threads,
                                   &annotate->counts);
    if (status == 0 && !hist->entries.count)
        status = pd_fail(context, PERFDATA_ERROR_NO_DATA, -1, "The %s data has no samples!",
                         annotate->recording->path);
    if (status == 0)
        status = pd_hist_collapse(hist, annotate->recording->event_count, annotate->session.symbols,
                                  NULL, &annotate->result);
    if (status == 0)
        status = annotate->take ? pd_annotate_list_code(annotate) : list_rows(annotate);
    if (status == 0)
        status = print_rows(annotate);
    status = pd_analysis_status(context, status);
    annotate->told.trace_errors = pd_session_trace_errors(&annotate->session);
    return status;
}

static void forget(struct pd_annotate *annotate)
{
    for (size_t i = 0; annotate->codes && i < annotate->counts.code.functions.count; i++) {
        pd_listing_free(&annotate->codes[i].listing);
        free(annotate->codes[i].file.path);
    }
    free(annotate->codes);
    free(annotate->rows.data);
    pd_annotate_fetching_free(&annotate->fetching);
    pd_map64_free(&annotate->refused);
    pd_hist_result_free(&annotate->result);
    pd_hist_free(&annotate->counts.hist);
    pd_code_hist_free(&annotate->counts.code);
    pd_report_plan_free(&annotate->plan);
    pd_text_free(&annotate->text);
    pd_arena_free(&annotate->arena);
}

static perfdata_status start(perfdata_recording *recording,
                             const struct perfdata_annotate_options *options,
                             struct pd_annotate *annotate, struct perfdata_annotate_result *result)
{
    struct perfdata_annotate_options known = { 0 };
    struct pd_annotate_settings settings = { 0 };
    struct pd_context *context = &recording->recording.context;
    perfdata_status status = pd_handle_options(recording, &known, sizeof known, options);
    if (status < 0)
        return status;
    annotate->recording = &recording->recording;
    annotate->options = &known;
    status = pd_annotate_settings_take(context, &known, &settings);
    if (status == 0)
        status = make_plan(annotate);
    if (status == 0) {
        status = run(annotate);
        pd_session_close(&annotate->session);
        status = pd_trace_log_close(&annotate->log, status);
    }
    if (status == PERFDATA_ERROR_MEMORY)
        pd_fail(context, status, -1, "no memory for annotated code");
    forget(annotate);
    pd_give_result(result, &annotate->told, sizeof annotate->told);
    return status;
}

perfdata_status perfdata_annotate_run(perfdata_recording *recording,
                                      const struct perfdata_annotate_options *options,
                                      perfdata_write_fn write, void *data,
                                      struct perfdata_annotate_result *result)
{
    struct pd_annotate annotate = { .write = write, .data = data };
    if (!recording || !options || !write)
        return PERFDATA_ERROR_ARGUMENT;
    return start(recording, options, &annotate, result);
}

perfdata_status perfdata_annotate_code(perfdata_recording *recording,
                                       const struct perfdata_annotate_options *options,
                                       perfdata_code_fn take, void *data,
                                       struct perfdata_annotate_result *result)
{
    struct pd_annotate annotate = { .take = take, .data = data };
    if (!recording || !options || !take)
        return PERFDATA_ERROR_ARGUMENT;
    return start(recording, options, &annotate, result);
}
