/* SPDX-License-Identifier: MIT */
/* Pieces and sections -> an ELF file. */
#include "object/cut/elf_out.h"
#include "base/memory.h"
#include "io/at.h"
#include <errno.h>
#include <unistd.h>

enum { ALIGNMENT = 8 };

void pd_elf_put(struct pd_text *out, const struct pd_elf *like, uint64_t value, unsigned size)
{
    uint8_t bytes[8];
    pd_store(bytes, value, size, like->swapped);
    pd_text_bytes(out, bytes, size);
}

void pd_elf_put_word(struct pd_text *out, const struct pd_elf *like, uint64_t value)
{
    pd_elf_put(out, like, value, like->is_64_bit ? 8 : 4);
}

void pd_elf_put_symbol(struct pd_text *out, const struct pd_elf *like, const GElf_Sym *symbol)
{
    pd_elf_put(out, like, symbol->st_name, 4);
    if (!like->is_64_bit) {
        pd_elf_put(out, like, symbol->st_value, 4);
        pd_elf_put(out, like, symbol->st_size, 4);
    }
    pd_elf_put(out, like, symbol->st_info, 1);
    pd_elf_put(out, like, symbol->st_other, 1);
    pd_elf_put(out, like, symbol->st_shndx, 2);
    if (like->is_64_bit) {
        pd_elf_put(out, like, symbol->st_value, 8);
        pd_elf_put(out, like, symbol->st_size, 8);
    }
}

static void put_section(struct pd_text *out, const struct pd_elf *like, const GElf_Shdr *header)
{
    pd_elf_put(out, like, header->sh_name, 4);
    pd_elf_put(out, like, header->sh_type, 4);
    pd_elf_put_word(out, like, header->sh_flags);
    pd_elf_put_word(out, like, header->sh_addr);
    pd_elf_put_word(out, like, header->sh_offset);
    pd_elf_put_word(out, like, header->sh_size);
    pd_elf_put(out, like, header->sh_link, 4);
    pd_elf_put(out, like, header->sh_info, 4);
    pd_elf_put_word(out, like, header->sh_addralign);
    pd_elf_put_word(out, like, header->sh_entsize);
}

/* The part of the whole file's bytes that there is. */
bool pd_elf_out_piece(struct pd_elf_out *out, uint64_t offset, uint64_t size)
{
    const struct pd_bytes *bytes = &out->like->bytes;
    if (offset >= bytes->size || !size)
        return true;
    const struct pd_elf_piece piece = { offset, bytes->data + offset,
                                        (size_t)PD_MIN(size, bytes->size - offset) };
    return pd_vec_push(&out->pieces, piece);
}

/* Names, and where those begin that have bytes. */
static bool name_sections(struct pd_elf_out *out, struct pd_text *names)
{
    pd_text_char(names, '\0');
    for (size_t i = 0; i < out->sections.count; i++) {
        struct pd_elf_out_section *section = &out->sections.data[i];
        section->header.sh_name = 0;
        if (!*section->name)
            continue;
        section->header.sh_name = (GElf_Word)names->length;
        pd_text_bytes(names, section->name, strlen(section->name) + 1);
    }
    return !names->failed;
}

static uint64_t aligned(uint64_t offset)
{
    return (offset + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
}

/* Behind all bytes that stay at their offsets, and all sections that are said to have some. */
static uint64_t first_free(const struct pd_elf_out *out)
{
    uint64_t end = 0;
    for (size_t i = 0; i < out->pieces.count; i++)
        end = PD_MAX(end, out->pieces.data[i].offset + out->pieces.data[i].size);
    for (size_t i = 0; i < out->sections.count; i++) {
        const struct pd_elf_out_section *section = &out->sections.data[i];
        if (!section->bytes && !section->parts && section->header.sh_type != SHT_NOBITS)
            end = PD_MAX(end, section->header.sh_offset + section->header.sh_size);
    }
    return aligned(end);
}

/* The first header, of whose fields three are new. */
static bool put_header(const struct pd_elf_out *out, uint64_t sections_at, struct pd_text *to)
{
    const struct pd_elf *like = out->like;
    const size_t shoff = like->is_64_bit ? offsetof(Elf64_Ehdr, e_shoff)
                                         : offsetof(Elf32_Ehdr, e_shoff);
    const size_t shnum = like->is_64_bit ? offsetof(Elf64_Ehdr, e_shnum)
                                         : offsetof(Elf32_Ehdr, e_shnum);
    const size_t word = like->is_64_bit ? 8 : 4;
    pd_text_bytes(to, like->bytes.data, shoff);
    pd_elf_put_word(to, like, sections_at);
    pd_text_bytes(to, like->bytes.data + shoff + word, shnum - shoff - word);
    pd_elf_put(to, like, out->sections.count, 2);
    pd_elf_put(to, like, out->sections.count - 1, 2);
    return !to->failed;
}

static bool write_pieces(const struct pd_elf_out *out, int fd, uint64_t *bytes)
{
    bool ok = true;
    *bytes = 0;
    for (size_t i = 0; i < out->pieces.count && ok; i++) {
        const struct pd_elf_piece *piece = &out->pieces.data[i];
        ok = pd_write_at(fd, piece->offset, piece->bytes, piece->size);
        *bytes += piece->size;
    }
    return ok;
}

static bool write_section(struct pd_elf_out_section *section, int fd, uint64_t *at, uint64_t *bytes)
{
    const struct pd_elf_piece whole = { 0, section->bytes, section->header.sh_size };
    const struct pd_elf_piece *parts = section->parts ? section->parts : &whole;
    const size_t count = section->parts ? section->part_count : 1;
    bool ok = true;
    section->header.sh_offset = *at;
    for (size_t i = 0; i < count && ok; i++) {
        ok = pd_write_at(fd, *at + parts[i].offset, parts[i].bytes, parts[i].size);
        *bytes += parts[i].size;
    }
    *at = aligned(*at + section->header.sh_size);
    return ok;
}

bool pd_elf_out_write(struct pd_elf_out *out, int fd, uint64_t *bytes)
{
    struct pd_text names = { 0 }, headers = { 0 }, first = { 0 };
    struct pd_elf_out_section last = { .name = ".shstrtab" };
    uint64_t at = first_free(out);
    bool ok = pd_vec_push(&out->sections, last) && name_sections(out, &names);
    errno = 0;
    if (ok) {
        last = out->sections.data[out->sections.count - 1];
        last.header.sh_type = SHT_STRTAB;
        last.header.sh_size = names.length;
        last.header.sh_addralign = 1;
        last.bytes = names.data;
        out->sections.data[out->sections.count - 1] = last;
        ok = write_pieces(out, fd, bytes);
    }
    for (size_t i = 0; ok && i < out->sections.count; i++) {
        struct pd_elf_out_section *section = &out->sections.data[i];
        if (section->bytes || section->parts)
            ok = write_section(section, fd, &at, bytes);
        put_section(&headers, out->like, &section->header);
    }
    ok = ok && !headers.failed && put_header(out, at, &first) &&
         pd_write_at(fd, at, headers.data, headers.length) &&
         pd_write_at(fd, 0, first.data, first.length);
    *bytes += headers.length + first.length;
    pd_text_free(&names);
    pd_text_free(&headers);
    pd_text_free(&first);
    return ok;
}

void pd_elf_out_free(struct pd_elf_out *out)
{
    pd_vec_free(&out->pieces);
    pd_vec_free(&out->sections);
}
