/* SPDX-License-Identifier: MIT */
/* The layer io/: a path, a descriptor, a memory block (or a pipe, a directory, a compressed file)
 * -> chunks of bytes.
 *
 * A chunk is a reference-counted block of consecutive bytes of the input. Everything above holds
 * records as (chunk, pointer), copies nothing, and gives the chunk back when the last of its
 * records has been consumed; memory is bounded by what is under way. A record that crosses a
 * chunk's end is put together at the front of the next chunk, so a record always lies in one chunk
 * as a whole. */
#ifndef PD_IO_H
#define PD_IO_H
#include "base/base.h"
#include "base/context.h"
#include <stdatomic.h>

struct pd_chunk_pool;

struct pd_chunk {
    uint8_t *bytes;
    size_t size; /* bytes that are valid */
    size_t capacity;
    atomic_uint references;
    uint64_t mark; /* for the holder: e.g. the batch that already counts this chunk */
    struct pd_chunk_pool *pool;
    struct pd_chunk *next_free;
    bool foreign;               /* the bytes belong to the caller's memory block */
    struct pd_chunk_slab *slab; /* that they lie in, or NULL: they are its own */
};

PD_INLINE void pd_chunk_hold(struct pd_chunk *chunk)
{
    atomic_fetch_add_explicit(&chunk->references, 1, memory_order_relaxed);
}
/* The last release gives the chunk back to its pool. Safe from any thread. */
void pd_chunk_release(struct pd_chunk *chunk);

struct pd_chunk_pool *pd_chunk_pool_new(void);
/* Chunks that are still held outlive it. NULL does nothing. */
void pd_chunk_pool_close(struct pd_chunk_pool *pool);
/* A chunk with at least `capacity` bytes of room and one reference; NULL: no memory. */
struct pd_chunk *pd_chunk_new(struct pd_chunk_pool *pool, size_t capacity);
/* A chunk of one reference over bytes that stay the caller's and outlive it. */
struct pd_chunk *pd_chunk_over(struct pd_chunk_pool *pool, const uint8_t *bytes, size_t size);

/* Where bytes come from: random access by pread (file, memory) or a stream (pipe, socket). Files
 * are never mapped: one that shrinks must not kill the process. */
struct pd_source;

/* A directory opens as a source without bytes (pd_source_is_directory). */
perfdata_status pd_source_open_path(struct pd_context *context, const char *path,
                                    struct pd_source **out);
/* A regular file, and nothing else that may stand there: a FIFO is not waited for. */
perfdata_status pd_source_open_regular(struct pd_context *context, const char *path,
                                       struct pd_source **out);
/* The descriptor stays the caller's; it must outlive the source. */
perfdata_status pd_source_open_fd(struct pd_context *context, int fd, struct pd_source **out);
/* The bytes stay the caller's; they must outlive the source. */
perfdata_status pd_source_open_memory(struct pd_context *context, const void *bytes, size_t size,
                                      struct pd_source **out);
/* What is wholly .gz, .xz or .zst becomes the temporary file that it is unpacked into; all else
 * stays. The old source is closed, and *source NULL on failure. Waits for the first bytes of a
 * stream. */
perfdata_status pd_source_unpack(struct pd_source **source);
/* A regular file in a directory; PERFDATA_ERROR_NOT_FOUND when there is none of this name. */
perfdata_status pd_source_open_entry(struct pd_context *context, const struct pd_source *directory,
                                     const char *name, struct pd_source **out);
/* Calls `each` with the names in a directory, in no order, until it returns non-zero. */
perfdata_status pd_source_list(struct pd_context *context, const struct pd_source *directory,
                               int (*each)(void *data, const char *name), void *data);
/* NULL does nothing. */
void pd_source_close(struct pd_source *source);

/* The size, or UINT64_MAX when it is not known (a stream). */
uint64_t pd_source_size(const struct pd_source *source);
bool pd_source_is_stream(const struct pd_source *source);
/* Turns a stream, of which no more was read than what has been kept, into a file: all of it is
 * copied into an unlinked temporary one. */
perfdata_status pd_source_spool(struct pd_source *source);
bool pd_source_is_directory(const struct pd_source *source);
/* The whole input when it is a memory block, else NULL. */
const uint8_t *pd_source_memory(const struct pd_source *source);
/* Modification time in seconds since 1970, 0 unknown. */
int64_t pd_source_mtime(const struct pd_source *source);
/* The same in nanoseconds. */
int64_t pd_source_changed(const struct pd_source *source);
/* Reads up to `size` bytes at `offset`; *got is less only at the end of the input. */
perfdata_status pd_source_read(struct pd_source *source, uint64_t offset, void *to, size_t size,
                               size_t *got);
/* The same, but content with `least` bytes where more would have to be waited for (a stream). A
 * stream is read once, from front to back; what pd_source_stop_keeping() has not yet been called
 * for can be read again from the start. */
perfdata_status pd_source_read_least(struct pd_source *source, uint64_t offset, void *to,
                                     size_t least, size_t size, size_t *got);
/* pd_source_read() for files, from any thread, at the same time as others. A failure is returned,
 * but leaves no message. */
bool pd_source_read_quietly(const struct pd_source *source, uint64_t offset, void *to, size_t size,
                            size_t *got);
void pd_source_stop_keeping(struct pd_source *source);
/* The first offset from `offset` on where a file may hold other bytes than zeros (holes are
 * skipped). */
uint64_t pd_source_next_data(const struct pd_source *source, uint64_t offset);

#endif
