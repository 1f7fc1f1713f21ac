/* SPDX-License-Identifier: MIT */
/* Columns -> schemas and arrays, each with its own release(). */
#include "convert/arrow/arrow.h"
#include <errno.h>
#include <stdlib.h>

/* ---- schemas: every part is one allocation, its children others ---- */

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i] && schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    if (schema->dictionary && schema->dictionary->release)
        schema->dictionary->release(schema->dictionary);
    free(schema->dictionary);
    free(schema->children);
    schema->release = NULL;
}

/* A schema whose children are allocated, but empty. */
static int make_schema(struct ArrowSchema *schema, const char *format, const char *name,
                       bool nullable, size_t children)
{
    *schema = (struct ArrowSchema){
        .format = format, /* these texts are static */
        .name = name,
        .flags = nullable ? ARROW_FLAG_NULLABLE : 0,
        .release = release_schema,
    };
    if (children && !(schema->children = calloc(children, sizeof *schema->children)))
        return ENOMEM;
    for (; schema->n_children < (int64_t)children; schema->n_children++)
        if (!(schema->children[schema->n_children] = calloc(1, sizeof **schema->children)))
            return ENOMEM;
    return 0;
}

static int column_schema(const struct pd_arrow_column *column, struct ArrowSchema *schema)
{
    bool list = column->kind == PD_ARROW_LISTS;
    int code = make_schema(schema, list ? "+L" : column->format, column->name, column->nullable,
                           list);
    if (!code && list && schema->children)
        code = make_schema(schema->children[0], column->format, "item", false, 0);
    if (code || column->kind != PD_ARROW_WORDS)
        return code;
    schema->dictionary = calloc(1, sizeof *schema->dictionary);
    return schema->dictionary ? make_schema(schema->dictionary, "U", "", false, 0) : ENOMEM;
}

int pd_arrow_schema(const struct pd_arrow_stream *stream, struct ArrowSchema *out)
{
    int code = make_schema(out, "+s", "", false, stream->column_count);
    for (size_t i = 0; i < stream->column_count && !code && out->children; i++) {
        struct ArrowSchema *child = out->children[i];
        code = child ? column_schema(&stream->columns[i], child) : ENOMEM;
    }
    if (code)
        release_schema(out);
    return code;
}

/* ---- arrays ---- */

enum { BUFFERS = 3 };

struct part {
    struct pd_arrow_stream *held; /* NULL: points into nothing but its own */
    const void *buffers[BUFFERS];
    void *own[BUFFERS];
};

static void release_array(struct ArrowArray *array)
{
    struct part *part = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i] && array->children[i]->release)
            array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    if (array->dictionary && array->dictionary->release)
        array->dictionary->release(array->dictionary);
    free(array->dictionary);
    free(array->children);
    for (size_t i = 0; i < BUFFERS; i++)
        free(part->own[i]);
    if (part->held)
        pd_arrow_drop(part->held);
    free(part);
    array->release = NULL;
}

/* An array without buffers; its children are allocated, but empty. */
static struct part *make_array(struct ArrowArray *array, size_t length, size_t buffers,
                               size_t children, struct pd_arrow_stream *held)
{
    struct part *part = calloc(1, sizeof *part);
    memset(array, 0, sizeof *array);
    if (!part)
        return NULL;
    *array = (struct ArrowArray){
        .length = (int64_t)length,
        .n_buffers = (int64_t)buffers,
        .buffers = part->buffers,
        .release = release_array,
        .private_data = part,
    };
    if ((part->held = held))
        pd_arrow_hold(held);
    if (children && !(array->children = calloc(children, sizeof *array->children)))
        return NULL;
    for (; array->n_children < (int64_t)children; array->n_children++)
        if (!(array->children[array->n_children] = calloc(1, sizeof **array->children)))
            return NULL;
    return part;
}

static void *own_buffer(struct part *part, size_t index, size_t size)
{
    part->own[index] = malloc(size ? size : 1);
    part->buffers[index] = part->own[index];
    return part->own[index];
}

/* Row `row` is none: a bitmap of those that are, made at the first one. */
static bool set_null(struct ArrowArray *array, size_t row)
{
    struct part *part = array->private_data;
    if (!part->own[0]) {
        size_t size = (size_t)array->length / 8 + 1;
        if (!(part->own[0] = calloc(size, 1)))
            return false;
        memset(part->own[0], 0xff, size);
        part->buffers[0] = part->own[0];
    }
    ((uint8_t *)part->own[0])[row / 8] &= (uint8_t) ~(1u << row % 8);
    array->null_count++;
    return true;
}

static int fill_numbers(struct pd_arrow_stream *stream, const struct pd_arrow_column *column,
                        uint64_t from, size_t count, struct ArrowArray *array)
{
    bool narrow = *column->format == 'i';
    struct part *part = make_array(array, count, 2, 0, NULL);
    void *to = part ? own_buffer(part, 1, count * (narrow ? 4 : 8)) : NULL;
    if (!to)
        return ENOMEM;
    for (size_t i = 0; i < count; i++) {
        uint64_t row = from + i;
        uint64_t value = column->kind == PD_ARROW_ROW ? row
                         : column->shared             ? column->shared->number(stream->profile, row)
                                                      : column->number(stream, row);
        if (narrow)
            ((uint32_t *)to)[i] = (uint32_t)value;
        else
            ((uint64_t *)to)[i] = value;
        if (column->nullable && value == column->null && !set_null(array, i))
            return ENOMEM;
    }
    return 0;
}

