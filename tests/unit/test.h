/* SPDX-License-Identifier: MIT */
/* The whole test framework: CHECK macros that count, and test_done() as main's result.
 *
 *     int main(void)
 *     {
 *         CHECK(pd_range_ok(8, 8, 16));
 *         CHECK_U64(pd_align8(9), 16);
 *         CHECK_STR(perfdata_status_text(0), "success");
 *         return test_done();
 *     }
 */
#ifndef PD_TEST_H
#define PD_TEST_H
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int test_checks, test_failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        test_checks++;                                                                             \
        if (!(condition)) {                                                                        \
            test_failures++;                                                                       \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                \
        }                                                                                          \
    } while (0)

#define CHECK_U64(actual, expected) test_u64(__FILE__, __LINE__, #actual, (actual), (expected))
#define CHECK_STR(actual, expected) test_str(__FILE__, __LINE__, #actual, (actual), (expected))

static inline void test_u64(const char *file, int line, const char *text, uint64_t actual,
                            uint64_t expected)
{
    test_checks++;
    if (actual == expected)
        return;
    test_failures++;
    fprintf(stderr, "%s:%d: %s is %" PRIu64 " (0x%" PRIx64 "), not %" PRIu64 " (0x%" PRIx64 ")\n",
            file, line, text, actual, actual, expected, expected);
}

static inline void test_str(const char *file, int line, const char *text, const char *actual,
                            const char *expected)
{
    test_checks++;
    if (actual && expected && !strcmp(actual, expected))
        return;
    test_failures++;
    fprintf(stderr, "%s:%d: %s is\n  \"%s\", not\n  \"%s\"\n", file, line, text,
            actual ? actual : "(null)", expected ? expected : "(null)");
}

/* Meson's code for "skipped": return it from main after a word on stdout. */
#define TEST_SKIP 77

static inline int test_done(void)
{
    if (test_failures || !test_checks)
        fprintf(stderr, "%d of %d checks failed\n", test_failures, test_checks);
    return test_failures || !test_checks ? EXIT_FAILURE : EXIT_SUCCESS;
}
#endif
