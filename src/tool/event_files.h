/* SPDX-License-Identifier: MIT */
/* A file for the text of each event: script --per-event-dump. */
#ifndef PERFDATA_TOOL_EVENT_FILES_H
#define PERFDATA_TOOL_EVENT_FILES_H
#include "tool/tool.h"
#include <perfdata/recording.h>

struct tool_event_files;

/* Makes INPUT.EVENT.dump for each event, with "_" for each "/" of its name; NULL after a
 * message. */
struct tool_event_files *tool_event_files_open(struct tool *tool, const char *input,
                                               perfdata_recording *recording);
/* A perfdata_script_event_fn; `data` is the struct tool_event_files. */
int tool_event_files_write(void *data, uint32_t event, uint64_t samples, const char *text,
                           size_t length);
/* Says what was written to each file; false: a file could not be written, which has been told. */
bool tool_event_files_close(struct tool *tool, struct tool_event_files *files, bool failed);

#endif
