/* SPDX-License-Identifier: MIT */
/* The payloads of tracepoints as sort keys: the whole text, or field by field. */
#include "render/report/plan.h"
#include <stdlib.h>

/* ---- formats ---- */

perfdata_status pd_report_trace_open(struct pd_recording *recording, struct pd_report_plan *plan)
{
    const struct pd_features *features = &recording->features;
    const struct pd_span *data = &features->tracing_data.data;
    if (plan->payloads.tracing || !features->tracing_data.present || !data->size)
        return 0;
    perfdata_status status = pd_tracing_open(&recording->context, data->data, data->size, NULL,
                                             &plan->payloads.tracing);
    if (status < 0)
        return status;
    plan->payloads.formats = pd_arena_zalloc(&plan->arena, (recording->event_count + 1) *
                                                               sizeof *plan->payloads.formats);
    if (!plan->payloads.formats)
        return PERFDATA_ERROR_MEMORY;
    for (size_t i = 0; i < recording->event_count; i++)
        if (recording->events[i]->attr.type == PD_TYPE_TRACEPOINT)
            plan->payloads.formats[i] = pd_tracing_format(plan->payloads.tracing,
                                                          recording->events[i]->attr.config);
    return 0;
}

/* ---- FIELD, EVENT.FIELD, EVENT.*, trace_fields ---- */

static bool is_text(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && !memcmp(text, word, length);
}

/* Finds an event by its whole name, by its number behind '%', or by a part of its name that no
 * other event has. */
static bool find_event(const struct pd_recording *recording, const char *name, size_t length,
                       uint32_t *out)
{
    char text[256];
    if (length >= sizeof text)
        return false;
    memcpy(text, name, length);
    text[length] = 0;
    if (*text == '%') {
        unsigned long number = strtoul(text + 1, NULL, 0);
        *out = (uint32_t)number - 1;
        return number && number <= recording->event_count;
    }
    bool found = false, whole = strchr(text, ':') != NULL;
    for (uint32_t i = 0; i < recording->event_count; i++) {
        const char *event = recording->events[i]->name;
        if (whole ? !strcmp(event, text) : strstr(event, text) != NULL) {
            if (found && !whole)
                return false;
            if (!found)
                *out = i;
            found = true;
        }
    }
    return found;
}

static bool add_field(struct pd_report_plan *plan, uint32_t event, const char *name, size_t length,
                      bool raw, uint8_t key, bool *found)
{
    const struct pd_trace_format *format = plan->payloads.formats[event];
    bool all = is_text(name, length, "*");
    for (size_t i = 0; format && i < pd_trace_field_count(format); i++) {
        const struct pd_trace_field *field = pd_trace_field_at(format, i);
        if (all ? field->common : !is_text(name, length, field->name))
            continue;
        *found = true;
        struct pd_report_field made = { .key = key, .raw = raw, .event = event, .field = field };
        if (!pd_vec_push(&plan->payloads.fields, made))
            return false;
    }
    return true;
}

perfdata_status pd_report_fields_add(struct pd_recording *recording, struct pd_report_plan *plan,
                                     const char *name, size_t length, uint8_t key, bool *found)
{
    bool raw = plan->options->flags & PERFDATA_REPORT_RAW_TRACE, ok = true, all = false;
    *found = false;
    /* perf meets a pipe's events only after it has chosen. */
    bool is_pipe = recording->kind == PD_CONTAINER_PIPE;
    if (is_text(name, length, "trace_fields")) {
        name = "*", length = 1;
        all = true;
    } else if (length > 4 && !memcmp(name + length - 4, "/raw", 4)) {
        length -= 4;
        raw = true;
    }
    perfdata_status status = is_pipe ? 0 : pd_report_trace_open(recording, plan);
    if (status < 0)
        return status;
    const char *dot = memchr(name, '.', length);
    uint32_t event = 0;
    if (is_pipe || !plan->payloads.formats) {
        /* nothing is found */
    } else if (dot) {
        size_t head = (size_t)(dot - name);
        if (find_event(recording, name, head, &event))
            ok = add_field(plan, event, dot + 1, length - head - 1, raw, key, found);
    } else {
        for (; event < recording->event_count && ok; event++)
            ok = add_field(plan, event, name, length, raw, key, found);
    }
    *found |= all;
    return ok ? 0 : PERFDATA_ERROR_MEMORY;
}

