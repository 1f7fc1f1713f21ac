/* SPDX-License-Identifier: MIT */
/* Fields by name, tracepoints and decoded traces through the public API. The text of `dump` is the
 * judge of fields: each line of each record, on whatever level it stands, is asked for by its
 * path. */
#include "test.h"
#include <perfdata/perfdata.h>
#include <stdbool.h>

static const char *in_data(const char *name)
{
    static char path[1024];
    const char *root = getenv("SOURCE");
    snprintf(path, sizeof path, "%s/tests/data/%s", root ? root : ".", name);
    return path;
}

struct lines {
    char *text;
    size_t length;
};

static int keep(void *data, const char *text, size_t length)
{
    struct lines *lines = data;
    lines->text = realloc(lines->text, lines->length + length + 1);
    memcpy(lines->text + lines->length, text, length);
    lines->length += length;
    lines->text[lines->length] = 0;
    return 0;
}

/* Where the walk through a record's lines is: on each level a name, or the number of an item. */
struct path {
    char names[24][64];
    long items[24]; /* -1: a name */
};

static void path_text(const struct path *path, unsigned depth, char *out, size_t size)
{
    size_t at = 0;
    for (unsigned i = 0; i <= depth; i++) {
        if (path->items[i] >= 0)
            at += (size_t)snprintf(out + at, size - at, "[%ld]", path->items[i]);
        else
            at += (size_t)snprintf(out + at, size - at, "%s%s", i ? "." : "", path->names[i]);
    }
}

/* One line "  name: value" of the dump. True: it was one and was compared. */
static bool check_line(const perfdata_record *record, const char *line, size_t length,
                       struct path *path)
{
    size_t blanks = strspn(line, " ");
    bool item = line[blanks] == '-';
    unsigned depth = (unsigned)(blanks + (item ? 2 : 0)) / 2 - 1;
    const char *name = line + blanks + (item ? 2 : 0),
               *colon = memchr(name, ':', length - (size_t)(name - line));
    if (!colon || colon >= line + length || memchr(name, ' ', (size_t)(colon - name)) ||
        line[blanks] == '0' || line[blanks] == '#')
        return false; /* an element of an array, or bytes */
    if (item && depth)
        path->items[depth - 1]++;
    snprintf(path->names[depth], sizeof path->names[depth], "%.*s", (int)(colon - name), name);
    path->items[depth] = path->items[depth + 1] = -1;
    char full[1024];
    path_text(path, depth, full, sizeof full);
    struct perfdata_value value = { .struct_size = sizeof value };
    const char *text;
    if (perfdata_record_field(record, full, &value) < 0) {
        printf("no field %s\n", full);
        CHECK(false);
        return false;
    }
    CHECK(perfdata_record_field_text(record, full, &text) == 0);
    if (value.kind == PERFDATA_VALUE_GROUP)
        return true;
    size_t shown = (size_t)(line + length - colon) - 1;
    const char *expected = colon + 1;
    if (shown && *expected == ' ')
        expected++, shown--;
    if (strncmp(text, expected, shown)) {
        printf("%s: \"%s\", not \"%.*s\"\n", full, text, (int)shown, expected);
        CHECK(false);
    }
    if (value.kind == PERFDATA_VALUE_UNSIGNED && *expected >= '0' && *expected <= '9')
        CHECK_U64(value.number, strtoull(expected, NULL, 0));
    if (value.kind == PERFDATA_VALUE_SIGNED)
        CHECK_U64(value.number, (uint64_t)strtoll(expected, NULL, 10));
    if (value.kind == PERFDATA_VALUE_TEXT)
        CHECK(shown >= 2 && strlen(text) >= value.size && value.data);
    if (value.kind == PERFDATA_VALUE_ARRAY && value.count) {
        char element[1100];
        struct perfdata_value one = { .struct_size = sizeof one };
        snprintf(element, sizeof element, "%s[%u]", full, value.count - 1);
        CHECK(perfdata_record_field(record, element, &one) == 0 &&
              one.kind == PERFDATA_VALUE_UNSIGNED);
        CHECK(perfdata_record_field_text(record, element, &text) == 0 && *text);
        snprintf(element, sizeof element, "%s[%u]", full, value.count);
        CHECK(perfdata_record_field(record, element, &one) == PERFDATA_ERROR_NOT_FOUND);
    }
    return true;
}

