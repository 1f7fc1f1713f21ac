/* SPDX-License-Identifier: MIT */
/* The other tables as streams: what is in their columns. */
#include "convert/arrow/arrow.h"
#include <stdlib.h>

/* ---- columns ---- */

/* Columns by the row of their table. */
#define AT(singular) (perfdata_profile_##singular(stream->profile, (uint32_t)row))
#define NUMBER(name, value)                                                                        \
    static uint64_t name(const struct pd_arrow_stream *stream, uint64_t row)                       \
    {                                                                                              \
        return value;                                                                              \
    }
#define TEXT(name, value)                                                                          \
    static const char *name(const struct pd_arrow_stream *stream, uint64_t row,                    \
                            char room[PD_TABLE_ROOM])                                              \
    {                                                                                              \
        (void)room;                                                                                \
        return value;                                                                              \
    }

NUMBER(stack_hash, AT(stack)->hash)
NUMBER(stack_parent, AT(stack)->parent)
NUMBER(stack_frame, AT(stack)->frame)
NUMBER(stack_depth, AT(stack)->depth)
NUMBER(function_hash, AT(function)->hash)
TEXT(function_name, AT(function)->name)
NUMBER(function_object, AT(function)->object)
NUMBER(function_flags, AT(function)->flags)
NUMBER(function_address, AT(function)->address)
NUMBER(function_size, AT(function)->size)
NUMBER(event_type, AT(event)->type)
TEXT(event_name, AT(event)->name)
NUMBER(event_config, AT(event)->config)
NUMBER(event_samples, AT(event)->samples)
NUMBER(event_period, AT(event)->weight)
NUMBER(mapping_pid, AT(mapping)->pid)
NUMBER(mapping_object, AT(mapping)->object)
NUMBER(mapping_start, AT(mapping)->start)
NUMBER(mapping_end, AT(mapping)->end)
NUMBER(mapping_offset, AT(mapping)->offset)
NUMBER(frame_hash, AT(frame)->hash)
NUMBER(frame_function, AT(frame)->function)
TEXT(frame_file, AT(frame)->file)
NUMBER(frame_line, AT(frame)->line)
NUMBER(frame_address, AT(frame)->address)
NUMBER(object_hash, AT(object)->hash)
TEXT(object_name, AT(object)->name)
TEXT(object_path, AT(object)->path)
TEXT(object_build_id, pd_table_build_id(AT(object), room))
NUMBER(object_kernel, AT(object)->is_kernel)
NUMBER(thread_pid, AT(thread)->pid)
NUMBER(thread_tid, AT(thread)->tid)
TEXT(thread_comm, AT(thread)->comm)
NUMBER(thread_machine, AT(thread)->machine)
NUMBER(thread_samples, AT(thread)->samples)
NUMBER(thread_first, AT(thread)->first)
NUMBER(thread_last, AT(thread)->first == UINT64_MAX ? UINT64_MAX : AT(thread)->last)

#define SWITCH_AT (perfdata_profile_switch(stream->profile, row))
NUMBER(switch_time, SWITCH_AT->time)
NUMBER(switch_cpu, SWITCH_AT->cpu)
NUMBER(switch_thread, SWITCH_AT->thread)
NUMBER(switch_flags, SWITCH_AT->flags)
NUMBER(switch_pid, SWITCH_AT->other_pid)
NUMBER(switch_tid, SWITCH_AT->other_tid)

#define SUM_AT (stream->profile->sums.data[row])
NUMBER(sum_event, SUM_AT.event)
NUMBER(sum_thread, SUM_AT.thread)
NUMBER(sum_stack, SUM_AT.stack)
NUMBER(sum_samples, SUM_AT.count)
NUMBER(sum_period, SUM_AT.weight)

#define NONE32 .nullable = true, .null = PERFDATA_NONE
#define NONE64 .nullable = true, .null = UINT64_MAX
#define ROW(name)                                                                                  \
    {                                                                                              \
        name, "i", PD_ARROW_ROW, false, 0, NULL, NULL, NULL, NULL, NULL, NULL                      \
    }
#define N(label, type, get, ...)                                                                   \
    {                                                                                              \
        .name = label, .format = type, .kind = PD_ARROW_NUMBERS, .number = get, __VA_ARGS__        \
    }
#define T(label, get, ...)                                                                         \
    {                                                                                              \
        .name = label, .format = "U", .kind = PD_ARROW_TEXTS, .text = get, __VA_ARGS__             \
    }

