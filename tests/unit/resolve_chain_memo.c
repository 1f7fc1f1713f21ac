/* SPDX-License-Identifier: MIT */
/* Remembered chains: what tells them apart, how many bytes are kept, and how a chain is taken
 * apart. */
#include "resolve/chain_memo.h"
#include "resolve/resolve.h"
#include "test.h"
#include <malloc.h>

#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER ((uint64_t)-512)
#define CONTEXT_GUEST ((uint64_t)-2048)

static const uint64_t chain[] = { 0x1000, 0x2000, 0x3000 }, other[] = { 0x1000, 0x2000, 0x3001 };

static const char *find(const struct pd_chain_memo *memo, struct pd_chain_key key)
{
    uint32_t size = 0;
    const char *answer = pd_chain_memo_find(memo, &key, &size);
    CHECK(!answer || size == strlen(answer) + 1);
    return answer ? answer : "none";
}

static void all_of_the_key_counts(void)
{
    struct pd_chain_memo memo;
    struct pd_chain_key key = { 7, 1, (const uint8_t *)chain, 3 };
    CHECK(pd_chain_memo_init(&memo, 1, 1 << 20)); /* one slot: all meet in it */
    CHECK_STR(find(&memo, key), "none");
    pd_chain_memo_keep(&memo, &key, "first", 6);
    CHECK_STR(find(&memo, key), "first");
    CHECK_STR(find(&memo, (struct pd_chain_key){ 8, 1, key.ips, 3 }), "none");
    CHECK_STR(find(&memo, (struct pd_chain_key){ 7, 2, key.ips, 3 }), "none");
    CHECK_STR(find(&memo, (struct pd_chain_key){ 7, 1, key.ips, 2 }), "none");
    CHECK_STR(find(&memo, (struct pd_chain_key){ 7, 1, (const uint8_t *)other, 3 }), "none");
    key.ips = (const uint8_t *)other;
    pd_chain_memo_keep(&memo, &key, "second", 7);
    CHECK_STR(find(&memo, key), "second");
    CHECK_STR(find(&memo, (struct pd_chain_key){ 7, 1, (const uint8_t *)chain, 3 }), "none");
    pd_chain_memo_forget(&memo);
    CHECK_STR(find(&memo, key), "none");
    pd_chain_memo_free(&memo);
}

static size_t memory_in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void memory_is_bounded(void)
{
    enum { LIMIT = 1 << 20, LARGE = 100000 };
    struct pd_chain_memo memo;
    static const char answer[LARGE] = "long";
    CHECK(pd_chain_memo_init(&memo, 4096, LIMIT));
    size_t before = memory_in_use();
    for (uint64_t stamp = 1; stamp < 5000;
         stamp++) { /* now and then one that has a block of its own */
        struct pd_chain_key key = { stamp, 0, (const uint8_t *)chain, 3 };
        pd_chain_memo_keep(&memo, &key, answer, stamp % 37 ? 1000 : LARGE);
        CHECK(memo.arena.total <= LIMIT + LARGE + 16);
        /* what is kept for later counts, too */
        CHECK(memory_in_use() <= before + 2 * LIMIT);
    }
    pd_chain_memo_free(&memo);
}

static bool split(const uint64_t *entries, uint32_t count, uint32_t branches,
                  struct pd_chain_parts *parts)
{
    struct pd_sample sample = { .callchain = (const uint8_t *)entries,
                                .callchain_count = count,
                                .branch_count = branches };
    const struct pd_chain_entries all = pd_chain_entries_of(&sample);
    return !pd_chain_has_more(&sample) && pd_chain_split(&all, parts);
}

static void chains_are_taken_apart(void)
{
    const uint64_t simple[] = { CONTEXT_KERNEL, 0x10, CONTEXT_USER, 0x20, 0x30 };
    const uint64_t twice[] = { CONTEXT_KERNEL, CONTEXT_USER, 0x20 };
    const uint64_t bare[] = { 0x10, 0x20 }, odd[] = { CONTEXT_GUEST, 0x10 };
    struct pd_chain_parts parts = { 0 };
    CHECK(split(simple, 5, 0, &parts));
    CHECK_U64(parts.ip, 0x10);
    CHECK_U64((uint64_t)parts.cpumode, PD_CPUMODE_KERNEL);
    CHECK_U64((uint64_t)parts.caller_count, 3);
    CHECK(parts.callers == (const uint8_t *)(simple + 2));
    CHECK(split(twice, 3, 0, &parts));
    CHECK_U64((uint64_t)parts.cpumode, PD_CPUMODE_USER);
    CHECK_U64((uint64_t)parts.caller_count, 0);
    CHECK(!split(simple, 5, 1, &parts)); /* the processor's stack may stand for a part */
    CHECK(!split(simple, 1, 0, &parts));
    CHECK(!split(bare, 2, 0, &parts));
    CHECK(!split(odd, 2, 0, &parts));
    CHECK(!split(simple, 0, 0, &parts));
}

int main(void)
{
    all_of_the_key_counts();
    memory_is_bounded();
    chains_are_taken_apart();
    return test_done();
}
