/* SPDX-License-Identifier: MIT */
/* Sums -> callgrind's text: what each function took, line by line, and what it called.
 *
 * Readers take the cost of all calls of a function as its total, its own cost included; for a
 * function that nothing calls, they add up its own cost and its calls. For this total to be what
 * the function's samples weigh, also where functions call themselves, a sample counts for one call
 * of each function: the one that is nearest to the root. A function that begins some stacks and is
 * called in others is called by "(root)" in the former. Each event is a column. */
#include "convert/convert.h"
#include "base/hash.h"
#include <stdlib.h>

struct call {
    uint32_t caller, callee; /* frames */
    uint64_t count;
};

struct callgrind {
    uint32_t *column; /* by event; PERFDATA_NONE: the event is not wanted */
    uint32_t columns;
    uint64_t *own;         /* by frame: `columns` of them */
    struct pd_map64 calls; /* (caller frame, callee frame) */
    PD_VEC(struct call) list;
    PD_VEC(uint64_t) costs;           /* by call: `columns` of them */
    uint32_t *next;                   /* by call: the next one of its caller's function + 1 */
    uint32_t *first;                  /* by function: its first call + 1 */
    uint32_t *frames_of, *next_frame; /* by function, by frame: frames + 1 */
    uint32_t *seen;                   /* by function: the last sum + 1 that counted for it */
    PD_VEC(uint32_t) path;
    bool *named;                  /* by function: its name was written */
    bool *called;                 /* by function: something calls it */
    uint64_t *roots, *root_count; /* by function: costs and samples of stacks that it begins */
};

/* ---- counting ---- */

static bool add_call(struct callgrind *c, uint32_t caller, uint32_t callee, uint32_t column,
                     const struct perfdata_profile_sum *sum, uint64_t weight)
{
    uint64_t key = (uint64_t)caller << 32 | callee;
    uint32_t id = pd_map64_get(&c->calls, key);
    if (id == PD_MAP64_NONE) {
        id = (uint32_t)c->list.count;
        if (!pd_vec_push(&c->list, (struct call){ caller, callee, 0 }) ||
            !pd_map64_set(&c->calls, key, id) ||
            !pd_vec_widen_to(&c->costs, c->list.count * c->columns))
            return false;
    }
    c->list.data[id].count += sum->count;
    c->costs.data[(size_t)id * c->columns + column] += weight;
    return true;
}

static bool add_sum(struct pd_convert *x, struct callgrind *c,
                    const struct perfdata_profile_sum *sum, uint32_t number)
{
    const perfdata_profile *profile = x->profile;
    uint32_t column = c->column[sum->event], leaf = pd_profile_stack(profile, sum->stack)->frame;
    uint64_t weight = pd_convert_weight(x, sum->count, sum->weight);
    if (column == PERFDATA_NONE)
        return true;
    c->own[(size_t)leaf * c->columns + column] += weight;
    c->path.count = 0;
    for (uint32_t at = sum->stack; at != PERFDATA_NONE; at = pd_profile_stack(profile, at)->parent)
        if (!pd_vec_push(&c->path, pd_profile_stack(profile, at)->frame))
            return false;
    if (!c->path.count) /* a stack has a frame at least */
        return true;
    uint32_t root = pd_profile_frame(profile, c->path.data[c->path.count - 1])->function;
    c->seen[root] = number + 1;
    c->roots[(size_t)root * c->columns + column] += weight;
    c->root_count[root] += sum->count;
    for (size_t i = c->path.count - 1; i-- > 0;) {
        uint32_t callee = c->path.data[i], function = pd_profile_frame(profile, callee)->function;
        if (c->seen[function] == number + 1)
            continue;
        c->seen[function] = number + 1;
        c->called[function] = true;
        if (!add_call(c, c->path.data[i + 1], callee, column, sum, weight))
            return false;
    }
    return true;
}

/* ---- writing ---- */

/* Unknown functions of different objects must stay apart: each is named after its object. */
static void put_name(struct pd_convert *x, struct callgrind *c, const char *prefix,
                     uint32_t function)
{
    const struct perfdata_profile_object *object = perfdata_profile_object(
        x->profile, pd_profile_function(x->profile, function)->object);
    struct pd_text *out = &x->out;
    pd_text_format(out, "%sob=(%u)", prefix, pd_profile_function(x->profile, function)->object + 2);
    if (!c->named[function]) {
        pd_text_char(out, ' ');
        pd_convert_name(out, object ? object->path : "[unknown]",
                        strlen(object ? object->path : "[unknown]"));
    }
    pd_text_format(out, "\n%sfn=(%u)", prefix, function + 1);
    if (!c->named[function]) {
        pd_text_char(out, ' ');
        pd_convert_function(x, function, out);
    }
    pd_text_char(out, '\n');
    c->named[function] = true;
}

