/* SPDX-License-Identifier: MIT */
/* Builds a small ELF file in memory, of either class and byte order.
 *
 *     struct elf_maker m = elf_begin(true, false, ET_DYN, EM_X86_64);
 *     uint16_t text = elf_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, 0x401000, NULL, 64, 0, 0);
 *     elf_symbol(&m, "main", 0x401000, 16, STB_GLOBAL, STT_FUNC, STV_DEFAULT, text);
 *     elf_symbols(&m, ".symtab", SHT_SYMTAB);     // all since the last such call
 *     elf_segment(&m, 0x400000, 0x0, 0x10000);
 *     elf_end_file(&m);                           // m.bytes, m.size
 *     elf_maker_free(&m);
 */
#ifndef MAKE_ELF_H
#define MAKE_ELF_H
#include "base/base.h"
#include <elf.h>
#include <stdlib.h>

#define ELF_SECTIONS_MAX 16
#define ELF_TABLES_AT 0x200 /* of the first section's bytes; headers and segments lie before */

struct elf_bytes {
    uint8_t *data;
    size_t size, capacity;
};

struct elf_maker_section {
    uint32_t name, type, link;
    uint64_t flags, address, offset, size, entry;
};

struct elf_maker {
    bool is_64, big;
    uint16_t type, machine, segment_count, section_count;
    struct elf_bytes body, names, symbols, strings;
    struct elf_maker_section sections[ELF_SECTIONS_MAX];
    uint64_t segments[4][3];
    uint8_t *bytes; /* the whole, after elf_end_file */
    size_t size;
};

static inline void elf_put(struct elf_bytes *to, const void *data, size_t size)
{
    if (to->size + size > to->capacity) {
        to->capacity = (to->size + size) * 2 + 64;
        to->data = realloc(to->data, to->capacity);
        if (!to->data)
            abort();
    }
    if (data && size)
        memcpy(to->data + to->size, data, size);
    else if (size)
        memset(to->data + to->size, 0, size);
    to->size += size;
}

/* `size` bytes of a number in the file's order. */
static inline void elf_number(const struct elf_maker *m, struct elf_bytes *to, uint64_t value,
                              unsigned size)
{
    uint8_t bytes[8];

    for (unsigned i = 0; i < size; i++)
        bytes[m->big ? size - 1 - i : i] = (uint8_t)(value >> (8 * i));
    elf_put(to, bytes, size);
}

/* 8 bytes in 64-bit files, else 4. */
static inline void elf_word(const struct elf_maker *m, struct elf_bytes *to, uint64_t value)
{
    elf_number(m, to, value, m->is_64 ? 8 : 4);
}

static inline uint32_t elf_name(struct elf_bytes *to, const char *name)
{
    uint32_t at = (uint32_t)to->size;

    elf_put(to, name, strlen(name) + 1);
    return at;
}

static inline uint16_t elf_section(struct elf_maker *m, const char *name, uint32_t type,
                                   uint64_t flags, uint64_t address, const void *data, size_t size,
                                   uint32_t link, uint64_t entry)
{
    if (m->section_count >= ELF_SECTIONS_MAX)
        abort();
    while (m->body.size % 16)
        elf_put(&m->body, NULL, 1);
    m->sections[m->section_count] = (struct elf_maker_section){
        .name = elf_name(&m->names, name),
        .type = type,
        .link = link,
        .flags = flags,
        .address = address,
        .offset = ELF_TABLES_AT + m->body.size,
        .size = size,
        .entry = entry,
    };
    if (type != SHT_NOBITS)
        elf_put(&m->body, data, size);
    return m->section_count++;
}

static inline void elf_symbol(struct elf_maker *m, const char *name, uint64_t value, uint64_t size,
                              unsigned binding, unsigned type, uint8_t visibility, uint16_t section)
{
    struct elf_bytes *to = &m->symbols;
    uint8_t info = (uint8_t)(binding << 4 | type);
    uint32_t at = name[0] ? elf_name(&m->strings, name) : 0;

    elf_number(m, to, at, 4);
    if (m->is_64) {
        elf_number(m, to, info, 1);
        elf_number(m, to, visibility, 1);
        elf_number(m, to, section, 2);
        elf_number(m, to, value, 8);
        elf_number(m, to, size, 8);
    } else {
        elf_number(m, to, value, 4);
        elf_number(m, to, size, 4);
        elf_number(m, to, info, 1);
        elf_number(m, to, visibility, 1);
        elf_number(m, to, section, 2);
    }
}

static inline void elf_restart_symbols(struct elf_maker *m)
{
    m->symbols.size = m->strings.size = 0;
    elf_put(&m->strings, "", 1);
    elf_put(&m->symbols, NULL, m->is_64 ? 24 : 16);
}

