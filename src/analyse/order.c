/* SPDX-License-Identifier: MIT */
/* Rows are sorted, as the trees of perf would leave them. */
#include "analyse/misses.h"
#include <stdlib.h>

static int by_value(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;
}

static int by_column(const struct pd_hist_sorting *sorting, const struct pd_hist_row *a,
                     const struct pd_hist_row *b, uint8_t column)
{
    if (column == PD_COLUMN_CHILDREN) {
        if (!sorting->hist->options.children)
            return 0;
        int result = by_value(a->children_period, b->children_period);
        if (result || !sorting->has_chains || a->entry->first.thread != b->entry->first.thread)
            return result;
        /* the caller stands above the callee */
        result = by_value(a->max_depth, b->max_depth);
        return sorting->hist->options.caller_order ? result : -result;
    }
    int result = 0;
    for (size_t m = 0; !result && m < sorting->group_values; m++) {
        const struct pd_hist_row *c = pd_hist_value_row(sorting, a, m),
                                 *d = pd_hist_value_row(sorting, b, m);
        result = by_value(c ? pd_hist_row_value(c, column) : 0,
                          d ? pd_hist_row_value(d, column) : 0);
    }
    return result;
}

static int by_text(const char *a, const char *b)
{
    if (!a || !b)
        return a ? -1 : b ? 1 : 0;
    int result = strcmp(a, b);
    return result < 0 ? -1 : result > 0;
}

static int by_difference(uint64_t a, uint64_t b)
{
    int64_t difference = (int64_t)(a - b);
    return difference < 0 ? -1 : difference > 0;
}

static const uint64_t *key_of(const struct pd_hist_sorting *sorting, const struct pd_hist_row *row)
{
    return pd_hist_key_of(sorting->hist, row->index);
}

static int by_namespace(const struct pd_hist_sorting *sorting, uint64_t a, uint64_t b)
{
    struct pd_hist_namespace none = { 0, 0 }, x = a ? sorting->namespaces[a - 1] : none,
                             y = b ? sorting->namespaces[b - 1] : none;
    int result = by_difference(x.device, y.device);
    return result ? result : by_difference(x.inode, y.inode);
}

/* Byte by byte as they were recorded, the greater first. */
static int by_fields(const struct pd_hist_sorting *sorting, const struct pd_hist_row *one,
                     const struct pd_hist_row *other, uint8_t key)
{
    int word = pd_hist_key_at(&sorting->hist->options, key);
    uint64_t a = key_of(sorting, one)[word], b = key_of(sorting, other)[word];
    uint32_t reached = PD_HIST_FIELD_AT(key, 0);
    if (a == PD_HIST_NONE || b == PD_HIST_NONE)
        return 0;
    uint32_t *met = sorting->fields_met + one->index, *met_too = sorting->fields_met + other->index;
    const struct pd_string *left = &sorting->names->strings.data[a],
                           *right = &sorting->names->strings.data[b];
    size_t x = 0, y = 0;
    int result = 0;
    while (!result && x < left->length && y < right->length) {
        struct pd_hist_field first, second;
        memcpy(&first, left->text + x, sizeof first);
        memcpy(&second, right->text + y, sizeof second);
        result = -memcmp(left->text + x + sizeof first, right->text + y + sizeof second,
                         PD_MIN(first.raw_length, second.raw_length));
        if (!result)
            result = by_value(first.raw_length, second.raw_length);
        x += sizeof first + first.raw_length + first.text_length + 1;
        y += sizeof second + second.raw_length + second.text_length + 1;
        reached++;
    }
    *met = PD_MAX(*met, reached);
    *met_too = PD_MAX(*met_too, reached);
    return result;
}

/* An inlined function counts as the same in functions that touch. */
static int by_inlined(const struct pd_symbol *a, const struct pd_symbol *b)
{
    int result = strcmp(a->name, b->name);
    bool touch = a->start <= b->end && a->end >= b->start;
    return result || touch ? result : by_difference(a->start, b->start);
}

static int by_symbol(const struct pd_symbol *a, const struct pd_symbol *b)
{
    if (!a || !b)
        return a ? -1 : 1;
    if (a->inlined || b->inlined)
        return by_inlined(a, b);
    int result = by_difference(a->start, b->start);
    return result ? result : by_difference(a->end, b->end);
}

