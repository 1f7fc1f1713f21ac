/* SPDX-License-Identifier: MIT */
/* What a sample's data_src says about an access to memory, as text. */
#ifndef PD_DATA_SOURCE_H
#define PD_DATA_SOURCE_H
#include "base/text.h"

enum pd_data_source_part {
    PD_DATA_SOURCE_LEVEL = 1, /* behind the operation */
    PD_DATA_SOURCE_SNOOP,
    PD_DATA_SOURCE_TLB,
    PD_DATA_SOURCE_LOCK,
    PD_DATA_SOURCE_BLOCK
};

/* "|OP LOAD|LVL L1 hit|..."; with as_perf, what perf 6.1 says of
 * numbers newer than itself. */
void pd_data_source_text(uint64_t source, bool as_perf, struct pd_text *text);
/* One part of it, without its head. */
void pd_data_source_part_text(uint64_t source, enum pd_data_source_part part, bool as_perf,
                              struct pd_text *text);

#endif
