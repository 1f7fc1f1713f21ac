/* SPDX-License-Identifier: MIT */
/* From option texts to a plan: sort keys, columns, filters. */
#include "render/report/plan.h"
#include <stdio.h>
#include <stdlib.h>

struct key_row {
    const char *name, *title;
    uint8_t what;
    enum pd_report_mode mode; /* of a key that only one mode has: this mode */
};

static const struct key_row key_rows[] = {
#define KEY(identifier, key, text, mode, ...) { key, text, PD_KEY_##identifier, PD_REPORT_##mode },
#define COLUMN(identifier, key, text, ...) { key, text, PD_COLUMN_##identifier, PD_REPORT_NORMAL },
#include "analyse/keys.def"
};

const char *perfdata_report_key_name(size_t index)
{
    return index < PD_LENGTH(key_rows) ? key_rows[index].name : NULL;
}

static const struct key_row *row_of(uint8_t what)
{
    for (size_t i = 0; i < PD_LENGTH(key_rows); i++)
        if (key_rows[i].what == what)
            return &key_rows[i];
    return NULL;
}

const char *pd_report_key_of(uint8_t what)
{
    const struct key_row *row = row_of(what);
    return row ? row->name : "";
}

/* Finds a key or column by any prefix of its name, in any case; the first in the table wins. */
static const struct key_row *find_row(const char *text, size_t length)
{
    for (size_t i = 0; i < PD_LENGTH(key_rows); i++)
        if (length && !strncasecmp(text, key_rows[i].name, length))
            return &key_rows[i];
    return NULL;
}

/* ---- keys and columns ---- */

static bool has_order(const struct pd_report_plan *plan, uint8_t what)
{
    return memchr(plan->layout.order, what, plan->layout.order_count) != NULL;
}

static void add_order(struct pd_report_plan *plan, uint8_t what)
{
    for (size_t i = 0; i < plan->layout.order_count; i++)
        if (plan->layout.order[i] == what)
            return;
    if (plan->layout.order_count < PD_REPORT_COLUMNS)
        plan->layout.order[plan->layout.order_count++] = what;
}

static void add_column(struct pd_report_plan *plan, uint8_t what)
{
    for (size_t i = 0; i < plan->layout.column_count; i++)
        if (plan->layout.columns[i].what == what)
            return;
    if (plan->layout.column_count < PD_REPORT_COLUMNS)
        plan->layout.columns[plan->layout.column_count++] = (struct pd_report_column){
            .what = what, .title = pd_hist_is_fields(what) ? "" : row_of(what)->title
        };
}

/* A word that is not a sort key may name fields of tracepoints. Fields that directly follow one
 * another are one key. */
static perfdata_status add_fields(struct pd_recording *recording, struct pd_report_plan *plan,
                                  const char *token, size_t length, bool *found)
{
    uint8_t last = plan->layout.order_count ? plan->layout.order[plan->layout.order_count - 1] : 0;
    uint8_t key = PD_KEY_FIELDS;
    while (key <= PD_KEY_FIELDS_LAST && key != last && has_order(plan, key))
        key++;
    if (key > PD_KEY_FIELDS_LAST)
        return pd_fail(&recording->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "--sort with fields of tracepoints in more than %d places is not supported",
                       PD_KEY_FIELDS_LAST - PD_KEY_FIELDS + 1);
    perfdata_status status = pd_report_fields_add(recording, plan, token, length, key, found);
    if (status == 0 && *found)
        add_order(plan, key);
    return status;
}

/* Keys that perf leaves out on x86, where they are given by their full names and in small
 * letters. */
static bool is_of_power(const char *token, size_t length)
{
    static const char *const keys[] = { "local_p_stage_cyc", "p_stage_cyc" };
    for (size_t i = 0; i < PD_LENGTH(keys); i++)
        if (length == strlen(keys[i]) && !strncmp(token, keys[i], length))
            return true;
    return false;
}

