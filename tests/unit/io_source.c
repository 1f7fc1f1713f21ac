/* SPDX-License-Identifier: MIT */
/* Sources read what is there and say what is not; chunks live as long as somebody holds them. */
#include "test.h"
#include "io/ahead.h"
#include <fcntl.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

static void chunks_come_back(void)
{
    struct pd_chunk_pool *pool = pd_chunk_pool_new();
    struct pd_chunk *first = pd_chunk_new(pool, 100);
    CHECK(first && first->capacity >= 100);
    uint8_t *bytes = first->bytes;
    pd_chunk_hold(first);
    pd_chunk_release(first);
    struct pd_chunk *second = pd_chunk_new(pool, 100);
    CHECK(second->bytes != bytes); /* the first is still held */
    pd_chunk_release(first);
    struct pd_chunk *third = pd_chunk_new(pool, 50);
    CHECK(third->bytes == bytes); /* taken from the pool */
    CHECK_U64(third->size, 0);
    struct pd_chunk *large = pd_chunk_new(pool, 1 << 20);
    CHECK_U64(large->capacity, 1 << 20);
    pd_chunk_release(third);
    pd_chunk_release(large);
    pd_chunk_pool_close(pool);
    second->bytes[0] = 1; /* outlives its pool */
    pd_chunk_release(second);
    pd_chunk_pool_close(NULL);
}

static void chunk_over_memory(void)
{
    static const uint8_t bytes[16] = { 1, 2, 3 };
    struct pd_chunk_pool *pool = pd_chunk_pool_new();
    struct pd_chunk *chunk = pd_chunk_over(pool, bytes, sizeof bytes);
    CHECK(chunk->bytes == bytes && chunk->size == 16);
    pd_chunk_release(chunk);
    pd_chunk_pool_close(pool);
}

static void memory(struct pd_context *context)
{
    struct pd_source *source;
    uint8_t to[8];
    size_t got;
    CHECK_U64((uint64_t)pd_source_open_memory(context, "abcdef", 6, &source), 0);
    CHECK_U64(pd_source_size(source), 6);
    CHECK(pd_source_memory(source) && !pd_source_is_stream(source) &&
          !pd_source_is_directory(source));
    CHECK(pd_source_read(source, 4, to, 8, &got) == 0 && got == 2 && to[0] == 'e');
    CHECK(pd_source_read(source, 6, to, 8, &got) == 0 && got == 0);
    CHECK(pd_source_read(source, UINT64_MAX, to, 8, &got) == 0 && got == 0);
    pd_source_close(source);
    CHECK(pd_source_open_memory(context, NULL, 0, &source) == 0 && pd_source_size(source) == 0);
    pd_source_close(source);
    pd_source_close(NULL);
}

static void file(struct pd_context *context)
{
    char path[] = "source-XXXXXX";
    int fd = mkstemp(path);
    struct pd_source *source;
    uint8_t to[8];
    size_t got;
    CHECK(fd >= 0 && write(fd, "0123456789", 10) == 10);
    CHECK(pd_source_open_path(context, path, &source) == 0);
    CHECK_U64(pd_source_size(source), 10);
    CHECK(pd_source_mtime(source) > 1000000000 && !pd_source_memory(source));
    CHECK(pd_source_read(source, 3, to, 4, &got) == 0 && got == 4 && to[0] == '3');
    CHECK(pd_source_read(source, 8, to, 8, &got) == 0 && got == 2 && to[1] == '9');
    CHECK(pd_source_read(source, UINT64_MAX - 2, to, 8, &got) == 0 && got == 0);
    CHECK(ftruncate(fd, 5) == 0); /* no mapping: a shrinking file only ends early */
    CHECK(pd_source_read(source, 3, to, 4, &got) == 0 && got == 2);
    CHECK(ftruncate(fd, 1 << 24) == 0);
    pd_source_close(source);
    CHECK(pd_source_open_path(context, path, &source) == 0);
    CHECK(pd_source_next_data(source, 0) <= pd_source_size(source));
    pd_source_close(source);
    CHECK(pd_source_open_fd(context, fd, &source) == 0 && pd_source_size(source) == 1 << 24);
    pd_source_close(source);
    CHECK(lseek(fd, 0, SEEK_CUR) == 10); /* ours neither to close nor to move */
    close(fd);
    unlink(path);
}

