/* SPDX-License-Identifier: MIT */
/* LLVM's sample profile as text (`clang -fprofile-sample-use`, `llvm-profdata`): how often each
 * line of a function ran, counted from its declaration, with inlined functions where they were put
 * and what calls led to.
 *
 * A line's number is that of its instruction that ran most often, or of its calls where these are
 * more; a function's is the sum over its bytes of how often each ran. That is how LLVM's own
 * llvm-profgen counts. */
#include "convert/branches/ran.h"
#include "base/compare.h"
#include <inttypes.h>
#include <stdlib.h>

/* A function, or one that was put into another: then where. */
struct node {
    uint32_t parent; /* its id + 1; 0: none */
    uint32_t name, line, discriminator;
    uint64_t total, head;
};

struct spot {
    uint32_t node, line, discriminator;
    uint64_t count, calls; /* the latter of all that is called there */
};

struct target {
    uint32_t spot, name;
    uint64_t count;
};

struct llvm {
    struct pd_convert *x;
    struct pd_ran ran;
    struct pd_intern names, node_keys, spot_keys, target_keys;
    PD_VEC(struct node) nodes;     /* by id in node_keys */
    PD_VEC(struct spot) spots;     /* by id in spot_keys */
    PD_VEC(struct target) targets; /* by id in target_keys */
};

/* ---- what LLVM has put into a discriminator ---- */

/* A number of up to 12 bits, packed: 1 bit says whether it is 0, then 5 bits, 1 that says whether
 * there are more, and these. */
static uint32_t first_number(uint32_t packed)
{
    if (packed & 1)
        return 0;
    packed >>= 1;
    return packed & 0x20 ? (packed >> 1 & 0xfe0) | (packed & 0x1f) : packed & 0x1f;
}

static uint32_t rest_of(uint32_t packed)
{
    return packed & 1 ? packed >> 1 : packed >> (packed & 0x40 ? 14 : 7);
}

/* What tells places of a line apart. */
static uint32_t base_of(const struct pd_lines_place *place)
{
    return place->is_of_gcc ? place->discriminator : first_number(place->discriminator);
}

/* Of how many copies of the code (unrolled, vectorised) each stands for all. */
static uint32_t copies_of(const struct pd_lines_place *place)
{
    uint32_t copies = place->is_of_gcc ? 0 : first_number(rest_of(place->discriminator));
    return copies ? copies : 1;
}

static uint32_t line_of(const struct pd_lines_place *place)
{
    return (place->line - place->declared) & 0xffff;
}

/* Above the function: code of another one, which a macro or #include brought there. */
static bool is_above(const struct pd_lines_place *place)
{
    return line_of(place) & 0x8000;
}

/* ---- the tree ---- */

static struct node *node_of(struct llvm *l, uint32_t parent, uint32_t line, uint32_t discriminator,
                            const char *name)
{
    uint32_t key[4] = { parent, line, discriminator, pd_intern(&l->names, name, strlen(name)) };
    uint32_t id = key[3] == PD_INTERN_NONE
                      ? PD_INTERN_NONE
                      : pd_intern(&l->node_keys, (const char *)key, sizeof key);
    struct node fresh = { parent, key[3], line, discriminator, 0, 0 };
    if (id == PD_INTERN_NONE || (id == l->nodes.count && !pd_vec_push(&l->nodes, fresh)))
        return NULL;
    return &l->nodes.data[id];
}

/* The innermost function; `total` is added to each on the way. */
static struct node *descend(struct llvm *l, const struct pd_lines_place *places, size_t count,
                            uint64_t total)
{
    struct node *node = node_of(l, 0, 0, 0, places[0].name);
    for (size_t i = 1; node; i++) {
        node->total += total;
        if (i == count)
            break;
        node = node_of(l, (uint32_t)(node - l->nodes.data) + 1, line_of(&places[i - 1]),
                       base_of(&places[i - 1]), places[i].name);
    }
    return node;
}

static struct spot *spot_of(struct llvm *l, const struct node *node,
                            const struct pd_lines_place *place)
{
    uint32_t key[3] = { (uint32_t)(node - l->nodes.data), line_of(place), base_of(place) };
    uint32_t id = pd_intern(&l->spot_keys, (const char *)key, sizeof key);
    struct spot fresh = { key[0], key[1], key[2], 0, 0 };
    if (id == PD_INTERN_NONE || (id == l->spots.count && !pd_vec_push(&l->spots, fresh)))
        return NULL;
    return &l->spots.data[id];
}

