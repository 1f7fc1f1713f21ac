/* SPDX-License-Identifier: MIT */
/* Formats of tracepoints that perf can read. */
#include "base/hash.h"
#include "base/text.h"
#include "rewrite/rewrite.h"
#include "tracepoint/tracepoint.h"
#include <stdlib.h>

static void put_number(struct pd_text *out, uint64_t value, size_t size, bool swap)
{
    uint8_t bytes[8];
    if (size == 4)
        pd_store32(bytes, (uint32_t)value, swap);
    else
        pd_store64(bytes, value, swap);
    pd_text_bytes(out, bytes, size);
}

static void put_sized(struct pd_text *out, const char *text, size_t length, bool swap)
{
    put_number(out, length, 8, swap);
    pd_text_bytes(out, text, length);
}

static void put_format(struct pd_text *out, uint64_t id, bool swap)
{
    struct pd_text text = { 0 };
    pd_text_format(&text,
                   "name: id_%llu\nID: %llu\nformat:\n"
                   "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                   "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
                   "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
                   "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n",
                   (unsigned long long)id, (unsigned long long)id);
    put_sized(out, text.data, text.length, swap);
    out->failed |= text.failed;
    pd_text_free(&text);
}

/* The number of a format, from its own line; all ones: it has none. */
static uint64_t id_of(const struct pd_trace_text *text)
{
    static const char line[] = "\nID:";
    const char *at = memmem(text->text, text->size, line, sizeof line - 1);
    char number[24];
    size_t left = at ? (size_t)(text->text + text->size - at) - (sizeof line - 1) : 0;
    if (!left)
        return UINT64_MAX;
    left = PD_MIN(left, sizeof number - 1);
    memcpy(number, at + sizeof line - 1, left);
    number[left] = '\0';
    return strtoull(number, NULL, 10);
}

struct formats {
    const struct pd_recording *recording;
    struct pd_tracing *tracing; /* NULL: nothing of it can be read */
    const struct pd_trace_text *texts;
    size_t count;
    bool no_memory;
};

/* Formats of tracepoints that have none, each once; how many they are. */
static uint32_t put_lacking(struct formats *formats, struct pd_text *out, bool swap)
{
    const struct pd_recording *recording = formats->recording;
    struct pd_map64 known = { 0 };
    uint32_t count = 0;
    for (size_t i = 0; i < formats->count && !formats->no_memory; i++)
        formats->no_memory = !pd_map64_set(&known, id_of(&formats->texts[i]), 0);
    for (size_t i = 0; i < recording->event_count && !formats->no_memory; i++) {
        const struct pd_attr *attr = &recording->events[i]->attr;
        if (attr->type != PD_TYPE_TRACEPOINT || pd_map64_get(&known, attr->config) != PD_MAP64_NONE)
            continue;
        formats->no_memory = !pd_map64_set(&known, attr->config, 0);
        count++;
        if (out)
            put_format(out, attr->config, swap);
    }
    pd_map64_free(&known);
    return count;
}

/* Writes each format as a system of one format; those of ftrace itself, which old recorders have,
 * are among them. */
static void put_systems(struct formats *formats, struct pd_text *out, bool swap)
{
    uint32_t lacking = put_lacking(formats, NULL, swap);
    put_number(out, 0, 4, swap); /* none of ftrace by itself */
    put_number(out, formats->count + (lacking != 0), 4, swap);
    for (size_t i = 0; i < formats->count; i++) {
        const struct pd_trace_text *text = &formats->texts[i];
        pd_text_bytes(out, text->system, strlen(text->system) + 1);
        put_number(out, 1, 4, swap);
        put_sized(out, text->text, text->size, swap);
    }
    if (!lacking)
        return;
    pd_text_bytes(out, "lost", 5);
    put_number(out, lacking, 4, swap);
    put_lacking(formats, out, swap);
}

static void put_tracing(struct formats *formats, struct pd_text *out, bool big)
{
    static const char page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                               "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                               "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                               "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
    bool swap = big != pd_is_big_endian(false);
    unsigned long_size = formats->tracing ? pd_tracing_long_size(formats->tracing) : 8;
    pd_text_bytes(out, "\x17\x08\x44tracing0.6", 14);
    pd_text_char(out, (char)big);
    pd_text_char(out, (char)long_size);
    put_number(out, 4096, 4, swap);
    pd_text_bytes(out, "header_page", 12);
    put_sized(out, page, sizeof page - 1, swap);
    pd_text_bytes(out, "header_event", 13);
    put_sized(out, "", 0, swap);
    put_systems(formats, out, swap);
    put_number(out, 0, 4, swap);
    put_number(out, 0, 4, swap);
    put_number(out, 0, 8, swap);
}

/* Reads what there is; whoever reads the fields tells, or has told, what is wrong with it. */
static perfdata_status read_formats(struct pd_copy *copy, struct formats *formats)
{
    const struct pd_feature_bytes *bytes =
        &copy->recording->feature_table.bytes[PD_FEATURE_TRACING_DATA];
    struct pd_context quiet;
    if (!bytes->size)
        return PERFDATA_OK;
    pd_context_init(&quiet);
    perfdata_status status = pd_tracing_open(&quiet, bytes->data, bytes->size, NULL,
                                             &formats->tracing);
    if (status == PERFDATA_OK)
        formats->texts = pd_tracing_texts(formats->tracing, &formats->count);
    pd_context_fini(&quiet);
    return status == PERFDATA_ERROR_MEMORY
               ? pd_fail(&copy->recording->context, status, -1, "no memory for tracepoint formats")
               : PERFDATA_OK;
}

perfdata_status pd_copy_mend_formats(struct pd_copy *copy)
{
    struct pd_recording *recording = copy->recording;
    struct formats formats = { .recording = recording };
    bool traces = false;
    for (size_t i = 0; i < recording->event_count; i++)
        traces |= recording->events[i]->attr.type == PD_TYPE_TRACEPOINT;
    if (!traces && !recording->feature_table.bytes[PD_FEATURE_TRACING_DATA].size)
        return PERFDATA_OK;
    perfdata_status status = read_formats(copy, &formats);
    if (status < 0)
        return status;
    uint32_t lacking = put_lacking(&formats, NULL, false);
    if (formats.no_memory) {
        status = pd_no_memory(&recording->context, NULL);
    } else if (!formats.tracing || !pd_tracing_is_whole(formats.tracing) || lacking) {
        struct pd_text out = { 0 };
        bool big = formats.tracing ? pd_tracing_big_endian(formats.tracing) : copy->big_endian;
        put_tracing(&formats, &out, big);
        out.failed |= formats.no_memory;
        status = pd_copy_give_feature(copy, PD_FEATURE_TRACING_DATA, &out);
    }
    pd_tracing_free(formats.tracing);
    return status;
}
