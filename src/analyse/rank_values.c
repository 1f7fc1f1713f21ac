/* SPDX-License-Identifier: MIT */
/* Numbers to ranks. Where they lie close together, as most do, a bit for each that may be there
 * tells how many smaller ones there are; others are sorted, digit by digit. */
#include "analyse/rank.h"

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS, WORD_BITS = 64 };

/* ---- sorting ---- */

/* The bits that values differ in; none where they stand in order already. */
static uint64_t bits_to_sort(const struct pd_rank_item *items, size_t count)
{
    uint64_t bits = 0;
    bool ordered = true;
    for (size_t i = 1; i < count; i++) {
        bits |= items[i].value ^ items[0].value;
        ordered &= items[i - 1].value <= items[i].value;
    }
    return ordered ? 0 : bits;
}

/* By value, equal ones as they stood: digit by digit from the last, but for those that all have in
 * common. */
void pd_rank_sort(struct pd_rank_sorter *sorter, size_t count)
{
    uint64_t bits = bits_to_sort(sorter->items, count);
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        uint32_t at[DIGITS] = { 0 }, sum = 0;
        if (!(bits >> shift & (DIGITS - 1)))
            continue;
        for (size_t i = 0; i < count; i++)
            at[sorter->items[i].value >> shift & (DIGITS - 1)]++;
        for (unsigned digit = 0; digit < DIGITS; digit++) {
            uint32_t here = at[digit];
            at[digit] = sum;
            sum += here;
        }
        for (size_t i = 0; i < count; i++) {
            struct pd_rank_item item = sorter->items[i];
            sorter->spare[at[item.value >> shift & (DIGITS - 1)]++] = item;
        }
        struct pd_rank_item *sorted = sorter->spare;
        sorter->spare = sorter->items;
        sorter->items = sorted;
    }
}

/* Each row's rank is that of its item's value. Returns how many there are. */
static uint32_t rank_sorted(struct pd_ranking *ranking, uint32_t *ranks)
{
    uint32_t rank = 0;
    pd_rank_sort(&ranking->sorter, ranking->count);
    const struct pd_rank_item *items = ranking->sorter.items;
    for (size_t i = 0; i < ranking->count; i++) {
        rank += i && items[i].value != items[i - 1].value;
        ranks[items[i].row] = rank;
    }
    return ranking->count ? rank + 1 : 0;
}

/* ---- marking ---- */

/* In the room for sorting: `value` has a bit for each of 64 numbers, `row` says how many there are
 * before them. */
static struct pd_rank_item *begin_marks(struct pd_ranking *ranking, uint64_t greatest)
{
    memset(ranking->sorter.spare, 0, (greatest / WORD_BITS + 1) * sizeof *ranking->sorter.spare);
    return ranking->sorter.spare;
}

static bool have_room(const struct pd_ranking *ranking, uint64_t greatest)
{
    return greatest / WORD_BITS < ranking->count;
}

PD_INLINE void mark(struct pd_rank_item *marks, uint64_t number)
{
    marks[number / WORD_BITS].value |= UINT64_C(1) << number % WORD_BITS;
}

/* Not the compiler's, which is a call where not all processors have an instruction for it. */
PD_INLINE uint32_t count_bits(uint64_t word)
{
    word -= word >> 1 & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(word * UINT64_C(0x0101010101010101) >> 56);
}

/* Returns how many are marked. */
static uint32_t count_marks(struct pd_rank_item *marks, uint64_t greatest)
{
    uint32_t sum = 0;
    for (uint64_t word = 0; word <= greatest / WORD_BITS; word++) {
        marks[word].row = sum;
        sum += count_bits(marks[word].value);
    }
    return sum;
}

PD_INLINE uint32_t rank_of(const struct pd_rank_item *marks, uint64_t number)
{
    const struct pd_rank_item *at = &marks[number / WORD_BITS];
    return at->row + count_bits(at->value & ((UINT64_C(1) << number % WORD_BITS) - 1));
}

/* ---- ranks ---- */

void pd_rank_parts(struct pd_ranking *ranking)
{
    const struct pd_rank_item *items = ranking->sorter.items;
    uint64_t least = UINT64_MAX, greatest = 0;
    for (size_t i = 0; i < ranking->count; i++) {
        least = PD_MIN(least, items[i].value);
        greatest = PD_MAX(greatest, items[i].value);
    }
    if (!ranking->count || !have_room(ranking, greatest - least)) {
        ranking->parts = rank_sorted(ranking, ranking->part);
        return;
    }
    struct pd_rank_item *marks = begin_marks(ranking, greatest - least);
    for (size_t i = 0; i < ranking->count; i++)
        mark(marks, items[i].value - least);
    ranking->parts = count_marks(marks, greatest - least);
    for (size_t i = 0; i < ranking->count; i++)
        ranking->part[items[i].row] = rank_of(marks, items[i].value - least);
}

uint32_t pd_rank_refine(struct pd_ranking *ranking, uint32_t *ranks, uint32_t count)
{
    const uint64_t parts = ranking->parts, most = count * parts;
    const uint32_t *part = ranking->part;
    if (parts <= 1 || count == ranking->count)
        return count;
    if (!have_room(ranking, most)) {
        for (size_t i = 0; i < ranking->count; i++)
            ranking->sorter.items[i] = (struct pd_rank_item){ ranks[i] * parts + part[i],
                                                              (uint32_t)i };
        return rank_sorted(ranking, ranks);
    }
    struct pd_rank_item *marks = begin_marks(ranking, most);
    for (size_t i = 0; i < ranking->count; i++)
        mark(marks, ranks[i] * parts + part[i]);
    count = count_marks(marks, most);
    for (size_t i = 0; i < ranking->count; i++)
        ranks[i] = rank_of(marks, ranks[i] * parts + part[i]);
    return count;
}