static perfdata_status parse_keys(struct pd_recording *recording, const char *text,
                                  const char *option, struct pd_report_plan *plan,
                                  void (*add)(struct pd_report_plan *plan, uint8_t what))
{
    struct pd_context *context = &recording->context;
    const char *token;
    size_t length;
    while (pd_report_next_token(&text, ", ", &token, &length)) {
        const struct key_row *row = find_row(token, length);
        bool found = false;
        perfdata_status status = !row && add == add_order
                                     ? add_fields(recording, plan, token, length, &found)
                                     : 0;
        if (status < 0)
            return status;
        if (found)
            continue;
        if (!row)
            return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "Unknown --%s key: `%.*s'", option,
                           (int)length, token);
        if (row->mode && row->mode != plan->mode)
            return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "Invalid --%s key: `%.*s'", option,
                           (int)length, token);
        if (row->mode && !plan->has_mode_data)
            continue; /* nothing will be printed */
        if (is_of_power(token, length))
            continue;
        add(plan, row->what);
    }
    return 0;
}

static const char memory_keys[] =
    "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,"
    "blocked,local_ins_lat,local_p_stage_cyc";

void pd_report_sort_text(const struct pd_report_plan *plan, struct pd_text *out)
{
    enum { ROOM = 127 }; /* how much room perf has for its own keys behind given ones */
    const char *sort = plan->layout.sort;
    size_t begin = out->length;
    if (!sort || *sort == '+')
        pd_text_string(out, sort && plan->only_tracepoints ? "trace" : memory_keys);
    if (sort && *sort == '+')
        pd_text_char(out, ',');
    if (sort)
        pd_text_string(out, sort + (*sort == '+'));
    if (sort && strstr(sort, "symbol")) {
        pd_text_string(out, ",ipc_null");
        if (*sort != '+')
            out->length = PD_MIN(out->length, begin + ROOM);
    }
}

/* perf adds a column for IPC wherever a sort key contains the word. */
static void add_ipc(struct pd_report_plan *plan, const char *sort)
{
    if (strstr(sort, "symbol") && !plan->layout.for_diff)
        add_order(plan, plan->mode == PD_REPORT_BRANCH ? PD_KEY_IPC_LBR : PD_KEY_IPC_NULL);
}

static perfdata_status setup_order(struct pd_recording *recording, struct pd_report_plan *plan,
                                   bool children)
{
    const struct perfdata_report_options *options = plan->options;
    struct pd_context *context = &recording->context;
    const char *sort = plan->layout.sort;
    bool appended = sort && *sort == '+';
    if (appended && !sort[1])
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "Invalid --sort key: `+'");
    if (sort && strstr(sort, "ipc"))
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "Unknown --sort key: `%s'", sort);
    if (options->fields && strstr(options->fields, "ipc"))
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "Unknown --fields key: `%s'",
                       options->fields);
    if (options->flags & PERFDATA_REPORT_LATENCY && !plan->layout.fields_are_strict)
        add_order(plan, PD_COLUMN_LATENCY);
    /* Where a sort key contains this word, wherever it stands, perf does not add an order of its
     * own. */
    if (!plan->layout.fields_are_strict && children && !(sort && strstr(sort, "overhead_children")))
        add_order(plan, PD_COLUMN_CHILDREN);
    if (!plan->layout.fields_are_strict &&
        !(sort && (strstr(sort, "overhead") || strstr(sort, "latency"))))
        add_order(plan, PD_COLUMN_OVERHEAD);
    perfdata_status status = 0;
    bool by_default = appended || (!sort && !plan->layout.fields_are_strict);
    if (by_default && plan->only_tracepoints && options->flags & PERFDATA_REPORT_RAW_TRACE) {
        status = parse_keys(recording, "trace_fields", "sort", plan, add_order);
    } else if (by_default && plan->only_tracepoints) {
        add_order(plan, PD_KEY_TRACE);
    } else if (by_default && plan->mode == PD_REPORT_BRANCH) {
        static const uint8_t keys[] = { PD_KEY_COMM, PD_KEY_DSO_FROM, PD_KEY_SYMBOL_FROM,
                                        PD_KEY_SYMBOL_TO, PD_KEY_CYCLES };
        for (size_t i = 0; i < PD_LENGTH(keys); i++)
            add_order(plan, keys[i]);
    } else if (by_default && plan->mode == PD_REPORT_MEMORY) {
        status = parse_keys(recording, memory_keys, "sort", plan, add_order);
    } else if (by_default && options->sort_settings) {
        status = parse_keys(recording, options->sort_settings, "sort", plan, add_order);
    } else if (by_default) {
        add_order(plan, PD_KEY_COMM);
        add_order(plan, PD_KEY_DSO);
        add_order(plan, PD_KEY_SYMBOL);
    }
    if (status == 0 && sort) {
        status = parse_keys(recording, sort + appended, "sort", plan, add_order);
        add_ipc(plan, sort);
    }
    if (status == 0 && options->parent)
        add_order(plan, PD_KEY_PARENT);
    return status;
}

