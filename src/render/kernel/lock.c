/* SPDX-License-Identifier: MIT */
/* `lock`: which locks were waited for, how often and how long, from lock:contention_begin and
 * contention_end. */
#include "analyse/tracepoints.h"
#include "container/handle.h"
#include <perfdata/lock.h>
#include <stdio.h>
#include <stdlib.h>

enum { TABLE_BITS = 12, KEYS = 6, MAX_DEPTH = 128 };
#define GOLDEN_RATIO UINT64_C(0x61C8864680B583EB)

/* A lock, a place that waited, or a thread. */
struct lock {
    uint64_t key;
    const char *name;
    uint32_t flags;
    uint64_t acquired, contended, total, longest, shortest;
    bool broken;
    uint32_t stack, depth; /* in `stacks`: the addresses of the first wait */
};

enum wait_state { WAIT_NONE, WAIT_BEGUN, WAIT_ENDED };

/* A thread and a lock's address. */
struct wait {
    uint64_t address, since;
    uint32_t tid, next; /* of the same hash; PD_MAP64_NONE: none */
    enum wait_state state;
};

/* Code that waits for others: no caller is looked for in it. */
struct text_range {
    uint64_t from, to;
};

struct locks {
    const struct perfdata_lock_options *options;
    struct pd_tp tp;
    PD_VEC(struct lock) all;
    struct pd_map64 at;
    PD_VEC(struct wait) waits;
    struct pd_map64 wait_at; /* by a hash of tid and address */
    PD_VEC(uint64_t) stacks;
    struct pd_arena names;
    struct pd_map64 tids;
    PD_VEC(struct pd_thread *) threads;
    struct text_range lock_code[2];
    bool knows_code;
    struct pd_frame frames[MAX_DEPTH];
    size_t frame_count;
};

/* ---- who waits ---- */

static perfdata_status no_memory(struct locks *locks)
{
    return pd_tp_no_memory(&locks->tp);
}

/* The two parts of the kernel where its locks are, as far as its table names them. */
static void learn_code(struct locks *locks, const struct pd_location *location)
{
    static const char *const names[] = { "__sched_text_start", "__sched_text_end",
                                         "__lock_text_start", "__lock_text_end" };
    uint64_t found[PD_LENGTH(names)] = { 0 };
    const struct pd_symtab *table = pd_symbols_table(locks->tp.session.symbols, location->map);
    locks->knows_code = true;
    if (!table)
        return;
    for (size_t i = 0; i < pd_symtab_count(table); i++) {
        const struct pd_symbol *symbol = pd_symtab_at(table, i);
        for (size_t k = 0; k < PD_LENGTH(names); k++)
            if (!strcmp(symbol->name, names[k]))
                found[k] = symbol->start;
    }
    if (!found[0])
        return;
    locks->lock_code[0] = (struct text_range){ found[0], found[1] };
    locks->lock_code[1] = (struct text_range){ found[2], found[3] };
}

static bool is_lock_code(struct locks *locks, const struct pd_location *location)
{
    if (!locks->knows_code && location->is_kernel_map && location->map->main_kernel)
        learn_code(locks, location);
    for (size_t i = 0; i < PD_LENGTH(locks->lock_code); i++)
        if (location->ip >= locks->lock_code[i].from && location->ip < locks->lock_code[i].to)
            return true;
    return false;
}

static uint64_t mix(uint64_t value)
{
    return value * GOLDEN_RATIO; /* as perf: rows of equal figures are in the order of these */
}

static perfdata_status take_chain(struct locks *locks, const struct pd_tp_sample *sample)
{
    bool invalid = false;
    locks->frame_count = 0;
    struct pd_thread *thread = pd_tp_thread(sample, sample->sample.pid, sample->sample.tid);
    if (!thread)
        return PERFDATA_ERROR_MEMORY;
    if (sample->sample.callchain && locks->tp.resolver)
        locks->frame_count = pd_resolve_chain(locks->tp.resolver, &sample->sample, thread,
                                              sample->record->number, locks->options->max_stack,
                                              locks->frames, locks->options->max_stack, &invalid);
    return PERFDATA_OK;
}

