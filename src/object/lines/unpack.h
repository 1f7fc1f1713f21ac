/* SPDX-License-Identifier: MIT */
/* Debug sections that are packed one by one (SHF_COMPRESSED): which libdw can read, and what it
 * cannot. */
#ifndef PD_LINES_UNPACK_H
#define PD_LINES_UNPACK_H
#include "object/elf/file.h"

enum pd_packed {
    PD_PACKED_PLAIN, /* nothing is, or libdw unpacks it: zlib */
    PD_PACKED_ZSTD,  /* something is packed by zstd, which libdw does not know */
    /* more than 64 bytes for one and 16 MiB, or than 1 GiB and 8 times the file: no debug data is
     * so */
    PD_PACKED_TOO_BIG,
    PD_PACKED_UNKNOWN /* in a way that nobody here knows */
};

/* What a file's debug sections need. */
enum pd_packed pd_debug_packed(const struct pd_elf *elf);
/* A file with the same addresses whose debug sections are unpacked, and nothing else is in; false:
 * they cannot be unpacked, or there is no memory. */
bool pd_debug_unpack(const struct pd_elf *elf, struct pd_bytes *out);

#endif
