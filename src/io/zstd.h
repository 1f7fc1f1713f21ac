/* SPDX-License-Identifier: MIT */
/* One zstd stream over many records: a recording's compressed records are the pieces of one frame
 * that never ends. */
#ifndef PD_IO_ZSTD_H
#define PD_IO_ZSTD_H
#include "base/context.h"

struct pd_zstd;

struct pd_zstd *pd_zstd_new(void); /* NULL: no memory */
void pd_zstd_free(struct pd_zstd *zstd);

/* Gives the stream its next piece; pd_zstd_read() then takes out what it holds. The bytes stay the
 * caller's until then. */
void pd_zstd_feed(struct pd_zstd *zstd, const void *bytes, size_t size);
/* Up to `room` bytes; *got 0: the piece is used up. PERFDATA_ERROR_BAD_RECORD: it is damaged, and
 * so is all that follows (pd_zstd_error() says how). */
perfdata_status pd_zstd_read(struct pd_zstd *zstd, void *to, size_t room, size_t *got);
/* The input so far ends with a whole frame. */
bool pd_zstd_at_frame_end(const struct pd_zstd *zstd);
const char *pd_zstd_error(const struct pd_zstd *zstd);

#endif
