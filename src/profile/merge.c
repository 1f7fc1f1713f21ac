/* SPDX-License-Identifier: MIT */
/* What a batch left -> columns and sums of the profile. One call at a time, in delivery order. */
#include "profile/profile.h"
#include "profile/switches.h"
#include "base/hash.h"
#include <stdlib.h>

/* The limit exists because values seldom repeat, so that each text takes memory of its own. */
#define MARKS_WITH_VALUES 250000

/* ---- threads ---- */

static uint32_t new_thread(struct pd_profile_shared *shared, const struct pd_thread *thread,
                           const char *comm, uint32_t pid)
{
    perfdata_profile *profile = shared->profile;
    struct perfdata_profile_thread *made = pd_blocks_push(&profile->threads, sizeof *made);
    if (!made)
        return PERFDATA_NONE;
    uint32_t text = pd_intern(&profile->texts, comm, strlen(comm));
    if (text == PD_INTERN_NONE)
        return PERFDATA_NONE;
    *made = (struct perfdata_profile_thread){
        .pid = pid,
        .tid = thread->tid,
        .comm = pd_intern_text(&profile->texts, text),
        .machine = pd_timeline_machine(thread->timeline),
        .first = UINT64_MAX,
    };
    return profile->threads.count - 1;
}

/* Gives a key the next number unless it has one. False: no memory. */
static bool next_id(struct pd_map64 *map, uint64_t key, uint32_t *count, uint32_t *id)
{
    *id = pd_map64_get(map, key);
    if (*id != PD_MAP64_NONE)
        return true;
    *id = *count;
    return *count < PERFDATA_NONE && pd_map64_set(map, key, (*count)++);
}

/* Chooses the thread that sums count towards: one with a new name is a new thread. */
static bool choose_counted(struct pd_profile_shared *shared, uint32_t thread, uint32_t comm)
{
    struct pd_profile_known *known = &shared->known;
    if (comm == known->comm_threads.count && !pd_vec_push(&known->comm_threads, thread))
        return false;
    bool by_comm = shared->options->flags & PERFDATA_PROFILE_SUMS_BY_COMM;
    return pd_vec_push(&known->counted_thread, by_comm ? known->comm_threads.data[comm] : thread);
}

static PD_NOINLINE uint32_t find_thread(struct pd_profile_shared *shared,
                                        const struct pd_thread *thread, const char *comm,
                                        uint32_t pid)
{
    uint32_t comm_id, pair;
    if (!next_id(&shared->known.comm_map, (uint64_t)(uintptr_t)comm, &shared->known.comm_count,
                 &comm_id) ||
        !next_id(&shared->known.thread_map, (uint64_t)thread->index << 32 | comm_id,
                 &shared->known.pair_count, &pair))
        return PERFDATA_NONE;
    uint64_t key = (uint64_t)pair << 32 | pid;
    uint32_t id = pd_map64_get(&shared->known.thread_pid, key);
    if (id != PD_MAP64_NONE)
        return id;
    id = new_thread(shared, thread, comm, pid);
    return id != PERFDATA_NONE && pd_map64_set(&shared->known.thread_pid, key, id) &&
                   pd_vec_push(&shared->known.thread_comms, comm) &&
                   choose_counted(shared, id, comm_id)
               ? id
               : PERFDATA_NONE;
}

static uint32_t thread_of(struct pd_profile_shared *shared, const struct pd_thread *thread,
                          const char *comm, uint32_t pid)
{
    if (!comm)
        comm = "";
    if (!pd_vec_widen_to(&shared->known.last_thread, (size_t)thread->index + 1))
        return PERFDATA_NONE;
    uint32_t last = shared->known.last_thread.data[thread->index];
    if (PD_LIKELY(last) && shared->known.thread_comms.data[last - 1] == comm &&
        pd_profile_thread(shared->profile, last - 1)->pid == pid)
        return last - 1;
    uint32_t id = find_thread(shared, thread, comm, pid);
    if (id != PERFDATA_NONE)
        shared->known.last_thread.data[thread->index] = id + 1;
    return id;
}