static void default_columns(struct pd_report_plan *plan, bool children)
{
    uint64_t flags = plan->options->flags;
    if (flags & PERFDATA_REPORT_LATENCY)
        add_column(plan, PD_COLUMN_LATENCY);
    if (children)
        add_column(plan, PD_COLUMN_CHILDREN);
    add_column(plan, PD_COLUMN_OVERHEAD);
    if (children)
        plan->layout.columns[plan->layout.column_count - 1].title = "Self";
    if (flags & PERFDATA_REPORT_CPU_UTILIZATION) {
        add_column(plan, PD_COLUMN_SYS);
        add_column(plan, PD_COLUMN_USER);
        if (plan->options->flags & PERFDATA_REPORT_GUESTS) {
            add_column(plan, PD_COLUMN_GUEST_SYS);
            add_column(plan, PD_COLUMN_GUEST_USER);
        }
    }
    if (flags & PERFDATA_REPORT_SAMPLES)
        add_column(plan, PD_COLUMN_SAMPLES);
    if (flags & PERFDATA_REPORT_TOTAL_PERIOD)
        add_column(plan, PD_COLUMN_PERIOD);
}

/* Takes the next of the widths that are left, *at; 0: none. */
static uint32_t next_width(const char **at)
{
    char *end;
    if (!*at)
        return 0;
    const long width = strtol(*at, &end, 10);
    *at = *end == ',' ? end + 1 : NULL;
    return width > 0 && width < 4096 ? (uint32_t)width : 0;
}

/* Fields of tracepoints have a width each, those of all events one after the other. */
static void user_widths(struct pd_report_plan *plan)
{
    const char *at = plan->options->column_widths;
    for (size_t i = 0; at && i < plan->layout.column_count; i++) {
        struct pd_report_column *column = &plan->layout.columns[i];
        if (!pd_hist_is_fields(column->what)) {
            column->user_width = next_width(&at);
            continue;
        }
        for (size_t f = 0; f < plan->payloads.fields.count; f++)
            if (plan->payloads.fields.data[f].key == column->what)
                plan->payloads.fields.data[f].user_width = next_width(&at);
    }
}

static perfdata_status check_levels(struct pd_context *context, const struct pd_report_plan *plan)
{
    bool key = false;
    for (size_t i = 0; i < plan->layout.column_count; i++) {
        bool number = plan->layout.columns[i].what >= PD_KEY_COUNT;
        if ((number && key) || pd_hist_is_fields(plan->layout.columns[i].what))
            return pd_fail(context, PERFDATA_ERROR_UNSUPPORTED, -1,
                           "--hierarchy with %s among the sort keys is not supported yet",
                           number ? "numbers" : "fields of tracepoints");
        key |= !number;
    }
    return 0;
}

/* perf has made the column of callers before it learns that there are no chains, and takes it away
 * then, whoever asked for it; but not where --fields names all columns. */
