/* SPDX-License-Identifier: MIT */
/* The layer profile/: resolved samples -> interned functions, frames and stacks, columns of
 * samples, sums.
 *
 * Workers (collect.c) resolve samples and give numbers of their own to what they meet. The merge
 * (merge.c), one batch at a time in delivery order, turns these into the profile's numbers, which
 * thus depend on the recording alone; after the first sample of a stack this takes one look into an
 * array. */
#ifndef PD_PROFILE_H
#define PD_PROFILE_H
#include "analyse/calls.h"
#include "base/intern.h"
#include "select/filter.h"
#include "render/raw_dump/trace_log.h"
#include "pipeline/pipeline.h"
#include "profile/blocks.h"
#include "resolve/chain_memo.h"
#include <perfdata/profile.h>
#include <stdatomic.h>

/* ---- a worker's tables ---- */

struct pd_local_function {
    const struct pd_dso *dso;       /* NULL: no map */
    const struct pd_symbol *symbol; /* NULL: unknown */
    uint64_t base;                  /* of a kernel's function: where its map begins */
    bool kernel;
};

struct pd_local_frame {
    uint64_t address; /* 0 unless frames are told apart by address */
    const char *file; /* lives as long as the symbols; NULL: none */
    uint32_t function, line;
};

struct pd_local_stack {
    uint32_t frame, parent;
};

struct pd_profile_shared;
struct pd_near_line;

enum { PD_PROFILE_LAST = 64, PD_PROFILE_STEPS = 64 };

/* The chain of a thread's last sample, from its outermost caller on. */
struct pd_profile_last {
    uint64_t stamp; /* pd_resolver_points_stamp(); 0: none */
    size_t count;
    struct pd_profile_step {
        uint64_t ip;
        uint32_t stack; /* the worker's number of the stack down to this address */
        uint32_t cpumode;
    } steps[PD_PROFILE_STEPS];
};

/* For frames that are told apart without their lines: see points.c. */
struct pd_profile_points {
    struct pd_near_line *near;    /* by place in an object */
    unsigned near_shift;          /* 64 - bits of its size */
    uint64_t missed;              /* lookups that failed since `near` last grew */
    struct pd_profile_last *last; /* by thread */
    struct pd_point *at;          /* of a chain */
    size_t capacity;
    uint32_t nowhere; /* as pd_near_frame.id, of addresses in no map, + 1; 0: none yet */
    const struct pd_map *kernel_map; /* noted last */
};

/* Stacks on top of one: two thirds of all look-ups are for frames without callers and for those
 * whose caller lies in no map, and slots of a hash table would scatter them. */
struct pd_profile_dense {
    PD_VEC(uint32_t) ids; /* by frame: the stack + 1; 0: none yet */
    uint32_t parent;      /* the stack below; PERFDATA_NONE: none, or not known yet */
};

/* A worker's frames and stacks. Frames that are told apart by address make millions of stacks, most
 * of which occur once: when there are many, the worker begins anew with empty tables, at once where
 * batches still wait whose rows have numbers of the old ones. */
struct pd_profile_tables {
    struct pd_profile_worker *worker; /* which keeps the functions */
    atomic_uint users;                /* the worker, and batches that are not merged yet */
    struct pd_blocks framelist, stacks;
    struct pd_map64 stack_map;                 /* (parent, frame) */
    struct pd_profile_dense roots, on_nowhere; /* not in stack_map */
    uint32_t *frame_slots;                     /* number + 1, open addressing */
    size_t frame_mask;
    /* The profile's numbers for these, each + 1; 0: not needed yet. For pd_profile_merge()
     * alone. */
    PD_VEC(uint32_t) frame_ids;
    PD_VEC(uint32_t) stack_ids;
    uint32_t part, frame_part; /* of the profile, that the numbers are of */
};

struct pd_profile_worker {
    struct pd_profile_shared *shared;
    struct pd_resolver *resolver;
    struct pd_frame *frames;
    size_t frame_capacity;
    struct pd_chain_memo callers; /* the stack of a chain's callers */
    struct pd_profile_points points;
    struct pd_sample synthesised; /* the fields that samples of traces never set */
    struct pd_profile_tables *tables;
    uint32_t generation; /* of the tables, from 1 on: stands above a frame's number in a location's
                          * memo */
    struct pd_blocks functions;
    PD_VEC(const struct pd_map *) kernel_maps;
    struct pd_map64 function_map;  /* of a symbol, or of an object without one */
    struct pd_map64 mapping_map;   /* of a map */
    PD_VEC(uint32_t) function_ids; /* as frame_ids */
};

/* ---- what work() leaves for in_order() ---- */

