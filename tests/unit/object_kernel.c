/* SPDX-License-Identifier: MIT */
/* The kernel's table: which lines count, how they spread over kernel and modules, relocation. */
#include "make_elf.h"
#include "object/kernel/kallsyms.h"
#include "object/object.h"
#include "test.h"
#include <unistd.h>

#define BASE UINT64_C(0xffffffff81000000)
#define MODULE UINT64_C(0xffffffffc0000000)

static const char table_text[] = "ffffffff81000000 T _text\n"
                                 "ffffffff81000000 T _stext\n"
                                 "ffffffff81000100 t foo\n"
                                 "ffffffff81000180 a absolute\n"
                                 "ffffffff81000190 r read_only\n"
                                 "ffffffff810001a0 t $d\n"
                                 "garbage\n"
                                 "ffffffff81000200 T bar\n"
                                 "ffffffff81000200 W weak_bar\n"
                                 "ffffffff81001000 D data\n"
                                 "ffffffff81001100 T __entry_SYSCALL_64_trampoline\n"
                                 "ffffffffc0000000 t first\t[modx]\n"
                                 "ffffffffc0000100 t second\t[modx]\n"
                                 "ffffffffc0010000 T other\t[not_recorded]\n";

static struct pd_kernel_map maps[] = {
    { .start = BASE, .end = BASE + 0x200000, .pgoff = BASE },
    { .name = "[modx]", .start = MODULE, .end = MODULE + 0x1000, .is_module = true },
};

static struct pd_kernel *load(const char *text, const char *reference, uint64_t address)
{
    struct pd_object_search search = { .symfs = "/nonexistent" };
    struct pd_kernel_request request = { .ref_reloc_name = reference,
                                         .ref_reloc_address = address,
                                         .kallsyms_text = text,
                                         .kallsyms_size = strlen(text),
                                         .maps = maps,
                                         .map_count = PD_LENGTH(maps),
                                         .is_x86_64 = true };
    struct pd_kernel *kernel;

    CHECK(pd_kernel_load(&search, &request, &kernel) == PERFDATA_OK);
    if (!kernel)
        abort();
    return kernel;
}

static const char *name_at(const struct pd_kernel *kernel, uint64_t address)
{
    for (size_t i = 0; i < kernel->map_count; i++) {
        const struct pd_kernel_result_map *map = &kernel->maps[i];
        if (address < map->start || address >= map->end)
            continue;
        uint64_t at = map->identity ? address : address - map->start + map->pgoff;
        const struct pd_symbol *symbol = map->symtab ? pd_symtab_find(map->symtab, at) : NULL;
        return symbol ? symbol->name : "?";
    }
    return "-";
}

static void test_kernel_and_module(void)
{
    struct pd_kernel *kernel = load(table_text, "_text", BASE);

    CHECK_U64(kernel->type, PD_OBJECT_KALLSYMS);
    CHECK_STR(name_at(kernel, BASE), "_stext");      /* longer */
    CHECK_STR(name_at(kernel, BASE + 0x195), "foo"); /* types a and r are not taken, $d neither */
    CHECK_STR(name_at(kernel, BASE + 0x200), "weak_bar"); /* bar has no length: its alias follows */
    CHECK_STR(name_at(kernel, BASE + 0x10ff), "data");
    CHECK_STR(name_at(kernel, BASE + 0x1100), "-"); /* dropped; the map ends with its symbols */
    CHECK_STR(name_at(kernel, MODULE + 0xff), "first");
    CHECK_STR(name_at(kernel, MODULE + 0x100), "second");
    const struct pd_symbol *second = pd_symtab_find(kernel->maps[1].symtab, 0x100);
    CHECK_U64(second->start, 0x100); /* relative to the map */
    CHECK_U64(second->name_length, strlen("second"));
    CHECK_U64(pd_symbol_width(second), strlen("second\t[modx]"));
    CHECK_U64(kernel->maps[0].end, BASE + 0x1100);
    pd_kernel_free(kernel);
}

/* The recorded kernel lay elsewhere: addresses move by the difference of the reference symbols. */
static void test_relocation(void)
{
    maps[0].start += 0x1000000, maps[0].end += 0x1000000;
    struct pd_kernel *kernel = load(table_text, "_text", BASE + 0x1000000);
    maps[0].start -= 0x1000000, maps[0].end -= 0x1000000;

    CHECK_U64(kernel->delta, 0x1000000);
    CHECK_STR(name_at(kernel, BASE + 0x1000150), "foo");
    CHECK_STR(name_at(kernel, MODULE + 0x150), "second"); /* modules do not move */
    pd_kernel_free(kernel);
}

