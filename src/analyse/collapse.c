/* SPDX-License-Identifier: MIT */
/* Entries to rows: names that became equal are joined, the events of a group stand side by side, rows are sorted. */
#include "analyse/hist.h"
#include "object/rbtree.h"
#include <stdlib.h>

static int key_at(const struct pd_hist_options *options, uint8_t key)
{
    for (unsigned k = 0; k < options->key_count; k++)
        if (options->keys[k] == key)
            return (int)k + 1;
    return 0;
}

/* For each comm the first with the same final text. */
static uint32_t *same_comms(struct pd_hist *hist, const char ***texts)
{
    size_t count = hist->comms.count;
    uint32_t *same = malloc((count + 1) * sizeof *same);
    uint32_t *by_name = calloc(hist->names.strings.count + count + 1, sizeof *by_name);
    *texts = malloc((count + 1) * sizeof **texts);
    bool ok = same && by_name && *texts;
    for (size_t i = 0; ok && i < count; i++) {
        const char *text = (*texts)[i] = pd_comm_final_text(hist->comms.data[i].comm);
        uint32_t name = pd_hist_name_id(hist, text);
        ok = name != PD_HIST_NONE;
        if (ok && !by_name[name])
            by_name[name] = (uint32_t)i + 1;
        if (ok)
            same[i] = by_name[name] - 1;
    }
    free(by_name);
    if (ok)
        return same;
    free(same);
    free(*texts);
    *texts = NULL;
    return NULL;
}

static struct pd_hist_row *row_new(struct pd_hist_result *result, const struct pd_hist_entry *entry,
                                   uint32_t event)
{
    struct pd_hist_row *row = pd_arena_zalloc(&result->arena, sizeof *row);
    if (!row)
        return NULL;
    row->entry = entry;
    row->event = event;
    row->index = (uint32_t)result->all.count;
    if (!pd_vec_push(&result->all, row))
        return NULL;
    return row;
}

static void row_add(struct pd_hist_row *row, const struct pd_hist_entry *entry)
{
    PD_HIST_ADD(row, entry);
    row->children_period += entry->children_period;
    row->children_count += entry->children_count;
    row->max_depth = PD_MAX(row->max_depth, entry->max_depth);
    if (pd_hist_is_first(&entry->first, row->entry->first.number, row->entry->first.position))
        row->entry = entry;
}

static const char *name_of(struct pd_symbols *symbols, const struct pd_dso *dso)
{
    return dso ? pd_symbols_short_name(symbols, dso) : NULL;
}

static void row_name(struct pd_hist_row *row, const struct pd_hist *hist, const uint64_t *key,
                     const char **comms, struct pd_symbols *symbols, const char *symbol_filter)
{
    const struct pd_hist_first *first = &row->entry->first;
    int at = key_at(&hist->options, PD_KEY_COMM);
    if (at)
        row->comm = key[at] == PD_HIST_NONE ? "" : comms[key[at]];
    at = key_at(&hist->options, PD_KEY_PARENT);
    if (at && key[at] != PD_HIST_NONE)
        row->parent = pd_intern_text(&hist->names, (uint32_t)key[at]);
    at = key_at(&hist->options, PD_KEY_TRACE);
    if (at && key[at] != PD_HIST_NONE)
        row->trace = pd_intern_text(&hist->names, (uint32_t)key[at]);
    at = key_at(&hist->options, PD_KEY_SRCLINE);
    if (at && key[at] != PD_HIST_NONE)
        row->line = pd_intern_text(&hist->names, (uint32_t)key[at]);
    at = key_at(&hist->options, PD_KEY_SRCFILE);
    if (at && key[at] != PD_HIST_NONE)
        row->file = pd_intern_text(&hist->names, (uint32_t)key[at]);
    row->dso = name_of(symbols, first->dso);
    row->symbol = first->symbol ? first->symbol->name : NULL;
    row->addr = first->addr;
    row->filtered = first->filtered;
    /* perf applies this one while collapsing, which it does for comms only, and to the first event. */
    if (symbol_filter && row->comm && !row->event &&
        (!row->symbol || !strstr(row->symbol, symbol_filter)))
        row->filtered = true;
}

