/* SPDX-License-Identifier: MIT */
/* The inside of the timeline, for the files of model/ only. */
#ifndef PD_MODEL_TIMELINE_H
#define PD_MODEL_TIMELINE_H
#include "base/hash.h"
#include "format/structs.h"
#include "model/dso.h"
#include "model/maps.h"
#include "model/model.h"

/* Told once: that two objects of the kernel's have one build-id. */
perfdata_status pd_timeline_check_id(struct pd_timeline *timeline, struct pd_dso *dso);

/* A version of what NAMESPACES says of a thread, as far as anything asks for it. */
struct pd_namespaces {
    struct pd_version version;
    uint64_t device, inode; /* of the cgroup namespace */
    uint64_t mount;         /* inode of the mount namespace */
};

struct pd_thread_state {
    struct pd_comm *_Atomic comm;             /* newest */
    const struct pd_comm *first_comm;         /* oldest */
    struct pd_namespaces *_Atomic namespaces; /* newest, NULL none */
    /* Delivery numbers from which the two hold, which are set once at most; all ones until then. */
    _Atomic uint64_t pid_at, ppid_at;
    uint32_t pid, ppid;
    struct pd_thread *leader;       /* from pid_at, when it is another thread */
    struct pd_map_set *maps;        /* from pid_at */
    struct pd_map_set *maps_before; /* until then */
    uint32_t made_pid;              /* as known when the thread was made: names its perf map */
    bool comm_set, current, dead;
};

struct pd_cgroup {
    uint64_t id, number;
    const char *path;
};

/* Cgroups by id, open addressing, at most half full. A full table is copied into a larger one;
 * readers may go on in the old one, which has all that they can ask for. */
struct pd_cgroup_table {
    size_t mask, count;
    struct pd_cgroup *_Atomic slots[];
};

/* Where the id is, or a free slot. */
PD_INLINE struct pd_cgroup *_Atomic *pd_cgroup_slot(const struct pd_cgroup_table *table,
                                                    uint64_t id)
{
    for (size_t at = pd_hash64(id) & table->mask;; at = (at + 1) & table->mask) {
        struct pd_cgroup *_Atomic *slot = (struct pd_cgroup * _Atomic *)&table->slots[at];
        const struct pd_cgroup *cgroup = atomic_load_explicit(slot, memory_order_acquire);
        if (!cgroup || cgroup->id == id)
            return slot;
    }
}

enum { PD_RECENT_THREADS = 64 };

/* A thread that was touched, and that has nothing to publish until something changes: `changes` is
 * the pool's. */
struct pd_recent_thread {
    struct pd_thread *thread; /* NULL: none */
    uint32_t tid, pid;        /* as they were given */
    bool has_pid;             /* it is known by now: whichever is given makes no difference */
    uint64_t changes;
};

#define PD_KERNEL_NAME "[kernel.kallsyms]"
#define PD_HOST UINT32_MAX /* machine_pid */

struct pd_timeline {
    struct pd_context *context;
    bool swap, remove_exited;
    bool told_ids; /* that two objects have one build-id */
    uint32_t machine_pid;
    const struct pd_thread *hypervisor; /* of a guest that runs its code; NULL: none */
    char kernel_name[48];
    void *symbols;                                                                 /* resolve/'s */
    enum pd_program_kind (*program_kind)(void *symbols, const struct pd_map *map); /* its */
    struct pd_arena arena; /* threads, comms, cgroups */
    struct pd_map_pool pool;
    struct pd_dso_table dsos;
    struct pd_intern *comms, own_comms;
    struct pd_timeline *host; /* itself, but for a guest: counts for all */
    uint32_t comm_count, thread_count;
    PD_VEC(struct pd_thread *) threads;                /* by index */
    struct pd_map64 by_tid;                            /* current ones */
    struct pd_recent_thread recent[PD_RECENT_THREADS]; /* by tid */
    struct pd_map_set kernel;
    _Atomic uint64_t settled;
    struct pd_cgroup_table *_Atomic cgroups; /* NULL: none */
    struct pd_map_log *map_log;              /* the host's counts; NULL: none */
};

PD_INLINE struct pd_map_set *pd_thread_set(const struct pd_thread_state *state, uint64_t number)
{
    return number >= atomic_load_explicit(&state->pid_at, memory_order_acquire)
               ? state->maps
               : state->maps_before;
}

/* perf's findnew: found, its pid filled in when it was unknown, or made. */
struct pd_thread *pd_thread_findnew(struct pd_timeline *timeline, uint32_t pid, uint32_t tid,
                                    uint64_t number);

/* vdso.c: of a process with these maps, at this address. NULL without memory. */
struct pd_dso *pd_timeline_vdso(struct pd_timeline *timeline, const struct pd_map_set *maps,
                                uint64_t start);

/* kernel.c: a map record of the kernel's, KSYMBOL. */
struct pd_map_fact {
    uint64_t start, length, pgoff;
    const char *name;
    size_t name_length;
    const uint8_t *build_id;
    uint8_t build_id_size;
    uint32_t pid, tid, prot, flags;
    uint64_t number;
    const void *code;
};
/* user_maps.c: a map record of a process. Status as of pd_timeline_apply(). */
perfdata_status pd_timeline_mmap(struct pd_timeline *timeline, const struct pd_record_mmap *mmap,
                                 uint64_t number);
perfdata_status pd_timeline_mmap2(struct pd_timeline *timeline, const struct pd_record_mmap2 *mmap,
                                  uint64_t number);
/* A map of what the fact says, of a process or the kernel; one that goes beyond the last address
 * ends there. */
struct pd_map *pd_timeline_new_map(struct pd_timeline *timeline, const struct pd_map_fact *fact,
                                   struct pd_dso *dso);
perfdata_status pd_timeline_kernel_mmap(struct pd_timeline *timeline,
                                        const struct pd_map_fact *fact);
perfdata_status pd_timeline_ksymbol(struct pd_timeline *timeline, const struct pd_event *event,
                                    const uint8_t *record, uint32_t size, uint64_t number);

#endif