static void count_thread(struct pd_profile_shared *shared, uint32_t id, uint64_t time)
{
    perfdata_profile *profile = shared->profile;
    struct perfdata_profile_thread *thread = pd_profile_thread(profile, id);
    thread->samples++;
    if (time == UINT64_MAX)
        return;
    thread->first = PD_MIN(thread->first, time);
    thread->last = PD_MAX(thread->last, time);
    profile->first_time = PD_MIN(profile->first_time, time);
    profile->last_time = PD_MAX(profile->last_time, time);
}

/* ---- sums ---- */

static uint64_t hash_sum(uint32_t event, uint32_t thread, uint32_t stack)
{
    return pd_hash_pair((uint64_t)event << 32 | thread, stack);
}

/* Most stacks have one sum, which is found by the stack. Only the others are in the table. */
static uint64_t hash_more_at(const void *data, size_t index)
{
    const struct pd_profile_shared *shared = data;
    const struct perfdata_profile_sum *sum =
        &shared->profile->sums.data[shared->known.more_sums.data[index]];
    return hash_sum(sum->event, sum->thread, sum->stack);
}

static struct perfdata_profile_sum *new_sum(struct pd_profile_shared *shared, uint32_t event,
                                            uint32_t thread, uint32_t stack)
{
    perfdata_profile *profile = shared->profile;
    if (profile->sums.count == PERFDATA_NONE - 1 ||
        !pd_vec_push(&profile->sums,
                     (struct perfdata_profile_sum){ event, thread, stack, 0, 0, 0 }))
        return NULL;
    shared->full |= profile->sums.count > shared->bounds.stacks;
    return &profile->sums.data[profile->sums.count - 1];
}

static PD_NOINLINE struct perfdata_profile_sum *
find_more(struct pd_profile_shared *shared, uint32_t event, uint32_t thread, uint32_t stack)
{
    perfdata_profile *profile = shared->profile;
    struct pd_profile_known *known = &shared->known;
    if (!pd_slots_reserve(&known->sum_slots, &known->sum_mask, known->more_sums.count, hash_more_at,
                          shared))
        return NULL;
    size_t at = hash_sum(event, thread, stack) & known->sum_mask;
    for (; known->sum_slots[at]; at = (at + 1) & known->sum_mask) {
        struct perfdata_profile_sum *sum =
            &profile->sums.data[known->more_sums.data[known->sum_slots[at] - 1]];
        if (sum->stack == stack && sum->thread == thread && sum->event == event)
            return sum;
    }
    struct perfdata_profile_sum *made = new_sum(shared, event, thread, stack);
    if (!made || !pd_vec_push(&known->more_sums, (uint32_t)(profile->sums.count - 1)))
        return NULL;
    known->sum_slots[at] = (uint32_t)known->more_sums.count;
    return made;
}

static PD_NOINLINE struct perfdata_profile_sum *
find_sum(struct pd_profile_shared *shared, uint32_t event, uint32_t thread, uint32_t stack)
{
    struct pd_profile_stack_sums *of = &shared->known.stack_sums.data[stack];
    struct perfdata_profile_sum *sum = of->first ? &shared->profile->sums.data[of->first - 1]
                                                 : NULL;
    if (!sum) {
        sum = new_sum(shared, event, thread, stack);
        of->first = sum ? (uint32_t)shared->profile->sums.count : 0;
    } else if (sum->event != event || sum->thread != thread) {
        sum = find_more(shared, event, thread, stack);
    }
    if (sum)
        of->last = (uint32_t)(sum - shared->profile->sums.data) + 1;
    return sum;
}

static bool add_sum(struct pd_profile_shared *shared, uint32_t event, uint32_t thread,
                    uint32_t stack, uint64_t weight)
{
    if (PD_UNLIKELY(stack >= shared->known.stack_sums.count) &&
        !pd_vec_widen_to(&shared->known.stack_sums, shared->profile->stacks.count))
        return false;
    uint32_t last = shared->known.stack_sums.data[stack].last;
    struct perfdata_profile_sum *sum = last ? &shared->profile->sums.data[last - 1] : NULL;
    if (!sum || sum->event != event || sum->thread != thread)
        sum = find_sum(shared, event, thread, stack);
    if (!sum)
        return false;
    sum->count++;
    sum->weight += weight;
    return true;
}

/* ---- columns ---- */