/* Without the reference symbol perf gives up before the fix-ups. */
static void test_lost_reference(void)
{
    struct pd_kernel *kernel = load(table_text, "_no_such", BASE);

    CHECK_U64(kernel->type, PD_OBJECT_NOT_FOUND);
    CHECK_STR(name_at(kernel, BASE + 0x100), "foo");
    CHECK_STR(name_at(kernel, BASE + 0x101), "?");
    CHECK_U64(kernel->maps[0].end, BASE + 0x200000);
    pd_kernel_free(kernel);
}

/* perf looked the module up before the kernel: its first symbol is dropped. */
static void test_module_loaded_before(void)
{
    maps[1].loaded_before = true;
    struct pd_kernel *kernel = load(table_text, "_text", BASE);
    maps[1].loaded_before = false;

    CHECK_STR(name_at(kernel, MODULE + 0x50), "?");
    CHECK_STR(name_at(kernel, MODULE + 0x150), "second");
    pd_kernel_free(kernel);
}

/* Kernel symbols behind those of modules get maps of their own that hold no address. */
static void test_stray(void)
{
    char text[1024];
    snprintf(text, sizeof text, "%s%s", table_text,
             "ffffffffc0020000 T stray\nffffffffc0020100 T stray2\n");
    struct pd_kernel *kernel = load(text, "_text", BASE);

    /* behind a module that is not recorded it is still the kernel's */
    CHECK_U64(kernel->map_count, 2);
    CHECK_STR(name_at(kernel, MODULE + 0x20050), "stray");
    pd_kernel_free(kernel);

    snprintf(
        text, sizeof text, "%s%s", table_text,
        "ffffffffc0020000 T third\t[modx]\nffffffffc0030000 T stray\nffffffffc0030100 T stray2\n");
    kernel = load(text, "_text", BASE);
    CHECK_U64(kernel->map_count, 4);
    CHECK_STR(kernel->maps[2].name, "[kernel].0");
    CHECK_STR(kernel->maps[3].name, "[kernel].2");
    CHECK_STR(name_at(kernel, MODULE + 0x30050), "-");
    pd_kernel_free(kernel);
}

/* Modules that bear the name of the kernel's own map: their symbols stay in it. So many that a
 * table which takes them while it is dealt out would move. */
static void test_module_named_as_kernel(void)
{
    enum { COUNT = 3000, ROOM = 80 };
    char *text = malloc(COUNT * ROOM), *at = text;
    if (!text)
        abort();
    at += snprintf(at, ROOM, "ffffffff81000000 T _text\n");
    for (unsigned i = 0; i < COUNT - 1; i++)
        at += snprintf(at, ROOM, "%llx t f%u\t[kernel.kallsyms]\n",
                       0xffffffff81001000ULL + i * 16ULL, i);
    struct pd_kernel *kernel = load(text, "_text", BASE);
    CHECK_STR(name_at(kernel, 0xffffffff81001008), "f0");
    CHECK_STR(name_at(kernel, 0xffffffff81001000 + 16 * 2900), "f2900");
    pd_kernel_free(kernel);
    free(text);
}

static void test_lines(void)
{
    struct pd_symtab_builder *builder = pd_symtab_builder_new(PD_DEMANGLE_NONE);
    static const char text[] = "10 T a\n20 t b\n30 W c\n40 w d\n50 B e\n60 d f\n"
                               "70  g\n80 T\n90 Tx h\nzz T i\n\nA0 T  j k\nb0 T last";
    uint64_t address = 0;

    char *copy = strdup(text);
    CHECK(builder && copy && pd_kallsyms_parse(builder, copy, strlen(copy)));
    struct pd_symtab *table = pd_symtab_finish(builder);
    static const struct {
        uint64_t start;
        uint8_t binding, type;
        const char *name;
    } expected[] = {
        { 0x10, PD_SYMBOL_GLOBAL, 2, "a" },    { 0x20, PD_SYMBOL_LOCAL, 2, "b" },
        { 0x30, PD_SYMBOL_WEAK, 2, "c" },      { 0x40, PD_SYMBOL_LOCAL, 2, "d" },
        { 0x50, PD_SYMBOL_GLOBAL, 1, "e" },    { 0x60, PD_SYMBOL_LOCAL, 1, "f" },
        { 0xa0, PD_SYMBOL_GLOBAL, 2, " j k" }, { 0xb0, PD_SYMBOL_GLOBAL, 2, "last" },
    };
    CHECK_U64(pd_symtab_count(table), PD_LENGTH(expected));
    for (size_t i = 0; i < PD_LENGTH(expected) && i < pd_symtab_count(table); i++) {
        const struct pd_symbol *symbol = pd_symtab_at(table, i);
        CHECK_U64(symbol->start, expected[i].start);
        CHECK_U64(symbol->binding, expected[i].binding);
        CHECK_U64(symbol->type, expected[i].type);
        CHECK_STR(symbol->name, expected[i].name);
    }
    pd_symtab_free(table);
    CHECK(pd_kallsyms_function(text, strlen(text), "c", &address) && address == 0x30);
    CHECK(!pd_kallsyms_function(text, strlen(text), "e", &address));
}

