/* SPDX-License-Identifier: MIT */
/* `lock`: which locks were waited for, how often and how long, from lock:contention_begin and
 * contention_end. */
#include "container/handle.h"
#include "render/kernel/lock.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- who waits ---- */

/* Finds the two parts of the kernel that hold its lock functions, as far as the symbol table has
 * their bounds. */
static void learn_code(struct pd_locks *locks, const struct pd_location *location)
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
    locks->lock_code[0] = (struct pd_lock_code){ found[0], found[1] };
    locks->lock_code[1] = (struct pd_lock_code){ found[2], found[3] };
}

static bool is_lock_code(struct pd_locks *locks, const struct pd_location *location)
{
    if (!locks->knows_code && location->is_kernel_map && location->map->main_kernel)
        learn_code(locks, location);
    for (size_t i = 0; i < PD_LENGTH(locks->lock_code); i++)
        if (location->ip >= locks->lock_code[i].from && location->ip < locks->lock_code[i].to)
            return true;
    return false;
}

static perfdata_status take_chain(struct pd_locks *locks, const struct pd_tp_sample *sample)
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

/* The next frame from *at on that is not in the locks' own code; NULL: no more. */
static const struct pd_frame *next_caller(struct pd_locks *locks, size_t *at)
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

static const char *name_caller(struct pd_locks *locks)
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

static uint64_t key_of(struct pd_locks *locks, const struct pd_tp_sample *sample)
{
    uint64_t key = 0;
    const struct pd_frame *frame;
    switch (locks->options->by) {
    case PERFDATA_LOCK_BY_THREAD: return sample->sample.tid;
    case PERFDATA_LOCK_BY_ADDRESS: return pd_tp_number(sample, LOCK_ADDR);
    default: break;
    }
    for (size_t at = 0; (frame = next_caller(locks, &at));)
        key ^= (uint32_t)pd_lock_mix(frame->ip);
    return key;
}

/* ---- states ---- */

static struct pd_lock *find_lock(struct pd_locks *locks, uint64_t key)
{
    uint32_t at = pd_map64_get(&locks->at, key);
    return at == PD_MAP64_NONE ? NULL : &locks->all.data[at];
}

/* Keeps the addresses of a wait, for -v. */
static bool keep_stack(struct pd_locks *locks, const struct pd_sample *sample, struct pd_lock *lock)
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