static void *serve(void *ahead)
{
    pd_ahead_serve(ahead);
    return NULL;
}

/* What is read ahead is what was asked for, or nothing: the walker reads itself then. */
static void read_ahead(struct pd_context *context)
{
    char path[] = "io-source-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0 && pwrite(fd, "0123456789", 10, 0) == 10);
    struct pd_source *source;
    struct pd_ahead ahead;
    pthread_t thread;
    size_t got = 0;
    CHECK(pd_source_open_fd(context, fd, &source) == 0);
    struct pd_chunk_pool *pool = pd_chunk_pool_new();
    pd_ahead_init(&ahead);
    pd_ahead_serve(&ahead); /* nothing to do */
    CHECK(!pd_ahead_take(&ahead, source, 0, &got));

    pd_ahead_ask(&ahead, source, 3, pd_chunk_new(pool, 32), 8, 20);
    CHECK(pd_ahead_waits(&ahead) && !pd_ahead_take(&ahead, source, 3, &got)); /* not begun */
    CHECK(!pd_ahead_waits(&ahead));

    pd_ahead_ask(&ahead, source, 3, pd_chunk_new(pool, 32), 8, 20);
    CHECK(pthread_create(&thread, NULL, serve, &ahead) == 0 && pthread_join(thread, NULL) == 0);
    struct pd_chunk *chunk = pd_ahead_take(&ahead, source, 3, &got);
    CHECK(chunk && got == 7 && !memcmp(chunk->bytes + 8, "3456789", 7));
    CHECK(!pd_ahead_take(&ahead, source, 3, &got)); /* once */
    pd_chunk_release(chunk);

    pd_ahead_ask(&ahead, source, 3, pd_chunk_new(pool, 32), 0, 4);
    pd_ahead_serve(&ahead);
    CHECK(!pd_ahead_take(&ahead, source, 4, &got)); /* another place */
    pd_ahead_ask(&ahead, source, 10, pd_chunk_new(pool, 32), 0, 4);
    pd_ahead_serve(&ahead);
    CHECK(!pd_ahead_take(&ahead, source, 10, &got)); /* nothing is there */
    pd_ahead_ask(&ahead, source, 0, pd_chunk_new(pool, 32), 0, 4);
    pd_ahead_fini(&ahead); /* what was asked for goes with it */
    pd_chunk_pool_close(pool);
    pd_source_close(source);
    close(fd);
    unlink(path);
}

static void what_cannot_be_opened(struct pd_context *context)
{
    struct pd_source *source;
    CHECK(pd_source_open_path(context, "there/is/no/such/file", &source) ==
          PERFDATA_ERROR_NOT_FOUND);
    CHECK(!source && strstr(context->message, "there/is/no/such/file"));
    CHECK(pd_source_open_path(context, "/", &source) == 0 && pd_source_is_directory(source));
    pd_source_close(source);
    CHECK(pd_source_open_fd(context, -1, &source) < 0 && !source);
    int ends[2];
    CHECK(pipe(ends) == 0);
    CHECK(pd_source_open_fd(context, ends[0], &source) == 0 && pd_source_is_stream(source));
    CHECK_U64(pd_source_size(source), UINT64_MAX);
    pd_source_close(source);
    close(ends[0]);
    close(ends[1]);
}

/* ---- packed recordings ---- */

enum { PLAIN = 300000, PACKED = 2 * PLAIN };

