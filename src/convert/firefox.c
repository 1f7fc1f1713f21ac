/* SPDX-License-Identifier: MIT */
/* Samples -> a processed profile of the Firefox profiler, version 60: newer versions of the
 * profiler upgrade it when they read it.
 *
 * Functions, frames and stacks are shared by all threads; a thread is shown once for each event
 * that it has samples of. Context switches and samples of tracepoints are markers. */
#include "convert/convert.h"
#include "convert/thread_rows.h"
#include "convert/strings.h"
#include <stdlib.h>

enum { LIBRARY = 1, CATEGORY_USER = 0, CATEGORY_KERNEL = 1, ROWS_IN_MEMORY = 512 * 1024 };

struct firefox {
    struct pd_strings strings;
    struct pd_thread_rows *rows;
    struct pd_thread_group group; /* whose rows come next */
    bool has_group;
    size_t *switch_begin; /* by thread: where its rows begin in `switches` */
    uint32_t *switches;
    uint32_t events;
    bool names_events; /* a thread's name ends with its event's */
    uint64_t first;    /* time of the first sample */
};

static perfdata_status begin(struct pd_convert *x)
{
    struct firefox *f = x->state = calloc(1, sizeof *f);
    if (!f)
        return pd_convert_no_memory(x);
    f->events = perfdata_profile_event_count(x->profile);
    f->rows = pd_thread_rows_new(ROWS_IN_MEMORY);
    return f->rows ? PERFDATA_OK : pd_convert_no_memory(x);
}

static perfdata_status take_samples(struct pd_convert *x, const struct perfdata_samples *samples)
{
    struct firefox *f = x->state;
    for (size_t i = 0; i < samples->count; i++) {
        if (!x->events[samples->event[i]])
            continue;
        const struct pd_thread_row row = { samples->time[i],
                                           pd_convert_weight(x, 1, samples->weight[i]),
                                           samples->stack[i], samples->thread[i],
                                           samples->event[i] };
        if (!pd_thread_rows_add(f->rows, &row))
            return pd_convert_no_memory(x);
    }
    return PERFDATA_OK;
}

/* ---- writing arrays ---- */

/* Writes `"name":[` v, v ... `]`: `count` values, each written by a function. */
static perfdata_status put_array(struct pd_convert *x, const char *name, size_t count,
                                 void (*put)(struct pd_convert *x, size_t index))
{
    perfdata_status status = PERFDATA_OK;
    pd_text_format(&x->out, "\"%s\":[", name);
    for (size_t i = 0; i < count && status >= 0; i++) {
        if (i)
            pd_text_char(&x->out, ',');
        put(x, i);
        status = pd_convert_flush(x, false);
    }
    pd_text_char(&x->out, ']');
    return status;
}

struct array {
    const char *name;
    void (*put)(struct pd_convert *x, size_t index);
};

/* An object of arrays, which is how the format has tables. */
static perfdata_status put_table(struct pd_convert *x, const char *name, size_t count,
                                 const struct array *arrays, size_t array_count)
{
    perfdata_status status = PERFDATA_OK;
    pd_text_format(&x->out, "\"%s\":{", name);
    for (size_t i = 0; i < array_count && status >= 0; i++) {
        status = put_array(x, arrays[i].name, count, arrays[i].put);
        pd_text_char(&x->out, ',');
    }
    pd_text_format(&x->out, "\"length\":%zu}", count);
    return status;
}

static void put_null(struct pd_convert *x, size_t index)
{
    (void)index;
    pd_text_string(&x->out, "null");
}

static void put_zero(struct pd_convert *x, size_t index)
{
    (void)index;
    pd_text_char(&x->out, '0');
}

static void put_minus_one(struct pd_convert *x, size_t index)
{
    (void)index;
    pd_text_string(&x->out, "-1");
}

static void put_false(struct pd_convert *x, size_t index)
{
    (void)index;
    pd_text_string(&x->out, "false");
}

static void put_index(struct pd_convert *x, size_t index)
{
    pd_text_u64(&x->out, index, 0, ' ');
}

/* Milliseconds since the first sample. */
static void put_time(struct pd_convert *x, uint64_t time)
{
    const struct firefox *f = x->state;
    if (time == UINT64_MAX)
        time = f->first;
    if (time < f->first)
        pd_text_char(&x->out, '-');
    uint64_t since = time < f->first ? f->first - time : time - f->first;
    pd_text_u64(&x->out, since / 1000000, 0, ' ');
    pd_text_char(&x->out, '.');
    pd_text_u64(&x->out, since % 1000000, 6, '0');
}