static const char *file_of(const struct pd_convert *x, uint32_t frame)
{
    const char *file = pd_profile_frame(x->profile, frame)->file;
    return file ? file : "???";
}

static void put_costs(struct pd_convert *x, struct callgrind *c, uint32_t line,
                      const uint64_t *costs)
{
    pd_text_u64(&x->out, line, 0, ' ');
    for (uint32_t i = 0; i < c->columns; i++) {
        pd_text_char(&x->out, ' ');
        pd_text_u64(&x->out, costs[i], 0, ' ');
    }
    pd_text_char(&x->out, '\n');
}

static void put_file(struct pd_convert *x, const char *key, const char *file)
{
    pd_text_string(&x->out, key);
    pd_convert_name(&x->out, file, strlen(file));
    pd_text_char(&x->out, '\n');
}

static perfdata_status put_function(struct pd_convert *x, struct callgrind *c, uint32_t function)
{
    const char *file = NULL;
    if (!c->frames_of[function])
        return PERFDATA_OK;
    pd_text_char(&x->out, '\n');
    put_file(x, "fl=", file_of(x, c->frames_of[function] - 1));
    file = file_of(x, c->frames_of[function] - 1);
    put_name(x, c, "", function);
    for (uint32_t at = c->frames_of[function]; at; at = c->next_frame[at - 1]) {
        const uint64_t *own = &c->own[(size_t)(at - 1) * c->columns];
        bool any = false;
        for (uint32_t i = 0; i < c->columns; i++)
            any |= own[i] != 0;
        if (any && strcmp(file_of(x, at - 1), file) != 0)
            put_file(x, "fi=", file = file_of(x, at - 1));
        if (any)
            put_costs(x, c, pd_profile_frame(x->profile, at - 1)->line, own);
    }
    for (uint32_t at = c->first[function]; at; at = c->next[at - 1]) {
        const struct call *call = &c->list.data[at - 1];
        const struct perfdata_profile_frame *callee = pd_profile_frame(x->profile, call->callee);
        put_file(x, "cfi=", file_of(x, call->callee));
        put_name(x, c, "c", callee->function);
        pd_text_format(&x->out, "calls=%llu %u\n", (unsigned long long)call->count, callee->line);
        put_costs(x, c, pd_profile_frame(x->profile, call->caller)->line,
                  &c->costs.data[(size_t)(at - 1) * c->columns]);
    }
    return pd_convert_flush(x, false);
}

static void put_roots(struct pd_convert *x, struct callgrind *c)
{
    bool begun = false;
    for (uint32_t i = 0; i < perfdata_profile_function_count(x->profile); i++) {
        if (!c->called[i] || !c->root_count[i])
            continue;
        pd_text_string(&x->out, begun ? "" : "\nfl=???\nob=(1) [unknown]\nfn=(0) (root)\n");
        begun = true;
        put_file(x, "cfi=", file_of(x, c->frames_of[i] - 1));
        put_name(x, c, "c", i);
        pd_text_format(&x->out, "calls=%llu 0\n", (unsigned long long)c->root_count[i]);
        put_costs(x, c, 0, &c->roots[(size_t)i * c->columns]);
    }
}

/* Writes the events' names, which the format allows no blanks in. */
static void put_events(struct pd_convert *x)
{
    pd_text_string(&x->out, "# callgrind format\nversion: 1\ncreator: perfdata\npositions: line\n"
                            "events:");
    for (uint32_t i = 0; i < perfdata_profile_event_count(x->profile); i++) {
        const struct perfdata_profile_event *event = perfdata_profile_event(x->profile, i);
        if (!x->events[i] || !event->samples)
            continue;
        pd_text_char(&x->out, ' ');
        size_t from = x->out.length;
        pd_convert_name(&x->out, event->name, strlen(event->name));
        for (size_t at = from; !x->out.failed && at < x->out.length; at++)
            if (strchr(" :,=", x->out.data[at]))
                x->out.data[at] = '_';
    }
    pd_text_char(&x->out, '\n');
}

