/* SPDX-License-Identifier: MIT */
/* Records -> threads, their names and namespaces, cgroups, build-ids; user_maps.c and kernel.c do
 * their maps. */
#include "model/timeline.h"
#include "base/memory.h"
#include "format/offsets.h"
#include "format/structs.h"
#include <stdio.h>
#include <stdlib.h>

#define NEVER UINT64_MAX
#define NO_THREAD (PD_MAP64_NONE - 1) /* in by_tid: its thread was taken out */

/* ---- names ---- */

static const char *intern_comm(struct pd_timeline *timeline, const char *text, size_t length)
{
    uint32_t id = pd_intern(timeline->comms, text, length);
    return id == PD_INTERN_NONE ? NULL : pd_intern_text(timeline->comms, id);
}

static struct pd_comm *new_comm(struct pd_timeline *timeline, const char *text, uint64_t number)
{
    struct pd_comm *comm = text ? pd_arena_zalloc(&timeline->arena, sizeof *comm) : NULL;
    if (!comm)
        return NULL;
    comm->index = timeline->host->comm_count++;
    pd_version_follow(&comm->version, number, NULL, 0);
    atomic_init(&comm->final_text, text);
    atomic_init(&comm->replaced_at, NEVER);
    return comm;
}

/* The first name replaces the default in place, later ones are added. */
static perfdata_status set_comm(struct pd_timeline *timeline, struct pd_thread_state *state,
                                const char *text, uint64_t number, bool exec)
{
    struct pd_comm *comm = atomic_load_explicit(&state->comm, memory_order_relaxed);
    if (!text)
        return PERFDATA_ERROR_MEMORY;
    if (state->comm_set) {
        struct pd_comm *added = new_comm(timeline, text, number);
        if (!added)
            return PERFDATA_ERROR_MEMORY;
        atomic_init(&added->exec, exec);
        pd_version_follow(&added->version, number, &comm->version, 0);
        atomic_store_explicit(&state->comm, added, memory_order_release);
        return 0;
    }
    atomic_store_explicit(&comm->final_text, text, memory_order_release);
    atomic_store_explicit(&comm->replaced_at, number, memory_order_release);
    if (exec)
        atomic_store(&comm->exec, true);
    state->comm_set = true;
    return 0;
}

/* ---- threads ---- */

static struct pd_thread *find_thread(struct pd_timeline *timeline, uint32_t tid)
{
    uint32_t index = pd_map64_get(&timeline->by_tid, tid);
    return index >= NO_THREAD ? NULL : timeline->threads.data[index];
}

/* A thread with its default name and no maps yet, in the table. */
static struct pd_thread *new_thread(struct pd_timeline *timeline, uint32_t pid, uint32_t tid,
                                    uint64_t number)
{
    char name[24];
    int length = snprintf(name, sizeof name, ":%d", (int)tid);
    struct pd_thread *thread = pd_arena_zalloc(&timeline->arena, sizeof *thread);
    struct pd_thread_state *state = pd_arena_zalloc(&timeline->arena, sizeof *state);
    struct pd_comm *comm = new_comm(timeline, intern_comm(timeline, name, (size_t)length), number);
    if (!thread || !state || !comm || timeline->threads.count >= NO_THREAD ||
        !pd_vec_push(&timeline->threads, thread))
        return NULL;
    comm->default_text = atomic_load_explicit(&comm->final_text, memory_order_relaxed);
    thread->index = timeline->host->thread_count++;
    thread->tid = tid;
    thread->timeline = timeline;
    thread->state = state;
    atomic_init(&state->comm, comm);
    state->first_comm = comm;
    atomic_init(&state->pid_at, NEVER);
    atomic_init(&state->ppid_at, NEVER);
    state->pid = pid;
    state->made_pid = pid;
    state->current = true;
    timeline->pool.changes++;
    if (!pd_map64_set(&timeline->by_tid, tid, (uint32_t)timeline->threads.count - 1))
        return NULL;
    return thread;
}

static bool own_maps(struct pd_timeline *timeline, struct pd_thread_state *state)
{
    state->maps_before = state->maps = pd_map_set_new(&timeline->pool);
    if (!state->maps)
        return false;
    state->maps->threads = 1;
    return true;
}