static bool add_insn(struct llvm *l, const struct pd_ran_insn *insn)
{
    struct pd_lines_place places[PD_LINES_NESTED_MAX];
    size_t count = pd_lines_places(l->ran.lines, insn->address, places);
    if (!count)
        return true;
    const struct node *node = descend(l, places, count, insn->count * insn->length);
    if (!node)
        return false;
    if (is_above(&places[count - 1]))
        return true;
    struct spot *spot = spot_of(l, node, &places[count - 1]);
    if (!spot)
        return false;
    spot->count = PD_MAX(spot->count, insn->count * copies_of(&places[count - 1]));
    return true;
}

static bool add_target(struct llvm *l, struct spot *spot, const char *name, uint64_t count)
{
    uint32_t key[2] = { (uint32_t)(spot - l->spots.data),
                        pd_intern(&l->names, name, strlen(name)) };
    uint32_t id = key[1] == PD_INTERN_NONE
                      ? PD_INTERN_NONE
                      : pd_intern(&l->target_keys, (const char *)key, sizeof key);
    struct target fresh = { key[0], key[1], 0 };
    if (id == PD_INTERN_NONE || (id == l->targets.count && !pd_vec_push(&l->targets, fresh)))
        return false;
    l->targets.data[id].count += count;
    spot->calls += count;
    return true;
}

/* A branch to where a function begins is a call of it, from wherever it comes. */
static bool add_branch(struct llvm *l, const struct pd_flow *flow)
{
    struct pd_lines_place places[PD_LINES_NESTED_MAX];
    const char *name = flow->to.map ? pd_lines_entry(l->ran.lines, flow->to.address) : NULL;
    if (!name)
        return true;
    struct node *callee = node_of(l, 0, 0, 0, name);
    if (!callee)
        return false;
    callee->head += flow->count;
    size_t count = flow->from.map ? pd_lines_places(l->ran.lines, flow->from.address, places) : 0;
    if (!count || is_above(&places[count - 1]))
        return true;
    const struct node *node = descend(l, places, count, 0);
    struct spot *spot = node ? spot_of(l, node, &places[count - 1]) : NULL;
    return spot && add_target(l, spot, name, flow->count);
}

static bool add_all(struct llvm *l, const struct pd_flow_list *list)
{
    for (size_t i = 0; i < l->ran.insns.count; i++)
        if (!add_insn(l, &l->ran.insns.data[i]))
            return false;
    for (size_t i = 0; i < list->flows.count; i++)
        if (list->flows.data[i].kind == PD_FLOW_BRANCH && !add_branch(l, &list->flows.data[i]))
            return false;
    return true;
}

/* ---- text ---- */

/* LLVM's text has no escapes: its readers take a line that begins with a blank, #, ! or a digit for
 * something else, brackets for a chain of calls, and the first : that a number and a blank are
 * behind for the end of a target. What they would misread, or refuse, is written \xNN. */
static bool is_misread(const struct pd_string *name, size_t at)
{
    if (at == 0 && strchr(" #![:0123456789", name->text[0]))
        return true;
    if (name->text[at] != ':')
        return false;
    size_t end = at + 1;
    while (end < name->length && name->text[end] >= '0' && name->text[end] <= '9')
        end++;
    return end > at + 1 && end < name->length && name->text[end] == ' ';
}

static void put_name(struct llvm *l, uint32_t id)
{
    const struct pd_string *name = &l->names.strings.data[id];
    struct pd_text *out = &l->x->out;
    size_t from = 0;
    for (size_t i = 0; i < name->length; i++) {
        if (!is_misread(name, i))
            continue;
        pd_convert_name(out, name->text + from, i - from);
        pd_text_bytes(out, "\\x", 2);
        pd_text_hex(out, (uint8_t)name->text[i], 2, '0');
        from = i + 1;
    }
    pd_convert_name(out, name->text + from, name->length - from);
}

static void put_place(struct llvm *l, size_t depth, uint32_t line, uint32_t discriminator)
{
    struct pd_text *out = &l->x->out;
    for (size_t i = 0; i < depth; i++)
        pd_text_char(out, ' ');
    pd_text_u64(out, line, 0, ' ');
    if (discriminator) {
        pd_text_char(out, '.');
        pd_text_u64(out, discriminator, 0, ' ');
    }
    pd_text_bytes(out, ": ", 2);
}

