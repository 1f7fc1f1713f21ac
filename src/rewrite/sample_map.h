/* SPDX-License-Identifier: MIT */
/* One record after the other, in delivery order or as near to it as can be had: which map each
 * sample is in. */
#ifndef PD_REWRITE_FOLLOW_H
#define PD_REWRITE_FOLLOW_H
#include "pipeline/pipeline.h"

struct pd_follow {
    struct pd_session session;
    uint64_t number; /* of the last record */
};

/* All zero before; pd_session_open() and pd_session_close() of the session are the caller's. A
 * sample: *map is where its address lies, NULL unknown, and *thread whose it is. Other records
 * act. */
perfdata_status pd_follow_record(struct pd_follow *follow, const struct pd_event *event,
                                 const uint8_t *record, uint32_t size, uint32_t type, uint16_t misc,
                                 const struct pd_map **map);

#endif