/* The next frame that is none of the locks' own, from *at on; NULL: no more. */
static const struct pd_frame *next_caller(struct locks *locks, size_t *at)
{
    *at = PD_MAX(*at, (size_t)locks->options->skip);
    while (*at < locks->frame_count) {
        const struct pd_frame *frame = &locks->frames[(*at)++];
        const struct pd_location *location = frame->location;
        if (!location || !location->sym || !is_lock_code(locks, location))
            return frame;
    }
    return NULL;
}

static const char *name_caller(struct locks *locks)
{
    const struct pd_frame *frame;
    char text[256];
    for (size_t at = 0; (frame = next_caller(locks, &at));) {
        const struct pd_location *location = frame->location;
        if (!location || !location->sym)
            continue;
        uint64_t offset = location->addr - location->sym->start;
        int length = offset ? snprintf(text, sizeof text, "%s+%#llx", location->sym->name,
                                       (unsigned long long)offset)
                            : snprintf(text, sizeof text, "%s", location->sym->name);
        return pd_arena_copy(&locks->names, text, PD_MIN((size_t)length, sizeof text - 1));
    }
    return "Unknown";
}

enum { LOCK_ADDR, FLAGS };

static uint64_t key_of(struct locks *locks, const struct pd_tp_sample *sample)
{
    uint64_t key = 0;
    const struct pd_frame *frame;
    switch (locks->options->by) {
    case PERFDATA_LOCK_BY_THREAD: return sample->sample.tid;
    case PERFDATA_LOCK_BY_ADDRESS: return pd_tp_number(sample, LOCK_ADDR);
    default: break;
    }
    for (size_t at = 0; (frame = next_caller(locks, &at));)
        key ^= (uint32_t)mix(frame->ip);
    return key;
}

/* ---- states ---- */

static struct lock *find_lock(struct locks *locks, uint64_t key)
{
    uint32_t at = pd_map64_get(&locks->at, key);
    return at == PD_MAP64_NONE ? NULL : &locks->all.data[at];
}

/* The addresses of a wait, for -v. */
static bool keep_stack(struct locks *locks, const struct pd_sample *sample, struct lock *lock)
{
    lock->stack = (uint32_t)locks->stacks.count;
    for (uint32_t i = 0; i < sample->callchain_count && lock->depth < locks->options->max_stack;
         i++) {
        uint64_t ip = pd_load64(sample->callchain + 8 * (size_t)i, sample->swap);
        if (ip >= PD_CHAIN_FIRST_CONTEXT)
            continue;
        if (!pd_vec_push(&locks->stacks, ip))
            return false;
        lock->depth++;
    }
    return true;
}

static struct lock *add_lock(struct locks *locks, const struct pd_tp_sample *sample, uint64_t key)
{
    struct lock lock = { .key = key,
                         .flags = (uint32_t)pd_tp_number(sample, FLAGS),
                         .shortest = UINT64_MAX,
                         .name = name_caller(locks) };
    bool keeps = locks->options->flags & PERFDATA_LOCK_STACKS;
    if (!lock.name || locks->all.count >= PD_MAP64_NONE - 1 ||
        (keeps && !keep_stack(locks, &sample->sample, &lock)) || !pd_vec_push(&locks->all, lock) ||
        !pd_map64_set(&locks->at, key, (uint32_t)locks->all.count - 1))
        return NULL;
    return &locks->all.data[locks->all.count - 1];
}

static struct wait *wait_of(struct locks *locks, uint32_t tid, uint64_t address)
{
    uint64_t hash = pd_hash_pair(tid, address);
    uint32_t first = pd_map64_get(&locks->wait_at, hash);
    for (uint32_t at = first; at != PD_MAP64_NONE; at = locks->waits.data[at].next)
        if (locks->waits.data[at].tid == tid && locks->waits.data[at].address == address)
            return &locks->waits.data[at];
    struct wait fresh = { .address = address, .tid = tid, .next = first };
    if (locks->waits.count >= PD_MAP64_NONE - 1 || !pd_vec_push(&locks->waits, fresh) ||
        !pd_map64_set(&locks->wait_at, hash, (uint32_t)locks->waits.count - 1))
        return NULL;
    return &locks->waits.data[locks->waits.count - 1];
}

static bool note_thread(struct locks *locks, const struct pd_tp_sample *sample)
{
    uint32_t tid = sample->sample.tid;
    struct pd_thread *thread = pd_tp_thread(sample, sample->sample.pid, tid);
    return thread && (pd_map64_get(&locks->tids, tid) != PD_MAP64_NONE ||
                      (pd_vec_push(&locks->threads, thread) &&
                       pd_map64_set(&locks->tids, tid, (uint32_t)locks->threads.count - 1)));
}

