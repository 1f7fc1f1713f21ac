/* SPDX-License-Identifier: MIT */
/* Samples and the tables that they refer to -> Parquet files: samples, stacks, functions, events,
 * mappings.
 *
 * Stacks and functions are known by hashes that are the same for every recording of any machine, so
 * that the tables of many recordings can be joined as they are. Hashes are known only at the end:
 * each group of rows is written as it fills, except its column of stacks; those columns follow
 * after all groups. */
#include "convert/parquet_write.h"
#include "convert/tables.h"
#include <stdlib.h>

enum { GROUP_ROWS = 262144 };

enum { TIME, CPU, PID, TID, COMM, EVENT, PERIOD, ADDRESS, STACK, SAMPLE_COLUMNS };

static const struct pd_parquet_column sample_columns[] = {
    [TIME] = { "time", PD_PARQUET_NUMBER },        [CPU] = { "cpu", PD_PARQUET_NUMBER },
    [PID] = { "pid", PD_PARQUET_NUMBER },          [TID] = { "tid", PD_PARQUET_NUMBER },
    [COMM] = { "comm", PD_PARQUET_TEXT },          [EVENT] = { "event", PD_PARQUET_TEXT },
    [PERIOD] = { "period", PD_PARQUET_NUMBER },    [ADDRESS] = { "address", PD_PARQUET_NUMBER },
    [STACK] = { "stack_hash", PD_PARQUET_NUMBER },
};

/* A group under way. Memory that no row needs is never touched. */
struct rows {
    size_t count;
    uint64_t time[GROUP_ROWS], cpu[GROUP_ROWS], period[GROUP_ROWS], address[GROUP_ROWS];
    uint32_t thread[GROUP_ROWS], comm[GROUP_ROWS], event[GROUP_ROWS];
};

struct tables {
    struct pd_parquet file;
    struct pd_strings strings;
    struct rows *rows;
    PD_VEC(uint32_t) stacks; /* of all samples */
    PD_VEC(uint64_t) values; /* of a column */
    /* The numbers of their names in `strings`, each + 1; 0: not needed yet. */
    PD_VEC(uint32_t) thread_names;
    PD_VEC(uint32_t) event_names;
    PD_VEC(uint32_t) lengths;
    PD_VEC(uint32_t) texts;
};

/* ---- samples ---- */

static perfdata_status begin(struct pd_convert *x)
{
    struct tables *t = x->state = calloc(1, sizeof *t);
    bool wanted;
    if (!t || !(t->rows = malloc(sizeof *t->rows)))
        return pd_convert_no_memory(x);
    t->rows->count = 0;
    t->file = (struct pd_parquet){ .columns = sample_columns, .column_count = SAMPLE_COLUMNS };
    perfdata_status status = pd_convert_table(x, "samples", &wanted);
    pd_parquet_begin(x, &t->file);
    return status;
}

static uint64_t pid_of(const struct pd_convert *x, uint32_t thread)
{
    return (uint64_t)(int32_t)pd_profile_thread(x->profile, thread)->pid;
}

static uint64_t tid_of(const struct pd_convert *x, uint32_t thread)
{
    return (uint64_t)(int32_t)pd_profile_thread(x->profile, thread)->tid;
}

static uint64_t hash_of(const struct pd_convert *x, uint32_t stack)
{
    return pd_profile_stack(x->profile, stack)->hash;
}

static perfdata_status put_group(struct pd_convert *x, struct tables *t)
{
    struct rows *rows = t->rows;
    size_t count = rows->count;
    int64_t group = count ? pd_parquet_group(x, &t->file, count) : 0;
    if (group < 0 || !count)
        return (perfdata_status)group;
    perfdata_status status = PERFDATA_OK;
    const struct {
        size_t column;
        const uint64_t *values;
    } numbers[] = { { TIME, rows->time },
                    { CPU, rows->cpu },
                    { PERIOD, rows->period },
                    { ADDRESS, rows->address } };
    for (size_t i = 0; i < PD_LENGTH(numbers) && status >= 0; i++)
        status = pd_parquet_numbers(x, &t->file, (size_t)group, numbers[i].column,
                                    numbers[i].values, count);
    if (status >= 0)
        status = pd_parquet_numbered(x, &t->file, (size_t)group, PID, rows->thread, count, pid_of);
    if (status >= 0)
        status = pd_parquet_numbered(x, &t->file, (size_t)group, TID, rows->thread, count, tid_of);
    if (status >= 0)
        status = pd_parquet_texts(x, &t->file, (size_t)group, COMM, rows->comm, count, &t->strings);
    if (status >= 0)
        status = pd_parquet_texts(x, &t->file, (size_t)group, EVENT, rows->event, count,
                                  &t->strings);
    rows->count = 0;
    return status;
}

