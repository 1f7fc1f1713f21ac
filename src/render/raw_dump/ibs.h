/* SPDX-License-Identifier: MIT */
/* The registers of AMD's instruction-based sampling (IBS), which samples of ibs_op and ibs_fetch
 * hold raw. */
#ifndef PD_RAW_DUMP_IBS_H
#define PD_RAW_DUMP_IBS_H
#include "base/text.h"
#include "container/container.h"
#include "order/order.h"

/* Which processor and which events the samples are of, as the recording's header tells. */
struct pd_ibs {
    bool is_amd;
    bool has_op, has_fetch;
    uint32_t op_type, fetch_type; /* attr.type of their events */
    bool has_zen4;                /* registers have the fields of Zen 4 */
    bool is_early_zen3; /* family 19h, models 0 to 0fh: some fields are not to be trusted */
};

void pd_ibs_init(struct pd_ibs *ibs, const struct pd_recording *recording);

/* The lines that perf prints between a sample's bytes and its head; nothing for other samples. */
void pd_ibs_text(const struct pd_ibs *ibs, struct pd_recording *recording,
                 const struct pd_delivered *record, struct pd_text *text);

#endif
