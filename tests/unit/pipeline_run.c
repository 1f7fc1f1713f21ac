/* SPDX-License-Identifier: MIT */
/* The same bytes with 1, 2 and 8 threads, for each kind of consumer, also when something fails
 * midway. */
#include "make_recording.h"
#include "pipeline/pipeline.h"
#include "test.h"

enum { SAMPLES = 30000 };

static struct maker make(void)
{
    struct maker m = maker_begin();
    uint64_t time = 1000;
    char name[8];
    maker_comm(&m, 0, 1, 1, "init");
    for (uint32_t i = 0; i < SAMPLES; i++) {
        uint32_t tid = 1 + i / 100;
        time += i % 3;
        if (i % 100 == 50)
            maker_task(&m, 7, time, tid + 1, 1, tid + 1, 1);
        if (i % 100 == 60) {
            snprintf(name, sizeof name, "t%u", i);
            maker_comm(&m, time, tid + 1, tid + 1, name);
        }
        if (i % 100 == 70)
            maker_task(&m, 4, time, tid, 1, tid, 1);
        /* Late and early ones, so that order and file differ. */
        maker_sample(&m, time + i * 7919 % 50, tid, tid, 0x400000 + i % 64);
        if (i % 1000 == 999)
            maker_round(&m);
    }
    maker_end(&m);
    return m;
}

/* What reached the sink, and how the run ended. */
struct result {
    struct pd_text text;
    uint64_t sum, in_order;
    perfdata_status status;
    uint64_t expected_sequence;
    uint64_t fail_work, fail_sink; /* at this sequence or sink call; 0: never */
    uint64_t sinks;
    struct pd_order_stats stats;
};

static perfdata_status work_text(void *data, void *state, struct pd_batch *batch)
{
    struct result *result = data;
    (void)state;
    for (size_t i = 0; i < batch->count; i++) {
        const struct pd_delivered *record = &batch->records[i];
        if (result->fail_work && batch->sequence == result->fail_work && i == batch->count / 2)
            return PERFDATA_ERROR_BAD_RECORD;
        pd_text_u64(&batch->text, record->number, 0, ' ');
        pd_text_char(&batch->text, ' ');
        pd_text_u64(&batch->text, record->time, 0, ' ');
        pd_text_char(&batch->text, ' ');
        pd_text_u64(&batch->text, record->type, 0, ' ');
        pd_text_char(&batch->text, ' ');
        if (record->thread) {
            const struct pd_comm *comm = pd_thread_comm(record->thread, record->number);
            pd_text_string(&batch->text, comm ? pd_comm_text(comm, record->number) : "none");
        }
        pd_text_char(&batch->text, '\n');
    }
    return 0;
}

static perfdata_status sink(void *data, const char *text, size_t length)
{
    struct result *result = data;
    if (result->fail_sink && ++result->sinks == result->fail_sink)
        return PERFDATA_ERROR_OUTPUT;
    pd_text_bytes(&result->text, text, length);
    return 0;
}

/* A worker adds up in its own state; end() runs alone. */
static perfdata_status begin(void *data, unsigned worker, struct pd_resolver *resolver,
                             void **state)
{
    (void)data, (void)worker, (void)resolver;
    *state = calloc(1, sizeof(uint64_t));
    return *state ? 0 : PERFDATA_ERROR_MEMORY;
}

static perfdata_status work_sum(void *data, void *state, struct pd_batch *batch)
{
    (void)data;
    for (size_t i = 0; i < batch->count; i++)
        *(uint64_t *)state += batch->records[i].number *
                              pd_load32(batch->records[i].data + 24, false);
    return 0;
}

static void end(void *data, unsigned worker, void *state)
{
    (void)worker;
    ((struct result *)data)->sum += *(uint64_t *)state;
    free(state);
}

/* Sequential: the work leaves a sum, the stage carries one over. */
static perfdata_status work_result(void *data, void *state, struct pd_batch *batch)
{
    (void)data, (void)state;
    if (!batch->result)
        batch->result = malloc(sizeof(uint64_t));
    if (!batch->result)
        return PERFDATA_ERROR_MEMORY;
    uint64_t sum = 0;
    for (size_t i = 0; i < batch->count; i++)
        sum += batch->records[i].number;
    *(uint64_t *)batch->result = sum;
    return 0;
}

static perfdata_status in_order(void *data, struct pd_batch *batch)
{
    struct result *result = data;
    CHECK_U64(batch->sequence, result->expected_sequence);
    result->expected_sequence++;
    result->in_order = result->in_order * 31 + *(uint64_t *)batch->result;
    pd_text_u64(&batch->text, result->in_order, 0, ' ');
    return 0;
}