static bool collect_rows(struct pd_hist *hist, const uint32_t *same, struct pd_hist_result *out)
{
    int comm_at = key_at(&hist->options, PD_KEY_COMM);
    for (size_t i = 0; i < hist->entries.count; i++) {
        const struct pd_hist_entry *entry = &hist->entries.data[i];
        uint64_t words[PD_HIST_WORDS];
        memcpy(words, pd_hist_key_of(hist, (uint32_t)i), hist->words * sizeof *words);
        if (comm_at && words[comm_at] != PD_HIST_NONE)
            words[comm_at] = same[words[comm_at]];
        uint32_t id = pd_hist_entry_id(&out->identities, words);
        if (id == PD_HIST_NONE)
            return false;
        if (id == out->all.count && !row_new(out, entry, (uint32_t)words[0]))
            return false;
        row_add(out->all.data[id], entry);
        out->row_of_entry[i] = id;
        struct pd_hist_event *event = &out->events[words[0]];
        event->count += entry->count;
        event->chain_period += entry->period;
        if (!entry->first.filtered) {
            event->count_unfiltered += entry->count;
            event->chain_period_unfiltered += entry->period;
        }
    }
    return true;
}

perfdata_status pd_hist_collapse(struct pd_hist *hist, size_t event_count,
                                 struct pd_symbols *symbols, const char *symbol_filter,
                                 struct pd_hist_result *out)
{
    memset(out, 0, sizeof *out);
    pd_hist_init(&out->identities, &hist->options);
    out->event_count = event_count;
    out->events = pd_arena_zalloc(&out->arena, (event_count + 1) * sizeof *out->events);
    out->row_of_entry = pd_arena_alloc(&out->arena,
                                       (hist->entries.count + 1) * sizeof *out->row_of_entry);
    const char **comms = NULL;
    uint32_t *same = same_comms(hist, &comms);
    bool ok = out->events && out->row_of_entry && same && collect_rows(hist, same, out);
    for (size_t i = 0; ok && i < out->all.count; i++) {
        struct pd_hist_row *row = out->all.data[i];
        struct pd_hist_event *event = &out->events[row->event];
        row_name(row, hist, pd_hist_key_of(&out->identities, (uint32_t)i), comms, symbols,
                 symbol_filter);
        event->period += row->period;
        if (!row->filtered)
            event->period_unfiltered += row->period;
        ok = pd_vec_push(&event->rows, row);
    }
    for (size_t i = 0; i < hist->accesses.count; i++) {
        struct pd_hist_access *access = &hist->accesses.data[i];
        access->from.dso_name = name_of(symbols, access->from.dso);
        access->to.dso_name = name_of(symbols, access->to.dso);
    }
    out->row_count_with_entry = out->all.count;
    free(comms);
    free(same);
    return ok ? 0 : PERFDATA_ERROR_MEMORY;
}

void pd_hist_result_free(struct pd_hist_result *result)
{
    for (size_t i = 0; result->events && i < result->event_count; i++)
        pd_vec_free(&result->events[i].rows);
    pd_vec_free(&result->all);
    pd_hist_free(&result->identities);
    pd_arena_free(&result->arena);
    memset(result, 0, sizeof *result);
}

/* ---- groups ---- */

static struct pd_hist_row *leader_row(struct pd_hist_result *result, uint32_t leader,
                                      const struct pd_hist_row *row)
{
    uint64_t words[PD_HIST_WORDS];
    memcpy(words, pd_hist_key_of(&result->identities, row->index),
           result->identities.words * sizeof *words);
    words[0] = leader;
    uint32_t id = pd_hist_entry_id(&result->identities, words);
    if (id == PD_HIST_NONE)
        return NULL;
    if (id < result->all.count)
        return result->all.data[id];
    struct pd_hist_row *added = row_new(result, row->entry, leader);
    if (!added)
        return NULL;
    added->filtered = row->filtered;
    added->comm = row->comm;
    added->dso = row->dso;
    added->parent = row->parent;
    added->symbol = row->symbol;
    added->trace = row->trace;
    added->line = row->line;
    added->file = row->file;
    added->addr = row->addr;
    return pd_vec_push(&result->events[leader].rows, added) ? added : NULL;
}