/* ---- shared tables ---- */

static void put_stack_frame(struct pd_convert *x, size_t index)
{
    put_index(x, pd_profile_stack(x->profile, (uint32_t)index)->frame);
}

static void put_stack_prefix(struct pd_convert *x, size_t index)
{
    uint32_t parent = pd_profile_stack(x->profile, (uint32_t)index)->parent;
    if (parent == PERFDATA_NONE)
        put_null(x, index);
    else
        put_index(x, parent);
}

static const struct perfdata_profile_function *function_of(struct pd_convert *x, size_t frame)
{
    return pd_profile_function(x->profile, pd_profile_frame(x->profile, (uint32_t)frame)->function);
}

static void put_frame_address(struct pd_convert *x, size_t index)
{
    const struct perfdata_profile_frame *frame = pd_profile_frame(x->profile, (uint32_t)index);
    if (frame->address && frame->address >> 52 == 0 &&
        !(function_of(x, index)->flags & PERFDATA_FUNCTION_KERNEL))
        put_index(x, frame->address);
    else
        put_minus_one(x, index);
}

static void put_frame_depth(struct pd_convert *x, size_t index)
{
    put_index(x, function_of(x, index)->flags & PERFDATA_FUNCTION_INLINED ? 1 : 0);
}

static void put_frame_category(struct pd_convert *x, size_t index)
{
    bool kernel = function_of(x, index)->flags & PERFDATA_FUNCTION_KERNEL;
    put_index(x, kernel ? CATEGORY_KERNEL : CATEGORY_USER);
}

static void put_frame_function(struct pd_convert *x, size_t index)
{
    put_index(x, pd_profile_frame(x->profile, (uint32_t)index)->function);
}

static void put_frame_line(struct pd_convert *x, size_t index)
{
    uint32_t line = pd_profile_frame(x->profile, (uint32_t)index)->line;
    if (line)
        put_index(x, line);
    else
        put_null(x, index);
}

static void put_function_name(struct pd_convert *x, size_t index)
{
    struct firefox *f = x->state;
    struct pd_text name = { 0 };
    pd_convert_raw_function(x, (uint32_t)index, &name);
    f->strings.failed |= name.failed;
    put_index(x, pd_strings_id(&f->strings, name.data, name.length));
    pd_text_free(&name);
}

static void put_function_resource(struct pd_convert *x, size_t index)
{
    uint32_t object = pd_profile_function(x->profile, (uint32_t)index)->object;
    if (object == PERFDATA_NONE)
        put_minus_one(x, index);
    else
        put_index(x, object);
}

static void put_resource_type(struct pd_convert *x, size_t index)
{
    (void)index;
    put_index(x, LIBRARY);
}

static void put_resource_name(struct pd_convert *x, size_t index)
{
    struct firefox *f = x->state;
    const char *name = perfdata_profile_object(x->profile, (uint32_t)index)->name;
    put_index(x, pd_strings_id(&f->strings, name, strlen(name)));
}

static void put_string(struct pd_convert *x, size_t index)
{
    const struct firefox *f = x->state;
    size_t length;
    const char *text = pd_strings_at(&f->strings, (uint32_t)index, &length);
    pd_text_json(&x->out, text, length);
}

static perfdata_status put_shared(struct pd_convert *x)
{
    static const struct array stacks[] = { { "frame", put_stack_frame },
                                           { "prefix", put_stack_prefix } };
    static const struct array frames[] = {
        { "address", put_frame_address },
        { "inlineDepth", put_frame_depth },
        { "category", put_frame_category },
        { "subcategory", put_zero },
        { "func", put_frame_function },
        { "nativeSymbol", put_null },
        { "innerWindowID", put_zero },
        { "line", put_frame_line },
        { "column", put_null },
    };
    static const struct array functions[] = {
        { "name", put_function_name },  { "isJS", put_false },
        { "relevantForJS", put_false }, { "resource", put_function_resource },
        { "source", put_null },         { "lineNumber", put_null },
        { "columnNumber", put_null },
    };
    static const struct array resources[] = {
        { "type", put_resource_type },
        { "lib", put_index },
        { "name", put_resource_name },
        { "host", put_null },
    };
    struct firefox *f = x->state;
    const perfdata_profile *profile = x->profile;
    pd_text_string(&x->out, "\"shared\":{");
    perfdata_status status = put_table(x, "stackTable", perfdata_profile_stack_count(profile),
                                       stacks, PD_LENGTH(stacks));
    pd_text_string(&x->out, ",\n");
    if (status >= 0)
        status = put_table(x, "frameTable", perfdata_profile_frame_count(profile), frames,
                           PD_LENGTH(frames));
    pd_text_string(&x->out, ",\n");
    if (status >= 0)
        status = put_table(x, "funcTable", perfdata_profile_function_count(profile), functions,
                           PD_LENGTH(functions));
    pd_text_string(&x->out, ",\n");
    if (status >= 0)
        status = put_table(x, "resourceTable", perfdata_profile_object_count(profile), resources,
                           PD_LENGTH(resources));
    pd_text_string(&x->out, ",\n\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],"
                            "\"functionSize\":[],\"length\":0},\n"
                            "\"sources\":{\"length\":0,\"id\":[],\"filename\":[]},\n");
    if (status >= 0)
        status = put_array(x, "stringArray", pd_strings_count(&f->strings), put_string);
    pd_text_string(&x->out, "},\n");
    return f->strings.failed ? pd_convert_no_memory(x) : status;
}

