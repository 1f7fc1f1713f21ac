/* SPDX-License-Identifier: MIT */
/* Rows -> runs that are sorted by thread and event, each a block of columns in memory or in a
 * temporary file -> groups, merged from the runs. Since groups are read in the order of the runs,
 * each column of a run is read from front to back. */
#include "convert/thread_rows.h"
#include "base/vec.h"
#include "convert/convert.h"
#include "io/at.h"
#include "io/temporary.h"
#include "order/queue.h"
#include <stdlib.h>
#include <unistd.h>

/* A piece that is read at once: whole values of each size. */
enum { BLOCK = 24 * 1024, GROUPS = PD_THREAD_COLUMNS, CURSORS };

/* A group as it stands in a run. */
struct head {
    uint32_t thread, event, count;
};

static const uint8_t sizes[CURSORS] = {
    [PD_THREAD_STACK] = 4,      [PD_THREAD_TIME] = 8,           [PD_THREAD_WEIGHT] = 8,
    [PD_THREAD_TIME_AGAIN] = 8, [GROUPS] = sizeof(struct head),
};

struct cursor {
    const uint8_t *next; /* of what is in memory */
    size_t left;
    uint64_t at, end; /* in the file: what is not in memory */
    uint8_t *buffer;
};

struct run {
    uint8_t *memory; /* NULL: it is in the file */
    uint32_t count;  /* of the group that comes next */
    struct cursor cursors[CURSORS];
};

/* The rows of a group that one run has. */
struct part {
    size_t run;
    uint64_t count;
};

struct place {
    size_t part;
    uint64_t taken; /* of the part's rows */
};

struct pd_thread_rows {
    struct pd_thread_row *pending;
    size_t count, capacity;
    uint32_t *by_event, *order; /* room to sort them, and for the block that they become: */
    uint8_t *block;             /* kept, since new pages for each run cost as much as its rows */
    uint32_t last_thread, last_event; /* the largest numbers among the pending rows */
    int fd;                           /* -1: nothing was written */
    uint64_t file_size;
    PD_VEC(struct run) runs;
    PD_VEC(struct pd_queue_head) heap; /* runs by the thread and event of their next group */
    PD_VEC(struct part) parts;         /* of the group, by run: in the order of delivery */
    struct place places[PD_THREAD_COLUMNS];
};

struct pd_thread_rows *pd_thread_rows_new(size_t run)
{
    struct pd_thread_rows *rows = pd_memory_noted(calloc(1, sizeof *rows));
    if (!rows)
        return NULL;
    rows->fd = -1;
    rows->capacity = run;
    rows->pending = pd_memory_noted(malloc(run * sizeof *rows->pending));
    if (rows->pending)
        return rows;
    pd_thread_rows_free(rows);
    return NULL;
}

static void free_room(struct pd_thread_rows *rows)
{
    free(rows->pending);
    free(rows->by_event);
    free(rows->order);
    free(rows->block);
    rows->pending = NULL;
    rows->by_event = rows->order = NULL;
    rows->block = NULL;
}

void pd_thread_rows_free(struct pd_thread_rows *rows)
{
    if (!rows)
        return;
    for (size_t i = 0; i < rows->runs.count; i++) {
        for (size_t k = 0; k < CURSORS; k++)
            free(rows->runs.data[i].cursors[k].buffer);
        free(rows->runs.data[i].memory);
    }
    pd_vec_free(&rows->runs);
    pd_vec_free(&rows->heap);
    pd_vec_free(&rows->parts);
    if (rows->fd >= 0)
        close(rows->fd);
    free_room(rows);
    free(rows);
}

/* ---- writing ---- */

static bool make_room(struct pd_thread_rows *rows)
{
    const size_t most = rows->capacity;
    if (!rows->by_event)
        rows->by_event = pd_memory_noted(malloc(most * sizeof *rows->by_event));
    if (!rows->order)
        rows->order = pd_memory_noted(malloc(most * sizeof *rows->order));
    if (!rows->block)
        rows->block = pd_memory_noted(malloc(most * (20 + sizeof(struct head))));
    return rows->by_event && rows->order && rows->block &&
           pd_vec_reserve(&rows->runs, rows->runs.count + 1);
}

