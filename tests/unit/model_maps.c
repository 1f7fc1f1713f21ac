/* SPDX-License-Identifier: MIT */
/* The persistent tree against a plain array of pages, and its cost and memory. */
#include "base/hash.h"
#include "model/maps.h"
#include "test.h"

enum { PAGES = 200, SETS = 6 };

static struct pd_map_pool pool;

/* What page p of a set shows: the serial of a map and the offset in it. */
struct page {
    uint32_t serial;
    uint64_t pgoff;
};

static struct page model[SETS][PAGES];
static struct pd_map_set *sets[SETS];
static uint64_t random_state = 1;

static uint64_t random_below(uint64_t limit)
{
    random_state += UINT64_C(0x9e3779b97f4a7c15);
    return pd_digest64(random_state) % limit;
}

static void insert(unsigned set, uint64_t start, uint64_t end, uint32_t serial, uint64_t number)
{
    struct pd_map *map = pd_map_new(&pool);
    map->start = start;
    map->end = end;
    map->pgoff = 1000;
    map->pid = serial;
    map->number = number;
    CHECK_U64((uint64_t)pd_map_set_insert(&pool, sets[set], map), 0);
    for (uint64_t p = start; p < end; p++)
        model[set][p] = (struct page){ serial, 1000 + p - start };
}

static unsigned check_node(const struct pd_map_node *node, uint64_t low, uint64_t high)
{
    if (!node)
        return 0;
    CHECK(node->start == node->map->start && node->map->start < node->map->end);
    CHECK(node->map->start >= low && node->map->end <= high);
    unsigned left = check_node(node->left, low, node->map->start);
    unsigned right = check_node(node->right, node->map->end, high);
    CHECK(left <= right + 1 && right <= left + 1);
    CHECK_U64(node->height, PD_MAX(left, right) + 1);
    return node->height;
}

/* Whether a gap is all that lies between the maps around it. */
static bool is_whole_gap(const struct pd_map_gap *gap, const struct page *pages, uint64_t at)
{
    uint64_t from = at, until = at + 1;
    while (from && !pages[from - 1].serial)
        from--;
    while (until < PAGES && !pages[until].serial)
        until++;
    return gap->from == from && gap->size == (until < PAGES ? until : UINT64_MAX) - from;
}

static void check_root(const struct pd_map_node *root, const struct page *pages)
{
    unsigned wrong = 0;
    for (uint64_t p = 0; p < PAGES; p++) {
        struct pd_map_gap gap;
        const struct pd_map *map = pd_map_node_find_or_gap(root, p, &gap);
        wrong += map != pd_map_node_find(root, p) || (!map && !is_whole_gap(&gap, pages, p));
    }
    for (uint64_t p = 0; p < PAGES; p++) {
        const struct pd_map *map = pd_map_node_find(root, p);
        if (!map)
            wrong += pages[p].serial != 0;
        else
            wrong += pages[p].serial != map->pid || pages[p].pgoff != p - map->start + map->pgoff;
    }
    CHECK_U64(wrong, 0);
    check_node(root, 0, UINT64_MAX);
}

static void agrees_with_pages(void)
{
    struct page old[PAGES];
    uint64_t number = 0;
    for (unsigned i = 0; i < SETS; i++)
        sets[i] = pd_map_set_new(&pool);
    for (uint32_t round = 1; round < 3000; round++) {
        unsigned set = (unsigned)random_below(SETS);
        number++;
        if (random_below(20) == 0) { /* fork */
            unsigned from = (unsigned)random_below(SETS);
            if (from != set) {
                pd_map_set_share(&pool, sets[set], sets[from]);
                memcpy(model[set], model[from], sizeof model[set]);
            }
            continue;
        }
        CHECK(pd_map_set_publish(&pool, sets[set], number));
        memcpy(old, model[set], sizeof old);
        uint64_t start = random_below(PAGES),
                 end = start + 1 + random_below(PD_MIN(PAGES - start, 40));
        insert(set, start, end, round, ++number);
        check_root(sets[set]->root, model[set]);
        const struct pd_map_version *version = pd_map_set_at(sets[set], number - 1, NULL);
        check_root(version ? version->root : NULL, old); /* the old version is as it was */
        if (round % 50 == 0)
            pd_map_pool_retire(&pool, number);
    }
    for (unsigned i = 0; i < SETS; i++)
        pd_map_set_bury(&pool, sets[i], number);
    pd_map_pool_retire(&pool, number + 1);
    pd_map_pool_free(&pool);
    memset(&pool, 0, sizeof pool);
}

static void remove_and_insert_below(void)
{
    struct pd_map_set *set = sets[0] = pd_map_set_new(&pool);
    memset(model, 0, sizeof model);
    insert(0, 10, 20, 1, 1);
    insert(0, 30, 40, 2, 1);
    struct pd_map *map = pd_map_new(&pool);
    map->start = 5;
    map->end = 35;
    map->pid = 3;
    CHECK_U64((uint64_t)pd_map_set_insert_below(&pool, set, map), 0);
    static const struct {
        uint64_t at, pid, pgoff;
    } expected[] = {
        { 4, 0, 0 },   { 5, 3, 0 },     { 10, 1, 1000 }, { 20, 3, 15 },
        { 29, 3, 24 }, { 30, 2, 1000 }, { 40, 0, 0 },
    };
    for (size_t i = 0; i < PD_LENGTH(expected); i++) {
        const struct pd_map *found = pd_map_set_find_now(set, expected[i].at);
        CHECK_U64(found ? found->pid : 0, expected[i].pid);
        CHECK_U64(found ? expected[i].at - found->start + found->pgoff : 0, expected[i].pgoff);
    }
    CHECK_U64((uint64_t)pd_map_set_remove(&pool, set, 10), 0);
    CHECK(pd_map_set_find_now(set, 10) == NULL);
    CHECK(pd_map_set_find_now(set, 20) != NULL);
    pd_map_pool_free(&pool);
    memset(&pool, 0, sizeof pool);
}

/* A process with 100,000 maps that maps and is looked up all day holds no more memory than one
 * version. */
static void jit_all_day_is_bounded(void)
{
    struct pd_map_set *set = pd_map_set_new(&pool);
    uint64_t number = 0;
    for (uint64_t i = 0; i < 400000; i++) {
        struct pd_map *map = pd_map_new(&pool);
        map->start = i % 100000 * 16;
        map->end = map->start + 16;
        map->number = ++number;
        if (pd_map_set_insert(&pool, set, map) < 0 || !pd_map_set_publish(&pool, set, ++number))
            CHECK(false);
        if (i % 64 == 0)
            pd_map_pool_retire(&pool, number);
        if (i == 110000)
            random_state = pool.arena.total; /* kept for the comparison below */
    }
    CHECK(pool.arena.total <= random_state + 256 * 1024);
    CHECK(set->root->height <= 24);
    pd_map_pool_free(&pool);
    memset(&pool, 0, sizeof pool);
}

int main(void)
{
    agrees_with_pages();
    remove_and_insert_below();
    jit_all_day_is_bounded();
    return test_done();
}
