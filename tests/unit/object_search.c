/* SPDX-License-Identifier: MIT */
/* Which file gives a program's symbols: order of places, build-ids, packed modules. */
#include "make_elf.h"
#include "object/object.h"
#include "test.h"
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

static char root[] = "/tmp/perfdata-test-XXXXXX";

/* Makes the folders of a path below the root. */
static void make_folders(char *path)
{
    for (char *p = path + sizeof root; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(path, 0777);
        *p = '/';
    }
}

static void write_file(const char *name, const void *bytes, size_t size)
{
    char path[512];

    snprintf(path, sizeof path, "%s%s", root, name);
    make_folders(path);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
        abort();
}

enum { NO_SYMTAB = 1, NO_DYNSYM = 2 };

/* An object whose one symbol is `symbol`; `link`: its .gnu_debuglink, `id` 0: no build-id. */
static struct elf_maker make(const char *symbol, uint8_t id, const char *link, unsigned lacks)
{
    struct elf_maker m = elf_begin(true, false, ET_DYN, EM_X86_64);
    uint16_t text = elf_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, 0x1000, NULL, 0x40, 0, 0);

    elf_segment(&m, 0x1000, m.sections[text].offset, 0x40);
    if (id)
        elf_build_id(&m, id);
    if (link)
        elf_section(&m, ".gnu_debuglink", SHT_PROGBITS, 0, 0, link, strlen(link) + 1, 0, 0);
    if (!(lacks & NO_SYMTAB)) {
        elf_symbol(&m, symbol, 0x1000, 8, STB_GLOBAL, STT_FUNC, 0, text);
        elf_symbols(&m, ".symtab", SHT_SYMTAB);
    }
    if (!(lacks & NO_DYNSYM)) {
        elf_symbol(&m, "dynamic", 0x1020, 8, STB_GLOBAL, STT_FUNC, 0, text);
        elf_symbols(&m, ".dynsym", SHT_DYNSYM);
    }
    elf_end_file(&m);
    return m;
}

static void put(const char *name, const char *symbol, uint8_t id, const char *link, unsigned lacks)
{
    struct elf_maker m = make(symbol, id, link, lacks);

    write_file(name, m.bytes, m.size);
    elf_maker_free(&m);
}

static void check(const char *name, uint8_t id, enum pd_object_type type, const char *expected)
{
    struct pd_object_search search = { .symfs = root };
    struct pd_build_id recorded = { .size = id ? 20 : 0 };
    struct pd_object *object;

    memset(recorded.bytes, id, sizeof recorded.bytes);
    CHECK(pd_object_load(&search, name, &recorded, &object) == PERFDATA_OK);
    CHECK_U64(object->type, type);
    const struct pd_symbol *first = pd_symtab_at(object->symtab, 0);
    CHECK_STR(first ? first->name : "-", expected);
    pd_object_free(object);
}

#define HEX37 "2222222222222222222222222222222222222"

