/* SPDX-License-Identifier: MIT */
/* Large tables that are looked into at random: in huge pages where the system has them, since most
 * of a look-up is waiting for the address's translation. */
#ifndef PD_MEMORY_H
#define PD_MEMORY_H
#include "base/base.h"

/* Like malloc() and calloc(); for free(). */
void *pd_large_alloc(size_t size);
void *pd_large_calloc(size_t count, size_t size);

/* Whether an allocation has failed on this thread since pd_memory_forget(). What is loaded lies
 * many calls deep, where "there is none" and "there was no memory for it" end alike: who runs the
 * whole asks here, so that the second never passes for the first. Vectors, texts, arenas, hash
 * tables and pd_large_alloc() note by themselves. */
bool pd_memory_failed(void);
void pd_memory_forget(void);
void pd_memory_note(void);

/* Passes on what malloc(), strdup() and the like have returned, and notes a failure. */
PD_INLINE void *pd_memory_noted(void *block)
{
    if (PD_UNLIKELY(!block))
        pd_memory_note();
    return block;
}

/* Around calls of libraries, which fail for many reasons: errno is zero before, and tells of memory
 * behind. */
void pd_memory_note_errno(void);

#endif
