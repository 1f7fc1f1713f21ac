/* SPDX-License-Identifier: MIT */
/* diff: count each recording, join their rows, print. */
#include "container/handle.h"
#include "io/config.h"
#include "io/settings.h"
#include "render/diff/diff.h"
#include <perfdata/diff.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_STACK = 127, SIDES_MAX = 64 };

struct run {
    const struct perfdata_diff_options *options;
    struct pd_diff_plan plan;
    struct pd_diff diff;
    struct pd_text text;
    const char *sort;
    char *own_sort;
    perfdata_write_fn write;
    void *data;
    struct perfdata_diff_result told;
};

static struct pd_context *context_of(const struct run *run, size_t side)
{
    return &run->diff.sides[side].recording->context;
}

/* ---- options ---- */

/* Reads two numbers, neither of which may be 0. */
static bool parse_weights(const char *text, int64_t *weights)
{
    char *end;
    weights[0] = strtol(text, &end, 10);
    if (*end != ',')
        return false;
    weights[1] = strtol(end + 1, &end, 10);
    return weights[0] && weights[1];
}

/* Returns NULL, or what perf says of a wrong method. */
static const char *parse_method(const char *text, struct pd_diff_plan *plan, char *room,
                                size_t size)
{
    static const char *const names[] = {
        [PD_DIFF_DELTA_ABS] = "delta-abs", [PD_DIFF_DELTA] = "delta", [PD_DIFF_RATIO] = "ratio"
    };
    static const char weighted[] = "wdiff";
    for (size_t i = 0; i < PD_LENGTH(names); i++) {
        if (strcmp(text, names[i]) != 0)
            continue;
        plan->method = (enum pd_diff_method)i;
        return NULL;
    }
    size_t length = strcspn(text, ":");
    plan->method = PD_DIFF_WEIGHTED;
    if (length == sizeof weighted - 1 && !strncmp(text, weighted, length))
        return text[length] && parse_weights(text + length + 1, plan->weights)
                   ? NULL
                   : "Failed: wrong weight data, use 'wdiff:w1,w2'";
    snprintf(room, size, "Failed: '%s' is not computation method (use 'delta','ratio' or 'wdiff')",
             text);
    return room;
}

static perfdata_status take_method(struct run *run)
{
    const char *text = run->options->compute;
    char room[256];
    if (!text)
        return 0;
    if (!strcmp(text, "cycles")) {
        run->told.perf_exit = 255;
        return pd_fail(context_of(run, 0), PERFDATA_ERROR_UNSUPPORTED, -1,
                       "the method cycles compares blocks of branch stacks, which is not done yet");
    }
    const char *wrong = parse_method(text, &run->plan, room, sizeof room);
    run->told.perf_exit = 129;
    return wrong ? pd_fail(context_of(run, 0), PERFDATA_ERROR_ARGUMENT, -1, "%s", wrong) : 0;
}

/* Takes the settings of perfconfig files; those of the command line come later and win. */
static int take_setting(void *data, const char *key, const char *value)
{
    struct run *run = data;
    char room[256];
    bool known;
    struct pd_chain_settings chains = { 0 };
    int taken = pd_chain_settings_take(context_of(run, 0), &chains, key, value, &known);
    if (known)
        return taken;
    if (!strcmp(key, "diff.order") && value) {
        char *end;
        unsigned long order = strtoul(value, &end, 10);
        if (end == value)
            return pd_warning(context_of(run, 0), PERFDATA_ISSUE_CONFIG, -1,
                              "bad config value for '%s', ignoring...\n"
                              "Error in the given config file: wrong config key-value pair %s=%s\n",
                              key, key, value);
        run->plan.order = (uint32_t)order;
    }
    if (strcmp(key, "diff.compute") != 0 || !value)
        return 0;
    struct pd_diff_plan made = run->plan;
    if (parse_method(value, &made, room, sizeof room) || made.method == PD_DIFF_WEIGHTED)
        return pd_warning(context_of(run, 0), PERFDATA_ISSUE_CONFIG, -1,
                          "Invalid compute method: %s\n"
                          "Error in the given config file: wrong config key-value pair %s=%s\n",
                          value, key, value);
    run->plan.method = made.method;
    return 0;
}

