/* SPDX-License-Identifier: MIT */
/* A stream: its calls, and who holds it. */
#include "convert/arrow/arrow.h"
#include <errno.h>
#include <stdlib.h>

enum { BATCH_ROWS = 1 << 16, SLICE_ROWS = 1 << 20 };

struct pd_arrow_stream *pd_arrow_new(perfdata_profile *profile)
{
    struct pd_arrow_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->holders = 1;
    stream->profile = profile;
    pd_profile_hold(profile);
    return stream;
}

void pd_arrow_add(struct pd_arrow_stream *stream, const struct pd_arrow_column *columns,
                  size_t count)
{
    memcpy(stream->columns + stream->column_count, columns, count * sizeof *columns);
    stream->column_count += count;
}

static int told(struct pd_arrow_stream *stream, int code)
{
    stream->error = code ? "out of memory" : NULL;
    return code;
}

static int get_schema(struct ArrowArrayStream *out, struct ArrowSchema *schema)
{
    return told(out->private_data, pd_arrow_schema(out->private_data, schema));
}

static int get_next(struct ArrowArrayStream *out, struct ArrowArray *array)
{
    struct pd_arrow_stream *stream = out->private_data;
    /* What is not copied may be long; the rest is made for each batch. */
    size_t batch = stream->columns[0].kind == PD_ARROW_SLICE ? SLICE_ROWS : BATCH_ROWS;
    size_t count = (size_t)PD_MIN(stream->rows - stream->next, (uint64_t)batch);
    memset(array, 0, sizeof *array);
    if (!count)
        return told(stream, 0);
    int code = pd_arrow_batch(stream, stream->next, count, array);
    if (!code)
        stream->next += count;
    return told(stream, code);
}

static const char *get_last_error(struct ArrowArrayStream *out)
{
    return ((struct pd_arrow_stream *)out->private_data)->error;
}

static void release(struct ArrowArrayStream *out)
{
    pd_arrow_drop(out->private_data);
    out->private_data = NULL;
    out->release = NULL;
}

perfdata_status pd_arrow_give(struct pd_arrow_stream *stream, perfdata_status status,
                              struct ArrowArrayStream *out)
{
    if (status < 0) {
        pd_arrow_drop(stream);
        return status;
    }
    *out = (struct ArrowArrayStream){
        .get_schema = get_schema,
        .get_next = get_next,
        .get_last_error = get_last_error,
        .release = release,
        .private_data = stream,
    };
    return PERFDATA_OK;
}
