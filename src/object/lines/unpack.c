/* SPDX-License-Identifier: MIT */
/* An ELF file whose debug sections are packed -> one of plain debug sections, for libdw. */
#include "object/lines/unpack.h"
#include "base/memory.h"
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

enum { RATIO_MAX = 64, USUAL_RATIO = 8, ALIGNMENT_MAX = 4096, LEAST = 16 << 20 };

/* A section that is packed, in the file. */
struct packed {
    GElf_Shdr header;
    GElf_Chdr how;
    const uint8_t *bytes; /* behind what says how */
    size_t size;
};

/* False: it is not packed, or not in the file. */
static bool find_packed(const struct pd_elf *elf, Elf_Scn *section, struct packed *out)
{
    if (!section || !gelf_getshdr(section, &out->header) ||
        !(out->header.sh_flags & SHF_COMPRESSED) || out->header.sh_type == SHT_NOBITS ||
        !pd_range_ok(out->header.sh_offset, out->header.sh_size, elf->bytes.size) ||
        !gelf_getchdr(section, &out->how))
        return false;
    size_t head = elf->is_64_bit ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
    if (out->header.sh_size < head)
        return false;
    out->bytes = elf->bytes.data + out->header.sh_offset + head;
    out->size = (size_t)out->header.sh_size - head;
    return true;
}

