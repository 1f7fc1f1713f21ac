/* SPDX-License-Identifier: MIT */
/* The ELF file of one LOAD of a jitdump, byte by byte as perf lays it out (but for the build-id,
 * which perf draws at random). */
#include "base/hash.h"
#include "object/jit/jitdump.h"
#include <dwarf.h>
#include <elf.h>

enum {
    NOTE_HEAD = 16, /* of the build-id, with its name */
    LINE_BASE = -5, /* of the line program */
    LINE_RANGE = 242,
    OPCODE_BASE = 13,
    ROW_LINE = 8, /* a row's members */
    ROW_NAME = 16
};

/* Section names at the places that perf gives them. */
static const char section_names[] =
    "\0.text\0.shstrtab\0.symtab\0.strtab\0.note.gnu.build-id\0"
    ".debug_line\0.debug_info\0.debug_abbrev\0.eh_frame_hdr\0.eh_frame";

struct image {
    struct pd_text *out;
    bool swap, big_endian;
    uint32_t machine;
    Elf64_Shdr sections[12];
    unsigned count, names;
};

/* ---- numbers ---- */

static void put(struct image *image, uint64_t value, unsigned size)
{
    uint8_t bytes[8];
    pd_store(bytes, value, size, image->swap);
    pd_text_bytes(image->out, bytes, size);
}

static void put_uleb(struct pd_text *out, uint64_t value)
{
    do {
        uint8_t byte = value & 0x7f;
        value >>= 7;
        pd_text_char(out, (char)(value ? byte | 0x80 : byte));
    } while (value);
}

static void put_sleb(struct pd_text *out, int64_t value)
{
    for (;;) {
        uint8_t byte = (uint8_t)value & 0x7f;
        value = value < 0 ? ~(~value >> 7) : value >> 7;
        bool last = (value == 0 && !(byte & 0x40)) || (value == -1 && byte & 0x40);
        pd_text_char(out, (char)(last ? byte : byte | 0x80));
        if (last)
            return;
    }
}

/* ---- sections ---- */

static void align(struct image *image, size_t to)
{
    size_t rest = image->out->length % to;
    if (rest)
        pd_text_fill(image->out, '\0', to - rest);
}

/* Where section_names has it. */
static uint32_t name_at(const char *name)
{
    size_t at = 1;
    while (at < sizeof section_names && strcmp(section_names + at, name) != 0)
        at += strlen(section_names + at) + 1;
    return (uint32_t)at;
}

/* A section that begins here; its bytes follow. */
static Elf64_Shdr *begin_section(struct image *image, const char *name, uint32_t type,
                                 uint64_t flags, size_t alignment)
{
    Elf64_Shdr *section = &image->sections[image->count++];
    align(image, alignment);
    *section = (Elf64_Shdr){ .sh_name = name_at(name),
                             .sh_type = type,
                             .sh_flags = flags,
                             .sh_offset = image->out->length,
                             .sh_addralign = alignment };
    return section;
}

static void end_section(struct image *image, Elf64_Shdr *section)
{
    section->sh_size = image->out->length - section->sh_offset;
}

static void put_section(struct image *image, Elf64_Shdr *section, const void *bytes, size_t size)
{
    pd_text_bytes(image->out, bytes, size);
    end_section(image, section);
}

