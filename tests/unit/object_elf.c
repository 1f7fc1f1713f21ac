/* SPDX-License-Identifier: MIT */
/* Symbols of ELF files: which are taken, at which addresses, in every class and byte order. */
#include "make_elf.h"
#include "object/object.h"
#include "test.h"

static const struct pd_object_search search = { .demangle = true };

static struct pd_object *load(struct elf_maker *m)
{
    struct pd_object *object;

    elf_end_file(m);
    CHECK(pd_object_load_memory(&search, m->bytes, m->size, &object) == PERFDATA_OK);
    if (!object)
        abort();
    return object;
}

static const char *name_at(const struct pd_object *object, uint64_t offset)
{
    const struct pd_symbol *symbol = pd_symtab_find(object->symtab, offset);
    return symbol ? symbol->name : "-";
}

static void done(struct elf_maker *m, struct pd_object *object)
{
    pd_object_free(object);
    elf_maker_free(m);
}

/* Addresses become file offsets through the segment that holds them. */
static void test_file(bool is_64, bool big)
{
    struct elf_maker m = elf_begin(is_64, big, ET_DYN, is_64 ? EM_S390 : EM_PPC);
    elf_build_id(&m, 0xab);
    uint16_t text = elf_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, 0x11000, NULL, 0x40, 0, 0);
    uint64_t offset = m.sections[text].offset;
    elf_segment(&m, 0x11000, offset, 0x40);
    elf_symbol(&m, "first", 0x11000, 0x10, STB_GLOBAL, STT_FUNC, 0, text);
    elf_symbol(&m, "_ZN1a1bEv", 0x11010, 0x10, STB_GLOBAL, STT_FUNC, 0, text);
    elf_symbols(&m, ".symtab", SHT_SYMTAB);
    struct pd_object *object = load(&m);

    CHECK_U64(object->type, PD_OBJECT_MEMORY);
    CHECK_U64(object->is_64_bit, is_64);
    CHECK_U64(object->machine, is_64 ? EM_S390 : EM_PPC);
    CHECK_U64(object->build_id.size, 20);
    CHECK_U64(object->build_id.bytes[19], 0xab);
    CHECK_U64(object->text_offset, 0x11000 - offset);
    CHECK_STR(name_at(object, offset + 0xf), "first");
    CHECK_STR(name_at(object, offset + 0x10), "a::b");
    CHECK_STR(name_at(object, offset + 0x20), "-");
    CHECK_STR(name_at(object, 0x11000), "-");
    done(&m, object);
}

/* Which symbols perf keeps. */
static void test_filter(void)
{
    struct elf_maker m = elf_begin(true, false, ET_DYN, EM_X86_64);
    uint16_t text = elf_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, 0x1000, NULL, 0x100, 0, 0);
    uint16_t init = elf_section(&m, ".init", SHT_PROGBITS, SHF_ALLOC, 0x2000, NULL, 0x100, 0, 0);
    uint16_t note = elf_section(&m, ".text.note", SHT_PROGBITS, 0, 0x3000, NULL, 0x100, 0, 0);
    static const char *const kept[] = { "function", "object", "ifunc", "label" };

    elf_symbol(&m, "function", 0x1000, 8, STB_LOCAL, STT_FUNC, 0, text);
    elf_symbol(&m, "object", 0x1010, 8, STB_LOCAL, STT_OBJECT, 0, text);
    elf_symbol(&m, "ifunc", 0x1020, 8, STB_LOCAL, STT_GNU_IFUNC, 0, text);
    elf_symbol(&m, "label", 0x1030, 8, STB_LOCAL, STT_NOTYPE, 0, text);
    elf_symbol(&m, "label_in_init", 0x2000, 8, STB_LOCAL, STT_NOTYPE, 0, init);
    elf_symbol(&m, "hidden_label", 0x1040, 8, STB_GLOBAL, STT_NOTYPE, STV_HIDDEN, text);
    elf_symbol(&m, "thread_local", 0x1050, 8, STB_GLOBAL, STT_TLS, 0, text);
    elf_symbol(&m, "", 0x1060, 8, STB_LOCAL, STT_FUNC, 0, text);
    elf_symbol(&m, "undefined", 0x1070, 8, STB_GLOBAL, STT_FUNC, 0, SHN_UNDEF);
    elf_symbol(&m, "absolute", 0x1080, 8, STB_GLOBAL, STT_FUNC, 0, SHN_ABS);
    elf_symbol(&m, "not_loaded", 0x3000, 8, STB_GLOBAL, STT_FUNC, 0, note);
    elf_symbols(&m, ".symtab", SHT_SYMTAB);
    struct pd_object *object = load(&m);
    CHECK_U64(pd_symtab_count(object->symtab), PD_LENGTH(kept));
    for (size_t i = 0; i < PD_LENGTH(kept) && i < pd_symtab_count(object->symtab); i++)
        CHECK_STR(pd_symtab_at(object->symtab, i)->name, kept[i]);
    /* in no segment: by the section */
    CHECK_STR(name_at(object, m.sections[text].offset), "function");
    done(&m, object);
}

