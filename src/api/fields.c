/* SPDX-License-Identifier: MIT */
/* <perfdata/records.h>: the name of a field -> its value and its text, for every record by the
 * tables. */
#include "api/cursor.h"
#include "render/dump/dump.h"

/* A walk that looks for the field of a path. Parts of the path are matched level by level; what a
 * level does not match is passed over with all that lies in it. */
struct finder {
    struct pd_sink sink;
    const char *path; /* what is left to match on the level that matched last */
    unsigned depth, matched;
    uint64_t item; /* the next item of the list that matched */
    bool in_list;  /* that level is a list: its items are looked for by number */
    bool found, is_group;
    uint64_t index; /* of an element; UINT64_MAX: the field itself */
    struct pd_field field;
    struct pd_dump *dump; /* prints what is below the group that was found; NULL: nothing does */
    unsigned group_depth;
};

/* The part of a path up to a dot or a bracket. */
static size_t part_length(const char *path)
{
    return strcspn(path, ".[");
}

/* "[12]" -> 12 and what is behind it; NULL: it is none. */
static const char *take_index(const char *path, uint64_t *index)
{
    const char *at = path + 1;
    if (*path != '[' || *at < '0' || *at > '9')
        return NULL;
    for (*index = 0; *at >= '0' && *at <= '9'; at++)
        if (*index > UINT32_MAX)
            return NULL;
        else
            *index = 10 * *index + (uint64_t)(*at - '0');
    return *at == ']' ? at + 1 : NULL;
}

/* What is left of the path behind this name; NULL: another one. */
static const char *behind(const struct finder *finder, const char *name)
{
    size_t length = part_length(finder->path);
    return finder->found || finder->matched != finder->depth || finder->in_list || !name ||
                   strncmp(name, finder->path, length) || name[length]
               ? NULL
               : finder->path + length;
}

static void find_field(struct pd_sink *sink, const struct pd_field *field)
{
    struct finder *finder = (struct finder *)sink;
    const char *rest = behind(finder, field->name);
    if (finder->dump && finder->is_group && finder->depth > finder->group_depth)
        finder->dump->sink.field(&finder->dump->sink, field);
    if (!rest)
        return;
    finder->index = UINT64_MAX;
    if (*rest && (pd_kinds[field->kind].shape != PD_SHAPE_ARRAY ||
                  !(rest = take_index(rest, &finder->index)) || *rest))
        return;
    finder->found = finder->index == UINT64_MAX || finder->index < field->length;
    finder->field = *field;
}

static void find_open(struct pd_sink *sink, const struct pd_field *field)
{
    struct finder *finder = (struct finder *)sink;
    const char *rest = behind(finder, field->name);
    uint64_t index;
    if (finder->dump && finder->is_group && finder->depth > finder->group_depth)
        finder->dump->sink.open(&finder->dump->sink, field);
    if (!rest && !field->name && finder->in_list && !finder->found &&
        finder->matched == finder->depth && (rest = take_index(finder->path, &index)) &&
        finder->item++ != index)
        rest = NULL;
    finder->depth++;
    if (!rest)
        return;
    finder->matched = finder->depth;
    finder->in_list = *rest == '[';
    finder->item = 0;
    finder->path = *rest == '.' ? rest + 1 : rest;
    if (*rest)
        return;
    finder->found = finder->is_group = true;
    finder->index = UINT64_MAX;
    finder->field = *field;
    finder->group_depth = finder->depth - 1;
    if (finder->dump) {
        finder->dump->first[0] = true;
        finder->dump->list[0] = field->kind == PD_KIND_list;
    }
}

static void find_close(struct pd_sink *sink)
{
    struct finder *finder = (struct finder *)sink;
    finder->depth--;
    if (finder->dump && finder->is_group) {
        if (finder->depth > finder->group_depth)
            finder->dump->sink.close(&finder->dump->sink);
        else if (finder->depth == finder->group_depth)
            finder->dump = NULL; /* behind the group */
    }
    /* a part matched but does not hold the rest of the path: the rest is nowhere */
    if (!finder->found && finder->matched > finder->depth)
        finder->matched = UINT32_MAX;
}

static struct pd_fields_input input_of(const perfdata_record *record)
{
    const struct pd_delivered *delivered = record->delivered;
    const struct pd_recording *recording = record->cursor->recording;
    return (struct pd_fields_input){ delivered->event, delivered->data, delivered->size,
                                     recording->swap && !pd_api_is_made(delivered),
                                     recording->features.nrcpus.available };
}

