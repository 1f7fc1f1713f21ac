/* SPDX-License-Identifier: MIT */
/* A thread that writes blocks in the order in which they are handed over, while its owner fills
 * others. */
#ifndef PD_WRITE_ASYNC_H
#define PD_WRITE_ASYNC_H
#include "base/base.h"

struct pd_async;

/* `blocks` blocks of `size` bytes may be under way, one more is the owner's: *block. NULL: no
 * memory or no thread. */
struct pd_async *pd_async_new(int fd, unsigned blocks, size_t size, uint8_t **block);
/* Writes the first `used` bytes of the block behind what was written, then the small `patch` at the
 * file's start (size 0: none). *block is another one then. 0, or the errno of a write that failed
 * before. */
int pd_async_write(struct pd_async *async, uint8_t **block, size_t used, const void *patch,
                   size_t patch_size);
/* Waits until all that was handed over is written. 0 or errno. */
int pd_async_wait(struct pd_async *async);
/* Waits. NULL does nothing. */
void pd_async_free(struct pd_async *async);

#endif