static PD_NOINLINE void find_name(struct tables *t, uint32_t *known, const char *name)
{
    *known = pd_strings_name(&t->strings, name, strlen(name)) + 1;
}

/* There is room for one row more. */
static void put_row(struct pd_convert *x, struct tables *t, const struct perfdata_samples *samples,
                    size_t i)
{
    struct rows *rows = t->rows;
    uint32_t thread = samples->thread[i], event = samples->event[i];
    const uint64_t *ip = samples->columns[PERFDATA_COLUMN_IP];
    uint32_t *comm = &t->thread_names.data[thread], *name = &t->event_names.data[event];
    if (PD_UNLIKELY(!*comm))
        find_name(t, comm, pd_profile_thread(x->profile, thread)->comm);
    if (PD_UNLIKELY(!*name))
        find_name(t, name, perfdata_profile_event(x->profile, event)->name);
    size_t at = rows->count++;
    rows->time[at] = samples->time[i];
    rows->cpu[at] = (uint64_t)(int32_t)samples->cpu[i];
    rows->period[at] = pd_convert_weight(x, 1, samples->weight[i]);
    rows->address[at] = ip ? ip[i] : 0;
    rows->thread[at] = thread;
    rows->comm[at] = *comm - 1;
    rows->event[at] = *name - 1;
    t->stacks.data[t->stacks.count++] = samples->stack[i];
}

static bool make_room(struct pd_convert *x, struct tables *t, size_t more)
{
    return pd_vec_reserve(&t->stacks, t->stacks.count + more) &&
           pd_vec_widen_to(&t->thread_names, perfdata_profile_thread_count(x->profile)) &&
           pd_vec_widen_to(&t->event_names, perfdata_profile_event_count(x->profile));
}

static perfdata_status take_samples(struct pd_convert *x, const struct perfdata_samples *samples)
{
    struct tables *t = x->state;
    perfdata_status status = PERFDATA_OK;
    if (!make_room(x, t, samples->count))
        return pd_convert_no_memory(x);
    for (size_t i = 0; i < samples->count && status >= 0; i++) {
        if (!x->events[samples->event[i]])
            continue;
        put_row(x, t, samples, i);
        if (t->rows->count == GROUP_ROWS)
            status = put_group(x, t);
    }
    return status >= 0 && t->strings.failed ? pd_convert_no_memory(x) : status;
}

static perfdata_status end_samples(struct pd_convert *x, struct tables *t)
{
    perfdata_status status = put_group(x, t);
    size_t at = 0;
    for (size_t g = 0; g < t->file.groups.count && status >= 0; g++) {
        size_t count = (size_t)t->file.groups.data[g];
        status = pd_parquet_numbered(x, &t->file, g, STACK, t->stacks.data + at, count, hash_of);
        at += count;
    }
    return status < 0 ? status : pd_parquet_end(x, &t->file);
}

/* ---- other tables: one group of rows each ---- */

static perfdata_status begin_table(struct pd_convert *x, struct tables *t, const char *name,
                                   const struct pd_parquet_column *columns, size_t column_count,
                                   size_t rows, bool *wanted)
{
    perfdata_status status = pd_convert_table(x, name, wanted);
    pd_parquet_free(&t->file);
    t->file = (struct pd_parquet){ .columns = columns, .column_count = column_count };
    if (status < 0 || !*wanted)
        return status;
    pd_parquet_begin(x, &t->file);
    if (!pd_vec_reserve(&t->values, rows + 1) || !pd_vec_reserve(&t->texts, rows + 1))
        return pd_convert_no_memory(x);
    return rows && pd_parquet_group(x, &t->file, rows) < 0 ? PERFDATA_ERROR_MEMORY : PERFDATA_OK;
}

static perfdata_status put_column(struct pd_convert *x, struct tables *t, size_t index,
                                  const struct pd_table_column *column, uint32_t rows)
{
    char room[PD_TABLE_ROOM];
    if (!rows)
        return PERFDATA_OK;
    for (uint32_t i = 0; i < rows; i++) {
        const char *text = column->text ? column->text(x->profile, i, room) : NULL;
        if (column->number)
            t->values.data[i] = column->number(x->profile, i);
        else
            t->texts.data[i] = pd_strings_name(&t->strings, text ? text : "",
                                               text ? strlen(text) : 0);
    }
    if (t->strings.failed)
        return pd_convert_no_memory(x);
    return column->text ? pd_parquet_texts(x, &t->file, 0, index, t->texts.data, rows, &t->strings)
                        : pd_parquet_numbers(x, &t->file, 0, index, t->values.data, rows);
}

