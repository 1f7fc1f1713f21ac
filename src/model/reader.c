/* SPDX-License-Identifier: MIT */
/* What workers ask: no locks, only facts that the writer published before the number it handed
 * out. */
#include "model/timeline.h"

/* For numbers before the thread was first seen, the answer is the first that is known. */
static const struct pd_comm *comm_at(const struct pd_thread *thread, uint64_t number,
                                     uint64_t *until)
{
    const struct pd_comm *newest = atomic_load_explicit(&thread->state->comm, memory_order_acquire);
    const struct pd_version *found = pd_version_at(&newest->version, number, until);
    return found ? (const struct pd_comm *)found : thread->state->first_comm;
}

const struct pd_comm *pd_thread_comm(const struct pd_thread *thread, uint64_t number)
{
    return comm_at(thread, number, NULL);
}

bool pd_thread_cgroup_namespace(const struct pd_thread *thread, uint64_t number, uint32_t *device,
                                uint64_t *inode)
{
    const struct pd_namespaces *newest = atomic_load_explicit(&thread->state->namespaces,
                                                              memory_order_acquire);
    if (!newest)
        return false;
    const struct pd_namespaces *at = (const struct pd_namespaces *)pd_version_at(&newest->version,
                                                                                 number, NULL);
    if (!at)
        return false;
    *device = (uint32_t)at->device;
    *inode = at->inode;
    return true;
}

const char *pd_comm_text(const struct pd_comm *comm, uint64_t number)
{
    if (comm->default_text &&
        number < atomic_load_explicit(&comm->replaced_at, memory_order_acquire))
        return comm->default_text;
    return atomic_load_explicit(&comm->final_text, memory_order_acquire);
}

uint64_t pd_thread_comm_until(const struct pd_thread *thread, uint64_t number, uint64_t settled)
{
    uint64_t until = PD_MAX(number, settled) + 1;
    const struct pd_comm *comm = comm_at(thread, number, &until);
    uint64_t replaced = comm->default_text
                            ? atomic_load_explicit(&comm->replaced_at, memory_order_acquire)
                            : 0;
    return replaced > number ? PD_MIN(until, replaced) : until;
}

const char *pd_comm_final_text(const struct pd_comm *comm)
{
    return atomic_load_explicit(&comm->final_text, memory_order_acquire);
}

uint32_t pd_thread_pid(const struct pd_thread *thread, uint64_t number)
{
    const struct pd_thread_state *state = thread->state;
    return number >= atomic_load_explicit(&state->pid_at, memory_order_acquire) &&
                   atomic_load_explicit(&state->pid_at, memory_order_relaxed) != UINT64_MAX
               ? state->pid
               : UINT32_MAX;
}

const struct pd_thread *pd_thread_leader(const struct pd_thread *thread, uint64_t number)
{
    uint32_t pid = pd_thread_pid(thread, number);
    if (pid == thread->tid)
        return thread;
    return pid == UINT32_MAX ? NULL : thread->state->leader;
}

uint32_t pd_thread_ppid(const struct pd_thread *thread, uint64_t number)
{
    const struct pd_thread_state *state = thread->state;
    uint64_t at = atomic_load_explicit(&state->ppid_at, memory_order_acquire);
    return at != UINT64_MAX && number >= at ? state->ppid : UINT32_MAX;
}

bool pd_thread_current(const struct pd_thread *thread)
{
    return thread->state->current;
}

bool pd_thread_dead(const struct pd_thread *thread)
{
    return thread->state->dead;
}

/* The flag keeps the map alive when its versions go. */
static const struct pd_map *noted(const struct pd_map *map)
{
    if (map && !atomic_load_explicit(&map->hit, memory_order_relaxed))
        atomic_store_explicit(&((struct pd_map *)map)->hit, true, memory_order_relaxed);
    return map;
}

static const struct pd_map *found(const struct pd_map_version *version, uint64_t ip)
{
    return noted(version ? pd_map_node_find(version->root, ip) : NULL);
}

uint64_t pd_timeline_settled(const struct pd_timeline *timeline)
{
    return atomic_load_explicit(&timeline->settled, memory_order_acquire);
}

/* The newest version holds as far as the writer had come before we looked, and for this very
 * number. */
static void view_of(const struct pd_map_set *set, uint64_t number, uint64_t settled,
                    struct pd_maps_view *out)
{
    out->until = PD_MAX(number, settled) + 1;
    const struct pd_map_version *version = pd_map_set_at(set, number, &out->until);
    out->version = version;
    out->from = version ? version->version.number : 0;
    out->stamp = version ? version->stamp : PD_MAPS_EMPTY_STAMP;
}