static perfdata_status make_plan(struct run *run)
{
    const struct perfdata_diff_options *options = run->options;
    struct pd_config_places places = PD_CONFIG_PLACES(options);
    run->plan = (struct pd_diff_plan){
        .order = 1,
        .baseline_only = options->flags & PERFDATA_DIFF_BASELINE_ONLY,
        .periods = options->flags & PERFDATA_DIFF_PERIOD,
        .formula = options->flags & PERFDATA_DIFF_FORMULA,
        .quiet = options->flags & PERFDATA_DIFF_QUIET,
        .verbose = options->flags & PERFDATA_DIFF_VERBOSE,
        .json = options->flags & PERFDATA_DIFF_JSON,
        .separator = options->separator,
    };
    run->diff.plan = &run->plan;
    run->told.perf_exit = 255;
    int status = pd_config_read(context_of(run, 0), &places, take_setting, run);
    if (status == 0)
        status = take_method(run);
    if (status < 0)
        return status;
    if (options->order >= 0)
        run->plan.order = (uint32_t)options->order;
    run->told.perf_exit = 255;
    if (run->plan.order >= run->diff.count)
        return pd_fail(context_of(run, 0), PERFDATA_ERROR_ARGUMENT, -1,
                       "Order option out of limit.");
    if (options->separator && !strcmp(options->separator, "."))
        return pd_fail(context_of(run, 0), PERFDATA_ERROR_ARGUMENT, -1,
                       "'.' is the only non valid --field-separator argument");
    return 0;
}

/* ---- one recording ---- */

/* The part of --time that is for this recording; where there are fewer parts, the last one. NULL:
 * no memory. */
static char *part_of_time(const char *time, size_t side)
{
    const char *end;
    while ((end = strchr(time, ':')) && side--)
        time = end + 1;
    return strndup(time, end ? (size_t)(end - time) : strlen(time));
}

/* "+KEY" adds to the default keys of diff, which are not those of report. */
static bool choose_keys(struct run *run)
{
    static const char keys[] = "dso,symbol";
    const char *sort = run->options->sort;
    run->sort = sort ? sort : keys;
    if (!sort || *sort != '+' || !sort[1])
        return true;
    size_t length = strlen(sort);
    run->own_sort = malloc(sizeof keys + length);
    if (!run->own_sort)
        return false;
    memcpy(run->own_sort, keys, sizeof keys - 1);
    memcpy(run->own_sort + sizeof keys - 1, sort, length + 1);
    run->own_sort[sizeof keys - 1] = ',';
    run->sort = run->own_sort;
    return true;
}

static perfdata_status plan_side(struct run *run, size_t index)
{
    static const uint64_t same[][2] = {
        { PERFDATA_DIFF_VERBOSE, PERFDATA_REPORT_VERBOSE },
        { PERFDATA_DIFF_RELATIVE, PERFDATA_REPORT_RELATIVE },
        { PERFDATA_DIFF_QUIET, PERFDATA_REPORT_QUIET },
        { PERFDATA_DIFF_GUESTS, PERFDATA_REPORT_GUESTS },
        { PERFDATA_DIFF_NO_HOST, PERFDATA_REPORT_NO_HOST },
        { PERFDATA_DIFF_GUEST_CODE, PERFDATA_REPORT_GUEST_CODE },
    };
    const struct perfdata_diff_options *options = run->options;
    struct pd_diff_side *side = &run->diff.sides[index];
    struct pd_context *context = context_of(run, index);
    if (options->time && !(side->time = part_of_time(options->time, index)))
        return PERFDATA_ERROR_MEMORY;
    side->report = (struct perfdata_report_options){
        .struct_size = sizeof side->report,
        .flags = PERFDATA_REPORT_NO_CHILDREN | PERFDATA_REPORT_NO_CALL_GRAPH |
                 PERFDATA_REPORT_NO_BRANCH_STACK,
        .max_stack = MAX_STACK,
        .threads = options->threads,
        .sort = run->sort,
        .separator = options->separator,
        PD_REPORT_WHICH_SAMPLES(options),
        .time = side->time,
        .search = options->search,
    };
    for (size_t i = 0; i < PD_LENGTH(same); i++)
        side->report.flags |= options->flags & same[i][0] ? same[i][1] : 0;
    run->told.perf_exit = 129;
    perfdata_status status = pd_report_plan_make(context, &side->report, &side->plan);
    side->plan.layout.for_diff = true;
    if (status == 0)
        status = pd_report_plan_fit(side->recording, &side->plan, &run->told.perf_exit);
    if (status == PERFDATA_ERROR_ARGUMENT && !run->told.perf_exit)
        run->told.perf_exit = 129;
    if (status < 0 && options->cpus)
        run->told.perf_exit = 255;
    for (unsigned k = 0; status == 0 && k < side->plan.hist.key_count; k++)
        if (!pd_diff_knows_key(side->plan.hist.keys[k]))
            status = pd_fail(context, PERFDATA_ERROR_UNSUPPORTED, -1,
                             "sort key %s has no order across recordings yet",
                             pd_report_key_of(side->plan.hist.keys[k]));
    return status;
}

