/* SPDX-License-Identifier: MIT */
/* Issue 27: streams of the Arrow C data interface say what the profile says, copy no column of
 * samples, and outlive it. */
#include "test.h"
#include "convert/arrow/arrow.h"
#include <perfdata/perfdata.h>

typedef perfdata_status stream_fn(perfdata_profile *, uint32_t, struct ArrowArrayStream *);

static perfdata_profile *build(uint32_t flags)
{
    char path[512], symfs[512];
    struct perfdata_profile_options options = PERFDATA_PROFILE_OPTIONS_INIT;
    perfdata_recording *recording;
    perfdata_profile *profile = NULL;
    const char *source = getenv("SOURCE");
    snprintf(path, sizeof path, "%s/tests/data/demo/spin.data", source);
    snprintf(symfs, sizeof symfs, "%s/tests/data/demo/symfs", source);
    options.flags = flags;
    options.detail = PERFDATA_FRAMES_BY_ADDRESS;
    options.columns = 1u << PERFDATA_COLUMN_IP | 1u << PERFDATA_COLUMN_ADDR;
    options.search.symfs = symfs;
    CHECK_U64((uint64_t)perfdata_recording_open(path, NULL, &recording), 0);
    CHECK_U64((uint64_t)perfdata_profile_build(recording, &options, &profile), 0);
    perfdata_recording_close(recording);
    return profile;
}

/* The column of that name; -1: there is none. */
static int64_t column(struct ArrowArrayStream *stream, const char *name, const char *format)
{
    struct ArrowSchema schema;
    int64_t found = -1;
    CHECK(stream->get_schema(stream, &schema) == 0);
    CHECK_STR(schema.format, "+s");
    for (int64_t i = 0; i < schema.n_children; i++)
        if (!strcmp(schema.children[i]->name, name)) {
            found = i;
            CHECK_STR(schema.children[i]->format, format);
        }
    schema.release(&schema);
    CHECK(!schema.release);
    return found;
}

static void test_samples(void)
{
    perfdata_profile *profile = build(PERFDATA_PROFILE_KEEP_SAMPLES);
    struct perfdata_samples samples = { .struct_size = sizeof samples };
    struct ArrowArrayStream stream;
    struct ArrowArray array, end;
    CHECK(perfdata_profile_samples(profile, &samples) == 0);
    CHECK(perfdata_samples_stream(profile, 0, &stream) == 0);
    int64_t time = column(&stream, "time", "l"), stack = column(&stream, "stack", "i");
    int64_t ip = column(&stream, "ip", "L"), period = column(&stream, "period", "l");
    CHECK(column(&stream, "addr", "L") == -1); /* wanted, but not recorded */
    CHECK(stream.get_next(&stream, &array) == 0 && array.release);
    CHECK_U64((uint64_t)array.length, samples.count);
    CHECK(array.children[time]->buffers[1] == samples.time);
    CHECK(array.children[stack]->buffers[1] == samples.stack);
    CHECK(array.children[period]->buffers[1] == samples.weight);
    CHECK(array.children[ip]->buffers[1] == samples.columns[PERFDATA_COLUMN_IP]);
    CHECK(stream.get_next(&stream, &end) == 0 && !end.release && !stream.get_last_error(&stream));
    /* The profile's owner goes first, then the stream, then the array; a column that was moved out
     * stays. */
    uint64_t last = samples.time[samples.count - 1];
    struct ArrowArray moved = *array.children[time];
    array.children[time]->release = NULL;
    perfdata_profile_free(profile);
    stream.release(&stream);
    CHECK(!stream.release);
    array.release(&array);
    CHECK_U64(((const uint64_t *)moved.buffers[1])[moved.length - 1], last);
    moved.release(&moved);
}

static void test_portable(void)
{
    perfdata_profile *profile = build(PERFDATA_PROFILE_KEEP_SAMPLES);
    struct perfdata_samples samples = { .struct_size = sizeof samples };
    struct ArrowArrayStream stream;
    struct ArrowArray array;
    CHECK(perfdata_profile_samples(profile, &samples) == 0);
    CHECK(perfdata_samples_stream(profile, PERFDATA_ARROW_PORTABLE, &stream) == 0);
    int64_t hash = column(&stream, "stack_hash", "l"), comm = column(&stream, "comm", "i");
    CHECK(stream.get_next(&stream, &array) == 0 && array.release);
    const int64_t *hashes = array.children[hash]->buffers[1];
    const struct ArrowArray *words = array.children[comm]->dictionary;
    const uint32_t *codes = array.children[comm]->buffers[1];
    const int64_t *ends = words->buffers[1];
    for (size_t i = 0; i < samples.count; i++) {
        const char *name = perfdata_profile_thread(profile, samples.thread[i])->comm;
        const char *bytes = (const char *)words->buffers[2] + ends[codes[i]];
        CHECK((uint64_t)hashes[i] == perfdata_profile_stack(profile, samples.stack[i])->hash);
        CHECK((size_t)(ends[codes[i] + 1] - ends[codes[i]]) == strlen(name) &&
              !memcmp(bytes, name, strlen(name)));
    }
    struct ArrowArray moved = *array.children[comm];
    array.children[comm]->release = NULL;
    array.release(&array);
    stream.release(&stream);
    perfdata_profile_free(profile);
    CHECK(((const char *)moved.dictionary->buffers[2])[0] != '\0');
    moved.release(&moved);
}

