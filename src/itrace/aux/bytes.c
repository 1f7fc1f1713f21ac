/* SPDX-License-Identifier: MIT */
/* A place in a buffer of a trace -> its bytes, from the file that holds them or from memory. */
#include "itrace/aux/aux.h"

/* The file that byte `from` of a buffer lies in, and where; NULL: in none. */
static struct pd_source *source_of(const struct pd_aux *aux, const struct pd_aux_buffer *buffer,
                                   uint64_t from, uint64_t *at)
{
    const struct pd_recording *recording = aux->recording;
    if (buffer->memory || buffer->part > recording->parts.count ||
        pd_add_overflows(buffer->file_offset, from, at))
        return NULL;
    return buffer->part ? recording->parts.sources[buffer->part - 1] : recording->source;
}

perfdata_status pd_aux_read(const struct pd_aux *aux, const struct pd_aux_buffer *buffer,
                            uint64_t from, void *to, size_t size, size_t *got)
{
    *got = 0;
    if (from >= buffer->size)
        return PERFDATA_OK;
    size = (size_t)PD_MIN((uint64_t)size, buffer->size - from);
    if (buffer->memory) {
        memcpy(to, buffer->memory + from, size);
        *got = size;
        return PERFDATA_OK;
    }
    uint64_t at;
    struct pd_source *source = source_of(aux, buffer, from, &at);
    return source ? pd_source_read(source, at, to, size, got) : PERFDATA_OK;
}

perfdata_status pd_aux_read_quietly(const struct pd_aux *aux, const struct pd_aux_buffer *buffer,
                                    uint64_t from, void *to, size_t size, size_t *got)
{
    uint64_t at;
    const struct pd_source *source = source_of(aux, buffer, from, &at);
    *got = 0;
    return source && pd_source_read_quietly(source, at, to, size, got) ? PERFDATA_OK
                                                                       : PERFDATA_ERROR_IO;
}
