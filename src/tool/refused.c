/* SPDX-License-Identifier: MIT */
/* Which of the options that perf has for a verb are refused here, and why. */
#include "tool/options.h"
#include <string.h>

const struct tool_perf_option tool_perf_options[] = {
#define PERF_OPTION(verb, short_name, long_name, argument)                                         \
    { verb, long_name, argument, short_name },
#include "tool/perf_options.def"
#undef PERF_OPTION
    { NULL, NULL, NULL, 0 }
};

const struct tool_perf_option *tool_refused_next(const struct tool_verb *verb,
                                                 const struct tool_perf_option *last)
{
    if (!(verb->flags & TOOL_VERB_PERF))
        return NULL;
    for (last = last ? last + 1 : tool_perf_options; last->verb; last++) {
        if (strcmp(last->verb, verb->name))
            continue;
        const struct tool_option *row = verb->options;
        while (row->kind && (!row->long_name || strcmp(row->long_name, last->long_name)))
            row++;
        if (!row->kind)
            return last;
    }
    return NULL;
}

static const struct {
    const char *verb, *name, *reason;
} refusals[] = {
#define REFUSED(verb, name, reason) { verb, name, reason },
#include "tool/refused.def"
#undef REFUSED
};

const char *tool_refused_reason(const struct tool_perf_option *refused)
{
    for (size_t i = 0; i < TOOL_LENGTH(refusals); i++)
        if (!strcmp(refusals[i].verb, refused->verb) &&
            !strcmp(refusals[i].name, refused->long_name))
            return refusals[i].reason;
    return NULL;
}