static int compare_names(const struct llvm *l, uint32_t a, uint32_t b)
{
    return a == b ? 0 : strcmp(pd_intern_text(&l->names, a), pd_intern_text(&l->names, b));
}

/* Functions by themselves, the hottest one first; others by place. */
static int by_node(const void *a, const void *b, void *data)
{
    const struct llvm *l = data;
    const struct node *x = &l->nodes.data[*(const uint32_t *)a];
    const struct node *y = &l->nodes.data[*(const uint32_t *)b];
    if (!x->parent != !y->parent)
        return x->parent ? 1 : -1;
    if (x->line != y->line)
        return pd_compare_u64(x->line, y->line);
    if (x->discriminator != y->discriminator)
        return pd_compare_u64(x->discriminator, y->discriminator);
    if (!x->parent && x->total != y->total)
        return pd_compare_u64(y->total, x->total);
    return compare_names(l, x->name, y->name);
}

static int by_spot(const void *a, const void *b, void *data)
{
    const struct llvm *l = data;
    const struct spot *x = &l->spots.data[*(const uint32_t *)a];
    const struct spot *y = &l->spots.data[*(const uint32_t *)b];
    return x->line != y->line ? pd_compare_u64(x->line, y->line)
                              : pd_compare_u64(x->discriminator, y->discriminator);
}

static int by_target(const void *a, const void *b, void *data)
{
    const struct llvm *l = data;
    const struct target *x = &l->targets.data[*(const uint32_t *)a];
    const struct target *y = &l->targets.data[*(const uint32_t *)b];
    return x->count != y->count ? pd_compare_u64(y->count, x->count)
                                : compare_names(l, x->name, y->name);
}

/* Things of a kind: by what they belong to, then in the order in which they are written. */
struct sorted {
    uint32_t *ids;
    size_t *first; /* where those of an owner begin in `ids` */
};

static void free_sorted(struct sorted *sorted)
{
    free(sorted->ids);
    free(sorted->first);
}

/* `owners`: the first thing's owner, the next one's is `stride` bytes behind. */
static bool sort(struct llvm *l, const uint32_t *owners, size_t stride, size_t count, size_t limit,
                 int (*order)(const void *, const void *, void *), struct sorted *out)
{
    uint32_t *ids = pd_memory_noted(calloc(count + 1, sizeof *ids));
    out->ids = pd_memory_noted(calloc(count + 1, sizeof *ids));
    for (size_t i = 0; ids && i < count; i++)
        ids[i] = (uint32_t)i;
    if (ids && count)
        qsort_r(ids, count, sizeof *ids, order, l);
    if (ids && out->ids)
        out->first = pd_convert_sort(owners, stride, count, limit, ids, out->ids);
    free(ids);
    return out->first != NULL;
}

struct writing {
    struct sorted nodes, spots, targets;
};

static void put_spots(struct llvm *l, const struct writing *w, uint32_t node, size_t depth)
{
    struct pd_text *out = &l->x->out;
    for (size_t i = w->spots.first[node]; i < w->spots.first[node + 1]; i++) {
        uint32_t id = w->spots.ids[i];
        const struct spot *spot = &l->spots.data[id];
        put_place(l, depth + 1, spot->line, spot->discriminator);
        pd_text_u64(out, PD_MAX(spot->count, spot->calls), 0, ' ');
        for (size_t t = w->targets.first[id]; t < w->targets.first[id + 1]; t++) {
            const struct target *target = &l->targets.data[w->targets.ids[t]];
            pd_text_char(out, ' ');
            put_name(l, target->name);
            pd_text_char(out, ':');
            pd_text_u64(out, target->count, 0, ' ');
        }
        pd_text_char(out, '\n');
    }
}

static void put_node(struct llvm *l, const struct writing *w, uint32_t id, size_t depth)
{
    const struct node *node = &l->nodes.data[id];
    if (depth)
        put_place(l, depth, node->line, node->discriminator);
    put_name(l, node->name);
    pd_text_char(&l->x->out, ':');
    pd_text_u64(&l->x->out, node->total, 0, ' ');
    if (!depth) {
        pd_text_char(&l->x->out, ':');
        pd_text_u64(&l->x->out, node->head, 0, ' ');
    }
    pd_text_char(&l->x->out, '\n');
    put_spots(l, w, id, depth);
}