/* GNU's older way: a section .zdebug_NAME that begins with "ZLIB" and its size. */
static bool find_old(const struct pd_elf *elf, const GElf_Shdr *header, struct packed *out)
{
    enum { HEAD = 12 };
    if (strncmp(pd_elf_section_name(elf, header), ".zdebug", 7) != 0 || header->sh_size < HEAD ||
        header->sh_type == SHT_NOBITS ||
        !pd_range_ok(header->sh_offset, header->sh_size, elf->bytes.size))
        return false;
    const uint8_t *bytes = elf->bytes.data + header->sh_offset;
    out->how.ch_type = ELFCOMPRESS_ZLIB;
    out->how.ch_size = pd_load64(bytes + 4, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    out->size = (size_t)header->sh_size - HEAD;
    return !memcmp(bytes, "ZLIB", 4);
}

enum pd_packed pd_debug_packed(const struct pd_elf *elf)
{
    enum pd_packed result = PD_PACKED_PLAIN;
    uint64_t before = LEAST, behind = 0;

    for (size_t i = 1; i < elf->section_count; i++) {
        Elf_Scn *section = elf_getscn(elf->elf, i);
        struct packed packed;
        GElf_Shdr header;
        if (!section || !gelf_getshdr(section, &header))
            break;
        if (!find_packed(elf, section, &packed) && !find_old(elf, &header, &packed))
            continue;
        if (packed.how.ch_type == ELFCOMPRESS_ZSTD && result == PD_PACKED_PLAIN)
            result = PD_PACKED_ZSTD;
        if (packed.how.ch_type != ELFCOMPRESS_ZSTD && packed.how.ch_type != ELFCOMPRESS_ZLIB)
            result = PD_PACKED_UNKNOWN;
        before += (uint64_t)packed.size * RATIO_MAX;
        if (pd_add_overflows(behind, packed.how.ch_size, &behind))
            return PD_PACKED_TOO_BIG;
    }
    uint64_t most = PD_MAX((uint64_t)PD_UNPACK_LIMIT, (uint64_t)elf->bytes.size * USUAL_RATIO);
    return behind > PD_MIN(before, most) ? PD_PACKED_TOO_BIG : result;
}

/* ---- the new file ---- */

struct file {
    const struct pd_elf *elf;
    uint8_t *bytes;
    size_t size, room;
    /* of sections that are not packed: not more than there is, though they may overlap */
    size_t copied;
};

/* Room for `size` bytes, aligned, zeroed; NULL without memory. What was given before may move. */
static uint8_t *add(struct file *file, size_t size, size_t alignment, size_t *at)
{
    size_t start = (file->size + alignment - 1) / alignment * alignment;

    if (size > SIZE_MAX / 4 || start + size > file->room) {
        size_t room = start + size + (start + size) / 4;
        uint8_t *grown = size > SIZE_MAX / 4 ? NULL : pd_memory_noted(realloc(file->bytes, room));
        if (!grown)
            return NULL;
        file->bytes = grown;
        file->room = room;
    }
    memset(file->bytes + file->size, 0, start + size - file->size);
    file->size = start + size;
    *at = start;
    return file->bytes + start;
}

static bool unpack(const struct packed *packed, uint8_t *to)
{
    size_t size = (size_t)packed->how.ch_size;

    if (packed->how.ch_type == ELFCOMPRESS_ZSTD)
        return ZSTD_decompress(to, size, packed->bytes, packed->size) == size;
    uLongf made = size;
    return packed->how.ch_type == ELFCOMPRESS_ZLIB &&
           uncompress(to, &made, packed->bytes, packed->size) == Z_OK && made == size;
}

/* Sections of no debug data keep their addresses, but not their bytes. */
static bool is_kept(const struct pd_elf *elf, const GElf_Shdr *header, size_t index)
{
    const char *name = pd_elf_section_name(elf, header);
    return index == elf->name_section ||
           (header->sh_type != SHT_NOBITS && !(header->sh_flags & SHF_ALLOC) &&
            (!strncmp(name, ".debug_", 7) || !strncmp(name, ".gnu_debug", 10)));
}

/* A section's bytes into the file; its header says where they are. */
static bool put_section(struct file *file, size_t index, GElf_Shdr *header)
{
    const struct pd_elf *elf = file->elf;
    struct packed packed;
    size_t at;

    if (!is_kept(elf, header, index)) {
        header->sh_type = index ? SHT_NOBITS : header->sh_type;
        header->sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
        return true;
    }
    if (find_packed(elf, elf_getscn(elf->elf, index), &packed)) {
        size_t alignment = PD_MIN(PD_MAX(packed.how.ch_addralign, 1u), (GElf_Xword)ALIGNMENT_MAX);
        uint8_t *to = add(file, (size_t)packed.how.ch_size, alignment, &at);
        if (!to || !unpack(&packed, to))
            return false;
        header->sh_size = packed.how.ch_size;
        header->sh_addralign = alignment;
        header->sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
    } else {
        if (!pd_range_ok(header->sh_offset, header->sh_size, elf->bytes.size) ||
            header->sh_size > elf->bytes.size - file->copied)
            return false;
        file->copied += (size_t)header->sh_size;
        size_t alignment = PD_MIN(PD_MAX(header->sh_addralign, 1u), (GElf_Xword)ALIGNMENT_MAX);
        uint8_t *to = add(file, (size_t)header->sh_size, alignment, &at);
        if (!to)
            return false;
        memcpy(to, elf->bytes.data + header->sh_offset, (size_t)header->sh_size);
    }
    header->sh_offset = at;
    return true;
}

/* Writes a header in the file's own byte order and class. */
static bool put_header(const struct file *file, size_t table, size_t index, const GElf_Shdr *header)
{
    bool wide = file->elf->is_64_bit;
    size_t size = wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
    Elf32_Shdr narrow = { .sh_name = header->sh_name,
                          .sh_type = header->sh_type,
                          .sh_flags = (Elf32_Word)header->sh_flags,
                          .sh_addr = (Elf32_Addr)header->sh_addr,
                          .sh_offset = (Elf32_Off)header->sh_offset,
                          .sh_size = (Elf32_Word)header->sh_size,
                          .sh_link = header->sh_link,
                          .sh_info = header->sh_info,
                          .sh_addralign = (Elf32_Word)header->sh_addralign,
                          .sh_entsize = (Elf32_Word)header->sh_entsize };
    Elf_Data from = { .d_buf = wide ? (void *)(uintptr_t)header : &narrow,
                      .d_type = ELF_T_SHDR,
                      .d_version = EV_CURRENT,
                      .d_size = size };
    Elf_Data to = from;
    unsigned order = file->elf->header.e_ident[EI_DATA];
    to.d_buf = file->bytes + table + index * size;
    return (wide ? elf64_xlatetof(&to, &from, order) : elf32_xlatetof(&to, &from, order)) != NULL;
}

/* Where the sections are, in the copied head of the file. */
static void put_place(const struct file *file, size_t table)
{
    bool swap = file->elf->swapped;
    if (file->elf->is_64_bit)
        pd_store64(file->bytes + offsetof(Elf64_Ehdr, e_shoff), table, swap);
    else
        pd_store32(file->bytes + offsetof(Elf32_Ehdr, e_shoff), (uint32_t)table, swap);
}

static bool make(struct file *file)
{
    const struct pd_elf *elf = file->elf;
    size_t head = elf->is_64_bit ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), at, table;
    size_t each = elf->is_64_bit ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
    uint8_t *to = add(file, head, 1, &at);

    if (!to || elf->bytes.size < head)
        return false;
    memcpy(to, elf->bytes.data, head);
    /* Segments would be looked for in bytes that are not here. */
    size_t count = elf->is_64_bit ? offsetof(Elf64_Ehdr, e_phnum) : offsetof(Elf32_Ehdr, e_phnum);
    memset(to + count, 0, 2);
    if (!add(file, elf->section_count * each, 8, &table))
        return false;
    put_place(file, table);
    for (size_t i = 0; i < elf->section_count; i++) {
        GElf_Shdr header;
        if (!gelf_getshdr(elf_getscn(elf->elf, i), &header) || !put_section(file, i, &header) ||
            !put_header(file, table, i, &header))
            return false;
    }
    return true;
}

bool pd_debug_unpack(const struct pd_elf *elf, struct pd_bytes *out)
{
    struct file file = { .elf = elf };

    if (!make(&file)) {
        free(file.bytes);
        return false;
    }
    *out = (struct pd_bytes){ .data = file.bytes, .size = file.size };
    return true;
}
