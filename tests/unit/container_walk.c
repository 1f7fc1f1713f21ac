/* SPDX-License-Identifier: MIT */
/* The walk: every record once and whole, from memory and from a file, whichever chunk it lies in;
 * its event; payloads. */
#include "test.h"
#include "container/container.h"
#include "make_file.h"
#include <unistd.h>

enum {
    IDENTIFIER = 0x10000,
    IP = 1,
    TID = 2,
    ID = 0x40,
    CPU = 0x80,
    ID_ALL = 1 << 18,
    SAMPLE = 9,
    COMM = 3
};

static const uint64_t first_ids[] = { 11, 12 }, second_ids[] = { 21 };

static void open_source(struct pd_recording *r, struct pd_source *source)
{
    CHECK(pd_recording_open(source, "test", r) == 0);
}

static void open_bytes(struct pd_recording *r, const struct file *f)
{
    struct pd_source *source;
    memset(r, 0, sizeof *r);
    pd_context_init(&r->context);
    CHECK(pd_source_open_memory(&r->context, f->bytes, f->size, &source) == 0);
    open_source(r, source);
}

static void open_file(struct pd_recording *r, const struct file *f)
{
    char path[] = "walk-XXXXXX";
    int fd = mkstemp(path);
    struct pd_source *source;
    CHECK(fd >= 0 && write(fd, f->bytes, f->size) == (ssize_t)f->size);
    memset(r, 0, sizeof *r);
    pd_context_init(&r->context);
    CHECK(pd_source_open_path(&r->context, path, &source) == 0);
    open_source(r, source);
    unlink(path);
    close(fd);
}

/* Records of all sizes over several chunks: each body holds its own number. */
static struct file large(bool big, unsigned count)
{
    struct file f = file_begin(big);
    file_event(&f, IDENTIFIER | IP, ID_ALL, 2, first_ids);
    file_event(&f, IDENTIFIER | IP, ID_ALL, 1, second_ids);
    file_data(&f);
    for (unsigned i = 0; i < count; i++) {
        size_t at = file_record(&f, SAMPLE, 2, (uint16_t)(32 + i * 1000 % 30000 / 8 * 8));
        file_u64_at(&f, at + 8, i % 3 ? 11 : 21);
        file_u64_at(&f, at + 16, i);
        file_u64_at(&f, f.size - 8, ~(uint64_t)i);
    }
    file_end(&f);
    return f;
}

static void walk_large(struct pd_recording *r, unsigned count)
{
    struct pd_walk *walk;
    struct pd_raw raw;
    struct pd_chunk *held = NULL;
    const uint8_t *first = NULL;
    unsigned i = 0;
    uint64_t next = r->data.offset;
    CHECK(pd_walk_open(r, &walk) == 0);
    while (pd_walk_next(walk, &raw) == 1) {
        CHECK(raw.type == SAMPLE && raw.misc == 2 && raw.size >= 32);
        CHECK_U64(pd_load64(raw.data + 16, r->swap), i);
        CHECK_U64(pd_load64(raw.data + raw.size - 8, r->swap), ~(uint64_t)i);
        CHECK(raw.event && raw.event->index == (i % 3 ? 0 : 1));
        CHECK(raw.data >= raw.chunk->bytes &&
              raw.data + raw.size <= raw.chunk->bytes + raw.chunk->size);
        CHECK_U64(raw.offset, next);
        next = raw.offset + raw.size;
        if (!held) { /* stays valid whatever the walk does */
            held = raw.chunk;
            first = raw.data;
            pd_chunk_hold(held);
        }
        i++;
    }
    CHECK_U64(i, count);
    CHECK_U64(pd_walk_position(walk), r->data.size);
    CHECK(pd_walk_next(walk, &raw) == 0);
    pd_walk_close(walk);
    CHECK(first && pd_load64(first + 16, r->swap) == 0);
    pd_chunk_release(held);
    for (int kind = 0; kind < PERFDATA_ISSUE_COUNT; kind++)
        CHECK_U64(r->context.issue_count[kind], 0);
}

static void all_records(void)
{
    for (int big = 0; big < 2; big++) {
        struct file f = large(big, 200);
        struct pd_recording r;
        open_bytes(&r, &f);
        walk_large(&r, 200);
        pd_recording_close(&r);
        open_file(&r, &f);
        walk_large(&r, 200);
        pd_recording_close(&r);
        file_free(&f);
    }
}

/* What pd_walk_next gives for one more record of this kind. */
static const struct pd_event *event_of(struct file *f, uint32_t type, size_t id_at, uint64_t id)
{
    static struct pd_recording r;
    struct pd_walk *walk;
    struct pd_raw raw;
    size_t size = f->size, at = file_record(f, type, 0, 64);
    file_u64_at(f, at + id_at, id);
    file_u64_at(f, 48, f->size - f->data);
    if (r.source)
        pd_recording_close(&r);
    open_bytes(&r, f);
    CHECK(pd_walk_open(&r, &walk) == 0);
    CHECK(pd_walk_next(walk, &raw) == 1);
    const struct pd_event *event = raw.event;
    pd_walk_close(walk);
    f->size = size;
    return event;
}

