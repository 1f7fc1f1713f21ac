/* SPDX-License-Identifier: MIT */
/* <perfdata/writer.h>: write/ with an output of its own. */
#include "container/handle.h"
#include "rewrite/rewrite.h"
#include <perfdata/writer.h>
#include <stdlib.h>

enum { STRING_UNIT = 64, STRING_MAX = 1 << 20 };

struct perfdata_writer {
    struct pd_context context;
    struct pd_output output;
    struct pd_writer *writer; /* of the file, or of a directory's `data` */
    struct pd_writer *into;   /* where the next record goes */
    struct pd_parts parts;
    bool begun, finished;
};

perfdata_status perfdata_writer_open(const struct perfdata_output *output, perfdata_writer **out)
{
    perfdata_writer *writer = *out = calloc(1, sizeof *writer);
    if (!writer)
        return PERFDATA_ERROR_MEMORY;
    pd_context_init(&writer->context);
    writer->output.fd = writer->output.folder = writer->parts.folder = -1;
    if (!output)
        return pd_fail(&writer->context, PERFDATA_ERROR_ARGUMENT, -1, "no output");
    perfdata_status status = pd_output_open(&writer->context, output, &writer->output);
    if (status < 0)
        return status;
    uint32_t order = writer->output.options.byte_order;
    if (order != PERFDATA_BYTE_ORDER_RECORDED && order != PERFDATA_BYTE_ORDER_NATIVE)
        return pd_fail(&writer->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "records come in this machine's byte order");
    struct pd_writer_options options = { .kind = writer->output.kind,
                                         .level = writer->output.options.compression };
    writer->parts.folder = writer->output.folder;
    writer->parts.options = options;
    status = pd_writer_open_fd(&writer->context, writer->output.fd, &options, &writer->writer);
    writer->into = writer->writer;
    if (status < 0 || writer->parts.folder < 0)
        return status;
    const uint64_t version = 1;
    return pd_writer_set_feature(writer->writer, PD_FEATURE_DIR_FORMAT, &version, sizeof version);
}

void perfdata_writer_close(perfdata_writer *writer)
{
    if (!writer)
        return;
    pd_writer_close(writer->writer);
    if (!writer->finished) {
        pd_parts_finish(&writer->parts, &writer->context, PERFDATA_ERROR_CANCELLED);
        pd_output_close(&writer->context, &writer->output, PERFDATA_ERROR_CANCELLED);
    }
    pd_context_fini(&writer->context);
    free(writer);
}

const char *perfdata_writer_error(const perfdata_writer *writer)
{
    return writer->context.message;
}

static perfdata_status unusable(perfdata_writer *writer)
{
    return pd_fail(&writer->context, PERFDATA_ERROR_ARGUMENT, -1, "the writer is not open");
}

perfdata_status perfdata_writer_add_event(perfdata_writer *writer, const void *attr,
                                          size_t attr_size, const uint64_t *ids, size_t id_count)
{
    struct pd_attr decoded;
    if (!writer->writer)
        return unusable(writer);
    if (!attr || pd_attr_decode(attr, attr_size, false, &decoded) < 0 || decoded.size > attr_size)
        return pd_fail(&writer->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "an attr whose size is not its own");
    return pd_writer_add_event(writer->writer, &decoded, ids, id_count);
}

perfdata_status perfdata_writer_copy_event(perfdata_writer *writer, const perfdata_event *event)
{
    const struct pd_event *inner = pd_private_event(event);
    if (!writer->writer)
        return unusable(writer);
    return pd_writer_add_event(writer->writer, &inner->attr, inner->ids, inner->id_count);
}

perfdata_status perfdata_writer_set_feature(perfdata_writer *writer, uint32_t feature,
                                            const void *payload, size_t size)
{
    if (!writer->writer)
        return unusable(writer);
    return pd_writer_set_feature(writer->writer, feature, payload, size);
}

perfdata_status perfdata_writer_set_text(perfdata_writer *writer, uint32_t feature,
                                         const char *text)
{
    size_t length = strlen(text) + 1;
    if (!writer->writer || length > STRING_MAX)
        return unusable(writer);
    /* older tools compute sizes from the padding */
    size_t room = (length + STRING_UNIT - 1) / STRING_UNIT * STRING_UNIT;
    uint8_t *payload = calloc(1, 4 + room);
    if (!payload)
        return pd_no_memory(&writer->context, NULL);
    pd_store32(payload, (uint32_t)room, false);
    memcpy(payload + 4, text, length);
    perfdata_status status = pd_writer_set_feature(writer->writer, feature, payload, 4 + room);
    free(payload);
    return status;
}

perfdata_status perfdata_writer_begin(perfdata_writer *writer)
{
    if (!writer->writer || writer->begun)
        return unusable(writer);
    writer->begun = true;
    return pd_writer_begin(writer->writer);
}

perfdata_status perfdata_writer_put(perfdata_writer *writer, const void *record, size_t size)
{
    if (!writer->writer || !writer->begun || writer->finished)
        return unusable(writer);
    if (size < 8 || pd_record_header(record, false).size != size)
        return pd_fail(&writer->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "a record that has not %zu bytes", size);
    return pd_writer_put_record(writer->into, record, size);
}

perfdata_status perfdata_writer_select(perfdata_writer *writer, uint32_t file)
{
    if (!writer->writer || !writer->begun || writer->finished)
        return unusable(writer);
    writer->into = writer->writer;
    if (!file)
        return PERFDATA_OK;
    if (writer->parts.folder < 0)
        return pd_fail(&writer->context, PERFDATA_ERROR_ARGUMENT, -1, "not a directory");
    return pd_parts_writer(&writer->parts, &writer->context, file, &writer->into);
}

perfdata_status perfdata_writer_put_payload(perfdata_writer *writer, const void *bytes, size_t size)
{
    if (!writer->writer || !writer->begun || writer->finished)
        return unusable(writer);
    return pd_writer_put(writer->into, bytes, size);
}

perfdata_status perfdata_writer_finish(perfdata_writer *writer)
{
    if (!writer->writer || !writer->begun || writer->finished)
        return unusable(writer);
    writer->finished = true;
    perfdata_status status = PERFDATA_OK;
    if (writer->parts.folder >= 0 && !writer->parts.list.count)
        status = pd_parts_writer(&writer->parts, &writer->context, 1, &writer->into);
    status = pd_parts_finish(&writer->parts, &writer->context, status);
    if (status == PERFDATA_OK)
        status = pd_writer_finish(writer->writer);
    return pd_output_close(&writer->context, &writer->output, status);
}
