/* SPDX-License-Identifier: MIT */
/* The chains of one row, in perf's four styles. */
#include "render/report/draw.h"

#define MARGIN 12

struct drawing {
    const struct pd_report_table *table;
    const struct pd_chain_tree *tree;
    struct pd_text *out;
    size_t margin;
};

static const struct pd_chain_node *node_of(const struct drawing *drawing, uint32_t id)
{
    return &drawing->tree->nodes.data[id];
}

static const struct pd_hist_frame *frame_at(const struct drawing *drawing, uint32_t frame_index)
{
    return &drawing->table->hist->frames.data[drawing->tree->frames.data[frame_index]];
}

static void name(const struct drawing *drawing, uint32_t frame_index)
{
    const struct pd_hist_frame *frame = frame_at(drawing, frame_index);
    if (!frame->symbol) {
        pd_text_hex_prefixed(drawing->out, frame->ip);
        return;
    }
    pd_text_bytes(drawing->out, frame->symbol->name, frame->symbol->name_length);
    if (frame->text) {
        pd_text_char(drawing->out, ' ');
        pd_text_string(drawing->out, frame->text);
    }
    if (frame->symbol->inlined)
        pd_text_string(drawing->out, " (inlined)");
}

/* The ends of branches are told in graphs only, and perf has room for so many characters of
 * them. */
#define ENDS_ROOM 63

static void ends(const struct drawing *drawing, uint32_t frame_index, size_t room)
{
    if (!drawing->table->plan->chains.shows_ends)
        return;
    static const struct pd_chain_ends none;
    const struct pd_chain_tree *tree = drawing->tree;
    size_t begin = drawing->out->length;
    pd_report_ends(frame_index < tree->ends.count ? &tree->ends.data[frame_index] : &none,
                   drawing->out);
    if (drawing->out->length - begin > room)
        drawing->out->length = begin + room;
}

static void margin(const struct drawing *drawing)
{
    pd_text_fill(drawing->out, ' ', MARGIN + drawing->margin);
}

static void value(const struct drawing *drawing, uint64_t hits, uint64_t count, uint64_t total)
{
    switch (drawing->table->plan->chains.value) {
    case PD_CHAIN_COUNT: pd_text_format(drawing->out, "%u", (unsigned)count); break;
    case PD_CHAIN_PERIOD: pd_text_u64(drawing->out, hits, 0, ' '); break;
    default:
        pd_report_percent(drawing->table->plan, "", 1,
                          total ? (double)hits * 100.0 / (double)total : 0.0, drawing->out);
    }
}

void pd_report_frame_name(const struct pd_report_table *table, const struct pd_chain_tree *tree,
                          uint32_t frame_index, struct pd_text *out)
{
    const struct drawing drawing = { table, tree, out, 0 };
    name(&drawing, frame_index);
    ends(&drawing, frame_index, SIZE_MAX);
}

void pd_report_chain_value(const struct pd_report_table *table, const struct pd_chain_node *node,
                           uint64_t total, struct pd_text *out)
{
    const struct drawing drawing = { table, NULL, out, 0 };
    value(&drawing, pd_chain_hits(node), pd_chain_count(node), total);
}

/* ---- graph, fractal ---- */

/* Puts the columns before a line of depth `depth`. On a child's first line the last column holds
 * the value. */
static void bars(const struct drawing *drawing, unsigned depth, uint32_t mask, bool is_first,
                 uint64_t hits, uint64_t count, uint64_t total)
{
    margin(drawing);
    for (unsigned i = 0; i < depth; i++) {
        pd_text_char(drawing->out, mask >> (i & 31) & 1 ? '|' : ' ');
        if (is_first && i == depth - 1) {
            pd_text_string(drawing->out, "--");
            value(drawing, hits, count, total);
            pd_text_string(drawing->out, "--");
        } else {
            pd_text_fill(drawing->out, ' ', 10);
        }
    }
}

