/* SPDX-License-Identifier: MIT */
/* Large tables, and memory that is filled at once: in huge pages where the system has them, since most of a look-up at
 * random is waiting for the address's translation, and a fault for each small page costs more than to fill it. */
#ifndef PD_MEMORY_H
#define PD_MEMORY_H
#include "base/base.h"

/* Like malloc(), calloc() and realloc(), which is told the old size; for free(). */
void *pd_large_alloc(size_t size);
void *pd_large_calloc(size_t count, size_t size);
void *pd_large_realloc(void *bytes, size_t old_size, size_t size);

#endif
