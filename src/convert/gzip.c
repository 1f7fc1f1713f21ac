/* SPDX-License-Identifier: MIT */
/* Bytes of a form -> gzip, without a time or a name, so that the same profile gives the same
 * bytes. */
#include "convert/gzip.h"
#include <stdlib.h>
#include <zlib.h>

enum { AT_ONCE = 1 << 16, GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 8 };

struct pd_gzip {
    z_stream stream;
    uint8_t room[AT_ONCE];
};

struct pd_gzip *pd_gzip_new(void)
{
    struct pd_gzip *gzip = calloc(1, sizeof *gzip);
    if (gzip && deflateInit2(&gzip->stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
                             Z_DEFAULT_STRATEGY) == Z_OK)
        return gzip;
    free(gzip);
    return NULL;
}

static perfdata_status put(struct pd_gzip *gzip, struct pd_convert *x, int how)
{
    z_stream *stream = &gzip->stream;
    int got;
    do {
        stream->next_out = gzip->room;
        stream->avail_out = AT_ONCE;
        got = deflate(stream, how);
        size_t made = AT_ONCE - stream->avail_out;
        if (made && x->write(x->write_data, (const char *)gzip->room, made))
            return pd_fail(x->context, PERFDATA_ERROR_OUTPUT, -1,
                           "the export could not be written");
    } while (how == Z_FINISH ? got == Z_OK : stream->avail_in || !stream->avail_out);
    return PERFDATA_OK;
}

perfdata_status pd_gzip_flush(struct pd_gzip *gzip, struct pd_convert *x, bool all)
{
    if (x->out.failed)
        return pd_convert_no_memory(x);
    if (!all && x->out.length < AT_ONCE)
        return PERFDATA_OK;
    gzip->stream.next_in = (uint8_t *)x->out.data;
    gzip->stream.avail_in = (uInt)x->out.length; /* single messages are small */
    perfdata_status status = put(gzip, x, all ? Z_FINISH : Z_NO_FLUSH);
    x->out.length = 0;
    return status;
}

void pd_gzip_free(struct pd_gzip *gzip)
{
    if (gzip)
        deflateEnd(&gzip->stream);
    free(gzip);
}
