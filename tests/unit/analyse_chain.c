/* SPDX-License-Identifier: MIT */
/* Proves: chains become a radix tree, siblings by hits, thresholds drop what perf drops. */
#include "test.h"
#include "analyse/chain.h"

static struct pd_hist hist;

static uint32_t frame(uint64_t ip)
{
    struct pd_hist_frame made = { .ip = ip, .place = ip };
    return pd_hist_frame_id(&hist, &made);
}

/* A stack from its first frame on; 0 ends. */
static uint32_t stack(const uint64_t *ips)
{
    size_t count = 0;
    uint32_t cell = PD_HIST_NONE;
    while (ips[count])
        count++;
    while (count--)
        cell = pd_hist_cell_id(&hist, frame(ips[count]), cell);
    return cell;
}

#define STACK(...) stack((const uint64_t[]){ __VA_ARGS__, 0 })

/* "ip.ip=hits+below(children)" of the node's children in their order. */
static void show(const struct pd_chain_tree *tree, uint32_t parent, char *text, size_t size)
{
    for (uint32_t id = tree->nodes.data[parent].child; id != PD_HIST_NONE;
         id = tree->nodes.data[id].next) {
        const struct pd_chain_node *node = &tree->nodes.data[id];
        for (uint32_t i = 0; i < node->frame_count; i++)
            snprintf(text + strlen(text), size - strlen(text), "%s%" PRIx64, i ? "." : "",
                     hist.frames.data[tree->frames.data[node->first_frame + i]].ip);
        snprintf(text + strlen(text), size - strlen(text), "=%" PRIu64 "+%" PRIu64, node->hits,
                 node->below_hits);
        if (node->child != PD_HIST_NONE) {
            strcat(text, "(");
            show(tree, id, text, size);
            strcat(text, ")");
        }
        if (node->next != PD_HIST_NONE)
            strcat(text, " ");
    }
}

static const char *built(const struct pd_chain_item *items, size_t count, enum pd_chain_mode mode,
                         uint64_t least, double percent)
{
    static char text[1024];
    struct pd_chain_tree tree = { 0 };
    text[0] = 0;
    CHECK(pd_chain_build(&hist, items, count, mode, least, percent, &tree) == 0);
    show(&tree, 0, text, sizeof text);
    for (size_t i = 0; i < tree.list.count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " #%" PRIu64,
                 tree.nodes.data[tree.list.data[i]].hits);
    pd_chain_tree_free(&tree);
    return text;
}

static uint32_t end(uint64_t end)
{
    struct pd_hist_frame made = { .ip = 1, .place = 1, .end = end };
    return pd_hist_cell_id(&hist, pd_hist_frame_id(&hist, &made), PD_HIST_NONE);
}

/* "count predicted aborted cycles loops loop_cycles sources" and whether it is a target, of the
 * only frame. */
static const char *summed(const struct pd_chain_item *items, size_t count)
{
    static char text[128];
    struct pd_chain_tree tree = { 0 };
    CHECK(pd_chain_build(&hist, items, count, PD_CHAIN_GRAPH, 0, 0, &tree) == 0);
    CHECK_U64(tree.frames.count, 1);
    CHECK_U64(tree.ends.count, 1);
    const struct pd_chain_ends *ends = tree.ends.data;
    snprintf(text, sizeof text,
             "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
             " %s",
             ends->count, ends->predicted, ends->aborted, ends->cycles, ends->loops,
             ends->loop_cycles, ends->sources, ends->is_target ? "to" : "from");
    pd_chain_tree_free(&tree);
    return text;
}

/* One place, told as several ends and as none: what each tells adds up, the last one says what it
 * is. */
static void ends_of_branches(void)
{
    struct pd_hist_options options = { .use_chains = true };
    pd_hist_init(&hist, &options);
    const uint64_t from = PD_END_FROM | UINT64_C(2) << PD_END_LOOPS_SHIFT |
                          UINT64_C(5) << PD_END_CYCLES_SHIFT |
                          UINT64_C(9) << PD_END_LOOP_CYCLES_SHIFT;
    struct pd_chain_item items[] = {
        { end(PD_END_TO | PD_END_PREDICTED), 0, 1, 3, 1, 1 },
        { end(PD_END_TO | PD_END_ABORT), 0, 1, 1, 2, 3 },
        { end(from), 0, 1, 4, 0, 2 },
        { end(0), 0, 1, 7, 3, 4 },
    };
    CHECK_U64(hist.frames.count, 4);
    CHECK(pd_chain_rank(&hist) == 0);
    CHECK(hist.has_ends);
    CHECK_STR(summed(items, 4), "8 3 1 20 8 36 3 to"); /* the first sample was a source: 4 - 1 */
    items[2].last = 5;
    items[2].order = 9;
    CHECK_STR(summed(items, 4), "8 3 1 20 8 36 4 from");
    CHECK_STR(summed(items + 3, 1), "0 0 0 0 0 0 0 from");
    pd_hist_free(&hist);
}

int main(void)
{
    struct pd_hist_options options = { .use_chains = true };
    pd_hist_init(&hist, &options);
    struct pd_chain_item items[] = {
        { STACK(1, 2, 3), 0, 10, 1 }, { STACK(1, 2, 4), 0, 30, 3 }, { STACK(1, 2), 0, 5, 1 },
        { STACK(9), 0, 45, 2 },       { STACK(8), 0, 1, 1 },
    };
    CHECK(items[0].cell != items[1].cell);
    CHECK_U64(STACK(1, 2, 3), items[0].cell);
    CHECK_U64(hist.cells.data[items[0].cell].depth, 3);
    CHECK(pd_chain_rank(&hist) == 0);

    /* Equal hits: the higher address first. A stack that ends where others go on splits no node. */
    CHECK_STR(built(items, 5, PD_CHAIN_GRAPH, 0, 0), "9=45+0 1.2=5+40(4=30+0 3=10+0) 8=1+0");
    CHECK_STR(built(items, 5, PD_CHAIN_GRAPH, 11, 0), "9=45+0 1.2=5+40(4=30+0)");
    CHECK_STR(built(items, 2, PD_CHAIN_GRAPH, 0, 0), "1.2=0+40(4=30+0 3=10+0)");
    CHECK_STR(built(items, 0, PD_CHAIN_GRAPH, 0, 0), "");
    /* Half of what lies below the parent, rounded up: 46 of 91, 20 of 40. */
    CHECK_STR(built(items, 5, PD_CHAIN_FRACTAL, 0, 50), "");
    CHECK_STR(built(items, 3, PD_CHAIN_FRACTAL, 0, 50), "1.2=5+40(4=30+0)");
    /* Lists: own hits, among equals the deeper one first. */
    CHECK_STR(built(items, 3, PD_CHAIN_FLAT, 0, 0), "1.2=5+40(4=30+0 3=10+0) #30 #10 #5");
    CHECK_STR(built(items, 5, PD_CHAIN_FOLDED, 6, 0), "9=45+0 1.2=5+40(4=30+0 3=10+0) #45 #30 #10");
    pd_hist_free(&hist);
    ends_of_branches();
    return test_done();
}