static void separator_line(const struct drawing *drawing, unsigned depth, uint32_t mask)
{
    margin(drawing);
    for (unsigned i = 0; i < depth; i++) {
        pd_text_char(drawing->out, mask >> (i & 31) & 1 ? '|' : ' ');
        pd_text_fill(drawing->out, ' ', 10);
    }
    pd_text_char(drawing->out, '\n');
}

/* The children of one node, while they are drawn. */
struct level {
    uint32_t node, next, last; /* the parent, the next child, the child drawn last */
    uint32_t mask, child_mask;
    uint64_t total, remaining, count;
    unsigned depth;
    uint32_t printed;
};

static struct level level_of(const struct drawing *drawing, uint32_t node, uint64_t total,
                             unsigned depth, uint32_t mask)
{
    return (struct level){ .node = node,
                           .next = node_of(drawing, node)->child,
                           .last = PD_HIST_NONE,
                           .mask = mask,
                           .child_mask = mask,
                           .total = total,
                           .remaining = total,
                           .depth = depth };
}

/* For fractal graphs: a line for what the children that are not drawn have. */
static void draw_rest(const struct drawing *drawing, const struct level *level)
{
    const struct pd_report_plan *plan = drawing->table->plan;
    if (plan->chains.mode != PD_CHAIN_FRACTAL || !level->remaining ||
        level->remaining == level->total)
        return;
    uint64_t count = 0;
    if (plan->chains.value == PD_CHAIN_COUNT && level->last != PD_HIST_NONE) {
        count = node_of(drawing, level->node)->below_count - level->count;
        if (!count)
            return;
    }
    uint32_t mask = level->child_mask & ~(UINT32_C(1) << ((level->depth - 1) & 31));
    bars(drawing, level->depth, mask, true, level->remaining, count, level->total);
    pd_text_string(drawing->out, plan->chains.shows_ends ? "[...] (calltrace)\n" : "[...]\n");
}

static void draw_child(const struct drawing *drawing, struct level *level, uint32_t id)
{
    const struct pd_chain_node *child = node_of(drawing, id);
    bool fractal = drawing->table->plan->chains.mode == PD_CHAIN_FRACTAL;
    level->remaining -= pd_chain_hits(child);
    level->count += pd_chain_count(child);
    level->last = id;
    level->next = child->next;
    level->printed++;
    if (child->next == PD_HIST_NONE && (!fractal || !level->remaining))
        level->child_mask &= ~(UINT32_C(1) << ((level->depth - 1) & 31));
    separator_line(drawing, level->depth, level->mask);
    for (uint32_t i = 0; i < child->frame_count; i++) {
        bars(drawing, level->depth, level->child_mask, i == 0, pd_chain_hits(child),
             pd_chain_count(child), level->total);
        name(drawing, child->first_frame + i);
        ends(drawing, child->first_frame + i, ENDS_ROOM);
        pd_text_char(drawing->out, '\n');
    }
}

static void draw_children(const struct drawing *drawing, uint32_t root, uint64_t total)
{
    const struct pd_report_plan *plan = drawing->table->plan;
    PD_VEC(struct level) stack = { 0 };
    if (!pd_vec_push(&stack, level_of(drawing, root, total, 1, 1)))
        drawing->out->failed = true;
    while (stack.count && !drawing->out->failed) {
        struct level *level = &stack.data[stack.count - 1];
        if (level->next == PD_HIST_NONE ||
            (plan->chains.print_limit && level->printed == plan->chains.print_limit)) {
            draw_rest(drawing, level);
            stack.count--;
            continue;
        }
        uint32_t id = level->next;
        draw_child(drawing, level, id);
        uint64_t below = plan->chains.mode == PD_CHAIN_FRACTAL ? node_of(drawing, id)->below_hits
                                                               : level->total;
        struct level deeper = level_of(drawing, id, below, level->depth + 1,
                                       level->child_mask | UINT32_C(1) << (level->depth & 31));
        if (!pd_vec_push(&stack, deeper))
            drawing->out->failed = true;
    }
    pd_vec_free(&stack);
}