static perfdata_status find(const perfdata_record *record, const char *name, struct pd_dump *dump,
                            struct finder *finder)
{
    struct pd_fields_input input = input_of(record);
    *finder = (struct finder){ .sink = { find_field, find_open, find_close, false, false },
                               .path = name,
                               .dump = dump };
    perfdata_status status = pd_fields_walk(&input, &finder->sink);
    return finder->found ? PERFDATA_OK : status < 0 ? status : PERFDATA_ERROR_NOT_FOUND;
}

static uint64_t element(const struct pd_field *field, uint64_t index)
{
    struct pd_array array = { field->data, field->length,
                              (uint8_t)(field->length ? field->size / field->length : 8),
                              field->swap };
    return pd_array_at(&array, (uint32_t)index);
}

static struct perfdata_value value_of(const struct finder *finder)
{
    const struct pd_field *field = &finder->field;
    struct perfdata_value value = { .number = field->value };
    if (finder->is_group) {
        value.kind = PERFDATA_VALUE_GROUP;
        value.count = field->kind == PD_KIND_list ? (uint32_t)field->value : 0;
        value.number = 0;
        return value;
    }
    switch (pd_kinds[field->kind].shape) {
    case PD_SHAPE_NUMBER:
        if (field->kind == PD_KIND_f64) {
            value.kind = PERFDATA_VALUE_REAL;
            memcpy(&value.real, &field->value, sizeof value.real);
        } else if (field->kind == PD_KIND_pid || field->kind == PD_KIND_s32 ||
                   field->kind == PD_KIND_s64) {
            value.kind = PERFDATA_VALUE_SIGNED;
            if (field->kind == PD_KIND_pid)
                value.number = (uint64_t)(int64_t)(int32_t)field->value;
        }
        return value;
    case PD_SHAPE_ARRAY:
        if (finder->index != UINT64_MAX) {
            value.number = element(field, finder->index);
            return value;
        }
        value.kind = PERFDATA_VALUE_ARRAY;
        value.count = field->length;
        value.size = field->size;
        break;
    case PD_SHAPE_TEXT:
        value.kind = PERFDATA_VALUE_TEXT;
        value.size = field->length;
        break;
    default:
        value.kind = PERFDATA_VALUE_BYTES;
        value.size = field->size;
        break;
    }
    value.data = field->data;
    return value;
}

perfdata_status perfdata_record_field(const perfdata_record *record, const char *name,
                                      struct perfdata_value *out)
{
    struct finder finder;
    perfdata_status status = find(record, name, NULL, &finder);
    if (status < 0)
        return status;
    struct perfdata_value value = value_of(&finder);
    pd_give_result(out, &value, sizeof value);
    return PERFDATA_OK;
}

perfdata_status pd_api_give_text(struct perfdata_cursor *cursor, const char **text)
{
    *text = NULL;
    pd_text_char(&cursor->text, '\0');
    if (cursor->text.failed)
        return pd_no_memory(&cursor->recording->context, NULL);
    *text = cursor->text.data;
    return PERFDATA_OK;
}

static struct pd_raw raw_of(const struct pd_delivered *delivered)
{
    return (struct pd_raw){ .data = delivered->data,
                            .size = delivered->size,
                            .type = delivered->type,
                            .misc = delivered->misc,
                            .offset = delivered->offset,
                            .event = delivered->event };
}

perfdata_status perfdata_record_field_text(const perfdata_record *record, const char *name,
                                           const char **text)
{
    struct perfdata_cursor *cursor = record->cursor;
    struct pd_dump dump = { .text = &cursor->text,
                            .arch = cursor->recording->features.arch.text.text };
    struct finder finder;
    *text = NULL;
    cursor->text.length = 0;
    cursor->text.failed = false;
    pd_dump_lines(&dump);
    perfdata_status status = find(record, name, &dump, &finder);
    if (status < 0)
        return status;
    if (!finder.is_group && finder.index != UINT64_MAX)
        pd_dump_element(&dump, &finder.field, (uint32_t)finder.index);
    else if (!finder.is_group)
        pd_dump_value(&dump, &finder.field);
    status = pd_api_give_text(cursor, text);
    if (*text && **text == ' ' && !finder.is_group)
        ++*text;
    return status;
}

perfdata_status perfdata_record_print(const perfdata_record *record, uint32_t flags,
                                      perfdata_write_fn write, void *data)
{
    const struct pd_recording *recording = record->cursor->recording;
    struct pd_text text = { 0 };
    struct pd_dump dump = { .text = &text, .arch = recording->features.arch.text.text };
    struct pd_raw raw = raw_of(record->delivered);
    struct pd_fields_input input = input_of(record);
    perfdata_status status = flags & PERFDATA_DUMP_JSON ? pd_dump_json(&dump, &raw, &input)
                                                        : pd_dump_text(&dump, &raw, &input);
    perfdata_status written = pd_api_emit(&record->cursor->recording->context, &text, write, data);
    return written < 0 ? written : status;
}
