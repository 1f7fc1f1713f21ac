/* SPDX-License-Identifier: MIT */
/* Rows of two profiles -> what changed between them, joined by names. */
#include "profile/query.h"
#include "base/intern.h"
#include <stdlib.h>

struct side {
    const perfdata_profile *profile;
    struct perfdata_row *rows;
    size_t count;
};

static void put_object(const perfdata_profile *profile, uint32_t object, struct pd_text *out)
{
    const struct perfdata_profile_object *of = perfdata_profile_object(profile, object);
    pd_text_string(out, of ? of->name : "");
}

/* Writes the name that rows of both profiles are joined by, with NULs between its parts. */
static void put_name(const perfdata_profile *profile, uint32_t by, uint32_t key,
                     struct pd_text *out)
{
    out->length = 0;
    if (by == PERFDATA_BY_OBJECT) {
        put_object(profile, key, out);
        return;
    }
    const struct perfdata_profile_frame *frame = by == PERFDATA_BY_FRAME
                                                     ? perfdata_profile_frame(profile, key)
                                                     : NULL;
    const struct perfdata_profile_function *function = perfdata_profile_function(
        profile, frame ? frame->function : key);
    put_object(profile, function->object, out);
    pd_text_char(out, 0);
    pd_text_bytes(out, function->name, function->name_length);
    pd_text_char(out, function->flags & PERFDATA_FUNCTION_UNKNOWN ? 1 : 0);
    if (!frame)
        return;
    pd_text_string(out, frame->file ? frame->file : "");
    pd_text_char(out, 0);
    pd_text_u64(out, frame->line, 0, ' ');
    pd_text_char(out, 0);
    pd_text_u64(out, frame->address ? frame->address - function->address : 0, 0, ' ');
}

static void add_row(struct perfdata_row *to, const struct perfdata_row *from)
{
    if (to->key == PERFDATA_NONE)
        to->key = from->key;
    to->self_count += from->self_count;
    to->self_weight += from->self_weight;
    to->total_count += from->total_count;
    to->total_weight += from->total_weight;
}

static bool join_side(const struct side *side, uint32_t by, bool after, struct pd_intern *names,
                      struct perfdata_change *changes)
{
    struct pd_text name = { 0 };
    bool ok = true;
    for (size_t i = 0; ok && i < side->count; i++) {
        put_name(side->profile, by, side->rows[i].key, &name);
        size_t known = names->strings.count;
        uint32_t id = pd_intern(names, name.length ? name.data : "", name.length);
        ok = id != PD_INTERN_NONE && !name.failed;
        if (!ok)
            break;
        if (id == known)
            changes[id].before.key = changes[id].after.key = PERFDATA_NONE;
        add_row(after ? &changes[id].after : &changes[id].before, &side->rows[i]);
    }
    pd_text_free(&name);
    return ok;
}

static uint64_t weight_of(const struct side *side)
{
    uint64_t weight = 0;
    for (size_t i = 0; i < side->count; i++)
        weight += side->rows[i].self_weight;
    return weight;
}

static double share(uint64_t weight, uint64_t all)
{
    return all ? (double)weight / (double)all : 0;
}

struct ranked {
    struct perfdata_change change;
    double self, total;
};

static int by_change(const void *a, const void *b)
{
    const struct ranked *left = a, *right = b;
    if (left->self != right->self)
        return left->self > right->self ? -1 : 1;
    if (left->total != right->total)
        return left->total > right->total ? -1 : 1;
    const struct perfdata_change *x = &left->change, *y = &right->change;
    if (x->before.key != y->before.key)
        return x->before.key < y->before.key ? -1 : 1;
    return x->after.key < y->after.key ? -1 : x->after.key > y->after.key;
}

static double distance(double a, double b)
{
    return a > b ? a - b : b - a;
}

/* False: no memory. */
static bool rank(struct perfdata_change *changes, size_t count, uint64_t before, uint64_t after)
{
    struct ranked *list = malloc((count + 1) * sizeof *list);
    if (!list)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct perfdata_change *c = &changes[i];
        list[i] = (struct ranked){
            *c,
            distance(share(c->before.self_weight, before), share(c->after.self_weight, after)),
            distance(share(c->before.total_weight, before), share(c->after.total_weight, after)),
        };
    }
    if (count)
        qsort(list, count, sizeof *list, by_change);
    for (size_t i = 0; i < count; i++)
        changes[i] = list[i].change;
    free(list);
    return true;
}

perfdata_status perfdata_profile_compare(const perfdata_profile *before,
                                         const struct perfdata_query *query_before,
                                         const perfdata_profile *after,
                                         const struct perfdata_query *query_after,
                                         struct perfdata_change **changes, size_t *count)
{
    struct side sides[2] = { { .profile = before }, { .profile = after } };
    struct pd_intern names = { 0 };
    *changes = NULL;
    *count = 0;
    if (!query_before || !query_after || query_before->key != query_after->key)
        return PERFDATA_ERROR_ARGUMENT;
    perfdata_status status = perfdata_profile_rows(before, query_before, &sides[0].rows,
                                                   &sides[0].count);
    if (status >= 0)
        status = perfdata_profile_rows(after, query_after, &sides[1].rows, &sides[1].count);
    struct perfdata_change *made = NULL;
    if (status >= 0 && !(made = calloc(sides[0].count + sides[1].count + 1, sizeof *made)))
        status = PERFDATA_ERROR_MEMORY;
    for (unsigned i = 0; i < 2 && status >= 0; i++)
        if (!join_side(&sides[i], query_before->key, i == 1, &names, made))
            status = PERFDATA_ERROR_MEMORY;
    if (status >= 0 && !rank(made, names.strings.count, weight_of(&sides[0]), weight_of(&sides[1])))
        status = PERFDATA_ERROR_MEMORY;
    if (status >= 0) {
        *changes = made;
        *count = names.strings.count;
    } else {
        free(made);
    }
    pd_intern_free(&names);
    perfdata_rows_free(sides[0].rows);
    perfdata_rows_free(sides[1].rows);
    return status;
}
