/* SPDX-License-Identifier: MIT */
/* The raw dump of report -D and script -D: each record as it is delivered, in hexadecimal and
 * decoded. */
#ifndef PD_RAW_DUMP_H
#define PD_RAW_DUMP_H
#include "render/raw_dump/ibs.h"
#include "itrace/coresight/coresight.h"
#include "pipeline/pipeline.h"
#include "select/filter.h"
#include <stdatomic.h>

enum pd_raw_dump_verb { PD_RAW_DUMP_SCRIPT, PD_RAW_DUMP_REPORT };

struct pd_raw_dump {
    struct pd_recording *recording;
    struct pd_symbols *symbols;     /* of the session; set before the run */
    enum pd_raw_dump_verb verb;     /* each verb of perf knows other records */
    bool no_packets;                /* --no-itrace */
    bool unsorted;                  /* records are not put in order, so that rounds mean nothing */
    bool colored;                   /* bytes in perf's blue, as ANSI escape sequences */
    bool drops_cpus;                /* the filter's CPUs count, too: */
    const struct pd_filter *filter; /* of a sample that it drops no thread and object are told;
                                     * NULL: it drops none */
    const uint64_t *line_types;     /* mask of the types that have a line as well; NULL: none */
    bool has_cpu, has_time, has_trailer;
    _Atomic uint64_t first_attr; /* offset of a pipe's first event; all ones: not met yet */
    struct pd_ibs ibs;
    struct pd_coresight coresight;  /* from AUXTRACE_INFO; written before the type is set */
    _Atomic uint32_t auxtrace_type; /* from AUXTRACE_INFO, once the front has seen it */
};

/* Whether the verb prints a line of its own for records of this type, between pd_raw_dump_record()
 * and pd_raw_dump_behind(). The dump then says nothing of what a LOST record or the end of a round
 * holds, and that of an EXIT behind the line, as perf does. */
PD_INLINE bool pd_raw_dump_has_line(const struct pd_raw_dump *dump, uint32_t type)
{
    return dump->line_types && type < 128 && dump->line_types[type / 64] >> type % 64 & 1;
}

void pd_raw_dump_init(struct pd_raw_dump *dump, struct pd_recording *recording,
                      enum pd_raw_dump_verb verb);
/* perf's warning, before all else, that it cannot put a file in order whose records have no
 * trailer. */
void pd_raw_dump_warning(const struct pd_recording *recording, struct pd_text *text);
/* Lets the dump learn from a record; the front calls this with each record delivered. */
void pd_raw_dump_front(struct pd_raw_dump *dump, const struct pd_delivered *record);
/* Dumps a record. `again`: this is another part of the record before, split by the counters
 * read. */
void pd_raw_dump_record(const struct pd_raw_dump *dump, struct pd_resolver *resolver,
                        const struct pd_delivered *record, bool again, struct pd_text *text);
/* How many events perf makes up for what the trace shows, and dumps as records of their own. */
unsigned pd_raw_dump_made(const struct pd_raw_dump *dump);
/* "PERF_RECORD_NAME" and what perf prints behind it of a record of the kernel; of a sample the name
 * alone. */
void pd_raw_dump_name(const struct pd_raw_dump *dump, const struct pd_delivered *record,
                      struct pd_text *text);
/* What follows all else that is shown of a record: the trace that a sample holds; what an EXIT
 * holds, where it has a line. */
void pd_raw_dump_behind(const struct pd_raw_dump *dump, const struct pd_delivered *record,
                        struct pd_text *text);
/* Puts all record types into the consumer's mask. */
void pd_raw_dump_want(struct pd_consumer *consumer);
/* A page size as perf shows it: "4K", "N/A". */
void pd_size_text(uint64_t size, struct pd_text *text);

#endif