static int by_place(const struct pd_hist_place *a, const struct pd_hist_place *b)
{
    return a->symbol || b->symbol ? by_symbol(a->symbol, b->symbol) : by_difference(a->ip, b->ip);
}

static int by_address(const struct pd_hist_place *a, const struct pd_hist_place *b)
{
    int result = by_text(b->dso_name, a->dso_name);
    return result ? result : by_difference(a->ip, b->ip);
}

static void meet(const struct pd_hist_sorting *sorting, const struct pd_hist_row *a,
                 const struct pd_hist_row *b, uint8_t text)
{
    sorting->met[a->index] |= text;
    sorting->met[b->index] |= text;
}

/* ---- a function for each way in which keys compare; `at` is the key's place among the words -- */

/* clang-format off */
#define COMPARE(name)                                                                              \
    static int compare_##name(const struct pd_hist_sorting *sorting, const struct pd_hist_row *a,  \
                              const struct pd_hist_row *b, int at)
#define A key_of(sorting, a)[at]
#define B key_of(sorting, b)[at]
/* clang-format on */

COMPARE(rising)
{
    return by_difference(A, B);
}

COMPARE(falling)
{
    return by_difference(B, A);
}

COMPARE(signed)
{
    int32_t x = (int32_t)A, y = (int32_t)B;
    return x < y ? -1 : x > y;
}

/* perf compares these only for equality: of two that differ, each comes after the other. */
COMPARE(unequal)
{
    return A != B;
}

COMPARE(namespace)
{
    return by_namespace(sorting, A, B);
}

COMPARE(symbol)
{
    (void)at;
    const struct pd_symbol *x = a->entry->first.symbol, *y = b->entry->first.symbol;
    if (!x && !y)
        return by_difference(a->addr, b->addr);
    int result = sorting->dso_is_key ? 0 : by_text(a->dso, b->dso);
    return result ? result : by_symbol(x, y);
}

COMPARE(comm)
{
    (void)at;
    (void)sorting;
    return by_text(a->comm, b->comm);
}

COMPARE(dso)
{
    (void)at;
    (void)sorting;
    return by_text(a->dso, b->dso);
}

COMPARE(parent)
{
    (void)at;
    (void)sorting;
    return by_text(a->parent, b->parent);
}

COMPARE(trace)
{
    (void)at;
    meet(sorting, a, b, PD_MET_TRACE);
    return by_text(a->trace, b->trace);
}

COMPARE(line)
{
    (void)at;
    meet(sorting, a, b, PD_MET_LINE);
    return by_text(a->line, b->line);
}

COMPARE(file)
{
    (void)at;
    meet(sorting, a, b, PD_MET_FILE);
    return by_text(a->file, b->file);
}

/* ---- the same of branches ---- */

static const struct pd_hist_access *access_of(const struct pd_hist_sorting *sorting,
                                              const struct pd_hist_row *row)
{
    return pd_hist_access_of(sorting->all, row->entry);
}

static int by_branch_line(const struct pd_hist_sorting *sorting, const struct pd_hist_row *a,
                          const struct pd_hist_row *b, int at, uint8_t met)
{
    meet(sorting, a, b, met);
    return by_text(pd_intern_text(sorting->names, (uint32_t)A),
                   pd_intern_text(sorting->names, (uint32_t)B));
}

COMPARE(line_from)
{
    return by_branch_line(sorting, a, b, at, PD_MET_LINE_FROM);
}

COMPARE(line_to)
{
    return by_branch_line(sorting, a, b, at, PD_MET_LINE_TO);
}

COMPARE(dso_from)
{
    (void)at;
    return by_text(access_of(sorting, b)->from.dso_name, access_of(sorting, a)->from.dso_name);
}

COMPARE(dso_to)
{
    (void)at;
    return by_text(access_of(sorting, b)->to.dso_name, access_of(sorting, a)->to.dso_name);
}

COMPARE(symbol_from)
{
    (void)at;
    return by_place(&access_of(sorting, a)->from, &access_of(sorting, b)->from);
}