static void take_children_away(struct pd_report_plan *plan)
{
    size_t kept = 0;
    if (plan->layout.fields_are_strict || plan->mode != PD_REPORT_NORMAL ||
        plan->options->flags & PERFDATA_REPORT_NO_CHILDREN)
        return;
    for (size_t i = 0; i < plan->layout.column_count; i++)
        if (plan->layout.columns[i].what != PD_COLUMN_CHILDREN)
            plan->layout.columns[kept++] = plan->layout.columns[i];
    plan->layout.column_count = kept;
}

static perfdata_status setup_columns(struct pd_recording *recording, struct pd_report_plan *plan,
                                     bool children)
{
    const char *fields = plan->options->fields;
    perfdata_status status = setup_order(recording, plan, children);
    if (status < 0)
        return status;
    if (!plan->layout.fields_are_strict)
        default_columns(plan, children);
    if (fields)
        status = parse_keys(recording, fields + (*fields == '+'), "fields", plan, add_column);
    for (size_t i = 0; i < plan->layout.order_count; i++)
        add_column(plan, plan->layout.order[i]);
    if (!children)
        take_children_away(plan);
    for (size_t i = 0; i < plan->layout.column_count; i++)
        add_order(plan, plan->layout.columns[i].what);
    if (!plan->hist.levels || !recording->like_perf) /* perf's tree of rows takes none */
        user_widths(plan);
    if (plan->hist.levels && status == 0)
        status = check_levels(&recording->context, plan);
    plan->hist.key_count = 0;
    for (size_t i = 0; i < plan->layout.order_count; i++)
        if (plan->layout.order[i] < PD_KEY_COUNT)
            plan->hist.keys[plan->hist.key_count++] = plan->layout.order[i];
    plan->hist.keeps_addresses = plan->hist.frames != PD_FRAMES_BY_FUNCTION ||
                                 has_order(plan, PD_KEY_SRCLINE) ||
                                 has_order(plan, PD_KEY_SRCFILE) || has_order(plan, PD_KEY_ADDR) ||
                                 plan->hist.long_names;
    plan->counts_latency = has_order(plan, PD_COLUMN_LATENCY) ||
                           has_order(plan, PD_KEY_PARALLELISM);
    plan->hist.has_access = plan->mode != PD_REPORT_NORMAL;
    plan->hist.keeps_log = has_order(plan, PD_KEY_MISPREDICT) || has_order(plan, PD_KEY_IN_TX) ||
                           has_order(plan, PD_KEY_ABORT) ||
                           (plan->mode == PD_REPORT_BRANCH && !has_order(plan, PD_KEY_DSO) &&
                            (has_order(plan, PD_KEY_SYMBOL) || has_order(plan, PD_KEY_IPC_LBR)));
    plan->hist.keeps_visits = plan->mode == PD_REPORT_NORMAL && !plan->hist.keeps_log &&
                              (has_order(plan, PD_KEY_SYMBOL) || has_order(plan, PD_KEY_IPC_NULL));
    return status;
}

/* Callers have no latency of their own, and neither have branches and accesses to memory.
 * Callers that were asked for are refused; else the columns are made anew without callers. */
static perfdata_status setup_latency(struct pd_recording *recording, struct pd_report_plan *plan,
                                     bool *children)
{
    bool asked = plan->options->flags & PERFDATA_REPORT_CHILDREN;
    if (!plan->counts_latency)
        return 0;
    if (plan->mode != PD_REPORT_NORMAL || (*children && asked))
        return pd_fail(&recording->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "latency and parallelism of %s are not supported yet",
                       *children ? "callers (--children)" : "branches and accesses to memory");
    if (!*children)
        return 0;
    *children = false;
    plan->layout.column_count = plan->layout.order_count = 0;
    plan->payloads.fields.count = 0;
    return setup_columns(recording, plan, false);
}

/* ---- the rest ---- */

static perfdata_status compile(struct pd_context *context, const char *pattern, regex_t *out)
{
    int error = regcomp(out, pattern, REG_EXTENDED);
    if (!error)
        return 0;
    if (error == REG_ESPACE)
        return pd_fail(context, PERFDATA_ERROR_MEMORY, -1, "out of memory for a regex");
    char text[200];
    regerror(error, out, text, sizeof text);
    return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "Invalid regex: %s\n%s", pattern, text);
}