static size_t pack(int how, const uint8_t *plain, uint8_t *packed)
{
    size_t size = 0;
    if (how == 0) {
        z_stream stream = { 0 };
        CHECK(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
        stream.next_in = (uint8_t *)(uintptr_t)plain;
        stream.avail_in = PLAIN;
        stream.next_out = packed;
        stream.avail_out = PACKED;
        CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
        size = stream.total_out;
        deflateEnd(&stream);
    } else if (how == 1) {
        CHECK(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, plain, PLAIN, packed, &size,
                                      PACKED) == LZMA_OK);
    } else {
        size = ZSTD_compress(packed, PACKED, plain, PLAIN, 1);
        CHECK(!ZSTD_isError(size));
    }
    return size;
}

static void expect(struct pd_context *context, const uint8_t *packed, size_t size,
                   const uint8_t *plain, size_t plain_size)
{
    struct pd_source *source;
    CHECK(pd_source_open_memory(context, packed, size, &source) == 0);
    CHECK(pd_source_unpack(&source) == 0);
    CHECK_U64(pd_source_size(source), plain_size);
    uint8_t *to = malloc(plain_size + 1);
    size_t got = 0;
    CHECK(pd_source_read(source, 0, to, plain_size + 1, &got) == 0 && got == plain_size);
    CHECK(memcmp(to, plain, plain_size) == 0);
    free(to);
    pd_source_close(source);
}

static void packed_recordings(struct pd_context *context)
{
    uint8_t *plain = malloc(2 * PLAIN), *packed = malloc(2 * PACKED);
    uint32_t random = 1;
    for (size_t i = 0; i < PLAIN; i++) { /* half of it can be packed */
        random = random * 1664525 + 1013904223;
        plain[i] = i & 64 ? (uint8_t)(random >> 24) : (uint8_t)(i >> 8);
    }
    memcpy(plain + PLAIN, plain, PLAIN);
    for (int how = 0; how < 3; how++) {
        size_t size = pack(how, plain, packed);
        expect(context, packed, size, plain, PLAIN);
        memcpy(packed + size, packed, size); /* two of them, one behind the other */
        expect(context, packed, 2 * size, plain, (size_t)2 * PLAIN);
        CHECK_U64(context->issue_count[PERFDATA_ISSUE_TRUNCATED], (uint64_t)how);
        struct pd_source *source; /* cut: what came before is there */
        CHECK(pd_source_open_memory(context, packed, size / 2, &source) == 0);
        CHECK(pd_source_unpack(&source) == 0);
        CHECK(pd_source_size(source) <= PLAIN);
        pd_source_close(source);
        CHECK_U64(context->issue_count[PERFDATA_ISSUE_TRUNCATED], (uint64_t)how + 1);
        context->limits.decompressed = PLAIN / 2;
        CHECK(pd_source_open_memory(context, packed, size, &source) == 0);
        CHECK(pd_source_unpack(&source) == PERFDATA_ERROR_LIMIT);
        CHECK(!source);
        context->limits.decompressed = 0;
    }
    free(plain);
    free(packed);
}

static void packed_stream(struct pd_context *context)
{
    uint8_t packed[100], to[16];
    size_t got, size = ZSTD_compress(packed, sizeof packed, "PERFILE2", 8, 1);
    int ends[2];
    CHECK(pipe(ends) == 0 && write(ends[1], packed, size) == (ssize_t)size);
    close(ends[1]);
    struct pd_source *source;
    CHECK(pd_source_open_fd(context, ends[0], &source) == 0 && pd_source_unpack(&source) == 0);
    CHECK(!pd_source_is_stream(source));
    CHECK(pd_source_read(source, 0, to, sizeof to, &got) == 0 && got == 8);
    CHECK(memcmp(to, "PERFILE2", 8) == 0);
    pd_source_close(source);
    close(ends[0]);
}

int main(void)
{
    struct pd_context context;
    pd_context_init(&context);
    chunks_come_back();
    chunk_over_memory();
    memory(&context);
    file(&context);
    read_ahead(&context);
    what_cannot_be_opened(&context);
    packed_recordings(&context);
    packed_stream(&context);
    pd_context_fini(&context);
    return test_done();
}
