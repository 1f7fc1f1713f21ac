/* SPDX-License-Identifier: MIT */
/* Debug sections that are packed one by one (SHF_COMPRESSED): which libdw can read, and what it
 * cannot. */
#ifndef PD_LINES_UNPACK_H
#define PD_LINES_UNPACK_H
#include "object/elf/file.h"

enum pd_packed {
    PD_PACKED_PLAIN, /* nothing is packed, or libdw unpacks it: zlib */
    PD_PACKED_ZSTD,  /* something is packed by zstd, which libdw does not know */
    /* unpacked, more than 64 bytes for each packed one and 16 MiB besides, or more than 1 GiB and
     * than 8 times the file: no real debug data is like that */
    PD_PACKED_TOO_BIG,
    PD_PACKED_UNKNOWN /* something is packed in a way that is not known here */
};

/* What a file's debug sections need. */
enum pd_packed pd_debug_packed(const struct pd_elf *elf);
/* Makes a file with the same addresses that has unpacked debug sections and nothing else in it;
 * false: they cannot be unpacked, or there is no memory. */
bool pd_debug_unpack(const struct pd_elf *elf, struct pd_bytes *out);

#endif
