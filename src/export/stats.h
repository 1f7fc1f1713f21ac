/* SPDX-License-Identifier: MIT */
/* report --stats: how many records of each type, and samples of each event. */
#ifndef PD_STATS_H
#define PD_STATS_H
#include "base/text.h"
#include "container/container.h"

/* Reads the whole recording once, in file order, and adds perf's text. After an error the text holds what was read. */
/* `lost`: with the samples that each event lost, which perf leaves out below a dump. */
perfdata_status pd_stats_text(struct pd_recording *recording, bool lost, struct pd_text *out);

#endif
