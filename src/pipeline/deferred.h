/* SPDX-License-Identifier: MIT */
/* Call chains whose user part the kernel recorded later (Linux 6.19).
 *
 * Such a sample's chain ends with PERF_CONTEXT_USER_DEFERRED and a cookie. The part in user space
 * follows when the task returns there, in a record CALLCHAIN_DEFERRED of the same thread with the
 * same cookie; one such record may complete several samples. Samples keep their place in time: the
 * recording is read ahead, once, at the first of them. */
#ifndef PD_PIPELINE_DEFERRED_H
#define PD_PIPELINE_DEFERRED_H
#include "base/intern.h"
#include "base/vec.h"
#include "container/container.h"
#include "order/order.h"
#include "pipeline/made.h"

struct pd_user_part;

/* One owner: the front. */
struct pd_deferred {
    struct pd_recording *recording;
    bool collected;                    /* all CALLCHAIN_DEFERRED records are known */
    PD_VEC(struct pd_user_part) parts; /* by thread, cookie and time */
    struct pd_intern chains;           /* their addresses, equal ones once */
    struct pd_made *made;              /* room for the completed records: the front's */
};

void pd_deferred_init(struct pd_deferred *deferred, struct pd_recording *recording,
                      struct pd_made *made);
void pd_deferred_free(struct pd_deferred *deferred);

/* Whether an event says that there are such chains. */
bool pd_deferred_any(const struct pd_recording *recording);
/* A stream that may hold such chains is copied into a temporary file, as it can be read only once.
 * Call before the first record is read. */
perfdata_status pd_deferred_prepare(struct pd_recording *recording);

/* Whether the sample's chain, which begins with its count at the given place, ends with the marker
 * and a cookie. */
PD_INLINE bool pd_deferred_ends_chain(const struct pd_delivered *record, uint32_t at)
{
    enum { WORD = 8 };
    const bool swap = record->event->plan.swap;
    if (at + WORD > record->size)
        return false;
    const uint64_t count = pd_load64(record->data + at, swap);
    return count >= 2 && count <= (record->size - at - WORD) / WORD &&
           pd_load64(record->data + at + WORD * (count - 1), swap) == PD_CONTEXT(USER_DEFERRED);
}
/* The same for a sample with counts before its chain. */
bool pd_deferred_waits_behind_read(const struct pd_delivered *record);

/* Whether a sample's chain ends with the marker; its event must be known. */
PD_INLINE bool pd_deferred_waits(const struct pd_delivered *record)
{
    const struct pd_plan *plan = &record->event->plan;
    if (!(plan->sample_type & PD_SAMPLE_CALLCHAIN))
        return false;
    return PD_LIKELY(!(plan->sample_type & PD_SAMPLE_READ))
               ? pd_deferred_ends_chain(record, plan->fixed_size)
               : pd_deferred_waits_behind_read(record);
}

/* Replaces such a sample's bytes by those of the sample with its whole chain, or with the kernel's
 * part alone, and a word, where the recording does not hold the rest. The bytes lie in
 * record->chunk. */
perfdata_status pd_deferred_complete(struct pd_deferred *deferred, struct pd_delivered *record);

#endif
