/* SPDX-License-Identifier: MIT */
/* Rows that perf looks for and does not find. It compares addresses without a symbol by their
 * signed difference, which is no order where what a stack held lies far apart; so a turn of its
 * tree can hide a row from the way to it. The next sample then makes the row again, which shifts
 * the tree, and may be the one that is kept when both are joined.
 *
 * Rows enter once, when their first sample comes. A turn puts a node above others: only those that
 * now would go past it are missed. All later samples of these, and no others, are looked up. */
#include "analyse/misses.h"
#include <stdlib.h>

/* A node of the tree: a row, or the same row once more. */
struct met {
    uint32_t row;
    uint32_t visit; /* what brought it once more; PD_HIST_NONE: the row's own first sample */
    uint32_t position, max_depth;
};

/* A row's place in the stack of a pair. */
struct occurrence {
    uint32_t row, pair, position, depth;
};

struct look_up {
    uint64_t number;
    uint32_t position, row, visit, depth;
};

struct meeting {
    const struct pd_hist_misses *of;
    PD_VEC(struct pd_rb_node) nodes;
    PD_VEC(struct met) met;       /* by node - 1 */
    PD_VEC(struct pd_rank) ranks; /* the same; none without of->ranks */
    struct pd_rb_tree tree;
    bool *missed;                 /* per row */
    PD_VEC(uint32_t) fresh;       /* rows that are missed since the last turns */
    PD_VEC(struct look_up) ahead; /* of rows that are missed: a heap */
    uint32_t *place_of;           /* index in the result -> row */
    uint32_t *node_of;            /* row -> its first node */
    PD_VEC(struct occurrence) occurrences;
    uint32_t *first_occurrence;     /* per row and behind the last; NULL: not yet made */
    uint32_t *first_visit, *visits; /* per pair and behind the last; all by pair */
    uint32_t last_pair;
    bool failed;
};

static const struct pd_hist *hist_of(const struct meeting *meeting)
{
    return meeting->of->sorting->all;
}

static uint32_t row_at(const struct meeting *meeting, uint32_t node)
{
    return meeting->met.data[node - 1].row;
}

/* ---- the tree ---- */

static int compare_nodes(const struct meeting *meeting, uint32_t row, uint32_t node)
{
    const struct pd_hist_misses *of = meeting->of;
    uint32_t other = row_at(meeting, node);
    if (of->ranks)
        return pd_rank_compare(&of->ranks[row], &meeting->ranks.data[node - 1]);
    return row == other ? 0 : of->compare(of->data, row, other);
}

/* Where a walk down the tree has ended. */
struct way {
    uint32_t equal; /* a row that compares equal; 0: none, and the row belongs below `parent` */
    uint32_t parent;
    bool left;
};

/* `rank`: the row's, NULL where rows have none. Most of the time goes here, where they have ranks:
 * neither calls nor detours over rows. */
PD_INLINE struct way walk_down(const struct meeting *meeting, uint32_t row,
                               const struct pd_rank *rank, bool stops)
{
    const struct pd_rb_node *nodes = meeting->nodes.data;
    const struct pd_rank *ranks = meeting->ranks.data;
    struct way way = { 0 };
    for (uint32_t at = meeting->tree.root; at;) {
        int result = rank ? pd_rank_compare(rank, &ranks[at - 1]) : compare_nodes(meeting, row, at);
        if (stops && !result) {
            way.equal = at;
            break;
        }
        way.parent = at;
        way.left = result < 0;
        at = way.left ? nodes[at].left : nodes[at].right;
    }
    return way;
}

/* `stops`: at an equal row, which perf finds; else behind it. */
static struct way walk(const struct meeting *meeting, uint32_t row, bool stops)
{
    if (!meeting->of->ranks)
        return walk_down(meeting, row, NULL, stops);
    const struct pd_rank rank = meeting->of->ranks[row];
    return walk_down(meeting, row, &rank, stops);
}

static uint32_t find(const struct meeting *meeting, uint32_t row)
{
    return walk(meeting, row, true).equal;
}

static void miss_unless_found(struct meeting *meeting, uint32_t node, uint32_t up, bool is_left)
{
    uint32_t row = row_at(meeting, node);
    if (!meeting->of->may_be_missed[row] || meeting->missed[row])
        return;
    int result = compare_nodes(meeting, row, up);
    if (!result || (result < 0) == is_left)
        return;
    meeting->missed[row] = true;
    meeting->failed |= !pd_vec_push(&meeting->fresh, row);
}

