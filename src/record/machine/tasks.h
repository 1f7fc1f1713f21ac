/* SPDX-License-Identifier: MIT */
/* Records of what runs: made one process after the other, or by several threads that each take
 * some. */
#ifndef PD_RECORD_TASKS_H
#define PD_RECORD_TASKS_H
#include "record/record.h"

/* Who makes them, and where they go. Only what is pointed to changes. */
struct pd_maker {
    const perfdata_recorder *recorder;
    struct pd_writer *writer;
    struct pd_text *out; /* gets them; NULL: the writer does */
    struct pd_mapped_ids *ids;
    struct pd_numbers late; /* whose maps took too long to read */
};

/* A process and its threads. */
perfdata_status pd_make_process(struct pd_maker *maker, int32_t pid);
/* Says whose maps were cut, and forgets it. */
void pd_maker_tell(struct pd_maker *maker);

/* tasks_shared.c: the same of all of them, in their order, by options.synthesis_threads threads. */
perfdata_status pd_make_processes(perfdata_recorder *recorder, const struct pd_numbers *pids);

#endif
