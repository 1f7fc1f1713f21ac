/* SPDX-License-Identifier: MIT */
/* Tables of symbols: fix-ups, the choice among aliases, lookups as in perf's tree. */
#include "object/symtab/symtab.h"
#include "test.h"
#include <pthread.h>

#define FUNC 2

static struct pd_symtab_builder *begin(void)
{
    struct pd_symtab_builder *builder = pd_symtab_builder_new(PD_DEMANGLE_PLAIN);
    if (!builder)
        abort();
    return builder;
}

static void add(struct pd_symtab_builder *builder, uint64_t start, uint64_t size,
                enum pd_symbol_binding binding, const char *name)
{
    CHECK(pd_symtab_add(builder, start, size, (uint8_t)binding, FUNC, name, strlen(name)));
}

static struct pd_symtab *end(struct pd_symtab_builder *builder)
{
    CHECK(pd_symtab_fix_ends(builder, false));
    CHECK(pd_symtab_fix_duplicates(builder));
    struct pd_symtab *table = pd_symtab_finish(builder);
    if (!table)
        abort();
    return table;
}

static const char *name_at(const struct pd_symtab *table, uint64_t address)
{
    const struct pd_symbol *symbol = pd_symtab_find(table, address);
    return symbol ? symbol->name : "-";
}

/* Of two symbols at one address: who stays? */
static void check_choice(uint64_t size_a, enum pd_symbol_binding binding_a, const char *a,
                         uint64_t size_b, enum pd_symbol_binding binding_b, const char *b,
                         const char *expected)
{
    struct pd_symtab_builder *builder = begin();
    add(builder, 16, size_a, binding_a, a);
    add(builder, 16, size_b, binding_b, b);
    struct pd_symtab *table = end(builder);
    CHECK_U64(pd_symtab_count(table), 1);
    CHECK_STR(name_at(table, 16), expected);
    pd_symtab_free(table);
}

static void test_choice(void)
{
    const enum pd_symbol_binding L = PD_SYMBOL_LOCAL, G = PD_SYMBOL_GLOBAL, W = PD_SYMBOL_WEAK;

    /* a length beats none: the first, of size 0, ends where the second starts */
    check_choice(0, G, "empty_global", 4, L, "sized", "sized");
    check_choice(4, W, "weak_long_name", 4, L, "local", "local");
    check_choice(4, L, "local_long_name", 4, G, "global", "global");
    check_choice(4, G, "global", 4, W, "weak", "global");
    check_choice(4, G, "__two_long_name", 4, G, "_one", "_one");
    check_choice(4, G, "short", 4, G, "longer", "longer");
    check_choice(4, G, "same1", 4, G, "same2", "same1");
    check_choice(4, G, "SyS_ab", 4, G, "sys_ab", "sys_ab");
    check_choice(4, G, "compat_SyS_ab", 4, G, "compat_sys_ab", "compat_sys_ab");
    /* names are compared after demangling: a::b is shorter than plain_b */
    check_choice(4, G, "_ZN1a1bEv", 4, G, "plain_b", "plain_b");
    check_choice(4, G, "_ZN1a9elongatedEv", 4, G, "plain_b", "a::elongated");
}

/* The last of two symbols of size 0 gets the length, so it wins over all else. */
static void test_empty_aliases(void)
{
    struct pd_symtab_builder *builder = begin();
    add(builder, 0x10, 0, PD_SYMBOL_GLOBAL, "global_first");
    add(builder, 0x10, 0, PD_SYMBOL_WEAK, "weak");
    add(builder, 0x30, 8, PD_SYMBOL_GLOBAL, "next");
    struct pd_symtab *table = end(builder);
    CHECK_STR(name_at(table, 0x10), "weak");
    CHECK_STR(name_at(table, 0x2f), "weak");
    CHECK_STR(name_at(table, 0x30), "next");
    pd_symtab_free(table);
}

static void test_ends(void)
{
    struct pd_symtab_builder *builder = begin();
    add(builder, 0x1000, 0, PD_SYMBOL_GLOBAL, "zero");
    add(builder, 0x1100, 0x10, PD_SYMBOL_GLOBAL, "sized");
    add(builder, 0x2001, 0, PD_SYMBOL_GLOBAL, "last");
    struct pd_symtab *table = end(builder);
    CHECK_STR(name_at(table, 0xfff), "-");
    CHECK_STR(name_at(table, 0x10ff), "zero");
    CHECK_STR(name_at(table, 0x110f), "sized");
    CHECK_STR(name_at(table, 0x1110), "-");    /* a gap stays a gap */
    CHECK_STR(name_at(table, 0x3fff), "last"); /* to the page after its own */
    CHECK_STR(name_at(table, 0x4000), "-");
    pd_symtab_free(table);
}

