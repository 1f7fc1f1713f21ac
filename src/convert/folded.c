/* SPDX-License-Identifier: MIT */
/* Stacks -> lines "comm;caller;callee weight", as FlameGraph's scripts have them.
 *
 * Blanks of a comm become _ and each ; becomes :, since both separate names in this form; an
 * unknown function is shown by its object, in brackets. Where more than one event has samples, a
 * line begins with the event's name. */
#include "convert/convert.h"
#include <stdlib.h>

struct folding {
    struct pd_convert_names names;
    struct pd_convert_groups groups;
    struct pd_convert_sums sums;
    PD_VEC(uint32_t) path; /* functions of a stack, callees first */
};

/* What was written since `from` is one name: replaces whatever in it would separate names. */
static void make_one(struct pd_text *out, size_t from, bool blanks)
{
    for (size_t i = from; !out->failed && i < out->length; i++) {
        if (out->data[i] == ';')
            out->data[i] = ':';
        else if (blanks && out->data[i] == ' ')
            out->data[i] = '_';
    }
}

static void put_function(struct pd_convert *x, uint32_t index, struct pd_text *out)
{
    size_t from = out->length;
    pd_text_char(out, ';');
    pd_convert_function(x, index, out);
    make_one(out, from + 1, false);
}

static bool put_line(struct pd_convert *x, struct folding *folding,
                     const struct perfdata_profile_sum *sum, bool with_event)
{
    struct pd_text *out = &x->out;
    size_t line = out->length;
    if (with_event) {
        const char *name = perfdata_profile_event(x->profile, sum->event)->name;
        pd_convert_name(out, name, strlen(name));
        make_one(out, line, true);
        if (x->options->group != PERFDATA_EXPORT_TOGETHER)
            pd_text_char(out, ';');
    }
    size_t from = out->length;
    pd_convert_group_name(x, folding->groups.first.data[sum->thread], out);
    make_one(out, from, true);
    bool skip = out->length == line; /* nothing stands before the first function's ; */
    folding->path.count = 0;
    for (uint32_t at = sum->stack; at != PERFDATA_NONE;) {
        const struct perfdata_profile_stack *stack = pd_profile_stack(x->profile, at);
        if (!pd_vec_push(&folding->path, pd_profile_frame(x->profile, stack->frame)->function))
            return false;
        at = stack->parent;
    }
    for (size_t i = folding->path.count; i-- > 0; skip = false) {
        size_t length;
        const char *name = pd_convert_name_of(&folding->names, folding->path.data[i], &length);
        pd_text_bytes(out, name + skip, length - skip);
    }
    pd_text_char(out, ' ');
    pd_text_u64(out, pd_convert_weight(x, sum->count, sum->weight), 0, ' ');
    pd_text_char(out, '\n');
    return true;
}

static perfdata_status end(struct pd_convert *x)
{
    struct folding *folding = x->state = calloc(1, sizeof *folding);
    if (!folding)
        return pd_convert_no_memory(x);
    perfdata_status status = pd_convert_names_make(x, &folding->names, put_function);
    if (status >= 0)
        status = pd_convert_groups_make(x, &folding->groups);
    if (status >= 0)
        status = pd_convert_sums_make(x, &folding->groups, &folding->sums);
    uint32_t only;
    bool with_event = status >= 0 && pd_convert_event_count(x, &only) > 1;
    for (size_t i = 0; status >= 0 && i < folding->sums.list.count; i++) {
        status = put_line(x, folding, &folding->sums.list.data[i], with_event)
                     ? pd_convert_flush(x, false)
                     : pd_convert_no_memory(x);
    }
    return status;
}

static void free_state(struct pd_convert *x)
{
    struct folding *folding = x->state;
    if (!folding)
        return;
    pd_convert_names_free(&folding->names);
    pd_convert_groups_free(&folding->groups);
    pd_vec_free(&folding->sums.list);
    pd_vec_free(&folding->path);
    free(folding);
}

const struct pd_format pd_format_folded = {
    .profile_flags = PERFDATA_PROFILE_SUMS_BY_COMM,
    .detail = PERFDATA_FRAMES_BY_FUNCTION,
    .end = end,
    .free = free_state,
};