static void leave_set(struct pd_timeline *timeline, struct pd_map_set *set, uint64_t number)
{
    if (--set->threads == 0)
        pd_map_set_bury(&timeline->pool, set, number);
}

/* The thread whose tid is the pid: its maps are the process's. */
static struct pd_thread *leader_of(struct pd_timeline *timeline, uint32_t pid, uint64_t number)
{
    struct pd_thread *leader = find_thread(timeline, pid);
    if (!leader) {
        leader = new_thread(timeline, pid, pid, number);
        if (!leader || !own_maps(timeline, leader->state))
            return NULL;
        atomic_store_explicit(&leader->state->pid_at, number, memory_order_release);
        return leader;
    }
    struct pd_thread_state *state = leader->state;
    if (atomic_load_explicit(&state->pid_at, memory_order_relaxed) == NEVER) {
        state->pid = pid; /* its own leader: the maps stay */
        atomic_store_explicit(&state->pid_at, number, memory_order_release);
    }
    return leader;
}

/* The pid of a thread that had none: it moves to that process's maps. */
static bool set_pid(struct pd_timeline *timeline, struct pd_thread *thread, uint32_t pid,
                    uint64_t number)
{
    struct pd_thread_state *state = thread->state;
    if (pid != thread->tid) {
        struct pd_thread *leader = leader_of(timeline, pid, number);
        if (!leader)
            return false;
        struct pd_map_set *set = pd_thread_set(leader->state, number);
        set->threads++;
        leave_set(timeline, state->maps_before, number);
        state->maps = set;
        state->leader = leader;
    }
    state->pid = pid;
    timeline->pool.changes++;
    atomic_store_explicit(&state->pid_at, number, memory_order_release);
    return true;
}

static struct pd_thread *make_thread(struct pd_timeline *timeline, uint32_t pid, uint32_t tid,
                                     uint64_t number)
{
    struct pd_thread *thread = new_thread(timeline, pid, tid, number);
    if (!thread)
        return NULL;
    struct pd_thread_state *state = thread->state;
    if (pid == tid || pid == UINT32_MAX) {
        if (!own_maps(timeline, state))
            return NULL;
    } else {
        struct pd_thread *leader = leader_of(timeline, pid, number);
        if (!leader)
            return NULL;
        state->maps_before = state->maps = pd_thread_set(leader->state, number);
        state->maps->threads++;
        state->leader = leader;
    }
    if (pid != UINT32_MAX)
        atomic_store_explicit(&state->pid_at, number, memory_order_release);
    return thread;
}

struct pd_thread *pd_thread_findnew(struct pd_timeline *timeline, uint32_t pid, uint32_t tid,
                                    uint64_t number)
{
    struct pd_thread *thread = find_thread(timeline, tid);
    if (PD_UNLIKELY(!thread))
        return make_thread(timeline, pid, tid, number);
    if (PD_UNLIKELY(pid != UINT32_MAX &&
                    atomic_load_explicit(&thread->state->pid_at, memory_order_relaxed) == NEVER) &&
        !set_pid(timeline, thread, pid, number))
        return NULL;
    return thread;
}

/* Out of the table; a thread of the same tid follows at once. */
static void remove_thread(struct pd_timeline *timeline, struct pd_thread *thread, uint64_t number)
{
    struct pd_thread_state *state = thread->state;
    if (!state->current)
        return;
    state->current = false;
    timeline->pool.changes++;
    leave_set(timeline, pd_thread_set(state, number), number);
}

static struct pd_thread *replace_thread(struct pd_timeline *timeline, struct pd_thread *old,
                                        uint32_t pid, uint64_t number)
{
    if (!old->state->current)
        return pd_thread_findnew(timeline, pid, old->tid, number);
    remove_thread(timeline, old, number);
    return make_thread(timeline, pid, old->tid, number);
}

struct pd_thread *pd_timeline_find(struct pd_timeline *timeline, uint32_t tid)
{
    return find_thread(timeline, tid);
}

const uint64_t *pd_timeline_changes(const struct pd_timeline *timeline)
{
    return &timeline->pool.changes;
}

const struct pd_map *pd_thread_map_now(const struct pd_thread *thread, uint64_t number, uint64_t ip)
{
    return pd_map_set_find_now(pd_thread_set(thread->state, number), ip);
}

