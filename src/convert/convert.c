/* SPDX-License-Identifier: MIT */
/* What every form needs: handing its bytes to the caller, its errors, the events that are
 * wanted. */
#include "convert/convert.h"
#include <stdlib.h>

enum { FLUSH_AT = 1 << 18 };

perfdata_status pd_convert_no_memory(struct pd_convert *x)
{
    return pd_no_memory(x->context, "the export");
}

perfdata_status pd_convert_flush(struct pd_convert *x, bool all)
{
    if (x->out.failed)
        return pd_convert_no_memory(x);
    if (!x->out.length || (!all && x->out.length < FLUSH_AT))
        return PERFDATA_OK;
    int refused = x->write(x->write_data, x->out.data, x->out.length);
    x->out.length = 0;
    return refused
               ? pd_fail(x->context, PERFDATA_ERROR_OUTPUT, -1, "the export could not be written")
               : PERFDATA_OK;
}

perfdata_status pd_convert_table(struct pd_convert *x, const char *name, bool *wanted)
{
    perfdata_status status = pd_convert_flush(x, true);
    *wanted = x->options->table != NULL;
    if (status >= 0 && *wanted && x->options->table(x->write_data, name))
        status = pd_fail(x->context, PERFDATA_ERROR_OUTPUT, -1, "table %s could not be written",
                         name);
    return status;
}

uint32_t pd_convert_event_count(const struct pd_convert *x, uint32_t *only)
{
    uint32_t count = 0, all = perfdata_profile_event_count(x->profile);
    *only = PERFDATA_NONE;
    for (uint32_t i = 0; i < all; i++) {
        if (!x->events[i] || !perfdata_profile_event(x->profile, i)->samples)
            continue;
        *only = count++ ? PERFDATA_NONE : i;
    }
    return count;
}

/* ---- events ---- */

static const char *event_name(const struct pd_convert *x, uint32_t index)
{
    return x->profile ? perfdata_profile_event(x->profile, index)->name
                      : x->recording->events[index]->name;
}

static bool is_named(const char *name, const char *list, size_t length)
{
    return strlen(name) == length && !strncmp(list, name, length);
}

/* Names of events may hold commas themselves, so the longest name that matches is taken. */
perfdata_status pd_convert_choose_events(struct pd_convert *x)
{
    uint32_t count = x->profile ? perfdata_profile_event_count(x->profile)
                                : (uint32_t)x->recording->event_count;
    if (x->events)
        return PERFDATA_OK;
    x->events = calloc((size_t)count + 1, sizeof *x->events);
    if (!x->events)
        return pd_convert_no_memory(x);
    const char *list = x->options->events;
    if (!list)
        memset(x->events, true, count);
    while (list && *list) {
        size_t longest = 0;
        for (uint32_t i = 0; i < count; i++) {
            size_t length = strlen(event_name(x, i));
            if (length > longest && !strncmp(list, event_name(x, i), length) &&
                (!list[length] || list[length] == ','))
                longest = length;
        }
        if (!longest)
            return pd_fail(x->context, PERFDATA_ERROR_ARGUMENT, -1,
                           "the recording has no event '%.*s'", (int)strcspn(list, ","), list);
        for (uint32_t i = 0; i < count; i++)
            x->events[i] |= is_named(event_name(x, i), list, longest);
        list += longest + (list[longest] == ',');
    }
    return PERFDATA_OK;
}
