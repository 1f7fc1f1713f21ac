/* SPDX-License-Identifier: MIT */
/* The recording that a verb reads:
 *
 *     static enum tool_exit run_example(struct tool *tool, void *options, int argc, char **argv)
 *     {
 *         perfdata_recording *recording;
 *         enum tool_exit code = tool_open_one(tool, argc, argv, &recording);
 *         if (code != TOOL_DONE)
 *             return code;
 *         return tool_close(tool, recording,
 *                           perfdata_something_run(recording, ..., tool_write_text, tool));
 *     }
 */
#ifndef PERFDATA_TOOL_INPUT_H
#define PERFDATA_TOOL_INPUT_H
#include "tool/options.h"
#include <perfdata/recording.h>
#include <perfdata/report.h>

/* The name of the recording: -i, else the first argument, else perf's default: a pipe on standard
 * input ("-"), or perf.data. */
const char *tool_input_name(const struct tool *tool, int argc, char **argv);
/* Refuses a second recording: TOOL_USAGE after a message, else TOOL_DONE. */
enum tool_exit tool_one_input(struct tool *tool, int argc, char **argv);

/* Opens it with the tool's issue callback, threads, memory and strictness. TOOL_DONE, or the code
 * after a message; *out then is NULL. Close it with perfdata_recording_close(). */
enum tool_exit tool_open(struct tool *tool, const char *name, perfdata_recording **out);
/* The same with another on_progress than the tool's. */
enum tool_exit tool_open_as(struct tool *tool, const char *name,
                            const struct perfdata_options *watched, perfdata_recording **out);
/* What the verb's options say of how recordings are read; what is wrong is told of by `issues`. */
void tool_reading_options(const struct tool *tool, struct tool *issues,
                          struct perfdata_options *options);
/* The one that the verb reads. */
enum tool_exit tool_open_one(struct tool *tool, int argc, char **argv, perfdata_recording **out);

/* --stitch-lbr: perf's words where there are no call stacks of branches to stitch, TOOL_USAGE where
 * there are, and then the recording is closed. `heading`: above the words, or "". */
enum tool_exit tool_check_stitching(struct tool *tool, perfdata_recording *recording,
                                    const char *heading);
/* tool_open_one(), and where `stitch` is asked for what tool_check_stitching() says. */
enum tool_exit tool_open_to_stitch(struct tool *tool, int argc, char **argv, bool stitch,
                                   const char *heading, perfdata_recording **out);
/* -D of verbs whose own text is another one: every record, as report -D dumps it. */
struct perfdata_report_options tool_dump_options(const struct tool *tool,
                                                 struct perfdata_symbol_search search);

/* After a library call on it failed: tells what, returns the code. OUTPUT failures are told at the
 * end. */
enum tool_exit tool_recording_failure(struct tool *tool, perfdata_recording *recording,
                                      perfdata_status status);
/* Ends it after the last library call on it; a failure is told. */
enum tool_exit tool_close(struct tool *tool, perfdata_recording *recording, perfdata_status status);
/* Ends script's and report's run: a failure has perf's exit code where perf has one (perf_exit,
 * else -1). */
enum tool_exit tool_close_run(struct tool *tool, perfdata_recording *recording,
                              perfdata_status status, int perf_exit);

/* perfdata_write_fn onto standard output; data is the struct tool. */
int tool_write_text(void *tool, const char *text, size_t length);
/* perfdata_write_fn onto standard error, where perf prints the tables of some verbs. */
int tool_write_error(void *tool, const char *text, size_t length);

#endif
