/* SPDX-License-Identifier: MIT */
/* report --tasks and --mmaps: the processes and threads as trees, and their maps at the end. */
#ifndef PD_TASKS_H
#define PD_TASKS_H
#include "base/text.h"
#include "container/container.h"

struct pd_object_search;

/* Writes the text, which ends at the end of a line, and empties it. */
typedef perfdata_status (*pd_tasks_flush_fn)(void *data, struct pd_text *text);

/* Runs through the whole recording once and adds perf's text. The maps of each task are part of it
 * when `search` says where files are looked for; the files tell [vdso32] from [vdso]. Many
 * processes may have many maps each, and lines deep in a tree begin with many blanks, so the text
 * may be large: `flush` takes what has grown, the rest stays in `out`. */
perfdata_status pd_tasks_text(struct pd_recording *recording, const struct pd_object_search *search,
                              struct pd_text *out, pd_tasks_flush_fn flush, void *data);

#endif
