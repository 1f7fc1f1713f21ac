/* SPDX-License-Identifier: MIT */
/* Between lock.c, which follows who waits for which lock, and lock_text.c, which prints it. */
#ifndef PD_LOCK_H
#define PD_LOCK_H
#include "analyse/tracepoints.h"
#include "resolve/resolve.h"
#include "select/filter.h"
#include <perfdata/lock.h>

enum { PD_LOCK_KEYS = 6, PD_LOCK_MAX_DEPTH = 128 };

/* What a row is about: a lock, a place that waited, or a thread. */
struct pd_lock {
    uint64_t key;
    const char *name;
    uint32_t flags;
    uint64_t acquired, contended, total, longest, shortest;
    bool broken;
    uint32_t stack, depth; /* the first wait's addresses, in `stacks` */
};

enum pd_lock_state { PD_LOCK_FREE, PD_LOCK_WAITS, PD_LOCK_HELD };

/* A thread and a lock's address. */
struct pd_lock_wait {
    uint64_t address, since;
    uint32_t tid, next; /* next: the next one of the same hash; PD_MAP64_NONE: none */
    enum pd_lock_state state;
};

/* Code that waits on behalf of its callers, which are looked for outside of it. */
struct pd_lock_code {
    uint64_t from, to;
};

struct pd_locks {
    const struct perfdata_lock_options *options;
    struct pd_tp tp;
    struct pd_filter filter;
    PD_VEC(struct pd_lock) all;
    struct pd_map64 at;
    PD_VEC(struct pd_lock_wait) waits;
    struct pd_map64 wait_at; /* by a hash of tid and address */
    PD_VEC(uint64_t) stacks;
    struct pd_arena names;
    struct pd_map64 tids;
    PD_VEC(struct pd_thread *) threads;
    struct pd_lock_code lock_code[2];
    bool knows_code;
    struct pd_frame frames[PD_LOCK_MAX_DEPTH];
    size_t frame_count;
};

/* perf's hash: rows of equal figures stand in the order of their hashes. */
PD_INLINE uint64_t pd_lock_mix(uint64_t key)
{
    return key * UINT64_C(0x61C8864680B583EB); /* the golden ratio */
}

struct pd_lock_column;
/* Which columns are shown, and which one rows are sorted by. */
struct pd_lock_layout {
    const struct pd_lock_column *shown[PD_LOCK_KEYS + 1]; /* ends with NULL */
    const struct pd_lock_column *sort;
};
/* PERFDATA_ERROR_ARGUMENT, told in perf's words, where a column is asked for that does not
 * exist. */
perfdata_status pd_lock_make_layout(const struct perfdata_lock_options *options,
                                    struct pd_context *context, struct pd_lock_layout *layout);

/* put_table: for the views report and contention; put_info: for the view info.
 * PERFDATA_ERROR_MEMORY. */
perfdata_status pd_lock_put_table(struct pd_locks *locks, const struct pd_lock_layout *layout);
perfdata_status pd_lock_put_info(struct pd_locks *locks);

#endif
