/* SPDX-License-Identifier: MIT */
/* Mean, deviation, least and most of numbers that come one after the other. */
#ifndef PD_SPREAD_H
#define PD_SPREAD_H
#include "base/base.h"
#include <math.h>

struct pd_spread {
    double count, mean;
    double squares; /* sum of the squared distances from the mean */
    uint64_t least, most;
};

/* In perf's order of operations, which the last digits show. */
PD_INLINE void pd_spread_add(struct pd_spread *spread, uint64_t value)
{
    double delta = (double)value - spread->mean;
    spread->least = spread->count > 0 ? PD_MIN(spread->least, value) : value;
    spread->most = PD_MAX(spread->most, value);
    spread->count++;
    spread->mean += delta / spread->count;
    spread->squares += delta * ((double)value - spread->mean);
}

/* How far from the true mean the mean is likely to be; 0 for fewer than two numbers. */
PD_INLINE double pd_spread_error(const struct pd_spread *spread)
{
    double count = spread->count;
    return count >= 2 ? sqrt(spread->squares / (count - 1) / count) : 0;
}

#endif