COMPARE(symbol_to)
{
    (void)at;
    return by_place(&access_of(sorting, a)->to, &access_of(sorting, b)->to);
}

COMPARE(address_from)
{
    (void)at;
    return by_address(&access_of(sorting, a)->from, &access_of(sorting, b)->from);
}

COMPARE(address_to)
{
    (void)at;
    return by_address(&access_of(sorting, a)->to, &access_of(sorting, b)->to);
}

COMPARE(cycles)
{
    (void)at;
    return by_difference(PD_BRANCH_PART(access_of(sorting, b)->flags, CYCLES),
                         PD_BRANCH_PART(access_of(sorting, a)->flags, CYCLES));
}

/* ---- the same of accesses to memory ---- */

int pd_hist_compare_cache_lines(const struct pd_hist_cache_line *a,
                                const struct pd_hist_cache_line *b)
{
    const uint64_t left[] = { a->cpumode, a->unmapped,       a->maj,           a->min,
                              a->ino,     a->ino_generation, (uint64_t)a->pid, a->address },
                   right[] = { b->cpumode, b->unmapped,       b->maj,           b->min,
                               b->ino,     b->ino_generation, (uint64_t)b->pid, b->address };
    int result = 0;
    for (size_t i = 0; !result && i < PD_LENGTH(left); i++)
        result = by_value(right[i], left[i]);
    return result;
}

static struct pd_hist_cache_line cache_line_of(const struct pd_hist_sorting *sorting, uint64_t word)
{
    struct pd_hist_cache_line line = { 0 };
    if (word != PD_HIST_NONE)
        memcpy(&line, sorting->names->strings.data[word].text, sizeof line);
    return line;
}

COMPARE(cache_line)
{
    struct pd_hist_cache_line x = cache_line_of(sorting, A), y = cache_line_of(sorting, B);
    return pd_hist_compare_cache_lines(&x, &y);
}

static int (*const compare_of[PD_KEY_COUNT])(const struct pd_hist_sorting *sorting,
                                             const struct pd_hist_row *a,
                                             const struct pd_hist_row *b, int at) = {
#define KEY(identifier, name, title, mode, ids, order, ...) [PD_KEY_##identifier] = compare_##order,
#include "analyse/keys.def"
};

static int by_key(const struct pd_hist_sorting *sorting, const struct pd_hist_row *a,
                  const struct pd_hist_row *b, uint8_t key)
{
    if (pd_hist_is_fields(key))
        return by_fields(sorting, a, b, key);
    return compare_of[key](sorting, a, b, pd_hist_key_at(&sorting->hist->options, key));
}

/* As perf compares when it looks whether two are the same. */
int pd_hist_compare_identities(const struct pd_hist_sorting *sorting, const struct pd_hist_row *a,
                               const struct pd_hist_row *b)
{
    int result = 0;
    for (unsigned k = 0; !result && k < sorting->hist->options.key_count; k++)
        result = by_key(sorting, a, b, sorting->hist->options.keys[k]);
    return result;
}

int pd_hist_compare_order(const struct pd_hist_sorting *sorting, const struct pd_hist_row *a,
                          const struct pd_hist_row *b)
{
    int result = 0;
    for (size_t i = 0; !result && i < sorting->order_count; i++) {
        uint8_t what = sorting->order[i];
        result = what >= PD_KEY_COUNT    ? by_column(sorting, a, b, what)
                 : what == PD_KEY_SYMBOL ? by_text(a->symbol, b->symbol)
                                         : by_key(sorting, a, b, what);
        /* perf asks the other way round */
        if (what < PD_KEY_COUNT && compare_of[what] == compare_unequal)
            result = -result;
    }
    return result;
}

/* In the order in which perf meets them, whichever worker did. */
static int compare_first(const void *left, const void *right, void *data)
{
    const struct pd_hist_row *a = *(struct pd_hist_row *const *)left,
                             *b = *(struct pd_hist_row *const *)right;
    const struct pd_hist_first *x = &a->entry->first, *y = &b->entry->first;
    int result = by_value(y->number, x->number);
    if (!result)
        result = by_value(y->position, x->position);
    if (!result)
        result = pd_hist_compare_identities(data, a, b);
    return result ? result : by_value(b->index, a->index);
}

