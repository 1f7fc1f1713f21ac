/* SPDX-License-Identifier: MIT */
/* Proves: rows whose addresses lie anywhere stand where perf's trees leave them, with the facts of
 * the sample that made them there: as when every function of every sample is looked up in turn. */
#include "test.h"
#include "analyse/hist.h"
#include "model/model.h"
#include "object/symtab/rbtree.h"

enum { SAMPLES = 300, FRAMES = 5, ADDRESSES = 60, NODES = SAMPLES * FRAMES + 1 };

static uint64_t seed = 88172645463325252;

static uint64_t any(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (seed >> 11) % below;
}

/* The leaf first, then its callers. */
struct stack {
    uint64_t ips[FRAMES];
    uint32_t count;
};

static struct stack stacks[SAMPLES];
static struct pd_thread threads[SAMPLES];

static void make_stacks(void)
{
    uint64_t addresses[ADDRESSES];
    for (size_t i = 0; i < ADDRESSES; i++)
        addresses[i] = any(4) ? any(1 << 16) << 48 | any(4) : 0x400000 + any(1000);
    for (size_t i = 0; i < SAMPLES; i++) {
        stacks[i].count = 1 + (uint32_t)any(FRAMES);
        for (uint32_t f = 0; f < stacks[i].count; f++)
            stacks[i].ips[f] = addresses[any(ADDRESSES)];
    }
}

/* ---- every function of every sample looked up in turn ---- */

struct node {
    uint64_t addr;
    const struct pd_thread *thread;
    uint32_t max_depth;
};

struct tree {
    struct pd_rb_tree tree;
    struct pd_rb_node nodes[NODES + 1];
    struct node all[NODES]; /* by node - 1 */
    uint32_t count;
};

static struct tree samples_tree, joined_tree;
static size_t missed;

static bool is_before(const void *data, uint32_t node, uint32_t other)
{
    const struct node *all = data;
    return (int64_t)(all[node - 1].addr - all[other - 1].addr) < 0;
}

static struct node *find(struct tree *tree, uint64_t addr)
{
    for (uint32_t at = tree->tree.root; at;) {
        int64_t difference = (int64_t)(addr - tree->all[at - 1].addr);
        if (!difference)
            return &tree->all[at - 1];
        at = difference < 0 ? tree->nodes[at].left : tree->nodes[at].right;
    }
    return NULL;
}

static void add(struct tree *tree, const struct node *node)
{
    for (uint32_t i = 0; i < tree->count; i++)
        missed += tree->all[i].addr == node->addr;
    tree->all[tree->count++] = *node;
    pd_rb_insert_by(&tree->tree, tree->count, is_before, tree->all);
}

static void take_sample(struct tree *tree, size_t number)
{
    const struct stack *stack = &stacks[number];
    for (uint32_t f = 0; f < stack->count; f++) {
        struct node made = { stack->ips[f], &threads[number], stack->count - f }, *known;
        bool again = false;
        for (uint32_t before = 0; before < f; before++)
            again |= stack->ips[before] == stack->ips[f];
        if (again)
            continue;
        known = find(tree, made.addr);
        if (known)
            known->max_depth = PD_MAX(known->max_depth, made.max_depth);
        else
            add(tree, &made);
    }
}

static void start(struct tree *tree)
{
    memset(tree, 0, sizeof *tree);
    tree->tree.nodes = tree->nodes;
}

/* The tree that rows are taken from. */
static struct tree *expected(bool joined)
{
    start(&samples_tree);
    start(&joined_tree);
    for (size_t i = 0; i < SAMPLES; i++)
        take_sample(&samples_tree, i);
    if (!joined)
        return &samples_tree;
    for (uint32_t node = pd_rb_first(&samples_tree.tree); node;
         node = pd_rb_next(&samples_tree.tree, node))
        if (!find(&joined_tree, samples_tree.all[node - 1].addr))
            add(&joined_tree, &samples_tree.all[node - 1]);
    return &joined_tree;
}

/* ---- the table ---- */

