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

/* Opens the recording with the tool's issue callback, threads, memory and strictness. TOOL_DONE, or
 * the code after a message; *out then is NULL. Close it with perfdata_recording_close(). */
enum tool_exit tool_open(struct tool *tool, const char *name, perfdata_recording **out);
/* tool_open(), but with the on_progress of `watched` in place of the tool's. */
enum tool_exit tool_open_as(struct tool *tool, const char *name,
                            const struct perfdata_options *watched, perfdata_recording **out);
/* Fills `options` from what the verb's options say of reading; `issues` is the tool that tells what
 * is wrong with the recording. */
void tool_reading_options(const struct tool *tool, struct tool *issues,
                          struct perfdata_options *options);
/* Opens the one recording that the command line names; a second one is refused. */
enum tool_exit tool_open_one(struct tool *tool, int argc, char **argv, perfdata_recording **out);

/* Checks --stitch-lbr. Without call stacks of branches, prints perf's words below `heading` (which
 * may be "") and goes on. With them, TOOL_USAGE, since they cannot be stitched yet; the recording
 * is then closed. */
enum tool_exit tool_check_stitching(struct tool *tool, perfdata_recording *recording,
                                    const char *heading);
/* tool_open_one(), and with `stitch` also tool_check_stitching(). */
enum tool_exit tool_open_to_stitch(struct tool *tool, int argc, char **argv, bool stitch,
                                   const char *heading, perfdata_recording **out);
/* For -D of verbs that usually print something else: every record, as report -D dumps it. */
struct perfdata_report_options tool_dump_options(const struct tool *tool,
                                                 struct perfdata_symbol_search search);

/* Tells why a library call on the recording failed and returns the code. Failures to write output
 * are told at the end of the run. */
enum tool_exit tool_recording_failure(struct tool *tool, perfdata_recording *recording,
                                      perfdata_status status);
/* Closes the recording after the last library call on it, and tells of a failure of that call. */
enum tool_exit tool_close(struct tool *tool, perfdata_recording *recording, perfdata_status status);
/* tool_close() for script and report. After a failure, perf's exit code is `perf_exit`; -1: perf
 * has no code of its own for it. */
enum tool_exit tool_close_run(struct tool *tool, perfdata_recording *recording,
                              perfdata_status status, int perf_exit);

/* perfdata_write_fn onto standard output; data is the struct tool. */
int tool_write_text(void *tool, const char *text, size_t length);
/* perfdata_write_fn onto standard error, where perf prints the tables of some verbs. */
int tool_write_error(void *tool, const char *text, size_t length);

#endif