static void test_arm(void)
{
    struct elf_maker m = elf_begin(false, false, ET_DYN, EM_ARM);
    uint16_t text = elf_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, 0x1000, NULL, 0x100, 0, 0);
    uint64_t offset = m.sections[text].offset;

    elf_symbol(&m, "thumb", 0x1001, 8, STB_GLOBAL, STT_FUNC, 0, text); /* bit 0 is a mark */
    elf_symbol(&m, "$t", 0x1000, 0, STB_LOCAL, STT_NOTYPE, 0, text);
    elf_symbol(&m, "$d.7", 0x1010, 0, STB_LOCAL, STT_NOTYPE, 0, text);
    elf_symbol(&m, "$tool", 0x1020, 4, STB_LOCAL, STT_FUNC, 0, text);
    elf_symbols(&m, ".symtab", SHT_SYMTAB);
    struct pd_object *object = load(&m);
    CHECK_U64(pd_symtab_count(object->symtab), 2);
    CHECK_STR(name_at(object, offset), "thumb");
    CHECK_STR(name_at(object, offset + 8), "-");
    CHECK_STR(name_at(object, offset + 0x20), "$tool");
    done(&m, object);

    /* elsewhere these are names like any other */
    m = elf_begin(true, false, ET_DYN, EM_X86_64);
    text = elf_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, 0x1000, NULL, 0x100, 0, 0);
    elf_symbol(&m, "$x", 0x1001, 8, STB_GLOBAL, STT_FUNC, 0, text);
    elf_symbols(&m, ".symtab", SHT_SYMTAB);
    object = load(&m);
    CHECK_STR(name_at(object, m.sections[text].offset + 1), "$x");
    done(&m, object);
}

/* Dynamic symbols count beside .symtab; each pass chooses among aliases anew. */
static void test_both_tables(void)
{
    struct elf_maker m = elf_begin(true, false, ET_DYN, EM_X86_64);
    uint16_t text = elf_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, 0x1000, NULL, 0x100, 0, 0);
    uint64_t offset = m.sections[text].offset;

    elf_symbol(&m, "local_name", 0x1000, 8, STB_LOCAL, STT_FUNC, 0, text);
    elf_symbols(&m, ".symtab", SHT_SYMTAB);
    elf_symbol(&m, "exported", 0x1000, 8, STB_GLOBAL, STT_FUNC, 0, text);
    elf_symbol(&m, "only_dynamic", 0x1010, 8, STB_GLOBAL, STT_FUNC, 0, text);
    elf_symbols(&m, ".dynsym", SHT_DYNSYM);
    struct pd_object *object = load(&m);
    CHECK_STR(name_at(object, offset), "exported");
    CHECK_STR(name_at(object, offset + 0x10), "only_dynamic");
    done(&m, object);
}

/* A PLT entry for each relocation, behind a head whose size is the machine's. */
static void test_plt(bool is_64, bool big, uint16_t machine, bool addends, uint64_t head,
                     uint64_t entry)
{
    struct elf_maker m = elf_begin(is_64, big, ET_DYN, machine);
    struct elf_bytes relocations = { 0 };
    uint16_t text = elf_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, 0x1000, NULL, 0x100, 0, 0);

    elf_symbol(&m, "puts", 0, 0, STB_GLOBAL, STT_FUNC, 0, SHN_UNDEF);
    elf_symbol(&m, "_ZN1a1bEv", 0, 0, STB_GLOBAL, STT_FUNC, 0, SHN_UNDEF);
    elf_symbol(&m, "own", 0x1000, 8, STB_GLOBAL, STT_FUNC, 0, text);
    uint16_t dynsym = elf_symbols(&m, ".dynsym", SHT_DYNSYM);
    for (unsigned i = 1; i <= 2; i++) {
        elf_word(&m, &relocations, 0x5000 + 8 * i);
        elf_word(&m, &relocations, is_64 ? (uint64_t)i << 32 | 7 : i << 8 | 7);
        if (addends)
            elf_word(&m, &relocations, 0);
    }
    elf_section(&m, addends ? ".rela.plt" : ".rel.plt", addends ? SHT_RELA : SHT_REL, SHF_ALLOC,
                0x3000, relocations.data, relocations.size, dynsym, relocations.size / 2);
    uint16_t plt = elf_section(&m, ".plt", SHT_PROGBITS, SHF_ALLOC, 0x4000, NULL, 0x100, 0, 16);
    struct pd_object *object = load(&m);
    uint64_t offset = m.sections[plt].offset + head;
    CHECK_STR(name_at(object, offset - 1), "-");
    CHECK_STR(name_at(object, offset), "puts@plt");
    CHECK_STR(name_at(object, offset + entry - 1), "puts@plt");
    CHECK_STR(name_at(object, offset + entry), "a::b@plt");
    CHECK_STR(name_at(object, offset + 2 * entry), "-");
    free(relocations.data);
    done(&m, object);
}