static bool reserve_columns(struct pd_profile_shared *shared, size_t more)
{
    struct pd_profile_columns *columns = &shared->profile->columns;
    size_t need = columns->time.count + more;
    bool ok = pd_vec_reserve(&columns->time, need) && pd_vec_reserve(&columns->weight, need) &&
              pd_vec_reserve(&columns->event, need) && pd_vec_reserve(&columns->thread, need) &&
              pd_vec_reserve(&columns->stack, need) && pd_vec_reserve(&columns->cpu, need);
    for (size_t i = 0; ok && i < shared->column_count; i++)
        ok = pd_vec_reserve(&columns->more[shared->columns[i]].values, need);
    return ok;
}

static void put_columns(struct pd_profile_shared *shared, const struct pd_profile_row *row,
                        uint32_t thread, uint32_t stack, const uint64_t *values)
{
    struct pd_profile_columns *columns = &shared->profile->columns;
    size_t at = columns->time.count++;
    columns->time.data[at] = row->time;
    columns->weight.data[at] = row->weight;
    columns->event.data[at] = row->event;
    columns->thread.data[at] = thread;
    columns->stack.data[at] = stack;
    columns->cpu.data[at] = row->cpu;
    for (size_t i = 0; i < shared->column_count; i++) {
        struct pd_profile_more *more = &columns->more[shared->columns[i]];
        more->values.data[more->values.count++] = values[i];
    }
}

void pd_profile_view(const perfdata_profile *profile, size_t from, struct perfdata_samples *out)
{
    const struct pd_profile_columns *columns = &profile->columns;
    *out = (struct perfdata_samples){
        .struct_size = sizeof *out,
        .count = columns->time.count - from,
        .first = profile->sample_count - (columns->time.count - from),
        .time = columns->time.data ? columns->time.data + from : NULL,
        .weight = columns->weight.data ? columns->weight.data + from : NULL,
        .event = columns->event.data ? columns->event.data + from : NULL,
        .thread = columns->thread.data ? columns->thread.data + from : NULL,
        .stack = columns->stack.data ? columns->stack.data + from : NULL,
        .cpu = columns->cpu.data ? columns->cpu.data + from : NULL,
    };
    for (size_t i = 0; i < PERFDATA_COLUMN_COUNT; i++)
        if (columns->more[i].values.count)
            out->columns[i] = columns->more[i].values.data + from;
}

static void clear_columns(struct pd_profile_columns *columns)
{
    columns->time.count = columns->weight.count = columns->event.count = columns->thread.count =
        columns->stack.count = columns->cpu.count = 0;
    for (size_t i = 0; i < PERFDATA_COLUMN_COUNT; i++)
        columns->more[i].values.count = 0;
}

/* ---- batches ---- */

static bool merge_row(struct pd_profile_shared *shared, struct pd_profile_rows *rows, size_t i,
                      bool wants_columns)
{
    perfdata_profile *profile = shared->profile;
    const struct pd_profile_row *row = &rows->rows.data[i];
    uint32_t stack = pd_profile_number_stack(shared, rows->tables, row->stack);
    uint32_t thread = thread_of(shared, row->thread, row->comm, row->pid);
    if (stack == PERFDATA_NONE || thread == PERFDATA_NONE)
        return false;
    struct perfdata_profile_event *event = pd_blocks_at(&profile->events, row->event,
                                                        sizeof *event);
    event->samples++;
    event->weight += row->weight;
    profile->sample_count++;
    count_thread(shared, thread, row->time);
    if (wants_columns)
        put_columns(shared, row, thread, stack,
                    shared->column_count ? rows->values.data + i * shared->column_count : NULL);
    return shared->options->flags & PERFDATA_PROFILE_NO_SUMS ||
           add_sum(shared, row->event, shared->known.counted_thread.data[thread], stack,
                   row->weight);
}

