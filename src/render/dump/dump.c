/* SPDX-License-Identifier: MIT */
/* Records -> every field of each, by one of two printers. */
#include "render/dump/dump.h"
#include "base/hash.h"
#include "base/vec.h"
#include "container/handle.h"
#include "render/about/header.h"
#include <perfdata/dump.h>
#include <stdlib.h>

#define FLUSH_AT 65536

static perfdata_status flush(struct pd_recording *recording, struct pd_text *text, size_t above,
                             perfdata_write_fn write, void *data)
{
    if (text->failed)
        return pd_no_memory(&recording->context, "the text of a record");
    if (text->length <= above)
        return PERFDATA_OK;
    bool stop = write(data, text->data, text->length) != 0;
    text->length = 0;
    return stop
               ? pd_fail(&recording->context, PERFDATA_ERROR_OUTPUT, -1, "the output takes no more")
               : PERFDATA_OK;
}

typedef perfdata_status (*print_fn)(struct pd_dump *dump, const struct pd_raw *raw,
                                    const struct pd_fields_input *input);

static perfdata_status print_all(struct pd_recording *recording, struct pd_walk *walk,
                                 print_fn print, perfdata_write_fn write, void *data)
{
    struct pd_text text = { 0 };
    struct pd_dump dump = { .text = &text, .arch = recording->features.arch.text.text };
    struct pd_raw raw;
    perfdata_status status;
    while ((status = pd_walk_next(walk, &raw)) > 0) {
        struct pd_fields_input input = { raw.event, raw.data, raw.size, recording->swap,
                                         recording->features.nrcpus.available };
        status = print(&dump, &raw, &input);
        if (status == PERFDATA_ERROR_BAD_RECORD)
            status = pd_issue(&recording->context, PERFDATA_ISSUE_BAD_RECORD, (int64_t)raw.offset,
                              "a record of type %u says more than its %u bytes hold", raw.type,
                              raw.size);
        if (status == PERFDATA_OK)
            status = flush(recording, &text, FLUSH_AT, write, data);
        if (status != PERFDATA_OK)
            break;
    }
    /* what came before the failure is complete, so it is written */
    perfdata_status last = flush(recording, &text, 0, write, data);
    pd_text_free(&text);
    return status ? status : last;
}

static perfdata_status print_around(struct pd_recording *recording, bool json,
                                    perfdata_write_fn write, void *data)
{
    struct pd_text text = { 0 };
    struct pd_dump dump = { .text = &text, .arch = recording->features.arch.text.text };
    if (json)
        pd_header_json(recording, &text);
    else
        pd_dump_around(recording, &dump);
    return pd_api_emit(&recording->context, &text, write, data);
}

perfdata_status perfdata_dump_print(perfdata_recording *recording, uint32_t flags,
                                    perfdata_write_fn write, void *data)
{
    struct pd_walk *walk;
    if (!recording->open)
        return PERFDATA_ERROR_ARGUMENT;
    if (flags & PERFDATA_DUMP_HEADER)
        return print_around(&recording->recording, flags & PERFDATA_DUMP_JSON, write, data);
    perfdata_status status = pd_walk_open(&recording->recording, &walk);
    if (status != PERFDATA_OK)
        return status;
    status = print_all(&recording->recording, walk,
                       flags & PERFDATA_DUMP_JSON ? pd_dump_json : pd_dump_text, write, data);
    pd_walk_close(walk);
    return status;
}

/* ---- statistics ------------------------------------------------------------------------------ */

struct type_count {
    uint32_t type;
    uint64_t count;
    char name[40];
};

struct type_counts {
    PD_VEC(struct type_count) list;
    struct pd_map64 by_type;
};

static bool count_type(struct type_counts *counts, uint32_t type)
{
    uint32_t at = pd_map64_get(&counts->by_type, type);
    if (at == PD_MAP64_NONE) {
        struct pd_text name = { 0 };
        struct type_count new_count = { .type = type };
        pd_dump_type(&name, type);
        if (!name.failed && name.data)
            memcpy(new_count.name, name.data, PD_MIN(name.length, sizeof new_count.name - 1));
        at = (uint32_t)counts->list.count;
        bool ok = !name.failed && pd_vec_push(&counts->list, new_count) &&
                  pd_map64_set(&counts->by_type, type, at);
        pd_text_free(&name);
        if (!ok)
            return false;
    }
    counts->list.data[at].count++;
    return true;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct type_count *)a)->name, ((const struct type_count *)b)->name);
}

static perfdata_status count_all(struct pd_recording *recording, struct type_counts *counts)
{
    struct pd_walk *walk;
    struct pd_raw raw;
    perfdata_status status = pd_walk_open(recording, &walk);
    if (status != PERFDATA_OK)
        return status;
    while ((status = pd_walk_next(walk, &raw)) > 0) {
        if (!count_type(counts, raw.type)) {
            status = pd_fail(&recording->context, PERFDATA_ERROR_MEMORY, (int64_t)raw.offset,
                             "no memory to count record types");
            break;
        }
    }
    pd_walk_close(walk);
    return status;
}

perfdata_status perfdata_dump_stats(perfdata_recording *recording, perfdata_write_fn write,
                                    void *data)
{
    struct type_counts counts = { 0 };
    struct pd_text text = { 0 };
    if (!recording->open)
        return PERFDATA_ERROR_ARGUMENT;
    perfdata_status status = count_all(&recording->recording, &counts);
    if (counts.list.count)
        qsort(counts.list.data, counts.list.count, sizeof *counts.list.data, compare_names);
    for (size_t i = 0; i < counts.list.count; i++) {
        pd_text_string(&text, counts.list.data[i].name);
        pd_text_char(&text, ' ');
        pd_text_u64(&text, counts.list.data[i].count, 0, ' ');
        pd_text_char(&text, '\n');
    }
    perfdata_status last = pd_api_emit(&recording->recording.context, &text, write, data);
    pd_vec_free(&counts.list);
    pd_map64_free(&counts.by_type);
    return status ? status : last;
}

/* ---- checksum -------------------------------------------------------------------------------- */

perfdata_status perfdata_dump_checksum(perfdata_recording *recording, uint64_t *sum,
                                       uint64_t *records)
{
    struct pd_recording *inner = &recording->recording;
    struct pd_walk *walk;
    struct pd_raw raw;
    uint64_t total = 0, count = 0;
    *sum = 0;
    if (records)
        *records = 0;
    if (!recording->open)
        return PERFDATA_ERROR_ARGUMENT;
    perfdata_status status = pd_walk_open(inner, &walk);
    if (status != PERFDATA_OK)
        return status;
    while ((status = pd_walk_next(walk, &raw)) > 0) {
        struct pd_fields_input input = { raw.event, raw.data, raw.size, inner->swap,
                                         inner->features.nrcpus.available };
        total = pd_checksum_add(total, pd_record_checksum(&input));
        count++;
    }
    pd_walk_close(walk);
    *sum = total;
    if (records)
        *records = count;
    return status;
}

const char *perfdata_record_type_name(uint32_t type)
{
    return pd_record_type_name(type);
}
