/* SPDX-License-Identifier: MIT */
/* The raw dump of report -D and script -D: each record as it is delivered, in hexadecimal and
 * decoded. */
#ifndef PD_RAW_DUMP_H
#define PD_RAW_DUMP_H
#include "render/raw_dump/ibs.h"
#include "itrace/coresight/coresight.h"
#include "pipeline/pipeline.h"
#include <stdatomic.h>

enum pd_raw_dump_verb { PD_RAW_DUMP_SCRIPT, PD_RAW_DUMP_REPORT };

struct pd_raw_dump {
    struct pd_recording *recording;
    struct pd_symbols *symbols; /* of the session; set before the run */
    enum pd_raw_dump_verb verb; /* they know different records */
    bool no_packets;            /* --no-itrace */
    bool unsorted;              /* rounds mean nothing */
    bool colored;               /* bytes in perf's blue, as ANSI escape sequences */
    bool has_cpu, has_time, has_trailer;
    _Atomic uint64_t first_attr; /* where the first event of a pipe stands, all ones: not met */
    struct pd_ibs ibs;
    struct pd_coresight coresight;  /* of AUXTRACE_INFO, whole before the type is set */
    _Atomic uint32_t auxtrace_type; /* of AUXTRACE_INFO, seen by the front */
};

void pd_raw_dump_init(struct pd_raw_dump *dump, struct pd_recording *recording,
                      enum pd_raw_dump_verb verb);
/* What perf says before all else where it cannot order: a file whose records have no trailer. */
void pd_raw_dump_warning(const struct pd_recording *recording, struct pd_text *text);
/* What the front has to tell it: call with each delivered record. */
void pd_raw_dump_front(struct pd_raw_dump *dump, const struct pd_delivered *record);
/* `again`: the record before was the same, split by the counters it reads. */
void pd_raw_dump_record(const struct pd_raw_dump *dump, struct pd_resolver *resolver,
                        const struct pd_delivered *record, bool again, struct pd_text *text);
/* How many events perf makes up for what the trace shows, and dumps as records. */
unsigned pd_raw_dump_made(const struct pd_raw_dump *dump);
/* PERF_RECORD_ and what perf says of a record of the kernel, without what is in samples. */
void pd_raw_dump_name(const struct pd_raw_dump *dump, const struct pd_delivered *record,
                      struct pd_text *text);
/* What comes behind all else that is shown of a record: the trace that a sample holds. */
void pd_raw_dump_behind(const struct pd_raw_dump *dump, const struct pd_delivered *record,
                        struct pd_text *text);
/* All record types into the consumer's mask. */
void pd_raw_dump_want(struct pd_consumer *consumer);
/* " 4K", " N/A" without the blank: what perf shows of page sizes. */
void pd_size_text(uint64_t size, struct pd_text *text);

#endif