static perfdata_status put_table(struct pd_convert *x, struct tables *t,
                                 const struct pd_table *table)
{
    struct pd_parquet_column shape[PD_TABLE_COLUMNS];
    uint32_t rows = table->rows(x->profile);
    bool wanted;
    for (size_t i = 0; i < table->column_count; i++)
        shape[i] = (struct pd_parquet_column){ table->columns[i].name, table->columns[i].text
                                                                           ? PD_PARQUET_TEXT
                                                                           : PD_PARQUET_NUMBER };
    perfdata_status status = begin_table(x, t, table->name, shape, table->column_count, rows,
                                         &wanted);
    for (size_t i = 0; i < table->column_count && status >= 0 && wanted; i++)
        status = put_column(x, t, i, &table->columns[i], rows);
    return status >= 0 && wanted ? pd_parquet_end(x, &t->file) : status;
}

/* ---- stacks: root first, and never empty ---- */

static perfdata_status put_stacks(struct pd_convert *x, struct tables *t)
{
    static const struct pd_parquet_column columns[] = { { "stack_hash", PD_PARQUET_NUMBER },
                                                        { "frames", PD_PARQUET_LIST } };
    const perfdata_profile *profile = x->profile;
    uint32_t count = perfdata_profile_stack_count(profile);
    bool *used = calloc((size_t)count + 1, sizeof *used), wanted;
    size_t rows = 0, done = 0;
    if (!used)
        return pd_convert_no_memory(x);
    for (size_t i = 0; i < t->stacks.count; i++)
        used[t->stacks.data[i]] = true;
    for (uint32_t i = 0; i < count; i++)
        rows += used[i];
    perfdata_status status = begin_table(x, t, "stacks", columns, PD_LENGTH(columns), 0, &wanted);
    for (uint32_t i = 0; status >= 0 && wanted && done < rows;) {
        size_t group_rows = PD_MIN(rows - done, (size_t)GROUP_ROWS), held = 0;
        PD_VEC(uint64_t) frames = { 0 };
        int64_t group = pd_parquet_group(x, &t->file, group_rows);
        bool ok = group >= 0 && pd_vec_reserve(&t->values, group_rows) &&
                  pd_vec_reserve(&t->lengths, group_rows);
        for (; ok && held < group_rows; i++) {
            if (!used[i])
                continue;
            const struct perfdata_profile_stack *stack = pd_profile_stack(profile, i);
            t->values.data[held] = stack->hash;
            t->lengths.data[held++] = stack->depth;
            ok = pd_vec_reserve(&frames, frames.count + stack->depth);
            frames.count += ok ? stack->depth : 0;
            uint64_t *to = frames.data + frames.count;
            for (uint32_t at = i; ok && at != PERFDATA_NONE;
                 at = pd_profile_stack(profile, at)->parent) {
                uint32_t frame = pd_profile_stack(profile, at)->frame;
                *--to =
                    pd_profile_function(profile, pd_profile_frame(profile, frame)->function)->hash;
            }
        }
        status = ok ? pd_parquet_numbers(x, &t->file, (size_t)group, 0, t->values.data, held)
                    : pd_convert_no_memory(x);
        if (status >= 0)
            status = pd_parquet_lists(x, &t->file, (size_t)group, 1, frames.data, t->lengths.data,
                                      held);
        pd_vec_free(&frames);
        done += held;
    }
    free(used);
    return status >= 0 && wanted ? pd_parquet_end(x, &t->file) : status;
}

static perfdata_status end(struct pd_convert *x)
{
    struct tables *t = x->state;
    perfdata_status status = end_samples(x, t);
    if (status >= 0)
        status = put_stacks(x, t);
    if (status >= 0)
        status = put_table(x, t, &pd_table_functions);
    if (status >= 0)
        status = put_table(x, t, &pd_table_events);
    if (status >= 0)
        status = put_table(x, t, &pd_table_mappings);
    return status;
}

static void free_state(struct pd_convert *x)
{
    struct tables *t = x->state;
    if (!t)
        return;
    pd_parquet_free(&t->file);
    pd_strings_free(&t->strings);
    free(t->rows);
    pd_vec_free(&t->stacks);
    pd_vec_free(&t->values);
    pd_vec_free(&t->thread_names);
    pd_vec_free(&t->event_names);
    pd_vec_free(&t->lengths);
    pd_vec_free(&t->texts);
    free(t);
}

const struct pd_format pd_format_parquet = {
    .flags = PERFDATA_FORMAT_BINARY | PERFDATA_FORMAT_SAMPLES | PERFDATA_FORMAT_TABLES,
    .profile_flags = PERFDATA_PROFILE_NO_SUMS,
    .detail = PERFDATA_FRAMES_BY_FUNCTION,
    .columns = 1u << PERFDATA_COLUMN_IP,
    .begin = begin,
    .samples = take_samples,
    .end = end,
    .free = free_state,
};