/* ppc64: a function's symbol names a descriptor, whose first word is the code's address. */
static void test_descriptors(bool big)
{
    struct elf_maker m = elf_begin(true, big, ET_DYN, EM_PPC64);
    struct elf_bytes descriptors = { 0 };
    uint16_t text = elf_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, 0x1000, NULL, 0x100, 0, 0);

    elf_word(&m, &descriptors, 0x1020);
    elf_word(&m, &descriptors, 0);
    uint16_t opd = elf_section(&m, ".opd", SHT_PROGBITS, SHF_ALLOC, 0x8000, descriptors.data,
                               descriptors.size, 0, 0);
    elf_symbol(&m, "function", 0x8000, 0x10, STB_GLOBAL, STT_FUNC, 0, opd);
    elf_symbols(&m, ".symtab", SHT_SYMTAB);
    struct pd_object *object = load(&m);
    CHECK_STR(name_at(object, m.sections[text].offset + 0x20), "function");
    free(descriptors.data);
    done(&m, object);
}

/* Nothing that a file says may lead us out of it: cut anywhere, any byte changed. */
static void test_hostile(void)
{
    struct elf_maker m = elf_begin(true, false, ET_DYN, EM_X86_64);
    elf_build_id(&m, 1);
    uint16_t text = elf_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, 0x1000, NULL, 0x40, 0, 0);
    elf_segment(&m, 0x1000, m.sections[text].offset, 0x40);
    elf_symbol(&m, "f", 0x1000, 8, STB_GLOBAL, STT_FUNC, 0, text);
    elf_symbol(&m, "g", 0x1004, 8, STB_GLOBAL, STT_FUNC, 0, text);
    elf_symbols(&m, ".symtab", SHT_SYMTAB);
    elf_end_file(&m);
    struct pd_object *object;
    for (size_t size = 0; size < m.size; size++) {
        void *part = malloc(size ? size : 1); /* its own block: reading behind it is seen */
        memcpy(part, m.bytes, size);
        CHECK(pd_object_load_memory(&search, part, size, &object) == PERFDATA_OK);
        pd_object_free(object);
        free(part);
    }
    for (size_t at = 0; at < m.size; at++) {
        const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
        uint8_t before = m.bytes[at];
        for (size_t i = 0; i < sizeof values; i++) {
            m.bytes[at] = values[i];
            CHECK(pd_object_load_memory(&search, m.bytes, m.size, &object) == PERFDATA_OK);
            (void)name_at(object, m.sections[text].offset + 5);
            pd_object_free(object);
        }
        m.bytes[at] = before;
    }
    elf_maker_free(&m);
}

/* Lines of a perf map: hex start, hex size, the name to the end; names of one or two letters are
 * lost. */
static void test_perf_map(void)
{
    static const char text[] = "1000 10 abc\n1001 4 abcd nested one\n2000 0 zero\n3000 10 ab\n"
                               "0x4000 0x10 with prefix\n 5000 10 blank\nnonsense\n\n7000 10 lastt";
    struct pd_object *object;

    CHECK(pd_object_load_perf_map_memory(&search, text, strlen(text), &object) == PERFDATA_OK);
    CHECK_U64(object->type, PD_OBJECT_PERF_MAP);
    CHECK_STR(name_at(object, 0x1000), "abc");
    CHECK_STR(name_at(object, 0x1001), "abcd nested one");
    CHECK_STR(name_at(object, 0x1010), "-");
    CHECK_STR(name_at(object, 0x2000), "zero");
    CHECK_STR(name_at(object, 0x2001), "-"); /* no fix-ups */
    CHECK_STR(name_at(object, 0x3000), "-");
    CHECK_STR(name_at(object, 0x4000), "with prefix");
    CHECK_STR(name_at(object, 0x5000), "blank");
    CHECK_STR(name_at(object, 0x7000), "last"); /* without a newline the last letter is lost */
    pd_object_free(object);
    CHECK(pd_object_load_perf_map_memory(&search, "", 0, &object) == PERFDATA_OK);
    CHECK_U64(object->type, PD_OBJECT_NOT_FOUND);
    pd_object_free(object);
}

int main(void)
{
    test_file(true, false);
    test_file(true, true);
    test_file(false, false);
    test_file(false, true);
    test_filter();
    test_arm();
    test_both_tables();
    test_plt(true, false, EM_X86_64, true, 16, 16);
    test_plt(true, true, EM_AARCH64, true, 32, 16);
    test_plt(false, false, EM_ARM, false, 20, 12);
    test_plt(false, true, EM_SPARC, true, 48, 12);
    test_descriptors(false);
    test_descriptors(true);
    test_hostile();
    test_perf_map();
    return test_done();
}