static perfdata_status read_side(struct run *run, size_t index)
{
    const struct perfdata_diff_options *options = run->options;
    struct pd_diff_side *side = &run->diff.sides[index];
    struct pd_object_search search = pd_search_of(side->recording, &options->search, NULL);
    search.demangle = true;
    search.force = options->flags & PERFDATA_DIFF_FORCE;
    search.verbose_names = options->flags & PERFDATA_DIFF_VERBOSE;
    perfdata_status status = pd_session_open(side->recording, &search, &side->session);
    side->is_open = status == 0;
    side->session.guests.wanted |= (options->flags & PERFDATA_DIFF_GUESTS) != 0;
    side->session.guests.code = options->flags & PERFDATA_DIFF_GUEST_CODE;
    if (status == 0)
        pd_session_want_guests(&side->session, &options->search);
    if (status == 0)
        status = pd_report_collect(&side->session, &side->plan, options->threads, &side->counts);
    if (status == 0)
        status = pd_session_warn_kernel(&side->session);
    if (status == 0)
        status = pd_hist_collapse(&side->counts.hist, side->recording->event_count,
                                  side->session.symbols, NULL, &side->result);
    return pd_analysis_status(context_of(run, index), status);
}

static void close_side(struct pd_diff_side *side)
{
    pd_hist_result_free(&side->result);
    pd_hist_free(&side->counts.hist);
    if (side->is_open)
        pd_session_close(&side->session);
    pd_report_plan_free(&side->plan);
    pd_intern_free(&side->kinds);
    pd_vec_free(&side->first);
    free(side->time);
}

/* ---- printing ---- */

static perfdata_status print_event(struct run *run, uint32_t index)
{
    struct pd_diff_event event;
    perfdata_status status = pd_diff_link(&run->diff, index, &event);
    if (status == 0) {
        pd_diff_sort(&run->diff, &event);
        if (run->plan.json)
            pd_diff_draw_json(&run->diff, &event, !index, &run->text);
        else
            pd_diff_draw(&run->diff, &event, !index, &run->text);
        status = pd_text_give(&run->text, run->write, run->data);
    }
    pd_diff_event_free(&event);
    pd_arena_empty(&run->diff.arena);
    return status;
}

static void put_recordings(struct run *run)
{
    pd_text_string(&run->text, "{\"recordings\":[");
    for (size_t side = 0; side < run->diff.count; side++) {
        const char *path = run->diff.sides[side].recording->path;
        pd_text_string(&run->text, side ? "," : "");
        pd_text_json(&run->text, path, strlen(path));
    }
    pd_text_string(&run->text, "],\"events\":[");
}

static perfdata_status print(struct run *run)
{
    perfdata_status status = 0;
    if (run->plan.json)
        put_recordings(run);
    for (uint32_t i = 0; i < run->diff.sides[0].recording->event_count && status == 0; i++)
        status = print_event(run, i);
    if (run->plan.json && status == 0)
        pd_text_string(&run->text, "]}\n");
    perfdata_status given = pd_text_give(&run->text, run->write, run->data);
    return status < 0 ? status : given;
}

static perfdata_status compare(struct run *run)
{
    perfdata_status status = make_plan(run);
    if (status == 0 && !choose_keys(run))
        status = PERFDATA_ERROR_MEMORY;
    for (size_t i = 0; i < run->diff.count && status == 0; i++) {
        run->told.failed = (uint32_t)i;
        status = plan_side(run, i);
    }
    for (size_t i = 0; i < run->diff.count && status == 0; i++) {
        run->told.failed = (uint32_t)i;
        status = read_side(run, i);
    }
    if (status == 0)
        status = print(run);
    if (status == PERFDATA_ERROR_MEMORY)
        pd_fail(context_of(run, run->told.failed), status, -1, "no memory to compare recordings");
    return status;
}

perfdata_status perfdata_diff_run(perfdata_recording *const *recordings, size_t count,
                                  const struct perfdata_diff_options *options,
                                  perfdata_write_fn write, void *data,
                                  struct perfdata_diff_result *result)
{
    struct perfdata_diff_options known = { .order = -1 };
    if (!recordings || count < 2 || count > SIDES_MAX || !options || !write)
        return PERFDATA_ERROR_ARGUMENT;
    for (size_t i = 0; i < count; i++)
        if (!recordings[i] || !recordings[i]->open)
            return PERFDATA_ERROR_ARGUMENT;
    perfdata_status status = pd_handle_options(recordings[0], &known, sizeof known, options);
    if (status < 0)
        return status;
    struct run run = { .options = &known, .write = write, .data = data };
    run.diff.count = count;
    run.diff.sides = calloc(count, sizeof *run.diff.sides);
    if (!run.diff.sides)
        return pd_fail(&recordings[0]->recording.context, PERFDATA_ERROR_MEMORY, -1,
                       "no memory to compare recordings");
    for (size_t i = 0; i < count; i++)
        run.diff.sides[i].recording = &recordings[i]->recording;
    status = compare(&run);
    for (size_t i = 0; i < count; i++)
        close_side(&run.diff.sides[i]);
    free(run.diff.sides);
    free(run.own_sort);
    pd_text_free(&run.text);
    pd_arena_free(&run.diff.arena);
    pd_give_result(result, &run.told, sizeof run.told);
    return status;
}
