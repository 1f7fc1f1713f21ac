/* SPDX-License-Identifier: MIT */
/* A profile's sums -> a flame graph as SVG: a rectangle for each function in its callers, with a
 * title that browsers show as a tooltip. */
#include "page/page.h"
#include <stdlib.h>

#define WIDTH 1200.0
#define ROW 16
#define MARGIN 10
#define HEAD 34
#define SMALLEST 0.1 /* of a pixel: narrower frames are left out */
#define CHARACTER 6.5
#define SCREEN 40 /* rows that are seen at once */

struct node {
    double total, before; /* of the two profiles */
    double self;
    double x, width; /* once placed */
    uint32_t parent, function, depth;
    uint32_t child, next; /* by name; 0: none */
};

struct svg {
    const struct perfdata_page_options *options;
    const struct pd_page_output *output;
    struct pd_page_tables tables;
    PD_VEC(struct node) nodes; /* 0: the root; parents before children */
    struct pd_map64 by_place;  /* (parent, function) -> node */
    uint32_t *node_of_stack;
    struct pd_text text;
    uint32_t deepest, left_out;
    bool down; /* the root is at the top */
};

/* Nodes of the stacks: by function, whatever their lines. */
static perfdata_status make_nodes(struct svg *svg)
{
    size_t count = svg->tables.stacks.count;
    svg->node_of_stack = calloc(count + 1, sizeof *svg->node_of_stack);
    if (!svg->node_of_stack || !pd_vec_push(&svg->nodes, (struct node){ .depth = 0 }))
        return PERFDATA_ERROR_MEMORY;
    for (size_t i = 1; i < count; i++) {
        const struct pd_page_stack *stack = &svg->tables.stacks.data[i];
        uint32_t parent = svg->node_of_stack[stack->parent];
        uint32_t function = svg->tables.frames.data[stack->frame].function;
        uint64_t key = (uint64_t)parent << 32 | function;
        uint32_t node = pd_map64_get(&svg->by_place, key);
        if (node == PD_MAP64_NONE) {
            node = (uint32_t)svg->nodes.count;
            struct node new = { .parent = parent,
                                .function = function,
                                .depth = svg->nodes.data[parent].depth + 1 };
            if (!pd_vec_push(&svg->nodes, new) || !pd_map64_set(&svg->by_place, key, node))
                return PERFDATA_ERROR_MEMORY;
        }
        svg->node_of_stack[i] = node;
    }
    return PERFDATA_OK;
}

static void add_sums(struct svg *svg, const perfdata_profile *profile, const uint32_t *numbers,
                     bool before)
{
    size_t count;
    const struct perfdata_profile_sum *sums = perfdata_profile_sums(profile, &count);
    for (size_t i = 0; i < count; i++) {
        uint32_t stack = sums[i].stack == PERFDATA_NONE ? 0 : numbers[sums[i].stack];
        struct node *node = &svg->nodes.data[svg->node_of_stack[stack]];
        double weight = (double)(svg->options->flags & PERFDATA_PAGE_SAMPLES ? sums[i].count
                                                                             : sums[i].weight);
        if (before)
            node->before += weight;
        else
            node->total += weight;
    }
}

/* Totals from the leaves up; children of each node by name, so that one program's pictures can be
 * laid side by side. */
static int by_name(const void *x, const void *y, void *data)
{
    const struct svg *svg = data;
    const struct node *a = &svg->nodes.data[*(const uint32_t *)x],
                      *b = &svg->nodes.data[*(const uint32_t *)y];
    const struct pd_page_function *functions = svg->tables.functions.data;
    int order = strcmp(functions[a->function].name, functions[b->function].name);
    if (order)
        return order;
    return (a->function > b->function) - (a->function < b->function);
}