/* ---- libraries, categories ---- */

static void put_library(struct pd_convert *x, size_t index)
{
    const struct perfdata_profile_object *object = perfdata_profile_object(x->profile,
                                                                           (uint32_t)index);
    struct pd_text *out = &x->out;
    pd_text_string(out, "{\"arch\":\"\",\"name\":");
    pd_convert_json(out, object->name);
    pd_text_string(out, ",\"path\":");
    pd_convert_json(out, object->path);
    pd_text_string(out, ",\"debugName\":");
    pd_convert_json(out, object->name);
    pd_text_string(out, ",\"debugPath\":");
    pd_convert_json(out, object->path);
    pd_text_string(out, ",\"breakpadId\":\"\",\"codeId\":");
    if (object->build_id_size) {
        pd_text_char(out, '"');
        for (uint32_t i = 0; i < object->build_id_size; i++)
            pd_text_hex(out, object->build_id[i], 2, '0');
        pd_text_char(out, '"');
    } else {
        pd_text_string(out, "null");
    }
    pd_text_char(out, '}');
}

static perfdata_status put_head(struct pd_convert *x)
{
    static const char categories[] =
        "\"categories\":[{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
        "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}],"
        "\"markerSchema\":[]";
    pd_text_string(&x->out,
                   "{\"meta\":{\"interval\":1,\"startTime\":0,\"processType\":0,"
                   "\"product\":\"perf\",\"stackwalk\":0,\"debug\":false,\"gcpoison\":0,"
                   "\"asyncstack\":0,\"version\":24,\"preprocessedProfileVersion\":60,"
                   "\"symbolicated\":true,\"platform\":\"Linux\",\"importedFrom\":\"perfdata\",");
    pd_text_string(&x->out, categories);
    pd_text_string(&x->out, "},\n");
    perfdata_status status = put_array(x, "libs", perfdata_profile_object_count(x->profile),
                                       put_library);
    pd_text_string(&x->out, ",\n");
    return status;
}

/* ---- threads ---- */

static perfdata_status rows_status(struct pd_convert *x, int status)
{
    if (status >= 0)
        return PERFDATA_OK;
    return status == PERFDATA_ERROR_MEMORY
               ? pd_convert_no_memory(x)
               : pd_fail(x->context, PERFDATA_ERROR_IO, -1,
                         "samples could not be read back from a temporary file");
}

/* The values of a column of the group. */
static perfdata_status put_column(struct pd_convert *x, enum pd_thread_column column)
{
    const struct firefox *f = x->state;
    perfdata_status status = PERFDATA_OK;
    const void *values;
    size_t count;
    bool begun = false;
    int got = 0;
    while (status >= 0 && (got = pd_thread_rows_values(f->rows, column, &values, &count)) > 0) {
        for (size_t i = 0; i < count && status >= 0; i++) {
            if (begun)
                pd_text_char(&x->out, ',');
            begun = true;
            if (column == PD_THREAD_STACK)
                pd_text_u64(&x->out, ((const uint32_t *)values)[i], 0, ' ');
            else if (column == PD_THREAD_WEIGHT)
                pd_text_u64(&x->out, ((const uint64_t *)values)[i], 0, ' ');
            else
                put_time(x, ((const uint64_t *)values)[i]);
            status = pd_convert_flush(x, false);
        }
    }
    return status < 0 ? status : rows_status(x, got);
}

