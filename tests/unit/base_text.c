/* SPDX-License-Identifier: MIT */
/* The text writer prints numbers as printf would. */
#include "test.h"
#include "base/text.h"

static void check_number(uint64_t value)
{
    static const unsigned widths[] = { 0, 1, 7, 16, 24 };
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

int main(void)
{
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