/* `up` now stands above `down` and all on the outer side of it. */
static void turned(void *data, uint32_t down, uint32_t up, bool is_left)
{
    struct meeting *meeting = data;
    const struct pd_rb_node *nodes = meeting->nodes.data;
    if (!meeting->of->may_be_missed[row_at(meeting, down)] ||
        !meeting->of->may_be_missed[row_at(meeting, up)])
        return;
    miss_unless_found(meeting, down, up, is_left);
    uint32_t first = is_left ? nodes[down].left : nodes[down].right, last = first;
    while (first && nodes[first].left)
        first = nodes[first].left;
    while (last && nodes[last].right)
        last = nodes[last].right;
    for (uint32_t node = first; node; node = node == last ? 0 : pd_rb_next(&meeting->tree, node))
        miss_unless_found(meeting, node, up, is_left);
}

static bool add_node(struct meeting *meeting, struct met met)
{
    static const struct pd_rb_node none = { 0 };
    const struct pd_rank *ranks = meeting->of->ranks;
    if (!pd_vec_push(&meeting->nodes, none) || !pd_vec_push(&meeting->met, met) ||
        (ranks && !pd_vec_push(&meeting->ranks, ranks[met.row]))) {
        meeting->failed = true;
        return false;
    }
    meeting->tree.nodes = meeting->nodes.data;
    struct way way = walk(meeting, met.row, false);
    pd_rb_link(&meeting->tree, (uint32_t)meeting->met.count, way.parent, way.left);
    return true;
}

/* ---- when rows that are missed are looked up ---- */

static void note_occurrence(void *data, uint32_t index, uint32_t entry, uint32_t cell)
{
    struct meeting *meeting = data;
    const struct pd_hist *hist = hist_of(meeting);
    const struct pd_hist_pair *pair = &hist->pairs.data[index];
    bool is_own = entry == pair->entry && meeting->last_pair != index;
    uint32_t depth = hist->cells.data[cell].depth,
             row = meeting->place_of[meeting->of->sorting->row_of_entry[entry]];
    meeting->last_pair = index;
    if (row == PD_HIST_NONE || !meeting->of->may_be_missed[row])
        return;
    struct occurrence occurrence = { row, index, 0, depth };
    if (!is_own)
        occurrence.position = hist->cells.data[pair->cell].depth - depth + 1;
    meeting->failed |= !pd_vec_push(&meeting->occurrences, occurrence);
}

/* From how many each has to where each begins; `begin` has room for one more. */
static void add_up(uint32_t *begin, size_t count)
{
    uint32_t sum = 0;
    for (size_t i = 0; i <= count; i++) {
        uint32_t here = begin[i];
        begin[i] = sum;
        sum += here;
    }
}

static bool index_visits(struct meeting *meeting)
{
    const struct pd_hist *hist = hist_of(meeting);
    size_t pairs = hist->pairs.count;
    meeting->first_visit = calloc(pairs + 2, sizeof *meeting->first_visit);
    meeting->visits = malloc((hist->visits.count + 1) * sizeof *meeting->visits);
    if (!meeting->first_visit || !meeting->visits)
        return false;
    for (size_t i = 0; i < hist->visits.count; i++)
        meeting->first_visit[hist->visits.data[i].pair + 1]++;
    add_up(meeting->first_visit + 1, pairs);
    for (size_t i = 0; i < hist->visits.count; i++)
        meeting->visits[meeting->first_visit[hist->visits.data[i].pair + 1]++] = (uint32_t)i;
    return true;
}

static bool index_occurrences(struct meeting *meeting)
{
    const struct pd_hist *hist = hist_of(meeting);
    size_t rows = meeting->of->count;
    bool *frames = calloc(hist->frames.count + 1, sizeof *frames);
    struct pd_hist_climb climb = { .frames = frames };
    bool ok = frames != NULL;
    for (size_t i = 0; ok && i < hist->frames.count; i++)
        frames[i] = !hist->frames.data[i].symbol;
    meeting->last_pair = PD_HIST_NONE;
    for (uint32_t i = 0; ok && i < hist->pairs.count; i++)
        if (meeting->first_visit[i] != meeting->first_visit[i + 1])
            ok = pd_hist_climb(hist, &climb, i, note_occurrence, meeting) == 0 && !meeting->failed;
    struct occurrence *sorted = malloc((meeting->occurrences.count + 1) * sizeof *sorted);
    uint32_t *begin = meeting->first_occurrence = calloc(rows + 2, sizeof *begin);
    ok = ok && sorted && begin;
    for (size_t i = 0; ok && i < meeting->occurrences.count; i++)
        begin[meeting->occurrences.data[i].row + 1]++;
    if (ok)
        add_up(begin + 1, rows);
    for (size_t i = 0; ok && i < meeting->occurrences.count; i++)
        sorted[begin[meeting->occurrences.data[i].row + 1]++] = meeting->occurrences.data[i];
    if (ok && meeting->occurrences.count)
        memcpy(meeting->occurrences.data, sorted, meeting->occurrences.count * sizeof *sorted);
    free(sorted);
    free(frames);
    pd_vec_free(&climb.seen);
    return ok;
}