static PD_NOINLINE struct pd_thread *touch(struct pd_timeline *timeline, uint32_t pid, uint32_t tid,
                                           uint64_t number)
{
    struct pd_recent_thread *recent = &timeline->recent[tid % PD_RECENT_THREADS];
    struct pd_thread *thread = pd_thread_findnew(timeline, pid, tid, number);
    if (PD_UNLIKELY(!thread))
        return NULL;
    struct pd_map_set *set = pd_thread_set(thread->state, number);
    if ((PD_UNLIKELY(set->dirty) && !pd_map_set_publish(&timeline->pool, set, number)) ||
        (PD_UNLIKELY(timeline->kernel.dirty) &&
         !pd_map_set_publish(&timeline->pool, &timeline->kernel, number)))
        return NULL;
    bool has_pid = atomic_load_explicit(&thread->state->pid_at, memory_order_relaxed) != NEVER;
    *recent = (struct pd_recent_thread){ thread, tid, pid, has_pid, timeline->pool.changes };
    return thread;
}

struct pd_thread *pd_timeline_touch(struct pd_timeline *timeline, uint32_t pid, uint32_t tid,
                                    uint64_t number)
{
    const struct pd_recent_thread *recent = &timeline->recent[tid % PD_RECENT_THREADS];
    if (PD_LIKELY(recent->tid == tid && (recent->pid == pid || recent->has_pid) && recent->thread &&
                  recent->changes == timeline->pool.changes))
        return recent->thread;
    return touch(timeline, pid, tid, number);
}

/* ---- records ---- */

static perfdata_status apply_comm(struct pd_timeline *timeline, const struct pd_record_comm *comm,
                                  uint64_t number)
{
    struct pd_thread *thread = pd_thread_findnew(timeline, comm->pid, comm->tid, number);
    if (!thread)
        return PERFDATA_ERROR_MEMORY;
    return set_comm(timeline, thread->state,
                    intern_comm(timeline, comm->comm.text, comm->comm.length), number,
                    comm->header.misc & PD_MISC_COMM_EXEC);
}

static perfdata_status apply_fork(struct pd_timeline *timeline, const struct pd_record_fork *fork,
                                  uint64_t number)
{
    struct pd_thread *old = find_thread(timeline, fork->tid);
    struct pd_thread *parent = pd_thread_findnew(timeline, fork->ppid, fork->ptid, number);
    if (parent && pd_thread_pid(parent, number) != fork->ppid)
        parent = replace_thread(timeline, parent, fork->ppid, number);
    if (!parent)
        return PERFDATA_ERROR_MEMORY;
    struct pd_thread *child = old ? replace_thread(timeline, old, fork->pid, number)
                                  : pd_thread_findnew(timeline, fork->pid, fork->tid, number);
    if (!child)
        return PERFDATA_ERROR_MEMORY;
    struct pd_thread_state *from = parent->state, *to = child->state;
    if (from->comm_set) {
        const struct pd_comm *comm = atomic_load_explicit(&from->comm, memory_order_relaxed);
        perfdata_status status = set_comm(timeline, to, pd_comm_final_text(comm), number, false);
        if (status < 0)
            return status;
    }
    to->ppid = parent->tid;
    atomic_store_explicit(&to->ppid_at, number, memory_order_release);
    struct pd_map_set *source = pd_thread_set(from, number), *target = pd_thread_set(to, number);
    if (fork->pid == fork->ppid || source == target || fork->header.misc & PD_MISC_FORK_EXEC)
        return 0;
    pd_map_set_share(&timeline->pool, target, source);
    return 0;
}

static perfdata_status apply_exit(struct pd_timeline *timeline, const struct pd_record_exit *gone,
                                  uint64_t number)
{
    struct pd_thread *thread = find_thread(timeline, gone->tid);
    if (!thread)
        return 0;
    thread->state->dead = true; /* nothing follows from it: name and maps stay */
    if (!pd_thread_findnew(timeline, gone->pid, gone->tid, number))
        return PERFDATA_ERROR_MEMORY;
    if (!timeline->remove_exited)
        return 0;
    remove_thread(timeline, thread, number);
    return pd_map64_set(&timeline->by_tid, gone->tid, NO_THREAD) ? 0 : PERFDATA_ERROR_MEMORY;
}

/* ---- others ---- */