static void count_sample(struct pd_hist *hist, size_t number)
{
    const struct stack *stack = &stacks[number];
    uint64_t key[PD_HIST_WORDS] = { 0 };
    for (unsigned k = 0; k < hist->options.key_count; k++)
        key[k + 1] = hist->options.keys[k] == PD_KEY_SYMBOL
                         ? pd_hist_sym_word(hist, NULL, NULL, stack->ips[0])
                         : PD_HIST_NONE;
    uint32_t cell = PD_HIST_NONE, id = pd_hist_entry_id(hist, key);
    for (uint32_t f = stack->count; f-- > 0;) {
        struct pd_hist_frame frame = { .ip = stack->ips[f], .place = stack->ips[f] };
        cell = pd_hist_cell_id(hist, pd_hist_frame_id(hist, &frame), cell);
    }
    struct pd_hist_entry *entry = &hist->entries.data[id];
    PD_HIST_COUNT(entry, PD_CPUMODE_USER, 1);
    if (pd_hist_is_first(&entry->first, number, 0))
        entry->first = (struct pd_hist_first){
            .number = number, .thread = &threads[number], .addr = stack->ips[0], .level = '.'
        };
    struct pd_hist_pair *pair = pd_hist_pair_at(hist, id, cell);
    pair->period++;
    pair->count++;
    pair->last = number;
    if (number < pair->number) {
        pair->number = number;
        pair->thread = &threads[number];
        pair->level = '.';
    }
    struct pd_hist_visit visit = { number, &threads[number], (uint32_t)(pair - hist->pairs.data),
                                   '.' };
    CHECK(pd_vec_push(&hist->visits, visit));
}

static bool is_given(const struct pd_hist_event *event, size_t count, uint64_t addr)
{
    for (size_t i = 0; i < count; i++)
        if (event->rows.data[i]->addr == addr)
            return true;
    return false;
}

static void check_rows(const struct pd_hist_event *event, const struct tree *tree)
{
    size_t at = 0;
    for (uint32_t node = pd_rb_first(&tree->tree); node; node = pd_rb_next(&tree->tree, node)) {
        const struct node *wanted = &tree->all[node - 1];
        if (is_given(event, at, wanted->addr))
            continue;
        CHECK(at < event->rows.count);
        if (at == event->rows.count)
            return;
        const struct pd_hist_row *row = event->rows.data[at++];
        CHECK_U64(row->addr, wanted->addr);
        CHECK_U64(row->max_depth, wanted->max_depth);
        CHECK(row->entry->first.thread == wanted->thread);
    }
    CHECK_U64(at, event->rows.count);
}

static void check(const uint8_t *keys, unsigned count)
{
    struct pd_hist_options options = {
        .key_count = count, .use_chains = true, .children = true, .keeps_visits = true
    };
    struct pd_hist hist;
    struct pd_hist_result result;
    memcpy(options.keys, keys, count);
    make_stacks();
    pd_hist_init(&hist, &options);
    for (size_t i = 0; i < SAMPLES; i++)
        count_sample(&hist, i);
    CHECK(pd_hist_expand(&hist) == 0);
    CHECK(pd_hist_collapse(&hist, 1, NULL, NULL, &result) == 0);
    CHECK(pd_hist_sort(&hist, &result, &result.events[0], NULL, 0, 1, 0) == 0);
    check_rows(&result.events[0], expected(keys[0] == PD_KEY_COMM));
    pd_hist_result_free(&result);
    pd_hist_free(&hist);
}

int main(void)
{
    static const uint8_t by_rank[] = { PD_KEY_DSO, PD_KEY_SYMBOL },
                         joined[] = { PD_KEY_COMM, PD_KEY_DSO, PD_KEY_SYMBOL },
                         by_trees[] = { PD_KEY_SYMBOL };
    for (unsigned i = 0; i < 40; i++) {
        check(by_rank, PD_LENGTH(by_rank));
        check(joined, PD_LENGTH(joined));
        check(by_trees, PD_LENGTH(by_trees));
    }
    CHECK(missed > 100);
    return test_done();
}
