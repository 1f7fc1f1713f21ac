/* SPDX-License-Identifier: MIT */
/* Pieces of one zstd stream -> their bytes. */
#include "io/zstd.h"
#include <stdlib.h>
#include <zstd.h>

struct pd_zstd {
    ZSTD_DStream *stream;
    ZSTD_inBuffer in;
    bool pending; /* the last output was full: there may be more of the same input */
    size_t error;
    bool between; /* frames */
};

struct pd_zstd *pd_zstd_new(void)
{
    struct pd_zstd *zstd = calloc(1, sizeof *zstd);
    if (!zstd)
        return NULL;
    zstd->stream = ZSTD_createDStream();
    /* perf's windows are at most 128 MiB; a larger one is a bomb */
    if (!zstd->stream ||
        ZSTD_isError(ZSTD_DCtx_setParameter(zstd->stream, ZSTD_d_windowLogMax, 27))) {
        pd_zstd_free(zstd);
        return NULL;
    }
    return zstd;
}

void pd_zstd_free(struct pd_zstd *zstd)
{
    if (!zstd)
        return;
    ZSTD_freeDStream(zstd->stream);
    free(zstd);
}

void pd_zstd_feed(struct pd_zstd *zstd, const void *bytes, size_t size)
{
    zstd->in = (ZSTD_inBuffer){ bytes, size, 0 };
    zstd->pending = size != 0;
}

perfdata_status pd_zstd_read(struct pd_zstd *zstd, void *to, size_t room, size_t *got)
{
    *got = 0;
    if (zstd->error)
        return PERFDATA_ERROR_BAD_RECORD;
    ZSTD_outBuffer out = { to, room, 0 };
    while (out.pos < room && (zstd->in.pos < zstd->in.size || zstd->pending)) {
        size_t before = out.pos, read = zstd->in.pos;
        size_t result = ZSTD_decompressStream(zstd->stream, &out, &zstd->in);
        if (ZSTD_isError(result)) {
            zstd->error = result;
            *got = out.pos;
            return out.pos ? PERFDATA_OK : PERFDATA_ERROR_BAD_RECORD;
        }
        zstd->pending = out.pos == room;
        zstd->between = !result;
        if (out.pos == before && zstd->in.pos == read)
            break;
    }
    *got = out.pos;
    return PERFDATA_OK;
}

bool pd_zstd_at_frame_end(const struct pd_zstd *zstd)
{
    return zstd->between;
}

const char *pd_zstd_error(const struct pd_zstd *zstd)
{
    return zstd->error ? ZSTD_getErrorName(zstd->error) : "no error";
}