static const struct pd_arrow_column stacks[] = {
    ROW("stack"),
    N("hash", "l", stack_hash, ),
    N("parent", "i", stack_parent, NONE32),
    N("frame", "i", stack_frame, ),
    N("depth", "i", stack_depth, ),
    { .name = "functions", .format = "i", .kind = PD_ARROW_LISTS },
};
static const struct pd_arrow_column portable_stacks[] = {
    N("stack_hash", "l", stack_hash, ),
    { .name = "frames", .format = "l", .kind = PD_ARROW_LISTS },
};
static const struct pd_arrow_column functions[] = {
    ROW("function"),
    N("hash", "l", function_hash, ),
    T("name", function_name, ),
    N("object", "i", function_object, NONE32),
    N("flags", "i", function_flags, ),
    N("address", "L", function_address, ),
    N("size", "L", function_size, .nullable = true, .null = 0),
};
static const struct pd_arrow_column events[] = {
    ROW("event"),
    T("name", event_name, ),
    N("type", "l", event_type, ),
    N("config", "L", event_config, ),
    N("samples", "l", event_samples, ),
    N("period", "l", event_period, ),
};
static const struct pd_arrow_column mappings[] = {
    N("pid", "i", mapping_pid, NONE32), N("object", "i", mapping_object, ),
    N("start", "L", mapping_start, ),   N("end", "L", mapping_end, ),
    N("offset", "L", mapping_offset, ),
};
static const struct pd_arrow_column frames[] = {
    ROW("frame"),
    N("hash", "l", frame_hash, ),
    N("function", "i", frame_function, ),
    T("file", frame_file, .nullable = true),
    N("line", "i", frame_line, .nullable = true, .null = 0),
    N("address", "L", frame_address, ),
};
static const struct pd_arrow_column objects[] = {
    ROW("object"),
    N("hash", "l", object_hash, ),
    T("name", object_name, ),
    T("path", object_path, ),
    T("build_id", object_build_id, .nullable = true),
    N("kernel", "i", object_kernel, ),
};
static const struct pd_arrow_column threads[] = {
    ROW("thread"),
    N("pid", "i", thread_pid, NONE32),
    N("tid", "i", thread_tid, NONE32),
    T("comm", thread_comm, ),
    N("machine", "i", thread_machine, NONE32),
    N("samples", "l", thread_samples, ),
    N("first", "l", thread_first, NONE64),
    N("last", "l", thread_last, NONE64),
};
static const struct pd_arrow_column switches[] = {
    N("time", "l", switch_time, ),           N("cpu", "i", switch_cpu, ),
    N("thread", "i", switch_thread, ),       N("flags", "i", switch_flags, ),
    N("other_pid", "i", switch_pid, NONE32), N("other_tid", "i", switch_tid, NONE32),
};
static const struct pd_arrow_column sums[] = {
    N("event", "i", sum_event, ),     N("thread", "i", sum_thread, ), N("stack", "i", sum_stack, ),
    N("samples", "l", sum_samples, ), N("period", "l", sum_period, ),
};

/* ---- streams ---- */

/* The columns of a table that other forms have, too. */
static void add_shared(struct pd_arrow_stream *stream, const struct pd_table *table)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const struct pd_table_column *from = &table->columns[i];
        struct pd_arrow_column column = { .name = from->name,
                                          .format = from->text ? "U" : "l",
                                          .kind = from->text ? PD_ARROW_TEXTS : PD_ARROW_NUMBERS,
                                          .shared = from };
        pd_arrow_add(stream, &column, 1);
    }
}

struct shape {
    const struct pd_arrow_column *columns;
    size_t column_count;
    const struct pd_table *shared; /* in place of `columns` */
};
#define SHAPE(columns)                                                                             \
    {                                                                                              \
        columns, PD_LENGTH(columns), NULL                                                          \
    }
#define NO_SHAPE                                                                                   \
    {                                                                                              \
        NULL, 0, NULL                                                                              \
    }

/* `portable` may be NO_SHAPE. */
static perfdata_status make(perfdata_profile *profile, uint32_t flags, uint64_t rows,
                            const struct shape *plain, const struct shape *portable,
                            struct ArrowArrayStream *out)
{
    const struct shape *shape = flags & PERFDATA_ARROW_PORTABLE ? portable : plain;
    if (flags & ~(uint32_t)PERFDATA_ARROW_PORTABLE || (!shape->columns && !shape->shared))
        return PERFDATA_ERROR_ARGUMENT;
    if (shape->columns && shape->columns->kind == PD_ARROW_ROW && rows > INT32_MAX)
        return PERFDATA_ERROR_LIMIT;
    struct pd_arrow_stream *stream = pd_arrow_new(profile);
    if (!stream)
        return PERFDATA_ERROR_MEMORY;
    stream->rows = rows;
    if (shape->shared)
        add_shared(stream, shape->shared);
    else
        pd_arrow_add(stream, shape->columns, shape->column_count);
    return pd_arrow_give(stream, PERFDATA_OK, out);
}