static perfdata_status parse_quantum(struct pd_context *context, const char *text, uint64_t *out)
{
    static const struct {
        const char *unit;
        uint64_t factor;
    } units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
    *out = 100000000;
    if (!text)
        return 0;
    char *end;
    uint64_t number = strtoul(text, &end, 0);
    for (size_t i = 0; end != text && i < PD_LENGTH(units); i++)
        if (!strcmp(end, units[i].unit) && !pd_mul_overflows(number, units[i].factor, out) && *out)
            return 0;
    return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                   "time quantum '%s': a number and s, ms, us or ns", text);
}

perfdata_status pd_report_plan_make(struct pd_context *context,
                                    const struct perfdata_report_options *options,
                                    struct pd_report_plan *out)
{
    memset(out, 0, sizeof *out);
    out->options = options;
    out->relative = options->flags & PERFDATA_REPORT_RELATIVE;
    out->quiet = options->flags & PERFDATA_REPORT_QUIET;
    out->group_all = options->flags & PERFDATA_REPORT_GROUP;
    out->no_group = options->flags & PERFDATA_REPORT_NO_GROUP;
    out->full_source_path = options->flags & PERFDATA_REPORT_FULL_SOURCE_PATH;
    out->layout.fields_are_strict = options->fields && *options->fields != '+';
    out->exclude_other = options->flags & PERFDATA_REPORT_EXCLUDE_OTHER;
    out->layout.thread_counts = options->flags & PERFDATA_REPORT_THREAD_COUNTS;
    out->no_host = options->flags & PERFDATA_REPORT_NO_HOST;
    out->hist.hide_unresolved = options->flags & PERFDATA_REPORT_HIDE_UNRESOLVED;
    out->layout.sort = options->sort;
    if (!out->layout.sort && options->flags & PERFDATA_REPORT_BRANCH_HISTORY)
        out->layout.sort = "srcline,symbol,dso";
    out->chains.skip_first_frame = out->layout.sort && !strncmp(out->layout.sort, "sym", 3) &&
                                   !options->fields;
    out->hist.long_names = options->flags & PERFDATA_REPORT_VERBOSE;
    out->hist.levels = options->flags & PERFDATA_REPORT_HIERARCHY;
    if (out->hist.levels && options->fields)
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                       "--hierarchy and --fields options cannot be used together");
    perfdata_status status = pd_report_parse_chains(context, out);
    if (options->flags & PERFDATA_REPORT_BRANCH_HISTORY) {
        out->chains.asked = out->chains.with_branches = true;
        out->hist.frames = PD_FRAMES_BY_ADDRESS;
    }
    if (status == 0)
        status = parse_quantum(context, options->time_quantum, &out->time_quantum);
    if (status == 0 && options->percent_limit) {
        out->percent_limit = strtof(options->percent_limit, NULL);
        out->chains.percent = (double)out->percent_limit;
    }
    if (status == 0 && options->ignore_callees) {
        status = compile(context, options->ignore_callees, &out->patterns.ignore);
        out->patterns.has_ignore = status == 0;
    }
    if (status == 0 && options->parent) {
        status = compile(context, options->parent, &out->patterns.parent);
        out->patterns.has_parent = status == 0;
        out->patterns.parent_refused = status < 0;
    }
    return status;
}

static perfdata_status setup_filters(struct pd_recording *recording, struct pd_report_plan *plan,
                                     int32_t *perf_exit)
{
    const struct perfdata_report_options *options = plan->options;
    struct pd_context *context = &recording->context;
    struct pd_filter *filter = &plan->filter;
    perfdata_status status = 0;
    if (options->comms)
        status = pd_filter_add_comms(filter, context, options->comms);
    if (status == 0 && options->dsos)
        status = pd_filter_add_dsos(filter, context, options->dsos);
    if (status == 0 && options->symbols)
        status = pd_filter_add_symbols(filter, context, options->symbols, 0);
    if (status == 0 && options->pids)
        status = pd_filter_add_pids(filter, context, options->pids);
    if (status == 0 && options->tids)
        status = pd_filter_add_tids(filter, context, options->tids);
    if (status == 0 && options->time) {
        status = pd_filter_add_times(filter, recording, options->time, false);
        if (status < 0)
            *perf_exit = 234;
    }
    if (status == 0 && options->socket)
        status = pd_filter_add_socket(filter, recording, context, options->socket);
    if (status == 0 && options->cpus) {
        status = pd_filter_add_cpus(filter, recording, options->cpus);
        if (status < 0)
            *perf_exit = 0;
        plan->cpus_refused = status < 0;
    }
    return status;
}