static void put_code(struct image *image, const struct pd_jit_entry *entry)
{
    Elf64_Shdr *text = begin_section(image, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 16);
    text->sh_addr = text->sh_offset;
    put_section(image, text, entry->code, (size_t)entry->size);
    if (!entry->unwinding)
        return;
    size_t frames = entry->unwinding_size - entry->unwinding_header_size;
    Elf64_Shdr *frame = begin_section(image, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, 8);
    frame->sh_addr = frame->sh_offset;
    put_section(image, frame, entry->unwinding, frames);
    Elf64_Shdr *header = begin_section(image, ".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, 4);
    header->sh_addr = header->sh_offset;
    put_section(image, header, entry->unwinding + frames, entry->unwinding_header_size);
}

static void put_symbol(struct image *image, const struct pd_jit_entry *entry)
{
    image->names = image->count;
    put_section(image, begin_section(image, ".shstrtab", SHT_STRTAB, 0, 1), section_names,
                sizeof section_names);
    Elf64_Shdr *symbols = begin_section(image, ".symtab", SHT_SYMTAB, 0, 8);
    symbols->sh_entsize = sizeof(Elf64_Sym);
    symbols->sh_link = image->count;
    pd_text_fill(image->out, '\0', sizeof(Elf64_Sym));
    put(image, 1, 4);
    put(image, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 1);
    put(image, STV_DEFAULT, 1);
    put(image, 1, 2); /* .text */
    put(image, PD_JIT_TEXT_AT, 8);
    put(image, entry->size, 8);
    end_section(image, symbols);
    Elf64_Shdr *strings = begin_section(image, ".strtab", SHT_STRTAB, 0, 1);
    pd_text_char(image->out, '\0');
    pd_text_bytes(image->out, entry->name, entry->name_length + 1);
    end_section(image, strings);
}

static void put_note(struct image *image, const struct pd_build_id *id)
{
    Elf64_Shdr *note = begin_section(image, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 4);
    put(image, sizeof "GNU", 4);
    put(image, id->size, 4);
    put(image, NT_GNU_BUILD_ID, 4);
    pd_text_bytes(image->out, "GNU", sizeof "GNU");
    put_section(image, note, id->bytes, id->size);
}

/* ---- lines ---- */

/* Begins an extended opcode of so many bytes. */
static void extended(struct image *image, uint8_t opcode, uint64_t size)
{
    put(image, 0, 1);
    put_uleb(image->out, size);
    put(image, opcode, 1);
}

/* To another row: one byte where it is no other address, else opcode by opcode. */
static void put_row(struct image *image, int32_t line_delta, uint64_t address_delta)
{
    struct pd_text *out = image->out;
    if (line_delta >= LINE_BASE && line_delta < LINE_BASE + LINE_RANGE &&
        address_delta <= UINT8_MAX / LINE_RANGE) {
        unsigned opcode = (unsigned)(line_delta - LINE_BASE) +
                          LINE_RANGE * (unsigned)address_delta + OPCODE_BASE;
        if (opcode <= UINT8_MAX) {
            put(image, opcode, 1);
            return;
        }
    }
    if (line_delta) {
        put(image, DW_LNS_advance_line, 1);
        put_sleb(out, line_delta);
    }
    if (address_delta) {
        put(image, DW_LNS_advance_pc, 1);
        put_uleb(out, address_delta);
    }
    put(image, DW_LNS_copy, 1);
}

static void put_line_program(struct image *image, const struct pd_jit_entry *entry)
{
    const uint8_t *row = entry->lines;
    const char *file = NULL;
    uint64_t address = entry->address;
    uint32_t line = 1, files = 0;
    extended(image, DW_LNE_set_address, 1 + sizeof address);
    put(image, PD_JIT_TEXT_AT, sizeof address);
    for (uint64_t i = 0; i < entry->line_count; i++) {
        const char *name = (const char *)row + ROW_NAME;
        size_t length = strlen(name);
        if (!file || strcmp(file, name) != 0) {
            extended(image, DW_LNE_define_file, 1 + length + 1 + 3);
            pd_text_bytes(image->out, name, length + 1);
            pd_text_fill(image->out, '\0', 3); /* folder, time, size */
            put(image, DW_LNS_set_file, 1);
            put_uleb(image->out, ++files);
            file = name;
        }
        uint64_t row_address = pd_load64(row, image->swap);
        uint32_t row_line = pd_load32(row + ROW_LINE, image->swap);
        put_row(image, (int32_t)(row_line - line), row_address - address);
        address = row_address;
        line = row_line;
        row = (const uint8_t *)name + length + 1;
    }
    extended(image, DW_LNE_end_sequence, 1);
}

static void put_lines(struct image *image, const struct pd_jit_entry *entry)
{
    static const uint8_t head[] = { 1, 1, (uint8_t)LINE_BASE, LINE_RANGE, OPCODE_BASE,
                                    /* operands of the standard opcodes */
                                    0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1,
                                    /* no folders, no files */
                                    0, 0 };
    static const uint8_t abbreviations[] = {
        1, DW_TAG_compile_unit, DW_CHILDREN_yes, DW_AT_stmt_list, DW_FORM_data4, 0, 0, 0
    };
    enum { DWARF_VERSION = 2, UNIT_SIZE = 12 };
    Elf64_Shdr *lines = begin_section(image, ".debug_line", SHT_PROGBITS, 0, 1);
    size_t start = image->out->length;
    put(image, 0, 4); /* the length, when it is known */
    put(image, DWARF_VERSION, 2);
    put(image, sizeof head, 4);
    pd_text_bytes(image->out, head, sizeof head);
    put_line_program(image, entry);
    end_section(image, lines);
    if (!image->out->failed)
        pd_store32(image->out->data + start, (uint32_t)(lines->sh_size - 4), image->swap);
    Elf64_Shdr *info = begin_section(image, ".debug_info", SHT_PROGBITS, 0, 1);
    put(image, UNIT_SIZE, 4);
    put(image, DWARF_VERSION, 2);
    put(image, 0, 4); /* abbreviations */
    put(image, 8, 1); /* bytes of an address */
    put(image, 1, 1);
    put(image, 0, 4); /* its line program */
    end_section(image, info);
    put_section(image, begin_section(image, ".debug_abbrev", SHT_PROGBITS, 0, 1), abbreviations,
                sizeof abbreviations);
}

/* ---- the file ---- */

static void put_heads(struct image *image, uint64_t code_size)
{
    uint8_t ident[EI_NIDENT] = { ELFMAG0,    ELFMAG1,
                                 ELFMAG2,    ELFMAG3,
                                 ELFCLASS64, image->big_endian ? ELFDATA2MSB : ELFDATA2LSB,
                                 EV_CURRENT };
    pd_text_bytes(image->out, ident, sizeof ident);
    put(image, ET_DYN, 2);
    put(image, image->machine, 2);
    put(image, EV_CURRENT, 4);
    put(image, PD_JIT_TEXT_AT, 8);
    put(image, sizeof(Elf64_Ehdr), 8);
    put(image, 0, 8); /* of the sections: see finish() */
    put(image, 0, 4);
    put(image, sizeof(Elf64_Ehdr), 2);
    put(image, sizeof(Elf64_Phdr), 2);
    put(image, 1, 2);
    put(image, sizeof(Elf64_Shdr), 2);
    put(image, 0, 4); /* count and names: there are none */
    put(image, PT_LOAD, 4);
    put(image, PF_R | PF_X, 4);
    for (unsigned i = 0; i < 3; i++)
        put(image, PD_JIT_TEXT_AT, 8);
    put(image, code_size, 8);
    put(image, code_size, 8);
    put(image, 8, 8);
}

static void finish(struct image *image)
{
    align(image, 8);
    size_t at = image->out->length;
    for (unsigned i = 0; i < image->count; i++) {
        const Elf64_Shdr *section = &image->sections[i];
        put(image, section->sh_name, 4);
        put(image, section->sh_type, 4);
        put(image, section->sh_flags, 8);
        put(image, section->sh_addr, 8);
        put(image, section->sh_offset, 8);
        put(image, section->sh_size, 8);
        put(image, section->sh_link, 4);
        put(image, section->sh_info, 4);
        put(image, section->sh_addralign, 8);
        put(image, section->sh_entsize, 8);
    }
    if (image->out->failed)
        return;
    char *header = image->out->data;
    pd_store64(header + offsetof(Elf64_Ehdr, e_shoff), at, image->swap);
    pd_store16(header + offsetof(Elf64_Ehdr, e_shnum), (uint16_t)image->count, image->swap);
    pd_store16(header + offsetof(Elf64_Ehdr, e_shstrndx), (uint16_t)image->names, image->swap);
}

/* Equal code has equal ids, so that a second run writes the same files. */
static void make_id(const struct pd_jit_entry *entry, struct pd_build_id *id)
{
    uint64_t hash = pd_digest(entry->name, entry->name_length, entry->address);
    id->size = PD_BUILD_ID_MAX;
    for (size_t at = 0; at < id->size; at += sizeof hash) {
        hash = pd_digest(entry->code, (size_t)entry->size, hash);
        if (entry->lines)
            hash = pd_digest(entry->lines, entry->lines_size, hash);
        if (entry->unwinding)
            hash = pd_digest(entry->unwinding, entry->unwinding_size, hash);
        memcpy(id->bytes + at, &hash, PD_MIN(sizeof hash, id->size - at));
    }
}

bool pd_jit_image(const struct pd_jitdump *dump, const struct pd_jit_entry *entry,
                  struct pd_text *out, struct pd_build_id *id)
{
    struct image image = { .out = out,
                           .swap = dump->swap,
                           .big_endian = dump->big_endian,
                           .machine = dump->machine,
                           .count = 1 };
    out->length = 0;
    make_id(entry, id);
    put_heads(&image, entry->size);
    put_code(&image, entry);
    put_symbol(&image, entry);
    put_note(&image, id);
    if (entry->lines)
        put_lines(&image, entry);
    finish(&image);
    return !out->failed;
}
