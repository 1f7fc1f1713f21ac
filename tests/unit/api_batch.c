/* SPDX-License-Identifier: MIT */
/* Samples that come many in a call are those that come one by one, with the same frames, whatever
 * room the caller has. */
#include "test.h"
#include <perfdata/perfdata.h>
#include <stdbool.h>

enum { STACK = 20, ROWS = 300, NUMBERS = 700, FRAMES = 50000 };

struct walk {
    perfdata_recording *recording;
    perfdata_cursor *cursor;
};

struct room {
    struct perfdata_sample_row rows[ROWS];
    uint32_t numbers[NUMBERS];
    struct perfdata_location frames[NUMBERS], known[FRAMES];
    struct perfdata_sample_batch batch;
    uint32_t restarts;
};

static struct walk open_walk(const void *bytes, size_t size, const char *name, uint32_t flags)
{
    struct perfdata_cursor_options options = PERFDATA_CURSOR_OPTIONS_INIT;
    struct walk walk = { 0 };
    static char symfs[512]; /* borrowed by the cursor */
    char path[512];
    const char *source = getenv("SOURCE");
    snprintf(path, sizeof path, "%s/tests/data/%s", source, name);
    snprintf(symfs, sizeof symfs, "%s/tests/data/demo/symfs", source);
    options.flags = flags;
    options.search.symfs = symfs;
    if (bytes)
        CHECK(perfdata_recording_open_memory(bytes, size, NULL, &walk.recording) == 0);
    else
        CHECK(perfdata_recording_open(path, NULL, &walk.recording) == 0);
    CHECK(perfdata_cursor_open(walk.recording, &options, &walk.cursor) == 0);
    return walk;
}