/* The collected symbols as a table of that name with its strings; returns the table's section. */
static inline uint16_t elf_symbols(struct elf_maker *m, const char *name, uint32_t type)
{
    uint16_t strings = elf_section(m, type == SHT_SYMTAB ? ".strtab" : ".dynstr", SHT_STRTAB, 0, 0,
                                   m->strings.data, m->strings.size, 0, 0);
    uint16_t table = elf_section(m, name, type, 0, 0, m->symbols.data, m->symbols.size, strings,
                                 m->is_64 ? 24 : 16);
    elf_restart_symbols(m);
    return table;
}

static inline struct elf_maker elf_begin(bool is_64, bool big, uint16_t type, uint16_t machine)
{
    struct elf_maker m = {
        .is_64 = is_64, .big = big, .type = type, .machine = machine, .section_count = 1
    };

    elf_put(&m.names, "", 1);
    elf_restart_symbols(&m);
    return m;
}

static inline void elf_segment(struct elf_maker *m, uint64_t address, uint64_t offset,
                               uint64_t size)
{
    uint64_t *to = m->segments[m->segment_count++];

    to[0] = address, to[1] = offset, to[2] = size;
}

/* A PT_LOAD in the file's class, in which the flags have different places. */
static inline void elf_put_segment(struct elf_maker *m, struct elf_bytes *to,
                                   const uint64_t *segment)
{
    elf_number(m, to, PT_LOAD, 4);
    if (m->is_64)
        elf_number(m, to, PF_R | PF_X, 4);
    elf_word(m, to, segment[1]);
    elf_word(m, to, segment[0]);
    elf_word(m, to, segment[0]);
    elf_word(m, to, segment[2]);
    elf_word(m, to, segment[2]);
    if (!m->is_64)
        elf_number(m, to, PF_R | PF_X, 4);
    elf_word(m, to, 4096);
}

static inline void elf_put_section(struct elf_maker *m, struct elf_bytes *to,
                                   const struct elf_maker_section *s)
{
    elf_number(m, to, s->name, 4);
    elf_number(m, to, s->type, 4);
    elf_word(m, to, s->flags);
    elf_word(m, to, s->address);
    elf_word(m, to, s->offset);
    elf_word(m, to, s->size);
    elf_number(m, to, s->link, 4);
    elf_number(m, to, 0, 4);
    elf_word(m, to, 1);
    elf_word(m, to, s->entry);
}

static inline void elf_end_file(struct elf_maker *m)
{
    struct elf_bytes out = { 0 };
    uint8_t ident[EI_NIDENT] = { 0x7f,
                                 'E',
                                 'L',
                                 'F',
                                 m->is_64 ? ELFCLASS64 : ELFCLASS32,
                                 m->big ? ELFDATA2MSB : ELFDATA2LSB,
                                 EV_CURRENT };
    uint16_t header_size = m->is_64 ? 64 : 52, segment_size = m->is_64 ? 56 : 32;

    /* its own name is among its bytes */
    m->sections[elf_section(m, ".shstrtab", SHT_STRTAB, 0, 0, NULL, 0, 0, 0)].size = m->names.size;
    elf_put(&m->body, m->names.data, m->names.size);
    while (m->body.size % 16)
        elf_put(&m->body, NULL, 1);
    elf_put(&out, ident, sizeof ident);
    elf_number(m, &out, m->type, 2);
    elf_number(m, &out, m->machine, 2);
    elf_number(m, &out, EV_CURRENT, 4);
    elf_word(m, &out, 0);
    elf_word(m, &out, header_size);
    elf_word(m, &out, ELF_TABLES_AT + m->body.size);
    elf_number(m, &out, 0, 4);
    elf_number(m, &out, header_size, 2);
    elf_number(m, &out, segment_size, 2);
    elf_number(m, &out, m->segment_count, 2);
    elf_number(m, &out, m->is_64 ? 64 : 40, 2);
    elf_number(m, &out, m->section_count, 2);
    elf_number(m, &out, m->section_count - 1u, 2);
    for (unsigned i = 0; i < m->segment_count; i++)
        elf_put_segment(m, &out, m->segments[i]);
    elf_put(&out, NULL, ELF_TABLES_AT - out.size);
    elf_put(&out, m->body.data, m->body.size);
    for (unsigned i = 0; i < m->section_count; i++)
        elf_put_section(m, &out, &m->sections[i]);
    m->bytes = out.data;
    m->size = out.size;
}

static inline void elf_maker_free(struct elf_maker *m)
{
    free(m->body.data);
    free(m->names.data);
    free(m->symbols.data);
    free(m->strings.data);
    free(m->bytes);
}

/* A .note.gnu.build-id of 20 bytes `fill`. */
static inline void elf_build_id(struct elf_maker *m, uint8_t fill)
{
    struct elf_bytes note = { 0 };
    uint8_t id[20];

    memset(id, fill, sizeof id);
    elf_number(m, &note, 4, 4);
    elf_number(m, &note, sizeof id, 4);
    elf_number(m, &note, NT_GNU_BUILD_ID, 4);
    elf_put(&note, "GNU", 4);
    elf_put(&note, id, sizeof id);
    elf_section(m, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0, note.data, note.size, 0, 0);
    free(note.data);
}
#endif
