/* SPDX-License-Identifier: MIT */
/* What perf stat prints behind a count: its relation to another event's, averaged over all rounds
 * so far. */
#ifndef PD_RENDER_COUNTS_SHADOW_H
#define PD_RENDER_COUNTS_SHADOW_H
#include "base/text.h"
#include "format/format.h"

/* The counts that others are compared with. */
enum pd_shadow_base {
    PD_SHADOW_TIME,
    PD_SHADOW_CYCLES,
    PD_SHADOW_STALLED_FRONT,
    PD_SHADOW_STALLED_BACK,
    PD_SHADOW_BRANCHES,
    PD_SHADOW_CACHE_REFS,
    PD_SHADOW_L1D,
    PD_SHADOW_L1I,
    PD_SHADOW_LL,
    PD_SHADOW_DTLB,
    PD_SHADOW_ITLB,
    PD_SHADOW_BASES
};

struct pd_mean {
    double count, mean;
};
void pd_mean_add(struct pd_mean *mean, double value);

enum { PD_SHADOW_CONTEXTS = 32 }; /* by what the event excludes: kernel, user ... */

/* The counts that other counts are compared with, for what one line is about: the whole system, a
 * CPU, a core or a thread. */
struct pd_shadow {
    struct pd_mean bases[PD_SHADOW_BASES][PD_SHADOW_CONTEXTS];
};

bool pd_event_is_clock(const struct pd_event *event);
/* Takes a count of the event, not yet multiplied by its scale. */
void pd_shadow_add(struct pd_shadow *shadow, const struct pd_event *event, uint64_t value);

/* Adds " # ..." padded to its width, or blanks where there is nothing to tell. `value` has been
 * multiplied by the event's scale; `wall` is the time that passed, in the same unit, 0 where not
 * known. `begin` is what a second line begins with. */
void pd_shadow_put(const struct pd_shadow *shadow, const struct pd_event *event, double value,
                   double wall, const char *begin, struct pd_text *out);
void pd_shadow_put_nothing(struct pd_text *out);

#endif