static void all_fields(const char *name, size_t at_least)
{
    struct perfdata_cursor_options options = PERFDATA_CURSOR_OPTIONS_INIT;
    perfdata_recording *recording;
    perfdata_cursor *cursor;
    const perfdata_record *record;
    size_t compared = 0;
    int status;
    CHECK(perfdata_recording_open(in_data(name), NULL, &recording) == 0);
    CHECK(perfdata_cursor_open(recording, &options, &cursor) == 0);
    while ((status = perfdata_cursor_next(cursor, &record)) == 1) {
        struct lines lines = { 0 };
        struct path path = { 0 };
        struct perfdata_value value = { .struct_size = sizeof value };
        CHECK(perfdata_record_print(record, 0, keep, &lines) == 0);
        CHECK(perfdata_record_field(record, "type", &value) == 0);
        CHECK_U64(value.number, perfdata_record_type(record));
        CHECK(perfdata_record_field(record, "no_such_field", &value) == PERFDATA_ERROR_NOT_FOUND);
        CHECK(perfdata_record_field(record, "", &value) == PERFDATA_ERROR_NOT_FOUND);
        CHECK(perfdata_record_field(record, "[0]", &value) == PERFDATA_ERROR_NOT_FOUND);
        char *line = strchr(lines.text, '\n') + 1;
        while (*line) {
            size_t length = strcspn(line, "\n");
            compared += check_line(record, line, length, &path);
            line += length + 1;
        }
        free(lines.text);
    }
    CHECK(status == 0);
    if (compared < at_least)
        printf("%s: %zu lines\n", name, compared);
    CHECK(compared >= at_least);
    perfdata_cursor_close(cursor);
    perfdata_recording_close(recording);
}

static void tracepoints(void)
{
    perfdata_recording *recording;
    perfdata_cursor *cursor;
    const perfdata_record *record;
    size_t seen = 0, fields = 0;
    CHECK(perfdata_recording_open(in_data("report/traces.data"), NULL, &recording) == 0);
    CHECK(perfdata_cursor_open(recording, NULL, &cursor) == 0);
    while (perfdata_cursor_next(cursor, &record) == 1) {
        const char *text;
        struct perfdata_value value = { .struct_size = sizeof value };
        size_t count = perfdata_record_tracepoint_count(record);
        if (!count) {
            CHECK(perfdata_record_tracepoint_text(record, NULL, &text) == PERFDATA_ERROR_NO_DATA);
            continue;
        }
        seen++;
        CHECK(perfdata_record_tracepoint_text(record, NULL, &text) == 0 && *text);
        CHECK(perfdata_record_tracepoint_text(record, "nothing", &text) ==
              PERFDATA_ERROR_NOT_FOUND);
        CHECK(perfdata_record_tracepoint_field(record, "common_pid", &value) == 0 &&
              value.number > 0);
        for (size_t i = 0; i < count; i++, fields++) {
            struct perfdata_tracepoint_field field = { .struct_size = sizeof field };
            CHECK(perfdata_record_tracepoint_at(record, i, &field) == 0 && field.name &&
                  field.type);
            CHECK(perfdata_record_tracepoint_field(record, field.name, &value) == 0);
            CHECK(value.kind == field.value.kind && value.number == field.value.number);
        }
        struct perfdata_tracepoint_field none = { .struct_size = sizeof none };
        CHECK(perfdata_record_tracepoint_at(record, count, &none) == PERFDATA_ERROR_ARGUMENT);
    }
    CHECK(seen > 100 && fields > 5 * seen);
    perfdata_cursor_close(cursor);
    perfdata_recording_close(recording);
}

/* Samples of a trace through the cursor: threads, symbols, frames, facts; the recording's own
 * events stand again behind it. */
