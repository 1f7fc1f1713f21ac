/* SPDX-License-Identifier: MIT */
/* Proves: rows sorted by ranks are in the order in which the trees would leave them, whatever
 * addresses, threads, depths and equal rows there are, or are left to the trees. */
#include "test.h"
#include "analyse/order.h"
#include "model/model.h"

enum { ROWS = 400, SYMBOLS = 40, THREADS = 7 };

static uint64_t seed = 88172645463325252;

static uint64_t any(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (seed >> 11) % below;
}

struct world {
    struct pd_symbol symbols[SYMBOLS];
    struct pd_thread threads[THREADS];
    struct pd_hist_entry entries[ROWS];
    struct pd_hist_row rows[ROWS], members[ROWS], *member_of[ROWS];
    struct pd_hist_result result;
    struct pd_hist_event event;
};

static struct world world;

static const char *const texts[] = { "a", "ab", "abcdefgh", "abcdefghi", "abcdefghj", "b", "" };

static const char *any_text(void)
{
    return texts[any(PD_LENGTH(texts))];
}

/* What stacks hold may be anything; what samples hold is an address. */
static uint64_t any_address(bool wild)
{
    switch (any(wild ? 4 : 2)) {
    case 0: return 0x400000 + any(8);
    case 1: return UINT64_C(0xffffffff81000000) + any(8);
    case 2: return UINT64_C(0x4857410000012387) + any(4);
    default: return UINT64_C(0xb6d9000000000001) + (any(4) << 60);
    }
}

static void make_symbols(void)
{
    for (size_t i = 0; i < SYMBOLS; i++)
        world.symbols[i] = (struct pd_symbol){
            .start = i % 4 ? 0x1000 + any(20) : UINT64_C(0xffffffff81000000) + any(20),
            .end = 0x2000 + any(2),
            .name = any_text(),
        };
}

static void make_row(size_t i, const struct pd_hist_options *options, bool wild)
{
    uint64_t key[PD_HIST_WORDS] = { 0 };
    struct pd_hist_row *row = &world.rows[i];
    const struct pd_symbol *symbol = any(3) ? &world.symbols[any(SYMBOLS)] : NULL;
    for (unsigned k = 0; k < options->key_count; k++)
        key[k + 1] = any(5) ? any(6) : any_address(wild);
    key[0] = i; /* an identity of its own */
    uint32_t id = pd_hist_entry_id(&world.result.joined, key);
    world.entries[i].first = (struct pd_hist_first){
        .number = any(wild ? 1u << 30 : 300),
        .position = (uint32_t)any(3),
        .symbol = symbol,
        .thread = &world.threads[any(THREADS)],
    };
    *row = (struct pd_hist_row){
        .entry = &world.entries[i],
        .index = id,
        .period = any(4),
        .sys = any(2),
        .count = any(3),
        .children_period = any(12),
        .max_depth = (uint32_t)any(5),
        .comm = any_text(),
        .dso = symbol || any(2) ? any_text() : NULL,
        .parent = any(2) ? any_text() : NULL,
        .trace = any(4) ? any_text() : NULL,
        .line = any_text(),
        .file = any_text(),
        .symbol = symbol ? symbol->name : NULL,
        .addr = symbol ? symbol->start : any_address(wild),
    };
    world.members[i] = (struct pd_hist_row){ .period = any(4), .count = any(4) };
    world.member_of[i] = &world.members[i];
    row->members = any(2) ? &world.member_of[i] : NULL;
}

struct order {
    uint32_t index[ROWS];
    uint8_t met[ROWS];
};

static void take_order(struct order *order)
{
    for (size_t i = 0; i < world.event.rows.count; i++) {
        order->index[i] = world.event.rows.data[i]->index;
        order->met[i] = world.event.rows.data[i]->met;
    }
}

/* The same rows once more, with nothing met. */
static void put_rows(size_t count, uint8_t *met)
{
    world.event.rows.count = 0;
    memset(met, 0, ROWS + 1);
    for (size_t i = 0; i < count; i++) {
        world.rows[i].met = 0;
        CHECK(pd_vec_push(&world.event.rows, &world.rows[i]));
    }
}