static void test_places(void)
{
    put("/bin/plain", "own", 1, NULL, 0);
    check("/bin/plain", 1, PD_OBJECT_SYSTEM, "own");
    check("/bin/plain", 0, PD_OBJECT_SYSTEM, "own");
    check("/bin/plain", 9, PD_OBJECT_NOT_FOUND, "-"); /* the file was replaced since */
    check("/bin/none", 1, PD_OBJECT_NOT_FOUND, "-");
    put("/bin/noid", "own", 0, NULL, 0);
    check("/bin/noid", 1, PD_OBJECT_NOT_FOUND, "-"); /* no build-id is not the recorded one */

    put("/bin/stripped", "own", 0x22, "stripped.debug", NO_SYMTAB);
    check("/bin/stripped", 0x22, PD_OBJECT_SYSTEM, "dynamic");
    /* from the last place to the first: each wins over those before */
    put("/bin/.debug/stripped", "embedded", 0x22, NULL, NO_DYNSYM);
    check("/bin/stripped", 0x22, PD_OBJECT_OPENEMBEDDED_DEBUG, "embedded");
    put("/usr/lib/debug/.build-id/22/" HEX37 "2.debug", "by_id", 0x22, NULL, NO_DYNSYM);
    check("/bin/stripped", 0x22, PD_OBJECT_BUILD_ID_DEBUG, "by_id");
    put("/usr/lib/debug/bin/stripped", "ubuntu", 0x22, NULL, NO_DYNSYM);
    check("/bin/stripped", 0x22, PD_OBJECT_UBUNTU_DEBUG, "ubuntu");
    put("/usr/lib/debug/bin/stripped.debug", "fedora", 0x22, NULL, NO_DYNSYM);
    check("/bin/stripped", 0x22, PD_OBJECT_FEDORA_DEBUG, "fedora");
    put("/.debug/.build-id/22/" HEX37 "2/debug", "cache_debug", 0x22, NULL, NO_DYNSYM);
    check("/bin/stripped", 0x22, PD_OBJECT_BUILD_ID_CACHE_DEBUG, "cache_debug");
    put("/.debug/.build-id/22/" HEX37 "2/elf", "cache", 0x22, NULL, NO_DYNSYM);
    check("/bin/stripped", 0x22, PD_OBJECT_BUILD_ID_CACHE, "cache");
    put("/bin/stripped.debug", "linked", 0x22, NULL, NO_DYNSYM);
    check("/bin/stripped", 0x22, PD_OBJECT_DEBUGLINK, "linked");
    put("/bin/stripped.debug", "linked", 0x33, NULL, NO_DYNSYM); /* another build's */
    check("/bin/stripped", 0x22, PD_OBJECT_BUILD_ID_CACHE, "cache");
    /* from the cache alone: the program is gone */
    check("/bin/gone", 0x22, PD_OBJECT_BUILD_ID_CACHE, "cache");
}

static void check_module(const char *name, const char *expected)
{
    struct pd_object_search search = { .symfs = root };
    struct pd_object *object;

    CHECK(pd_object_load_module(&search, name, NULL, &object) == PERFDATA_OK);
    const struct pd_symbol *first = pd_symtab_at(object->symtab, 0);
    CHECK_STR(first ? first->name : "-", expected);
    if (first) {
        CHECK_U64(first->start, object->module_pgoff); /* .text begins with it */
        CHECK_U64(object->type, PD_OBJECT_MODULE);
    }
    pd_object_free(object);
}

static void test_modules(void)
{
    struct elf_maker m = elf_begin(true, false, ET_REL, EM_X86_64);
    uint16_t text = elf_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, 0, NULL, 0x40, 0, 0);
    uint16_t init = elf_section(&m, ".init.text", SHT_PROGBITS, SHF_ALLOC, 0, NULL, 0x40, 0, 0);
    uint8_t packed[8192];
    uLongf gzip_size;
    size_t xz_size = 0, zstd_size;

    elf_symbol(&m, "start", 0, 8, STB_GLOBAL, STT_FUNC, 0, init); /* not in the module's map */
    elf_symbol(&m, "work", 0, 8, STB_GLOBAL, STT_FUNC, 0, text);
    elf_symbols(&m, ".symtab", SHT_SYMTAB);
    elf_end_file(&m);
    write_file("/lib/a.ko", m.bytes, m.size);
    check_module("/lib/a.ko", "work");
    CHECK(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, m.bytes, m.size, packed, &xz_size,
                                  sizeof packed) == LZMA_OK);
    write_file("/lib/a.ko.xz", packed, xz_size);
    check_module("/lib/a.ko.xz", "work");
    write_file("/lib/cut.ko.xz", packed, xz_size / 2);
    check_module("/lib/cut.ko.xz", "-");
    zstd_size = ZSTD_compress(packed, sizeof packed, m.bytes, m.size, 1);
    write_file("/lib/a.ko.zst", packed, zstd_size);
    check_module("/lib/a.ko.zst", "work");
    write_file("/lib/cut.ko.zst", packed, zstd_size / 2);
    check_module("/lib/cut.ko.zst", "-");
    z_stream z = {
        .next_in = m.bytes, .avail_in = (uInt)m.size, .next_out = packed, .avail_out = sizeof packed
    };
    CHECK(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, 0) == Z_OK);
    CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
    gzip_size = z.total_out;
    deflateEnd(&z);
    write_file("/lib/a.ko.gz", packed, gzip_size);
    check_module("/lib/a.ko.gz", "work");
    elf_maker_free(&m);
}

