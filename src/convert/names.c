/* SPDX-License-Identifier: MIT */
/* Functions and threads -> the texts that forms have for them; sums by the group whose name stands
 * above a stack. */
#include "convert/convert.h"
#include "base/hash.h"
#include "base/memory.h"
#include <stdlib.h>

void pd_convert_name(struct pd_text *out, const char *name, size_t length)
{
    for (size_t i = 0; i < length;) {
        uint8_t c = (uint8_t)name[i];
        size_t n = pd_utf8_length((const uint8_t *)name + i, length - i);
        bool escape = !n || c < 0x20 || c == 0x7f ||
                      (c == '\\' && i + 1 < length && name[i + 1] == 'x');
        n = n ? n : 1;
        if (escape) {
            pd_text_bytes(out, "\\x", 2);
            pd_text_hex(out, c, 2, '0');
        } else {
            pd_text_bytes(out, name + i, n);
        }
        i += n;
    }
}

/* What unknown functions of an object are called. */
static void put_unknown(const struct pd_convert *x,
                        const struct perfdata_profile_function *function, struct pd_text *out)
{
    const struct perfdata_profile_object *object = perfdata_profile_object(x->profile,
                                                                           function->object);
    const char *name = object ? object->name : "unknown";
    bool bracketed = *name == '[';
    if (!bracketed)
        pd_text_char(out, '[');
    pd_text_string(out, name);
    if (!bracketed)
        pd_text_char(out, ']');
}

void pd_convert_raw_function(const struct pd_convert *x, uint32_t index, struct pd_text *out)
{
    const struct perfdata_profile_function *function = perfdata_profile_function(x->profile, index);
    if (function->flags & PERFDATA_FUNCTION_UNKNOWN)
        put_unknown(x, function, out);
    else
        pd_text_bytes(out, function->name, function->name_length);
}

/* Writes with `put` the text that `raw` gives for an element. */
static void put_text(const struct pd_convert *x, uint32_t index, struct pd_text *out,
                     void (*raw)(const struct pd_convert *x, uint32_t index, struct pd_text *out),
                     void (*put)(struct pd_text *out, const char *text, size_t length))
{
    struct pd_text name = { 0 };
    raw(x, index, &name);
    put(out, name.length ? name.data : "", name.length);
    out->failed |= name.failed;
    pd_text_free(&name);
}

void pd_convert_function(const struct pd_convert *x, uint32_t index, struct pd_text *out)
{
    put_text(x, index, out, pd_convert_raw_function, pd_convert_name);
}

void pd_convert_json_function(const struct pd_convert *x, uint32_t index, struct pd_text *out)
{
    put_text(x, index, out, pd_convert_raw_function, pd_text_json);
}

void pd_convert_json(struct pd_text *out, const char *text)
{
    pd_text_json(out, text, strlen(text));
}

const char *pd_convert_unit(const struct perfdata_profile_event *event)
{
    bool clock = event->type == PD_TYPE_SOFTWARE &&
                 (event->config == PD_SW_CPU_CLOCK || event->config == PD_SW_TASK_CLOCK);
    return clock ? "nanoseconds" : "count";
}

perfdata_status pd_convert_names_make(struct pd_convert *x, struct pd_convert_names *names,
                                      void (*put)(struct pd_convert *x, uint32_t function,
                                                  struct pd_text *out))
{
    uint32_t count = perfdata_profile_function_count(x->profile);
    if (!pd_vec_reserve(&names->ends, (size_t)count + 1))
        return pd_convert_no_memory(x);
    for (uint32_t i = 0; i < count; i++) {
        put(x, i, &names->text);
        names->ends.data[names->ends.count++] = names->text.length;
    }
    return names->text.failed ? pd_convert_no_memory(x) : PERFDATA_OK;
}

void pd_convert_names_free(struct pd_convert_names *names)
{
    pd_text_free(&names->text);
    pd_vec_free(&names->ends);
}

/* ---- groups ---- */

void pd_convert_raw_group(const struct pd_convert *x, uint32_t thread, struct pd_text *out)
{
    const struct perfdata_profile_thread *of = perfdata_profile_thread(x->profile, thread);
    if (x->options->group == PERFDATA_EXPORT_TOGETHER)
        return;
    pd_text_string(out, of->comm);
    if (x->options->group == PERFDATA_EXPORT_BY_COMM)
        return;
    pd_text_char(out, '-');
    pd_text_i64(out, (int32_t)of->pid, 0);
    if (x->options->group == PERFDATA_EXPORT_BY_THREAD) {
        pd_text_char(out, '/');
        pd_text_i64(out, (int32_t)of->tid, 0);
    }
}

