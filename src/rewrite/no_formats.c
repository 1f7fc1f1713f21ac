/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "rewrite/rewrite.h"

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

/* Each once; *count of them when `out` is NULL. */
static uint32_t each_format(const struct pd_recording *recording, struct pd_text *out, bool swap)
{
    uint32_t count = 0;
    for (size_t i = 0; i < recording->event_count; i++) {
        const struct pd_attr *attr = &recording->events[i]->attr;
        bool first = attr->type == PD_TYPE_TRACEPOINT;
        for (size_t k = 0; k < i && first; k++)
            first = recording->events[k]->attr.type != PD_TYPE_TRACEPOINT ||
                    recording->events[k]->attr.config != attr->config;
        count += first;
        if (first && out)
            put_format(out, attr->config, swap);
    }
    return count;
}

perfdata_status pd_copy_no_formats(struct pd_copy *copy)
{
    static const char page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                               "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                               "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                               "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
    struct pd_recording *recording = copy->recording;
    uint32_t count = each_format(recording, NULL, false);
    if (!count || copy->has_feature[PD_FEATURE_TRACING_DATA])
        return PERFDATA_OK;
    bool big = copy->big_endian, swap = big != pd_is_big_endian(false);
    struct pd_text out = { 0 };
    pd_text_bytes(&out, "\x17\x08\x44tracing0.6", 14);
    pd_text_bytes(&out, big ? "\1\10" : "\0\10", 2);
    put_number(&out, 4096, 4, swap);
    pd_text_bytes(&out, "header_page", 12);
    put_sized(&out, page, sizeof page - 1, swap);
    pd_text_bytes(&out, "header_event", 13);
    put_sized(&out, "", 0, swap);
    put_number(&out, 0, 4, swap);
    put_number(&out, 1, 4, swap);
    pd_text_bytes(&out, "lost", 5);
    put_number(&out, count, 4, swap);
    each_format(recording, &out, swap);
    put_number(&out, 0, 4, swap);
    put_number(&out, 0, 4, swap);
    put_number(&out, 0, 8, swap);
    perfdata_status status = out.failed ? pd_fail(&recording->context, PERFDATA_ERROR_MEMORY, -1,
                                                  "out of memory")
                                        : pd_copy_set_feature(copy, PD_FEATURE_TRACING_DATA,
                                                              out.data, out.length);
    pd_text_free(&out);
    return status;
}