struct pd_profile_row {
    uint64_t time, weight;
    const struct pd_thread *thread;
    const char *comm; /* equal texts are the same pointer */
    uint32_t stack;   /* the worker's */
    uint32_t event, cpu, pid;
};

struct pd_profile_switch_row {
    struct perfdata_profile_switch given; /* thread not set */
    const struct pd_thread *thread;
    const char *comm;
    uint32_t pid;
};

/* Where a branch begins or leads. */
struct pd_profile_place {
    uint64_t address;
    uint32_t frame; /* the worker's; PERFDATA_NONE: in no map */
    bool is_known;  /* it has a symbol */
};

struct pd_profile_branch {
    struct pd_branch_step step; /* symbols not set */
    struct pd_profile_place from, to;
    const struct pd_thread *thread;
    const char *comm;
    uint32_t pid, cpu;
    uint32_t program; /* the one that the process runs: when it changes, all calls end */
};

struct pd_profile_rows {
    struct pd_profile_tables *tables; /* NULL once they are merged */
    PD_VEC(struct pd_profile_row) rows;
    PD_VEC(uint64_t) values; /* `column_count` a row */
    PD_VEC(struct pd_profile_switch_row) switches;
    PD_VEC(struct pd_profile_branch) branches;
    PD_VEC(struct perfdata_profile_mark) marks;
    struct pd_text mark_texts; /* a mark's text is 1 + its place here until it is merged */
};

/* ---- the profile ---- */

struct pd_profile_columns {
    PD_VEC(uint64_t) time;
    PD_VEC(uint64_t) weight;
    PD_VEC(uint32_t) event;
    PD_VEC(uint32_t) thread;
    PD_VEC(uint32_t) stack;
    PD_VEC(uint32_t) cpu;
    struct pd_profile_more {
        PD_VEC(uint64_t) values;
    } more[PERFDATA_COLUMN_COUNT];
};

/* What tells a function from all others; what callers see of it is in its public structure. */
struct pd_function_key {
    uint64_t place; /* in the object, wherever that was loaded */
    uint32_t object, name;
};

struct perfdata_profile {
    atomic_uint holders; /* calls of perfdata_profile_free() that are still to come */
    struct pd_arena arena;
    struct pd_intern texts; /* names, files, comms */
    struct pd_blocks events, threads, objects, functions, frames, stacks, mappings;
    PD_VEC(struct perfdata_profile_switch) switches;
    PD_VEC(struct perfdata_profile_sum) sums;
    PD_VEC(struct perfdata_profile_call) calls;
    PD_VEC(struct perfdata_profile_call_sum)
    call_sums; /* by function once the profile is built, before that by symbol */
    PD_VEC(struct perfdata_profile_mark) marks;
    uint64_t calls_left_out, shortest_call;
    uint64_t switches_left_out, switches_shorter_than;
    struct pd_profile_columns columns;
    uint32_t has_columns; /* 1 << enum perfdata_column that some event can have */
    uint64_t sample_count, first_time, last_time;
    uint64_t trace_errors;
    bool keeps_samples;
};

/* It takes one more call of perfdata_profile_free() to free the profile. */
PD_INLINE void pd_profile_hold(perfdata_profile *profile)
{
    atomic_fetch_add_explicit(&profile->holders, 1, memory_order_relaxed);
}

/* Of a worker's frame, or of the profile's: `file` is told by its pointer. */
PD_INLINE uint64_t pd_profile_hash_frame(uint32_t function, uint32_t line, uint64_t address,
                                         const char *file)
{
    const uint64_t hash = pd_hash_pair((uint64_t)function << 32 | line, address);
    return file ? hash ^ pd_hash64((uint64_t)(uintptr_t)file) : hash;
}

PD_INLINE struct perfdata_profile_stack *pd_profile_stack(const perfdata_profile *profile,
                                                          uint32_t index)
{
    return pd_blocks_at(&profile->stacks, index, sizeof(struct perfdata_profile_stack));
}
PD_INLINE struct perfdata_profile_frame *pd_profile_frame(const perfdata_profile *profile,
                                                          uint32_t index)
{
    return pd_blocks_at(&profile->frames, index, sizeof(struct perfdata_profile_frame));
}
PD_INLINE struct perfdata_profile_function *pd_profile_function(const perfdata_profile *profile,
                                                                uint32_t index)
{
    return pd_blocks_at(&profile->functions, index, sizeof(struct perfdata_profile_function));
}
PD_INLINE struct perfdata_profile_object *pd_profile_object(const perfdata_profile *profile,
                                                            uint32_t index)
{
    return pd_blocks_at(&profile->objects, index, sizeof(struct perfdata_profile_object));
}
PD_INLINE struct perfdata_profile_thread *pd_profile_thread(const perfdata_profile *profile,
                                                            uint32_t index)
{
    return pd_blocks_at(&profile->threads, index, sizeof(struct perfdata_profile_thread));
}

