/* SPDX-License-Identifier: MIT */
/* report --tasks and --mmaps: the processes and threads as trees, and their maps at the end. */
#ifndef PD_TASKS_H
#define PD_TASKS_H
#include "base/text.h"
#include "container/container.h"

/* Runs through the whole recording once and adds perf's text, with the maps of each task when `maps`. */
perfdata_status pd_tasks_text(struct pd_recording *recording, bool maps, struct pd_text *out);

#endif