static perfdata_status put_samples(struct pd_convert *x, uint64_t count)
{
    static const struct {
        const char *name;
        enum pd_thread_column column;
    } columns[] = { { "stack", PD_THREAD_STACK },
                    { "time", PD_THREAD_TIME },
                    { "weight", PD_THREAD_WEIGHT } };
    perfdata_status status = PERFDATA_OK;
    pd_text_string(&x->out, "\"samples\":{");
    for (size_t i = 0; i < PD_LENGTH(columns) && status >= 0; i++) {
        pd_text_format(&x->out, "\"%s\":[", columns[i].name);
        if (count)
            status = put_column(x, columns[i].column);
        pd_text_string(&x->out, "],");
    }
    pd_text_format(&x->out, "\"weightType\":\"samples\",\"length\":%llu}",
                   (unsigned long long)count);
    return status;
}

static bool is_tracepoint(const struct pd_convert *x, uint32_t event)
{
    return perfdata_profile_event(x->profile, event)->type == PD_TYPE_TRACEPOINT;
}

/* Names of markers must be in the table of strings before that is written. */
static uint32_t switch_name(struct firefox *f, const struct perfdata_profile_switch *at)
{
    const char *name = !(at->flags & PERFDATA_SWITCH_OUT)      ? "switched in"
                       : at->flags & PERFDATA_SWITCH_PREEMPTED ? "preempted"
                                                               : "switched out";
    return pd_strings_id(&f->strings, name, strlen(name));
}

static uint32_t event_name(struct pd_convert *x, uint32_t event)
{
    struct firefox *f = x->state;
    const char *name = perfdata_profile_event(x->profile, event)->name;
    return pd_strings_id(&f->strings, name, strlen(name));
}

/* What a thread has as markers: the group's rows, then its switches from `from` on. */
struct markers {
    uint64_t rows;
    uint32_t event; /* of the rows */
    size_t from, to;
};

enum marker_column { NAME, START, END, PHASE, CATEGORY, DATA };

static void put_marker(struct pd_convert *x, enum marker_column column, uint32_t name)
{
    if (column == NAME)
        put_index(x, name);
    else if (column == END || column == DATA)
        put_null(x, 0);
    else
        put_zero(x, 0); /* an instant */
}

static perfdata_status put_marker_column(struct pd_convert *x, enum marker_column column,
                                         const struct markers *markers)
{
    struct firefox *f = x->state;
    perfdata_status status = PERFDATA_OK;
    if (column == START && markers->rows)
        status = put_column(x, PD_THREAD_TIME_AGAIN);
    uint32_t name = markers->rows ? event_name(x, markers->event) : 0;
    for (uint64_t i = 0; column != START && i < markers->rows && status >= 0; i++) {
        if (i)
            pd_text_char(&x->out, ',');
        put_marker(x, column, name);
        status = pd_convert_flush(x, false);
    }
    for (size_t i = markers->from; i < markers->to && status >= 0; i++) {
        const struct perfdata_profile_switch *at = perfdata_profile_switch(x->profile,
                                                                           f->switches[i]);
        if (i > markers->from || markers->rows)
            pd_text_char(&x->out, ',');
        if (column == START)
            put_time(x, at->time);
        else
            put_marker(x, column, switch_name(f, at));
        status = pd_convert_flush(x, false);
    }
    return status;
}

static perfdata_status put_markers(struct pd_convert *x, const struct markers *markers)
{
    static const char *const names[] = {
        "name", "startTime", "endTime", "phase", "category", "data"
    };
    perfdata_status status = PERFDATA_OK;
    pd_text_string(&x->out, ",\"markers\":{");
    for (size_t column = 0; column < PD_LENGTH(names) && status >= 0; column++) {
        pd_text_format(&x->out, "\"%s\":[", names[column]);
        status = put_marker_column(x, (enum marker_column)column, markers);
        pd_text_string(&x->out, "],");
    }
    pd_text_format(&x->out, "\"length\":%llu}",
                   (unsigned long long)(markers->rows + (markers->to - markers->from)));
    return status;
}

/* A thread with `count` rows of one event, which are the group's. `first`: it is the thread's first
 * event, with which its switches are shown. */
