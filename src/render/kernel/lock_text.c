/* SPDX-License-Identifier: MIT */
/* `lock`: the tables of locks and of who waited for them. */
#include "base/intern.h"
#include "render/kernel/lock.h"
#include <stdio.h>
#include <stdlib.h>

enum { TABLE_BITS = 12 };

/* ---- columns ---- */

static uint64_t acquired(const struct pd_lock *lock)
{
    return lock->acquired;
}
static uint64_t contended(const struct pd_lock *lock)
{
    return lock->contended;
}
static uint64_t average(const struct pd_lock *lock)
{
    return lock->acquired ? lock->total / lock->acquired : 0;
}
static uint64_t total(const struct pd_lock *lock)
{
    return lock->total;
}
static uint64_t longest(const struct pd_lock *lock)
{
    return lock->longest;
}
static uint64_t shortest(const struct pd_lock *lock)
{
    return lock->shortest == UINT64_MAX ? 0 : lock->shortest;
}

static const struct pd_lock_column {
    const char *key, *title;
    int width;
    bool is_time;
    uint64_t (*value)(const struct pd_lock *lock);
} columns[] = {
    { "acquired", "acquired", 10, false, acquired },
    { "contended", "contended", 10, false, contended },
    { "avg_wait", "avg wait", 12, true, average },
    { "wait_total", "total wait", 12, true, total },
    { "wait_max", "max wait", 12, true, longest },
    { "wait_min", "min wait", 12, true, shortest },
};

static void put_time(struct pd_text *out, uint64_t time, int width)
{
    static const struct {
        float base;
        const char *unit;
    } units[] = {
        { 3600e9F, "h " }, { 60e9F, "m " }, { 1e9F, "s " }, { 1e6F, "ms" }, { 1e3F, "us" }
    };
    for (size_t i = 0; i < PD_LENGTH(units); i++) {
        if ((float)time < units[i].base)
            continue;
        pd_text_format(out, "%*.2f %s", width - 3, (double)((float)time / units[i].base),
                       units[i].unit);
        return;
    }
    pd_text_format(out, "%*llu ns", width - 3, (unsigned long long)time);
}

static const struct pd_lock_column *find_column(const char *text, size_t length)
{
    for (size_t i = 0; i < PD_LENGTH(columns); i++)
        if (strlen(columns[i].key) == length && !memcmp(columns[i].key, text, length))
            return &columns[i];
    return NULL;
}

static bool shows(const struct pd_lock_layout *layout, const struct pd_lock_column *column)
{
    for (const struct pd_lock_column *const *at = layout->shown; *at; at++)
        if (*at == column)
            return true;
    return false;
}

static perfdata_status add_column(struct pd_context *context, const char *text, size_t length,
                                  bool acquisitions, struct pd_lock_layout *layout)
{
    size_t count = 0;
    const struct pd_lock_column *column = find_column(text, length);
    if (!column || (!acquisitions && column == &columns[0]))
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "Unknown output field: %.*s",
                       (int)length, text);
    while (layout->shown[count])
        count++;
    if (count < PD_LOCK_KEYS && !shows(layout, column))
        layout->shown[count] = column;
    return PERFDATA_OK;
}

/* The columns that were asked for, in that order, then the one that rows are sorted by. */
perfdata_status pd_lock_make_layout(const struct perfdata_lock_options *options,
                                    struct pd_context *context, struct pd_lock_layout *layout)
{
    bool waits = options->view == PERFDATA_LOCK_CONTENTION;
    const char *fields = options->fields ? options->fields
                         : waits         ? "contended,wait_total,wait_max,avg_wait"
                                 : "acquired,contended,avg_wait,wait_total,wait_max,wait_min";
    const char *key = options->sort ? options->sort : waits ? "wait_total" : "acquired";
    *layout = (struct pd_lock_layout){ .sort = find_column(key, strlen(key)) };
    if (!layout->sort || (waits && layout->sort == &columns[0]))
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "Unknown compare key: %s", key);
    perfdata_status status = PERFDATA_OK;
    for (size_t length; *(fields += strspn(fields, ", ")) && status >= 0; fields += length) {
        length = strcspn(fields, ", ");
        status = add_column(context, fields, length, !waits, layout);
    }
    return status < 0 ? status : add_column(context, key, strlen(key), !waits, layout);
}