static perfdata_status link_children(struct svg *svg)
{
    size_t count = svg->nodes.count;
    uint32_t *order = malloc(count * sizeof *order);
    if (!order)
        return PERFDATA_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        order[i] = (uint32_t)i;
        svg->nodes.data[i].self = svg->nodes.data[i].total;
    }
    for (size_t i = count; i-- > 1;) {
        struct node *node = &svg->nodes.data[i], *parent = &svg->nodes.data[node->parent];
        parent->total += node->total;
        parent->before += node->before;
    }
    if (count > 2)
        qsort_r(order + 1, count - 1, sizeof *order, by_name, svg);
    for (size_t i = count; i-- > 1;) {
        struct node *node = &svg->nodes.data[order[i]], *parent = &svg->nodes.data[node->parent];
        node->next = parent->child;
        parent->child = order[i];
    }
    free(order);
    return PERFDATA_OK;
}

/* Width of a node: its share; of two profiles the mean of both shares. */
static double share(const struct svg *svg, const struct node *node)
{
    const struct node *root = &svg->nodes.data[0];
    double now = root->total > 0 ? node->total / root->total : 0;
    if (!svg->options->before)
        return now;
    return (now + (root->before > 0 ? node->before / root->before : 0)) / 2;
}

/* Parents stand before their children, so that one pass places all. */
static void place(struct svg *svg)
{
    svg->nodes.data[0].width = WIDTH - 2 * MARGIN;
    svg->nodes.data[0].x = MARGIN;
    for (size_t i = 0; i < svg->nodes.count; i++) {
        struct node *node = &svg->nodes.data[i];
        if (node->width < SMALLEST) {
            svg->left_out += i > 0 && node->total > 0;
            continue;
        }
        if (node->depth > svg->deepest)
            svg->deepest = node->depth;
        double x = node->x;
        for (uint32_t child = node->child; child; child = svg->nodes.data[child].next) {
            struct node *at = &svg->nodes.data[child];
            at->x = x;
            at->width = share(svg, at) * (WIDTH - 2 * MARGIN);
            x += at->width;
        }
    }
}

static uint32_t shade_of(const char *name)
{
    uint32_t value = 2166136261;
    for (; *name; name++)
        value = (value ^ (unsigned char)*name) * 16777619;
    return value >> 8;
}

static void put_color(struct svg *svg, const struct node *node)
{
    static const unsigned hues[] = { 38, 10, 130, 210, 190 };
    const struct node *root = &svg->nodes.data[0];
    if (svg->options->before) {
        double change = (root->total > 0 ? node->total / root->total : 0) -
                        (root->before > 0 ? node->before / root->before : 0);
        double strength = change < 0 ? -change : change;
        strength = strength * 8 > 1 ? 1 : strength * 8;
        pd_text_format(&svg->text, "hsl(%d,%d%%,%d%%)", change > 0 ? 26 : 212,
                       (int)(45 + 45 * strength), (int)(90 - 30 * strength));
        return;
    }
    const struct pd_page_function *function = &svg->tables.functions.data[node->function];
    uint32_t shade = shade_of(function->name);
    pd_text_format(&svg->text, "hsl(%u,62%%,%u%%)", hues[function->kind] + shade % 24,
                   68 + shade / 24 % 10);
}

static const char *name_of(const struct svg *svg, uint32_t index)
{
    return index ? svg->tables.functions.data[svg->nodes.data[index].function].name : "all";
}

static void put_title(struct svg *svg, uint32_t index)
{
    const struct node *node = &svg->nodes.data[index], *root = &svg->nodes.data[0];
    struct pd_text *out = &svg->text;
    const char *name = name_of(svg, index);
    pd_text_string(out, "<title>");
    pd_text_xml(out, name, strlen(name));
    const char *object = index ? svg->tables.functions.data[node->function].object : "";
    if (*object) {
        pd_text_string(out, " (");
        pd_text_xml(out, object, strlen(object));
        pd_text_char(out, ')');
    }
    pd_text_format(out, ": %.2f %%, %.0f, self %.0f",
                   root->total > 0 ? 100 * node->total / root->total : 0, node->total, node->self);
    if (svg->options->before)
        pd_text_format(out, "; before %.2f %%",
                       root->before > 0 ? 100 * node->before / root->before : 0);
    pd_text_string(out, "</title>");
}