static perfdata_status put_thread(struct pd_convert *x, uint32_t thread, uint32_t event,
                                  uint64_t count, bool first)
{
    struct firefox *f = x->state;
    const struct perfdata_profile_thread *of = perfdata_profile_thread(x->profile, thread);
    struct pd_text *out = &x->out, name = { 0 };
    pd_text_string(&name, of->comm);
    if (f->names_events)
        pd_text_format(&name, " (%s)", perfdata_profile_event(x->profile, event)->name);
    pd_text_string(out, "{\"processType\":\"default\",\"processStartupTime\":0,"
                        "\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,"
                        "\"pausedRanges\":[],\"showMarkersInTimeline\":true,\"name\":");
    pd_text_json(out, name.data, name.length);
    pd_text_format(out,
                   ",\"isMainThread\":%s,\"processName\":", of->pid == of->tid ? "true" : "false");
    pd_convert_json(out, of->comm);
    pd_text_format(out, ",\"pid\":\"%d\",\"tid\":%d,", (int)of->pid, (int)of->tid);
    perfdata_status status = name.failed ? pd_convert_no_memory(x) : put_samples(x, count);
    pd_text_free(&name);
    const struct markers markers = {
        .rows = is_tracepoint(x, event) ? count : 0,
        .event = event,
        .from = first ? f->switch_begin[thread] : 0,
        .to = first ? f->switch_begin[thread + 1] : 0,
    };
    if (status >= 0)
        status = put_markers(x, &markers);
    pd_text_char(out, '}');
    return status;
}

/* Sorts switches by thread, in the order of time. */
static bool sort_switches(struct pd_convert *x, struct firefox *f)
{
    size_t threads = perfdata_profile_thread_count(x->profile);
    size_t switches = perfdata_profile_switch_count(x->profile);
    f->switch_begin = calloc(threads + 2, sizeof *f->switch_begin);
    f->switches = malloc((switches + 1) * sizeof *f->switches);
    if (!f->switch_begin || !f->switches || switches >= UINT32_MAX)
        return false;
    for (size_t i = 0; i < switches; i++)
        f->switch_begin[perfdata_profile_switch(x->profile, i)->thread + 2]++;
    for (size_t i = 2; i < threads + 2; i++)
        f->switch_begin[i] += f->switch_begin[i - 1];
    for (size_t i = 0; i < switches; i++)
        f->switches[f->switch_begin[perfdata_profile_switch(x->profile, i)->thread + 1]++] =
            (uint32_t)i;
    return true;
}

static perfdata_status next_group(struct pd_convert *x)
{
    struct firefox *f = x->state;
    int got = pd_thread_rows_next(f->rows, &f->group);
    f->has_group = got > 0;
    return rows_status(x, got);
}

static perfdata_status put_threads(struct pd_convert *x)
{
    struct firefox *f = x->state;
    bool begun = false;
    perfdata_status status = rows_status(x, pd_thread_rows_end(f->rows));
    if (status >= 0)
        status = next_group(x);
    pd_text_string(&x->out, "\"threads\":[");
    for (uint32_t i = 0; i < perfdata_profile_thread_count(x->profile) && status >= 0; i++) {
        bool first = true, switches = f->switch_begin[i] != f->switch_begin[i + 1];
        for (;;) {
            const bool has_rows = f->has_group && f->group.thread == i;
            if (status < 0 || (!has_rows && !(first && switches && f->events)))
                break;
            pd_text_string(&x->out, begun ? ",\n" : "\n");
            begun = true;
            status = put_thread(x, i, has_rows ? f->group.event : f->events - 1,
                                has_rows ? f->group.count : 0, first);
            first = false;
            if (status >= 0 && has_rows)
                status = next_group(x);
        }
    }
    pd_text_string(&x->out, "]}\n");
    return status;
}

static perfdata_status end(struct pd_convert *x)
{
    struct firefox *f = x->state;
    if (!sort_switches(x, f))
        return pd_convert_no_memory(x);
    if (perfdata_profile_times(x->profile, &f->first, NULL) < 0)
        f->first = 0;
    uint32_t only;
    f->names_events = pd_convert_event_count(x, &only) > 1;
    pd_strings_id(&f->strings, "", 0);
    for (uint32_t i = 0; i < f->events; i++)
        event_name(x, i);
    for (uint64_t i = 0; i < perfdata_profile_switch_count(x->profile); i++)
        switch_name(f, perfdata_profile_switch(x->profile, i));
    perfdata_status status = put_head(x);
    if (status >= 0)
        status = put_shared(x);
    return status < 0 ? status : put_threads(x);
}

static void free_state(struct pd_convert *x)
{
    struct firefox *f = x->state;
    if (!f)
        return;
    pd_strings_free(&f->strings);
    pd_thread_rows_free(f->rows);
    free(f->switch_begin);
    free(f->switches);
    free(f);
}

const struct pd_format pd_format_firefox = {
    .flags = PERFDATA_FORMAT_SAMPLES,
    .profile_flags = PERFDATA_PROFILE_NO_SUMS | PERFDATA_PROFILE_SWITCHES,
    .detail = PERFDATA_FRAMES_BY_FUNCTION,
    .begin = begin,
    .samples = take_samples,
    .end = end,
    .free = free_state,
};