/* ---- tables ---- */

struct sorted {
    const struct pd_lock *lock;
    const struct pd_lock_column *sort;
};

/* The order of perf's hash table: by slot, and in each slot the newest first. */
static int in_table(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    uint64_t m = pd_lock_mix(x->lock->key) >> (64 - TABLE_BITS);
    uint64_t n = pd_lock_mix(y->lock->key) >> (64 - TABLE_BITS);
    if (m != n)
        return m < n ? -1 : 1;
    return x->lock < y->lock ? 1 : -(x->lock > y->lock);
}

static int largest_first(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    uint64_t m = x->sort->value(x->lock), n = x->sort->value(y->lock);
    return m != n ? m < n ? 1 : -1 : in_table(a, b);
}

static struct sorted *sort_locks(struct pd_locks *locks, const struct pd_lock_column *sort)
{
    struct sorted *rows = calloc(locks->all.count + 1, sizeof *rows);
    for (size_t i = 0; rows && i < locks->all.count; i++)
        rows[i] = (struct sorted){ &locks->all.data[i], sort };
    if (rows)
        qsort(rows, locks->all.count, sizeof *rows, largest_first);
    return rows;
}

static void join(struct pd_lock *lock, const struct pd_lock *other)
{
    lock->acquired += other->acquired;
    lock->contended += other->contended;
    lock->total += other->total;
    lock->longest = PD_MAX(lock->longest, other->longest);
    lock->shortest = PD_MIN(lock->shortest, other->shortest);
    lock->broken |= other->broken;
}

/* -c: rows of one name become one row, the first in the table. Threads have no lock names and
 * become one row all together. */
static bool combine(struct pd_locks *locks)
{
    struct pd_intern names = { 0 };
    struct sorted *rows = sort_locks(locks, &columns[0]);
    PD_VEC(struct pd_lock *) firsts = { 0 };
    bool good = rows != NULL, by_thread = locks->options->by == PERFDATA_LOCK_BY_THREAD;
    if (rows)
        qsort(rows, locks->all.count, sizeof *rows, in_table);
    for (size_t i = 0; good && i < locks->all.count; i++) {
        struct pd_lock *lock = &locks->all.data[rows[i].lock - locks->all.data];
        uint32_t at = by_thread ? 0 : pd_intern(&names, lock->name, strlen(lock->name));
        good = at != PD_INTERN_NONE;
        if (good && at < firsts.count) {
            join(firsts.data[at], lock);
            lock->name = NULL;
        } else if (good) {
            good = pd_vec_push(&firsts, lock);
        }
    }
    size_t kept = 0;
    for (size_t i = 0; good && i < locks->all.count; i++)
        if (locks->all.data[i].name)
            locks->all.data[kept++] = locks->all.data[i];
    locks->all.count = good ? kept : locks->all.count;
    pd_vec_free(&firsts);
    pd_intern_free(&names);
    free(rows);
    return good;
}

static const char *comm_of(const struct pd_locks *locks, uint64_t tid)
{
    uint32_t at = pd_map64_get(&locks->tids, tid);
    return at == PD_MAP64_NONE ? "Unknown" : pd_tp_final_comm(locks->threads.data[at]);
}

/* The words for flags, which are the kernel's: spin 1, read 2, write 4, realtime 8, per CPU 16,
 * mutex 32. */