static void traces(void)
{
    static const char *const wanted[] = { "bi100ig" };
    struct perfdata_cursor_options options = PERFDATA_CURSOR_OPTIONS_INIT;
    perfdata_recording *recording;
    perfdata_cursor *cursor;
    const perfdata_record *record;
    char symfs[1024];
    size_t calls = 0, chains = 0, made = 0;
    snprintf(symfs, sizeof symfs, "%s", in_data("itrace/symfs"));
    CHECK(perfdata_recording_open(in_data("itrace/t_tsx.data"), NULL, &recording) == 0);
    size_t events = perfdata_recording_event_count(recording);
    options.itrace = wanted;
    options.itrace_count = 1;
    CHECK(perfdata_cursor_open(recording, &options, &cursor) == PERFDATA_ERROR_ARGUMENT && !cursor);
    options.flags = PERFDATA_CURSOR_RESOLVE;
    options.search.symfs = symfs;
    CHECK(perfdata_cursor_open(recording, &options, &cursor) == 0);
    CHECK(perfdata_recording_event_count(recording) > events);
    while (perfdata_cursor_next(cursor, &record) == 1) {
        struct perfdata_trace_facts facts = { .struct_size = sizeof facts };
        struct perfdata_thread thread = { .struct_size = sizeof thread };
        struct perfdata_value value = { .struct_size = sizeof value };
        static struct perfdata_location frames[64];
        const perfdata_sample *sample;
        uint64_t ip;
        size_t count;
        if (perfdata_record_trace_facts(record, &facts) < 0)
            continue;
        made++;
        calls += facts.flags & PERFDATA_TRACE_CALL ? 1 : 0;
        frames[0].struct_size = sizeof frames[0];
        CHECK(perfdata_record_sample(record, &sample) == 0);
        CHECK(perfdata_sample_value(sample, PERFDATA_SAMPLE_IP, &ip) == 0);
        CHECK(perfdata_record_field(record, "ip", &value) == 0);
        CHECK_U64(value.number, ip);
        CHECK(perfdata_record_thread(record, &thread) == 0 && thread.pid != UINT32_MAX);
        if (perfdata_record_frames(record, frames, 64, &count) == 0 && count > 1 &&
            frames[1].symbol)
            chains++;
    }
    CHECK(made > 1000 && calls > 50 && chains > 100);
    CHECK_U64(perfdata_cursor_trace_errors(cursor), 0);
    perfdata_cursor_close(cursor);
    CHECK(perfdata_recording_event_count(recording) == events);
    perfdata_recording_close(recording);
}

struct branch {
    uint64_t from, to, time;
    uint32_t tid;
};

/* The branches among the samples of a queue's thread or CPU, by the cursor. */
static size_t sampled_branches(perfdata_recording *recording, const char *symfs,
                               const struct perfdata_aux_buffer *queue, struct branch *out,
                               size_t capacity)
{
    static const char *const wanted[] = { "b" };
    struct perfdata_cursor_options options = PERFDATA_CURSOR_OPTIONS_INIT;
    perfdata_cursor *cursor;
    const perfdata_record *record;
    size_t count = 0;
    options.itrace = wanted;
    options.itrace_count = 1;
    options.flags = PERFDATA_CURSOR_RESOLVE;
    options.search.symfs = symfs;
    CHECK(perfdata_cursor_open(recording, &options, &cursor) == 0);
    while (perfdata_cursor_next(cursor, &record) == 1 && count < capacity) {
        struct perfdata_trace_facts facts = { .struct_size = sizeof facts };
        const perfdata_sample *sample;
        uint64_t tid, cpu = 0;
        if (perfdata_record_trace_facts(record, &facts) < 0 ||
            perfdata_record_sample(record, &sample) < 0 ||
            perfdata_sample_value(sample, PERFDATA_SAMPLE_TID, &tid) < 0)
            continue;
        perfdata_sample_value(sample, PERFDATA_SAMPLE_CPU, &cpu);
        if (queue->cpu >= 0 ? (int32_t)cpu != queue->cpu : (int32_t)tid != queue->tid)
            continue;
        struct branch *to = &out[count++];
        perfdata_sample_value(sample, PERFDATA_SAMPLE_IP, &to->from);
        perfdata_sample_value(sample, PERFDATA_SAMPLE_ADDR, &to->to);
        perfdata_sample_value(sample, PERFDATA_SAMPLE_TIME, &to->time);
        to->tid = (uint32_t)tid;
    }
    perfdata_cursor_close(cursor);
    return count;
}

/* The steps of a queue are the branches that the samples tell of, with their times and threads. */
static void steps_of(const char *name, size_t at_least)
{
    enum { CAPACITY = 50000 };
    struct branch *branches = calloc(CAPACITY, sizeof *branches);
    struct perfdata_aux_buffer buffer = { .struct_size = sizeof buffer };
    struct perfdata_steps_options options = { .struct_size = sizeof options,
                                              .wanted = PERFDATA_STEP_BRANCH };
    struct perfdata_step step = { .struct_size = sizeof step };
    perfdata_recording *recording;
    perfdata_aux *aux;
    perfdata_steps *steps;
    char symfs[1024];
    size_t at = 0, errors = 0, different = 0;
    int got;
    snprintf(symfs, sizeof symfs, "%s", in_data("itrace/symfs"));
    options.search.symfs = symfs;
    CHECK(perfdata_recording_open(in_data(name), NULL, &recording) == 0);
    CHECK(perfdata_aux_open(recording, NULL, &aux) == 0);
    CHECK(perfdata_aux_buffer(aux, 0, &buffer) == 0);
    CHECK(perfdata_aux_steps(aux, 4711, &options, &steps) == PERFDATA_ERROR_ARGUMENT && !steps);
    size_t count = sampled_branches(recording, symfs, &buffer, branches, CAPACITY);
    CHECK(perfdata_aux_steps(aux, buffer.queue, &options, &steps) == 0);
    while ((got = perfdata_steps_next(steps, &step)) == 1) {
        if (step.error) {
            errors++;
            continue;
        }
        const struct branch *branch = &branches[at++];
        different += at > count || branch->from != step.from || branch->to != step.to ||
                     branch->time != step.nanoseconds || branch->tid != (uint32_t)step.tid;
    }
    CHECK(got == 0);
    CHECK_U64(at, count);
    CHECK_U64(different, 0);
    CHECK(count >= at_least);
    CHECK_U64(perfdata_steps_errors(steps), errors);
    perfdata_steps_close(steps);
    perfdata_aux_close(aux);
    perfdata_recording_close(recording);
    free(branches);
}