/* ---- samples ---- */

void pd_report_scratch_free(struct pd_report_scratch *scratch)
{
    pd_text_free(&scratch->text);
    pd_text_free(&scratch->key);
}

/* The name that is shown for a payload's pointer into the kernel. */
static const char *name_kernel(void *data, uint64_t address, uint64_t *start)
{
    const struct pd_report_payload *payload = data;
    const struct pd_location *location = pd_resolve(payload->resolver, payload->thread,
                                                    payload->number, PD_CPUMODE_KERNEL, address);
    if (!location || !location->sym)
        return NULL;
    *start = address - (location->addr - location->sym->start);
    return location->sym->name;
}

/* The value of a field in the event's text: what follows its name and one character, up to a blank.
 * perf takes the first word that begins with the name; if the word is just the name, all the rest
 * is the value. */
static bool value_in_text(const struct pd_text *text, const char *name, const char **value,
                          size_t *length, bool *is_word)
{
    size_t name_length = strlen(name), at = 0;
    while (at < text->length) {
        const char *word = text->data + at, *blank = memchr(word, ' ', text->length - at);
        size_t word_length = blank ? (size_t)(blank - word) : text->length - at;
        if (word_length >= name_length && !memcmp(word, name, name_length)) {
            size_t skip = PD_MIN(name_length + 1, text->length - at);
            *is_word = word_length > name_length;
            *value = word + skip;
            *length = (*is_word ? word_length : text->length - at) - skip;
            return true;
        }
        at += word_length + 1;
    }
    return false;
}

static void put_field(const struct pd_trace_format *format, const struct pd_report_field *field,
                      const struct pd_sample *sample, const struct pd_text *text,
                      struct pd_text *out)
{
    size_t raw_length = 0, at = out->length;
    const uint8_t *raw = pd_trace_bytes(format, field->field, sample->raw, sample->raw_size,
                                        &raw_length);
    struct pd_hist_field head = { .raw_length = (uint32_t)(raw ? raw_length : 0) };
    pd_text_bytes(out, (const char *)&head, sizeof head);
    if (raw)
        pd_text_bytes(out, (const char *)raw, raw_length);
    size_t before = out->length, length;
    const char *value;
    bool is_word = false;
    if (!field->raw && value_in_text(text, field->field->name, &value, &length, &is_word))
        pd_text_bytes(out, value, length);
    else
        pd_trace_print_field(format, field->field, sample->raw, sample->raw_size, out);
    head.from_text = is_word;
    head.text_length = (uint32_t)(out->length - before);
    pd_text_char(out, 0);
    if (!out->failed)
        memcpy(out->data + at, &head, sizeof head);
}

static uint64_t id_of(struct pd_hist *hist, const struct pd_text *text)
{
    if (!text->failed)
        return pd_hist_bytes_id(hist, text->length ? text->data : "", text->length);
    hist->failed = true;
    return PD_HIST_NONE;
}

static uint64_t fields_word(const struct pd_report_plan *plan,
                            const struct pd_report_payload *payload, uint8_t key,
                            struct pd_hist *hist, struct pd_report_scratch *scratch)
{
    bool any = false;
    scratch->key.length = 0;
    for (size_t i = 0; i < plan->payloads.fields.count; i++) {
        const struct pd_report_field *field = &plan->payloads.fields.data[i];
        if (field->key != key || field->event != payload->event->index)
            continue;
        any = true;
        put_field(plan->payloads.formats[field->event], field, payload->sample, &scratch->text,
                  &scratch->key);
    }
    return any ? id_of(hist, &scratch->key) : PD_HIST_NONE;
}

