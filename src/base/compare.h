/* SPDX-License-Identifier: MIT */
/* Orders of numbers, for the functions that qsort() calls. */
#ifndef PD_COMPARE_H
#define PD_COMPARE_H
#include "base/base.h"

/* Below 0 when a is the smaller one, 0 when they are equal. */
PD_INLINE int pd_compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

#endif
