/* SPDX-License-Identifier: MIT */
/* Damage: every whole record before it is delivered, and those behind it as soon as the way is
 * found again. */
#include "test.h"
#include "container/container.h"
#include "make_file.h"

enum { IDENTIFIER = 0x10000, IP = 1, TIME = 4, ID_ALL = 1 << 18, COUNT = 300 };

static const uint64_t ids[] = { 7, 8 };

static struct file make(bool big)
{
    struct file f = file_begin(big);
    file_event(&f, IDENTIFIER | IP | TIME, ID_ALL, 2, ids);
    file_data(&f);
    for (unsigned i = 0; i < COUNT; i++) {
        size_t at = file_record(&f, i % 50 == 49 ? 68 : 9, i % 50 == 49 ? 0 : 2,
                                i % 50 == 49 ? 8 : 56);
        if (i % 50 == 49)
            continue;
        file_u64_at(&f, at + 8, 7);
        file_u64_at(&f, at + 16, 0xffffffff81000000 + i);
        file_u64_at(&f, at + 24, 1000000 + i);
        file_u64_at(&f, at + 32, i); /* behind what the plan knows: the record's number */
    }
    static const char host[] = "\4\0\0\0box";
    if (!big)
        file_feature(&f, 3, host, sizeof host);
    file_end(&f);
    return f;
}

struct seen {
    perfdata_status opened;
    int ended;
    unsigned records, samples;
    bool has[COUNT];
    uint64_t issues;
};

/* Exact copies on the heap: a read beyond the end is found by the sanitizer. */
static struct seen look(const uint8_t *bytes, size_t size)
{
    struct seen seen = { 0 };
    struct pd_recording r = { 0 };
    struct pd_source *source;
    struct pd_walk *walk;
    struct pd_raw raw;
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    pd_context_init(&r.context);
    CHECK(pd_source_open_memory(&r.context, copy, size, &source) == 0);
    seen.opened = pd_recording_open(source, "damaged", &r);
    if (seen.opened == 0 && pd_walk_open(&r, &walk) == 0) {
        while ((seen.ended = pd_walk_next(walk, &raw)) == 1) {
            seen.records++;
            seen.samples += raw.type == 9;
            uint64_t number = raw.type == 9 && raw.size == 56 ? pd_load64(raw.data + 32, r.swap)
                                                              : COUNT;
            if (number < COUNT)
                seen.has[number] = true;
        }
        pd_walk_close(walk);
    }
    for (int kind = 0; kind < PERFDATA_ISSUE_COUNT; kind++)
        seen.issues += r.context.issue_count[kind];
    CHECK(seen.opened == 0 || r.context.message[0]);
    pd_recording_close(&r);
    free(copy);
    return seen;
}

static size_t record_at(const struct file *f, unsigned number)
{
    return f->data + number / 50 * (49 * 56u + 8) + number % 50 * 56u;
}

static bool is_sample(unsigned number)
{
    return number % 50 != 49;
}

/* All samples that lie whole in [0, from) and, unless `from` is the end, in [to, the end). */
static void check_around(const struct file *f, const struct seen *seen, size_t from, size_t to)
{
    for (unsigned i = 0; i < COUNT; i++)
        if (is_sample(i) && (record_at(f, i) + 56 <= from || record_at(f, i) >= to))
            CHECK(seen->has[i]);
}

static uint64_t random_state = 88172645463325252;
static uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static void cut(const struct file *f, size_t at)
{
    struct seen seen = look(f->bytes, at);
    if (at >= f->data) {
        CHECK(seen.opened == 0 && seen.ended == 0);
        check_around(f, &seen, at, SIZE_MAX);
    }
    if (at < f->table) /* said, by a failure or an issue */
        CHECK(seen.opened < 0 || seen.issues > 0);
}

static void cuts(const struct file *f)
{
    for (size_t at = 0; at <= f->size && at <= 4096; at++)
        cut(f, at);
    for (unsigned i = 0; i < 200; i++)
        cut(f, random_next() % f->size);
}

static void noise(const struct file *f)
{
    for (unsigned i = 0; i < 100; i++) {
        struct file copy = *f;
        size_t at = f->data + random_next() % (f->table - f->data - 4096);
        copy.bytes = malloc(f->size);
        memcpy(copy.bytes, f->bytes, f->size);
        for (unsigned k = 0; k < 4096; k++)
            copy.bytes[at + k] = i % 4 ? (uint8_t)(random_next() >> 24)
                                       : (uint8_t)(i % 8 ? 0 : 0xff);
        struct seen seen = look(copy.bytes, f->size);
        CHECK(seen.opened == 0 && seen.ended == 0);
        CHECK(seen.issues > 0);
        check_around(f, &seen, at, at + 4096);
        free(copy.bytes);
    }
}

/* A wrong size costs no more than its record, or those that it says it holds. */
static void sizes(const struct file *f)
{
    static const uint16_t wrong[] = { 0, 1, 7, 8, 13, 40, 48, 60, 64, 65535, 65528 };
    for (size_t i = 0; i < PD_LENGTH(wrong); i++) {
        uint8_t *copy = malloc(f->size);
        memcpy(copy, f->bytes, f->size);
        pd_store16(copy + record_at(f, 100) + 6, wrong[i], f->swap);
        struct seen seen = look(copy, f->size);
        CHECK(seen.opened == 0 && seen.ended == 0);
        CHECK(seen.issues > 0);
        check_around(f, &seen, record_at(f, 100), record_at(f, 102));
        free(copy);
    }
}

/* A type of the future with a right size is a record; so is the next one. */
static void unknown_types(const struct file *f)
{
    uint8_t *copy = malloc(f->size);
    memcpy(copy, f->bytes, f->size);
    pd_store32(copy + record_at(f, 100), 60, f->swap);
    pd_store32(copy + record_at(f, 101), 1000, f->swap);
    pd_store32(copy + record_at(f, COUNT - 2), 40000, f->swap);
    struct seen seen = look(copy, f->size);
    CHECK_U64(seen.records, COUNT);
    CHECK_U64(seen.issues, 3);
    free(copy);
}

int main(void)
{
    for (int big = 0; big < 2; big++) {
        struct file f = make(big);
        struct seen seen = look(f.bytes, f.size);
        CHECK(seen.opened == 0 && seen.issues == 0);
        CHECK_U64(seen.records, COUNT);
        cuts(&f);
        noise(&f);
        sizes(&f);
        unknown_types(&f);
        file_free(&f);
    }
    return test_done();
}
