/* SPDX-License-Identifier: MIT */
/* Proves: branches of a sample become the ends of a chain, loops once, in either order, beside the
 * chain that is there. */
#include "resolve/resolver.h"
#include "test.h"

#define CONTEXT_USER ((uint64_t)-512)
#define CYCLES(n) ((uint64_t)(n) << PD_BRANCH_SHIFT_CYCLES)

static struct pd_history history;

static struct pd_sample sample_of(const uint64_t *words, size_t count, const uint64_t *chain,
                                  size_t length)
{
    return (struct pd_sample){ .branches = (const uint8_t *)words,
                               .branch_count = (uint32_t)count,
                               .callchain = (const uint8_t *)chain,
                               .callchain_count = (uint32_t)length };
}

/* "from*times/cycles" of what is left, then the overlap. */
static const char *taken(const uint64_t *words, size_t count, unsigned max_stack, bool from_caller,
                         const uint64_t *chain, size_t length)
{
    static char text[512];
    struct pd_sample sample = sample_of(words, count, chain, length);
    pd_history_take(&sample, max_stack, from_caller, &history);
    text[0] = 0;
    for (size_t i = 0; i < history.count; i++) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%" PRIx64, history.branches[i].from);
        if (history.loops[i].times)
            snprintf(text + strlen(text), sizeof text - strlen(text), "*%u/%" PRIu32,
                     history.loops[i].times, history.loops[i].cycles);
        strcat(text, " ");
    }
    snprintf(text + strlen(text), sizeof text - strlen(text), "+%zu", history.overlap);
    return text;
}

#define TAKEN(words, max_stack, from_caller)                                                       \
    taken(words, sizeof(words) / 24, max_stack, from_caller, NULL, 0)

static void loops(void)
{
    /* 1 2 comes three times, then 3: what comes again is left out in front of what follows. */
    const uint64_t thrice[] = { 1,  10,        CYCLES(5), 2,         20,        CYCLES(7), 1,
                                10, CYCLES(5), 2,         20,        CYCLES(8), 1,         10,
                                0,  2,         20,        CYCLES(1), 3,         30,        0 };
    CHECK_STR(TAKEN(thrice, 127, false), "1 2 1*1/13 2 3 +0");
    CHECK_STR(TAKEN(thrice, 127, true), "3 2 1 2*1/13 +0");
    /* Most are the newest, or from the caller the oldest. */
    CHECK_STR(TAKEN(thrice, 3, false), "1 2 +0");
    CHECK_STR(TAKEN(thrice, 2, true), "3 2 +0");
    /* A loop that the stack ends in is left out and told nowhere. */
    const uint64_t cut[] = { 1, 10, 0, 2, 20, 0, 3, 30, 0, 1, 10, 0, 2, 20, 0 };
    CHECK_STR(TAKEN(cut, 127, false), "1 2 3 +0");
    /* The way back differs: no loop. */
    const uint64_t other[] = { 1, 10, 0, 2, 20, 0, 1, 10, 0, 3, 30, 0 };
    CHECK_STR(TAKEN(other, 127, false), "1 2 1 3 +0");
    CHECK_STR(TAKEN(other, 0, false), "+0");
}

static void overlap(void)
{
    const uint64_t words[] = { 0x100, 0x900, 0, 0x208, 0x910, 0, 0x300, 0x920, 0 };
    /* The marker and two returns that lie behind calls; the third lies too far. */
    const uint64_t chain[] = { CONTEXT_USER, 0x210, 0x309, 0x400 };
    CHECK_STR(taken(words, 3, 127, false, chain, 4), "100 208 300 +2");
    CHECK_STR(taken(words, 3, 127, true, chain, 4), "300 208 100 +0");
    CHECK_STR(taken(words, 3, 127, false, chain, 1), "100 208 300 +1");
}

static void too_many(void)
{
    static uint64_t words[128 * 3];
    for (size_t i = 0; i < 128; i++)
        words[3 * i] = 0x1000 + i;
    struct pd_sample sample = sample_of(words, 128, NULL, 0);
    pd_history_take(&sample, 500, false, &history);
    CHECK_U64(history.count, 0);
    sample.branch_count = 127;
    pd_history_take(&sample, 500, false, &history);
    CHECK_U64(history.count, 127);
}

static uint64_t end_to(uint64_t from, uint64_t to, uint64_t type, uint64_t flags)
{
    return pd_chain_end_to(&(struct pd_branch){ from, to, type << PD_BRANCH_SHIFT_TYPE | flags });
}

static void targets(void)
{
    const uint64_t predicted = UINT64_C(1) << PD_BRANCH_SHIFT_PREDICTED;
    CHECK_U64(end_to(0x1000, 0x1010, PD_BRANCH_UNKNOWN, predicted), PD_END_TO | PD_END_PREDICTED);
    CHECK_U64(end_to(0x1000, 0x1010, PD_BRANCH_COND, 0),
              PD_END_TO | PD_END_FORWARD | UINT64_C(1) << (PD_END_TYPE_SHIFT + PD_BRANCH_COND));
    CHECK_U64(end_to(0x2010, 0x1010, PD_BRANCH_COND, 0),
              PD_END_TO | PD_END_BACKWARD | PD_END_CROSS_4K |
                  UINT64_C(1) << (PD_END_TYPE_SHIFT + PD_BRANCH_COND));
    CHECK_U64(end_to(0x400000, 0x1010, PD_BRANCH_CALL, 0),
              PD_END_TO | PD_END_CROSS_2M | UINT64_C(1) << (PD_END_TYPE_SHIFT + PD_BRANCH_CALL));
    CHECK_U64(end_to(0x1000, 0x1010, PD_BRANCH_EXTEND_ABI, UINT64_C(3) << PD_BRANCH_SHIFT_NEW_TYPE),
              PD_END_TO | UINT64_C(1) << (PD_END_NEW_TYPE_SHIFT + 3));
    /* From nowhere: told as a source. */
    CHECK_U64(end_to(0, 0x1010, PD_BRANCH_CALL, CYCLES(9)),
              PD_END_FROM | UINT64_C(9) << PD_END_CYCLES_SHIFT);
}

int main(void)
{
    loops();
    overlap();
    too_many();
    targets();
    return test_done();
}
