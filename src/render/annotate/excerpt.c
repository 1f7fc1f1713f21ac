/* SPDX-License-Identifier: MIT */
/* Objects without the code that nobody asked for. */
#include "render/annotate/excerpt.h"
#include "object/elf/file.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    COPY_MAX = 64 << 20,    /* bytes that are copied */
    SECTION_MIN = 64 << 10, /* of smaller sections all is left */
};

struct copying {
    const struct pd_elf *elf;
    const struct pd_excerpt_range *ranges;
    size_t count;
    int fd;
    uint64_t done;   /* up to where the file was copied or left out */
    uint64_t copied; /* bytes */
    bool failed;
};

static void copy_until(struct copying *copying, uint64_t end)
{
    const uint8_t *bytes = copying->elf->bytes.data;
    copying->copied += end - copying->done;
    if (copying->copied > COPY_MAX)
        copying->failed = true;
    while (copying->done < end && !copying->failed) {
        ssize_t wrote = pwrite(copying->fd, bytes + copying->done, end - copying->done,
                               (off_t)copying->done);
        if (wrote > 0)
            copying->done += (uint64_t)wrote;
        else if (wrote == 0 || errno != EINTR)
            copying->failed = true;
    }
}

/* Copies the ranges of a section's code and leaves out what is in none. */
static void copy_code(struct copying *copying, const GElf_Shdr *section)
{
    uint64_t low = section->sh_addr, high = low + section->sh_size;
    uint64_t shift = section->sh_offset - low; /* from addresses to places in the file */
    copy_until(copying, section->sh_offset);
    for (size_t i = 0; i < copying->count && !copying->failed; i++) {
        const struct pd_excerpt_range *range = &copying->ranges[i];
        if (range->end <= low || range->start >= high)
            continue;
        uint64_t end = high - range->end > PD_EXCERPT_BEHIND && high > range->end
                           ? range->end + PD_EXCERPT_BEHIND
                           : high;
        uint64_t start = PD_MAX(range->start, low) + shift;
        copying->done = PD_MAX(copying->done, start);
        if (end + shift > copying->done)
            copy_until(copying, end + shift);
    }
    if (!copying->failed)
        copying->done = high + shift;
}

/* Whether the section is code that is worth cutting. The stubs of other objects' functions are not:
 * objdump names them by what is in them. */
static bool is_large_code(const struct copying *copying, const GElf_Shdr *section)
{
    uint64_t size = copying->elf->bytes.size;
    return section->sh_type == SHT_PROGBITS && section->sh_flags & SHF_EXECINSTR &&
           section->sh_size >= SECTION_MIN && section->sh_offset >= copying->done &&
           section->sh_offset <= size && section->sh_size <= size - section->sh_offset &&
           section->sh_addr <= UINT64_MAX - section->sh_size &&
           strncmp(pd_elf_section_name(copying->elf, section), ".plt", 4) != 0;
}

static bool copy(struct copying *copying)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    if (ftruncate(copying->fd, (off_t)copying->elf->bytes.size))
        return false;
    while ((section = elf_nextscn(copying->elf->elf, section)) && !copying->failed)
        if (gelf_getshdr(section, &header) && is_large_code(copying, &header))
            copy_code(copying, &header);
    copy_until(copying, copying->elf->bytes.size);
    return !copying->failed;
}

static bool is_there(const char *before, const char *folder, size_t length, const char *between,
                     const char *name)
{
    struct pd_text path = { 0 };
    pd_text_string(&path, before);
    pd_text_bytes(&path, folder, length);
    pd_text_string(&path, between);
    pd_text_string(&path, name);
    pd_text_char(&path, 0);
    bool there = path.failed || !access(path.data, F_OK);
    pd_text_free(&path);
    return there;
}

static bool is_beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash + 1 - path) : 0;
    return is_there("", path, length, "", name) || is_there("", path, length, ".debug/", name) ||
           is_there("/usr/lib/debug", path, length, "", name) ||
           is_there("/usr/lib/debug/", path, length, "", name);
}

/* Whether the object has a debug file that is found by the object's folder, or by a name relative
 * to that. Debug files that are found by build-id are found for the copy as well. */
static bool is_bound_to_its_place(const struct pd_elf *elf, const char *path)
{
    struct pd_elf_table table;
    char name[512], *real;
    if (pd_elf_section(elf, ".gnu_debugaltlink", &table))
        return true;
    if (!pd_elf_section(elf, ".gnu_debuglink", &table))
        return false;
    if (!pd_elf_debuglink(elf, name, sizeof name) || is_beside(path, name))
        return true;
    real = realpath(path, NULL);
    bool beside = !real || is_beside(real, name);
    free(real);
    return beside;
}

static bool make(const struct pd_elf *elf, const char *path, struct copying *copying,
                 struct pd_excerpt *out)
{
    if (!elf->bytes.mapped || !elf->is_64_bit || elf->swapped ||
        elf->header.e_machine != EM_X86_64 || is_bound_to_its_place(elf, path))
        return false;
    out->fd = memfd_create("code", MFD_CLOEXEC);
    if (out->fd < 0)
        return false;
    copying->elf = elf;
    copying->fd = out->fd;
    pd_text_format(&out->path, "/proc/%ld/fd/%d", (long)getpid(), out->fd);
    pd_text_char(&out->path, 0);
    return !out->path.failed && copy(copying);
}

bool pd_excerpt_make(const char *path, const struct pd_excerpt_range *ranges, size_t count,
                     struct pd_excerpt *out)
{
    struct copying copying = { .ranges = ranges, .count = count };
    struct pd_elf elf;
    *out = (struct pd_excerpt){ .fd = -1 };
    if (!pd_elf_open(&elf, path))
        return false;
    bool made = make(&elf, path, &copying, out);
    pd_elf_close(&elf);
    if (!made)
        pd_excerpt_free(out);
    return made;
}

void pd_excerpt_free(struct pd_excerpt *excerpt)
{
    if (excerpt->fd >= 0)
        close(excerpt->fd);
    pd_text_free(&excerpt->path);
    excerpt->fd = -1;
}
