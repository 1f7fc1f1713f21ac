/* SPDX-License-Identifier: MIT */
/* The running kernel's table by its index and by its lines: the same, whatever modules, BPF
 * programs and boots come and go. A folder stands for / . */
#include "make_root.h"
#include "object/object.h"
#include <dirent.h>
#include <unistd.h>

#define BASE UINT64_C(0xffffffff81000000)
#define MODULE UINT64_C(0xffffffffc0000000)

static char root[] = "/tmp/perfdata-running-XXXXXX";
static char folder[64];

static const char kernel_text[] = "ffffffff81000000 T _text\n"
                                  "ffffffff81000000 T _stext\n"
                                  "ffffffff81000100 t foo\n"
                                  "ffffffff81000180 a absolute\n"
                                  "ffffffff81000200 T bar\n"
                                  "ffffffff81000200 W weak_bar\n"
                                  "ffffffff81001000 D data\n";
static const char modx_text[] = "ffffffffc0000000 t first\t[modx]\n"
                                "ffffffffc0000100 t second\t[modx]\n"
                                "ffffffffc0000300 d table\t[modx]\n";
static const char mody_text[] = "ffffffffc0010000 T other\t[mody]\n"
                                "ffffffffc0010100 T more\t[mody]\n";
static const char bpf_text[] = "ffffffffc0002000 t bpf_prog_1\t[bpf]\n"
                               "ffffffffc0003000 t tramp\t[__builtin__ftrace]\n";

static struct pd_kernel_map maps[] = {
    { .start = BASE, .end = BASE + 0x200000, .pgoff = BASE },
    { .name = "[mody]", .start = MODULE + 0x10000, .end = MODULE + 0x11000, .is_module = true },
    { .name = "[modx]", .start = MODULE, .end = MODULE + 0x1000, .is_module = true },
};

static void put_kallsyms(const char *a, const char *b, const char *c)
{
    char text[2048];
    snprintf(text, sizeof text, "%s%s%s%s", kernel_text, a, b, c);
    root_put(root, "proc/kallsyms", text);
}

static void put_module(const char *name, const char *state)
{
    char path[64];
    snprintf(path, sizeof path, "sys/module/%s/initstate", name);
    root_put(root, path, state);
}

static void remove_module(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/sys/module/%s/initstate", root, name);
    CHECK(!unlink(path));
    *strrchr(path, '/') = '\0';
    CHECK(!rmdir(path));
}

static unsigned indexes(void)
{
    DIR *list = opendir(folder);
    unsigned count = 0;
    for (const struct dirent *entry; list && (entry = readdir(list));)
        count += !strncmp(entry->d_name, "kernel-", 7);
    if (list)
        closedir(list);
    return count;
}

static void remove_indexes(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK(system(command) == 0); // NOLINT: a folder of our own
}

static struct pd_kernel *load(const char *index, uint64_t reference)
{
    struct pd_object_search search = { .index = index,
                                       .system_root = root,
                                       .kallsyms = "/proc/kallsyms" };
    struct pd_kernel_request request = { .ref_reloc_name = "_text",
                                         .ref_reloc_address = reference,
                                         .maps = maps,
                                         .map_count = PD_LENGTH(maps),
                                         .is_x86_64 = true };
    struct pd_kernel *kernel;

    CHECK(pd_kernel_load(&search, &request, &kernel) == PERFDATA_OK);
    if (!kernel)
        abort();
    return kernel;
}

static const struct pd_symbol *at(const struct pd_kernel *kernel, size_t i, uint64_t address)
{
    const struct pd_kernel_result_map *map = &kernel->maps[i];
    if (!map->symtab || address < map->start || address >= map->end)
        return NULL;
    return pd_symtab_find(map->symtab, map->identity ? address : address - map->start + map->pgoff);
}

