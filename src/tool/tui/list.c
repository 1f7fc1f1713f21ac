/* SPDX-License-Identifier: MIT */
/* Rows of a report as lines: filtered, folded, walked through. */
#include "tool/tui/list.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which rows ---- */

bool list_about(const struct list *list, size_t row, struct perfdata_report_row *out)
{
    *out = (struct perfdata_report_row){ .struct_size = sizeof *out };
    return row < list->count &&
           perfdata_report_row(list->report, list->table, list->rows[row].row, out) == PERFDATA_OK;
}

static bool is_shown(const struct list *list, const struct perfdata_report_row *row)
{
    const struct list_filter *filter = &list->filter;
    double whole = (double)list->about.period;
    if (*filter->symbol && (!row->symbol || !strstr(row->symbol, filter->symbol)))
        return false;
    if (*filter->object && strcmp(row->object, filter->object) != 0)
        return false;
    if (*filter->comm &&
        (filter->by_thread ? row->tid != filter->tid : strcmp(row->comm, filter->comm) != 0))
        return false;
    if (filter->kernel && !row->is_kernel)
        return false;
    return !(filter->percent > 0) || (double)row->children_period * 100 >= filter->percent * whole;
}

static void forget_rows(struct list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        perfdata_report_chains_free(list->rows[i].frames);
        free(list->rows[i].unfolded);
    }
    free(list->rows);
    list->rows = NULL;
    list->count = 0;
}

bool list_refill(struct list *list)
{
    forget_rows(list);
    list->top = list->cursor = (struct list_place){ 0, -1 };
    list->period = list->samples = 0;
    list->rows = calloc((size_t)list->about.row_count + 1, sizeof *list->rows);
    if (!list->rows)
        return false;
    for (uint32_t i = 0; i < list->about.row_count; i++) {
        struct perfdata_report_row row = { .struct_size = sizeof row };
        if (perfdata_report_row(list->report, list->table, i, &row) < 0 || !is_shown(list, &row))
            continue;
        list->rows[list->count++].row = i;
        list->period += row.period;
        list->samples += row.samples;
    }
    return true;
}

/* ---- what is kept from one report to the next ---- */

/* The same row in any report of this recording. */
static char *row_name(const struct list *list, size_t row)
{
    struct perfdata_report_row about;
    char *name = NULL;
    if (list_about(list, row, &about) &&
        asprintf(&name, "%s\n%s\n%s\n%llx", about.comm, about.object,
                 about.symbol ? about.symbol : "",
                 about.symbol ? 0ULL : (unsigned long long)about.address) < 0)
        name = NULL;
    return name;
}

static void forget_names(struct list *list)
{
    for (size_t i = 0; i < list->open_count; i++)
        free(list->open_names[i]);
    free(list->open_names);
    list->open_names = NULL;
    list->open_count = 0;
}

static void keep_names(struct list *list)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        count += list->rows[i].loaded && list->rows[i].open;
    char **names = calloc(count + 1, sizeof *names);
    if (!names)
        return;
    forget_names(list);
    list->open_names = names;
    for (size_t i = 0; i < list->count; i++)
        if (list->rows[i].loaded && list->rows[i].open &&
            (names[list->open_count] = row_name(list, i)) != NULL)
            list->open_count++;
}

static bool was_open(const struct list *list, size_t row)
{
    char *name = list->open_count ? row_name(list, row) : NULL;
    bool found = false;
    for (size_t i = 0; i < list->open_count && name && !found; i++)
        found = !strcmp(list->open_names[i], name);
    free(name);
    return found;
}

/* How far the cursor is below the top. */
static long distance(struct list *list)
{
    struct list_place at = list->top;
    long lines = 0;
    while ((at.row != list->cursor.row || at.frame != list->cursor.frame) && lines < 1000 &&
           list_next(list, &at))
        lines++;
    return lines;
}

bool list_set(struct list *list, perfdata_report *report, uint32_t table)
{
    bool same = list->report && list->table == table;
    char *at = same && (list->cursor.row || list->cursor.frame >= 0)
                   ? row_name(list, list->cursor.row)
                   : NULL;
    long below = at ? distance(list) : 0;
    if (same)
        keep_names(list);
    else
        forget_names(list);
    list->report = report;
    list->table = table;
    list->about = (struct perfdata_report_table){ .struct_size = sizeof list->about };
    bool ok = perfdata_report_table(report, table, &list->about) == PERFDATA_OK &&
              list_refill(list);
    for (size_t i = 0; at && i < list->count; i++) {
        char *name = row_name(list, i);
        bool found = name && !strcmp(name, at);
        free(name);
        if (!found)
            continue;
        list->top = list->cursor = (struct list_place){ i, -1 };
        while (below-- > 0 && list_before(list, &list->top))
            continue;
        break;
    }
    free(at);
    return ok;
}

void list_free(struct list *list)
{
    forget_rows(list);
    forget_names(list);
}

/* ---- chains ---- */

struct list_row *list_row(struct list *list, size_t index)
{
    if (index >= list->count)
        return NULL;
    struct list_row *row = &list->rows[index];
    if (row->loaded)
        return row;
    row->loaded = true;
    if (perfdata_report_chains(list->report, list->table, row->row, &row->frames, &row->count) < 0)
        row->count = 0;
    row->unfolded = calloc(row->count + 1, sizeof *row->unfolded);
    if (!row->unfolded)
        row->count = 0;
    bool known = was_open(list, index);
    row->open = row->count && (list->all_open || known);
    if (row->count)
        memset(row->unfolded, row->open, row->count * sizeof *row->unfolded);
    return row;
}

