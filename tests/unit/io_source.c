/* SPDX-License-Identifier: MIT */
/* Sources read what is there and say what is not; chunks live as long as somebody holds them. */
#include "test.h"
#include "io/io.h"
#include <fcntl.h>
#include <unistd.h>

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

int main(void)
{
    struct pd_context context;
    pd_context_init(&context);
    chunks_come_back();
    chunk_over_memory();
    memory(&context);
    file(&context);
    what_cannot_be_opened(&context);
    pd_context_fini(&context);
    return test_done();
}
