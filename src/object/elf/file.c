/* SPDX-License-Identifier: MIT */
/* The bytes of an ELF file -> its sections, strings and tables, none of them believed before it was
 * checked. */
#include "object/elf/file.h"
#include "base/memory.h"
#include <errno.h>

enum {
    NAMES_PER_TABLE = 4, /* bytes of names taken for each byte of strings */
    NAMES_LEAST = 1 << 20,
    SECTION_NAME_MAX = 256
};

static void find_tables(struct pd_elf *elf)
{
    if (!pd_elf_section(elf, ".symtab", &elf->symtab) || elf->symtab.header.sh_type != SHT_SYMTAB)
        elf->symtab.section = NULL;
    if (!pd_elf_section(elf, ".dynsym", &elf->dynsym) || elf->dynsym.header.sh_type != SHT_DYNSYM)
        elf->dynsym.section = NULL;
    if (!pd_elf_section(elf, ".opd", &elf->opd) || elf->opd.header.sh_type != SHT_PROGBITS)
        elf->opd.section = NULL;
}

static bool open_bytes(struct pd_elf *elf)
{
    if (elf->bytes.size < EI_NIDENT || memcmp(elf->bytes.data, ELFMAG, SELFMAG) != 0)
        return false;
    elf_version(EV_CURRENT);
    errno = 0;
    elf->elf = elf_memory((char *)elf->bytes.data, elf->bytes.size);
    pd_memory_note_errno();
    if (!elf->elf)
        return false;
    if (elf_kind(elf->elf) == ELF_K_ELF && gelf_getehdr(elf->elf, &elf->header)) {
        elf->is_64_bit = gelf_getclass(elf->elf) == ELFCLASS64;
        elf->swapped = elf->header.e_ident[EI_DATA] !=
                       (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
        if (elf_getshdrnum(elf->elf, &elf->section_count))
            elf->section_count = 0;
        elf->section_count = PD_MIN(elf->section_count, elf->bytes.size / sizeof(Elf32_Shdr));
        if (elf_getshdrstrndx(elf->elf, &elf->name_section))
            elf->name_section = 0;
        find_tables(elf);
        pd_memory_note_errno();
        return true;
    }
    elf_end(elf->elf);
    elf->elf = NULL;
    return false;
}

bool pd_elf_open_memory(struct pd_elf *elf, const void *image, size_t size)
{
    *elf = (struct pd_elf){
        .bytes = { .data = (uint8_t *)(uintptr_t)image, .size = size, .borrowed = true }
    };
    return open_bytes(elf);
}

static bool open_path(struct pd_elf *elf, const char *path, bool packed)
{
    *elf = (struct pd_elf){ 0 };
    if (!pd_file_map(path, &elf->bytes))
        return false;
    if ((!packed || pd_bytes_unpack(&elf->bytes, PD_UNPACK_LIMIT)) && open_bytes(elf))
        return true;
    pd_bytes_free(&elf->bytes);
    return false;
}

bool pd_elf_open(struct pd_elf *elf, const char *path)
{
    return open_path(elf, path, false);
}

bool pd_elf_open_packed(struct pd_elf *elf, const char *path)
{
    return open_path(elf, path, true);
}

void pd_elf_close(struct pd_elf *elf)
{
    if (elf->elf)
        elf_end(elf->elf);
    pd_bytes_free(&elf->bytes);
    *elf = (struct pd_elf){ 0 };
}

const char *pd_elf_section_name(const struct pd_elf *elf, const GElf_Shdr *header)
{
    Elf_Scn *names = elf_getscn(elf->elf, elf->name_section);
    size_t length;
    const Elf_Data *data = names ? pd_elf_data(elf, names) : NULL;

    if (!data || header->sh_name >= data->d_size)
        return "";
    /* Names are looked at again and again. A long one, which would take long, is none that is asked
     * for. */
    const char *name = (const char *)data->d_buf + header->sh_name;
    size_t room = PD_MIN(data->d_size - (size_t)header->sh_name, (size_t)SECTION_NAME_MAX);
    length = strnlen(name, room);
    return length < room ? name : "";
}

bool pd_elf_section(const struct pd_elf *elf, const char *name, struct pd_elf_table *out)
{
    *out = (struct pd_elf_table){ 0 };
    for (size_t i = 1; i < elf->section_count; i++) {
        Elf_Scn *section = elf_getscn(elf->elf, i);
        GElf_Shdr header;
        if (!section || !gelf_getshdr(section, &header))
            break;
        if (!strcmp(pd_elf_section_name(elf, &header), name)) {
            *out = (struct pd_elf_table){ section, header, i };
            return true;
        }
    }
    return false;
}

Elf_Data *pd_elf_data(const struct pd_elf *elf, Elf_Scn *section)
{
    GElf_Shdr header;

    /* libelf trusts some of these fields */
    if (!section || !gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
        !pd_range_ok(header.sh_offset, header.sh_size, elf->bytes.size))
        return NULL;
    errno = 0;
    Elf_Data *data = elf_getdata(section, NULL);
    pd_memory_note_errno();
    return data && data->d_buf && data->d_size ? data : NULL;
}

const char *pd_elf_string(const Elf_Data *strings, uint64_t offset, size_t *length)
{
    if (!strings || offset >= strings->d_size)
        return NULL;
    const char *text = (const char *)strings->d_buf + offset;
    size_t room = strings->d_size - (size_t)offset;
    *length = strnlen(text, room);
    return *length < room ? text : NULL;
}

/* Behind the last NUL nothing is a string. */
bool pd_elf_names_open(const struct pd_elf *elf, uint32_t section, struct pd_elf_names *names)
{
    const Elf_Data *data = pd_elf_data(elf, elf_getscn(elf->elf, section));
    const uint8_t *last = data ? memrchr(data->d_buf, 0, data->d_size) : NULL;

    *names = (struct pd_elf_names){ .left = 0 };
    if (!last)
        return false;
    names->data = *data;
    names->data.d_size = (size_t)(last - (const uint8_t *)data->d_buf) + 1;
    names->left = names->data.d_size * NAMES_PER_TABLE + NAMES_LEAST;
    return true;
}

const char *pd_elf_names_take(struct pd_elf_names *names, uint64_t offset, size_t *length)
{
    const char *name = names->left ? pd_elf_string(&names->data, offset, length) : NULL;

    if (!name)
        return NULL;
    names->left = *length < names->left ? names->left - *length : 0;
    return name;
}

bool pd_elf_build_id(const struct pd_elf *elf, struct pd_build_id *id)
{
    static const char *const sections[] = { ".note.gnu.build-id", ".notes", ".note" };

    for (size_t i = 0; i < PD_LENGTH(sections); i++) {
        struct pd_elf_table table;
        if (!pd_elf_section(elf, sections[i], &table))
            continue;
        /* the first that exists decides */
        Elf_Data *data = pd_elf_data(elf, table.section);
        if (!data)
            return false;
        if (data->d_type == ELF_T_NHDR || data->d_type == ELF_T_NHDR8 || !elf->swapped)
            return pd_build_id_from_notes(data->d_buf, data->d_size, id);
        return false;
    }
    return false;
}

bool pd_elf_debuglink(const struct pd_elf *elf, char *name, size_t size)
{
    struct pd_elf_table table;
    size_t length;

    if (!pd_elf_section(elf, ".gnu_debuglink", &table))
        return false;
    const char *text = pd_elf_string(pd_elf_data(elf, table.section), 0, &length);
    if (!text || length + 1 > size)
        return false;
    memcpy(name, text, length + 1);
    return true;
}
