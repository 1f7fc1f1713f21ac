/* SPDX-License-Identifier: MIT */
/* Build-ids: of files, of the running kernel, and their text. */
#ifndef PD_BUILD_ID_H
#define PD_BUILD_ID_H
#include "base/base.h"

#define PD_BUILD_ID_MAX 20

struct pd_build_id {
    uint8_t size; /* 0: none */
    uint8_t bytes[PD_BUILD_ID_MAX];
};

/* Whether both are equal, or the longer one has only zeros behind the shorter: recorders before
 * 5.11 padded to 20. */
bool pd_build_id_equal(const struct pd_build_id *a, const struct pd_build_id *b);

/* Lower-case hex with NUL; returns the length. */
size_t pd_build_id_text(const struct pd_build_id *id, char text[2 * PD_BUILD_ID_MAX + 1]);

/* From bytes as recorded; longer ones are cut. */
struct pd_build_id pd_build_id_make(const void *bytes, size_t size);

/* The build-id of an ELF file. ERROR_NOT_FOUND when it has none, is no ELF file or cannot be
 * opened. */
perfdata_status pd_build_id_read(const char *path, struct pd_build_id *id);
/* The build-id of an ELF file that lies in memory. */
perfdata_status pd_build_id_read_memory(const void *image, size_t size, struct pd_build_id *id);
/* The build-id among notes in our byte order; false: there is none. */
bool pd_build_id_from_notes(const uint8_t *notes, size_t size, struct pd_build_id *id);
/* The build-id in a file of notes, such as /sys/kernel/notes. */
perfdata_status pd_build_id_read_notes(const char *path, struct pd_build_id *id);

#endif