/* Of the sample's thread and lock, whatever lines are of. */
static struct wait *wait_at(struct locks *locks, const struct pd_tp_sample *sample)
{
    return note_thread(locks, sample)
               ? wait_of(locks, sample->sample.tid, pd_tp_number(sample, LOCK_ADDR))
               : NULL;
}

static perfdata_status take_begin(void *data, const struct pd_tp_sample *sample)
{
    struct locks *locks = data;
    perfdata_status status = take_chain(locks, sample);
    if (status < 0)
        return status;
    uint64_t key = key_of(locks, sample);
    struct lock *lock = find_lock(locks, key);
    if (!lock)
        lock = add_lock(locks, sample, key);
    struct wait *wait = lock ? wait_at(locks, sample) : NULL;
    if (!wait)
        return no_memory(locks);
    if (wait->state == WAIT_BEGUN)
        return PERFDATA_OK; /* a mutex spins before it sleeps: the first counts */
    wait->state = WAIT_BEGUN;
    wait->since = sample->sample.time;
    lock->contended++;
    return PERFDATA_OK;
}

static perfdata_status take_end(void *data, const struct pd_tp_sample *sample)
{
    struct locks *locks = data;
    perfdata_status status = take_chain(locks, sample);
    if (status < 0)
        return status;
    uint64_t key = key_of(locks, sample);
    struct lock *lock = find_lock(locks, key);
    if (!lock)
        return PERFDATA_OK;
    struct wait *wait = wait_at(locks, sample);
    if (!wait)
        return no_memory(locks);
    if (wait->state == WAIT_ENDED)
        lock->broken = true;
    if (wait->state != WAIT_BEGUN)
        return PERFDATA_OK;
    uint64_t time = sample->sample.time - wait->since;
    lock->total += time;
    lock->shortest = PD_MIN(lock->shortest, time);
    lock->longest = PD_MAX(lock->longest, time);
    lock->acquired++;
    wait->state = WAIT_ENDED;
    return PERFDATA_OK;
}

static const struct pd_tp_handler handlers[] = {
    { "lock:contention_begin", { "lock_addr", "flags" }, take_begin },
    { "lock:contention_end", { "lock_addr" }, take_end },
    { 0 },
};

/* ---- columns ---- */

static uint64_t acquired(const struct lock *lock)
{
    return lock->acquired;
}
static uint64_t contended(const struct lock *lock)
{
    return lock->contended;
}
static uint64_t average(const struct lock *lock)
{
    return lock->acquired ? lock->total / lock->acquired : 0;
}
static uint64_t total(const struct lock *lock)
{
    return lock->total;
}
static uint64_t longest(const struct lock *lock)
{
    return lock->longest;
}
static uint64_t shortest(const struct lock *lock)
{
    return lock->shortest == UINT64_MAX ? 0 : lock->shortest;
}

static const struct column {
    const char *key, *title;
    int width;
    bool is_time;
    uint64_t (*value)(const struct lock *lock);
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

static const struct column *find_column(const char *text, size_t length)
{
    for (size_t i = 0; i < PD_LENGTH(columns); i++)
        if (strlen(columns[i].key) == length && !memcmp(columns[i].key, text, length))
            return &columns[i];
    return NULL;
}

struct layout {
    const struct column *shown[KEYS + 1]; /* ends with NULL */
    const struct column *sort;
};

static bool shows(const struct layout *layout, const struct column *column)
{
    for (const struct column *const *at = layout->shown; *at; at++)
        if (*at == column)
            return true;
    return false;
}

static perfdata_status add_column(struct pd_context *context, const char *text, size_t length,
                                  bool acquisitions, struct layout *layout)
{
    size_t count = 0;
    const struct column *column = find_column(text, length);
    if (!column || (!acquisitions && column == &columns[0]))
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "Unknown field: %.*s", (int)length,
                       text);
    while (layout->shown[count])
        count++;
    if (count < KEYS && !shows(layout, column))
        layout->shown[count] = column;
    return PERFDATA_OK;
}

