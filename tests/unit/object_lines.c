/* SPDX-License-Identifier: MIT */
/* Source lines of this very program: from DWARF where it was built with it, from the symbol table
 * otherwise. */
#include "object/lines/lines.h"
#include "test.h"
#include <link.h>
#include <unistd.h>

/* Stays a function of its own, local and named in the symbol table. */
__attribute__((noinline)) static int landmark(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}

static int first_base(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    *(uint64_t *)data = info->dlpi_addr;
    return 1; /* the program itself comes first */
}

static void finds_its_own_source(void)
{
    struct pd_lines *lines = pd_lines_open("/proc/self/exe");
    uint64_t base = 0;
    const char *file = NULL;
    unsigned line = 0;
    CHECK(lines != NULL);
    if (!lines)
        return;
    dl_iterate_phdr(first_base, &base);
    uint64_t address = (uint64_t)(uintptr_t)landmark - base;
    enum pd_lines_answer answer = pd_lines_find(lines, address, &file, &line);
    CHECK(answer == PD_LINES_FOUND);
    CHECK(file && strstr(file, "object_lines.c") != NULL);
    CHECK(line < 20);
    CHECK(pd_lines_find(lines, UINT64_MAX - 1, &file, &line) == PD_LINES_NOTHING);
    CHECK(pd_lines_find(lines, 0, &file, &line) == PD_LINES_NOTHING);
    pd_lines_free(lines);
    CHECK(landmark(1) == 2);
}

static void knows_nothing_of_what_is_no_program(void)
{
    static const char *const paths[] = { "/nowhere/at/all", "/dev/null", "/",
                                         "/proc/self/cmdline" };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct pd_lines *lines = pd_lines_open(paths[i]);
        const char *file;
        unsigned line;
        CHECK(lines != NULL);
        if (lines)
            CHECK(pd_lines_find(lines, 0x1000, &file, &line) == PD_LINES_NOTHING);
        pd_lines_free(lines);
    }
    pd_lines_free(NULL);
}

int main(void)
{
    finds_its_own_source();
    knows_nothing_of_what_is_no_program();
    return test_done();
}
