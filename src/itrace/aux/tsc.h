/* SPDX-License-Identifier: MIT */
/* TSC ticks <-> perf's nanoseconds, wrapping as perf's do. */
#ifndef PD_TSC_H
#define PD_TSC_H
#include "base/base.h"

struct pd_tsc_conversion {
    uint64_t zero;
    uint32_t shift; /* below 64 */
    uint64_t mult;  /* never 0 */
};

PD_INLINE uint64_t pd_tsc_to_time(const struct pd_tsc_conversion *conversion, uint64_t tsc)
{
    uint64_t quotient = tsc >> conversion->shift;
    uint64_t rest = tsc & ((UINT64_C(1) << conversion->shift) - 1);
    return conversion->zero + quotient * conversion->mult +
           ((rest * conversion->mult) >> conversion->shift);
}

/* A duration. */
PD_INLINE uint64_t pd_ns_to_ticks(const struct pd_tsc_conversion *conversion, uint64_t ns)
{
    uint64_t quotient = ns / conversion->mult, rest = ns % conversion->mult;
    return (quotient << conversion->shift) + (rest << conversion->shift) / conversion->mult;
}

PD_INLINE uint64_t pd_time_to_tsc(const struct pd_tsc_conversion *conversion, uint64_t time)
{
    return pd_ns_to_ticks(conversion, time - conversion->zero);
}

/* The conversion that a TIME_CONV record holds; false: it holds none, and *out stays. */
bool pd_tsc_conversion_read(const uint8_t *record, uint32_t size, bool swap,
                            struct pd_tsc_conversion *out);

/* The ends of a span of time; 0 leaves either end open, in times as in ticks. The first tick whose
 * time is `time` or later: 0 when all are, or when the conversion does not keep the order of times;
 * UINT64_MAX when none is. */
uint64_t pd_tsc_first(const struct pd_tsc_conversion *conversion, uint64_t time);
/* The last tick whose time is `time` or earlier; 1, in place of none, when the TSC began later. */
uint64_t pd_tsc_last(const struct pd_tsc_conversion *conversion, uint64_t time);

#endif
