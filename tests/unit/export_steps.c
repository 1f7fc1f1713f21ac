/* SPDX-License-Identifier: MIT */
/* Proves: a bare trace and code from a callback give the steps that a processor made; what has no
 * code is an error, and the walk goes on at the next PSB. */
#include "test.h"
#include <perfdata/itrace.h>

/* 0x1000: nop; jne 0x1005; nop; nop; ret   0x2000: ret */
static size_t read_code(void *data, uint64_t ip, uint8_t *bytes, size_t size)
{
    static const uint8_t code[] = { 0x90, 0x75, 0x02, 0x90, 0x90, 0xc3 };
    size_t *calls = data;
    ++*calls;
    if (ip == 0x2000) {
        bytes[0] = 0xc3;
        return 1;
    }
    if (ip < 0x1000 || ip >= 0x1000 + sizeof code)
        return 0;
    size_t left = sizeof code - (size_t)(ip - 0x1000);
    left = left < size ? left : size;
    memcpy(bytes, code + (ip - 0x1000), left);
    return left;
}

#define PSB                                                                                        \
    0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82
#define PSBEND 0x02, 0x23
#define PGE(low, high) 0x71, low, high, 0, 0, 0, 0
#define TIP(low, high) 0x6d, low, high, 0, 0, 0, 0
#define TNT_TAKEN 0x06
#define PGD 0x01

static const uint8_t trace[] = { PSB, PSBEND, PGE(0x00, 0x10), TNT_TAKEN, TIP(0x00, 0x20), PGD,
                                 /* to where no code is */
                                 PGE(0x00, 0x30), TNT_TAKEN, PSB, PSBEND, PGE(0x00, 0x20), PGD };

static const struct expected {
    uint32_t type, error;
    uint64_t from, to, insns;
} expected[] = {
    { PERFDATA_STEP_PSB, 0, 0, 0, 0 },
    { PERFDATA_STEP_BRANCH | PERFDATA_STEP_TRACE_BEGIN, 0, 0, 0x1000, 0 },
    { PERFDATA_STEP_BRANCH, 0, 0x1001, 0x1005, 2 },
    { PERFDATA_STEP_BRANCH, 0, 0x1005, 0x2000, 3 },
    { PERFDATA_STEP_BRANCH | PERFDATA_STEP_TRACE_END, 0, 0x2000, 0, 4 },
    { PERFDATA_STEP_BRANCH | PERFDATA_STEP_TRACE_BEGIN, 0, 0, 0x3000, 4 },
    { 0, 5, 0x3000, 0, 4 },
};

int main(void)
{
    size_t calls = 0, count = 0, psbs = 0, ends = 0;
    struct perfdata_steps_options options = { .struct_size = sizeof options,
                                              .read_code = read_code,
                                              .data = &calls };
    struct perfdata_step step = { .struct_size = sizeof step };
    perfdata_steps *steps;
    CHECK(perfdata_steps_open(trace, sizeof trace, &options, &steps) == PERFDATA_OK);
    while (perfdata_steps_next(steps, &step)) {
        if (count < sizeof expected / sizeof *expected) {
            const struct expected *want = &expected[count];
            CHECK_U64(step.type & ~(uint32_t)PERFDATA_STEP_CBR, want->type);
            CHECK_U64(step.error, want->error);
            CHECK_U64(step.from, want->from);
            CHECK_U64(step.to, want->to);
            CHECK_U64(step.insns, want->insns);
        }
        psbs += step.type & PERFDATA_STEP_PSB ? 1 : 0;
        ends += step.type & PERFDATA_STEP_TRACE_END && step.from == 0x2000 ? 1 : 0;
        count++;
    }
    CHECK_U64(psbs, 2);
    CHECK_U64(ends, 2);
    CHECK(calls > 0 && calls < 12); /* code is asked for once */
    perfdata_steps_close(steps);
    CHECK_STR(perfdata_step_error_text(5), "Failed to get instruction");

    /* Only what is wanted. */
    options.wanted = PERFDATA_STEP_PSB;
    CHECK(perfdata_steps_open(trace, sizeof trace, &options, &steps) == PERFDATA_OK);
    for (count = 0; perfdata_steps_next(steps, &step);)
        count += step.error ? 0 : 1;
    CHECK_U64(count, 2);
    perfdata_steps_close(steps);
    options.read_code = NULL;
    CHECK(perfdata_steps_open(trace, sizeof trace, &options, &steps) == PERFDATA_ERROR_ARGUMENT);
    return test_done();
}
