/* SPDX-License-Identifier: MIT */
/* issue 24, point 6: few compressed bytes that hold very much, as COMPRESSED records and as a
 * packed recording. */
#include "test.h"
#include "container/container.h"
#include "io/unpack.h"
#include "make_file.h"
#include <unistd.h>
#include <zstd.h>

enum {
    IDENTIFIER = 0x10000,
    SAMPLE = 9,
    COMPRESSED = 81,
    RECORD = 65528,
    COUNT = 20000, /* 1.3 GB */
    PACKED = 1 << 20,
};
#define GIB (UINT64_C(1) << 30)

static const uint64_t ids[] = { 11 };

struct packed {
    uint8_t bytes[PACKED];
    size_t size;
};

/* COUNT samples as one stream of zstd. */
static void pack(struct packed *packed)
{
    uint8_t *record = calloc(1, RECORD);
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    ZSTD_outBuffer out = { packed->bytes, PACKED, 0 };
    CHECK(record && zstd);
    memcpy(record, &(uint32_t){ SAMPLE }, 4);
    memcpy(record + 6, &(uint16_t){ RECORD }, 2);
    memcpy(record + 8, ids, 8);
    for (int i = 0; i < COUNT; i++) {
        ZSTD_inBuffer in = { record, RECORD, 0 };
        CHECK(!ZSTD_isError(ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_continue)));
        CHECK_U64(in.pos, RECORD);
    }
    CHECK(ZSTD_compressStream2(zstd, &out, &(ZSTD_inBuffer){ 0 }, ZSTD_e_end) == 0);
    packed->size = out.pos;
    ZSTD_freeCCtx(zstd);
    free(record);
}

/* What a walk finds under these limits. */
static void expect_records(const struct packed *packed, struct pd_limits limits, uint64_t least,
                           uint64_t most, uint64_t issues)
{
    struct file f = file_begin(false);
    file_event(&f, IDENTIFIER, 0, 1, ids);
    file_data(&f);
    for (size_t at = 0, part; at < packed->size; at += part) {
        part = PD_MIN(packed->size - at, (size_t)32760);
        size_t to = file_record(&f, COMPRESSED, 0, (uint16_t)(8 + part));
        memcpy(f.bytes + to + 8, packed->bytes + at, part);
    }
    file_end(&f);
    struct pd_recording r = { 0 };
    struct pd_source *source;
    struct pd_walk *walk;
    struct pd_raw raw;
    pd_context_init(&r.context);
    r.context.limits = limits;
    CHECK(pd_source_open_memory(&r.context, f.bytes, f.size, &source) == 0);
    CHECK(pd_recording_open(source, "test", &r) == 0);
    CHECK(pd_walk_open(&r, &walk) == 0);
    uint64_t found = 0;
    while (pd_walk_next(walk, &raw) == 1)
        found += raw.type == SAMPLE;
    CHECK(found >= least && found <= most);
    CHECK_U64(r.context.issue_count[PERFDATA_ISSUE_LIMIT], issues);
    pd_walk_close(walk);
    pd_recording_close(&r);
    file_free(&f);
}

static perfdata_status read_packed(void *data, uint8_t *to, size_t size, size_t *got)
{
    struct packed *rest = data;
    *got = PD_MIN(size, PACKED - rest->size);
    memcpy(to, rest->bytes + rest->size, *got);
    rest->size += *got;
    return 0;
}

static perfdata_status unpack(const struct packed *packed, struct pd_limits limits)
{
    struct pd_context context;
    struct packed *rest = calloc(1, sizeof *rest);
    CHECK(rest);
    /* At the end, so that its offset alone says where the rest is. */
    memcpy(rest->bytes + PACKED - packed->size, packed->bytes, packed->size);
    rest->size = PACKED - packed->size;
    pd_context_init(&context);
    context.limits = limits;
    int fd;
    perfdata_status status = pd_unpack(&context, PD_PACKED_ZSTD, read_packed, rest, &fd);
    if (status == 0)
        close(fd);
    pd_context_fini(&context);
    free(rest);
    return status;
}

static void rule(void)
{
    struct pd_context context = { 0 };
    CHECK(!pd_is_bomb(&context, 1, GIB));
    CHECK(pd_is_bomb(&context, 1, GIB + 1));
    CHECK(!pd_is_bomb(&context, 16 * GIB, 16 * 256 * GIB));
    CHECK(pd_is_bomb(&context, 16 * GIB, 16 * 257 * GIB));
    context.limits.memory = 3 * GIB;
    CHECK(!pd_is_bomb(&context, 1, 3 * GIB));
    CHECK(pd_is_bomb(&context, 1, 3 * GIB + 1));
    context.limits.memory = 1; /* does not forbid what is allowed without it */
    CHECK(!pd_is_bomb(&context, 1, GIB));
    context.limits.decompressed = 2 * GIB; /* holds whatever was packed */
    CHECK(!pd_is_bomb(&context, 1, 2 * GIB));
    CHECK(pd_is_bomb(&context, GIB, 2 * GIB + 1));
}

int main(void)
{
    struct packed *packed = calloc(1, sizeof *packed);
    CHECK(packed);
    pack(packed);
    rule();
    uint64_t free_records = GIB / RECORD;
    expect_records(packed, (struct pd_limits){ 0 }, free_records - 10, free_records + 10, 1);
    expect_records(packed, (struct pd_limits){ .decompressed = 10 * RECORD }, 0, 20, 1);
    expect_records(packed, (struct pd_limits){ .decompressed = 2 * GIB }, COUNT, COUNT, 0);
    expect_records(packed, (struct pd_limits){ .memory = 2 * GIB }, COUNT, COUNT, 0);
    CHECK(unpack(packed, (struct pd_limits){ 0 }) == PERFDATA_ERROR_LIMIT);
    CHECK(unpack(packed, (struct pd_limits){ .decompressed = GIB }) == PERFDATA_ERROR_LIMIT);
    CHECK(unpack(packed, (struct pd_limits){ .memory = 2 * GIB }) == 0);
    free(packed);
    return test_done();
}