static void put_summary(struct pd_convert *x, struct callgrind *c)
{
    pd_text_string(&x->out, "\ntotals:");
    for (uint32_t i = 0; i < perfdata_profile_event_count(x->profile); i++) {
        const struct perfdata_profile_event *event = perfdata_profile_event(x->profile, i);
        if (c->column[i] == PERFDATA_NONE)
            continue;
        pd_text_char(&x->out, ' ');
        pd_text_u64(&x->out, pd_convert_weight(x, event->samples, event->weight), 0, ' ');
    }
    pd_text_char(&x->out, '\n');
}

/* Frames and calls of each function, in the order of their numbers. */
static bool link_all(const struct pd_convert *x, struct callgrind *c)
{
    c->next = calloc(c->list.count + 1, sizeof *c->next);
    if (!c->next)
        return false;
    for (size_t i = c->list.count; i-- > 0;) {
        uint32_t function = pd_profile_frame(x->profile, c->list.data[i].caller)->function;
        c->next[i] = c->first[function];
        c->first[function] = (uint32_t)i + 1;
    }
    for (uint32_t i = perfdata_profile_frame_count(x->profile); i-- > 0;) {
        uint32_t function = pd_profile_frame(x->profile, i)->function;
        c->next_frame[i] = c->frames_of[function];
        c->frames_of[function] = i + 1;
    }
    return true;
}

static bool make_room(const struct pd_convert *x, struct callgrind *c)
{
    size_t frames = perfdata_profile_frame_count(x->profile),
           functions = perfdata_profile_function_count(x->profile);
    uint32_t events = perfdata_profile_event_count(x->profile);
    c->column = calloc((size_t)events + 1, sizeof *c->column);
    for (uint32_t i = 0; c->column && i < events; i++)
        c->column[i] = x->events[i] && perfdata_profile_event(x->profile, i)->samples
                           ? c->columns++
                           : PERFDATA_NONE;
    c->own = calloc(frames * c->columns + 1, sizeof *c->own);
    c->next_frame = calloc(frames + 1, sizeof *c->next_frame);
    c->first = calloc(functions + 1, sizeof *c->first);
    c->frames_of = calloc(functions + 1, sizeof *c->frames_of);
    c->seen = calloc(functions + 1, sizeof *c->seen);
    c->named = calloc(functions + 1, sizeof *c->named);
    c->called = calloc(functions + 1, sizeof *c->called);
    c->roots = calloc(functions * c->columns + 1, sizeof *c->roots);
    c->root_count = calloc(functions + 1, sizeof *c->root_count);
    if (!c->called || !c->roots || !c->root_count)
        return false;
    return c->column && c->own && c->next_frame && c->first && c->frames_of && c->seen && c->named;
}

static perfdata_status end(struct pd_convert *x)
{
    struct callgrind *c = x->state = calloc(1, sizeof *c);
    size_t count;
    const struct perfdata_profile_sum *sums = perfdata_profile_sums(x->profile, &count);
    bool ok = c && make_room(x, c);
    for (size_t i = 0; ok && i < count; i++)
        ok = add_sum(x, c, &sums[i], (uint32_t)i);
    if (!ok || !link_all(x, c))
        return pd_convert_no_memory(x);
    put_events(x);
    perfdata_status status = PERFDATA_OK;
    for (uint32_t i = 0; i < perfdata_profile_function_count(x->profile) && status >= 0; i++)
        status = put_function(x, c, i);
    put_roots(x, c);
    put_summary(x, c);
    return status;
}

static void free_state(struct pd_convert *x)
{
    struct callgrind *c = x->state;
    if (!c)
        return;
    free(c->column);
    free(c->own);
    free(c->next);
    free(c->first);
    free(c->frames_of);
    free(c->next_frame);
    free(c->seen);
    free(c->named);
    free(c->called);
    free(c->roots);
    free(c->root_count);
    pd_map64_free(&c->calls);
    pd_vec_free(&c->list);
    pd_vec_free(&c->costs);
    pd_vec_free(&c->path);
    free(c);
}

const struct pd_format pd_format_callgrind = {
    .profile_flags = PERFDATA_PROFILE_SUMS_BY_COMM,
    .detail = PERFDATA_FRAMES_BY_FUNCTION,
    .end = end,
    .free = free_state,
};