static bool sort_pending(const struct pd_thread_rows *rows)
{
    const struct pd_thread_row *pending = rows->pending;
    size_t *begin = pd_convert_sort(&pending->event, sizeof *pending, rows->count,
                                    (size_t)rows->last_event + 1, NULL, rows->by_event);
    bool ok = begin;
    free(begin);
    if (ok)
        begin = pd_convert_sort(&pending->thread, sizeof *pending, rows->count,
                                (size_t)rows->last_thread + 1, rows->by_event, rows->order);
    ok = ok && begin;
    if (ok)
        free(begin);
    return ok;
}

/* Columns one behind the other, in the order of their cursors but for the second times. Returns how
 * many groups there are. */
static size_t fill_block(const struct pd_thread_rows *rows)
{
    size_t count = rows->count;
    uint64_t *times = (uint64_t *)(void *)rows->block, *weights = times + count;
    uint32_t *stacks = (uint32_t *)(void *)(weights + count);
    struct head *first = (struct head *)(void *)(stacks + count), *head = first;
    for (size_t i = 0; i < count; i++) {
        const struct pd_thread_row *row = &rows->pending[rows->order[i]];
        times[i] = row->time;
        weights[i] = row->weight;
        stacks[i] = row->stack;
        if (i && head->thread == row->thread && head->event == row->event) {
            head->count++;
            continue;
        }
        head += i != 0;
        *head = (struct head){ row->thread, row->event, 1 };
    }
    return (size_t)(head - first) + 1;
}

static bool write_block(struct pd_thread_rows *rows, const uint8_t *block, size_t size)
{
    if (rows->fd < 0)
        rows->fd = pd_temporary_file();
    return rows->fd >= 0 && pd_write_at(rows->fd, rows->file_size, block, size);
}

/* The pending rows become a run. `keep`: one that will be read at once. */
static bool end_run(struct pd_thread_rows *rows, bool keep)
{
    if (!rows->count)
        return true;
    if (!make_room(rows) || !sort_pending(rows))
        return false;
    const size_t groups = fill_block(rows);
    uint8_t *block = rows->block;
    const uint64_t count = rows->count;
    const uint64_t from[CURSORS] = {
        [PD_THREAD_WEIGHT] = count * 8, [PD_THREAD_STACK] = count * 16, [GROUPS] = count * 20
    };
    size_t size = (size_t)(count * 20) + groups * sizeof(struct head);
    bool written = !keep && write_block(rows, block, size);
    struct run run = { .memory = written ? NULL : block };
    for (size_t i = 0; i < CURSORS; i++) {
        uint64_t bytes = (i == GROUPS ? groups : count) * sizes[i];
        uint64_t at = rows->file_size + from[i];
        run.cursors[i] = written
                             ? (struct cursor){ .at = at, .end = at + bytes }
                             : (struct cursor){ .next = block + from[i], .left = (size_t)bytes };
    }
    if (written)
        rows->file_size += size;
    else
        rows->block = NULL; /* the run's */
    rows->runs.data[rows->runs.count++] = run;
    rows->count = rows->last_thread = rows->last_event = 0;
    return true;
}

bool pd_thread_rows_add(struct pd_thread_rows *rows, const struct pd_thread_row *row)
{
    if (rows->count == rows->capacity && !end_run(rows, false))
        return false;
    rows->pending[rows->count++] = *row;
    rows->last_thread = PD_MAX(rows->last_thread, row->thread);
    rows->last_event = PD_MAX(rows->last_event, row->event);
    return true;
}

/* ---- reading ---- */

/* 1: at least one value is in memory, 0: there is none left, < 0: a status. */
static int fill(const struct pd_thread_rows *rows, struct cursor *cursor)
{
    if (cursor->left)
        return 1;
    if (cursor->at == cursor->end)
        return 0;
    size_t size = (size_t)PD_MIN((uint64_t)BLOCK, cursor->end - cursor->at), got = 0;
    if (!cursor->buffer && !(cursor->buffer = pd_memory_noted(malloc(size))))
        return PERFDATA_ERROR_MEMORY;
    if (pd_read_at(rows->fd, cursor->at, cursor->buffer, size, &got) || got < size)
        return PERFDATA_ERROR_IO;
    cursor->next = cursor->buffer;
    cursor->left = size;
    cursor->at += size;
    return 1;
}