/* ---- a run ---- */

/* How much of a run is kept. Workers only forget numbers that spare looking the same thing up
 * again, so `numbered` changes nothing but memory and time. */
struct pd_profile_bounds {
    /* Stacks, or frames, that all workers may number together: each begins anew when it has reached
     * its share, which is not made smaller than PD_PROFILE_NUMBERED_LEAST. */
    uint32_t numbered;
    /* Once the profile has more than `stacks` stacks, or as many sums, `take` gets it as it is, and
     * then these are forgotten: what is left when the run ends is the last part. `frames`: the
     * frames are forgotten, too, since there are more of them than that. Threads, functions,
     * objects and texts stay, and no number of theirs changes. Which samples are in a part depends
     * on their order alone. NULL: the profile is whole. Not where samples are kept, or calls. */
    perfdata_status (*take)(void *data, const perfdata_profile *profile, bool frames);
    void *data;
    uint32_t stacks, frames;
};

#define PD_PROFILE_NUMBERED_LEAST 65536
/* By function, a system-wide compile of minutes has fewer than 200,000 stacks: one part. */
#define PD_PROFILE_BOUNDS                                                                          \
    {                                                                                              \
        .numbered = 1 << 18, .stacks = 250000, .frames = 1000000                                   \
    }

/* build.c: perfdata_profile_build() within bounds. */
perfdata_status pd_profile_build(perfdata_recording *recording,
                                 const struct perfdata_profile_options *options,
                                 const struct pd_profile_bounds *bounds, perfdata_profile **out);

/* Numbers of a stack's sums, each + 1; 0: none. */
struct pd_profile_stack_sums {
    uint32_t first, last; /* `last`: the one that was counted last */
};

/* For merging: which things already have numbers, and what was met last. */
struct pd_profile_known {
    PD_VEC(struct pd_function_key) function_keys;
    PD_VEC(const struct pd_dso *) dsos; /* of objects */
    PD_VEC(const struct pd_map *) kernel_maps;
    struct pd_map_log maps;                 /* of processes */
    PD_VEC(uint32_t) path;                  /* stacks that have no number yet, callees first */
    struct pd_map64 object_map;             /* pd_dso.index */
    struct pd_map64 comm_map;               /* a comm's text, by its pointer */
    struct pd_map64 thread_map, thread_pid; /* (thread, comm); (the number of these, pid) */
    uint32_t *function_slots, *frame_slots; /* number + 1, open addressing */
    uint32_t *stack_slots, *sum_slots;      /* sum_slots: of more_sums */
    size_t function_mask, frame_mask, stack_mask, sum_mask;
    uint32_t comm_count, pair_count;
    PD_VEC(uint32_t) last_thread; /* by pd_thread.index: its last number + 1 */
    PD_VEC(const char *) thread_comms;
    PD_VEC(uint32_t) comm_threads;   /* by comm: the first thread that has it */
    PD_VEC(uint32_t) counted_thread; /* by thread: the thread whose sums it counts towards */
    PD_VEC(struct pd_profile_stack_sums) stack_sums; /* by stack */
    PD_VEC(uint32_t) more_sums;                      /* those that are not their stack's first */
};

struct pd_profile_shared {
    struct pd_recording *recording;
    const struct perfdata_profile_options *options;
    struct pd_session session;
    struct pd_trace_log log;
    struct pd_filter filter;
    struct pd_name_set stop;
    struct pd_itrace_options itrace;
    unsigned max_stack;
    bool by_address, lines, lacks_memory, has_session;
    bool takes_guests;                       /* samples of guests too, as perf data convert does */
    bool without_places;                     /* pd_profile_take() need not locate samples */
    bool by_points;                          /* the same, wherever points.c can tell the stack */
    uint32_t columns[PERFDATA_COLUMN_COUNT]; /* those that are asked for and there */
    size_t column_count;
    perfdata_profile *profile;
    struct pd_profile_bounds bounds; /* `numbered`: of a worker */
    uint32_t part, frame_part;       /* how often stacks were forgotten, and frames */
    bool full;                       /* the part is: it ends behind this sample */
    struct pd_profile_known known;
    struct pd_profile_calls *calls; /* NULL until a branch comes */
    bool pairs;                     /* branches become calls */
    bool by_exec;                   /* a comm record says whether a new program begins */
};

/* build.c: makes the filter and the session, with the samples of traces, from shared->recording and
 * ->options; before any run. Forms that show samples as they were recorded use these functions
 * without a profile. */
