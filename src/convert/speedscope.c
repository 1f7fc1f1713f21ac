/* SPDX-License-Identifier: MIT */
/* Sums -> speedscope's JSON: a profile for each event and group, frames shared, a sample for each
 * distinct stack.
 *
 * Repeated samples are merged into one: with every sample as it was recorded, readers of this form
 * would need seconds and gigabytes. */
#include "convert/convert.h"
#include <stdlib.h>

struct speedscope {
    struct pd_convert_groups groups;
    struct pd_convert_sums sums;
    uint32_t *order; /* sums by event, then by group */
    PD_VEC(uint32_t) path;
};

static int by_profile(const void *a, const void *b, void *data)
{
    const struct perfdata_profile_sum *sums = data, *left = &sums[*(const uint32_t *)a],
                                      *right = &sums[*(const uint32_t *)b];
    if (left->event != right->event)
        return left->event < right->event ? -1 : 1;
    if (left->thread != right->thread)
        return left->thread < right->thread ? -1 : 1;
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static void put_frame(struct pd_convert *x, uint32_t index)
{
    const struct perfdata_profile_frame *frame = pd_profile_frame(x->profile, index);
    struct pd_text *out = &x->out;
    pd_text_string(out, index ? ",\n{\"name\":" : "{\"name\":");
    pd_convert_json_function(x, frame->function, out);
    if (frame->file) {
        pd_text_string(out, ",\"file\":");
        pd_convert_json(out, frame->file);
        pd_text_string(out, ",\"line\":");
        pd_text_u64(out, frame->line, 0, ' ');
    }
    pd_text_char(out, '}');
}

static bool put_stack(struct pd_convert *x, struct speedscope *s, uint32_t at)
{
    s->path.count = 0;
    for (; at != PERFDATA_NONE; at = pd_profile_stack(x->profile, at)->parent)
        if (!pd_vec_push(&s->path, pd_profile_stack(x->profile, at)->frame))
            return false;
    pd_text_char(&x->out, '[');
    for (size_t i = s->path.count; i-- > 0;) {
        pd_text_u64(&x->out, s->path.data[i], 0, ' ');
        pd_text_char(&x->out, i ? ',' : ']');
    }
    return true;
}

/* The sums order[from, to) are one profile. */
static perfdata_status put_profile(struct pd_convert *x, struct speedscope *s, size_t from,
                                   size_t to)
{
    const struct perfdata_profile_sum *sums = s->sums.list.data, *first = &sums[s->order[from]];
    const struct perfdata_profile_event *event = perfdata_profile_event(x->profile, first->event);
    struct pd_text *out = &x->out, name = { 0 };
    bool count = x->options->flags & PERFDATA_EXPORT_COUNT;
    uint64_t all = 0;
    for (size_t i = from; i < to; i++)
        all += pd_convert_weight(x, sums[s->order[i]].count, sums[s->order[i]].weight);
    pd_convert_raw_group(x, s->groups.first.data[first->thread], &name);
    pd_text_string(&name, name.length ? " (" : "");
    bool grouped = name.length;
    pd_text_string(&name, event->name);
    pd_text_string(&name, grouped ? ")" : "");
    pd_text_string(out,
                   from ? ",\n{\"type\":\"sampled\",\"name\":" : "{\"type\":\"sampled\",\"name\":");
    pd_text_json(out, name.data, name.length);
    pd_text_format(out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":",
                   !count && *pd_convert_unit(event) == 'n' ? "nanoseconds" : "none");
    pd_text_u64(out, all, 0, ' ');
    pd_text_string(out, ",\"samples\":[");
    perfdata_status status = name.failed ? pd_convert_no_memory(x) : PERFDATA_OK;
    pd_text_free(&name);
    for (size_t i = from; i < to && status >= 0; i++) {
        pd_text_string(out, i > from ? ",\n" : "\n");
        status = put_stack(x, s, sums[s->order[i]].stack) ? pd_convert_flush(x, false)
                                                          : pd_convert_no_memory(x);
    }
    pd_text_string(out, "],\"weights\":[");
    for (size_t i = from; i < to && status >= 0; i++) {
        pd_text_string(out, i > from ? "," : "");
        pd_text_u64(out, pd_convert_weight(x, sums[s->order[i]].count, sums[s->order[i]].weight), 0,
                    ' ');
        status = pd_convert_flush(x, false);
    }
    pd_text_string(out, "]}");
    return status;
}

static perfdata_status put_all(struct pd_convert *x, struct speedscope *s)
{
    perfdata_status status = PERFDATA_OK;
    const struct perfdata_profile_sum *sums = s->sums.list.data;
    size_t count = s->sums.list.count;
    s->order = malloc((count + 1) * sizeof *s->order);
    if (!s->order)
        return pd_convert_no_memory(x);
    for (size_t i = 0; i < count; i++)
        s->order[i] = (uint32_t)i;
    if (count)
        qsort_r(s->order, count, sizeof *s->order, by_profile, s->sums.list.data);
    pd_text_string(&x->out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
                            "\"exporter\":\"perfdata\",\n\"shared\":{\"frames\":[");
    for (uint32_t i = 0; i < perfdata_profile_frame_count(x->profile) && status >= 0; i++) {
        put_frame(x, i);
        status = pd_convert_flush(x, false);
    }
    pd_text_string(&x->out, "]},\n\"profiles\":[");
    for (size_t from = 0, to; from < count && status >= 0; from = to) {
        const struct perfdata_profile_sum *first = &sums[s->order[from]];
        for (to = from + 1; to < count && sums[s->order[to]].event == first->event &&
                            sums[s->order[to]].thread == first->thread;)
            to++;
        status = put_profile(x, s, from, to);
    }
    pd_text_string(&x->out, "]}\n");
    return status;
}

static perfdata_status end(struct pd_convert *x)
{
    struct speedscope *s = x->state = calloc(1, sizeof *s);
    if (!s)
        return pd_convert_no_memory(x);
    perfdata_status status = pd_convert_groups_make(x, &s->groups);
    if (status >= 0)
        status = pd_convert_sums_make(x, &s->groups, &s->sums);
    return status < 0 ? status : put_all(x, s);
}

static void free_state(struct pd_convert *x)
{
    struct speedscope *s = x->state;
    if (!s)
        return;
    pd_convert_groups_free(&s->groups);
    pd_vec_free(&s->sums.list);
    pd_vec_free(&s->path);
    free(s->order);
    free(s);
}

const struct pd_format pd_format_speedscope = {
    .profile_flags = PERFDATA_PROFILE_SUMS_BY_COMM,
    .detail = PERFDATA_FRAMES_BY_FUNCTION,
    .end = end,
    .free = free_state,
};
