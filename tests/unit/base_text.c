/* SPDX-License-Identifier: MIT */
/* The text writer prints numbers as printf would. */
#include "test.h"
#include "base/text.h"
#include <math.h>

static void check_number(uint64_t value)
{
    static const unsigned widths[] = { 0, 1, 7, 16, 24, 31, 32, 33, 50 };
    char expected[64];
    for (size_t i = 0; i < PD_LENGTH(widths); i++) {
        struct pd_text text = { 0 };
        pd_text_u64(&text, value, widths[i], ' ');
        pd_text_char(&text, 0);
        snprintf(expected, sizeof expected, "%*" PRIu64, (int)widths[i], value);
        CHECK_STR(text.data, expected);
        text.length = 0;
        pd_text_hex(&text, value, widths[i], '0');
        pd_text_char(&text, 0);
        snprintf(expected, sizeof expected, "%0*" PRIx64, (int)widths[i], value);
        CHECK_STR(text.data, expected);
        text.length = 0;
        pd_text_i64(&text, (int64_t)value, widths[i]);
        pd_text_char(&text, 0);
        snprintf(expected, sizeof expected, "%*" PRId64, (int)widths[i], (int64_t)value);
        CHECK_STR(text.data, expected);
        pd_text_free(&text);
    }
}

static void check_hundredths(double value)
{
    static const unsigned widths[] = { 0, 6 };
    char expected[512];
    for (size_t i = 0; i < PD_LENGTH(widths); i++) {
        struct pd_text text = { 0 };
        pd_text_hundredths(&text, value, widths[i]);
        pd_text_char(&text, 0);
        snprintf(expected, sizeof expected, "%*.2f", (int)widths[i], value);
        CHECK_STR(text.data, expected);
        pd_text_free(&text);
    }
}

/* Short and long texts in columns narrower and wider than they are, behind other text. */
static void check_left(void)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"
                                  "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";
    char expected[256];
    for (size_t length = 0; length <= 70; length++)
        for (size_t width = 0; width <= 70; width++) {
            struct pd_text text = { 0 };
            pd_text_string(&text, "before ");
            pd_text_left(&text, letters, length, width);
            pd_text_string(&text, "|");
            pd_text_char(&text, 0);
            snprintf(expected, sizeof expected, "before %-*.*s|", (int)width, (int)length, letters);
            CHECK_STR(text.data, expected);
            pd_text_free(&text);
        }
}

/* Shares as reports have them, exact halves, neighbours of halves, and any bits at all. */
static void check_all_hundredths(void)
{
    static const double odd[] = { 0.0,
                                  -0.0,
                                  -1.5,
                                  0.005,
                                  0.015,
                                  1e-310,
                                  5e-324,
                                  1e300,
                                  1073741823.995,
                                  1073741824.0,
                                  9007199254740993.0,
                                  99.995,
                                  100.0,
                                  0.125,
                                  0.375 };
    uint64_t random = 88172645463325252;
    for (size_t i = 0; i < PD_LENGTH(odd); i++)
        check_hundredths(odd[i]);
    check_hundredths(HUGE_VAL);
    for (unsigned i = 0; i <= 20000; i++) {
        double half = i / 200.0;
        check_hundredths(half);
        check_hundredths(nextafter(half, 0));
        check_hundredths(nextafter(half, 1e9));
        check_hundredths(i / 8.0); /* exact halves */
    }
    for (unsigned i = 0; i < 200000; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        uint64_t total = random >> (random & 31) | 1, part = random * 31 % total;
        check_hundredths(100.0 * (double)part / (double)total);
        double any;
        memcpy(&any, &random, sizeof any);
        if (isfinite(any))
            check_hundredths(any);
    }
}

int main(void)
{
    check_left();
    check_all_hundredths();
    check_number(0);
    check_number(9);
    check_number(10);
    check_number(UINT64_MAX);
    check_number((uint64_t)INT64_MIN);
    for (unsigned shift = 0; shift < 64; shift++)
        check_number(UINT64_C(0xdeadbeefcafe1234) >> shift);

    struct pd_text text = { 0 };
    pd_text_hex_prefixed(&text, 0);
    pd_text_char(&text, ' ');
    pd_text_hex_prefixed(&text, 0xabc);
    pd_text_char(&text, '|');
    pd_text_left(&text, "ab", 2, 4);
    pd_text_right(&text, "abc", 3, 2);
    pd_text_json(&text, "a\"\\\n\xff", 5);
    pd_text_char(&text, 0);
    CHECK_STR(text.data, "0 0xabc|ab  abc\"a\\\"\\\\\\n\\udcff\"");
    pd_text_free(&text);
    return test_done();
}