static uint8_t filters_in_force(const struct pd_filter *filter)
{
    return (pd_filter_has_thread(filter) ? PD_FILTERED_THREAD : 0) |
           (filter->has_dsos ? PD_FILTERED_DSO : 0) |
           (filter->has_symbols ? PD_FILTERED_SYMBOL : 0);
}

static void forget_order(struct pd_report_plan *plan, uint8_t what)
{
    uint8_t *at = memchr(plan->layout.order, what, plan->layout.order_count);
    if (at) {
        plan->layout.order_count--;
        memmove(at, at + 1, (size_t)(plan->layout.order + plan->layout.order_count - at));
    }
}

/* A filter that leaves one name makes the column of names superfluous, unless no column would be
 * left. */
static perfdata_status elide(struct pd_report_plan *plan)
{
    const struct pd_filter *filter = &plan->filter;
    size_t kept = 0;
    if (filter->has_comms && filter->comms.count == 1)
        plan->only.comm = pd_arena_copy(&plan->arena, filter->comms.names[0].text,
                                        filter->comms.names[0].length);
    if (filter->has_dsos && filter->dsos.count == 1)
        plan->only.dso = pd_arena_copy(&plan->arena, filter->dsos.names[0].text,
                                       filter->dsos.names[0].length);
    if (filter->has_symbols && filter->symbols.count == 1 && !filter->address_count)
        plan->only.symbol = pd_arena_copy(&plan->arena, filter->symbols.names[0].text,
                                          filter->symbols.names[0].length);
    else if (filter->has_symbols && !filter->symbols.count && filter->address_count == 1)
        plan->only.symbol = plan->options->symbols;
    for (size_t i = 0; i < plan->layout.column_count; i++) {
        struct pd_report_column *column = &plan->layout.columns[i];
        column->elided = (column->what == PD_KEY_COMM && plan->only.comm) ||
                         (column->what == PD_KEY_DSO && plan->only.dso) ||
                         (column->what == PD_KEY_SYMBOL && plan->only.symbol);
        plan->only.show_comm |= column->elided && column->what == PD_KEY_COMM;
        plan->only.show_dso |= column->elided && column->what == PD_KEY_DSO;
        plan->only.show_symbol |= column->elided && column->what == PD_KEY_SYMBOL;
        kept += column->what < PD_KEY_COUNT && !column->elided;
    }
    for (size_t i = 0; i < plan->layout.column_count; i++) {
        struct pd_report_column *column = &plan->layout.columns[i];
        column->elided &= kept != 0 && !plan->hist.levels;
        if (column->elided)
            forget_order(plan, column->what);
    }
    return 0;
}

/* Of a pipe perf cannot know: it reads the events only after it has chosen. */
static bool has_only_tracepoints(const struct pd_recording *recording)
{
    for (size_t i = 0; i < recording->event_count; i++)
        if (recording->events[i]->attr.type != PD_TYPE_TRACEPOINT)
            return false;
    return recording->event_count != 0 && recording->kind != PD_CONTAINER_PIPE;
}

/* Of a pipe perf cannot know: it has not read the features when it chooses. */
static bool has_branch_stacks(const struct pd_recording *recording)
{
    return recording->kind != PD_CONTAINER_PIPE &&
           pd_recording_has_feature(recording, PD_FEATURE_BRANCH_STACK);
}

