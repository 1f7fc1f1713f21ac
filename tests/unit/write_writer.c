/* SPDX-License-Identifier: MIT */
/* What is written is read back: both forms, both byte orders, compressed or not, events that come
 * late. */
#include "container/container.h"
#include "test.h"
#include "write/write.h"
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { COUNT = 5000, IDENTIFIER = 0x10000, IP = 1, TIME = 4 };

struct form {
    enum pd_writer_kind kind;
    bool swap;
    int level;
    bool late; /* the second event comes after the records */
};

static const uint64_t ids[2][2] = { { 7, 8 }, { 9, 10 } };
static const char host[] = "\4\0\0\0box", swapped_host[] = "\0\0\0\4box";

static struct pd_attr make_attr(unsigned number)
{
    return (struct pd_attr){ .type = 1,
                             .size = 128,
                             .config = number,
                             .sample_period = 1000 + number,
                             .sample_type = IDENTIFIER | IP | TIME,
                             .flags = UINT64_C(1) << PD_ATTR_SAMPLE_ID_ALL };
}

static void make_record(uint8_t record[32], unsigned number, bool swap)
{
    pd_store32(record, 9, swap);
    pd_store16(record + 4, 2, swap);
    pd_store16(record + 6, 32, swap);
    pd_store64(record + 8, 7 + number % 2, swap);
    pd_store64(record + 16, 0x400000 + number, swap);
    pd_store64(record + 24, number, swap);
}

static void write_all(int fd, const struct form *form)
{
    struct pd_context context;
    struct pd_writer *writer;
    struct pd_writer_options options = { .kind = form->kind,
                                         .swap = form->swap,
                                         .level = form->level };
    struct pd_attr first = make_attr(0), second = make_attr(1);
    uint8_t record[32];
    pd_context_init(&context);
    CHECK(pd_writer_open_fd(&context, fd, &options, &writer) == 0);
    CHECK(pd_writer_add_event(writer, &first, ids[0], 2) == 0);
    if (!form->late)
        CHECK(pd_writer_add_event(writer, &second, ids[1], 2) == 0);
    CHECK(pd_writer_set_feature(writer, PD_FEATURE_HOSTNAME, form->swap ? swapped_host : host, 8) ==
          0);
    CHECK(pd_writer_begin(writer) == 0);
    for (unsigned i = 0; i < COUNT; i++) {
        make_record(record, i, form->swap);
        CHECK(pd_writer_put_record(writer, record, sizeof record) == 0);
    }
    int late = pd_writer_add_event(writer, &second, ids[1], form->late ? 2 : 0);
    CHECK((late == 0) == (form->kind == PD_WRITE_FILE));
    CHECK(pd_writer_finish(writer) == 0);
    CHECK(pd_writer_put(writer, record, 0) == 0);
    CHECK(pd_writer_begin(writer) == PERFDATA_ERROR_ARGUMENT || form->kind == PD_WRITE_FILE);
    pd_writer_close(writer);
    pd_context_fini(&context);
}

static void read_back(int fd, const struct form *form)
{
    struct pd_recording r = { 0 };
    struct pd_source *source;
    struct pd_walk *walk;
    struct pd_raw raw;
    unsigned number = 0;
    uint8_t record[32];
    pd_context_init(&r.context);
    CHECK(pd_source_open_fd(&r.context, fd, &source) == 0);
    CHECK(pd_recording_open(source, "written", &r) == 0);
    CHECK(r.kind == (form->kind == PD_WRITE_FILE ? PD_CONTAINER_FILE : PD_CONTAINER_PIPE));
    CHECK(r.swap == form->swap);
    CHECK(r.event_count >= 2);
    CHECK_U64(r.events[1]->attr.config, 1);
    CHECK_U64(r.events[1]->attr.sample_period, 1001);
    CHECK_U64(r.events[1]->id_count, 2);
    CHECK_U64(r.events[1]->ids[1], 10);
    CHECK(r.features.hostname.present);
    CHECK_STR(r.features.hostname.text.text, "box");
    CHECK_U64(r.features.compressed.present, form->level != 0);
    CHECK(pd_walk_open(&r, &walk) == 0);
    while (pd_walk_next(walk, &raw) > 0) {
        if (raw.type != PD_RECORD_SAMPLE)
            continue;
        make_record(record, number++, form->swap);
        CHECK(raw.size == 32 && !memcmp(raw.data, record, 32));
        CHECK(raw.event == r.events[0]);
    }
    pd_walk_close(walk);
    CHECK_U64(number, COUNT);
    for (int kind = 0; kind < PERFDATA_ISSUE_COUNT; kind++)
        CHECK_U64(r.context.issue_count[kind], 0);
    pd_recording_close(&r);
}

/* A writer that was killed: the file says that it is not finished, and its records are there. */
static void check_unfinished(void)
{
    int fd = memfd_create("unfinished", MFD_CLOEXEC);
    struct pd_context context;
    struct pd_writer *writer;
    struct pd_writer_options options = { .kind = PD_WRITE_FILE };
    struct pd_attr attr = make_attr(0);
    struct pd_recording r = { 0 };
    struct pd_source *source;
    static uint8_t block[2 << 20];
    for (size_t i = 0; i < sizeof block; i += 32)
        make_record(block + i, (unsigned)(i / 32), false);
    pd_context_init(&context);
    CHECK(pd_writer_open_fd(&context, fd, &options, &writer) == 0);
    CHECK(pd_writer_add_event(writer, &attr, ids[0], 2) == 0);
    CHECK(pd_writer_begin(writer) == 0);
    CHECK(pd_writer_put(writer, block, sizeof block) == 0);
    pd_writer_close(writer);
    pd_context_fini(&context);
    pd_context_init(&r.context);
    CHECK(pd_source_open_fd(&r.context, fd, &source) == 0);
    CHECK(pd_recording_open(source, "unfinished", &r) == 0);
    CHECK(r.unfinished && r.event_count == 1);
    CHECK_U64(r.data.size, sizeof block);
    pd_recording_close(&r);
    close(fd);
}