static bool is_before_by_identity(const void *data, uint32_t node, uint32_t other)
{
    const struct pd_hist_sorting *sorting = data;
    return pd_hist_compare_identities(sorting, sorting->rows[node - 1], sorting->rows[other - 1]) <
           0;
}

static bool is_before_by_order(const void *data, uint32_t node, uint32_t other)
{
    const struct pd_hist_sorting *sorting = data;
    return pd_hist_compare_order(sorting, sorting->rows[node - 1], sorting->rows[other - 1]) < 0;
}

static void pass_through_tree(struct pd_hist_sorting *sorting, struct pd_hist_event *event,
                              struct pd_rb_node *nodes,
                              bool (*is_before)(const void *data, uint32_t node, uint32_t other))
{
    size_t count = event->rows.count, to = 0;
    struct pd_rb_tree tree = { nodes, 0 };
    if (!count) /* without rows there is no address of any */
        return;
    memset(nodes, 0, (count + 1) * sizeof *nodes);
    memcpy(sorting->rows, event->rows.data, count * sizeof *sorting->rows);
    for (uint32_t i = 1; i <= count; i++) {
        pd_rb_insert_by(&tree, i, is_before, sorting);
        if (sorting->met)
            sorting->rows[i - 1]->met = sorting->met[sorting->rows[i - 1]->index];
    }
    for (uint32_t node = pd_rb_first(&tree); node; node = pd_rb_next(&tree, node))
        event->rows.data[to++] = sorting->rows[node - 1];
}

/* ---- keys that are no order ---- */

struct splitting {
    struct pd_hist_sorting *sorting;
    PD_VEC(struct pd_hist_row *) rows; /* by node - 1 */
    PD_VEC(struct pd_rb_node) nodes;
    struct pd_rb_tree tree;
};

/* The row that perf's walk down the tree comes to, 0: none. */
static uint32_t find_equal(const struct splitting *splitting, const struct pd_hist_row *row)
{
    uint32_t at = splitting->tree.root;
    while (at) {
        int result = pd_hist_compare_identities(splitting->sorting, row,
                                                splitting->rows.data[at - 1]);
        if (!result)
            break;
        at = result < 0 ? splitting->nodes.data[at].left : splitting->nodes.data[at].right;
    }
    return at;
}

static bool is_before_in_split(const void *data, uint32_t node, uint32_t other)
{
    const struct splitting *splitting = data;
    return pd_hist_compare_identities(splitting->sorting, splitting->rows.data[node - 1],
                                      splitting->rows.data[other - 1]) < 0;
}

static bool add_node(struct splitting *splitting, struct pd_hist_row *row)
{
    struct pd_rb_node none = { 0 };
    if ((!splitting->nodes.count && !pd_vec_push(&splitting->nodes, none)) ||
        !pd_vec_push(&splitting->nodes, none) || !pd_vec_push(&splitting->rows, row))
        return false;
    splitting->tree.nodes = splitting->nodes.data;
    pd_rb_insert_by(&splitting->tree, (uint32_t)splitting->rows.count, is_before_in_split,
                    splitting);
    return true;
}

static void take_rows(struct splitting *splitting, struct pd_hist_event *event)
{
    event->rows.count = 0;
    for (uint32_t node = pd_rb_first(&splitting->tree); node;
         node = pd_rb_next(&splitting->tree, node))
        /* NOLINTNEXTLINE: a node that was found has a row */
        event->rows.data[event->rows.count++] = splitting->rows.data[node - 1];
}

/* perf may miss a row that it has, and make another: so every sample is looked up once more in
 * turn. */