perfdata_status pd_hist_link(struct pd_hist_result *result, const uint32_t *events, size_t count)
{
    for (size_t m = 1; m < count; m++) {
        const struct pd_hist_event *event = &result->events[events[m]];
        for (size_t i = 0; i < event->rows.count; i++) {
            struct pd_hist_row *row = event->rows.data[i],
                               *leader = leader_row(result, events[0], row);
            if (!leader)
                return PERFDATA_ERROR_MEMORY;
            if (!leader->members)
                leader->members = pd_arena_zalloc(&result->arena,
                                                  (count - 1) * sizeof *leader->members);
            if (!leader->members)
                return PERFDATA_ERROR_MEMORY;
            leader->members[m - 1] = row;
        }
    }
    return 0;
}

/* ---- sorting ---- */

struct sorting {
    const struct pd_hist *hist; /* of the identities */
    const struct pd_hist *all;
    struct pd_hist_row **rows; /* as they enter a tree */
    const struct pd_hist_namespace *namespaces;
    const struct pd_intern *names;
    const uint8_t *order;
    size_t order_count, group_size;
    bool dso_is_key, has_chains;
    uint8_t *met; /* per row of the result: which texts have been compared; NULL: no such key */
    uint32_t *fields_met; /* the same of fields */
};

static int by_value(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;
}