static void draw_graph(struct drawing *drawing, uint64_t total, uint64_t row_hits)
{
    const struct pd_report_plan *plan = drawing->table->plan;
    struct pd_text *out = drawing->out;
    size_t begin = out->length;
    uint32_t root = 0, only = node_of(drawing, 0)->child, shown = 0;
    bool printed = false;
    if (only != PD_HIST_NONE && node_of(drawing, only)->next == PD_HIST_NONE &&
        pd_chain_hits(node_of(drawing, only)) == row_hits) {
        const struct pd_chain_node *node = node_of(drawing, only);
        for (uint32_t i = 0; i < node->frame_count; i++) {
            if (!i && plan->chains.skip_first_frame)
                continue;
            margin(drawing);
            if (!printed) {
                pd_text_string(out, "|\n");
                margin(drawing);
                pd_text_string(out, "---");
                drawing->margin += 3;
                printed = true;
            }
            name(drawing, node->first_frame + i);
            ends(drawing, node->first_frame + i, SIZE_MAX);
            pd_text_char(out, '\n');
            if (++shown == plan->chains.print_limit)
                break;
        }
        root = only;
    }
    draw_children(drawing, root, plan->chains.mode == PD_CHAIN_FRACTAL ? row_hits : total);
    if (out->length != begin)
        pd_text_char(out, '\n');
}

/* ---- flat, folded ---- */

/* The nodes from the root down to `id`, each with its frames. */
static void draw_path(const struct drawing *drawing, uint32_t id, const char *before,
                      const char *between)
{
    PD_VEC(uint32_t) path = { 0 };
    for (; id != 0 && id != PD_HIST_NONE; id = node_of(drawing, id)->parent)
        if (!pd_vec_push(&path, id))
            drawing->out->failed = true;
    bool first = true;
    while (path.count && !drawing->out->failed) {
        const struct pd_chain_node *node = node_of(drawing, path.data[--path.count]);
        for (uint32_t i = 0; i < node->frame_count; i++) {
            /* perf takes these for markers: an unreadable stack ends in them. */
            if (frame_at(drawing, node->first_frame + i)->ip >= PD_CHAIN_FIRST_CONTEXT)
                continue;
            if (!first)
                pd_text_string(drawing->out, between);
            first = false;
            pd_text_string(drawing->out, before);
            name(drawing, node->first_frame + i);
        }
    }
    pd_vec_free(&path);
}

static void draw_list(const struct drawing *drawing, uint64_t total)
{
    const struct pd_report_plan *plan = drawing->table->plan;
    const char *separator = plan->options->separator ? plan->options->separator : ";";
    uint32_t shown = 0;
    for (size_t i = 0; i < drawing->tree->list.count; i++) {
        uint32_t id = drawing->tree->list.data[i];
        const struct pd_chain_node *node = node_of(drawing, id);
        if (plan->chains.mode == PD_CHAIN_FOLDED) {
            value(drawing, node->hits, node->count, total);
            pd_text_char(drawing->out, ' ');
            draw_path(drawing, id, "", separator);
        } else {
            pd_text_fill(drawing->out, ' ', 11);
            value(drawing, pd_chain_hits(node), pd_chain_count(node), total);
            pd_text_char(drawing->out, '\n');
            draw_path(drawing, id, "                ", "\n");
            pd_text_char(drawing->out, '\n');
        }
        pd_text_char(drawing->out, '\n');
        if (++shown == plan->chains.print_limit)
            break;
    }
}

void pd_report_graph(const struct pd_report_table *table, const struct pd_hist_row *row,
                     const struct pd_chain_tree *tree, struct pd_text *out)
{
    struct drawing drawing = { table, tree, out, 0 };
    uint64_t hits = table->plan->hist.children ? row->children_period : row->period;
    if (table->plan->chains.mode == PD_CHAIN_FLAT || table->plan->chains.mode == PD_CHAIN_FOLDED)
        draw_list(&drawing, table->chain_total);
    else
        draw_graph(&drawing, table->chain_total, hits);
}
