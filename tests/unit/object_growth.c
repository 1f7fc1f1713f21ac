/* SPDX-License-Identifier: MIT */
/* Issue 24, point 6: what a small ELF file may need. Names that all are the ends of one long
 * string, names of sections that are, names that grow when they are demangled, and debug sections
 * that are packed so that they would fill the memory. */
#include "make_elf.h"
#include "object/lines/lines.h"
#include "object/object.h"
#include "test.h"
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

enum { STRING = 4 << 20, SYMBOLS = 160000, MEMORY = 512 << 20 };

static char path[] = "/tmp/perfdata-test-XXXXXX";

static void write_file(const struct elf_maker *m)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(m->bytes, 1, m->size, file) != m->size || fclose(file))
        abort();
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Symbols without names, whose places in the string table are set afterwards. */
static struct elf_maker make_overlapping(const char *begin)
{
    struct elf_maker m = elf_begin(true, false, ET_DYN, EM_X86_64);
    uint16_t text = elf_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, 0x1000, NULL, 0x40, 0, 0);
    char *names = malloc(STRING);
    if (!names)
        abort();
    memset(names, 'x', STRING - 1);
    names[STRING - 1] = '\0';
    memcpy(names, begin, strlen(begin));
    elf_symbol(&m, names, 0x1000, 8, STB_GLOBAL, STT_FUNC, 0, text);
    free(names);
    for (size_t i = 1; i < SYMBOLS; i++)
        elf_symbol(&m, "", 0x1000 + i, 8, STB_GLOBAL, STT_FUNC, 0, text);
    for (size_t i = 1; i < SYMBOLS; i++) {
        uint32_t name = (uint32_t)(1 + i);
        memcpy(m.symbols.data + (i + 1) * sizeof(Elf64_Sym), &name, sizeof name);
    }
    elf_symbols(&m, ".symtab", SHT_SYMTAB);
    elf_end_file(&m);
    return m;
}

static void names_overlap(void)
{
    struct elf_maker m = make_overlapping("y");
    struct pd_object_search search = { .demangle = true };
    struct pd_object *object;
    double start = seconds();

    CHECK(pd_object_load_memory(&search, m.bytes, m.size, &object) == PERFDATA_OK);
    if (object) {
        CHECK(pd_symtab_find(object->symtab, 0x1000) != NULL ||
              pd_symtab_count(object->symtab) > 0);
        CHECK(pd_symtab_memory(object->symtab) < 8 * m.size);
    }
    pd_object_free(object);
    write_file(&m);
    struct pd_lines *lines = pd_lines_open(path);
    CHECK(lines != NULL);
    pd_lines_free(lines);
    CHECK(seconds() - start < 10);
    elf_maker_free(&m);
}

/* A debug section that says how large it was. */
static void make_packed(uint32_t how, uint64_t size, const void *bytes, size_t packed_size)
{
    struct elf_maker m = elf_begin(true, false, ET_DYN, EM_X86_64);
    Elf64_Chdr head = { .ch_type = how, .ch_size = size, .ch_addralign = 1 };
    uint8_t *section = malloc(sizeof head + packed_size);
    if (!section)
        abort();
    memcpy(section, &head, sizeof head);
    memcpy(section + sizeof head, bytes, packed_size);
    elf_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, 0x1000, NULL, 0x40, 0, 0);
    elf_section(&m, ".debug_info", SHT_PROGBITS, SHF_COMPRESSED, 0, section,
                sizeof head + packed_size, 0, 0);
    elf_end_file(&m);
    free(section);
    write_file(&m);
    elf_maker_free(&m);
}

static bool has_problem(const char *words)
{
    const char *where, *problem;
    struct pd_lines *lines = pd_lines_open(path);
    bool has = lines && (problem = pd_lines_problem(lines, &where)) && strstr(problem, words) &&
               !strcmp(where, path);
    pd_lines_free(lines);
    return has;
}

static void packed_bombs(void)
{
    enum { ZLIB = 1, ZSTD = 2, FUTURE = 99, PACKED = 1 << 20 };
    static uint8_t nothing[PACKED], zeros[256 << 10];
    size_t size = ZSTD_compress(nothing, sizeof nothing, zeros, sizeof zeros, 1);

    make_packed(ZLIB, UINT64_C(4) << 30, nothing, PACKED);
    CHECK(has_problem("fill the memory"));
    make_packed(ZSTD, UINT64_C(4) << 30, nothing, PACKED);
    CHECK(has_problem("fill the memory"));
    make_packed(ZSTD, UINT64_MAX, nothing, 64);
    CHECK(has_problem("fill the memory"));
    make_packed(FUTURE, 100, nothing, 64);
    CHECK(has_problem("unknown way"));
    /* Another size than what is in it. */
    make_packed(ZSTD, sizeof zeros + 1, nothing, size);
    CHECK(has_problem("cannot be unpacked"));
    make_packed(ZSTD, sizeof zeros, nothing, size / 2);
    CHECK(has_problem("cannot be unpacked"));
}

int main(void)
{
    struct rlimit memory = { MEMORY, MEMORY };
    int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    setrlimit(RLIMIT_AS, &memory);
#else
    (void)memory;
#endif
    names_overlap();
    packed_bombs();
    unlink(path);
    return test_done();
}
