/* SPDX-License-Identifier: MIT */
/* Source and instructions for a page, of the same samples as its profile. */
#include "tool/show/page_code.h"
#include <string.h>

#define LEAST_PERCENT "0.1"

static struct perfdata_annotate_options annotate_as(const struct perfdata_profile_options *how)
{
    static const struct {
        uint32_t profile;
        uint64_t annotate;
    } flags[] = {
        { PERFDATA_PROFILE_NO_DEMANGLE, PERFDATA_ANNOTATE_NO_DEMANGLE },
        { PERFDATA_PROFILE_DEMANGLE_KERNEL, PERFDATA_ANNOTATE_DEMANGLE_KERNEL },
        { PERFDATA_PROFILE_FORCE, PERFDATA_ANNOTATE_FORCE },
        { PERFDATA_PROFILE_NO_ITRACE, PERFDATA_ANNOTATE_NO_ITRACE },
    };
    /* What the page itself shows, but without branches: those are for its calls, and are no
     * samples. */
    static const char *const letters[] = { "i10us" };
    bool own = how->flags & PERFDATA_PROFILE_NO_BRANCHES;
    struct perfdata_annotate_options options = {
        .struct_size = sizeof options,
        .threads = how->threads,
        .cpus = how->cpus,
        .dsos = how->dsos,
        .comms = how->comms,
        .pids = how->pids,
        .tids = how->tids,
        .symbols = how->symbols,
        .time = how->time,
        .percent_limit = LEAST_PERCENT,
        .search = how->search,
        .itrace = own ? letters : how->itrace,
        .itrace_count = own ? TOOL_LENGTH(letters) : how->itrace_count,
        .perf_config = how->perf_config,
    };
    for (size_t i = 0; i < TOOL_LENGTH(flags); i++)
        options.flags |= how->flags & flags[i].profile ? flags[i].annotate : 0;
    return options;
}

enum tool_exit tool_page_code(struct tool *tool, int wanted, const char *name,
                              const struct perfdata_profile_options *how,
                              const struct perfdata_options *open, perfdata_page_code **out)
{
    perfdata_recording *recording;
    *out = NULL;
    if (!wanted)
        return TOOL_DONE;
    if (!strcmp(name, "-"))
        return tool_usage(tool, "option --code reads the recording twice: standard input is one");
    if (how->address_range)
        return tool_usage(tool, "options --code and --addr-range do not go together");
    perfdata_status status = perfdata_recording_open(name, open, &recording);
    if (status < 0)
        return tool_close(tool, recording, status);
    struct perfdata_annotate_options options = annotate_as(how);
    struct perfdata_annotate_result result = { .struct_size = sizeof result };
    *out = perfdata_page_code_new(0, LEAST_PERCENT);
    status = *out ? perfdata_annotate_code(recording, &options, perfdata_page_code_take, *out,
                                           &result)
                  : PERFDATA_ERROR_MEMORY;
    if (status == PERFDATA_ERROR_NO_DATA)
        status = PERFDATA_OK; /* a page without samples is made, too */
    if (status >= 0 && !result.functions)
        tool_error(tool, "no code of any function could be read: the page has none");
    enum tool_exit code = tool_close(tool, recording, status);
    if (code != TOOL_DONE) {
        perfdata_page_code_free(*out);
        *out = NULL;
    }
    return code;
}
