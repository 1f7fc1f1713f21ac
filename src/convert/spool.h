/* SPDX-License-Identifier: MIT */
/* What a form has to keep until its end: streams of bytes, which are in memory while they are
 * short, else in one temporary file. */
#ifndef PD_CONVERT_SPOOL_H
#define PD_CONVERT_SPOOL_H
#include "convert/convert.h"

struct pd_spool_piece {
    uint64_t at, size;
};

/* All bytes zero: empty. */
struct pd_spool_stream {
    struct pd_text pending;               /* what was written last */
    PD_VEC(struct pd_spool_piece) pieces; /* in the file, what was written before */
    uint64_t length;                      /* of all of it */
};

struct pd_spool {
    struct pd_convert *x;
    int fd; /* -1: nothing was written */
    uint64_t file_size;
    size_t pending; /* bytes of all streams in memory */
};

void pd_spool_init(struct pd_spool *spool, struct pd_convert *x);
void pd_spool_close(struct pd_spool *spool);
void pd_spool_free(struct pd_spool_stream *stream);

/* Writes what `from` holds, and empties it. A full disk is an error, and so is a TMPDIR that
 * nothing can be written to. */
perfdata_status pd_spool_put(struct pd_spool *spool, struct pd_spool_stream *stream,
                             struct pd_text *from);

/* Reads a stream from its start. */
struct pd_spool_reader {
    const struct pd_spool *spool;
    const struct pd_spool_stream *stream;
    size_t piece;
    uint64_t read; /* of the piece */
    struct pd_text block;
    const char *bytes; /* read last */
    size_t size, taken;
};

void pd_spool_reader_init(struct pd_spool_reader *reader, const struct pd_spool *spool,
                          const struct pd_spool_stream *stream);
void pd_spool_reader_free(struct pd_spool_reader *reader);
/* Takes the next `size` bytes, which there must be. */
perfdata_status pd_spool_take(struct pd_spool_reader *reader, void *to, size_t size);

/* Appends the whole stream to what the form writes. */
perfdata_status pd_spool_copy(struct pd_spool *spool, const struct pd_spool_stream *stream);

#endif