static void test_stacks(void)
{
    perfdata_profile *profile = build(0);
    struct ArrowArrayStream stream;
    struct ArrowArray array;
    uint64_t rows = 0;
    CHECK(perfdata_stacks_stream(profile, 0, &stream) == 0);
    int64_t parent = column(&stream, "parent", "i"), list = column(&stream, "functions", "+L");
    while (stream.get_next(&stream, &array) == 0 && array.release) {
        const uint8_t *valid = array.children[parent]->buffers[0];
        const int64_t *ends = array.children[list]->buffers[1];
        const uint32_t *items = array.children[list]->children[0]->buffers[1];
        int64_t roots = 0;
        CHECK(valid != NULL);
        for (int64_t i = 0; i < array.length; i++, rows++) {
            const struct perfdata_profile_stack *stack = perfdata_profile_stack(profile,
                                                                                (uint32_t)rows);
            bool root = stack->parent == PERFDATA_NONE;
            CHECK((valid && valid[i / 8] >> i % 8 & 1) == !root);
            CHECK_U64((uint64_t)(ends[i + 1] - ends[i]), stack->depth);
            CHECK_U64(items[ends[i + 1] - 1],
                      perfdata_profile_frame(profile, stack->frame)->function);
            roots += root;
        }
        CHECK_U64((uint64_t)array.children[parent]->null_count, (uint64_t)roots);
        array.release(&array);
    }
    CHECK_U64(rows, perfdata_profile_stack_count(profile));
    stream.release(&stream);
    perfdata_profile_free(profile);
}

/* Every table is read to its end, and is as long as the profile says. */
static void test_rows(void)
{
    perfdata_profile *profile = build(PERFDATA_PROFILE_LINES);
    size_t sums;
    perfdata_profile_sums(profile, &sums);
    const struct {
        stream_fn *make;
        uint64_t rows;
        int portable; /* status */
    } tables[] = {
        { perfdata_stacks_stream, perfdata_profile_stack_count(profile), 0 },
        { perfdata_functions_stream, perfdata_profile_function_count(profile), 0 },
        { perfdata_events_stream, perfdata_profile_event_count(profile), 0 },
        { perfdata_mappings_stream, perfdata_profile_mapping_count(profile), 0 },
        { perfdata_frames_stream, perfdata_profile_frame_count(profile), -1 },
        { perfdata_objects_stream, perfdata_profile_object_count(profile), -1 },
        { perfdata_threads_stream, perfdata_profile_thread_count(profile), -1 },
        { perfdata_switches_stream, 0, -1 },
        { perfdata_sums_stream, sums, -1 },
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct ArrowArrayStream stream;
        struct ArrowArray array;
        for (uint32_t flags = 0; flags < 2; flags++) {
            uint64_t rows = 0;
            int status = tables[i].make(profile, flags, &stream);
            CHECK(status == (flags ? tables[i].portable : 0));
            CHECK(!status == (stream.release != NULL));
            if (status)
                continue;
            for (; stream.get_next(&stream, &array) == 0 && array.release; array.release(&array))
                rows += (uint64_t)array.length;
            CHECK_U64(rows, tables[i].rows);
            stream.release(&stream);
        }
        CHECK(tables[i].make(profile, 2, &stream) == PERFDATA_ERROR_ARGUMENT && !stream.release);
        CHECK(tables[i].make(NULL, 0, &stream) == PERFDATA_ERROR_ARGUMENT && !stream.release);
    }
    struct ArrowArrayStream stream;
    CHECK(perfdata_samples_stream(profile, 0, &stream) == PERFDATA_ERROR_NO_DATA);
    CHECK(!stream.release);
    perfdata_profile_free(profile);
}

static void test_aggregates(void)
{
    perfdata_profile *profile = build(0);
    for (uint32_t key = 0; key < 3; key++) {
        struct perfdata_query query = PERFDATA_QUERY_INIT;
        struct perfdata_row *rows;
        struct ArrowArrayStream stream;
        struct ArrowArray array;
        size_t count;
        query.key = key;
        CHECK(perfdata_profile_rows(profile, &query, &rows, &count) == 0);
        CHECK(perfdata_rows_stream(profile, &query, &stream) == 0);
        int64_t total = column(&stream, "total_period", "l"), name = column(&stream, "name", "U");
        CHECK(stream.get_next(&stream, &array) == 0 && array.release);
        CHECK_U64((uint64_t)array.length, count);
        const uint64_t *totals = array.children[total]->buffers[1];
        const int64_t *ends = array.children[name]->buffers[1];
        for (size_t i = 0; i < count; i++)
            CHECK(totals[i] == rows[i].total_weight && ends[i + 1] > ends[i]);
        perfdata_rows_free(rows);
        array.release(&array);
        stream.release(&stream);
    }
    struct perfdata_query wrong = PERFDATA_QUERY_INIT;
    struct ArrowArrayStream stream;
    wrong.key = 99;
    CHECK(perfdata_rows_stream(profile, &wrong, &stream) == PERFDATA_ERROR_ARGUMENT);
    CHECK(!stream.release);
    perfdata_profile_free(profile);
}

int main(void)
{
    test_samples();
    test_portable();
    test_stacks();
    test_rows();
    test_aggregates();
    return test_done();
}