static const char *type_of(uint32_t flags)
{
    static const struct {
        uint32_t flags;
        const char *name;
    } types[] = { { 0, "semaphore" },   { 1, "spinlock" },     { 3, "rwlock:R" },
                  { 5, "rwlock:W" },    { 2, "rwsem:R" },      { 4, "rwsem:W" },
                  { 8, "rtmutex" },     { 10, "rwlock-rt:R" }, { 12, "rwlock-rt:W" },
                  { 18, "pcpu-sem:R" }, { 20, "pcpu-sem:W" },  { 32, "mutex" },
                  { 33, "mutex" } };
    for (size_t i = 0; i < PD_LENGTH(types); i++)
        if (types[i].flags == flags)
            return types[i].name;
    return "unknown";
}

static void put_values(const struct pd_lock_layout *layout, const struct pd_lock *lock,
                       struct pd_text *out)
{
    for (const struct pd_lock_column *const *at = layout->shown; *at; at++) {
        if ((*at)->is_time)
            put_time(out, (*at)->value(lock), (*at)->width);
        else
            pd_text_u64(out, (*at)->value(lock), (unsigned)(*at)->width, ' ');
        pd_text_char(out, ' ');
    }
}

static void put_titles(struct pd_locks *locks, const struct pd_lock_layout *layout)
{
    struct pd_text *out = &locks->tp.out;
    bool waits = locks->options->view == PERFDATA_LOCK_CONTENTION;
    bool threads = locks->options->by == PERFDATA_LOCK_BY_THREAD;
    if (locks->options->flags & PERFDATA_LOCK_NO_TITLES)
        return;
    if (!waits)
        pd_text_format(out, "%20s ", "Name");
    for (const struct pd_lock_column *const *at = layout->shown; *at; at++)
        pd_text_format(out, "%*s ", (*at)->width, (*at)->title);
    if (waits)
        pd_text_format(out, "  %10s   %s", threads ? "pid" : "type", threads ? "comm" : "caller");
    pd_text_string(out, "\n\n");
}

static void put_report_line(struct pd_locks *locks, const struct pd_lock_layout *layout,
                            const struct pd_lock *lock)
{
    enum { NAME_WIDTH = 20, CUT = 16 };
    struct pd_text *out = &locks->tp.out;
    if (locks->options->by == PERFDATA_LOCK_BY_THREAD)
        pd_text_format(out, "%20s ", comm_of(locks, lock->key));
    else if (strlen(lock->name) >= NAME_WIDTH)
        pd_text_format(out, " %.*s... ", CUT, lock->name);
    else
        pd_text_format(out, "%20s ", lock->name);
    put_values(layout, lock, out);
    pd_text_char(out, '\n');
}

static void put_stack(struct pd_locks *locks, const struct pd_lock *lock)
{
    struct pd_text *out = &locks->tp.out;
    for (uint32_t i = 0; i < lock->depth; i++) {
        uint64_t ip = locks->stacks.data[lock->stack + i];
        const struct pd_map *map = pd_symbols_kernel_map(locks->tp.session.symbols, UINT64_MAX - 1,
                                                         ip);
        const struct pd_symtab *table = map ? pd_symbols_table(locks->tp.session.symbols, map)
                                            : NULL;
        uint64_t address = map ? pd_symbols_address(locks->tp.session.symbols, map, ip) : 0;
        const struct pd_symbol *symbol = table ? pd_symtab_find(table, address) : NULL;
        pd_text_format(out, "\t\t\t%#llx  ", (unsigned long long)ip);
        if (symbol) {
            pd_text_string(out, symbol->name);
            if (address != symbol->start)
                pd_text_format(out, "+%#llx", (unsigned long long)(address - symbol->start));
        }
        pd_text_char(out, '\n');
    }
}

static void put_contention_line(struct pd_locks *locks, const struct pd_lock_layout *layout,
                                const struct pd_lock *lock)
{
    struct pd_text *out = &locks->tp.out;
    put_values(layout, lock, out);
    if (locks->options->by == PERFDATA_LOCK_BY_THREAD)
        pd_text_format(out, "  %10d   %s\n", (int)lock->key, comm_of(locks, lock->key));
    else
        pd_text_format(out, "  %10s   %s\n", type_of(lock->flags), lock->name);
    if (locks->options->flags & PERFDATA_LOCK_STACKS &&
        locks->options->by != PERFDATA_LOCK_BY_THREAD)
        put_stack(locks, lock);
}