static struct pd_lock *add_lock(struct pd_locks *locks, const struct pd_tp_sample *sample,
                                uint64_t key)
{
    struct pd_lock lock = { .key = key,
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

static struct pd_lock_wait *wait_of(struct pd_locks *locks, uint32_t tid, uint64_t address)
{
    uint64_t hash = pd_hash_pair(tid, address);
    uint32_t first = pd_map64_get(&locks->wait_at, hash);
    for (uint32_t at = first; at != PD_MAP64_NONE; at = locks->waits.data[at].next)
        if (locks->waits.data[at].tid == tid && locks->waits.data[at].address == address)
            return &locks->waits.data[at];
    struct pd_lock_wait fresh = { .address = address, .tid = tid, .next = first };
    if (locks->waits.count >= PD_MAP64_NONE - 1 || !pd_vec_push(&locks->waits, fresh) ||
        !pd_map64_set(&locks->wait_at, hash, (uint32_t)locks->waits.count - 1))
        return NULL;
    return &locks->waits.data[locks->waits.count - 1];
}

static bool note_thread(struct pd_locks *locks, const struct pd_tp_sample *sample)
{
    uint32_t tid = sample->sample.tid;
    struct pd_thread *thread = pd_tp_thread(sample, sample->sample.pid, tid);
    return thread && (pd_map64_get(&locks->tids, tid) != PD_MAP64_NONE ||
                      (pd_vec_push(&locks->threads, thread) &&
                       pd_map64_set(&locks->tids, tid, (uint32_t)locks->threads.count - 1)));
}

/* The wait of the sample's thread for the sample's lock; the same whatever rows are about. */
static struct pd_lock_wait *wait_at(struct pd_locks *locks, const struct pd_tp_sample *sample)
{
    return note_thread(locks, sample)
               ? wait_of(locks, sample->sample.tid, pd_tp_number(sample, LOCK_ADDR))
               : NULL;
}

/* The row that the sample belongs to, and the wait of its thread for its lock. With `add` an
 * unknown row is made; without, both stay NULL for it. */
static perfdata_status look_up(struct pd_locks *locks, const struct pd_tp_sample *sample, bool add,
                               struct pd_lock **lock, struct pd_lock_wait **wait)
{
    perfdata_status status = take_chain(locks, sample);
    if (status < 0)
        return status;
    uint64_t key = key_of(locks, sample);
    *lock = find_lock(locks, key);
    if (!*lock && !add)
        return PERFDATA_OK;
    if (!*lock)
        *lock = add_lock(locks, sample, key);
    *wait = *lock ? wait_at(locks, sample) : NULL;
    return *wait ? PERFDATA_OK : pd_tp_no_memory(&locks->tp);
}

static perfdata_status take_begin(void *data, const struct pd_tp_sample *sample)
{
    struct pd_lock *lock = NULL;
    struct pd_lock_wait *wait = NULL;
    perfdata_status status = look_up(data, sample, true, &lock, &wait);
    if (status < 0 || !wait)
        return status;
    if (wait->state == PD_LOCK_WAITS)
        return PERFDATA_OK; /* a mutex may spin, then sleep: the first begin counts */
    wait->state = PD_LOCK_WAITS;
    wait->since = sample->sample.time;
    lock->contended++;
    return PERFDATA_OK;
}

static perfdata_status take_end(void *data, const struct pd_tp_sample *sample)
{
    struct pd_lock *lock = NULL;
    struct pd_lock_wait *wait = NULL;
    perfdata_status status = look_up(data, sample, false, &lock, &wait);
    if (status < 0 || !wait)
        return status;
    if (wait->state == PD_LOCK_HELD)
        lock->broken = true;
    if (wait->state != PD_LOCK_WAITS)
        return PERFDATA_OK;
    uint64_t time = sample->sample.time - wait->since;
    lock->total += time;
    lock->shortest = PD_MIN(lock->shortest, time);
    lock->longest = PD_MAX(lock->longest, time);
    lock->acquired++;
    wait->state = PD_LOCK_HELD;
    return PERFDATA_OK;
}

static bool is_left_out(void *data, const struct pd_tp_sample *sample)
{
    const struct pd_sample *from = &sample->sample;
    return !pd_filter_numbers(&((const struct pd_locks *)data)->filter, from->pid, from->tid,
                              from->cpu);
}

static const struct pd_tp_handler handlers[] = {
    { "lock:contention_begin", { "lock_addr", "flags" }, take_begin },
    { "lock:contention_end", { "lock_addr" }, take_end },
    { 0 },
};

/* ---- the run ---- */

static void free_all(struct pd_locks *locks)
{
    pd_vec_free(&locks->all);
    pd_vec_free(&locks->waits);
    pd_vec_free(&locks->stacks);
    pd_vec_free(&locks->threads);
    pd_map64_free(&locks->at);
    pd_map64_free(&locks->wait_at);
    pd_map64_free(&locks->tids);
    pd_arena_free(&locks->names);
    pd_filter_free(&locks->filter);
    free(locks);
}

static perfdata_status run(struct pd_locks *locks, struct pd_recording *recording,
                           perfdata_write_fn write, void *data)
{
    struct pd_lock_layout layout;
    const struct pd_tp_verb verb = { .handlers = handlers,
                                     .data = locks,
                                     .drops = is_left_out,
                                     .hears = PD_TP_HEARS(COMM) | PD_TP_HEARS(MMAP) |
                                              PD_TP_HEARS(NAMESPACES) };
    const struct perfdata_lock_options *options = locks->options;
    perfdata_status status = pd_lock_make_layout(options, &recording->context, &layout);
    if (status >= 0)
        status = pd_filter_add_numbers(&locks->filter, recording, options->pids, options->tids,
                                       options->cpus);
    if (status < 0)
        return status;
    status = pd_tp_open(&locks->tp, recording, &options->search, &verb, write, data);
    if (status >= 0)
        status = pd_tp_run(&locks->tp);
    if (status >= 0)
        status = locks->options->view == PERFDATA_LOCK_INFO ? pd_lock_put_info(locks)
                                                            : pd_lock_put_table(locks, &layout);
    return pd_tp_close(&locks->tp, status);
}

static perfdata_status check(struct pd_recording *recording,
                             const struct perfdata_lock_options *options)
{
    struct pd_context *context = &recording->context;
    if (options->view > PERFDATA_LOCK_INFO || options->by > PERFDATA_LOCK_BY_ADDRESS ||
        options->max_stack > PD_LOCK_MAX_DEPTH)
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                       "there is no such view, or more than %d frames are asked for",
                       PD_LOCK_MAX_DEPTH);
    perfdata_status status = pd_tp_need_tracepoints(recording, "lock record");
    if (status < 0)
        return status;
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
    perfdata_status status = pd_handle_print(recording, &known, sizeof known, options, write);
    if (status >= 0)
        status = check(&recording->recording, &known);
    if (status < 0)
        return status;
    struct pd_locks *locks = calloc(1, sizeof *locks);
    if (!locks)
        return pd_no_memory(&recording->recording.context, "locks");
    locks->options = &known;
    status = run(locks, &recording->recording, write, data);
    free_all(locks);
    return status;
}