static bool comes_before(const struct look_up *a, const struct look_up *b)
{
    return a->number != b->number ? a->number < b->number : a->position < b->position;
}

static void look_up_later(struct meeting *meeting, struct look_up look_up)
{
    size_t at = meeting->ahead.count;
    if (!pd_vec_push(&meeting->ahead, look_up)) {
        meeting->failed = true;
        return;
    }
    struct look_up *heap = meeting->ahead.data;
    for (; at && comes_before(&look_up, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = look_up;
}

static struct look_up take_next(struct meeting *meeting)
{
    struct look_up *heap = meeting->ahead.data, next = heap[0];
    size_t count = --meeting->ahead.count, at = 0;
    struct look_up moved = heap[count];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && comes_before(&heap[child + 1], &heap[child]);
        if (!comes_before(&heap[child], &moved))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
    return next;
}

/* Expects all look-ups of a row after `now`; samples before that were counted in the row's own
 * node. */
static void expect(struct meeting *meeting, uint32_t row, const struct look_up *now)
{
    const struct pd_hist *hist = hist_of(meeting);
    struct met *own = &meeting->met.data[meeting->node_of[row] - 1];
    for (uint32_t i = meeting->first_occurrence[row]; i < meeting->first_occurrence[row + 1]; i++) {
        const struct occurrence *occurrence = &meeting->occurrences.data[i];
        uint32_t end = meeting->first_visit[occurrence->pair + 1];
        for (uint32_t v = meeting->first_visit[occurrence->pair]; v < end; v++) {
            struct look_up look_up = { hist->visits.data[meeting->visits[v]].number,
                                       occurrence->position, row, meeting->visits[v],
                                       occurrence->depth };
            if (comes_before(now, &look_up))
                look_up_later(meeting, look_up);
            else
                own->max_depth = PD_MAX(own->max_depth, look_up.depth);
        }
    }
}

static void expect_missed(struct meeting *meeting, const struct look_up *now)
{
    if (meeting->fresh.count && !meeting->first_occurrence)
        meeting->failed |= !index_visits(meeting) || !index_occurrences(meeting);
    for (size_t i = 0; i < meeting->fresh.count && !meeting->failed; i++)
        expect(meeting, meeting->fresh.data[i], now);
    meeting->fresh.count = 0;
}

/* ---- all samples in turn ---- */

static void take_first(struct meeting *meeting, uint32_t row)
{
    const struct pd_hist_first *first = &meeting->of->rows[row]->entry->first;
    struct look_up now = { .number = first->number, .position = first->position };
    meeting->node_of[row] = (uint32_t)meeting->met.count + 1;
    if (add_node(meeting, (struct met){ .row = row, .visit = PD_HIST_NONE }))
        expect_missed(meeting, &now);
}

static void take_again(struct meeting *meeting, const struct look_up *now)
{
    uint32_t node = find(meeting, now->row);
    if (node) {
        struct met *met = &meeting->met.data[node - 1];
        met->max_depth = PD_MAX(met->max_depth, now->depth);
        return;
    }
    struct met again = { now->row, now->visit, now->position, now->depth };
    if (add_node(meeting, again))
        expect_missed(meeting, now);
}

static bool is_next(const struct meeting *meeting, uint32_t row)
{
    const struct pd_hist_first *first = &meeting->of->rows[row]->entry->first;
    const struct look_up look_up = { .number = first->number, .position = first->position };
    return !meeting->ahead.count || comes_before(&look_up, &meeting->ahead.data[0]);
}

static void take_all(struct meeting *meeting)
{
    const struct pd_hist_misses *of = meeting->of;
    for (size_t i = 0; !meeting->failed && (i < of->count || meeting->ahead.count);) {
        if (i < of->count && is_next(meeting, of->order[i])) {
            take_first(meeting, of->order[i++]);
            continue;
        }
        struct look_up now = take_next(meeting);
        take_again(meeting, &now);
    }
}

/* ---- what is left ---- */

/* The nodes in the order of perf's tree of samples, each once. False: no memory. */
static bool list_nodes(struct meeting *meeting, struct met **list)
{
    size_t count = 0;
    *list = malloc((meeting->met.count + 1) * sizeof **list);
    if (!*list)
        return false;
    for (uint32_t node = pd_rb_first(&meeting->tree); node; node = pd_rb_next(&meeting->tree, node))
        (*list)[count++] = meeting->met.data[node - 1];
    return true;
}

/* The tree of joined rows, which the nodes of the first one enter in its order. */
static bool join_nodes(struct meeting *meeting)
{
    struct met *list;
    size_t count = meeting->met.count;
    if (!list_nodes(meeting, &list))
        return false;
    meeting->tree = (struct pd_rb_tree){ .nodes = meeting->nodes.data };
    meeting->met.count = meeting->ranks.count = 0;
    meeting->nodes.count = 1;
    for (size_t i = 0; i < count && !meeting->failed; i++)
        if (!meeting->missed[list[i].row] || !find(meeting, list[i].row))
            add_node(meeting, list[i]);
    free(list);
    return !meeting->failed;
}

/* The level of the frame at the node's position, as it comes from the sample and the maps of the
 * frames before. */
static char level_of(const struct pd_hist *hist, const struct pd_hist_visit *visit,
                     uint32_t position)
{
    char level = visit->level;
    uint32_t cell = hist->pairs.data[visit->pair].cell;
    for (; position && cell != PD_HIST_NONE; position--, cell = hist->cells.data[cell].next)
        level = pd_hist_frame_level(&hist->frames.data[hist->cells.data[cell].frame], level);
    return level;
}

/* A row shows what its first node in order brought. */
static bool show_met(struct meeting *meeting, const struct met *met)
{
    const struct pd_hist *hist = hist_of(meeting);
    struct pd_hist_row *row = meeting->of->rows[met->row];
    if (!meeting->missed[met->row])
        return true;
    row->max_depth = met->max_depth;
    if (met->visit == PD_HIST_NONE)
        return true;
    const struct pd_hist_visit *visit = &hist->visits.data[met->visit];
    struct pd_hist_entry *entry = pd_arena_alloc(meeting->of->sorting->arena, sizeof *entry);
    if (!entry)
        return false;
    *entry = *row->entry;
    entry->first.thread = visit->thread;
    entry->first.level = level_of(hist, visit, met->position);
    row->entry = entry;
    return true;
}

/* perf shows a row that is still there twice as two rows; here it is one, at the place of the
 * first. */
static bool give_order(struct meeting *meeting)
{
    size_t to = 0;
    bool *given = calloc(meeting->of->count + 1, sizeof *given), ok = given != NULL;
    for (uint32_t node = ok ? pd_rb_first(&meeting->tree) : 0; node && ok;
         node = pd_rb_next(&meeting->tree, node)) {
        const struct met *met = &meeting->met.data[node - 1];
        if (given[met->row])
            continue;
        given[met->row] = true;
        meeting->of->order[to++] = met->row;
        ok = show_met(meeting, met);
    }
    free(given);
    return ok;
}

static bool begin(struct meeting *meeting)
{
    static const struct pd_rb_node none = { 0 };
    const struct pd_hist_misses *of = meeting->of;
    size_t all = of->sorting->hist->entries.count;
    meeting->tree.turned = turned;
    meeting->tree.data = meeting;
    meeting->missed = calloc(of->count + 1, sizeof *meeting->missed);
    meeting->node_of = calloc(of->count + 1, sizeof *meeting->node_of);
    meeting->place_of = malloc((all + 1) * sizeof *meeting->place_of);
    if (!meeting->missed || !meeting->node_of || !meeting->place_of ||
        !pd_vec_reserve(&meeting->nodes, of->count + 1) ||
        !pd_vec_reserve(&meeting->met, of->count + 1) ||
        (of->ranks && !pd_vec_reserve(&meeting->ranks, of->count + 1)) ||
        !pd_vec_push(&meeting->nodes, none))
        return false;
    memset(meeting->place_of, 0xff, all * sizeof *meeting->place_of);
    for (size_t i = 0; i < of->count; i++)
        meeting->place_of[of->rows[i]->index] = (uint32_t)i;
    return true;
}

bool pd_hist_order_with_misses(const struct pd_hist_misses *misses, bool joined)
{
    struct meeting meeting = { .of = misses };
    bool ok = begin(&meeting);
    if (ok)
        take_all(&meeting);
    ok = ok && !meeting.failed && (!joined || join_nodes(&meeting)) && give_order(&meeting);
    pd_vec_free(&meeting.nodes);
    pd_vec_free(&meeting.met);
    pd_vec_free(&meeting.ranks);
    pd_vec_free(&meeting.fresh);
    pd_vec_free(&meeting.ahead);
    pd_vec_free(&meeting.occurrences);
    free(meeting.missed);
    free(meeting.place_of);
    free(meeting.node_of);
    free(meeting.first_occurrence);
    free(meeting.first_visit);
    free(meeting.visits);
    return ok;
}
