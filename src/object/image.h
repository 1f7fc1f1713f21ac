/* SPDX-License-Identifier: MIT */
/* The bytes of an object, where instructions are read from. Immutable, shared by threads without
 * locks. */
#ifndef PD_OBJECT_IMAGE_H
#define PD_OBJECT_IMAGE_H
#include "object/file.h"
#include "object/object.h"

struct pd_image {
    const uint8_t *data;
    size_t size;
    bool is_64_bit; /* by the ELF class; true for what is no ELF file */
    struct pd_bytes bytes;
};

/* Opens the file that perf reads code from: that of the build-id cache, else the file itself below
 * symfs, whatever its build-id; a packed one is unpacked. NULL in *out when there is none; only
 * lack of memory is an error. */
perfdata_status pd_image_open(const struct pd_object_search *search, const char *long_name,
                              const struct pd_build_id *recorded, struct pd_image **out);
/* Exactly this file. */
perfdata_status pd_image_open_path(const char *path, struct pd_image **out);
/* The vdso of this very process; none with symfs. */
perfdata_status pd_image_open_own_vdso(const struct pd_object_search *search,
                                       struct pd_image **out);
/* A copy of `size` bytes of 64-bit code; NULL: zeros. */
perfdata_status pd_image_copy(const void *bytes, size_t size, struct pd_image **out);
void pd_image_free(struct pd_image *image);

#endif