/* .gnu_debugdata is read only when asked: perf 6.1 does not know it. */
static void test_debugdata(void)
{
    struct elf_maker inner = make("inner_only", 0, NULL, NO_DYNSYM);
    struct elf_maker m = elf_begin(true, false, ET_DYN, EM_X86_64);
    uint8_t packed[8192];
    size_t size = 0;
    struct pd_object *object;

    CHECK(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, inner.bytes, inner.size, packed, &size,
                                  sizeof packed) == LZMA_OK);
    uint16_t text = elf_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, 0x1000, NULL, 0x40, 0, 0);
    elf_segment(&m, 0x1000, m.sections[text].offset, 0x40);
    elf_section(&m, ".gnu_debugdata", SHT_PROGBITS, 0, 0, packed, size, 0, 0);
    elf_symbol(&m, "dynamic", 0x1020, 8, STB_GLOBAL, STT_FUNC, 0, text);
    elf_symbols(&m, ".dynsym", SHT_DYNSYM);
    elf_end_file(&m);
    for (int asked = 0; asked < 2; asked++) {
        struct pd_object_search search = { .gnu_debugdata = asked };
        CHECK(pd_object_load_memory(&search, m.bytes, m.size, &object) == PERFDATA_OK);
        CHECK_U64(pd_symtab_count(object->symtab), asked ? 2 : 1);
        const struct pd_symbol *symbol = pd_symtab_find(object->symtab, m.sections[text].offset);
        CHECK_STR(symbol ? symbol->name : "-", asked ? "inner_only" : "-");
        pd_object_free(object);
    }
    elf_maker_free(&inner);
    elf_maker_free(&m);
}

/* ---- kernels ---- */

#define KERNEL UINT64_C(0xffffffff81000000)

static struct pd_kernel *load_kernel(const struct pd_object_search *search, uint8_t id)
{
    static const struct pd_kernel_map map = { .start = KERNEL + 0x100000,
                                              .end = KERNEL + 0x200000,
                                              .pgoff = KERNEL + 0x100000 };
    struct pd_kernel_request request = { .build_id = { .size = 20 },
                                         .ref_reloc_name = "_text",
                                         .ref_reloc_address = KERNEL + 0x100000,
                                         .maps = &map,
                                         .map_count = 1 };
    struct pd_kernel *kernel;

    memset(request.build_id.bytes, id, sizeof request.build_id.bytes);
    CHECK(pd_kernel_load(search, &request, &kernel) == PERFDATA_OK);
    return kernel;
}

static const char *kernel_name(const struct pd_kernel *kernel, size_t map, uint64_t address)
{
    const struct pd_kernel_result_map *in = &kernel->maps[map];
    uint64_t at = in->identity ? address : address - in->start + in->pgoff;
    const struct pd_symbol *symbol = in->symtab ? pd_symtab_find(in->symtab, at) : NULL;

    return symbol ? symbol->name : "-";
}

/* The cache has a table for the recorded build-id, which is not that of the running kernel. */
static void test_cached_kallsyms(void)
{
    static const char text[] = "ffffffff81000000 T _text\nffffffff81000100 t inner\n";
    char cache[512];

    write_file("/.debug/[kernel.kallsyms]/44444444444444444444"
               "44444444444444444444/kallsyms",
               text, strlen(text));
    snprintf(cache, sizeof cache, "%s/.debug", root);
    struct pd_object_search search = { .cache = cache, .os_release = "none" };
    struct pd_kernel *kernel = load_kernel(&search, 0x44);
    CHECK_U64(kernel->type, PD_OBJECT_KALLSYMS);
    CHECK_U64(kernel->delta, 0x100000);
    CHECK_STR(kernel_name(kernel, 0, KERNEL + 0x100150), "inner");
    pd_kernel_free(kernel);
    kernel = load_kernel(&search, 0x45);
    CHECK_U64(kernel->type, PD_OBJECT_NOT_FOUND);
    CHECK_U64(kernel->maps[0].end, KERNEL + 0x200000);
    pd_kernel_free(kernel);
}