static bool makes_branches(const struct pd_report_plan *plan) /* when a trace is decoded */
{
    return plan->itrace.last_branch || plan->itrace.add_last_branch;
}

static enum pd_report_mode mode_of(const struct pd_recording *recording,
                                   const struct pd_report_plan *plan, uint64_t flags)
{
    if (flags & PERFDATA_REPORT_MEM_MODE)
        return PD_REPORT_MEMORY;
    if (flags & PERFDATA_REPORT_BRANCH_HISTORY)
        return PD_REPORT_NORMAL;
    bool branches = (has_branch_stacks(recording) || makes_branches(plan)) &&
                    !(flags & PERFDATA_REPORT_NO_BRANCH_STACK);
    return branches || flags & PERFDATA_REPORT_BRANCH_STACK ? PD_REPORT_BRANCH : PD_REPORT_NORMAL;
}

/* By default a report of tracepoints alone shows their own text, in whichever mode, and needs no
 * other data for it. */
static bool shows_payloads(const struct pd_report_plan *plan)
{
    return plan->only_tracepoints && !plan->layout.fields_are_strict &&
           (!plan->layout.sort || *plan->layout.sort == '+');
}

/* Whether there is what memory mode needs. Arm SPE of kernels before 5.18 brings data and does not
 * say so. */
static bool has_memory_data(const struct pd_recording *recording, const struct pd_report_plan *plan,
                            uint64_t sample_type)
{
    if (recording->kind == PD_CONTAINER_PIPE || sample_type & PD_SAMPLE_DATA_SRC ||
        shows_payloads(plan))
        return true;
    for (size_t i = 0; i < recording->event_count; i++)
        if (recording->events[i]->name && strstr(recording->events[i]->name, "arm_spe"))
            return true;
    return false;
}

perfdata_status pd_report_check_modes(struct pd_recording *recording,
                                      const struct pd_report_plan *plan)
{
    const uint64_t flags = plan->options->flags;
    if (!(flags & PERFDATA_REPORT_MEM_MODE) ||
        mode_of(recording, plan, flags & ~PERFDATA_REPORT_MEM_MODE) != PD_REPORT_BRANCH)
        return PERFDATA_OK;
    return pd_fail(&recording->context, PERFDATA_ERROR_NO_DATA, -1,
                   "branch and mem mode incompatible");
}

static void choose_mode(struct pd_recording *recording, struct pd_report_plan *plan,
                        uint64_t sample_type)
{
    const uint64_t flags = plan->options->flags;
    bool recorded = recording->kind == PD_CONTAINER_PIPE || /* perf cannot know of one */
                    sample_type & PD_SAMPLE_BRANCH_STACK;
    plan->mode = mode_of(recording, plan, flags);
    plan->chains.shows_ends = flags & PERFDATA_REPORT_BRANCH_HISTORY &&
                              (makes_branches(plan) || has_branch_stacks(recording));
    plan->total_cycles = plan->mode == PD_REPORT_BRANCH && flags & PERFDATA_REPORT_TOTAL_CYCLES;
    plan->has_mode_data = plan->mode == PD_REPORT_BRANCH
                              ? recorded || makes_branches(plan)
                              : has_memory_data(recording, plan, sample_type);
}

static perfdata_status check_mode_data(struct pd_context *context,
                                       const struct pd_report_plan *plan)
{
    if (plan->has_mode_data || plan->mode == PD_REPORT_NORMAL)
        return 0;
    return pd_fail(
        context, PERFDATA_ERROR_NO_DATA, -1,
        plan->mode == PD_REPORT_BRANCH
            ? "Selected -b but no branch data. Did you call perf record without -b?"
            : "Selected --mem-mode but no mem data. Did you call perf record without -d?");
}

