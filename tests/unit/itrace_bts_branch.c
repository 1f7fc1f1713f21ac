/* SPDX-License-Identifier: MIT */
/* Intel BTS: a record's parts, its text, and what two snapshots have in common. */
#include "itrace/bts/branch.h"
#include "test.h"

static void check_branch(void)
{
    static const uint8_t bytes[PD_BTS_SIZE] = { 1, 2, 0, 0, 0,    0, 0, 0x80, 3, 0, 0, 0,
                                                0, 0, 0, 0, 0x10, 0, 0, 0,    0, 0, 0, 0 };
    struct pd_bts_branch branch = pd_bts_branch(bytes);
    CHECK_U64(branch.from, UINT64_C(0x8000000000000201));
    CHECK_U64(branch.to, 3);
    CHECK(branch.predicted);
    struct pd_text text = { 0 };
    pd_bts_dump(bytes, sizeof bytes, &text);
    pd_bts_dump(bytes, 2, &text);
    pd_text_char(&text, 0);
    CHECK_STR(text.data,
              ".  00000000:  01 02 00 00 00 00 00 80 03 00 00 00 00 00 00 00 10 00 00 00 00 00 00 "
              "00 8000000000000201 -> 3 pred\n"
              ".  00000000:  01 02                                                                 "
              "  Bad record!\n");
    pd_text_free(&text);
}

/* By trying every branch of `last`. */
static size_t slow_overlap(const uint8_t *last, size_t last_size, const uint8_t *next,
                           size_t next_size)
{
    for (size_t at = 0; last_size - at >= PD_BTS_SIZE; at += PD_BTS_SIZE)
        if (last_size - at <= next_size && !memcmp(last + at, next, last_size - at))
            return last_size - at;
    return 0;
}

/* Snapshots of few different branches, as a loop makes them, that may begin within one. */
static void check_overlap(void)
{
    enum { MOST = 40 * PD_BTS_SIZE, ROUNDS = 20000 };
    uint32_t random = 1;
    size_t found = 0, cut = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        size_t sizes[2];
        uint8_t *bytes[2]; /* so that a sanitizer sees an overrun */
        for (unsigned i = 0; i < 2; i++) {
            random = random * 1664525 + 1013904223;
            sizes[i] = (random >> 8) % MOST;
            if (random & 1 << 30)
                sizes[i] -= sizes[i] % PD_BTS_SIZE;
            bytes[i] = malloc(sizes[i] + 1);
            for (size_t at = 0; at < sizes[i]; at++) {
                random = random * 1664525 + 1013904223;
                bytes[i][at] = at % PD_BTS_SIZE ? 0 : random >> 16 & 1;
            }
        }
        size_t first_new = 99;
        CHECK(pd_bts_find_overlap(bytes[0], sizes[0], bytes[1], sizes[1], &first_new));
        CHECK_U64(first_new, slow_overlap(bytes[0], sizes[0], bytes[1], sizes[1]));
        found += first_new > 0;
        cut += first_new % PD_BTS_SIZE != 0;
        free(bytes[0]);
        free(bytes[1]);
    }
    CHECK(found > ROUNDS / 10 && cut > ROUNDS / 100);
}

int main(void)
{
    check_branch();
    check_overlap();
    return test_done();
}
