/* SPDX-License-Identifier: MIT */
/* Samples, stacks and functions as comma-separated values (RFC 4180), a file each; they refer to
 * each other by number, and with their hashes to those of other recordings. */
#include "convert/convert.h"
#include "convert/tables.h"
#include <stdlib.h>

/* A cell, in quotes where it needs them. Names hold no control characters: pd_convert_name(). */
static void put_cell(struct pd_text *out, const char *text, size_t length)
{
    bool quoted = memchr(text, ',', length) || memchr(text, '"', length);
    if (quoted)
        pd_text_char(out, '"');
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"')
            pd_text_char(out, '"');
        pd_text_char(out, text[i]);
    }
    if (quoted)
        pd_text_char(out, '"');
}

static void put_name(struct pd_convert *x, const char *name, size_t length)
{
    struct pd_text *scratch = x->state;
    scratch->length = 0;
    pd_convert_name(scratch, name, length);
    if (scratch->length)
        put_cell(&x->out, scratch->data, scratch->length);
    x->out.failed |= scratch->failed;
    pd_text_char(&x->out, ',');
}

static void put_text(struct pd_convert *x, const char *text)
{
    put_name(x, text ? text : "", text ? strlen(text) : 0);
}

static void put_number(struct pd_convert *x, uint64_t number)
{
    pd_text_u64(&x->out, number, 0, ' ');
    pd_text_char(&x->out, ',');
}

static void put_signed(struct pd_convert *x, int64_t number)
{
    pd_text_i64(&x->out, number, 0);
    pd_text_char(&x->out, ',');
}

static void put_hex(struct pd_convert *x, uint64_t number)
{
    pd_text_bytes(&x->out, "0x", 2);
    pd_text_hex(&x->out, number, 0, ' ');
    pd_text_char(&x->out, ',');
}

/* In place of the last comma. */
static perfdata_status end_row(struct pd_convert *x)
{
    if (x->out.length)
        x->out.length--;
    pd_text_bytes(&x->out, "\r\n", 2);
    return pd_convert_flush(x, false);
}

/* ---- samples ---- */

static perfdata_status begin(struct pd_convert *x)
{
    bool wanted;
    x->state = calloc(1, sizeof(struct pd_text));
    if (!x->state)
        return pd_convert_no_memory(x);
    perfdata_status status = pd_convert_table(x, "samples", &wanted);
    pd_text_string(&x->out, "time,cpu,pid,tid,comm,event,period,address,function,object,stack\r\n");
    return status;
}

static perfdata_status put_sample(struct pd_convert *x, const struct perfdata_samples *samples,
                                  size_t i)
{
    const perfdata_profile *profile = x->profile;
    const struct perfdata_profile_thread *thread = pd_profile_thread(profile, samples->thread[i]);
    const char *event = perfdata_profile_event(profile, samples->event[i])->name;
    const uint64_t *ip = samples->columns[PERFDATA_COLUMN_IP];
    uint32_t frame = pd_profile_stack(profile, samples->stack[i])->frame;
    const struct perfdata_profile_function *function = pd_profile_function(
        profile, pd_profile_frame(profile, frame)->function);
    const struct perfdata_profile_object *object = perfdata_profile_object(profile,
                                                                           function->object);
    bool known = !(function->flags & PERFDATA_FUNCTION_UNKNOWN);
    if (samples->time[i] != UINT64_MAX)
        put_number(x, samples->time[i]);
    else
        pd_text_char(&x->out, ',');
    if (samples->cpu[i] != UINT32_MAX)
        put_number(x, samples->cpu[i]);
    else
        pd_text_char(&x->out, ',');
    put_signed(x, (int32_t)thread->pid);
    put_signed(x, (int32_t)thread->tid);
    put_text(x, thread->comm);
    put_text(x, event);
    put_number(x, pd_convert_weight(x, 1, samples->weight[i]));
    if (ip)
        put_hex(x, ip[i]);
    else
        pd_text_char(&x->out, ',');
    put_name(x, known ? function->name : "", known ? function->name_length : 0);
    put_text(x, object ? object->path : NULL);
    put_number(x, samples->stack[i]);
    return end_row(x);
}

static perfdata_status take_samples(struct pd_convert *x, const struct perfdata_samples *samples)
{
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < samples->count && status >= 0; i++)
        if (x->events[samples->event[i]])
            status = put_sample(x, samples, i);
    return status;
}

/* ---- the others ---- */

static perfdata_status put_stacks(struct pd_convert *x)
{
    const perfdata_profile *profile = x->profile;
    pd_text_string(&x->out, "stack,parent,depth,function,file,line,address,stack_hash\r\n");
    perfdata_status status = PERFDATA_OK;
    for (uint32_t i = 0; i < perfdata_profile_stack_count(profile) && status >= 0; i++) {
        const struct perfdata_profile_stack *stack = pd_profile_stack(profile, i);
        const struct perfdata_profile_frame *frame = pd_profile_frame(profile, stack->frame);
        put_number(x, i);
        if (stack->parent != PERFDATA_NONE)
            put_number(x, stack->parent);
        else
            pd_text_char(&x->out, ',');
        put_number(x, stack->depth);
        put_number(x, frame->function);
        put_text(x, frame->file);
        if (frame->line)
            put_number(x, frame->line);
        else
            pd_text_char(&x->out, ',');
        if (frame->address)
            put_hex(x, frame->address);
        else
            pd_text_char(&x->out, ',');
        put_signed(x, (int64_t)stack->hash);
        status = end_row(x);
    }
    return status;
}

/* Each row begins with its number. */
static perfdata_status put_table(struct pd_convert *x, const struct pd_table *table,
                                 const char *number)
{
    char room[PD_TABLE_ROOM];
    pd_text_string(&x->out, number);
    for (size_t c = 0; c < table->column_count; c++) {
        pd_text_char(&x->out, ',');
        pd_text_string(&x->out, table->columns[c].name);
    }
    pd_text_bytes(&x->out, "\r\n", 2);
    perfdata_status status = PERFDATA_OK;
    for (uint32_t i = 0; i < table->rows(x->profile) && status >= 0; i++) {
        put_number(x, i);
        for (size_t c = 0; c < table->column_count; c++)
            if (table->columns[c].text)
                put_text(x, table->columns[c].text(x->profile, i, room));
            else
                put_signed(x, (int64_t)table->columns[c].number(x->profile, i));
        status = end_row(x);
    }
    return status;
}

static perfdata_status end(struct pd_convert *x)
{
    bool wanted;
    perfdata_status status = pd_convert_table(x, "stacks", &wanted);
    if (status < 0 || !wanted)
        return status;
    status = put_stacks(x);
    if (status >= 0)
        status = pd_convert_table(x, "functions", &wanted);
    return status < 0 ? status : put_table(x, &pd_table_functions, "function");
}

static void free_state(struct pd_convert *x)
{
    if (x->state)
        pd_text_free(x->state);
    free(x->state);
}

const struct pd_format pd_format_csv = {
    .flags = PERFDATA_FORMAT_SAMPLES | PERFDATA_FORMAT_TABLES,
    .profile_flags = PERFDATA_PROFILE_NO_SUMS,
    .detail = PERFDATA_FRAMES_BY_FUNCTION,
    .columns = 1u << PERFDATA_COLUMN_IP,
    .begin = begin,
    .samples = take_samples,
    .end = end,
    .free = free_state,
};