/* True when ranks could sort the rows. */
static bool check_sort(const struct pd_hist_options *options, const uint8_t *order,
                       size_t order_count, size_t count, bool wild)
{
    static uint8_t met[ROWS + 1];
    struct order by_trees = { 0 }, by_rank = { 0 };
    pd_hist_init(&world.result.joined, options);
    world.result.identities = &world.result.joined;
    make_symbols();
    for (size_t i = 0; i < count; i++)
        make_row(i, options, wild);
    world.result.all.count = count;
    struct pd_hist_sorting sorting = {
        .hist = &world.result.joined,
        .all = &world.result.joined,
        .order = order,
        .order_count = order_count,
        .group_size = 1 + any(2),
        .dso_is_key = pd_hist_key_at(options, PD_KEY_DSO) != 0,
        .has_chains = options->use_chains,
        .met = met,
    };
    sorting.group_sort = any((unsigned)sorting.group_size);
    sorting.group_values = sorting.group_size - (sorting.group_sort != 0);
    put_rows(count, met);
    CHECK(pd_hist_sort_by_trees(&sorting, &world.result, &world.event));
    take_order(&by_trees);
    put_rows(count, met);
    bool sorted = false;
    CHECK(pd_hist_sort_by_rank(&sorting, &world.event, &sorted) == 0);
    if (sorted) {
        take_order(&by_rank);
        CHECK(!memcmp(&by_trees, &by_rank, sizeof by_trees));
    }
    pd_hist_free(&world.result.joined);
    return sorted;
}

#define KEYS(...) { __VA_ARGS__ }, .key_count = PD_LENGTH(((uint8_t[]){ __VA_ARGS__ }))

static const struct pd_hist_options option_sets[] = {
    { .keys = KEYS(PD_KEY_COMM, PD_KEY_DSO, PD_KEY_SYMBOL),
      .use_chains = true,
      .children = true,
      .caller_order = true },
    { .keys = KEYS(PD_KEY_COMM, PD_KEY_DSO, PD_KEY_SYMBOL), .use_chains = true, .children = true },
    { .keys = KEYS(PD_KEY_DSO, PD_KEY_SYMBOL, PD_KEY_PID, PD_KEY_PARENT) },
    { .keys = KEYS(PD_KEY_SYMBOL, PD_KEY_DSO, PD_KEY_CPU), .children = true },
    { .keys = KEYS(PD_KEY_SYMBOL) },
    { .keys = KEYS(PD_KEY_TRACE, PD_KEY_COMM) },
    { .keys = KEYS(PD_KEY_SRCFILE, PD_KEY_WEIGHT) },
    { .keys = KEYS(PD_KEY_SRCLINE, PD_KEY_TIME) },
    { .keys = KEYS(PD_KEY_COMM, PD_KEY_TRACE) },
};

int main(void)
{
    unsigned sorted[PD_LENGTH(option_sets)] = { 0 };
    for (unsigned round = 0; round < 60; round++)
        for (size_t i = 0; i < PD_LENGTH(option_sets); i++) {
            const struct pd_hist_options *options = &option_sets[i];
            uint8_t order[PD_KEY_COUNT + 3];
            size_t count = 0;
            if (options->children)
                order[count++] = PD_COLUMN_CHILDREN;
            order[count++] = round & 1 ? PD_COLUMN_OVERHEAD : PD_COLUMN_SAMPLES;
            memcpy(order + count, options->keys, options->key_count);
            count += options->key_count;
            size_t rows = round % 3 ? ROWS : any(4);
            sorted[i] += check_sort(options, order, count, rows, round % 5 > 1);
        }
    for (size_t i = 0; i + 1 < PD_LENGTH(option_sets); i++)
        if (i != 4) /* its addresses stand for themselves, with any object or none */
            CHECK(sorted[i] > 10);
    CHECK(!sorted[PD_LENGTH(option_sets) - 1]); /* trees alone know which texts are compared */
    pd_vec_free(&world.event.rows);
    return test_done();
}