/* The counts of bad events, which perf prints below its tables with -v, but not with -q. */
static void put_bad(struct pd_locks *locks, size_t bad, size_t count)
{
    struct pd_text *out = &locks->tp.out;
    if (!(locks->options->flags & PERFDATA_LOCK_STACKS) ||
        locks->options->flags & PERFDATA_LOCK_NO_TITLES)
        return;
    pd_text_format(out, "\n=== output for debug===\n\nbad: %zu, total: %zu\nbad rate: %.2f %%\n",
                   bad, count, count ? (double)bad / (double)count * 100 : 0);
    pd_text_format(out,
                   "histogram of events caused bad sequence\n    acquire: 0\n   acquired: 0\n"
                   "  contended: %zu\n    release: 0\n",
                   bad);
}

perfdata_status pd_lock_put_table(struct pd_locks *locks, const struct pd_lock_layout *layout)
{
    const struct perfdata_lock_options *options = locks->options;
    bool waits = options->view == PERFDATA_LOCK_CONTENTION;
    if (options->flags & PERFDATA_LOCK_COMBINE && !combine(locks))
        return pd_tp_no_memory(&locks->tp);
    struct sorted *rows = sort_locks(locks, layout->sort);
    size_t printed = 0, bad = 0, seen = 0;
    if (!rows)
        return pd_tp_no_memory(&locks->tp);
    put_titles(locks, layout);
    for (size_t i = 0; i < locks->all.count && printed < options->entries; i++) {
        const struct pd_lock *lock = rows[i].lock;
        seen++;
        bad += lock->broken;
        if (!waits && !lock->acquired)
            continue;
        if (waits)
            put_contention_line(locks, layout, lock);
        else
            put_report_line(locks, layout, lock);
        printed++;
    }
    put_bad(locks, bad, seen);
    free(rows);
    return PERFDATA_OK;
}

static int by_name(const void *a, const void *b)
{
    const struct pd_lock *x = ((const struct sorted *)a)->lock,
                         *y = ((const struct sorted *)b)->lock;
    int order = strcmp(x->name, y->name);
    return order ? order : x->key < y->key ? -1 : x->key > y->key;
}

static int by_tid(const void *a, const void *b)
{
    int32_t x = (int32_t)(*(struct pd_thread *const *)a)->tid,
            y = (int32_t)(*(struct pd_thread *const *)b)->tid;
    return x < y ? -1 : x > y;
}

perfdata_status pd_lock_put_info(struct pd_locks *locks)
{
    struct pd_text *out = &locks->tp.out;
    if (locks->options->flags & PERFDATA_LOCK_THREADS) {
        pd_text_format(out, "%10s: comm\n", "Thread ID");
        if (locks->threads.count)
            qsort(locks->threads.data, locks->threads.count, sizeof(struct pd_thread *), by_tid);
        for (size_t i = 0; i < locks->threads.count; i++)
            pd_text_format(out, "%10d: %s\n", (int)locks->threads.data[i]->tid,
                           pd_tp_final_comm(locks->threads.data[i]));
        return PERFDATA_OK;
    }
    struct sorted *rows = sort_locks(locks, &columns[0]);
    if (!rows)
        return pd_tp_no_memory(&locks->tp);
    qsort(rows, locks->all.count, sizeof *rows, by_name);
    pd_text_string(out, "Address of instance: name of class\n");
    for (size_t i = 0; i < locks->all.count; i++)
        pd_text_format(out, " %#llx: %s\n", (unsigned long long)rows[i].lock->key,
                       rows[i].lock->name);
    free(rows);
    return PERFDATA_OK;
}