char list_sign(struct list *list, const struct list_place *place)
{
    const struct list_row *row = list_row(list, place->row);
    if (!row)
        return ' ';
    if (place->frame < 0)
        return !row->count ? ' ' : row->open ? '-' : '+';
    return !row->frames[place->frame].has_below ? ' ' : row->unfolded[place->frame] ? '-' : '+';
}

/* ---- walking ---- */

bool list_next(struct list *list, struct list_place *place)
{
    const struct list_row *row = list_row(list, place->row);
    if (!row)
        return false;
    size_t next = (size_t)(place->frame + 1);
    if (place->frame < 0 && !row->open)
        next = row->count;
    if (place->frame >= 0 && !row->unfolded[place->frame]) {
        uint32_t depth = row->frames[place->frame].depth;
        while (next < row->count && row->frames[next].depth > depth)
            next++;
    }
    if (next < row->count) {
        place->frame = (long)next;
        return true;
    }
    if (place->row + 1 >= list->count)
        return false;
    *place = (struct list_place){ place->row + 1, -1 };
    return true;
}

/* The frame itself, or what it is folded into. */
static long shown_frame(const struct list_row *row, size_t frame)
{
    long shown = (long)frame;
    for (uint32_t at = row->frames[frame].parent; at != UINT32_MAX; at = row->frames[at].parent)
        if (!row->unfolded[at])
            shown = (long)at;
    return shown;
}

bool list_before(struct list *list, struct list_place *place)
{
    if (place->frame == 0) {
        place->frame = -1;
        return true;
    }
    if (place->frame > 0) {
        place->frame = shown_frame(list_row(list, place->row), (size_t)place->frame - 1);
        return true;
    }
    if (!place->row)
        return false;
    const struct list_row *row = list_row(list, place->row - 1);
    *place = (struct list_place){ place->row - 1, -1 };
    if (row && row->open && row->count)
        place->frame = shown_frame(row, row->count - 1);
    return true;
}

static bool is_before(const struct list_place *a, const struct list_place *b)
{
    return a->row != b->row ? a->row < b->row : a->frame < b->frame;
}

void list_settle(struct list *list, int height)
{
    if (is_before(&list->cursor, &list->top))
        list->top = list->cursor;
    struct list_place at = list->top;
    for (int i = 0; i < height; i++) {
        if (at.row == list->cursor.row && at.frame == list->cursor.frame)
            return;
        if (!list_next(list, &at))
            return;
    }
    list->top = list->cursor;
    for (int i = 1; i < height && list_before(list, &list->top); i++)
        continue;
}

void list_move(struct list *list, long lines, int height)
{
    for (; lines > 0 && list_next(list, &list->cursor); lines--)
        continue;
    for (; lines < 0 && list_before(list, &list->cursor); lines++)
        continue;
    list_settle(list, height);
}

void list_home(struct list *list)
{
    list->top = list->cursor = (struct list_place){ 0, -1 };
}

void list_end(struct list *list, int height)
{
    if (!list->count)
        return;
    list->cursor = (struct list_place){ list->count - 1, -1 };
    while (list_next(list, &list->cursor))
        continue;
    list_settle(list, height);
}

/* ---- folding ---- */

/* The cursor's line may be folded away: the cursor then goes to the line that hides it. */
static void climb(struct list *list)
{
    const struct list_row *row = list_row(list, list->cursor.row);
    if (!row || list->cursor.frame < 0)
        return;
    list->cursor.frame = row->open ? shown_frame(row, (size_t)list->cursor.frame) : -1;
}

void list_toggle(struct list *list, bool deep)
{
    struct list_row *row = list_row(list, list->cursor.row);
    if (!row || !row->count)
        return;
    if (deep) {
        row->open = !row->open;
        memset(row->unfolded, row->open, row->count * sizeof *row->unfolded);
    } else if (list->cursor.frame < 0) {
        row->open = !row->open;
    } else if (row->frames[list->cursor.frame].has_below) {
        row->unfolded[list->cursor.frame] = !row->unfolded[list->cursor.frame];
    }
    climb(list);
}

void list_fold_all(struct list *list, bool open)
{
    list->all_open = open;
    forget_names(list);
    for (size_t i = 0; i < list->count; i++) {
        struct list_row *row = &list->rows[i];
        if (!row->loaded || !row->count)
            continue;
        row->open = open;
        memset(row->unfolded, open, row->count * sizeof *row->unfolded);
    }
    climb(list);
    list->top = list->cursor;
}

bool list_find(struct list *list, const char *text, int height)
{
    for (size_t i = 1; i <= list->count; i++) {
        struct perfdata_report_row row;
        size_t at = (list->cursor.row + i) % list->count;
        if (!list_about(list, at, &row) ||
            (!(row.symbol && strstr(row.symbol, text)) && !strstr(row.object, text)))
            continue;
        list->cursor = (struct list_place){ at, -1 };
        list_settle(list, height);
        return true;
    }
    return false;
}