static void compare_at(const struct pd_kernel *a, const struct pd_kernel *b, size_t i,
                       uint64_t address)
{
    const struct pd_symbol *x = at(a, i, address), *y = at(b, i, address);
    CHECK(!x == !y);
    if (!x || !y)
        return;
    CHECK_STR(x->name, y->name);
    CHECK(x->start == y->start && x->end == y->end && x->index == y->index &&
          x->name_length == y->name_length && x->module_length == y->module_length);
}

/* With the folder and without: the same. Gives a name, to see that there was something. */
static const char *compare(uint64_t reference, uint64_t address)
{
    static char name[64];
    struct pd_kernel *lines = load(NULL, reference), *index = load(folder, reference);

    CHECK(lines->type == index->type && lines->delta == index->delta);
    CHECK_U64(index->map_count, lines->map_count);
    for (size_t i = 0; i < PD_MIN(lines->map_count, index->map_count); i++) {
        CHECK_U64(index->maps[i].start, lines->maps[i].start);
        CHECK_U64(index->maps[i].end, lines->maps[i].end);
        CHECK((lines->maps[i].symtab != NULL) == (index->maps[i].symtab != NULL));
        for (uint64_t step = 0; step < 0x1200; step += 0x10)
            compare_at(lines, index, i, lines->maps[i].start + step);
    }
    snprintf(name, sizeof name, "-");
    for (size_t i = 0; i < index->map_count; i++)
        if (at(index, i, address))
            snprintf(name, sizeof name, "%s", at(index, i, address)->name);
    pd_kernel_free(lines);
    pd_kernel_free(index);
    return name;
}

static void test_cold_and_warm(void)
{
    for (unsigned run = 0; run < 3; run++) {
        CHECK_STR(compare(BASE, BASE + 0x150), "foo");
        CHECK_STR(compare(BASE, MODULE + 0x150), "second");
        CHECK_U64(indexes(), 1);
    }
    maps[0].start += 0x1000000, maps[0].end += 0x1000000; /* recorded elsewhere */
    CHECK_STR(compare(BASE + 0x1000000, BASE + 0x1000150), "foo");
    maps[0].start -= 0x1000000, maps[0].end -= 0x1000000;
    maps[2].loaded_before = true; /* perf drops the first */
    CHECK_STR(compare(BASE, MODULE + 0x50), "-");
    CHECK_STR(compare(BASE, MODULE + 0x150), "second");
    maps[2].loaded_before = false;
    CHECK_U64(indexes(), 1);
}

/* The index is used: what the lines say behind the first block does not count while all that the
 * key is made of stays. */
static void test_index_is_used(void)
{
    static char text[16384];
    size_t length = (size_t)snprintf(text, sizeof text, "%s", kernel_text);

    remove_indexes();
    for (unsigned i = 0; length < 8192; i++)
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "ffffffff8100%04x t filler_%u\n", 0x1100 + i, i);
    snprintf(text + length, sizeof text - length, "%s", modx_text);
    root_put(root, "proc/kallsyms", text);
    CHECK_STR(compare(BASE, MODULE + 0x150), "second");
    strstr(text, "second")[0] = 'S'; // NOLINT: it is there
    root_put(root, "proc/kallsyms", text);
    struct pd_kernel *index = load(folder, BASE), *lines = load(NULL, BASE);
    CHECK_STR(at(index, 2, MODULE + 0x150)->name, "second");
    CHECK_STR(at(lines, 2, MODULE + 0x150)->name, "Second");
    pd_kernel_free(index);
    pd_kernel_free(lines);
    remove_indexes();
}

/* BPF programs come and go without a trace. */
static void test_what_passes(void)
{
    put_kallsyms(modx_text, mody_text, bpf_text);
    CHECK_STR(compare(BASE, MODULE + 0x350), "table");
    unsigned before = indexes();
    CHECK(before >= 1);
    struct pd_kernel *with = load(folder, BASE);
    put_kallsyms(modx_text, mody_text, "");
    struct pd_kernel *without = load(NULL, BASE);
    for (uint64_t step = 0; step < 0x1000; step += 0x10)
        compare_at(with, without, 2, MODULE + step);
    pd_kernel_free(with);
    pd_kernel_free(without);
    put_kallsyms(modx_text, mody_text, bpf_text);
    maps[2].name = "[bpf]"; /* a recording that names them has them, and no index */
    remove_indexes();
    CHECK_STR(compare(BASE, MODULE), "-"); /* they lie behind this map */
    CHECK_U64(indexes(), 0);
    maps[2].name = "[modx]";
}