static int fill_texts(struct pd_arrow_stream *stream, const struct pd_arrow_column *column,
                      uint64_t from, size_t count, struct ArrowArray *array)
{
    struct pd_text out = { 0 };
    struct part *part = make_array(array, count, 3, 0, NULL);
    int64_t *ends = part ? own_buffer(part, 1, (count + 1) * sizeof *ends) : NULL;
    if (!ends)
        return ENOMEM;
    bool ok = true;
    ends[0] = 0;
    for (size_t i = 0; i < count && ok; i++) {
        char room[PD_TABLE_ROOM];
        const char *text = column->shared ? column->shared->text(stream->profile, from + i, room)
                                          : column->text(stream, from + i, room);
        if (text)
            pd_convert_name(&out, text, strlen(text));
        else if (column->nullable)
            ok = set_null(array, i);
        ends[i + 1] = (int64_t)out.length;
    }
    ok = ok && !out.failed && own_buffer(part, 2, out.length);
    if (ok && out.length)
        memcpy(part->own[2], out.data, out.length);
    pd_text_free(&out);
    return ok ? 0 : ENOMEM;
}

static int fill_words(struct pd_arrow_stream *stream, const struct pd_arrow_column *column,
                      uint64_t from, size_t count, struct ArrowArray *array)
{
    const struct pd_arrow_words *words = column->words;
    struct part *part = make_array(array, count, 2, 0, NULL);
    uint32_t *to = part ? own_buffer(part, 1, count * sizeof *to) : NULL;
    if (!to || !(array->dictionary = calloc(1, sizeof *array->dictionary)))
        return ENOMEM;
    for (size_t i = 0; i < count; i++)
        to[i] = words->of[column->by[from + i]];
    part = make_array(array->dictionary, (size_t)words->count, 3, 0, stream);
    if (!part)
        return ENOMEM;
    part->buffers[1] = words->ends;
    part->buffers[2] = words->bytes;
    return 0;
}

/* Functions of stacks, root first: their numbers, or their hashes where the item is wide. */
static int fill_lists(struct pd_arrow_stream *stream, const struct pd_arrow_column *column,
                      uint64_t from, size_t count, struct ArrowArray *array)
{
    const perfdata_profile *profile = stream->profile;
    bool narrow = *column->format == 'i';
    struct part *part = make_array(array, count, 2, 1, NULL);
    int64_t *ends = part ? own_buffer(part, 1, (count + 1) * sizeof *ends) : NULL;
    if (!ends)
        return ENOMEM;
    ends[0] = 0;
    for (size_t i = 0; i < count; i++)
        ends[i + 1] = ends[i] + pd_profile_stack(profile, (uint32_t)(from + i))->depth;
    size_t total = (size_t)ends[count];
    part = make_array(array->children[0], total, 2, 0, NULL);
    void *to = part ? own_buffer(part, 1, total * (narrow ? 4 : 8)) : NULL;
    if (!to)
        return ENOMEM;
    for (size_t i = 0; i < count; i++) {
        size_t at = (size_t)ends[i + 1];
        for (uint32_t stack = (uint32_t)(from + i); stack != PERFDATA_NONE;
             stack = pd_profile_stack(profile, stack)->parent) {
            uint32_t function =
                pd_profile_frame(profile, pd_profile_stack(profile, stack)->frame)->function;
            at--;
            if (narrow)
                ((uint32_t *)to)[at] = function;
            else
                ((uint64_t *)to)[at] = pd_profile_function(profile, function)->hash;
        }
    }
    return 0;
}

static int fill_slice(struct pd_arrow_stream *stream, const struct pd_arrow_column *column,
                      uint64_t from, size_t count, struct ArrowArray *array)
{
    struct part *part = make_array(array, count, 2, 0, stream);
    if (!part)
        return ENOMEM;
    part->buffers[1] = (const uint8_t *)column->slice + from * (*column->format == 'i' ? 4 : 8);
    return 0;
}

int pd_arrow_batch(struct pd_arrow_stream *stream, uint64_t from, size_t count,
                   struct ArrowArray *out)
{
    static int (*const fill[])(struct pd_arrow_stream *, const struct pd_arrow_column *, uint64_t,
                               size_t, struct ArrowArray *) = {
        [PD_ARROW_SLICE] = fill_slice,     [PD_ARROW_ROW] = fill_numbers,
        [PD_ARROW_NUMBERS] = fill_numbers, [PD_ARROW_TEXTS] = fill_texts,
        [PD_ARROW_WORDS] = fill_words,     [PD_ARROW_LISTS] = fill_lists,
    };
    int code = make_array(out, count, 1, stream->column_count, NULL) ? 0 : ENOMEM;
    for (size_t i = 0; i < stream->column_count && !code; i++)
        code = fill[stream->columns[i].kind](stream, &stream->columns[i], from, count,
                                             out->children[i]);
    if (code && out->release)
        release_array(out);
    return code;
}