/* The columns asked for, in that order, and behind them the one that is sorted by. */
static perfdata_status make_layout(const struct perfdata_lock_options *options,
                                   struct pd_context *context, struct layout *layout)
{
    bool waits = options->view == PERFDATA_LOCK_CONTENTION;
    const char *fields = options->fields ? options->fields
                         : waits         ? "contended,wait_total,wait_max,avg_wait"
                                 : "acquired,contended,avg_wait,wait_total,wait_max,wait_min";
    const char *key = options->sort ? options->sort : waits ? "wait_total" : "acquired";
    *layout = (struct layout){ .sort = find_column(key, strlen(key)) };
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
    const struct lock *lock;
    const struct column *sort;
};

/* Equal ones: by perf's table of hashes, the newest of a hash first. */
static int largest_first(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    uint64_t m = x->sort->value(x->lock), n = x->sort->value(y->lock);
    if (m != n)
        return m < n ? 1 : -1;
    m = mix(x->lock->key) >> (64 - TABLE_BITS);
    n = mix(y->lock->key) >> (64 - TABLE_BITS);
    if (m != n)
        return m < n ? -1 : 1;
    return x->lock < y->lock ? 1 : -(x->lock > y->lock);
}

static struct sorted *sort_locks(struct locks *locks, const struct column *sort)
{
    struct sorted *rows = calloc(locks->all.count + 1, sizeof *rows);
    for (size_t i = 0; rows && i < locks->all.count; i++)
        rows[i] = (struct sorted){ &locks->all.data[i], sort };
    if (rows)
        qsort(rows, locks->all.count, sizeof *rows, largest_first);
    return rows;
}

static const char *comm_of(const struct locks *locks, uint64_t tid)
{
    uint32_t at = pd_map64_get(&locks->tids, tid);
    return at == PD_MAP64_NONE ? "Unknown" : pd_tp_final_comm(locks->threads.data[at]);
}

/* The names of flags as the kernel has them: spin 1, read 2, write 4, realtime 8, per CPU 16, mutex
 * 32. */
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

static void put_values(const struct layout *layout, const struct lock *lock, struct pd_text *out)
{
    for (const struct column *const *at = layout->shown; *at; at++) {
        if ((*at)->is_time)
            put_time(out, (*at)->value(lock), (*at)->width);
        else
            pd_text_u64(out, (*at)->value(lock), (unsigned)(*at)->width, ' ');
        pd_text_char(out, ' ');
    }
}

static void put_titles(const struct layout *layout, struct pd_text *out)
{
    for (const struct column *const *at = layout->shown; *at; at++)
        pd_text_format(out, "%*s ", (*at)->width, (*at)->title);
}

static void put_report_line(struct locks *locks, const struct layout *layout,
                            const struct lock *lock)
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

static void put_stack(struct locks *locks, const struct lock *lock)
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

static void put_contention_line(struct locks *locks, const struct layout *layout,
                                const struct lock *lock)
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

/* What perf prints with -v below its tables. */
static void put_bad(struct locks *locks, size_t bad, size_t count)
{
    struct pd_text *out = &locks->tp.out;
    if (!(locks->options->flags & PERFDATA_LOCK_STACKS))
        return;
    pd_text_format(out, "\n=== output for debug===\n\nbad: %zu, total: %zu\nbad rate: %.2f %%\n",
                   bad, count, count ? (double)bad / (double)count * 100 : 0);
    pd_text_format(out,
                   "histogram of events caused bad sequence\n    acquire: 0\n   acquired: 0\n"
                   "  contended: %zu\n    release: 0\n",
                   bad);
}

