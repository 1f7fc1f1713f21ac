/* SPDX-License-Identifier: MIT */
/* The build-id of a file, of one in memory, of notes that lie by themselves. */
#include "object/elf/build_id.h"
#include "object/elf/file.h"
#include "object/file.h"

/* The build-id of a file that an open call gave, which is closed then. */
static perfdata_status read_elf(struct pd_elf *elf, bool open, struct pd_build_id *id)
{
    *id = (struct pd_build_id){ 0 };
    if (!open)
        return PERFDATA_ERROR_NOT_FOUND;
    bool found = pd_elf_build_id(elf, id);
    pd_elf_close(elf);
    return found ? PERFDATA_OK : PERFDATA_ERROR_NOT_FOUND;
}

perfdata_status pd_build_id_read_memory(const void *image, size_t size, struct pd_build_id *id)
{
    struct pd_elf elf;
    return read_elf(&elf, pd_elf_open_memory(&elf, image, size), id);
}

perfdata_status pd_build_id_read(const char *path, struct pd_build_id *id)
{
    struct pd_elf elf;
    return read_elf(&elf, pd_elf_open(&elf, path), id);
}

perfdata_status pd_build_id_read_notes(const char *path, struct pd_build_id *id)
{
    struct pd_bytes bytes;

    *id = (struct pd_build_id){ 0 };
    if (!pd_file_read(path, &bytes, 1 << 20))
        return PERFDATA_ERROR_NOT_FOUND;
    bool found = pd_build_id_from_notes(bytes.data, bytes.size, id);
    pd_bytes_free(&bytes);
    return found ? PERFDATA_OK : PERFDATA_ERROR_NOT_FOUND;
}