static void test_modules(void)
{
    /* starting: its symbols will change once more */
    remove_indexes();
    put_module("mody", "coming");
    CHECK_STR(compare(BASE, MODULE + 0x10150), "more");
    CHECK_U64(indexes(), 0);
    put_module("mody", "live");
    CHECK_STR(compare(BASE, MODULE + 0x10150), "more");
    CHECK_U64(indexes(), 1);
    /* gone: with the same first block another key */
    remove_module("mody");
    put_kallsyms(modx_text, "", bpf_text);
    CHECK_STR(compare(BASE, MODULE + 0x10150), "-");
    CHECK_U64(indexes(), 2);
    /* symbols of a module that has left, as tracing keeps them */
    remove_indexes();
    put_kallsyms(modx_text, mody_text, "");
    CHECK_STR(compare(BASE, MODULE + 0x10150), "more");
    CHECK_U64(indexes(), 0);
    /* a module twice, as tracing keeps what ran when it started */
    put_module("mody", "live");
    put_kallsyms(modx_text, mody_text, "ffffffffc0020000 T start\t[modx]\n");
    CHECK_STR(compare(BASE, MODULE + 0x10150), "more");
    CHECK_U64(indexes(), 0);
    put_kallsyms(modx_text, mody_text, "");
}

static void test_other_kernels(void)
{
    remove_indexes();
    CHECK_STR(compare(BASE, BASE + 0x150), "foo");
    root_put(root, "proc/sys/kernel/random/boot_id", "another boot");
    CHECK_STR(compare(BASE, BASE + 0x150), "foo");
    CHECK_U64(indexes(), 2);
    root_put(root, "sys/kernel/notes", "another kernel");
    CHECK_STR(compare(BASE, BASE + 0x150), "foo");
    CHECK_U64(indexes(), 3);
    /* a kernel's symbols behind modules': only the lines tell perf's way with them */
    put_kallsyms(modx_text, mody_text, "ffffffffc0030000 T stray\n");
    compare(BASE, BASE + 0x150);
    CHECK_U64(indexes(), 3);
    /* addresses that are hidden are another view of the same */
    root_put(root, "proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T _stext\n");
    compare(BASE, BASE + 0x150);
    put_kallsyms(modx_text, mody_text, "");
    CHECK_STR(compare(BASE, BASE + 0x150), "foo");
    root_put(root, "proc/sys/kernel/kptr_restrict", "2");
    CHECK_STR(compare(BASE, BASE + 0x150), "-");
    root_put(root, "proc/sys/kernel/kptr_restrict", "0");
}

int main(void)
{
    char command[128];

    if (!mkdtemp(root))
        return 1;
    snprintf(folder, sizeof folder, "%s/cache", root);
    root_put(root, "proc/sys/kernel/random/boot_id", "a boot");
    root_put(root, "proc/sys/kernel/kptr_restrict", "0");
    root_put(root, "proc/sys/kernel/perf_event_paranoid", "0");
    root_put(root, "sys/kernel/notes", "a kernel");
    put_module("modx", "live");
    put_module("mody", "live");
    root_put(root, "sys/module/builtin/uevent", "");
    put_kallsyms(modx_text, mody_text, bpf_text);
    test_cold_and_warm();
    test_index_is_used();
    test_what_passes();
    test_modules();
    test_other_kernels();
    snprintf(command, sizeof command, "rm -rf %s", root);
    CHECK(system(command) == 0); // NOLINT: a folder of our own
    return test_done();
}