/* kallsyms: kernel and module symbols do not touch. */
static void test_kallsyms_ends(void)
{
    struct pd_symtab_builder *builder = begin();
    add(builder, 0x1000, 0, PD_SYMBOL_GLOBAL, "kernel");
    add(builder, 0x1800, 0, PD_SYMBOL_GLOBAL, "kernel_last");
    add(builder, 0x100000, 0, PD_SYMBOL_GLOBAL, "m\t[module]");
    CHECK(pd_symtab_fix_ends(builder, true));
    struct pd_symtab *table = pd_symtab_finish(builder);
    CHECK_U64(pd_symtab_at(table, 0)->end, 0x1800);
    CHECK_U64(pd_symtab_at(table, 1)->end, 0x3000);
    pd_symtab_free(table);
}

/* What is nested is found or hidden by the shape of perf's tree, that is by the order of
 * insertion. */
static void test_nested(void)
{
    struct pd_symtab_builder *builder = begin();
    add(builder, 0x100, 0x100, PD_SYMBOL_GLOBAL, "outer"); /* the root: hides all within */
    add(builder, 0x140, 0x10, PD_SYMBOL_GLOBAL, "inner");
    struct pd_symtab *table = end(builder);
    CHECK_STR(name_at(table, 0x145), "outer");
    pd_symtab_free(table);

    builder = begin();
    add(builder, 0x140, 0x10, PD_SYMBOL_GLOBAL, "inner"); /* the root */
    add(builder, 0x100, 0x100, PD_SYMBOL_GLOBAL, "outer");
    table = end(builder);
    CHECK_STR(name_at(table, 0x145), "inner");
    CHECK_STR(name_at(table, 0x120), "outer");
    /* right of inner nothing else is: what outer covers behind it is lost */
    CHECK_STR(name_at(table, 0x160), "-");
    pd_symtab_free(table);

    builder = begin(); /* a rotation brings the middle one to the root */
    add(builder, 0x100, 0x100, PD_SYMBOL_GLOBAL, "outer");
    add(builder, 0x140, 0x10, PD_SYMBOL_GLOBAL, "inner");
    add(builder, 0x180, 0x10, PD_SYMBOL_GLOBAL, "inner2");
    table = end(builder);
    CHECK_STR(name_at(table, 0x145), "inner");
    CHECK_STR(name_at(table, 0x185), "inner2");
    CHECK_STR(name_at(table, 0x120), "outer");
    pd_symtab_free(table);
}

static void test_extremes(void)
{
    struct pd_symtab_builder *builder = begin();
    struct pd_symtab *table = end(builder);
    CHECK_STR(name_at(table, 0), "-");
    CHECK(pd_symtab_at(table, 0) == NULL);
    pd_symtab_free(table);

    builder = begin();
    add(builder, UINT64_MAX, 0, PD_SYMBOL_GLOBAL, "top");
    add(builder, UINT64_MAX - 4, UINT64_MAX, PD_SYMBOL_GLOBAL, "wraps");
    add(builder, 0, UINT64_MAX, PD_SYMBOL_GLOBAL, "all");
    table = end(builder);
    CHECK_STR(name_at(table, 0), "all");
    CHECK_STR(name_at(table, 5), "all");
    (void)name_at(table, UINT64_MAX);
    pd_symtab_free(table);
}

/* Spans hold what they say, and all of a symbol that no other overlaps. */
static void check_spans(const struct pd_symtab *table, uint64_t from, uint64_t until)
{
    for (uint64_t address = from; address < until; address++) {
        const struct pd_symbol_span span = pd_symtab_find_span(table, address);
        CHECK(span.symbol == pd_symtab_find(table, address));
        CHECK(address - span.from < span.size);
        for (uint64_t at = PD_MAX(span.from, from); at < until && at - span.from < span.size; at++)
            CHECK(pd_symtab_find(table, at) == span.symbol);
    }
}

/* A name that is found somewhere in a range may be found there; where no symbols overlap, no other
 * may. */