static perfdata_status put_locks(struct locks *locks, const struct layout *layout)
{
    const struct perfdata_lock_options *options = locks->options;
    struct pd_text *out = &locks->tp.out;
    bool waits = options->view == PERFDATA_LOCK_CONTENTION;
    bool threads = options->by == PERFDATA_LOCK_BY_THREAD;
    struct sorted *rows = sort_locks(locks, layout->sort);
    size_t printed = 0, bad = 0, seen = 0;
    if (!rows)
        return no_memory(locks);
    if (!waits)
        pd_text_format(out, "%20s ", "Name");
    put_titles(layout, out);
    if (waits)
        pd_text_format(out, "  %10s   %s", threads ? "pid" : "type", threads ? "comm" : "caller");
    pd_text_string(out, "\n\n");
    for (size_t i = 0; i < locks->all.count && printed < options->entries; i++) {
        const struct lock *lock = rows[i].lock;
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
    const struct lock *x = ((const struct sorted *)a)->lock, *y = ((const struct sorted *)b)->lock;
    int order = strcmp(x->name, y->name);
    return order ? order : x->key < y->key ? -1 : x->key > y->key;
}

static int by_tid(const void *a, const void *b)
{
    int32_t x = (int32_t)(*(struct pd_thread *const *)a)->tid,
            y = (int32_t)(*(struct pd_thread *const *)b)->tid;
    return x < y ? -1 : x > y;
}

static perfdata_status put_info(struct locks *locks)
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
        return no_memory(locks);
    qsort(rows, locks->all.count, sizeof *rows, by_name);
    pd_text_string(out, "Address of instance: name of class\n");
    for (size_t i = 0; i < locks->all.count; i++)
        pd_text_format(out, " %#llx: %s\n", (unsigned long long)rows[i].lock->key,
                       rows[i].lock->name);
    free(rows);
    return PERFDATA_OK;
}

/* ---- the run ---- */

static void free_all(struct locks *locks)
{
    pd_vec_free(&locks->all);
    pd_vec_free(&locks->waits);
    pd_vec_free(&locks->stacks);
    pd_vec_free(&locks->threads);
    pd_map64_free(&locks->at);
    pd_map64_free(&locks->wait_at);
    pd_map64_free(&locks->tids);
    pd_arena_free(&locks->names);
    free(locks);
}

static perfdata_status run(struct locks *locks, struct pd_recording *recording,
                           perfdata_write_fn write, void *data)
{
    struct layout layout;
    const struct pd_tp_verb verb = { .handlers = handlers,
                                     .data = locks,
                                     .hears = PD_TP_HEARS(COMM) | PD_TP_HEARS(MMAP) |
                                              PD_TP_HEARS(NAMESPACES) };
    perfdata_status status = make_layout(locks->options, &recording->context, &layout);
    if (status < 0)
        return status;
    status = pd_tp_open(&locks->tp, recording, &locks->options->search, &verb, write, data);
    if (status >= 0)
        status = pd_tp_run(&locks->tp);
    if (status >= 0)
        status = locks->options->view == PERFDATA_LOCK_INFO ? put_info(locks)
                                                            : put_locks(locks, &layout);
    return pd_tp_close(&locks->tp, status);
}

static perfdata_status check(struct pd_recording *recording,
                             const struct perfdata_lock_options *options)
{
    struct pd_context *context = &recording->context;
    if (options->view > PERFDATA_LOCK_INFO || options->by > PERFDATA_LOCK_BY_ADDRESS ||
        options->max_stack > MAX_DEPTH)
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                       "there is no such view, or more than %d frames are asked for", MAX_DEPTH);
    if (options->view == PERFDATA_LOCK_CONTENTION &&
        !pd_tp_has_event(recording, "lock:contention_begin"))
        return pd_fail(context, PERFDATA_ERROR_NO_DATA, -1, "lock contention evsel not found");
    if (pd_tp_has_event(recording, "lock:lock_acquire"))
        return pd_issue(
            context, PERFDATA_ISSUE_UNSUPPORTED, -1,
            "lock:lock_acquire and its like, of kernels that check locks, do not count");
    return PERFDATA_OK;
}

perfdata_status perfdata_lock_run(perfdata_recording *recording,
                                  const struct perfdata_lock_options *options,
                                  perfdata_write_fn write, void *data)
{
    struct perfdata_lock_options known = { 0 };
    if (!recording || !options || !write)
        return PERFDATA_ERROR_ARGUMENT;
    struct pd_context *context = &recording->recording.context;
    perfdata_status status = pd_handle_options(recording, &known, sizeof known, options);
    if (status >= 0)
        status = check(&recording->recording, &known);
    if (status < 0)
        return status;
    struct locks *locks = calloc(1, sizeof *locks);
    if (!locks)
        return pd_fail(context, PERFDATA_ERROR_MEMORY, -1, "no memory for locks");
    locks->options = &known;
    if (pd_tp_has_tracepoints(&recording->recording, "lock record"))
        status = run(locks, &recording->recording, write, data);
    else
        status = pd_fail(context, PERFDATA_ERROR_NO_DATA, -1, "the recording has no tracepoints");
    free_all(locks);
    return status;
}
