/* SPDX-License-Identifier: MIT */
/* Compressed records. The first byte says how the others become a recording: as zstd data as they
 * are, or as records that are compressed here, whole or split over two records; in the old form of
 * record or the new one. */
#include <perfdata/perfdata.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    HEADER = 104,
    ATTR = 144, /* with its place of ids */
    RECORD_OLD = 81,
    RECORD_NEW = 83,
    FEATURE = 27,
    ROOM = 1 << 17,
    CHUNK = 0xff00
};

struct maker {
    uint8_t bytes[ROOM];
    size_t size;
};

static void put(struct maker *m, uint64_t value, size_t size)
{
    memcpy(m->bytes + m->size, &value, size); /* the recording is this machine's */
    m->size += size;
}

static void put_record(struct maker *m, const uint8_t *packed, size_t size, int fresh)
{
    size_t head = fresh ? 16 : 8, padding = fresh ? -size & 7 : 0;
    put(m, fresh ? RECORD_NEW : RECORD_OLD, 4);
    put(m, 0, 2);
    put(m, head + size + padding, 2);
    if (fresh)
        put(m, size, 8);
    memcpy(m->bytes + m->size, packed, size);
    m->size += size;
    put(m, 0, padding);
}

static void put_head(struct maker *m)
{
    put(m, UINT64_C(0x32454c4946524550), 8);
    put(m, HEADER, 8);
    put(m, ATTR, 8);
    put(m, HEADER, 8);
    put(m, ATTR, 8);
    put(m, HEADER + ATTR, 8);
    put(m, 0, 8); /* the size of the data: see finish() */
    put(m, 0, 8);
    put(m, 0, 8);
    put(m, UINT64_C(1) << FEATURE, 8);
    for (int i = 0; i < 3; i++)
        put(m, 0, 8);
    put(m, 1, 4); /* a software event with ip, tid, time */
    put(m, 128, 4);
    put(m, 0, 8);
    put(m, 1, 8);
    put(m, 7, 8);
    put(m, 0, 8);
    put(m, UINT64_C(1) << 18, 8);
    memset(m->bytes + m->size, 0, HEADER + ATTR - m->size);
    m->size = HEADER + ATTR;
}

static void finish(struct maker *m)
{
    uint64_t data = m->size - HEADER - ATTR;
    memcpy(m->bytes + 48, &data, sizeof data);
    put(m, m->size + 16, 8);
    put(m, 20, 8);
    put(m, 1, 4);
    put(m, 1, 4);
    put(m, 1, 4);
    put(m, 2, 4);
    put(m, 1 << 19, 4);
}

static void walk(const struct maker *m)
{
    struct perfdata_options options = PERFDATA_OPTIONS_INIT;
    struct perfdata_cursor_options how = PERFDATA_CURSOR_OPTIONS_INIT;
    perfdata_recording *recording;
    perfdata_cursor *cursor;
    const perfdata_record *record;
    size_t length;
    uint64_t sum = 0;
    options.max_decompressed = 16 << 20;
    options.max_records = 20000;
    if (perfdata_recording_open_memory(m->bytes, m->size, &options, &recording) != PERFDATA_OK)
        abort(); /* its head is good */
    if (perfdata_cursor_open(recording, &how, &cursor) == PERFDATA_OK) {
        while (perfdata_cursor_next(cursor, &record) > 0) {
            const uint8_t *bytes = perfdata_record_bytes(record, &length);
            for (size_t i = 0; i < length; i++)
                sum += bytes[i];
        }
        perfdata_cursor_close(cursor);
    }
    volatile uint64_t used = sum;
    (void)used;
    perfdata_recording_close(recording);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct maker m;
    static uint8_t packed[ROOM / 2];
    if (size < 2 || size > ROOM / 4)
        return 0;
    unsigned how = data[0];
    const uint8_t *from = data + 2;
    size_t count = size - 2;
    if (how & 1) {
        count = ZSTD_compress(packed, sizeof packed, from, count, 1);
        if (ZSTD_isError(count))
            return 0;
        from = packed;
    }
    size_t split = how & 2 ? count * data[1] / 255 : count;
    m.size = 0;
    put_head(&m);
    put_record(&m, from, split, how & 4);
    if (how & 2)
        put_record(&m, from + split, count - split, how & 8);
    finish(&m);
    walk(&m);
    return 0;
}