/* A vmlinux: each section but .text gets a map of its own, all moved by the relocation. */
static void test_vmlinux(void)
{
    struct elf_maker m = elf_begin(true, false, ET_EXEC, EM_X86_64);
    uint16_t text = elf_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, KERNEL, NULL, 0x40, 0, 0);
    uint16_t init = elf_section(&m, ".init.text", SHT_PROGBITS, SHF_ALLOC, KERNEL + 0x1000, NULL,
                                0x40, 0, 0);
    char path[512];

    elf_build_id(&m, 0x55);
    elf_symbol(&m, "_text", KERNEL, 0, STB_GLOBAL, STT_NOTYPE, 0, text);
    elf_symbol(&m, "work", KERNEL + 0x10, 0x10, STB_GLOBAL, STT_FUNC, 0, text);
    elf_symbol(&m, "start", KERNEL + 0x1000, 0x10, STB_GLOBAL, STT_FUNC, 0, init);
    elf_symbols(&m, ".symtab", SHT_SYMTAB);
    elf_end_file(&m);
    write_file("/vmlinux", m.bytes, m.size);
    snprintf(path, sizeof path, "%s/vmlinux", root);
    struct pd_object_search search = { .vmlinux = path };
    struct pd_kernel *kernel = load_kernel(&search, 0x55);
    CHECK_U64(kernel->type, PD_OBJECT_VMLINUX);
    CHECK_U64(kernel->map_count, 2);
    if (kernel->map_count == 2) {
        CHECK_U64(kernel->maps[0].start, KERNEL + 0x100000);
        CHECK_U64(kernel->maps[0].end, KERNEL + 0x100040);
        CHECK_STR(kernel->maps[1].name, "[kernel.kallsyms].init.text");
        CHECK_U64(kernel->maps[1].start, KERNEL + 0x101000);
        CHECK_STR(kernel_name(kernel, 0, KERNEL + 0x100018), "work");
        CHECK_STR(kernel_name(kernel, 1, KERNEL + 0x101008), "start");
    }
    CHECK_STR(kernel->long_name, path);
    pd_kernel_free(kernel);
    kernel = load_kernel(&search, 0x56); /* another build: refused, and nothing else is tried */
    CHECK_U64(kernel->type, PD_OBJECT_NOT_FOUND);
    pd_kernel_free(kernel);
    elf_maker_free(&m);
}

static void test_build_ids(void)
{
    struct pd_build_id full = pd_build_id_make("0123456789abcdef\0\0\0\0", 20);
    struct pd_build_id part = pd_build_id_make("0123456789abcdef", 16), read;
    char text[2 * PD_BUILD_ID_MAX + 1], path[512];

    CHECK(pd_build_id_equal(&full, &part)); /* old recorders padded with zeros */
    part.bytes[15] ^= 1;
    CHECK(!pd_build_id_equal(&full, &part));
    CHECK_U64(pd_build_id_text(&part, text), 32);
    snprintf(path, sizeof path, "%s/bin/plain", root);
    CHECK(pd_build_id_read(path, &read) == PERFDATA_OK && read.size == 20 && read.bytes[0] == 1);
    CHECK(pd_build_id_read(root, &read) == PERFDATA_ERROR_NOT_FOUND && read.size == 0);
}

int main(void)
{
    char command[64];

    if (!mkdtemp(root))
        return TEST_SKIP;
    test_places();
    test_modules();
    test_debugdata();
    test_cached_kallsyms();
    test_vmlinux();
    test_build_ids();
    snprintf(command, sizeof command, "rm -rf %s", root);
    if (system(command))
        CHECK(!"cleaned up");
    return test_done();
}
