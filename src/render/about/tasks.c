/* SPDX-License-Identifier: MIT */
/* The timeline at its end -> the trees of report --tasks and --mmaps. */
#include "render/about/tasks.h"
#include "pipeline/pipeline.h"
#include <stdlib.h>

#define NONE UINT32_MAX
#define MAP_SHARED_BIT 1     /* of mmap's flags */
#define FLUSH_SIZE (1 << 18) /* bytes of text that are kept until they are written */

struct task {
    struct pd_thread *thread;
    uint32_t parent, first_child, last_child, next; /* indices, NONE */
    bool listed;
};

struct tasks {
    struct task *tasks;
    uint32_t count;
    uint32_t first_root, last_root;
    struct pd_map64 by_tid;
    struct pd_text *out;
    pd_tasks_flush_fn flush;
    void *flush_data;
    size_t indent; /* of maps */
};

/* perf's own walk sees only these records: not even samples make a thread known. */
static int front(void *data, const struct pd_delivered *record)
{
    switch (record->type) {
    case PD_RECORD_COMM:
    case PD_RECORD_FORK:
    case PD_RECORD_EXIT: return PD_FRONT_PASS;
    case PD_RECORD_MMAP:
    case PD_RECORD_MMAP2: return *(const bool *)data ? PD_FRONT_PASS : PD_FRONT_IGNORE;
    default: return PD_FRONT_IGNORE;
    }
}

/* ---- the trees ------------------------------------------------------------------------------- */

/* perf's table has 256 buckets by tid, each in order of tid. */
static int by_bucket(const void *a, const void *b)
{
    uint32_t x = ((const struct task *)a)->thread->tid, y = ((const struct task *)b)->thread->tid;
    if (x % 256 != y % 256)
        return x % 256 < y % 256 ? -1 : 1;
    int32_t m = (int32_t)x, n = (int32_t)y;
    return m < n ? -1 : m > n;
}

static bool collect(struct tasks *tasks, const struct pd_timeline *timeline)
{
    size_t count = pd_timeline_thread_count(timeline);
    tasks->tasks = calloc(count + 1, sizeof *tasks->tasks);
    if (!tasks->tasks || count >= NONE)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct pd_thread *thread = pd_timeline_thread(timeline, i);
        if (pd_thread_current(thread))
            tasks->tasks[tasks->count++] = (struct task){
                .thread = thread, NONE, NONE, NONE, NONE, false
            };
    }
    qsort(tasks->tasks, tasks->count, sizeof *tasks->tasks, by_bucket);
    for (uint32_t i = 0; i < tasks->count; i++)
        if (!pd_map64_set(&tasks->by_tid, tasks->tasks[i].thread->tid, i))
            return false;
    return true;
}

static void append(struct tasks *tasks, uint32_t *first, uint32_t *last, uint32_t index)
{
    if (*last == NONE)
        *first = index;
    else
        tasks->tasks[*last].next = index;
    *last = index;
    tasks->tasks[index].listed = true;
}

/* Puts each task below its parent, and so on up to the first one that is listed already. A ring of
 * parents has no root; like perf we show none of its tasks. False: a parent is missing. */
static bool link_tasks(struct tasks *tasks)
{
    for (uint32_t i = 0; i < tasks->count; i++) {
        for (uint32_t at = i; !tasks->tasks[at].listed;) {
            struct task *task = &tasks->tasks[at];
            uint32_t ppid = pd_thread_ppid(task->thread, UINT64_MAX);
            if (ppid == UINT32_MAX) {
                append(tasks, &tasks->first_root, &tasks->last_root, at);
                break;
            }
            task->parent = pd_map64_get(&tasks->by_tid, ppid);
            if (task->parent == PD_MAP64_NONE)
                return false;
            struct task *parent = &tasks->tasks[task->parent];
            append(tasks, &parent->first_child, &parent->last_child, at);
            at = task->parent;
        }
    }
    return true;
}

/* ---- the text -------------------------------------------------------------------------------- */

/* Ends a line, and gives away the text written so far when there is much of it. */
static perfdata_status end_line(struct tasks *tasks)
{
    pd_text_char(tasks->out, '\n');
    return tasks->out->length < FLUSH_SIZE ? 0 : tasks->flush(tasks->flush_data, tasks->out);
}

