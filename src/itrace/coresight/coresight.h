/* SPDX-License-Identifier: MIT */
/* Arm CoreSight: what AUXTRACE_INFO says of the trace units, and their traces as perf's raw dump
 * shows them. */
#ifndef PD_CORESIGHT_H
#define PD_CORESIGHT_H
#include "format/structs.h"
#include "itrace/coresight/etm4.h"

enum { PD_CORESIGHT_IDS = 128 };

struct pd_coresight {
    const char
        *name; /* of the last unit's kind, as perf has it; NULL: no unit's packets are known here */
    uint32_t pmu; /* type of its events */
    bool known[PD_CORESIGHT_IDS];
    struct pd_etm4_config config[PD_CORESIGHT_IDS];
};

/* `words` are those behind the type. */
void pd_coresight_read(const struct pd_array *words, struct pd_coresight *out);
void pd_coresight_info_text(const struct pd_array *words, struct pd_text *text);
/* The first line and a line for each packet; `offset` is where the bytes stand in the whole
 * trace. */
void pd_coresight_dump(const struct pd_coresight *coresight, const uint8_t *bytes, size_t size,
                       uint64_t offset, struct pd_text *text);

#endif