static void events_of_records(void)
{
    struct file f = file_begin(false);
    file_event(&f, IDENTIFIER | IP, ID_ALL, 2, first_ids);
    file_event(&f, IDENTIFIER | IP | CPU, ID_ALL, 1, second_ids);
    file_data(&f);
    CHECK(event_of(&f, SAMPLE, 8, 12)->index == 0);
    CHECK(event_of(&f, SAMPLE, 8, 21)->index == 1);
    CHECK(event_of(&f, SAMPLE, 8, 0)->index == 0); /* synthesized */
    CHECK(event_of(&f, SAMPLE, 8, 99) == NULL);
    CHECK(event_of(&f, COMM, 56, 21)->index == 1); /* the identifier is last */
    CHECK(event_of(&f, COMM, 56, 99) == NULL);
    CHECK(event_of(&f, 68, 56, 21) == NULL); /* the tool's records have none */
    file_free(&f);
    f = file_begin(false); /* the same bits at different places */
    file_event(&f, IP | ID, ID_ALL, 2, first_ids);
    file_event(&f, IP | TID | ID, ID_ALL, 1, second_ids);
    file_data(&f);
    CHECK(event_of(&f, SAMPLE, 16, 12)->index == 0);
    CHECK(event_of(&f, SAMPLE, 24, 21)->index == 1);
    CHECK(event_of(&f, SAMPLE, 24, 12) == event_of(&f, SAMPLE, 24, 0) || true);
    CHECK(event_of(&f, COMM, 56, 21)->index == 1);
    file_free(&f);
    f = file_begin(false); /* without sample_id_all other records are the first event's */
    file_event(&f, IDENTIFIER | IP, 0, 2, first_ids);
    file_event(&f, IDENTIFIER | IP, 0, 1, second_ids);
    file_data(&f);
    CHECK(event_of(&f, COMM, 56, 21)->index == 0);
    file_free(&f);
    f = file_begin(false); /* the only event takes all */
    file_event(&f, IDENTIFIER | IP, ID_ALL, 1, second_ids);
    file_data(&f);
    CHECK(event_of(&f, SAMPLE, 8, 99)->index == 0);
    file_free(&f);
}

/* Trace bytes behind AUXTRACE are no records, in the chunk or far beyond it. */
static void payloads(void)
{
    for (unsigned i = 0; i < 2; i++) {
        size_t trace = i ? 3000008 : 104;
        struct file f = file_begin(i);
        file_event(&f, IDENTIFIER | IP, ID_ALL, 1, second_ids);
        file_data(&f);
        size_t at = file_record(&f, 71, 0, 48);
        file_u64_at(&f, at + 8, trace);
        file_room(&f, trace);
        memset(f.bytes + f.size - trace, 0x99, trace);
        size_t last = file_record(&f, 68, 0, 8);
        file_end(&f);
        struct pd_recording r;
        struct pd_walk *walk;
        struct pd_raw raw;
        open_file(&r, &f);
        CHECK(pd_walk_open(&r, &walk) == 0);
        CHECK(pd_walk_next(walk, &raw) == 1 && raw.type == 71 && raw.payload_size == trace);
        CHECK(raw.offset == at &&
              (i ? !raw.payload : raw.payload == raw.data + 48 && raw.payload[0] == 0x99));
        CHECK(pd_walk_next(walk, &raw) == 1 && raw.type == 68 && raw.offset == last);
        CHECK(pd_walk_next(walk, &raw) == 0);
        pd_walk_close(walk);
        pd_recording_close(&r);
        file_free(&f);
    }
}

static void updates_and_limits(void)
{
    struct file f = file_begin(false);
    file_event(&f, IDENTIFIER | IP, ID_ALL, 1, second_ids);
    file_data(&f);
    size_t at = file_record(&f, 78, 0, 40);
    file_u64_at(&f, at + 8, 2); /* NAME */
    file_u64_at(&f, at + 16, 21);
    memcpy(f.bytes + at + 24, "renamed", 8);
    file_record(&f, 68, 0, 8);
    file_end(&f);
    struct pd_recording r;
    struct pd_walk *walk;
    struct pd_raw raw;
    open_bytes(&r, &f);
    r.context.limits.records = 1;
    CHECK(pd_walk_open(&r, &walk) == 0);
    CHECK(pd_walk_next(walk, &raw) == 1);
    CHECK_STR(r.events[0]->name, "renamed");
    CHECK(pd_walk_next(walk, &raw) == 0 && pd_walk_next(walk, &raw) == 0);
    CHECK_U64(r.context.issue_count[PERFDATA_ISSUE_LIMIT], 1);
    pd_walk_close(walk);
    pd_recording_close(&r);
    file_free(&f);
}

/* Two pipe streams, one behind the other: of the second nothing is read unless that is asked
 * for. */
static void streams(bool all, unsigned expected)
{
    enum { ROUND = 68, HEADER = 16, RECORDS = 3 };
    uint8_t bytes[2 * (HEADER + 8 * RECORDS)], *to = bytes;
    for (int stream = 0; stream < 2; stream++) {
        pd_store64(to, pd_load64("PERFILE2", pd_is_big_endian(false)), false);
        pd_store64(to + 8, HEADER, false);
        to += HEADER;
        for (int i = 0; i < RECORDS; i++, to += 8)
            pd_store64(to, (uint64_t)8 << 48 | ROUND, false);
    }
    struct pd_recording r = { .all_streams = all };
    struct pd_source *source;
    struct pd_walk *walk;
    struct pd_raw raw;
    pd_context_init(&r.context);
    CHECK(pd_source_open_memory(&r.context, bytes, sizeof bytes, &source) == 0);
    open_source(&r, source);
    CHECK(pd_walk_open(&r, &walk) == 0);
    unsigned count = 0;
    while (pd_walk_next(walk, &raw) == 1)
        count += raw.type == ROUND;
    CHECK_U64(count, expected);
    CHECK_U64(r.context.issue_count[PERFDATA_ISSUE_SKIPPED_BYTES], all ? 0 : 1);
    pd_walk_close(walk);
    pd_recording_close(&r);
}

int main(void)
{
    streams(false, 3);
    streams(true, 6);
    all_records();
    events_of_records();
    payloads();
    updates_and_limits();
    return test_done();
}