static void close_walk(struct walk *walk)
{
    perfdata_cursor_close(walk->cursor);
    perfdata_recording_close(walk->recording);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool same_frame(const struct perfdata_location *a, const struct perfdata_location *b)
{
    return a->ip == b->ip && a->address == b->address && a->map_start == b->map_start &&
           a->map_end == b->map_end && a->map_offset == b->map_offset && a->level == b->level &&
           a->cpumode == b->cpumode && a->symbol_start == b->symbol_start &&
           a->symbol_end == b->symbol_end && a->binding == b->binding &&
           a->build_id_size == b->build_id_size && same_text(a->symbol, b->symbol) &&
           same_text(a->object, b->object);
}

/* Row `i` of a batch beside the next sample of another walk. */
static void compare_row(struct room *room, struct walk *many, struct walk *one, size_t i,
                        size_t frame)
{
    struct perfdata_sample_row row = { .struct_size = sizeof row };
    struct perfdata_location frames[STACK] = { { .struct_size = sizeof *frames } };
    const struct perfdata_sample_row *given = &room->rows[i];
    const uint32_t most = room->batch.max_stack;
    CHECK_U64((uint64_t)perfdata_cursor_next_sample(one->cursor, &row, frames, most), 1);
    CHECK(!memcmp(row.values, given->values, sizeof row.values));
    CHECK(row.present == given->present && row.cpumode == given->cpumode &&
          row.has_chain == given->has_chain && row.damaged == given->damaged);
    CHECK(same_text(row.comm, given->comm));
    CHECK_U64(given->frame_count, most ? row.frame_count : 0);
    for (uint32_t k = 0; k < given->frame_count; k++)
        CHECK(same_frame(&room->known[room->numbers[frame + k]], &frames[k]));
    const perfdata_record *record = perfdata_cursor_choose(many->cursor, i);
    CHECK(record == given->record);
    CHECK_U64(perfdata_record_number(record), perfdata_record_number(row.record));
    CHECK_U64(perfdata_record_offset(record), perfdata_record_offset(row.record));
}

static size_t compare_batch(struct room *room, struct walk *many, struct walk *one)
{
    struct perfdata_sample_batch *batch = &room->batch;
    size_t frame = 0;
    CHECK(batch->row_count && batch->row_count <= batch->row_room);
    CHECK(batch->number_count <= batch->number_room && batch->frame_count <= batch->frame_room);
    CHECK((size_t)batch->first_frame + batch->frame_count <= FRAMES);
    room->restarts += !batch->first_frame;
    memcpy(&room->known[batch->first_frame], room->frames,
           batch->frame_count * sizeof *room->frames);
    for (size_t i = 0; i < batch->row_count; i++) {
        compare_row(room, many, one, i, frame);
        frame += room->rows[i].frame_count;
    }
    CHECK_U64(frame, batch->number_count);
    /* In any order, and again. */
    CHECK(perfdata_cursor_choose(many->cursor, 0) != NULL);
    CHECK(!perfdata_cursor_choose(many->cursor, batch->row_count));
    return batch->row_count;
}

/* Returns how many samples there were, *restarts: how often numbers began anew. */
static size_t compare(const void *bytes, size_t size, const char *name, uint32_t flags,
                      struct perfdata_sample_batch rooms, uint32_t *restarts)
{
    struct walk many = open_walk(bytes, size, name, flags),
                one = open_walk(bytes, size, name, flags);
    struct perfdata_sample_row row = { .struct_size = sizeof row };
    struct room *room = calloc(1, sizeof *room);
    size_t samples = 0;
    int got;
    room->rows[0].struct_size = sizeof room->rows[0];
    room->frames[0].struct_size = sizeof room->frames[0];
    room->batch = rooms;
    room->batch.struct_size = sizeof room->batch;
    room->batch.rows = room->rows;
    room->batch.numbers = room->numbers;
    room->batch.frames = room->frames;
    while ((got = perfdata_cursor_next_samples(many.cursor, &room->batch)) == 1)
        samples += compare_batch(room, &many, &one);
    CHECK_U64((uint64_t)got, 0);
    CHECK_U64((uint64_t)perfdata_cursor_next_sample(one.cursor, &row, NULL, 0), 0);
    CHECK(!perfdata_cursor_choose(many.cursor, 0));
    *restarts = room->restarts;
    free(room);
    close_walk(&many);
    close_walk(&one);
    return samples;
}

static void test_rooms(void)
{
    static const struct perfdata_sample_batch rooms[] = {
        { .row_room = ROWS, .number_room = NUMBERS, .frame_room = NUMBERS, .max_stack = STACK },
        { .row_room = 7, .number_room = NUMBERS, .frame_room = NUMBERS, .max_stack = STACK },
        { .row_room = ROWS, .number_room = STACK, .frame_room = NUMBERS, .max_stack = STACK },
        { .row_room = ROWS, .number_room = NUMBERS, .frame_room = STACK + 1, .max_stack = STACK },
        { .row_room = ROWS, .number_room = NUMBERS, .frame_room = NUMBERS, .max_stack = 1 },
        { .row_room = ROWS },
    };
    static const char *const names[] = { "demo/spin.data", "demo/shapes.data",
                                         "report/traces.data" };
    uint32_t restarts;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
            CHECK(compare(NULL, 0, names[n], PERFDATA_CURSOR_RESOLVE, rooms[i], &restarts) > 50);
    CHECK(compare(NULL, 0, names[0], 0, rooms[0], &restarts) > 50);
}

static void test_arguments(void)
{
    struct walk walk = open_walk(NULL, 0, "demo/spin.data", PERFDATA_CURSOR_RESOLVE);
    struct perfdata_sample_row row = { .struct_size = sizeof row };
    struct perfdata_location frames[STACK] = { { .struct_size = sizeof *frames } };
    uint32_t numbers[STACK];
    const perfdata_record *record;
    struct perfdata_sample_batch batch = { .struct_size = sizeof batch,
                                           .rows = &row,
                                           .numbers = numbers,
                                           .number_room = STACK,
                                           .frames = frames,
                                           .frame_room = STACK,
                                           .max_stack = STACK };
    CHECK(perfdata_cursor_next_samples(walk.cursor, &batch) == PERFDATA_ERROR_ARGUMENT);
    batch.row_room = 1;
    batch.max_stack = STACK + 1;
    CHECK(perfdata_cursor_next_samples(walk.cursor, &batch) == PERFDATA_ERROR_ARGUMENT);
    batch.max_stack = STACK;
    CHECK(!perfdata_cursor_choose(walk.cursor, 0));
    CHECK(perfdata_cursor_next_samples(walk.cursor, &batch) == 1 && batch.row_count == 1);
    CHECK(perfdata_cursor_choose(walk.cursor, 0) == row.record);
    CHECK(perfdata_cursor_next(walk.cursor, &record) == 1);
    CHECK(!perfdata_cursor_choose(walk.cursor, 0));
    close_walk(&walk);
}

/* A recording of `count` samples, each elsewhere. */
static uint8_t *make_recording(uint32_t count, size_t *size)
{
    enum { HEADER = 104, ATTR = 128, RECORD = 32 };
    const uint64_t data = HEADER + ATTR + 16, bytes = (uint64_t)count * RECORD;
    uint8_t *file = calloc(1, data + bytes);
    const uint64_t header[] = { HEADER, ATTR + 16, HEADER, ATTR + 16, data, bytes };
    const uint32_t attr[] = { 1 /* software */, ATTR };
    const uint64_t sampled = 7 /* ip, tid, time */;
    memcpy(file, "PERFILE2", 8);
    memcpy(file + 8, header, sizeof header);
    memcpy(file + HEADER, attr, sizeof attr);
    memcpy(file + HEADER + 24, &sampled, sizeof sampled);
    for (uint32_t i = 0; i < count; i++) {
        const struct {
            uint32_t type;
            uint16_t misc, size;
            uint64_t ip;
            uint32_t pid, tid;
            uint64_t time;
        } record = { 9, 2, RECORD, 0x400000 + (uint64_t)(i % 30011) * 8, 7, 7, 1000 + i };
        memcpy(file + data + (size_t)i * RECORD, &record, RECORD);
    }
    *size = data + bytes;
    return file;
}

static void test_restarts(void)
{
    const struct perfdata_sample_batch rooms = {
        .row_room = ROWS, .number_room = NUMBERS, .frame_room = NUMBERS, .max_stack = STACK
    };
    size_t size;
    uint32_t restarts;
    uint8_t *file = make_recording(50000, &size);
    CHECK_U64(compare(file, size, "", PERFDATA_CURSOR_RESOLVE, rooms, &restarts), 50000);
    CHECK(restarts > 1);
    free(file);
}

int main(void)
{
    test_rooms();
    test_arguments();
    test_restarts();
    return test_done();
}