static bool split_rows(struct pd_hist_sorting *sorting, struct pd_hist_result *result,
                       struct pd_hist_event *event)
{
    struct splitting splitting = { .sorting = sorting };
    bool ok = true;
    for (size_t i = 0; ok && i < event->log_count; i++) {
        uint32_t logged = event->log[i];
        const struct pd_hist_row *row =
            result->all.data[result->row_of_entry[logged & PD_HIST_LOG_ENTRY]];
        uint32_t node = find_equal(&splitting, row);
        if (!node) {
            struct pd_hist_row *made = pd_arena_zalloc(&result->arena, sizeof *made);
            if (!made)
                ok = false;
            else {
                *made = *row;
                made->period = made->sys = made->user = made->guest_sys = made->guest_user = 0;
                made->count = made->latency = 0;
                ok = add_node(&splitting, made);
            }
            node = (uint32_t)splitting.rows.count;
        }
        if (ok) /* NOLINTNEXTLINE: a node that was found has a row */
            PD_HIST_COUNT(splitting.rows.data[node - 1], logged >> PD_HIST_LOG_MODE, 1);
    }
    ok = ok && pd_vec_reserve(&event->rows, splitting.rows.count + 1);
    if (ok)
        take_rows(&splitting, event);
    pd_vec_free(&splitting.rows);
    pd_vec_free(&splitting.nodes);
    return ok;
}

/* Does the same among the rows themselves. */
static bool join_rows(struct pd_hist_sorting *sorting, struct pd_hist_event *event)
{
    struct splitting splitting = { .sorting = sorting };
    bool ok = true;
    for (size_t i = 0; ok && i < event->rows.count; i++) {
        uint32_t node = find_equal(&splitting, event->rows.data[i]);
        if (node) /* NOLINTNEXTLINE: a node that was found has a row */
            PD_HIST_ADD(splitting.rows.data[node - 1], event->rows.data[i]);
        else
            ok = add_node(&splitting, event->rows.data[i]);
    }
    if (ok)
        take_rows(&splitting, event);
    pd_vec_free(&splitting.rows);
    pd_vec_free(&splitting.nodes);
    return ok;
}

/* A row's second sample has been compared with it, as has a function of the sample's stack. */
static bool is_met(const struct pd_hist_row *row)
{
    return PD_MAX(row->count, row->children_count) > 1 || row->max_depth;
}

static uint8_t *met_of(const struct pd_hist_result *result, const struct pd_hist_event *event)
{
    uint8_t *met = calloc(result->all.count + 1, sizeof *met);
    for (size_t i = 0; met && i < event->rows.count; i++) {
        const struct pd_hist_row *row = event->rows.data[i];
        met[row->index] = is_met(row) ? PD_MET_ALL : 0;
    }
    return met;
}

static bool measures_what_is_met(const struct pd_hist_options *options)
{
    static const uint8_t keys[] = { PD_KEY_TRACE, PD_KEY_SRCLINE, PD_KEY_SRCFILE,
                                    PD_KEY_SRCLINE_FROM, PD_KEY_SRCLINE_TO };
    for (size_t i = 0; i < PD_LENGTH(keys); i++)
        if (pd_hist_key_at(options, keys[i]))
            return true;
    return false;
}

/* Texts that perf has compared are noted by the other way only. */
static bool may_miss(const struct pd_hist_sorting *sorting)
{
    return sorting->all->visits.count && !sorting->met && !sorting->fields_met;
}

static int compare_places(const void *data, uint32_t a, uint32_t b)
{
    const struct pd_hist_sorting *sorting = data;
    return pd_hist_compare_identities(sorting, sorting->rows[a], sorting->rows[b]);
}

static bool pass_through_trees_with_misses(struct pd_hist_sorting *sorting,
                                           struct pd_hist_event *event, bool joined)
{
    size_t count = event->rows.count;
    bool *may_be_missed = malloc(count + 1);
    uint32_t *order = malloc((count + 1) * sizeof *order);
    bool ok = may_be_missed && order;
    for (size_t i = 0; ok && i < count; i++) {
        sorting->rows[i] = event->rows.data[i];
        order[i] = (uint32_t)i;
        may_be_missed[i] = !event->rows.data[i]->entry->first.symbol;
    }
    struct pd_hist_misses misses = { .sorting = sorting,
                                     .rows = sorting->rows,
                                     .count = count,
                                     .compare = compare_places,
                                     .data = sorting,
                                     .may_be_missed = may_be_missed,
                                     .order = order };
    ok = ok && pd_hist_order_with_misses(&misses, joined);
    for (size_t i = 0; ok && i < count; i++)
        event->rows.data[i] = sorting->rows[order[i]];
    free(may_be_missed);
    free(order);
    return ok;
}

