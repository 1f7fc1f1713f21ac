/* SPDX-License-Identifier: MIT */
/* Recordings that somebody packed: a whole .gz, .xz or .zst file, unpacked once into an unlinked
 * temporary file. */
#ifndef PD_IO_UNPACK_H
#define PD_IO_UNPACK_H
#include "base/context.h"

enum pd_packing { PD_PACKED_NOT, PD_PACKED_GZIP, PD_PACKED_XZ, PD_PACKED_ZSTD };

enum { PD_PACKED_MAGIC = 6 };

/* By the first PD_PACKED_MAGIC bytes; fewer are no packing. */
enum pd_packing pd_packing_of(const uint8_t *bytes, size_t size);

/* A bomb: `out` bytes came out of `in` packed ones, which is more than the context's limit, or
 * without one more than 1 GiB (its memory limit, if that is more) and 256 times what was packed. No
 * recording packs so well. */
bool pd_is_bomb(const struct pd_context *context, uint64_t in, uint64_t out);

/* Up to `size` bytes of what is packed, from front to back; *got 0: the end. */
typedef perfdata_status (*pd_packed_read_fn)(void *data, uint8_t *to, size_t size, size_t *got);

/* *out is a descriptor of the caller's, at no particular position. Damage and a cut end are issues:
 * what came before them is there. PERFDATA_ERROR_LIMIT: more came out than the context's limit
 * allows, or than a recording packs to; PERFDATA_ERROR_IO: no room for it; PERFDATA_ERROR_MEMORY;
 * PERFDATA_ERROR_STRICT. */
perfdata_status pd_unpack(struct pd_context *context, enum pd_packing packing,
                          pd_packed_read_fn read, void *data, int *out);

#endif