static void put_node(struct svg *svg, uint32_t index)
{
    const struct node *node = &svg->nodes.data[index];
    struct pd_text *out = &svg->text;
    unsigned y = HEAD + ROW * (svg->down ? node->depth : svg->deepest - node->depth);
    pd_text_string(out, "<g>");
    put_title(svg, index);
    pd_text_format(out, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"", node->x,
                   y, node->width, ROW - 1);
    if (index)
        put_color(svg, node);
    else
        pd_text_string(out, "#c4ced8");
    pd_text_string(out, "\"/>");
    const char *name = name_of(svg, index);
    size_t room = (size_t)(node->width / CHARACTER), length = strlen(name);
    if (room >= 3) {
        size_t shown = length <= room ? length : room - 2;
        while (shown && shown < length && ((unsigned char)name[shown] & 0xc0) == 0x80)
            shown--; /* not within a character */
        pd_text_format(out, "<text x=\"%.2f\" y=\"%u\">", node->x + 3, y + ROW - 4);
        pd_text_xml(out, name, shown);
        pd_text_string(out, shown < length ? "..</text>" : "</text>");
    }
    pd_text_string(out, "</g>\n");
}

static void put_head(struct svg *svg)
{
    const char *title = svg->options->title ? svg->options->title : "perf.data";
    struct pd_text *out = &svg->text;
    unsigned height = HEAD + ROW * (svg->deepest + 1) + MARGIN;
    pd_text_format(out,
                   "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%.0f\" "
                   "height=\"%u\" viewBox=\"0 0 %.0f %u\" font-family=\"monospace\" "
                   "font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
                   "<text x=\"%d\" y=\"20\" font-size=\"14\">",
                   WIDTH, height, WIDTH, height, MARGIN);
    pd_text_xml(out, title, strlen(title));
    if (svg->left_out)
        pd_text_format(out, " (%u frames narrower than %.1f pixels are not drawn)", svg->left_out,
                       SMALLEST);
    pd_text_string(out, "</text>\n");
}

static perfdata_status give(struct svg *svg, bool all)
{
    if (svg->text.failed)
        return PERFDATA_ERROR_MEMORY;
    if (!all && svg->text.length < 1 << 16)
        return PERFDATA_OK;
    perfdata_status status = pd_page_put(svg->output, svg->text.data, svg->text.length);
    svg->text.length = 0;
    return status;
}

static perfdata_status draw(struct svg *svg)
{
    place(svg);
    svg->down = svg->options->flags & PERFDATA_PAGE_ICICLE ||
                (svg->deepest >= SCREEN && !(svg->options->flags & PERFDATA_PAGE_UPWARD));
    put_head(svg);
    perfdata_status status = PERFDATA_OK;
    for (uint32_t i = 0; status >= 0 && i < svg->nodes.count; i++) {
        if (svg->nodes.data[i].width >= SMALLEST)
            put_node(svg, i);
        status = give(svg, false);
    }
    pd_text_string(&svg->text, "</svg>\n");
    return status < 0 ? status : give(svg, true);
}

perfdata_status pd_page_svg(const perfdata_profile *profile,
                            const struct perfdata_page_options *options,
                            const struct pd_page_output *output)
{
    struct svg svg = { .options = options, .output = output };
    uint32_t *numbers = NULL, *before = NULL;
    perfdata_status status = pd_page_tables_add(&svg.tables, profile, &numbers, NULL);
    if (status >= 0 && options->before)
        status = pd_page_tables_add(&svg.tables, options->before, &before, NULL);
    if (status >= 0)
        status = make_nodes(&svg);
    if (status >= 0) {
        add_sums(&svg, profile, numbers, false);
        if (options->before)
            add_sums(&svg, options->before, before, true);
        status = link_children(&svg);
    }
    if (status >= 0)
        status = draw(&svg);
    free(numbers);
    free(before);
    free(svg.node_of_stack);
    pd_text_free(&svg.text);
    pd_vec_free(&svg.nodes);
    pd_map64_free(&svg.by_place);
    pd_page_tables_free(&svg.tables);
    return status;
}