/* A function, its lines, then what was put into it. */
static perfdata_status put_tree(struct llvm *l, const struct writing *w)
{
    size_t next[PD_LINES_NESTED_MAX + 1] = { w->nodes.first[0] }, depth = 0;
    size_t ends[PD_LINES_NESTED_MAX + 1] = { w->nodes.first[1] };
    perfdata_status status = PERFDATA_OK;
    while (status >= 0) {
        if (next[depth] == ends[depth]) {
            if (!depth)
                break;
            depth--;
            continue;
        }
        uint32_t id = w->nodes.ids[next[depth]++];
        put_node(l, w, id, depth);
        if (depth < PD_LINES_NESTED_MAX) {
            next[++depth] = w->nodes.first[id + 1];
            ends[depth] = w->nodes.first[id + 2];
        }
        status = pd_convert_flush(l->x, false);
    }
    return status;
}

static perfdata_status write_all(struct llvm *l)
{
    struct writing w = { 0 };
    bool ok = l->nodes.count &&
              sort(l, &l->nodes.data->parent, sizeof *l->nodes.data, l->nodes.count,
                   l->nodes.count + 1, by_node, &w.nodes) &&
              sort(l, l->spots.count ? &l->spots.data->node : NULL, sizeof *l->spots.data,
                   l->spots.count, l->nodes.count, by_spot, &w.spots) &&
              sort(l, l->targets.count ? &l->targets.data->spot : NULL, sizeof *l->targets.data,
                   l->targets.count, l->spots.count, by_target, &w.targets);
    perfdata_status status = ok ? put_tree(l, &w) : pd_convert_no_memory(l->x);
    free_sorted(&w.nodes);
    free_sorted(&w.spots);
    free_sorted(&w.targets);
    return status;
}

/* ---- the whole ---- */

/* What is not in the text though it was recorded. */
static void tell_lost(struct llvm *l)
{
    if (l->ran.outside)
        (void)pd_issue(l->x->context, PERFDATA_ISSUE_OBJECT, -1,
                       "%" PRIu64 " runs begin in no function that DWARF knows: not counted",
                       l->ran.outside);
    if (l->ran.impossible)
        (void)pd_issue(l->x->context, PERFDATA_ISSUE_OBJECT, -1,
                       "%" PRIu64 " runs go on behind an instruction that always jumps away: not "
                       "counted",
                       l->ran.impossible);
}

static perfdata_status make(struct llvm *l, struct pd_symbols *symbols,
                            const struct pd_flow_list *list)
{
    perfdata_status status = pd_ran_count(l->x, symbols, list, &l->ran);
    if (status >= 0 && !l->ran.insns.count)
        return pd_fail(l->x->context, PERFDATA_ERROR_NO_DATA, -1,
                       "the object has no code of x86-64 that ran and that DWARF knows");
    if (status >= 0 && !add_all(l, list))
        status = pd_convert_no_memory(l->x);
    if (status < 0)
        return status;
    tell_lost(l);
    return write_all(l);
}

static perfdata_status put(struct pd_convert *x, struct pd_symbols *symbols,
                           const struct pd_flow_list *list)
{
    struct llvm l = { .x = x };
    const char *arch = x->recording->features.arch.text.text;
    perfdata_status status = arch && strcmp(arch, "x86_64") != 0
                                 ? pd_fail(x->context, PERFDATA_ERROR_ARGUMENT, -1,
                                           "form llvm reads code of x86-64, this is of %s", arch)
                                 : make(&l, symbols, list);
    pd_ran_free(&l.ran);
    pd_intern_free(&l.names);
    pd_intern_free(&l.node_keys);
    pd_intern_free(&l.spot_keys);
    pd_intern_free(&l.target_keys);
    pd_vec_free(&l.nodes);
    pd_vec_free(&l.spots);
    pd_vec_free(&l.targets);
    return status;
}

static perfdata_status run(struct pd_convert *x, const struct perfdata_profile_options *how,
                           struct perfdata_export_result *result)
{
    return pd_branches_run(x, how, result, "llvm", put);
}

const struct pd_format pd_format_llvm = { .flags = PERFDATA_FORMAT_OBJECT, .run = run };
