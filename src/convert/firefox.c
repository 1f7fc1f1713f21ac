/* SPDX-License-Identifier: MIT */
/* Samples -> a processed profile of the Firefox profiler, version 60: newer versions of the
 * profiler upgrade it when they read it.
 *
 * Functions, frames and stacks are shared by all threads; a thread is shown once for each event
 * that it has samples of. Context switches and samples of tracepoints are markers. */
#include "convert/convert.h"
#include "convert/strings.h"
#include <stdlib.h>

enum { LIBRARY = 1, CATEGORY_USER = 0, CATEGORY_KERNEL = 1 };

struct row {
    uint64_t time, weight;
    uint32_t stack, thread, event;
};

struct firefox {
    struct pd_strings strings;
    PD_VEC(struct row) rows;
    size_t *begin;        /* by thread: where its rows begin in `order` */
    uint32_t *order;      /* rows by thread and event */
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
    return PERFDATA_OK;
}

static perfdata_status take_samples(struct pd_convert *x, const struct perfdata_samples *samples)
{
    struct firefox *f = x->state;
    for (size_t i = 0; i < samples->count; i++) {
        if (!x->events[samples->event[i]])
            continue;
        if (f->rows.count >= UINT32_MAX - 1)
            return pd_fail(x->context, PERFDATA_ERROR_LIMIT, -1, "too many samples for the form");
        if (!pd_vec_push(&f->rows,
                         (struct row){ samples->time[i],
                                       pd_convert_weight(x, 1, samples->weight[i]),
                                       samples->stack[i], samples->thread[i], samples->event[i] }))
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

static perfdata_status put_samples(struct pd_convert *x, size_t from, size_t to)
{
    static const char *const names[] = { "stack", "time", "weight" };
    const struct firefox *f = x->state;
    perfdata_status status = PERFDATA_OK;
    pd_text_string(&x->out, "\"samples\":{");
    for (size_t column = 0; column < PD_LENGTH(names) && status >= 0; column++) {
        pd_text_format(&x->out, "\"%s\":[", names[column]);
        for (size_t i = from; i < to && status >= 0; i++) {
            const struct row *row = &f->rows.data[f->order[i]];
            if (i > from)
                pd_text_char(&x->out, ',');
            if (column == 1)
                put_time(x, row->time);
            else
                pd_text_u64(&x->out, column ? row->weight : row->stack, 0, ' ');
            status = pd_convert_flush(x, false);
        }
        pd_text_string(&x->out, "],");
    }
    pd_text_format(&x->out, "\"weightType\":\"samples\",\"length\":%zu}", to - from);
    return status;
}

struct marker {
    uint64_t time;
    uint32_t name;
};
typedef PD_VEC(struct marker) marker_vec;

static perfdata_status put_markers(struct pd_convert *x, const marker_vec *markers)
{
    static const char *const names[] = {
        "name", "startTime", "endTime", "phase", "category", "data"
    };
    enum { NAME, START, END, PHASE, CATEGORY, DATA };
    perfdata_status status = PERFDATA_OK;
    pd_text_string(&x->out, ",\"markers\":{");
    for (size_t column = 0; column < PD_LENGTH(names) && status >= 0; column++) {
        pd_text_format(&x->out, "\"%s\":[", names[column]);
        for (size_t i = 0; i < markers->count && status >= 0; i++) {
            if (i)
                pd_text_char(&x->out, ',');
            if (column == NAME)
                put_index(x, markers->data[i].name);
            else if (column == START)
                put_time(x, markers->data[i].time);
            else if (column == END || column == DATA)
                put_null(x, i);
            else
                put_zero(x, i); /* an instant */
            status = pd_convert_flush(x, false);
        }
        pd_text_string(&x->out, "],");
    }
    pd_text_format(&x->out, "\"length\":%zu}", markers->count);
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

/* The thread's rows of one event. `first`: it is the thread's first event, with which its switches
 * are shown. */
static perfdata_status put_thread(struct pd_convert *x, uint32_t thread, uint32_t event,
                                  size_t from, size_t to, bool first)
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
    perfdata_status status = name.failed ? pd_convert_no_memory(x) : put_samples(x, from, to);
    pd_text_free(&name);
    marker_vec markers = { 0 };
    bool ok = true;
    for (size_t i = from; ok && i < to && is_tracepoint(x, event); i++)
        ok = pd_vec_push(&markers,
                         (struct marker){ f->rows.data[f->order[i]].time, event_name(x, event) });
    for (size_t i = f->switch_begin[thread]; ok && first && i < f->switch_begin[thread + 1]; i++) {
        const struct perfdata_profile_switch *at = perfdata_profile_switch(x->profile,
                                                                           f->switches[i]);
        ok = pd_vec_push(&markers, (struct marker){ at->time, switch_name(f, at) });
    }
    if (status >= 0)
        status = ok ? put_markers(x, &markers) : pd_convert_no_memory(x);
    pd_vec_free(&markers);
    pd_text_char(out, '}');
    return status;
}

/* Sorts rows by thread and event and switches by thread, all in the order of time. */
static bool sort_rows(struct pd_convert *x, struct firefox *f)
{
    size_t threads = perfdata_profile_thread_count(x->profile);
    size_t switches = perfdata_profile_switch_count(x->profile);
    const struct row *rows = f->rows.data;
    size_t count = f->rows.count;
    uint32_t *by_event = malloc((count + 1) * sizeof *by_event);
    size_t *begin = NULL;
    f->order = malloc((count + 1) * sizeof *f->order);
    if (by_event && f->order)
        begin = pd_convert_sort(count ? &rows->event : NULL, sizeof *rows, count, f->events, NULL,
                                by_event);
    if (begin)
        f->begin = pd_convert_sort(count ? &rows->thread : NULL, sizeof *rows, count, threads,
                                   by_event, f->order);
    free(by_event);
    free(begin);
    f->switch_begin = calloc(threads + 2, sizeof *f->switch_begin);
    f->switches = malloc((switches + 1) * sizeof *f->switches);
    if (!f->begin || !f->switch_begin || !f->switches || switches >= UINT32_MAX)
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

static perfdata_status put_threads(struct pd_convert *x)
{
    const struct firefox *f = x->state;
    perfdata_status status = PERFDATA_OK;
    bool begun = false;
    pd_text_string(&x->out, "\"threads\":[");
    for (uint32_t i = 0; i < perfdata_profile_thread_count(x->profile) && status >= 0; i++) {
        size_t from = f->begin[i], to = f->begin[i + 1];
        bool first = true, switches = f->switch_begin[i] != f->switch_begin[i + 1];
        while (status >= 0 && (from < to || (first && switches && f->events))) {
            uint32_t event = from < to ? f->rows.data[f->order[from]].event : f->events - 1;
            size_t until = from;
            while (until < to && f->rows.data[f->order[until]].event == event)
                until++;
            pd_text_string(&x->out, begun ? ",\n" : "\n");
            begun = true;
            status = put_thread(x, i, event, from, until, first);
            first = false;
            from = until;
        }
    }
    pd_text_string(&x->out, "]}\n");
    return status;
}

static perfdata_status end(struct pd_convert *x)
{
    struct firefox *f = x->state;
    if (!sort_rows(x, f))
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
    pd_vec_free(&f->rows);
    free(f->begin);
    free(f->order);
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
