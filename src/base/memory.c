/* SPDX-License-Identifier: MIT */
/* Large tables, in huge pages where the system has them, and allocations that are noted when they
 * fail. */
#include "base/memory.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

static _Thread_local bool failed;

bool pd_memory_failed(void)
{
    return failed;
}

void pd_memory_forget(void)
{
    failed = false;
}

void pd_memory_note(void)
{
    failed = true;
}

void pd_memory_note_errno(void)
{
    failed |= errno == ENOMEM;
}

void *pd_large_alloc(size_t size)
{
    if (size < HUGE_PAGE || size > SIZE_MAX - HUGE_PAGE)
        return pd_memory_noted(malloc(size));
    size_t rounded = (size + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);
    void *bytes = pd_memory_noted(aligned_alloc(HUGE_PAGE, rounded));
#ifdef MADV_HUGEPAGE
    if (bytes)
        (void)madvise(bytes, rounded,
                      MADV_HUGEPAGE); /* without it the pages are small, nothing else */
#endif
    return bytes;
}

void *pd_large_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (pd_mul_overflows(count, size, &bytes))
        return NULL;
    if (bytes < HUGE_PAGE)
        return pd_memory_noted(calloc(count, size));
    void *result = pd_large_alloc(bytes);
    return result ? memset(result, 0, bytes) : NULL;
}