/* Within compressed records, too, none is taken that is larger than its type ever is: a file with
 * it could not be read. */
static void check_compressed_giant(void)
{
    enum { ITRACE_START = 12, SIZE = 2560, BEFORE = 3 };
    int fd = memfd_create("giant", MFD_CLOEXEC);
    struct pd_context context;
    struct pd_writer *writer;
    struct pd_writer_options options = { .kind = PD_WRITE_FILE, .level = 1 };
    struct pd_attr attr = make_attr(0);
    struct pd_recording r = { 0 };
    struct pd_source *source;
    struct pd_walk *walk;
    struct pd_raw raw;
    unsigned count = 0;
    uint8_t record[32], giant[SIZE] = { ITRACE_START, [6] = SIZE & 255, [7] = SIZE >> 8 };
    pd_context_init(&context);
    CHECK(pd_writer_open_fd(&context, fd, &options, &writer) == 0);
    CHECK(pd_writer_add_event(writer, &attr, ids[0], 2) == 0);
    CHECK(pd_writer_begin(writer) == 0);
    for (unsigned i = 0; i < BEFORE; i++) {
        make_record(record, i, false);
        CHECK(pd_writer_put_record(writer, record, sizeof record) == 0);
    }
    CHECK(pd_writer_put_record(writer, giant, sizeof giant) == 0);
    CHECK(pd_writer_finish(writer) == 0);
    pd_writer_close(writer);
    pd_context_fini(&context);
    pd_context_init(&r.context);
    CHECK(pd_source_open_fd(&r.context, fd, &source) == 0);
    CHECK(pd_recording_open(source, "giant", &r) == 0);
    CHECK(pd_walk_open(&r, &walk) == 0);
    while (pd_walk_next(walk, &raw) > 0) {
        CHECK(raw.type != ITRACE_START);
        count += raw.type == PD_RECORD_SAMPLE;
    }
    pd_walk_close(walk);
    CHECK_U64(count, BEFORE);
    CHECK_U64(r.context.issue_count[PERFDATA_ISSUE_BAD_RECORD], 1);
    pd_recording_close(&r);
    close(fd);
}

static void put_records(struct pd_writer *writer, unsigned count)
{
    uint8_t record[32];
    make_record(record, 0, false);
    for (unsigned i = 0; i < count; i++)
        CHECK(pd_writer_put_record(writer, record, sizeof record) == 0);
}

/* The file ends within a record of a write that was taken in part: all before that one count. */
static void check_full(unsigned blocks)
{
    enum { LIMIT = 64005 };
    const struct pd_writer_options options = { .kind = PD_WRITE_FILE, .blocks = blocks };
    const struct pd_attr attr = make_attr(0);
    struct pd_context context;
    struct pd_writer *writer;
    struct rlimit before, limit;
    uint64_t words[13] = { 0 };
    int fd = memfd_create("full", MFD_CLOEXEC);
    pd_context_init(&context);
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    limit = before;
    limit.rlim_cur = LIMIT;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(pd_writer_open_fd(&context, fd, &options, &writer) == 0);
    CHECK(pd_writer_add_event(writer, &attr, ids[0], 2) == 0);
    CHECK(pd_writer_begin(writer) == 0);
    put_records(writer, 100);
    CHECK(pd_writer_sync(writer) == 0);
    put_records(writer, COUNT);
    perfdata_status status = pd_writer_sync(writer);
    CHECK((status < 0 ? status : pd_writer_wait(writer)) == PERFDATA_ERROR_OUTPUT);
    CHECK(pd_writer_finish(writer) < 0);
    pd_writer_close(writer);
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(pread(fd, words, sizeof words, 0) == sizeof words);
    uint64_t offset = words[5], size = words[6];
    CHECK_U64(size, (LIMIT - offset) / 32 * 32);
    CHECK(size > UINT64_C(100) * 32);
    close(fd);
    pd_context_fini(&context);
}

int main(void)
{
    signal(SIGXFSZ, SIG_IGN);
    check_full(0);
    check_full(2);
    static const struct form forms[] = {
        { PD_WRITE_FILE, false, 0, false }, { PD_WRITE_FILE, true, 0, false },
        { PD_WRITE_PIPE, false, 0, false }, { PD_WRITE_PIPE, true, 0, false },
        { PD_WRITE_FILE, false, 3, false }, { PD_WRITE_PIPE, true, 19, false },
        { PD_WRITE_FILE, false, 0, true },  { PD_WRITE_FILE, true, 1, true },
    };
    for (size_t i = 0; i < PD_LENGTH(forms); i++) {
        int fd = memfd_create("written", MFD_CLOEXEC);
        write_all(fd, &forms[i]);
        read_back(fd, &forms[i]);
        close(fd);
    }
    check_unfinished();
    check_compressed_giant();
    return test_done();
}