static void check_may_find(const struct pd_symtab *table, const char *name, bool exact)
{
    for (uint64_t first = 0; first < 160; first += 7) {
        for (uint64_t last = first; last < 160; last += 1 + last % 13) {
            bool found = false;
            for (uint64_t at = first; at <= last; at++)
                found |= !strcmp(name_at(table, at), name);
            const bool may = pd_symtab_may_find(table, first, last, name);
            CHECK(exact ? may == found : may || !found);
        }
    }
    CHECK(!pd_symtab_may_find(table, 0, UINT64_MAX, "no such symbol"));
}

static void test_spans(void)
{
    struct pd_symtab_builder *builder = begin();
    add(builder, 0x20, 0x10, PD_SYMBOL_GLOBAL, "first");
    add(builder, 0x30, 0x10, PD_SYMBOL_GLOBAL, "second");
    add(builder, 0x50, 0x10, PD_SYMBOL_GLOBAL, "behind_a_gap");
    struct pd_symtab *table = end(builder);
    check_spans(table, 0, 0x80);
    check_may_find(table, "first", true);
    check_may_find(table, "second", true);
    check_may_find(table, "behind_a_gap", true);
    CHECK(pd_symtab_may_find(table, 0x2f, 0x2f, "first"));
    CHECK(!pd_symtab_may_find(table, 0x30, UINT64_MAX, "first"));
    CHECK(!pd_symtab_may_find(table, 0, 0x1f, "first"));
    struct pd_symbol_span span = pd_symtab_find_span(table, 0x33);
    CHECK_STR(span.symbol->name, "second");
    CHECK_U64(span.from, 0x30);
    CHECK_U64(span.size, 0x10);
    span = pd_symtab_find_span(table, 0x41);
    CHECK(!span.symbol);
    CHECK_U64(span.from, 0x40);
    CHECK_U64(span.size, 0x10);
    CHECK_U64(pd_symtab_find_span(table, 0x1f).size, 0x20);
    CHECK_U64(pd_symtab_find_span(table, 0x60).size, UINT64_MAX - 0x60);
    pd_symtab_free(table);

    uint64_t random = 1;
    for (unsigned round = 0; round < 60; round++) {
        builder = begin();
        for (unsigned i = 0; i < 3 + round % 20; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            char name[16];
            snprintf(name, sizeof name, "f%u", i);
            add(builder, random >> 57, random >> 40 & (round % 2 ? 3 : 31), PD_SYMBOL_GLOBAL, name);
        }
        table = round % 3 ? end(builder) : pd_symtab_finish(builder);
        check_spans(table, 0, 192);
        check_may_find(table, "f0", false);
        check_may_find(table, "f2", false);
        pd_symtab_free(table);
    }
}

/* ---- threads share a table without locks of their own ---- */

struct shared {
    struct pd_symtab *table;
    uint64_t step;
    bool ok;
};

static void *look_up(void *data)
{
    struct shared *shared = data;

    shared->ok = true;
    for (uint64_t i = 0; i < 4096; i++) {
        uint64_t address = 0x1000 + i * shared->step % 4096;
        const struct pd_symbol *symbol = pd_symtab_find(shared->table, address);
        shared->ok &= symbol && !strncmp(symbol->name, "ns::f", 5) &&
                      symbol->name_length == strlen(symbol->name);
    }
    return NULL;
}

static void test_threads(void)
{
    struct pd_symtab_builder *builder = begin();
    char name[64];
    for (unsigned i = 0; i < 64; i++) { /* overlapping: the tree is needed */
        snprintf(name, sizeof name, "_ZN2ns4f%03uEv", i);
        add(builder, 0x1000 + i * 64, 80, PD_SYMBOL_GLOBAL, name);
    }
    struct shared shared[2] = { { .step = 1 }, { .step = 37 } };
    shared[0].table = shared[1].table = end(builder);
    pthread_t other;
    CHECK(pthread_create(&other, NULL, look_up, &shared[1]) == 0);
    look_up(&shared[0]);
    pthread_join(other, NULL);
    CHECK(shared[0].ok && shared[1].ok);
    pd_symtab_free(shared[0].table);
}

int main(void)
{
    test_choice();
    test_empty_aliases();
    test_ends();
    test_kallsyms_ends();
    test_nested();
    test_extremes();
    test_spans();
    test_threads();
    return test_done();
}
