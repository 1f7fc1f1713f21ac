/* SPDX-License-Identifier: MIT */
/* A copy of the kernel's memory -> maps and bytes of its code. */
#include "object/kernel/kcore.h"
#include "base/memory.h"
#include "object/elf/file.h"
#include "object/internal.h"
#include <stdio.h>

enum { SEGMENT_LIMIT = 4096, MODULES_LIMIT = 1 << 24 };

/* The neighbour of a file. */
static bool beside(const char *path, const char *name, char *out)
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0;

    return folder + strlen(name) < PD_PATH_ROOM &&
           snprintf(out, PD_PATH_ROOM, "%.*s%s", (int)folder, path, name) > 0;
}

/* A line "name size uses users state 0xADDRESS" of a module of that name, "[snd_pcm]" here. */
static bool line_says(const char *line, size_t length, const struct pd_kernel_map *map)
{
    size_t name = strlen(map->name);
    unsigned long long address;
    char text[512];

    if (name < 2 || length < name - 1 || length >= sizeof text ||
        memcmp(line, map->name + 1, name - 2) != 0 || line[name - 2] != ' ')
        return false;
    memcpy(text, line, length);
    text[length] = '\0';
    const char *at = strstr(text, " 0x");
    return at && sscanf(at, " 0x%llx", &address) == 1 && address == map->start;
}

static bool list_has(const struct pd_bytes *list, const struct pd_kernel_map *map)
{
    const char *at = (const char *)list->data, *end = at + list->size;

    while (at < end) {
        const char *eol = memchr(at, '\n', (size_t)(end - at));
        size_t length = eol ? (size_t)(eol - at) : (size_t)(end - at);
        if (line_says(at, length, map))
            return true;
        at += length + 1;
    }
    return false;
}

/* Whether each recorded module lies where the list says. */
static bool modules_fit(const char *kallsyms, const struct pd_kernel_request *request)
{
    char path[PD_PATH_ROOM];
    struct pd_bytes list;
    bool fit = true;

    if (!beside(kallsyms, "modules", path) || !pd_file_read(path, &list, MODULES_LIMIT))
        return false;
    for (size_t i = 1; fit && i < request->map_count; i++)
        fit = list_has(&list, &request->maps[i]);
    pd_bytes_free(&list);
    return fit;
}

/* What comes first in the file wins where segments overlap. */
static bool add_segment(struct pd_kcore *kcore, const GElf_Phdr *header)
{
    struct pd_kcore_segment segment = { .start = header->p_vaddr, .offset = header->p_offset };
    size_t at = kcore->segments.count;

    if (!header->p_filesz || pd_add_overflows(segment.start, header->p_filesz, &segment.end))
        return true;
    for (size_t i = 0; i < kcore->segments.count; i++) {
        const struct pd_kcore_segment *other = &kcore->segments.data[i];
        if (segment.start < other->end && other->start < segment.end)
            return true;
    }
    if (!pd_vec_reserve(&kcore->segments, at + 1))
        return false;
    for (; at > 0 && kcore->segments.data[at - 1].start > segment.start; at--)
        kcore->segments.data[at] = kcore->segments.data[at - 1];
    kcore->segments.data[at] = segment;
    kcore->segments.count++;
    return true;
}

static perfdata_status read_segments(struct pd_kcore *kcore)
{
    struct pd_elf elf;
    size_t count = 0;
    bool ok = true;

    if (!pd_elf_open(&elf, kcore->path))
        return PERFDATA_ERROR_NOT_FOUND;
    kcore->is_64_bit = elf.is_64_bit;
    if (elf_getphdrnum(elf.elf, &count))
        count = 0;
    for (size_t i = 0; ok && i < PD_MIN(count, (size_t)SEGMENT_LIMIT); i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf.elf, (int)i, &header) && header.p_type == PT_LOAD &&
            (header.p_flags & PF_R))
            ok = add_segment(kcore, &header);
    }
    pd_elf_close(&elf);
    if (!ok)
        return PERFDATA_ERROR_MEMORY;
    return kcore->segments.count ? PERFDATA_OK : PERFDATA_ERROR_NOT_FOUND;
}

perfdata_status pd_kcore_open(const char *kallsyms, bool unmoved, const uint64_t *stext,
                              const struct pd_kernel_request *request, struct pd_kcore *out)
{
    char path[PD_PATH_ROOM];

    *out = (struct pd_kcore){ 0 };
    if (!beside(kallsyms, "kcore", path) || !pd_file_is_regular(path) || !unmoved ||
        !modules_fit(kallsyms, request))
        return PERFDATA_ERROR_NOT_FOUND;
    out->path = pd_memory_noted(strdup(path));
    perfdata_status status = out->path ? read_segments(out) : PERFDATA_ERROR_MEMORY;
    if (status) {
        pd_kcore_free(out);
        return status;
    }
    if (stext) {
        const struct pd_kcore_segment *segment = pd_kcore_find(out, *stext);
        out->main = segment ? (size_t)(segment - out->segments.data) : 0;
    }
    return PERFDATA_OK;
}

void pd_kcore_free(struct pd_kcore *kcore)
{
    free(kcore->path);
    pd_vec_free(&kcore->segments);
    *kcore = (struct pd_kcore){ 0 };
}

const struct pd_kcore_segment *pd_kcore_find(const struct pd_kcore *kcore, uint64_t address)
{
    size_t upto = pd_upto(kcore->segments.data, kcore->segments.count, start, address);
    const struct pd_kcore_segment *found = upto ? &kcore->segments.data[upto - 1] : NULL;
    return found && address < found->end ? found : NULL;
}