static void drop(void *data, struct pd_batch *batch)
{
    (void)data;
    free(batch->result);
}

static int front_skips(void *data, const struct pd_delivered *record)
{
    (void)data;
    if (record->number == 29000)
        return PERFDATA_ERROR_CANCELLED;
    return (int)(record->number % 3);
}

static struct result run(const struct maker *m, struct pd_consumer consumer, unsigned threads,
                         uint64_t fail_work, uint64_t fail_sink)
{
    struct result result = { .fail_work = fail_work, .fail_sink = fail_sink };
    struct pd_recording recording = { 0 };
    struct pd_source *source;
    struct pd_session session;
    pd_context_init(&recording.context);
    CHECK(pd_source_open_memory(&recording.context, m->bytes, m->size, &source) == 0);
    CHECK(pd_recording_open(source, "", &recording) == 0);
    CHECK(pd_session_open(&recording, NULL, &session) == 0);
    consumer.data = &result;
    consumer.order = PD_ORDER_DELIVERY;
    result.status = pd_pipeline_run(&session, &consumer, threads);
    result.stats = *session.order_stats;
    pd_session_close(&session);
    pd_recording_close(&recording);
    return result;
}

static void compare(const struct maker *m, struct pd_consumer consumer, perfdata_status status,
                    uint64_t fail_work, uint64_t fail_sink)
{
    static const unsigned threads[] = { 2, 3, 8 };
    struct result one = run(m, consumer, 1, fail_work, fail_sink);
    CHECK(one.status == status);
    for (size_t i = 0; i < PD_LENGTH(threads); i++) {
        struct result many = run(m, consumer, threads[i], fail_work, fail_sink);
        CHECK(many.status == status);
        CHECK_U64(many.text.length, one.text.length);
        CHECK(many.text.length == one.text.length &&
              (!one.text.length || !memcmp(many.text.data, one.text.data, one.text.length)));
        CHECK_U64(many.sum, one.sum);
        CHECK_U64(many.in_order, one.in_order);
        pd_text_free(&many.text);
    }
    pd_text_free(&one.text);
}

/* All records, each with the thread that perf shows. */
static void test_content(const struct maker *m)
{
    struct pd_consumer consumer = { .kind = PD_CONSUME_ORDERED,
                                    .work = work_text,
                                    .sink = sink,
                                    .types = { UINT64_MAX, UINT64_MAX },
                                    .unknown_types = true };
    struct result result = run(m, consumer, 2, 0, 0);
    CHECK(result.status == 0);
    size_t lines = 0;
    for (size_t i = 0; i < result.text.length; i++)
        lines += result.text.data[i] == '\n';
    CHECK_U64(lines, SAMPLES + 3 * 300 + 30 + 1);
    CHECK_U64(result.stats.records, lines);
    CHECK(!strncmp(result.text.data, "1 18446744073709551615 3 init\n", 30));
    pd_text_char(&result.text, 0);
    CHECK(strstr(result.text.data, " 3 t60\n") != NULL);
    CHECK(strstr(result.text.data, " 7 init\n") != NULL);
    CHECK(strstr(result.text.data, " 4 t60\n") != NULL);
    CHECK(strstr(result.text.data, " 9 t29860\n") != NULL);
    CHECK(strstr(result.text.data, "none") == NULL);
    pd_text_free(&result.text);
}

int main(void)
{
    struct maker m = make();
    struct pd_consumer ordered = { .kind = PD_CONSUME_ORDERED,
                                   .work = work_text,
                                   .sink = sink,
                                   .types = { 1 << 3 | 1 << 4 | 1 << 7 } };
    struct pd_consumer sums = {
        .kind = PD_CONSUME_COMMUTATIVE, .begin = begin, .work = work_sum, .end = end
    };
    struct pd_consumer sequential = { .kind = PD_CONSUME_SEQUENTIAL,
                                      .work = work_result,
                                      .in_order = in_order,
                                      .sink = sink,
                                      .drop = drop };
    test_content(&m);
    compare(&m, ordered, 0, 0, 0);
    compare(&m, sums, 0, 0, 0);
    compare(&m, sequential, 0, 0, 0);
    compare(&m, ordered, PERFDATA_ERROR_BAD_RECORD, 5, 0);
    compare(&m, ordered, PERFDATA_ERROR_OUTPUT, 0, 4);
    ordered.front = front_skips;
    compare(&m, ordered, PERFDATA_ERROR_CANCELLED, 0, 0);
    maker_free(&m);
    return test_done();
}
