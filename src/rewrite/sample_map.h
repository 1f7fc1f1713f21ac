/* SPDX-License-Identifier: MIT */
/* One record after the other, in delivery order or as near to it as can be had: which map each
 * sample is in. */
#ifndef PD_REWRITE_SAMPLE_MAP_H
#define PD_REWRITE_SAMPLE_MAP_H
#include "pipeline/pipeline.h"

struct pd_sample_map {
    struct pd_session session;
    uint64_t number; /* of the last record */
};

/* The struct is all zero at first; the caller opens and closes its session. Where the record is a
 * sample *map is the map that its address lies in, NULL where that is unknown. Other records change
 * which maps there are. */
perfdata_status pd_sample_map_take(struct pd_sample_map *sample_map, const struct pd_event *event,
                                   const uint8_t *record, uint32_t size, uint32_t type,
                                   uint16_t misc, const struct pd_map **map);

#endif
