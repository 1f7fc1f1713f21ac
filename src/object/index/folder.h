/* SPDX-License-Identifier: MIT */
/* A folder of this user's with indexes: files that hold nothing which could not be made again.
 *
 * So nothing here fails: what cannot be read is not there, what cannot be written (a full disk, a
 * folder that only can be read) is left. But an index is believed, therefore only those count that
 * nobody else can have written: folder and file are the effective user's, none is a link, others
 * may write to neither. Names begin with letters and a '-', "elf-...", and hold no '/'. */
#ifndef PD_INDEX_FOLDER_H
#define PD_INDEX_FOLDER_H
#include "object/file.h"

/* What all indexes together may take; one larger than PD_INDEX_MAX is not written. */
#define PD_INDEX_TOTAL (UINT64_C(256) << 20)
#define PD_INDEX_MAX (UINT64_C(64) << 20)

/* Maps an index into memory. False: there is none that can be believed; also where `folder` is
 * NULL. */
bool pd_index_read(const char *folder, const char *name, struct pd_bytes *out);
/* Whether it is worth making an index: false where pd_index_write() would write nothing. True does
 * not say that there is room. */
bool pd_index_can_write(const char *folder);
/* Writes one beside its name and renames it, so that readers see all of it or none; the folder is
 * made where the one above it is there and this user's. When all take more than PD_INDEX_TOTAL,
 * those that were not used for longest go. */
void pd_index_write(const char *folder, const char *name, const void *bytes, size_t size);

#endif
