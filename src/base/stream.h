/* SPDX-License-Identifier: MIT */
/* Stores that bypass this core's caches, for data that another core reads next: that core would
 * have to fetch each line from here, and this core to ask for it back. Where there are none,
 * PD_STREAMS is 0. */
#ifndef PD_STREAM_H
#define PD_STREAM_H
#include "base/base.h"

#ifdef __x86_64__
#define PD_STREAMS 1
#include <emmintrin.h>

PD_INLINE void pd_stream64(void *to, uint64_t value)
{
    _mm_stream_si64(to, (long long)value);
}

/* To be called before others may read what was stored in this way. */
PD_INLINE void pd_stream_end(void)
{
    _mm_sfence();
}
#else
#define PD_STREAMS 0

PD_INLINE void pd_stream64(void *to, uint64_t value)
{
    memcpy(to, &value, sizeof value);
}

PD_INLINE void pd_stream_end(void)
{
}
#endif

#endif