void pd_thread_maps_view(const struct pd_thread *thread, uint64_t number, uint64_t settled,
                         struct pd_maps_view *out)
{
    const struct pd_thread_state *state = thread->state;
    uint64_t pid_at = atomic_load_explicit(&state->pid_at, memory_order_acquire);
    if (number >= pid_at) {
        view_of(state->maps, number, settled, out);
        out->from = PD_MAX(out->from, pid_at);
    } else {
        view_of(state->maps_before, number, settled, out);
        out->until = PD_MIN(out->until, pid_at);
    }
}

void pd_timeline_kernel_view(const struct pd_timeline *timeline, uint64_t number, uint64_t settled,
                             struct pd_maps_view *out)
{
    view_of(&timeline->kernel, number, settled, out);
}

const struct pd_map *pd_maps_view_find(const struct pd_maps_view *view, uint64_t ip)
{
    return found(view->version, ip);
}

const struct pd_map *pd_maps_view_find_or_gap(const struct pd_maps_view *view, uint64_t ip,
                                              struct pd_map_gap *gap)
{
    return noted(pd_map_node_find_or_gap(view->version ? view->version->root : NULL, ip, gap));
}

int pd_maps_view_each(const struct pd_maps_view *view,
                      int (*each)(void *data, const struct pd_map *map), void *data)
{
    return view->version ? pd_map_node_each(view->version->root, each, data) : 0;
}

const struct pd_map *pd_thread_map(const struct pd_thread *thread, uint64_t number, uint64_t ip)
{
    return found(pd_map_set_at(pd_thread_set(thread->state, number), number, NULL), ip);
}

uint64_t pd_thread_maps_stamp(const struct pd_thread *thread, uint64_t number)
{
    const struct pd_map_version *version = pd_map_set_at(pd_thread_set(thread->state, number),
                                                         number, NULL);
    return version ? version->stamp : PD_MAPS_EMPTY_STAMP;
}

const struct pd_map *pd_timeline_kernel_map(const struct pd_timeline *timeline, uint64_t number,
                                            uint64_t ip)
{
    return found(pd_map_set_at(&timeline->kernel, number, NULL), ip);
}

uint64_t pd_timeline_kernel_stamp(const struct pd_timeline *timeline, uint64_t number)
{
    const struct pd_map_version *version = pd_map_set_at(&timeline->kernel, number, NULL);
    return version ? version->stamp : PD_MAPS_EMPTY_STAMP;
}

const char *pd_timeline_cgroup(const struct pd_timeline *timeline, uint64_t number, uint64_t id)
{
    const struct pd_cgroup_table *table = atomic_load_explicit(&timeline->cgroups,
                                                               memory_order_acquire);
    if (!table)
        return NULL;
    struct pd_cgroup *cgroup = atomic_load_explicit(pd_cgroup_slot(table, id),
                                                    memory_order_acquire);
    return cgroup && cgroup->number <= number ? cgroup->path : NULL;
}

size_t pd_timeline_dso_count(const struct pd_timeline *timeline)
{
    return timeline->dsos.dsos.count;
}

struct pd_dso *pd_timeline_dso(const struct pd_timeline *timeline, size_t index)
{
    return timeline->dsos.dsos.data[index];
}

size_t pd_timeline_thread_count(const struct pd_timeline *timeline)
{
    return timeline->threads.count;
}

struct pd_thread *pd_timeline_thread(const struct pd_timeline *timeline, size_t index)
{
    return timeline->threads.data[index];
}

/* The last version is the writer's own, published or not. */
static int each_of(const struct pd_map_set *set, uint64_t number,
                   int (*each)(void *data, const struct pd_map *map), void *data)
{
    if (number == UINT64_MAX)
        return pd_map_node_each(set->root, each, data);
    const struct pd_map_version *version = pd_map_set_at(set, number, NULL);
    return version ? pd_map_node_each(version->root, each, data) : 0;
}

int pd_thread_each_map(const struct pd_thread *thread, uint64_t number,
                       int (*each)(void *data, const struct pd_map *map), void *data)
{
    return each_of(pd_thread_set(thread->state, number), number, each, data);
}

int pd_timeline_each_kernel_map(const struct pd_timeline *timeline, uint64_t number,
                                int (*each)(void *data, const struct pd_map *map), void *data)
{
    return each_of(&timeline->kernel, number, each, data);
}