#define STREAM(table, rows, ...)                                                                   \
    perfdata_status perfdata_##table##_stream(perfdata_profile *profile, uint32_t flags,           \
                                              struct ArrowArrayStream *out)                        \
    {                                                                                              \
        static const struct shape plain = SHAPE(table), portable = __VA_ARGS__;                    \
        if (!out)                                                                                  \
            return PERFDATA_ERROR_ARGUMENT;                                                        \
        memset(out, 0, sizeof *out);                                                               \
        return profile ? make(profile, flags, rows, &plain, &portable, out)                        \
                       : PERFDATA_ERROR_ARGUMENT;                                                  \
    }

STREAM(stacks, perfdata_profile_stack_count(profile), SHAPE(portable_stacks))
STREAM(functions, perfdata_profile_function_count(profile), { NULL, 0, &pd_table_functions })
STREAM(events, perfdata_profile_event_count(profile), { NULL, 0, &pd_table_events })
STREAM(mappings, perfdata_profile_mapping_count(profile), { NULL, 0, &pd_table_mappings })
STREAM(frames, perfdata_profile_frame_count(profile), NO_SHAPE)
STREAM(objects, perfdata_profile_object_count(profile), NO_SHAPE)
STREAM(threads, perfdata_profile_thread_count(profile), NO_SHAPE)
STREAM(switches, perfdata_profile_switch_count(profile), NO_SHAPE)
STREAM(sums, profile->sums.count, NO_SHAPE)

/* ---- aggregates ---- */

static const struct perfdata_profile_frame *row_frame(const struct pd_arrow_stream *stream,
                                                      uint64_t row)
{
    return stream->key == PERFDATA_BY_FRAME
               ? perfdata_profile_frame(stream->profile, stream->list[row].key)
               : NULL;
}

static const struct perfdata_profile_function *row_function(const struct pd_arrow_stream *stream,
                                                            uint64_t row)
{
    const struct perfdata_profile_frame *frame = row_frame(stream, row);
    uint32_t key = frame ? frame->function : stream->list[row].key;
    return stream->key == PERFDATA_BY_OBJECT ? NULL
                                             : perfdata_profile_function(stream->profile, key);
}

static const struct perfdata_profile_object *row_object(const struct pd_arrow_stream *stream,
                                                        uint64_t row)
{
    const struct perfdata_profile_function *function = row_function(stream, row);
    return perfdata_profile_object(stream->profile,
                                   function ? function->object : stream->list[row].key);
}

static const char *row_name(const struct pd_arrow_stream *stream, uint64_t row,
                            char room[PD_TABLE_ROOM])
{
    const struct perfdata_profile_function *function = row_function(stream, row);
    const struct perfdata_profile_object *object = row_object(stream, row);
    (void)room;
    return function ? function->name : object ? object->name : "[unknown]";
}

NUMBER(row_key, stream->list[row].key)
TEXT(row_object_name, row_object(stream, row) ? row_object(stream, row)->name : NULL)
TEXT(row_file, row_frame(stream, row) ? row_frame(stream, row)->file : NULL)
NUMBER(row_line, row_frame(stream, row) ? row_frame(stream, row)->line : 0)
NUMBER(row_self_samples, stream->list[row].self_count)
NUMBER(row_self_period, stream->list[row].self_weight)
NUMBER(row_total_samples, stream->list[row].total_count)
NUMBER(row_total_period, stream->list[row].total_weight)

static const struct pd_arrow_column row_columns[] = {
    N("key", "i", row_key, NONE32),
    T("name", row_name, ),
    T("object", row_object_name, .nullable = true),
    T("file", row_file, .nullable = true),
    N("line", "i", row_line, .nullable = true, .null = 0),
    N("self_samples", "l", row_self_samples, ),
    N("self_period", "l", row_self_period, ),
    N("total_samples", "l", row_total_samples, ),
    N("total_period", "l", row_total_period, ),
};

perfdata_status perfdata_rows_stream(perfdata_profile *profile, const struct perfdata_query *query,
                                     struct ArrowArrayStream *out)
{
    static const struct perfdata_query all = PERFDATA_QUERY_INIT;
    struct perfdata_row *list;
    size_t count;
    if (!out)
        return PERFDATA_ERROR_ARGUMENT;
    memset(out, 0, sizeof *out);
    if (!profile)
        return PERFDATA_ERROR_ARGUMENT;
    query = query ? query : &all;
    perfdata_status status = perfdata_profile_rows(profile, query, &list, &count);
    if (status < 0)
        return status;
    struct pd_arrow_stream *stream = pd_arrow_new(profile);
    if (!stream) {
        perfdata_rows_free(list);
        return PERFDATA_ERROR_MEMORY;
    }
    stream->list = list;
    stream->rows = count;
    stream->key = query->key;
    pd_arrow_add(stream, row_columns, PD_LENGTH(row_columns));
    return pd_arrow_give(stream, PERFDATA_OK, out);
}
