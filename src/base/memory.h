/* SPDX-License-Identifier: MIT */
/* Large tables that are looked into at random: in huge pages where the system has them, since most of a look-up is
 * waiting for the address's translation. */
#ifndef PD_MEMORY_H
#define PD_MEMORY_H
#include "base/base.h"

/* Like malloc() and calloc(); for free(). */
void *pd_large_alloc(size_t size);
void *pd_large_calloc(size_t count, size_t size);

#endif