static int by_column(const struct sorting *sorting, const struct pd_hist_row *a,
                     const struct pd_hist_row *b, uint8_t column)
{
    if (column == PD_COLUMN_CHILDREN) {
        if (!sorting->hist->options.children)
            return 0;
        int result = by_value(a->children_period, b->children_period);
        if (result || !sorting->has_chains || a->entry->first.thread != b->entry->first.thread)
            return result;
        /* The caller above the callee. */
        result = by_value(a->max_depth, b->max_depth);
        return sorting->hist->options.caller_order ? result : -result;
    }
    int result = by_value(pd_hist_row_value(a, column), pd_hist_row_value(b, column));
    for (size_t m = 0; !result && m + 1 < sorting->group_size; m++) {
        const struct pd_hist_row *c = a->members ? a->members[m] : NULL,
                                 *d = b->members ? b->members[m] : NULL;
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

static const uint64_t *key_of(const struct sorting *sorting, const struct pd_hist_row *row)
{
    return pd_hist_key_of(sorting->hist, row->index);
}

static int by_namespace(const struct sorting *sorting, uint64_t a, uint64_t b)
{
    struct pd_hist_namespace none = { 0, 0 }, x = a ? sorting->namespaces[a - 1] : none,
                             y = b ? sorting->namespaces[b - 1] : none;
    int result = by_difference(x.device, y.device);
    return result ? result : by_difference(x.inode, y.inode);
}

/* Byte by byte as they were recorded, the greater first. */
static int by_fields(const struct sorting *sorting, const struct pd_hist_row *one,
                     const struct pd_hist_row *other, uint8_t key)
{
    int word = key_at(&sorting->hist->options, key);
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

static int by_symbol(const struct pd_symbol *a, const struct pd_symbol *b)
{
    if (!a || !b)
        return a ? -1 : 1;
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

static void meet(const struct sorting *sorting, const struct pd_hist_row *a,
                 const struct pd_hist_row *b, uint8_t text)
{
    sorting->met[a->index] |= text;
    sorting->met[b->index] |= text;
}

static int by_line(const struct sorting *sorting, const struct pd_hist_row *a,
                   const struct pd_hist_row *b, uint8_t key)
{
    int at = key_at(&sorting->hist->options, key);
    meet(sorting, a, b, key == PD_KEY_SRCLINE_FROM ? PD_MET_LINE_FROM : PD_MET_LINE_TO);
    return by_text(pd_intern_text(sorting->names, (uint32_t)key_of(sorting, a)[at]),
                   pd_intern_text(sorting->names, (uint32_t)key_of(sorting, b)[at]));
}

/* Keys of branches. perf says of flags only whether they differ: each then comes after the other. */
static int by_access(const struct sorting *sorting, const struct pd_hist_row *one,
                     const struct pd_hist_row *other, uint8_t key)
{
    const struct pd_hist_access *a = pd_hist_access_of(sorting->all, one->entry),
                                *b = pd_hist_access_of(sorting->all, other->entry);
    switch (key) {
    case PD_KEY_DSO_FROM: return by_text(b->from.dso_name, a->from.dso_name);
    case PD_KEY_DSO_TO: return by_text(b->to.dso_name, a->to.dso_name);
    case PD_KEY_SYMBOL_FROM: return by_place(&a->from, &b->from);
    case PD_KEY_SYMBOL_TO: return by_place(&a->to, &b->to);
    case PD_KEY_ADDR_FROM: return by_address(&a->from, &b->from);
    case PD_KEY_ADDR_TO: return by_address(&a->to, &b->to);
    case PD_KEY_SRCLINE_FROM:
    case PD_KEY_SRCLINE_TO: return by_line(sorting, one, other, key);
    case PD_KEY_CYCLES:
        return by_difference(PD_BRANCH_PART(b->flags, CYCLES), PD_BRANCH_PART(a->flags, CYCLES));
    default: {
        int at = key_at(&sorting->hist->options, key);
        return key_of(sorting, one)[at] != key_of(sorting, other)[at];
    }
    }
}

static int by_symbol_identity(const struct sorting *sorting, const struct pd_hist_row *a,
                              const struct pd_hist_row *b)
{
    const struct pd_symbol *x = a->entry->first.symbol, *y = b->entry->first.symbol;
    if (!x && !y)
        return by_difference(a->addr, b->addr);
    int result = sorting->dso_is_key ? 0 : by_text(a->dso, b->dso);
    if (result)
        return result;
    return by_symbol(x, y);
}

/* Keys that compare alike whether sorting or merging. */
static int by_key(const struct sorting *sorting, const struct pd_hist_row *a,
                  const struct pd_hist_row *b, uint8_t key)
{
    int at = key_at(&sorting->hist->options, key);
    if (pd_hist_is_fields(key))
        return by_fields(sorting, a, b, key);
    switch (key) {
    case PD_KEY_COMM: return by_text(a->comm, b->comm);
    case PD_KEY_DSO: return by_text(a->dso, b->dso);
    case PD_KEY_PARENT: return by_text(a->parent, b->parent);
    case PD_KEY_TRACE: meet(sorting, a, b, PD_MET_TRACE); return by_text(a->trace, b->trace);
    case PD_KEY_SRCLINE: meet(sorting, a, b, PD_MET_LINE); return by_text(a->line, b->line);
    case PD_KEY_SRCFILE: meet(sorting, a, b, PD_MET_FILE); return by_text(a->file, b->file);
    case PD_KEY_IPC_LBR:
    case PD_KEY_IPC_NULL: return by_symbol_identity(sorting, a, b);
    case PD_KEY_DSO_FROM:
    case PD_KEY_DSO_TO:
    case PD_KEY_SYMBOL_FROM:
    case PD_KEY_SYMBOL_TO:
    case PD_KEY_MISPREDICT:
    case PD_KEY_IN_TX:
    case PD_KEY_ABORT:
    case PD_KEY_CYCLES:
    case PD_KEY_SRCLINE_FROM:
    case PD_KEY_SRCLINE_TO:
    case PD_KEY_ADDR_FROM:
    case PD_KEY_ADDR_TO: return by_access(sorting, a, b, key);
    case PD_KEY_LOCAL_WEIGHT:
    case PD_KEY_LOCAL_INS_LAT:
    case PD_KEY_INS_LAT:
    case PD_KEY_WEIGHT: return by_difference(key_of(sorting, b)[at], key_of(sorting, a)[at]);
    case PD_KEY_CGROUP_ID:
        return by_namespace(sorting, key_of(sorting, a)[at], key_of(sorting, b)[at]);
    case PD_KEY_PID:
    case PD_KEY_CPU:
    case PD_KEY_SOCKET: {
        int32_t x = (int32_t)key_of(sorting, a)[at], y = (int32_t)key_of(sorting, b)[at];
        return x < y ? -1 : x > y;
    }
    default: return by_difference(key_of(sorting, a)[at], key_of(sorting, b)[at]);
    }
}

static bool is_no_order(uint8_t key)
{
    return key == PD_KEY_MISPREDICT || key == PD_KEY_IN_TX || key == PD_KEY_ABORT;
}

/* As perf compares when it looks whether two are the same. */
static int compare_identities(const struct sorting *sorting, const struct pd_hist_row *a,
                              const struct pd_hist_row *b)
{
    int result = 0;
    for (unsigned k = 0; !result && k < sorting->hist->options.key_count; k++) {
        uint8_t key = sorting->hist->options.keys[k];
        result = key == PD_KEY_SYMBOL ? by_symbol_identity(sorting, a, b)
                                      : by_key(sorting, a, b, key);
    }
    return result;
}

static int compare_order(const struct sorting *sorting, const struct pd_hist_row *a,
                         const struct pd_hist_row *b)
{
    int result = 0;
    for (size_t i = 0; !result && i < sorting->order_count; i++) {
        uint8_t what = sorting->order[i];
        result = what >= PD_KEY_COUNT    ? by_column(sorting, a, b, what)
                 : what == PD_KEY_SYMBOL ? by_text(a->symbol, b->symbol)
                                         : by_key(sorting, a, b, what);
        if (is_no_order(what)) /* perf asks the other way round */
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
        result = compare_identities(data, a, b);
    return result ? result : by_value(b->index, a->index);
}

static bool is_before_by_identity(const void *data, uint32_t node, uint32_t other)
{
    const struct sorting *sorting = data;
    return compare_identities(sorting, sorting->rows[node - 1], sorting->rows[other - 1]) < 0;
}

static bool is_before_by_order(const void *data, uint32_t node, uint32_t other)
{
    const struct sorting *sorting = data;
    return compare_order(sorting, sorting->rows[node - 1], sorting->rows[other - 1]) < 0;
}

static void pass_through_tree(struct sorting *sorting, struct pd_hist_event *event,
                              struct pd_rb_node *nodes,
                              bool (*is_before)(const void *data, uint32_t node, uint32_t other))
{
    size_t count = event->rows.count, to = 0;
    struct pd_rb_tree tree = { nodes, 0 };
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
    struct sorting *sorting;
    PD_VEC(struct pd_hist_row *) rows; /* by node - 1 */
    PD_VEC(struct pd_rb_node) nodes;
    struct pd_rb_tree tree;
};

/* The row that perf's walk down the tree comes to, 0: none. */
static uint32_t find_equal(const struct splitting *splitting, const struct pd_hist_row *row)
{
    uint32_t at = splitting->tree.root;
    while (at) {
        int result = compare_identities(splitting->sorting, row, splitting->rows.data[at - 1]);
        if (!result)
            break;
        at = result < 0 ? splitting->nodes.data[at].left : splitting->nodes.data[at].right;
    }
    return at;
}

static bool is_before_in_split(const void *data, uint32_t node, uint32_t other)
{
    const struct splitting *splitting = data;
    return compare_identities(splitting->sorting, splitting->rows.data[node - 1],
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

static void count_one(struct pd_hist_row *row, unsigned cpumode)
{
    row->period++;
    row->count++;
    row->sys += cpumode == 1;
    row->user += cpumode == 2;
    row->guest_sys += cpumode == 4;
    row->guest_user += cpumode == 5;
}

static void take_rows(struct splitting *splitting, struct pd_hist_event *event)
{
    event->rows.count = 0;
    for (uint32_t node = pd_rb_first(&splitting->tree); node;
         node = pd_rb_next(&splitting->tree, node))
        event->rows.data[event->rows.count++] = splitting->rows.data[node - 1];
}

/* perf may miss a row that it has, and make another: so every sample is looked up once more in turn. */
static bool split_rows(struct sorting *sorting, struct pd_hist_result *result,
                       struct pd_hist_event *event)
{
    struct splitting splitting = { .sorting = sorting };
    bool ok = true;
    for (size_t i = 0; ok && i < sorting->all->log.count; i++) {
        uint32_t logged = sorting->all->log.data[i];
        const struct pd_hist_row *row =
            result->all.data[result->row_of_entry[logged & PD_HIST_LOG_ENTRY]];
        if (&result->events[row->event] != event)
            continue;
        uint32_t node = find_equal(&splitting, row);
        if (!node) {
            struct pd_hist_row *made = pd_arena_zalloc(&result->arena, sizeof *made);
            if (!made)
                ok = false;
            else {
                *made = *row;
                made->period = made->sys = made->user = made->guest_sys = made->guest_user = 0;
                made->count = 0;
                ok = add_node(&splitting, made);
            }
            node = (uint32_t)splitting.rows.count;
        }
        if (ok)
            count_one(splitting.rows.data[node - 1], logged >> PD_HIST_LOG_MODE);
    }
    ok = ok && pd_vec_reserve(&event->rows, splitting.rows.count + 1);
    if (ok)
        take_rows(&splitting, event);
    pd_vec_free(&splitting.rows);
    pd_vec_free(&splitting.nodes);
    return ok;
}

/* The same among the rows themselves. */
static bool join_rows(struct sorting *sorting, struct pd_hist_event *event)
{
    struct splitting splitting = { .sorting = sorting };
    bool ok = true;
    for (size_t i = 0; ok && i < event->rows.count; i++) {
        uint32_t node = find_equal(&splitting, event->rows.data[i]);
        if (node)
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
        if (key_at(options, keys[i]))
            return true;
    return false;
}

/* Neither order is one: addresses are compared by their signed difference, and "the caller above the callee" holds only
 * within a thread. What comes out is what the trees make of it through which perf passes the rows: that of the
 * samples, that of the collapsed entries, that of the output. */
perfdata_status pd_hist_sort(const struct pd_hist *hist, struct pd_hist_result *result,
                             struct pd_hist_event *event, const uint8_t *order, size_t order_count,
                             size_t group_size)
{
    const struct pd_hist_options *options = &result->identities.options;
    struct sorting sorting = {
        .hist = &result->identities,
        .all = hist,
        .namespaces = hist->namespaces.data,
        .names = &hist->names,
        .order = order,
        .order_count = order_count,
        .group_size = group_size,
        .dso_is_key = key_at(options, PD_KEY_DSO) != 0,
        .has_chains = options->use_chains,
    };
    bool by_comm = key_at(options, PD_KEY_COMM);
    if (measures_what_is_met(options) && !(sorting.met = met_of(result, event)))
        return PERFDATA_ERROR_MEMORY;
    if (options->keeps_log &&
        (!split_rows(&sorting, result, event) || (by_comm && !join_rows(&sorting, event))))
        return PERFDATA_ERROR_MEMORY;
    size_t count = event->rows.count;
    struct pd_hist_row **rows = malloc((count + 1) * sizeof *rows);
    struct pd_rb_node *nodes = malloc((count + 1) * sizeof *nodes);
    sorting.rows = rows;
    bool ok = rows && nodes;
    if (ok && key_at(options, PD_KEY_FIELDS))
        ok = (sorting.fields_met = calloc(result->all.count + 1, sizeof *sorting.fields_met)) !=
             NULL;
    if (ok) {
        if (!options->keeps_log) {
            qsort_r(event->rows.data, count, sizeof *event->rows.data, compare_first, &sorting);
            pass_through_tree(&sorting, event, nodes, is_before_by_identity);
            if (by_comm)
                pass_through_tree(&sorting, event, nodes, is_before_by_identity);
        }
        pass_through_tree(&sorting, event, nodes, is_before_by_order);
    }
    free(rows);
    free(nodes);
    for (size_t i = 0; ok && sorting.fields_met && i < count; i++) {
        struct pd_hist_row *row = event->rows.data[i];
        bool twice = is_met(row);
        row->fields_met = twice ? UINT32_MAX : sorting.fields_met[row->index];
    }
    free(sorting.fields_met);
    free(sorting.met);
    return ok ? 0 : PERFDATA_ERROR_MEMORY;
}

uint64_t pd_hist_row_word(const struct pd_hist_result *result, const struct pd_hist_row *row,
                          uint8_t key)
{
    int at = key_at(&result->identities.options, key);
    return at ? pd_hist_key_of(&result->identities, row->index)[at] : 0;
}