perfdata_status pd_profile_open(struct pd_profile_shared *shared);
/* Returns `status`, or the error of closing; to be called after a failed pd_profile_open(), too. */
perfdata_status pd_profile_close(struct pd_profile_shared *shared, perfdata_status status);
/* After a run. */
uint64_t pd_profile_trace_errors(const struct pd_profile_shared *shared);
/* A consumer's front(), with `shared` as its data: skips the records that perf skips before it
 * looks up their threads. */
int pd_profile_front(void *data, const struct pd_delivered *record);
PD_INLINE bool pd_profile_needs_front(const struct pd_profile_shared *shared)
{
    return shared->filter.has_cpus || shared->filter.span_count;
}

/* A sample that the filters keep. */
struct pd_profile_taken {
    const struct pd_sample *sample;
    struct pd_location *own; /* of the sample; NULL: shared->without_places, and no filter needs
                              * it */
    struct pd_sample local;
};
enum pd_profile_verdict { PD_PROFILE_DROPPED = 0, PD_PROFILE_TAKEN = 1 };

/* collect.c: the worker's part of the pipeline. */
/* Whether chains end at this location. */
bool pd_profile_is_stop(const struct pd_profile_worker *worker, const struct pd_location *location);
/* A verdict, or < 0. */
int pd_profile_take(struct pd_profile_worker *worker, const struct pd_delivered *record,
                    struct pd_profile_taken *out);
struct pd_profile_worker *pd_profile_worker_new(struct pd_profile_shared *shared,
                                                struct pd_resolver *resolver);
void pd_profile_worker_free(struct pd_profile_worker *worker);
perfdata_status pd_profile_collect(struct pd_profile_worker *worker, struct pd_batch *batch);

/* local.c: numbers for a worker's functions, frames and stacks; PERFDATA_NONE: no memory. */
uint32_t pd_profile_local_function(struct pd_profile_worker *worker,
                                   const struct pd_location *location);
uint32_t pd_profile_local_frame(struct pd_profile_worker *worker, struct pd_location *location);
/* The frame of an address of a function, where frames are told apart by address without lines. */
uint32_t pd_profile_local_frame_at(struct pd_profile_worker *worker, uint32_t function,
                                   uint64_t address);
uint32_t pd_profile_local_stack(struct pd_profile_worker *worker, uint32_t frame, uint32_t parent);
/* Empty tables in place of the worker's own, if it has any. False: no memory. */
bool pd_profile_tables_renew(struct pd_profile_worker *worker);
/* One user less; NULL: nothing. */
void pd_profile_tables_leave(struct pd_profile_tables *tables);
/* Notes the kernel's map that a counted sample lies in. False: no memory. */
bool pd_profile_note_mapping(struct pd_profile_worker *worker, const struct pd_map *map);

/* points.c, with shared->by_points: the stack of a sample; PERFDATA_NONE: no memory. Returns false
 * if the stack has to be resolved address by address. */
bool pd_profile_points_stack(struct pd_profile_worker *worker, const struct pd_delivered *record,
                             const struct pd_sample *sample, uint32_t *stack);
bool pd_profile_points_init(struct pd_profile_points *points);
/* Numbers of the worker's frames and stacks, which mean nothing any more. */
void pd_profile_points_forget(struct pd_profile_worker *worker);
void pd_profile_points_free(struct pd_profile_points *points);

/* merge.c: what a batch left -> the profile. */
/* The columns from row `from` on. */
void pd_profile_view(const perfdata_profile *profile, size_t from, struct perfdata_samples *out);
perfdata_status pd_profile_merge(struct pd_profile_shared *shared, struct pd_profile_rows *rows);
void pd_profile_merge_free(struct pd_profile_shared *shared);
/* number.c: the profile's number for a worker's stack; PERFDATA_NONE: no memory. */
uint32_t pd_profile_number_stack(struct pd_profile_shared *shared, struct pd_profile_tables *tables,
                                 uint32_t stack);
/* The same for all of a worker's stacks below a number that have none yet, in their order: not for
 * tables of which pd_profile_number_stack() has numbered some before, but not all below. False: no
 * memory. */
bool pd_profile_number_stacks(struct pd_profile_shared *shared, struct pd_profile_tables *tables,
                              uint32_t upto);
uint32_t pd_profile_number_frame(struct pd_profile_shared *shared, struct pd_profile_tables *tables,
                                 uint32_t frame);
/* calls.c: branches in order of delivery; `number`: of the thread. */
perfdata_status pd_profile_calls_branch(struct pd_profile_shared *shared,
                                        struct pd_profile_tables *tables,
                                        const struct pd_profile_branch *branch, uint32_t number);
perfdata_status pd_profile_calls_end(struct pd_profile_shared *shared);
void pd_profile_calls_free(struct pd_profile_calls *calls);
/* finish.c: names and build-ids as the end of the run left them, and hashes. */
perfdata_status pd_profile_finish(struct pd_profile_shared *shared);

#endif