static int print_map(void *data, const struct pd_map *map)
{
    struct tasks *tasks = data;
    struct pd_text *out = tasks->out;
    pd_text_fill(out, ' ', tasks->indent + 2);
    pd_text_hex(out, map->start, 0, ' ');
    pd_text_char(out, '-');
    pd_text_hex(out, map->end, 0, ' ');
    pd_text_char(out, ' ');
    pd_text_char(out, map->prot & PD_PROT_READ ? 'r' : '-');
    pd_text_char(out, map->prot & PD_PROT_WRITE ? 'w' : '-');
    pd_text_char(out, map->prot & PD_PROT_EXEC ? 'x' : '-');
    pd_text_char(out, map->flags & MAP_SHARED_BIT ? 's' : 'p');
    pd_text_char(out, ' ');
    pd_text_hex(out, map->pgoff, 8, '0');
    pd_text_char(out, ' ');
    pd_text_u64(out, map->dso->ino, 0, ' ');
    pd_text_char(out, ' ');
    pd_text_bytes(out, map->dso->name, map->dso->name_length);
    return end_line(tasks);
}

static perfdata_status print_task(struct tasks *tasks, const struct task *task, size_t level,
                                  bool maps)
{
    struct pd_text *out = tasks->out;
    const struct pd_comm *comm = pd_thread_comm(task->thread, UINT64_MAX);
    size_t begin = out->length;
    pd_text_string(out, "  ");
    pd_text_i64(out, (int32_t)pd_thread_pid(task->thread, UINT64_MAX), 8);
    pd_text_char(out, ' ');
    pd_text_i64(out, (int32_t)task->thread->tid, 8);
    pd_text_char(out, ' ');
    pd_text_i64(out, (int32_t)pd_thread_ppid(task->thread, UINT64_MAX), 8);
    pd_text_string(out, " |");
    pd_text_fill(out, ' ', level);
    tasks->indent = out->length - begin;
    pd_text_string(out, comm ? pd_comm_final_text(comm) : "");
    perfdata_status status = end_line(tasks);
    return status < 0 || !maps ? status
                               : pd_thread_each_map(task->thread, UINT64_MAX, print_map, tasks);
}

/* Depth first. It follows the links instead of recursing, since the input decides the depth. */
static perfdata_status print_tree(struct tasks *tasks, uint32_t root, bool maps)
{
    size_t level = 0;
    for (uint32_t at = root; at != NONE;) {
        perfdata_status status = print_task(tasks, &tasks->tasks[at], level, maps);
        if (status < 0)
            return status;
        if (tasks->tasks[at].first_child != NONE) {
            at = tasks->tasks[at].first_child;
            level++;
            continue;
        }
        while (level && tasks->tasks[at].next == NONE) {
            at = tasks->tasks[at].parent;
            level--;
        }
        at = tasks->tasks[at].next;
    }
    return 0;
}

static perfdata_status print_all(struct pd_session *session, bool maps, struct pd_text *out,
                                 pd_tasks_flush_fn flush, void *data)
{
    struct pd_context *context = &session->recording->context;
    struct tasks tasks = {
        .first_root = NONE, .last_root = NONE, .out = out, .flush = flush, .flush_data = data
    };
    perfdata_status status = 0;
    if (!collect(&tasks, session->timeline)) {
        status = pd_no_memory(context, "tasks");
    } else if (!link_tasks(&tasks)) {
        status = pd_fail(context, PERFDATA_ERROR_NO_DATA, -1, "Error: failed to process tasks");
    } else {
        pd_text_string(out, "#      pid      tid     ppid  comm\n");
        status = print_tree(&tasks, tasks.first_root, maps);
    }
    free(tasks.tasks);
    pd_map64_free(&tasks.by_tid);
    return status;
}

perfdata_status pd_tasks_text(struct pd_recording *recording, const struct pd_object_search *search,
                              struct pd_text *out, pd_tasks_flush_fn flush, void *data)
{
    struct pd_session session;
    bool maps = search != NULL;
    perfdata_status status = pd_session_open(recording, search, &session);
    if (status < 0)
        return status;
    struct pd_consumer consumer = {
        .kind = PD_CONSUME_SEQUENTIAL,
        .data = &maps,
        .no_samples = true,
        .order = PD_ORDER_DELIVERY,
        .front = front,
    };
    status = pd_pipeline_run(&session, &consumer, 1);
    if (status == 0 || (status != PERFDATA_ERROR_MEMORY &&
                        !recording->stay_closed)) { /* a part would pass for the whole */
        perfdata_status printed = print_all(&session, maps, out, flush, data);
        status = status < 0 ? status : printed;
    }
    status = pd_analysis_status(&recording->context, status);
    pd_session_close(&session);
    return status;
}
