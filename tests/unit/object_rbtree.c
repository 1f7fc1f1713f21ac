/* SPDX-License-Identifier: MIT */
/* The red-black tree: its rules hold after any insertions and erasures, and small shapes are the
 * textbook's. */
#include "object/symtab/rbtree.h"
#include "test.h"

#define COUNT 2000

static uint64_t keys[COUNT + 1];
static struct pd_rb_node nodes[COUNT + 1];
static bool present[COUNT + 1];

/* Walks in order without recursion; checks order, colours, parents, black heights. */
static void check_tree(const struct pd_rb_tree *tree, size_t expected)
{
    struct {
        uint32_t node, blacks;
    } stack[128];
    size_t depth = 0, seen = 0;
    uint32_t height = 0;
    bool ok = !tree->nodes[tree->root].red;

    if (tree->root)
        stack[depth++].node = tree->root, stack[0].blacks = 1;
    while (depth) {
        uint32_t node = stack[--depth].node, blacks = stack[depth].blacks;
        const struct pd_rb_node *n = &tree->nodes[node];
        const uint32_t children[2] = { n->left, n->right };
        seen++;
        ok &= present[node];
        for (int i = 0; i < 2; i++) {
            uint32_t child = children[i];
            if (!child) {
                ok &= !height || height == blacks;
                height = blacks;
                continue;
            }
            ok &= tree->nodes[child].parent == node && !(n->red && tree->nodes[child].red);
            ok &= i ? keys[child] >= keys[node] : keys[child] <= keys[node];
            if (depth == PD_LENGTH(stack)) {
                CHECK(!"deeper than any red-black tree");
                return;
            }
            stack[depth].node = child;
            stack[depth++].blacks = blacks + !tree->nodes[child].red;
        }
    }
    CHECK(ok);
    CHECK_U64(seen, expected);
}

static void test_random(unsigned seed, uint64_t range)
{
    struct pd_rb_tree tree = { .nodes = nodes };
    size_t count = 0;

    srand(seed);
    memset(nodes, 0, sizeof nodes);
    memset(present, 0, sizeof present);
    for (uint32_t i = 1; i <= COUNT; i++)
        keys[i] = (uint64_t)rand() % range;
    for (unsigned step = 0; step < 6000; step++) {
        uint32_t node = (uint32_t)rand() % COUNT + 1;
        if (present[node])
            pd_rb_erase(&tree, node);
        else
            pd_rb_insert(&tree, keys, node);
        present[node] = !present[node];
        count += present[node] ? 1 : (size_t)-1;
        if (step % 100 == 0)
            check_tree(&tree, count);
    }
    for (uint32_t node = 1; node <= COUNT; node++)
        if (present[node])
            pd_rb_erase(&tree, node);
    CHECK_U64(tree.root, 0);
}

static void test_shape(void)
{
    struct pd_rb_tree tree = { .nodes = nodes };

    memset(nodes, 0, sizeof nodes);
    for (uint32_t i = 1; i <= 7; i++) { /* ascending keys */
        keys[i] = i;
        pd_rb_insert(&tree, keys, i);
    }
    CHECK_U64(tree.root, 2);
    CHECK_U64(nodes[2].right, 4);
    CHECK_U64(nodes[4].right, 6);
    CHECK(nodes[4].red && !nodes[6].red && nodes[5].red && nodes[7].red);
    pd_rb_erase(&tree, 2); /* its successor takes its place */
    CHECK_U64(tree.root, 3);
    CHECK_U64(nodes[3].left, 1);
    CHECK_U64(nodes[3].right, 6);
    CHECK_U64(nodes[6].left, 4);
    CHECK_U64(nodes[4].right, 5);
    CHECK(nodes[6].red && !nodes[4].red && !nodes[7].red && nodes[5].red);
}

int main(void)
{
    test_shape();
    test_random(1, 1000000);
    test_random(2, 7); /* nearly all keys equal */
    return test_done();
}
