/* SPDX-License-Identifier: MIT */
/* An open ELF file: its bytes, its libelf handle and what symbol loading needs of its sections. One
 * owner. */
#ifndef PD_ELF_FILE_H
#define PD_ELF_FILE_H
#include "object/elf/build_id.h"
#include "object/file.h"
#include <gelf.h>

#define PD_UNPACK_LIMIT ((size_t)1 << 30) /* of compressed modules and debug data */

struct pd_elf_table {
    Elf_Scn *section; /* NULL: absent */
    GElf_Shdr header;
    size_t index;
};

struct pd_elf {
    struct pd_bytes bytes;
    Elf *elf;
    GElf_Ehdr header;
    size_t section_count, name_section;
    struct pd_elf_table symtab, dynsym, opd;
    bool is_64_bit;
    bool swapped; /* the other byte order */
};

/* False when it is no usable ELF file; nothing is then to be closed. The bytes are borrowed and
 * must outlive `elf`. */
bool pd_elf_open_memory(struct pd_elf *elf, const void *image, size_t size);
/* The same for a file, unpacked if compressed. */
bool pd_elf_open(struct pd_elf *elf, const char *path);
bool pd_elf_open_packed(struct pd_elf *elf, const char *path);
void pd_elf_close(struct pd_elf *elf);

/* The first section of that name. */
bool pd_elf_section(const struct pd_elf *elf, const char *name, struct pd_elf_table *out);
/* Its bytes in our order, or NULL (absent, NOBITS, outside the file). */
Elf_Data *pd_elf_data(const struct pd_elf *elf, Elf_Scn *section);
/* A section's name, "" when there is none. */
const char *pd_elf_section_name(const struct pd_elf *elf, const GElf_Shdr *header);
/* A NUL-terminated string of a string table, with its length; NULL when it lies outside. */
const char *pd_elf_string(const Elf_Data *strings, uint64_t offset, size_t *length);

/* The names of a table's symbols, and how many bytes of them may still be taken: names may share
 * their ends, but a file in which each is the rest of one long string would need the square of its
 * size. */
struct pd_elf_names {
    Elf_Data data;
    uint64_t left;
};

/* `section`: of the strings. False: there are none. */
bool pd_elf_names_open(const struct pd_elf *elf, uint32_t section, struct pd_elf_names *names);
/* NULL: outside, or too much was taken already. */
const char *pd_elf_names_take(struct pd_elf_names *names, uint64_t offset, size_t *length);

bool pd_elf_build_id(const struct pd_elf *elf, struct pd_build_id *id);
/* The file name of .gnu_debuglink; false: none. */
bool pd_elf_debuglink(const struct pd_elf *elf, char *name, size_t size);

#endif