static perfdata_status merge_switches(struct pd_profile_shared *shared,
                                      const struct pd_profile_rows *rows)
{
    size_t most = shared->options->max_switches;
    for (size_t i = 0; i < rows->switches.count; i++) {
        const struct pd_profile_switch_row *row = &rows->switches.data[i];
        struct perfdata_profile_switch made = row->given;
        made.thread = thread_of(shared, row->thread, row->comm, row->pid);
        if (made.thread == PERFDATA_NONE || !pd_vec_push(&shared->profile->switches, made))
            return pd_no_memory(&shared->recording->context, "the profile");
        /* Thinning begins at twice the limit and drops half: seldom enough to take next to no
         * time. */
        if (most && shared->profile->switches.count >= 2 * most &&
            !pd_profile_thin_switches(shared->profile, most))
            return pd_no_memory(&shared->recording->context, "the profile");
    }
    return PERFDATA_OK;
}

static perfdata_status merge_branches(struct pd_profile_shared *shared,
                                      const struct pd_profile_rows *rows)
{
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < rows->branches.count && status >= 0; i++) {
        const struct pd_profile_branch *branch = &rows->branches.data[i];
        uint32_t thread = thread_of(shared, branch->thread, branch->comm, branch->pid);
        status = thread == PERFDATA_NONE
                     ? PERFDATA_ERROR_MEMORY
                     : pd_profile_calls_branch(shared, rows->tables, branch, thread);
    }
    return status == PERFDATA_ERROR_MEMORY
               ? pd_no_memory(&shared->recording->context, "the profile")
               : status;
}

static perfdata_status merge_marks(struct pd_profile_shared *shared,
                                   const struct pd_profile_rows *rows)
{
    const char *texts = rows->mark_texts.data;
    for (size_t i = 0; i < rows->marks.count; i++) {
        struct perfdata_profile_mark mark = rows->marks.data[i];
        if (mark.reserved) {
            const char *text = texts + mark.reserved - 1;
            bool cut = mark.kind == PERFDATA_MARK_EVENT &&
                       shared->profile->marks.count >= MARKS_WITH_VALUES;
            size_t length = cut ? strcspn(text, ":") : strlen(text);
            uint32_t number = pd_intern(&shared->profile->texts, text, length);
            if (number == PD_INTERN_NONE)
                return pd_no_memory(&shared->recording->context, "the profile");
            mark.text = pd_intern_text(&shared->profile->texts, number);
            mark.reserved = 0;
        }
        if (!pd_vec_push(&shared->profile->marks, mark))
            return pd_no_memory(&shared->recording->context, "the profile");
    }
    return PERFDATA_OK;
}

/* Numbers all new stacks of a batch, which a worker makes in the order of its rows. Not where a
 * part may end within the batch. False: no memory. */
static bool number_ahead(struct pd_profile_shared *shared, const struct pd_profile_rows *rows)
{
    uint32_t upto = 0;
    for (size_t i = 0; i < rows->rows.count; i++)
        upto = PD_MAX(upto, rows->rows.data[i].stack + 1);
    return pd_profile_number_stacks(shared, rows->tables, upto);
}

/* The profile's number for a worker's stack that already has one; PERFDATA_NONE: none yet. */
PD_INLINE uint32_t numbered(const struct pd_profile_rows *rows, size_t i)
{
    const struct pd_profile_tables *tables = rows->tables;
    const uint32_t stack = rows->rows.data[i].stack;
    return stack < tables->stack_ids.count ? tables->stack_ids.data[stack] - 1 : PERFDATA_NONE;
}

/* Prefetches what rows after row i will look at, since their stacks and sums are scattered in
 * memory. */
PD_INLINE void fetch_ahead(const struct pd_profile_shared *shared,
                           const struct pd_profile_rows *rows, size_t i)
{
    enum { ID = 24, LAST = 16, SUM = 8 };
    const struct pd_profile_known *known = &shared->known;
    if (i + ID >= rows->rows.count)
        return;
    uint32_t stack = rows->rows.data[i + ID].stack;
    if (stack < rows->tables->stack_ids.count)
        __builtin_prefetch(&rows->tables->stack_ids.data[stack]);
    stack = numbered(rows, i + LAST);
    if (stack < known->stack_sums.count)
        __builtin_prefetch(&known->stack_sums.data[stack]);
    stack = numbered(rows, i + SUM);
    if (stack < known->stack_sums.count && known->stack_sums.data[stack].last)
        __builtin_prefetch(&shared->profile->sums.data[known->stack_sums.data[stack].last - 1]);
}

/* ---- parts ---- */