void pd_report_trace_words(const struct pd_report_plan *plan,
                           const struct pd_report_payload *payload, struct pd_hist *hist,
                           struct pd_report_scratch *scratch, uint64_t *words)
{
    const struct pd_sample *sample = payload->sample;
    const struct pd_trace_format *format = plan->payloads.formats[payload->event->index];
    bool is_trace = payload->event->attr.type == PD_TYPE_TRACEPOINT, raw = sample->raw && format;
    struct pd_report_payload copy = *payload;
    struct pd_trace_resolver resolver = { name_kernel, &copy };
    scratch->text.length = 0;
    if (raw && plan->options->flags & PERFDATA_REPORT_RAW_TRACE)
        pd_trace_print_fields(format, sample->raw, sample->raw_size, &scratch->text);
    else if (raw)
        pd_trace_print(format, &resolver, sample->raw, sample->raw_size, &scratch->text);
    for (unsigned k = 0; k < plan->hist.key_count; k++) {
        uint8_t key = plan->hist.keys[k];
        if (key == PD_KEY_TRACE && is_trace)
            words[k] = id_of(hist, &scratch->text);
        else if (pd_hist_is_fields(key))
            words[k] = raw ? fields_word(plan, payload, key, hist, scratch) : PD_HIST_NONE;
    }
}

/* ---- columns ---- */

/* The index-th field of what the row has for `key`; NULL when it has none. */
static const char *field_at(const struct pd_report_table *table, const struct pd_hist_row *row,
                            uint8_t key, size_t index, struct pd_hist_field *head)
{
    uint64_t word = pd_hist_row_word(table->result, row, key);
    if (word == PD_HIST_NONE)
        return NULL;
    const struct pd_string *text = &table->hist->names.strings.data[word];
    for (size_t at = 0; at < text->length; index--) {
        memcpy(head, text->text + at, sizeof *head);
        if (!index)
            return text->text + at + sizeof *head;
        at += sizeof *head + head->raw_length + head->text_length + 1;
    }
    return NULL;
}

perfdata_status pd_report_fields_measure(struct pd_report_table *table)
{
    const struct pd_report_plan *plan = table->plan;
    size_t index[PD_KEY_COUNT] = { 0 };
    if (!plan->payloads.fields.count)
        return 0;
    table->field_widths = calloc(plan->payloads.fields.count, sizeof *table->field_widths);
    if (!table->field_widths)
        return PERFDATA_ERROR_MEMORY;
    for (size_t f = 0; f < plan->payloads.fields.count; f++) {
        const struct pd_report_field *field = &plan->payloads.fields.data[f];
        if (field->event != table->events[0])
            continue;
        /* Texts are as wide as their longest value can be, other values as their hexadecimal
         * digits. */
        bool text = field->field->kind == PD_TRACE_STRING;
        size_t width = text ? field->field->size : (size_t)field->field->size * 2 + 2;
        width = PD_MAX(width, strlen(field->field->name));
        size_t at = index[field->key]++;
        for (size_t i = 0; i < table->event->rows.count; i++) {
            struct pd_hist_field head;
            if (!field_at(table, table->event->rows.data[i], field->key, at, &head))
                continue;
            /* perf learns the length of a dynamic field only when it compares rows by it. */
            if (field->field->dynamic &&
                table->event->rows.data[i]->fields_met > PD_HIST_FIELD_AT(field->key, at))
                width = PD_MAX(width, (size_t)head.raw_length);
            if (head.from_text)
                width = PD_MAX(width, (size_t)head.text_length);
        }
        table->field_widths[f] = field->user_width ? field->user_width
                                                   : (uint32_t)PD_MIN(width, (size_t)UINT16_MAX);
    }
    return 0;
}

void pd_report_field_cell(const struct pd_report_table *table, const struct pd_hist_row *row,
                          uint8_t key, size_t index, uint32_t width, struct pd_text *out)
{
    struct pd_hist_field head = { 0 };
    const char *at = field_at(table, row, key, index, &head);
    pd_text_right(out, at ? at + head.raw_length : "", at ? PD_MIN(head.text_length, width) : 0,
                  width);
}
