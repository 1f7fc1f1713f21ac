/* SPDX-License-Identifier: MIT */
/* Options of the command line -> options of a profile. */
#include "tool/profile.h"
#include <perfdata/page.h>
#include <stdlib.h>

void tool_profile_defaults(struct tool_profile *options)
{
    options->demangle = options->inlined = 1;
}

static uint32_t flags_of(const struct tool *tool, const struct tool_profile *options)
{
    const struct tool_flag rows[] = {
        { options->hide_chain, PERFDATA_PROFILE_NO_CALLCHAIN },
        { !options->inlined, PERFDATA_PROFILE_NO_INLINE },
        { !options->demangle, PERFDATA_PROFILE_NO_DEMANGLE },
        { options->demangle_kernel, PERFDATA_PROFILE_DEMANGLE_KERNEL },
        { tool->reading.force, PERFDATA_PROFILE_FORCE },
        { tool->no_itrace, PERFDATA_PROFILE_NO_ITRACE },
        { options->guest_code, PERFDATA_PROFILE_GUEST_CODE },
    };
    return (uint32_t)tool_flags(rows, TOOL_LENGTH(rows));
}

void tool_profile_for_picture(const struct tool *tool, struct perfdata_profile_options *options)
{
    /* Samples with call chains for graphs, calls and returns, and every kind of event that a trace
     * tells of. */
    static const char *const letters[] = { "i10usgcrxwpoe" };
    options->max_switches = PERFDATA_PAGE_MOST_SWITCHES;
    if (tool->itrace_count || tool->no_itrace)
        return;
    options->flags |= PERFDATA_PROFILE_NO_BRANCHES;
    options->itrace = letters;
    options->itrace_count = TOOL_LENGTH(letters);
}

struct perfdata_profile_options
tool_profile_options(const struct tool *tool, const struct tool_profile *options, uint32_t flags)
{
    return (struct perfdata_profile_options){
        .struct_size = sizeof(struct perfdata_profile_options),
        .flags = flags_of(tool, options) | flags,
        .max_stack = options->max_stack,
        .threads = tool->jobs,
        TOOL_WHICH_SAMPLES(options),
        .address_range = options->address_range,
        .time = options->time,
        .stop_symbols = options->stop,
        .search = tool_search(
            tool, (struct perfdata_symbol_search){ TOOL_WHERE_SYMBOLS(options),
                                                   .guest_kallsyms = options->guest_kallsyms,
                                                   .guest_modules = options->guest_modules,
                                                   .guest_vmlinux = options->guest_vmlinux,
                                                   .guest_mount = options->guest_mount }),
        .itrace = tool->itrace,
        .itrace_count = tool->itrace_count,
        .perf_config = getenv("PERF_CONFIG"),
    };
}