/* NULL: no memory. */
static struct pd_cgroup_table *room_for_cgroup(struct pd_timeline *timeline)
{
    enum { FIRST_SIZE = 16 };
    struct pd_cgroup_table *old = atomic_load_explicit(&timeline->cgroups, memory_order_relaxed);
    if (old && old->count * 2 <= old->mask)
        return old;
    size_t size = old ? (old->mask + 1) * 2 : FIRST_SIZE, bytes;
    if (pd_mul_overflows(size, sizeof old->slots[0], &bytes) ||
        pd_add_overflows(bytes, sizeof *old, &bytes))
        return NULL;
    struct pd_cgroup_table *table = pd_arena_zalloc(&timeline->arena, bytes);
    if (!table)
        return NULL;
    table->mask = size - 1;
    for (size_t i = 0; old && i <= old->mask; i++) {
        struct pd_cgroup *cgroup = atomic_load_explicit(&old->slots[i], memory_order_relaxed);
        if (cgroup)
            atomic_init(pd_cgroup_slot(table, cgroup->id), cgroup);
    }
    table->count = old ? old->count : 0;
    atomic_store_explicit(&timeline->cgroups, table, memory_order_release);
    return table;
}

static perfdata_status apply_cgroup(struct pd_timeline *timeline,
                                    const struct pd_record_cgroup *record, uint64_t number)
{
    struct pd_cgroup_table *table = room_for_cgroup(timeline);
    if (!table)
        return PERFDATA_ERROR_MEMORY;
    struct pd_cgroup *_Atomic *slot = pd_cgroup_slot(table, record->id);
    if (atomic_load_explicit(slot, memory_order_relaxed))
        return 0;
    struct pd_cgroup *cgroup = pd_arena_alloc(&timeline->arena, sizeof *cgroup);
    char *path = pd_arena_copy(&timeline->arena, record->path.text, record->path.length);
    if (!cgroup || !path)
        return PERFDATA_ERROR_MEMORY;
    *cgroup = (struct pd_cgroup){ record->id, number, path };
    atomic_store_explicit(slot, cgroup, memory_order_release);
    table->count++;
    return 0;
}

perfdata_status pd_timeline_check_id(struct pd_timeline *timeline, struct pd_dso *dso)
{
    const struct pd_dso *other = pd_dso_check_id(&timeline->dsos, dso);
    if (!other || timeline->told_ids)
        return 0;
    timeline->told_ids = true;
    return pd_issue(
        timeline->context, PERFDATA_ISSUE_OBJECT, -1,
        "%s and %s have one build-id in the recording: it is believed of the first only",
        other->short_name, dso->short_name);
}

static perfdata_status add_build_id(struct pd_timeline *timeline,
                                    const struct pd_part_build_id_entry *entry)
{
    bool guest = timeline->machine_pid != PD_HOST;
    unsigned mode = entry->misc & PD_MISC_CPUMODE_MASK;
    bool kernel = mode == (guest ? PD_CPUMODE_GUEST_KERNEL : PD_CPUMODE_KERNEL);
    bool user = mode == (guest ? PD_CPUMODE_GUEST_USER : PD_CPUMODE_USER);
    if ((!kernel && !user) || entry->pid != timeline->machine_pid || !entry->filename.text)
        return 0;
    const char *name = entry->filename.text;
    size_t length = entry->filename.length;
    struct pd_dso *dso = pd_dso_findnew(&timeline->dsos, name, length, NULL);
    if (!dso)
        return PERFDATA_ERROR_MEMORY;
    pd_dso_set_build_id(dso, entry->build_id, pd_build_id_length(entry));
    dso->from_header = true;
    if (!kernel || dso->mapped)
        return 0;
    struct pd_text text = { 0 };
    dso->kernel_space = true;
    dso->kind = PD_DSO_KERNEL;
    bool ok = true;
    if (pd_module_name(name, length, &text)) {
        dso->kind = PD_DSO_MODULE;
        ok = !text.failed && pd_dso_set_short_name(&timeline->dsos, dso, text.data, text.length);
    }
    pd_text_free(&text);
    return ok ? pd_timeline_check_id(timeline, dso) : PERFDATA_ERROR_MEMORY;
}