static void forget_slots(uint32_t *slots, size_t mask)
{
    if (slots)
        memset(slots, 0, (mask + 1) * sizeof *slots);
}

/* Forgets numbers of stacks and frames that the profile no longer has. */
static void match_part(const struct pd_profile_shared *shared, struct pd_profile_tables *tables)
{
    if (PD_LIKELY(tables->part == shared->part))
        return;
    tables->part = shared->part;
    tables->stack_ids.count = 0;
    if (tables->frame_part != shared->frame_part)
        tables->frame_ids.count = 0;
    tables->frame_part = shared->frame_part;
}

static perfdata_status end_part(struct pd_profile_shared *shared)
{
    perfdata_profile *profile = shared->profile;
    struct pd_profile_known *known = &shared->known;
    const bool frames = profile->frames.count > shared->bounds.frames;
    perfdata_status status = shared->bounds.take(shared->bounds.data, profile, frames);
    if (status < 0)
        return status;
    profile->stacks.count = 0;
    profile->sums.count = 0;
    known->stack_sums.count = known->more_sums.count = 0;
    forget_slots(known->stack_slots, known->stack_mask);
    forget_slots(known->sum_slots, known->sum_mask);
    shared->part++;
    shared->full = false;
    if (!frames)
        return status;
    profile->frames.count = 0;
    forget_slots(known->frame_slots, known->frame_mask);
    shared->frame_part++;
    return status;
}

perfdata_status pd_profile_merge(struct pd_profile_shared *shared, struct pd_profile_rows *rows)
{
    const struct perfdata_profile_options *options = shared->options;
    perfdata_profile *profile = shared->profile;
    bool wants_columns = profile->keeps_samples || options->samples;
    if (wants_columns && !reserve_columns(shared, rows->rows.count))
        return pd_no_memory(&shared->recording->context, "the profile");
    size_t from = profile->columns.time.count;
    match_part(shared, rows->tables);
    if (!shared->bounds.take && !number_ahead(shared, rows))
        return pd_no_memory(&shared->recording->context, "the profile");
    for (size_t i = 0; i < rows->rows.count; i++) {
        fetch_ahead(shared, rows, i);
        if (!merge_row(shared, rows, i, wants_columns))
            return pd_no_memory(&shared->recording->context, "the profile");
        if (PD_LIKELY(!shared->full)) /* a part may end anywhere in a batch */
            continue;
        perfdata_status status = end_part(shared);
        if (status < 0)
            return status;
        match_part(shared, rows->tables);
    }
    if (options->samples && rows->rows.count) {
        struct perfdata_samples samples;
        pd_profile_view(profile, from, &samples);
        if (options->samples(options->samples_data, profile, &samples))
            return pd_fail(&shared->recording->context, PERFDATA_ERROR_CANCELLED, -1,
                           "the caller stopped it");
    }
    if (!profile->keeps_samples)
        clear_columns(&profile->columns);
    perfdata_status status = merge_switches(shared, rows);
    if (status >= 0)
        status = merge_branches(shared, rows);
    pd_profile_tables_leave(rows->tables);
    rows->tables = NULL;
    return status < 0 ? status : merge_marks(shared, rows);
}

void pd_profile_merge_free(struct pd_profile_shared *shared)
{
    pd_vec_free(&shared->known.function_keys);
    pd_vec_free(&shared->known.dsos);
    pd_vec_free(&shared->known.kernel_maps);
    pd_vec_free(&shared->known.maps.maps);
    pd_vec_free(&shared->known.path);
    pd_map64_free(&shared->known.object_map);
    pd_map64_free(&shared->known.comm_map);
    pd_map64_free(&shared->known.thread_map);
    pd_map64_free(&shared->known.thread_pid);
    free(shared->known.function_slots);
    free(shared->known.frame_slots);
    free(shared->known.stack_slots);
    free(shared->known.sum_slots);
    pd_vec_free(&shared->known.last_thread);
    pd_vec_free(&shared->known.thread_comms);
    pd_vec_free(&shared->known.comm_threads);
    pd_vec_free(&shared->known.counted_thread);
    pd_vec_free(&shared->known.stack_sums);
    pd_vec_free(&shared->known.more_sums);
    pd_profile_calls_free(shared->calls);
    shared->calls = NULL;
}
