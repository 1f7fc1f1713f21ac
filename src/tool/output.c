/* SPDX-License-Identifier: MIT */
/* Options of verbs that write a recording (-o, -z, --byte-order ...) -> what the library is asked
 * for. */
#include "tool/output.h"
#include <string.h>
#include <unistd.h>

static enum tool_exit parse_order(struct tool *tool, const char *order, uint32_t *out)
{
    static const struct {
        const char *name;
        uint32_t order;
    } names[] = { { "native", PERFDATA_BYTE_ORDER_NATIVE },
                  { "little", PERFDATA_BYTE_ORDER_LITTLE },
                  { "big", PERFDATA_BYTE_ORDER_BIG } };
    for (size_t i = 0; i < TOOL_LENGTH(names); i++) {
        if (!strcmp(order, names[i].name)) {
            *out = names[i].order;
            return TOOL_DONE;
        }
    }
    return tool_usage(tool, "option --byte-order: '%s' is not native, little or big", order);
}

enum tool_exit tool_output(struct tool *tool, const struct tool_output_options *options,
                           const char *fallback, struct perfdata_output *out)
{
    const char *path = options->path ? options->path : fallback;
    memset(out, 0, sizeof *out);
    out->struct_size = sizeof *out;
    if (!path)
        return tool_usage(tool, "-o FILE is needed: where to write");
    if (options->level < 0 || options->level > 22)
        return tool_usage(tool, "option -z: levels are 1 to 22");
    out->compression = options->level;
    out->flags = options->pipe ? PERFDATA_OUTPUT_PIPE | PERFDATA_OUTPUT_NAMES : 0;
    if (options->directory && (options->pipe || !strcmp(path, "-")))
        return tool_usage(tool, "--directory needs a name after -o, and is no pipe");
    out->flags |= options->directory ? PERFDATA_OUTPUT_DIRECTORY : 0;
    out->path = strcmp(path, "-") != 0 ? path : NULL;
    out->fd = STDOUT_FILENO;
    if (!out->path && isatty(STDOUT_FILENO))
        return tool_usage(tool, "standard output is a terminal: -o FILE is needed");
    return options->order ? parse_order(tool, options->order, &out->byte_order) : TOOL_DONE;
}

enum tool_exit tool_rewrite(struct tool *tool, const struct tool_output_options *options, int argc,
                            char **argv, struct perfdata_output *out,
                            perfdata_recording **recording)
{
    enum tool_exit code = tool_one_input(tool, argc, argv);
    if (code == TOOL_DONE)
        code = tool_output(tool, options, NULL, out);
    return code == TOOL_DONE ? tool_open(tool, tool_input_name(tool, argc, argv), recording) : code;
}

enum tool_exit tool_written(struct tool *tool, perfdata_recording *recording,
                            perfdata_status status)
{
    return status >= 0 ? TOOL_DONE : tool_recording_failure(tool, recording, status);
}

enum tool_exit tool_rewritten(struct tool *tool, perfdata_recording *recording,
                              perfdata_status status)
{
    enum tool_exit code = tool_written(tool, recording, status);
    perfdata_recording_close(recording);
    return code;
}