static perfdata_status apply_build_id(struct pd_timeline *timeline, const uint8_t *record,
                                      uint32_t size)
{
    struct pd_part_build_id_entry entry;
    if (!pd_build_id_next(record, size, timeline->swap, false, &entry))
        return PERFDATA_ERROR_BAD_RECORD;
    return add_build_id(timeline, &entry);
}

/* Decodes as `kind` and hands it on. */
#define APPLY(kind, call)                                                                          \
    {                                                                                              \
        struct pd_record_##kind decoded;                                                           \
        status = pd_record_decode(event, record, size, timeline->swap, NULL, &decoded,             \
                                  sizeof decoded);                                                 \
        if (status == 0)                                                                           \
            status = call(timeline, &decoded, number);                                             \
        break;                                                                                     \
    }

/* pid, tid, count, then a device and an inode each: net, uts, ipc, pid, user, mnt, cgroup. */
static perfdata_status apply_namespaces(struct pd_timeline *timeline, const uint8_t *record,
                                        uint32_t size, uint64_t number)
{
    enum {
        LINKS = sizeof(struct pd_at_namespaces),
        LINK = sizeof(struct pd_part_at_namespace_link)
    };
    bool swap = timeline->swap;
    if (size < LINKS)
        return 0;
    struct pd_thread *thread = pd_thread_findnew(
        timeline, pd_load32(record + PD_AT(namespaces, pid), swap),
        pd_load32(record + PD_AT(namespaces, tid), swap), number);
    if (!thread)
        return PERFDATA_ERROR_MEMORY;
    if (pd_load64(record + PD_AT(namespaces, nr_namespaces), swap) <= PD_NAMESPACE_CGROUP ||
        size < LINKS + LINK * (PD_NAMESPACE_CGROUP + 1))
        return 0;
    struct pd_namespaces *added = pd_arena_alloc(&timeline->arena, sizeof *added);
    if (!added)
        return PERFDATA_ERROR_MEMORY;
    const uint8_t *link = record + LINKS + LINK * PD_NAMESPACE_CGROUP;
    struct pd_namespaces *before = atomic_load_explicit(&thread->state->namespaces,
                                                        memory_order_relaxed);
    *added = (struct pd_namespaces){
        .device = pd_load64(link, swap),
        .inode = pd_load64(link + PD_AT_PART(namespace_link, ino), swap),
        .mount = pd_load64(
            record + LINKS + LINK * PD_NAMESPACE_MNT + PD_AT_PART(namespace_link, ino), swap)
    };
    pd_version_follow(&added->version, number, before ? &before->version : NULL, 0);
    atomic_store_explicit(&thread->state->namespaces, added, memory_order_release);
    return 0;
}

perfdata_status pd_timeline_apply(struct pd_timeline *timeline, const struct pd_event *event,
                                  const uint8_t *record, uint32_t size, uint64_t number)
{
    perfdata_status status = 0;
    switch (pd_record_header(record, timeline->swap).type) {
    case PD_RECORD_COMM: APPLY(comm, apply_comm)
    case PD_RECORD_FORK: APPLY(fork, apply_fork)
    case PD_RECORD_EXIT: APPLY(exit, apply_exit)
    case PD_RECORD_MMAP: APPLY(mmap, pd_timeline_mmap)
    case PD_RECORD_MMAP2: APPLY(mmap2, pd_timeline_mmap2)
    case PD_RECORD_NAMESPACES: status = apply_namespaces(timeline, record, size, number); break;
    case PD_RECORD_CGROUP: APPLY(cgroup, apply_cgroup)
    case PD_RECORD_KSYMBOL:
        status = pd_timeline_ksymbol(timeline, event, record, size, number);
        break;
    case PD_RECORD_HEADER_BUILD_ID: status = apply_build_id(timeline, record, size); break;
    default: break;
    }
    if (status == PERFDATA_ERROR_BAD_RECORD) /* the rest of the recording does not depend on it */
        status = pd_issue(timeline->context, PERFDATA_ISSUE_BAD_RECORD, -1,
                          "%s record %llu cannot be applied",
                          pd_record_type_name(pd_record_header(record, timeline->swap).type),
                          (unsigned long long)number);
    return status;
}

/* ---- life ---- */

static bool named_thread(struct pd_timeline *timeline, uint32_t pid, uint32_t tid, const char *name)
{
    struct pd_thread *thread = make_thread(timeline, pid, tid, 0);
    return thread &&
           !set_comm(timeline, thread->state, intern_comm(timeline, name, strlen(name)), 0, false);
}

