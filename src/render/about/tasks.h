/* SPDX-License-Identifier: MIT */
/* report --tasks and --mmaps: the processes and threads as trees, and their maps at the end. */
#ifndef PD_TASKS_H
#define PD_TASKS_H
#include "base/text.h"
#include "container/container.h"

struct pd_object_search;

/* Writes the text, which ends with a line, and empties it. */
typedef perfdata_status (*pd_tasks_flush_fn)(void *data, struct pd_text *text);

/* Runs through the whole recording once and adds perf's text, with the maps of each task when
 * `search` says where their files are, which tell [vdso32] from [vdso]. Each of many processes
 * may have many maps, and each line of a deep tree many blanks: `flush` takes what is much, the
 * rest stays in `out`. */
perfdata_status pd_tasks_text(struct pd_recording *recording, const struct pd_object_search *search,
                              struct pd_text *out, pd_tasks_flush_fn flush, void *data);

#endif
