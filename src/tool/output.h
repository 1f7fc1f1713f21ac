/* SPDX-License-Identifier: MIT */
/* -o and what goes with it, for verbs that write a recording. */
#ifndef PERFDATA_TOOL_OUTPUT_H
#define PERFDATA_TOOL_OUTPUT_H
#include "tool/input.h"
#include "tool/verbs.h"
#include <perfdata/rewrite.h>

/* A part of the verb's options. */
struct tool_output_options {
    const char *path, *order;
    int pipe, level, directory;
};

#define TOOL_ROWS_OUTPUT(field)                                                                    \
    TOOL_ROW_PROGRESS, { TOOL_STRING,                                                              \
                         'o',                                                                      \
                         "output",                                                                 \
                         "FILE",                                                                   \
                         "where to write; - is standard output, a pipe stream",                    \
                         FIELD(field.path) },                                                      \
        { TOOL_FLAG,                                                                               \
          0,                                                                                       \
          "pipe",                                                                                  \
          NULL,                                                                                    \
          "write a pipe stream in any case, with a record for names that perf would not find",     \
          FIELD(field.pipe),                                                                       \
          .flags = TOOL_OURS },                                                                    \
        { TOOL_FLAG,                                                                               \
          0,                                                                                       \
          "directory",                                                                             \
          NULL,                                                                                    \
          "make a directory with a file for each CPU's records",                                   \
          FIELD(field.directory),                                                                  \
          .flags = TOOL_OURS },                                                                    \
        { TOOL_STRING,                                                                             \
          0,                                                                                       \
          "byte-order",                                                                            \
          "ORDER",                                                                                 \
          "of the output: native, little, big; default: as recorded",                              \
          FIELD(field.order),                                                                      \
          .flags = TOOL_OURS },                                                                    \
    {                                                                                              \
        TOOL_INT, 'z', "compress", "LEVEL", "compress the kernel's records with zstd, 1 to 22",    \
            FIELD(field.level), .flags = TOOL_OURS                                                 \
    }

#define TOOL_ROWS_REWRITE(field)                                                                   \
    { TOOL_GROUP, .help = "Input" }, TOOL_ROW_INPUT, TOOL_ROW_VERBOSE,                             \
        { TOOL_GROUP, .help = "Output" }, TOOL_ROWS_OUTPUT(field)

/* TOOL_USAGE after a message when an option makes no sense. `fallback`: the path without -o; NULL:
 * -o is needed. */
enum tool_exit tool_output(struct tool *tool, const struct tool_output_options *options,
                           const char *fallback, struct perfdata_output *out);

/* The start of a verb that reads one recording and writes another: checks both names, opens the
 * first. */
enum tool_exit tool_rewrite(struct tool *tool, const struct tool_output_options *options, int argc,
                            char **argv, struct perfdata_output *out,
                            perfdata_recording **recording);

/* Tells of a failure to read or to write, which `status` is of; returns the verb's exit code. */
enum tool_exit tool_written(struct tool *tool, perfdata_recording *recording,
                            perfdata_status status);
/* tool_written(), and closes the recording. */
enum tool_exit tool_rewritten(struct tool *tool, perfdata_recording *recording,
                              perfdata_status status);

#endif
