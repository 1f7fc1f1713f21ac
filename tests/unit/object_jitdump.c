/* SPDX-License-Identifier: MIT */
/* jitdump files in both byte orders, cut anywhere, and the ELF images made of them. */
#include "object/jit/jitdump.h"
#include "object/object.h"
#include "test.h"
#include <elf.h>

struct maker {
    uint8_t bytes[1024];
    size_t size;
    bool swap;
};

static void put32(struct maker *m, uint32_t value)
{
    pd_store32(m->bytes + m->size, value, m->swap);
    m->size += 4;
}

static void put64(struct maker *m, uint64_t value)
{
    pd_store64(m->bytes + m->size, value, m->swap);
    m->size += 8;
}

static void put(struct maker *m, const void *bytes, size_t size)
{
    memcpy(m->bytes + m->size, bytes, size);
    m->size += size;
}

static void head(struct maker *m, uint32_t id, uint32_t size, uint64_t time)
{
    put32(m, id);
    put32(m, size);
    put64(m, time);
}

static void make(struct maker *m, bool swap)
{
    *m = (struct maker){ .swap = swap };
    put32(m, 0x4a695444);
    put32(m, 1);
    put32(m, 40);
    put32(m, EM_X86_64);
    put32(m, 0);
    put32(m, 7);
    put64(m, 0);
    put64(m, 0);
    head(m, 99, 24, 1); /* of no known kind */
    put64(m, 0);
    head(m, 2, 16 + 16 + 16 + 4, 2); /* a line */
    put64(m, 0x1000);
    put64(m, 1);
    put64(m, 0x1002);
    put32(m, 40);
    put32(m, 0);
    put(m, "a.c", 4);
    head(m, 0, 16 + 40 + 5 + 3, 100);
    put32(m, 7);
    put32(m, 8);
    put64(m, 0x1000);
    put64(m, 0x1000);
    put64(m, 3);
    put64(m, 5);
    put(m, "wice", 5);
    put(m, "abc", 3);
    head(m, 1, 16 + 48, 200);
    put32(m, 7);
    put32(m, 8);
    put64(m, 0x2000);
    put64(m, 0x1000);
    put64(m, 0x2000);
    put64(m, 3);
    put64(m, 5);
}

static void test_entries(bool swap)
{
    struct maker m;
    struct pd_jitdump dump;
    struct pd_jit_entry entry;
    make(&m, swap);
    CHECK(pd_jitdump_open_memory(&dump, m.bytes, m.size));
    CHECK(dump.pid == 7 && dump.machine == EM_X86_64 && !dump.arch_times);
    CHECK(pd_jitdump_next(&dump, &entry));
    CHECK(entry.kind == PD_JIT_LOAD && entry.tid == 8 && entry.time == 100);
    CHECK(entry.address == 0x1000 && entry.size == 3 && entry.index == 5 && entry.line_count == 1);
    CHECK(!strcmp(entry.name, "wice") && !memcmp(entry.code, "abc", 3));
    CHECK(pd_jit_mapped_size(&entry) == 3);
    CHECK(pd_jitdump_next(&dump, &entry));
    CHECK(entry.kind == PD_JIT_MOVE && entry.time == 200 && entry.address == 0x2000);
    CHECK(!pd_jitdump_next(&dump, &entry) && !dump.damaged);
    pd_jitdump_close(&dump);
}

/* No cut shows more than what is whole. */
static void test_cuts(void)
{
    struct maker m;
    struct pd_jitdump dump;
    struct pd_jit_entry entry;
    make(&m, false);
    for (size_t size = 0; size < m.size; size++) {
        unsigned count = 0;
        if (!pd_jitdump_open_memory(&dump, m.bytes, size)) {
            CHECK(size < 40);
            continue;
        }
        while (pd_jitdump_next(&dump, &entry))
            count++;
        CHECK(count == (size >= m.size - 64));
        pd_jitdump_close(&dump);
    }
}

static void test_image(bool swap)
{
    struct maker m;
    struct pd_jitdump dump;
    struct pd_jit_entry entry;
    struct pd_text image = { 0 };
    struct pd_build_id id, read;
    struct pd_object_search search = { 0 };
    struct pd_object *object;
    make(&m, swap);
    CHECK(pd_jitdump_open_memory(&dump, m.bytes, m.size) && pd_jitdump_next(&dump, &entry));
    CHECK(pd_jit_image(&dump, &entry, &image, &id));
    CHECK(pd_build_id_read_memory(image.data, image.length, &read) == PERFDATA_OK);
    CHECK(pd_build_id_equal(&id, &read));
    CHECK(pd_object_load_memory(&search, image.data, image.length, &object) == PERFDATA_OK);
    CHECK(object->machine == EM_X86_64);
    const struct pd_symbol *symbol = pd_symtab_find(object->symtab, PD_JIT_TEXT_AT + 2);
    CHECK(symbol && !strcmp(symbol->name, "wice"));
    CHECK(!pd_symtab_find(object->symtab, PD_JIT_TEXT_AT + 3));
    pd_object_free(object);
    pd_text_free(&image);
    pd_jitdump_close(&dump);
}

static void test_names(void)
{
    struct pd_jit_entry entry = { .pid = 12, .index = 3 };
    struct pd_text path = { 0 };
    CHECK(pd_jitdump_is_marker("/a/jit-12.dump", 14, 12));
    CHECK(pd_jitdump_is_marker("jit-12.dump", 11, 12));
    CHECK(!pd_jitdump_is_marker("/a/jit-12.dump", 14, 13));
    CHECK(!pd_jitdump_is_marker("/a/jit-12.dumps", 15, 12));
    CHECK(!pd_jitdump_is_marker("/a/xjit-12.dump", 15, 12));
    pd_jit_path("/a/jit-12.dump", 14, &entry, &path);
    CHECK(path.length == 17 && !memcmp(path.data, "/a/jitted-12-3.so", 17));
    pd_text_free(&path);
}

int main(void)
{
    test_entries(false);
    test_entries(true);
    test_cuts();
    test_image(false);
    test_image(true);
    test_names();
    return test_done();
}