/* ---- a copy of the kernel's memory ---- */

static char folder[] = "/tmp/perfdata-kcore-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put_file(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(in_folder(name), "w");
    CHECK(file && fwrite(bytes, 1, size, file) == size);
    if (file)
        fclose(file);
}

static void put_kcore(void)
{
    struct elf_maker m = elf_begin(true, false, ET_CORE, EM_X86_64);
    elf_segment(&m, MODULE, 0x3000, 0x1000);
    elf_segment(&m, BASE, 0x1000, 0x1080);
    elf_end_file(&m);
    put_file("kcore", m.bytes, m.size);
    elf_maker_free(&m);
}

static struct pd_kernel *load_copy(const char *modules)
{
    char kallsyms[128];
    struct pd_kernel *kernel;

    put_file("kallsyms", table_text, sizeof table_text - 1);
    put_file("modules", modules, strlen(modules));
    snprintf(kallsyms, sizeof kallsyms, "%s", in_folder("kallsyms"));
    struct pd_object_search search = { .symfs = "/nonexistent", .kallsyms = kallsyms };
    struct pd_kernel_request request = { .maps = maps,
                                         .map_count = PD_LENGTH(maps),
                                         .is_x86_64 = true };
    CHECK(pd_kernel_load(&search, &request, &kernel) == PERFDATA_OK);
    if (!kernel)
        abort();
    return kernel;
}

static const struct pd_symbol *symbol_in_kcore(const struct pd_kernel *kernel, uint64_t address)
{
    static const struct pd_symbol none = { .name = "?" }, outside = { .name = "-" };
    for (size_t i = 0; i < kernel->map_count; i++) {
        const struct pd_kernel_result_map *map = &kernel->maps[i];
        if (address < map->start || address >= map->end)
            continue;
        CHECK(map->of_kernel && !map->identity);
        const struct pd_symbol *symbol = pd_symtab_find(kernel->maps[0].symtab,
                                                        address - map->start + map->pgoff);
        return symbol ? symbol : &none;
    }
    return &outside;
}

static const char *name_in_kcore(const struct pd_kernel *kernel, uint64_t address)
{
    return symbol_in_kcore(kernel, address)->name;
}

static void test_kcore(void)
{
    put_kcore();
    struct pd_kernel *kernel = load_copy("other 4096 0 - Live 0xffffffffc0010000\n"
                                         "modx 4096 0 - Live 0xffffffffc0000000\n");
    CHECK_STR(kernel->code_path, in_folder("kcore"));
    CHECK_U64(kernel->maps[0].pgoff, 0x1000); /* the segment with _stext */
    CHECK_U64(kernel->maps[0].end, BASE + 0x1080);
    CHECK_U64(kernel->maps[1].end, 0); /* the module's own map is gone */
    CHECK_STR(name_in_kcore(kernel, BASE + 0x140), "foo");
    CHECK_STR(name_in_kcore(kernel, BASE + 0x1000), "data");
    CHECK_STR(name_in_kcore(kernel, BASE + 0x1080), "-"); /* outside the segments */
    CHECK_STR(name_in_kcore(kernel, MODULE + 0x110), "second");
    CHECK_U64(pd_symbol_width(symbol_in_kcore(kernel, MODULE + 0x110)), strlen("second\t[modx]"));
    pd_kernel_free(kernel);
}

/* Not the modules that were recorded: the table is used without the copy. */
static void test_kcore_of_other_modules(void)
{
    static const char *const lists[] = { "modx 4096 0 - Live 0xffffffffc0020000\n",
                                         "mod 4096 0 - Live 0xffffffffc0000000\n", "" };
    for (size_t i = 0; i < PD_LENGTH(lists); i++) {
        struct pd_kernel *kernel = load_copy(lists[i]);
        CHECK(!kernel->code_path);
        CHECK_STR(name_at(kernel, BASE + 0x100), "foo");
        pd_kernel_free(kernel);
    }
    unlink(in_folder("modules"));
    unlink(in_folder("kallsyms"));
    unlink(in_folder("kcore"));
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    test_kcore();
    test_kcore_of_other_modules();
    rmdir(folder);
    test_kernel_and_module();
    test_relocation();
    test_lost_reference();
    test_module_loaded_before();
    test_module_named_as_kernel();
    test_stray();
    test_lines();
    return test_done();
}
