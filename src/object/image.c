/* SPDX-License-Identifier: MIT */
/* An object -> its bytes, from where instructions are read. */
#include "object/image.h"
#include "base/memory.h"
#include "object/elf/file.h"
#include "object/internal.h"
#include <stdlib.h>

static perfdata_status give(struct pd_bytes *bytes, struct pd_image **out)
{
    struct pd_image *image = pd_memory_noted(calloc(1, sizeof *image));

    if (!image) {
        pd_bytes_free(bytes);
        return PERFDATA_ERROR_MEMORY;
    }
    image->bytes = *bytes;
    image->data = bytes->data;
    image->size = bytes->size;
    bool is_elf = image->size > EI_CLASS && !memcmp(image->data, ELFMAG, SELFMAG);
    image->is_64_bit = !is_elf || image->data[EI_CLASS] != ELFCLASS32;
    *out = image;
    return PERFDATA_OK;
}

perfdata_status pd_image_open_path(const char *path, struct pd_image **out)
{
    struct pd_bytes bytes;

    *out = NULL;
    if (!pd_file_map(path, &bytes))
        return PERFDATA_OK;
    if (!pd_bytes_unpack(&bytes, PD_UNPACK_LIMIT)) {
        pd_bytes_free(&bytes);
        return PERFDATA_OK;
    }
    return give(&bytes, out);
}

perfdata_status pd_image_open(const struct pd_object_search *search, const char *long_name,
                              const struct pd_build_id *recorded, struct pd_image **out)
{
    char path[PD_PATH_ROOM];
    const char *leaf = pd_is_vdso_name(long_name) ? "vdso" : "elf";
    perfdata_status status = PERFDATA_OK;

    *out = NULL;
    if (recorded && recorded->size && pd_search_cache_path(search, recorded, leaf, path))
        status = pd_image_open_path(path, out);
    if (!status && !*out && pd_search_path(search, long_name, path)) {
        (void)pd_object_fetch_program(search, long_name, recorded, path);
        status = pd_image_open_path(path, out);
    }
    return status;
}

perfdata_status pd_image_open_own_vdso(const struct pd_object_search *search, struct pd_image **out)
{
    size_t size;
    const void *vdso = pd_search_own_vdso(search, &size);

    *out = NULL;
    return size ? pd_image_copy(vdso, size, out) : PERFDATA_OK;
}

perfdata_status pd_image_copy(const void *data, size_t size, struct pd_image **out)
{
    struct pd_bytes bytes = { .data = pd_memory_noted(calloc(1, size + 1)), .size = size };

    *out = NULL;
    if (!bytes.data)
        return PERFDATA_ERROR_MEMORY;
    if (data)
        memcpy(bytes.data, data, size);
    return give(&bytes, out);
}

void pd_image_free(struct pd_image *image)
{
    if (!image)
        return;
    pd_bytes_free(&image->bytes);
    free(image);
}