/* Option structs of other versions: smaller ones keep defaults, larger ones are refused where they
 * ask for what is unknown. */
static void sizes(void)
{
    struct {
        struct perfdata_cursor_options known;
        uint64_t unknown[2];
    } newer = { .known = PERFDATA_CURSOR_OPTIONS_INIT };
    perfdata_recording *recording;
    perfdata_cursor *cursor;
    const perfdata_record *record;
    CHECK(perfdata_recording_open(in_data("demo/spin.data"), NULL, &recording) == 0);
    newer.known.struct_size = sizeof newer;
    CHECK(perfdata_cursor_open(recording, &newer.known, &cursor) == 0);
    CHECK(perfdata_cursor_next(cursor, &record) == 1);
    struct {
        struct perfdata_identity known;
        uint64_t unknown;
    } out = { .known = { .struct_size = sizeof out }, .unknown = 5 };
    perfdata_record_identity(record, &out.known);
    CHECK(out.known.struct_size == sizeof out && !out.unknown);
    struct perfdata_identity old = { .struct_size = sizeof(size_t) + 4, .tid = 77 };
    perfdata_record_identity(record, &old);
    CHECK(old.tid == 77 && old.pid == out.known.pid);
    perfdata_cursor_close(cursor);
    newer.unknown[1] = 1;
    CHECK(perfdata_cursor_open(recording, &newer.known, &cursor) == PERFDATA_ERROR_ARGUMENT);
    newer.known.struct_size = 3;
    CHECK(perfdata_cursor_open(recording, &newer.known, &cursor) == PERFDATA_ERROR_ARGUMENT);
    newer.known.struct_size = sizeof(size_t) + 4; /* only `order` */
    CHECK(perfdata_cursor_open(recording, &newer.known, &cursor) == 0);
    perfdata_cursor_close(cursor);
    perfdata_recording_close(recording);
}

/* Recording and cursor in one call: what fails is told by the recording, and both can be closed. */
static void one_call(void)
{
    struct perfdata_cursor_options options = PERFDATA_CURSOR_OPTIONS_INIT;
    perfdata_recording *recording;
    perfdata_cursor *cursor;
    const perfdata_record *record;
    CHECK(perfdata_cursor_open_path("no/such/file", NULL, &options, &recording, &cursor) ==
          PERFDATA_ERROR_NOT_FOUND);
    CHECK(!cursor && strstr(perfdata_recording_error(recording, NULL), "no/such/file"));
    perfdata_cursor_close(cursor);
    perfdata_recording_close(recording);
    options.order = 99;
    CHECK(perfdata_cursor_open_path(in_data("demo/spin.data"), NULL, &options, &recording,
                                    &cursor) == PERFDATA_ERROR_ARGUMENT);
    CHECK(!cursor && *perfdata_recording_error(recording, NULL));
    perfdata_recording_close(recording);
    CHECK(perfdata_cursor_open_path(in_data("demo/spin.data"), NULL, NULL, &recording, &cursor) ==
          0);
    CHECK(perfdata_cursor_next(cursor, &record) == 1);
    perfdata_cursor_close(cursor);
    perfdata_recording_close(recording);
}

int main(void)
{
    all_fields("demo/spin.data", 500);
    all_fields("report/traces.data", 500);
    all_fields("report/stacks.data", 100);
    all_fields("script/switch-events.data", 100);
    all_fields("script/s390x.data", 100);
    all_fields("itrace/t_tsx.data", 50);
    tracepoints();
    traces();
    steps_of("itrace/t_tsx.data", 1000);
    steps_of("itrace/t_eptw.data", 1000);
    steps_of("itrace/c_forkbid.data", 500);
    steps_of("itrace/t_tracestop.data", 100);
    sizes();
    one_call();
    return test_done();
}