static void skip(struct cursor *cursor, uint64_t size)
{
    size_t piece = (size_t)PD_MIN(size, (uint64_t)cursor->left);
    cursor->next += piece;
    cursor->left -= piece;
    cursor->at += size - piece;
}

/* Makes the next group of a run known; as fill(). */
static int next_head(struct pd_thread_rows *rows, size_t number, struct pd_queue_head *out)
{
    struct run *run = &rows->runs.data[number];
    struct cursor *cursor = &run->cursors[GROUPS];
    int got = fill(rows, cursor);
    if (got <= 0)
        return got;
    const struct head *head = (const struct head *)(const void *)cursor->next;
    *out = (struct pd_queue_head){ (uint64_t)head->thread << 32 | head->event, number };
    run->count = head->count;
    skip(cursor, sizeof *head);
    return 1;
}

int pd_thread_rows_end(struct pd_thread_rows *rows)
{
    bool ok = end_run(rows, true) && pd_vec_reserve(&rows->heap, rows->runs.count) &&
              pd_vec_reserve(&rows->parts, rows->runs.count);
    free_room(rows);
    if (!ok)
        return PERFDATA_ERROR_MEMORY;
    for (size_t i = 0; i < rows->runs.count; i++) {
        int got = next_head(rows, i, &rows->heap.data[i]);
        if (got < 0)
            return got;
        rows->heap.count++; /* no run is empty */
    }
    for (size_t i = rows->heap.count / 2; i-- > 0;)
        pd_queue_sift(rows->heap.data, rows->heap.count, i, rows->heap.data[i]);
    return 0;
}

/* Passes over what was not read of the group before. */
static void skip_rest(struct pd_thread_rows *rows)
{
    for (size_t column = 0; column < PD_THREAD_COLUMNS; column++) {
        struct place *place = &rows->places[column];
        for (; place->part < rows->parts.count; place->part++, place->taken = 0) {
            const struct part *part = &rows->parts.data[place->part];
            skip(&rows->runs.data[part->run].cursors[column],
                 (part->count - place->taken) * sizes[column]);
        }
        *place = (struct place){ 0 };
    }
    rows->parts.count = 0;
}

int pd_thread_rows_next(struct pd_thread_rows *rows, struct pd_thread_group *group)
{
    struct pd_queue_head *heap = rows->heap.data;
    skip_rest(rows);
    if (!rows->heap.count)
        return 0;
    const uint64_t key = heap[0].time;
    *group = (struct pd_thread_group){ (uint32_t)(key >> 32), (uint32_t)key, 0 };
    while (rows->heap.count && heap[0].time == key) {
        size_t run = heap[0].run;
        uint64_t count = rows->runs.data[run].count;
        rows->parts.data[rows->parts.count++] = (struct part){ run, count };
        group->count += count;
        struct pd_queue_head value = { 0 };
        int got = next_head(rows, run, &value);
        if (got < 0)
            return got;
        if (!got)
            value = heap[--rows->heap.count];
        if (rows->heap.count)
            pd_queue_sift(heap, rows->heap.count, 0, value);
    }
    return 1;
}

int pd_thread_rows_values(struct pd_thread_rows *rows, enum pd_thread_column column,
                          const void **values, size_t *count)
{
    struct place *place = &rows->places[column];
    for (; place->part < rows->parts.count; place->part++, place->taken = 0) {
        const struct part *part = &rows->parts.data[place->part];
        if (place->taken == part->count)
            continue;
        struct cursor *cursor = &rows->runs.data[part->run].cursors[column];
        int got = fill(rows, cursor);
        if (got <= 0)
            return got < 0 ? got : PERFDATA_ERROR_IO;
        *values = cursor->next;
        *count = (size_t)PD_MIN(part->count - place->taken,
                                (uint64_t)(cursor->left / sizes[column]));
        skip(cursor, (uint64_t)*count * sizes[column]);
        place->taken += *count;
        return 1;
    }
    return 0;
}