static perfdata_status check_without_chains(struct pd_context *context,
                                            const struct pd_report_plan *plan)
{
    if (has_order(plan, PD_KEY_PARENT) && !plan->layout.for_diff)
        return pd_fail(context, PERFDATA_ERROR_NO_DATA, -1,
                       "Selected --sort parent, but no callchain data. Did you call 'perf record' "
                       "without -g?");
    bool history = plan->options->flags & PERFDATA_REPORT_BRANCH_HISTORY;
    if (plan->chains.asked && !plan->chains.shows_ends &&
        (history || plan->chains.mode != PD_CHAIN_NONE))
        return pd_fail(context, PERFDATA_ERROR_NO_DATA, -1,
                       "Selected -g or --branch-history.\nBut no callchain or branch data.\n"
                       "Did you call 'perf record' without -g or -b?");
    return 0;
}

perfdata_status pd_report_plan_fit(struct pd_recording *recording, struct pd_report_plan *plan,
                                   int32_t *perf_exit)
{
    struct pd_context *context = &recording->context;
    uint64_t sample_type = 0;
    for (size_t i = 0; i < recording->event_count; i++)
        sample_type |= pd_event_fields(recording->events[i]);
    /* perf reads a pipe's events only after it has chosen, so it makes chains, but no column for
     * children. */
    bool is_pipe = recording->kind == PD_CONTAINER_PIPE;
    struct pd_itrace_options *itrace = &plan->itrace;
    bool traced = pd_recording_has_feature(recording, PD_FEATURE_AUXTRACE);
    if (itrace->set ? itrace->callchain || itrace->add_callchain : traced)
        sample_type |= PD_SAMPLE_CALLCHAIN;
    if (plan->chains.mode == PD_CHAIN_NONE) /* perf then makes none, but has a column for callers */
        itrace->callchain = itrace->add_callchain = false;
    bool has_chains = is_pipe || sample_type & PD_SAMPLE_CALLCHAIN;
    bool wants_children = !(plan->options->flags & PERFDATA_REPORT_NO_CHILDREN);
    *perf_exit = 0;
    plan->only_tracepoints = has_only_tracepoints(recording);
    choose_mode(recording, plan, sample_type);
    bool children = wants_children && has_chains && !is_pipe && plan->mode == PD_REPORT_NORMAL &&
                    !plan->hist.levels;
    if (plan->mode == PD_REPORT_BRANCH && shows_payloads(plan)) /* a row a sample, not a branch */
        plan->mode = PD_REPORT_NORMAL;
    perfdata_status status = setup_columns(recording, plan, children);
    if (status == 0)
        status = setup_latency(recording, plan, &children);
    wants_children &= !plan->counts_latency;
    if (status == 0 && has_order(plan, PD_KEY_TRACE))
        status = pd_report_trace_open(recording, plan);
    if (status == 0)
        status = setup_filters(recording, plan, perf_exit);
    if (status == 0 || plan->cpus_refused) {
        perfdata_status elided = elide(plan);
        status = status < 0 ? status : elided;
    }
    if (status == 0)
        status = check_mode_data(context, plan);
    if (status < 0)
        return status;
    plan->hist.filters = filters_in_force(&plan->filter);
    if (!plan->layout.order_set)
        plan->hist.caller_order = wants_children;
    if (plan->options->flags & PERFDATA_REPORT_INVERTED)
        plan->hist.caller_order = true;
    plan->hist.children = children;
    if (!has_chains && (status = check_without_chains(context, plan)) < 0)
        return status;
    /* --branch-history gathers chains even where none are drawn, since the order of rows depends on
     * them. */
    bool history = plan->options->flags & PERFDATA_REPORT_BRANCH_HISTORY;
    plan->hist.use_chains = (has_chains || plan->chains.shows_ends) &&
                            plan->mode != PD_REPORT_BRANCH &&
                            (plan->chains.mode != PD_CHAIN_NONE || history);
    return 0;
}

void pd_report_plan_free(struct pd_report_plan *plan)
{
    if (plan->patterns.has_parent)
        regfree(&plan->patterns.parent);
    if (plan->patterns.has_ignore)
        regfree(&plan->patterns.ignore);
    pd_filter_free(&plan->filter);
    pd_tracing_free(plan->payloads.tracing);
    pd_vec_free(&plan->payloads.fields);
    pd_arena_free(&plan->arena);
}