void pd_convert_group_name(const struct pd_convert *x, uint32_t thread, struct pd_text *out)
{
    put_text(x, thread, out, pd_convert_raw_group, pd_convert_name);
}

perfdata_status pd_convert_groups_make(struct pd_convert *x, struct pd_convert_groups *groups)
{
    uint32_t count = perfdata_profile_thread_count(x->profile);
    struct pd_intern texts = { 0 };
    struct pd_text text = { 0 };
    groups->of_thread = calloc((size_t)count + 1, sizeof *groups->of_thread);
    bool ok = groups->of_thread != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        text.length = 0;
        pd_convert_raw_group(x, i, &text);
        uint32_t id = pd_intern(&texts, text.length ? text.data : "", text.length);
        ok = id != PD_INTERN_NONE && !text.failed;
        if (ok && id == groups->first.count)
            ok = pd_vec_push(&groups->first, i);
        if (ok)
            groups->of_thread[i] = id;
    }
    groups->count = (uint32_t)groups->first.count;
    pd_intern_free(&texts);
    pd_text_free(&text);
    return ok ? PERFDATA_OK : pd_convert_no_memory(x);
}

void pd_convert_groups_free(struct pd_convert_groups *groups)
{
    free(groups->of_thread);
    groups->of_thread = NULL;
    pd_vec_free(&groups->first);
}

/* ---- sums ---- */

struct sum_table {
    uint32_t *slots; /* number + 1 */
    size_t mask;
};

static struct perfdata_profile_sum *sum_at(struct pd_convert_sums *sums, struct sum_table *table,
                                           const struct perfdata_profile_sum *sum, uint32_t group)
{
    uint64_t hash = pd_hash64(((uint64_t)group << 32 | sum->stack) ^
                              (uint64_t)sum->event * UINT64_C(0x9e3779b97f4a7c15));
    size_t at = hash & table->mask;
    for (; table->slots[at]; at = (at + 1) & table->mask) {
        struct perfdata_profile_sum *other = &sums->list.data[table->slots[at] - 1];
        if (other->event == sum->event && other->thread == group && other->stack == sum->stack)
            return other;
    }
    sums->list.data[sums->list.count++] = (struct perfdata_profile_sum){ sum->event, group,
                                                                         sum->stack, 0,
                                                                         0,          0 };
    table->slots[at] = (uint32_t)sums->list.count;
    return &sums->list.data[sums->list.count - 1];
}

perfdata_status pd_convert_sums_make(struct pd_convert *x, const struct pd_convert_groups *groups,
                                     struct pd_convert_sums *sums)
{
    size_t count;
    const struct perfdata_profile_sum *list = perfdata_profile_sums(x->profile, &count);
    struct sum_table table = { .mask = 15 };
    while (table.mask < count * 2)
        table.mask = table.mask * 2 + 1;
    table.slots = calloc(table.mask + 1, sizeof *table.slots);
    if (!table.slots || !pd_vec_reserve(&sums->list, count + 1)) {
        free(table.slots);
        return pd_convert_no_memory(x);
    }
    for (size_t i = 0; i < count; i++) {
        if (!x->events[list[i].event])
            continue;
        struct perfdata_profile_sum *sum = sum_at(sums, &table, &list[i],
                                                  groups->of_thread[list[i].thread]);
        sum->count += list[i].count;
        sum->weight += list[i].weight;
    }
    free(table.slots);
    return PERFDATA_OK;
}

size_t *pd_convert_sort(const uint32_t *first, size_t stride, size_t count, size_t limit,
                        const uint32_t *from, uint32_t *to)
{
    size_t *begin = pd_memory_noted(calloc(limit + 2, sizeof *begin));
    if (!begin)
        return NULL;
    for (size_t i = 0; i < count; i++)
        begin[first[i * (stride / sizeof *first)] + (size_t)2]++;
    for (size_t i = 2; i < limit + 2; i++)
        begin[i] += begin[i - 1];
    for (size_t i = 0; i < count; i++) {
        size_t thing = from ? from[i] : i;
        to[begin[first[thing * (stride / sizeof *first)] + (size_t)1]++] = (uint32_t)thing;
    }
    return begin;
}