bool pd_hist_sort_by_trees(struct pd_hist_sorting *sorting, struct pd_hist_result *result,
                           struct pd_hist_event *event)
{
    const struct pd_hist_options *options = &result->identities->options;
    size_t count = event->rows.count;
    struct pd_hist_row **rows = malloc((count + 1) * sizeof *rows);
    struct pd_rb_node *nodes = malloc((count + 1) * sizeof *nodes);
    sorting->rows = rows;
    bool ok = rows && nodes;
    if (ok && pd_hist_key_at(options, PD_KEY_FIELDS))
        ok = (sorting->fields_met = calloc(result->all.count + 1, sizeof *sorting->fields_met)) !=
             NULL;
    if (ok) {
        if (!options->keeps_log) {
            if (count)
                qsort_r(event->rows.data, count, sizeof *event->rows.data, compare_first, sorting);
            bool joined = pd_hist_key_at(options, PD_KEY_COMM);
            if (may_miss(sorting)) {
                ok = pass_through_trees_with_misses(sorting, event, joined);
            } else {
                pass_through_tree(sorting, event, nodes, is_before_by_identity);
                if (joined)
                    pass_through_tree(sorting, event, nodes, is_before_by_identity);
            }
        }
        if (ok && options->levels)
            ok = pd_hist_make_levels(sorting, result, event) == 0;
        else if (ok)
            pass_through_tree(sorting, event, nodes, is_before_by_order);
    }
    /* levels compare rows without a tree that would note the comparison */
    for (size_t i = 0; ok && options->levels && sorting->met && i < event->levels.count; i++) {
        struct pd_hist_row *row = event->levels.data[i].row;
        row->met = sorting->met[row->index];
    }
    free(rows);
    free(nodes);
    for (size_t i = 0; ok && sorting->fields_met && i < count; i++) {
        struct pd_hist_row *row = event->rows.data[i];
        bool twice = is_met(row);
        row->fields_met = twice ? UINT32_MAX : sorting->fields_met[row->index];
    }
    free(sorting->fields_met);
    return ok;
}

/* Neither order is one: addresses are compared by their signed difference, and "the caller above
 * the callee" holds only within a thread. What comes out is what the trees make of it through which
 * perf passes the rows: that of the samples, that of the collapsed entries, that of the output. */
perfdata_status pd_hist_sort(const struct pd_hist *hist, struct pd_hist_result *result,
                             struct pd_hist_event *event, const uint8_t *order, size_t order_count,
                             size_t group_size, size_t group_sort)
{
    const struct pd_hist_options *options = &result->identities->options;
    struct pd_hist_sorting sorting = {
        .hist = result->identities,
        .all = hist,
        .row_of_entry = result->row_of_entry,
        .arena = &result->arena,
        .namespaces = hist->namespaces.data,
        .names = &hist->names,
        .order = order,
        .order_count = order_count,
        .group_size = group_size,
        .group_values = group_sort < group_size ? group_size - (group_sort != 0) : 1,
        .group_sort = group_sort < group_size ? group_sort : 0,
        .dso_is_key = pd_hist_key_at(options, PD_KEY_DSO) != 0,
        .has_chains = options->use_chains,
    };
    bool by_comm = pd_hist_key_at(options, PD_KEY_COMM);
    if (measures_what_is_met(options) && !(sorting.met = met_of(result, event)))
        return PERFDATA_ERROR_MEMORY;
    if (options->keeps_log &&
        (!split_rows(&sorting, result, event) || (by_comm && !join_rows(&sorting, event)))) {
        free(sorting.met);
        return PERFDATA_ERROR_MEMORY;
    }
    bool sorted = false;
    perfdata_status status = 0;
    if (!options->keeps_log && !options->levels)
        status = pd_hist_sort_by_rank(&sorting, event, &sorted);
    if (status == 0 && !sorted && !pd_hist_sort_by_trees(&sorting, result, event))
        status = PERFDATA_ERROR_MEMORY;
    free(sorting.met);
    return status;
}

uint64_t pd_hist_row_word(const struct pd_hist_result *result, const struct pd_hist_row *row,
                          uint8_t key)
{
    int at = pd_hist_key_at(&result->identities->options, key);
    return at ? pd_hist_key_of(result->identities, row->index)[at] : 0;
}
