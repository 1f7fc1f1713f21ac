/* SPDX-License-Identifier: MIT */
/* Opening the recording that a verb was asked for. */
#ifndef PERFDATA_TOOL_INPUT_H
#define PERFDATA_TOOL_INPUT_H
#include "tool/tool.h"
#include <perfdata/recording.h>

/* The name of the recording: -i, else the first argument, else perf.data. */
const char *tool_input_name(const struct tool *tool, int argc, char **argv);

/* Opens it with the tool's issue callback and threads. TOOL_DONE, or the code after a message; *out then is NULL.
 * Close it with perfdata_recording_close(). */
enum tool_exit tool_open(struct tool *tool, const char *name, perfdata_recording **out);

/* After a library call on it failed: tells what, returns the code. OUTPUT failures are told at the end. */
enum tool_exit tool_recording_failure(struct tool *tool, perfdata_recording *recording, perfdata_status status);

/* perfdata_write_fn onto standard output; data is the struct tool. */
int tool_write_text(void *tool, const char *text, size_t length);

#endif