static bool start(struct pd_timeline *timeline, const struct pd_features *features)
{
    if (features && features->build_id.present)
        for (size_t i = 0; i < features->build_id.entries_count; i++)
            if (add_build_id(timeline, &features->build_id.entries[i]) < 0)
                return false;
    /* The idle task, and of a guest the thread that stands for all of it; the nameless one has only
     * that. */
    uint32_t machine = timeline->machine_pid;
    char name[24];
    snprintf(name, sizeof name, "[guest/%d]", (int)machine);
    return (machine == PD_HOST || named_thread(timeline, UINT32_MAX, machine, name)) &&
           (!machine || named_thread(timeline, 0, 0, "swapper"));
}

static struct pd_timeline *new_timeline(struct pd_context *context, struct pd_timeline *host,
                                        const struct pd_features *features, bool swap,
                                        uint32_t machine)
{
    struct pd_timeline *timeline = pd_memory_noted(calloc(1, sizeof *timeline));
    if (!timeline)
        return NULL;
    timeline->context = context;
    timeline->swap = swap;
    timeline->host = host ? host : timeline;
    timeline->comms = &timeline->host->own_comms;
    timeline->dsos.names = &timeline->host->dsos.own_names;
    timeline->dsos.total = &timeline->host->dsos.own_total;
    timeline->machine_pid = machine;
    size_t size = sizeof timeline->kernel_name;
    if (machine == PD_HOST)
        snprintf(timeline->kernel_name, size, PD_KERNEL_NAME);
    else if (!machine)
        snprintf(timeline->kernel_name, size, "[guest.kernel.kallsyms]");
    else
        snprintf(timeline->kernel_name, size, "[guest.kernel.kallsyms.%d]", (int)machine);
    if (!start(timeline, features)) {
        pd_timeline_free(timeline);
        return NULL;
    }
    return timeline;
}

struct pd_timeline *pd_timeline_new(struct pd_context *context, const struct pd_features *features,
                                    bool swap)
{
    return new_timeline(context, NULL, features, swap, PD_HOST);
}

struct pd_timeline *pd_timeline_new_guest(struct pd_timeline *host,
                                          const struct pd_features *features, uint32_t pid)
{
    return new_timeline(host->context, host, features, host->swap, pid);
}

uint32_t pd_timeline_machine(const struct pd_timeline *timeline)
{
    return timeline->machine_pid;
}

void pd_timeline_set_hypervisor(struct pd_timeline *timeline, const struct pd_thread *thread)
{
    timeline->hypervisor = thread;
}

const struct pd_thread *pd_timeline_hypervisor(const struct pd_timeline *timeline)
{
    return timeline->hypervisor;
}

const char *pd_timeline_kernel_name(const struct pd_timeline *timeline)
{
    return timeline->kernel_name;
}

void pd_timeline_set_symbols(struct pd_timeline *timeline, void *symbols,
                             enum pd_program_kind (*program_kind)(void *symbols,
                                                                  const struct pd_map *map))
{
    timeline->symbols = symbols;
    timeline->program_kind = program_kind;
}

void *pd_timeline_symbols(const struct pd_timeline *timeline)
{
    return timeline->symbols;
}

void pd_timeline_free(struct pd_timeline *timeline)
{
    if (!timeline)
        return;
    pd_map_pool_free(&timeline->pool);
    pd_dso_table_free(&timeline->dsos);
    pd_intern_free(&timeline->own_comms);
    pd_vec_free(&timeline->threads);
    pd_map64_free(&timeline->by_tid);
    pd_arena_free(&timeline->arena);
    free(timeline);
}

void pd_timeline_remove_exited(struct pd_timeline *timeline)
{
    timeline->remove_exited = true;
}

void pd_timeline_log_maps(struct pd_timeline *timeline, struct pd_map_log *log)
{
    timeline->host->map_log = log;
}

void pd_timeline_retire(struct pd_timeline *timeline, uint64_t number)
{
    pd_map_pool_retire(&timeline->pool, number);
}

void pd_timeline_settle(struct pd_timeline *timeline, uint64_t number)
{
    atomic_store_explicit(&timeline->settled, number, memory_order_release);
}
