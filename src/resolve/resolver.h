/* SPDX-License-Identifier: MIT */
/* The inside of a resolver, for the files of resolve/ only. */
#ifndef PD_RESOLVER_H
#define PD_RESOLVER_H
#include "base/arena.h"
#include "resolve/symbols.h"

enum {
    PD_RECENT_FIRST = 12, /* bits of the first level's size: it grows with what is known, */
    PD_RECENT_LAST = 16,  /* up to 1.5 MB, */
    PD_RECENT_LAST_FUNCTIONS = 19, /* or where functions have a location, which are few, 12 MB */
    PD_SYMBOL_SLOTS = 8192,
    PD_STEP_SLOTS = 8192,
    PD_VIEW_SLOTS = 64,
    PD_VIEW_GAPS = 4,
    PD_BLOCKS_FIRST = 9, /* bits of how many blocks are remembered, which grows with misses, */
    PD_BLOCKS_LAST = 17, /* up to 8 MB */
    PD_LOCATION_SLAB = 128,
    PD_CACHE_LINE = 64,
    PD_LOCATION_LIMIT = 400000 /* about 45 MB with the consumer's memos beside them */
};

struct pd_recent_slot {
    uint64_t ip, stamp;
    struct pd_location *location; /* NULL: free */
};

struct pd_symbol_slot {
    const struct pd_symtab *table; /* NULL: free */
    uint64_t addr;
    const struct pd_symbol *sym;
};

/* How frames whose function holds an address of a file step to their caller. */
struct pd_step_slot {
    const struct pd_frame_rules *rules; /* NULL: free */
    uint64_t address;                   /* as the file counts */
    const struct pd_frame_step *step;
};

/* The maps of a thread as they were when last looked up. */
struct pd_view_slot {
    const struct pd_thread *thread; /* NULL: free */
    struct pd_maps_view view;
    const struct pd_map *last[2];         /* found in it last; NULL: none yet */
    struct pd_map_gap gaps[PD_VIEW_GAPS]; /* found in it; size 0: none yet */
    unsigned next_gap;
};

/* Addresses in a row that are all in one function, or in none. */
struct pd_block_way {
    const void *owner; /* the object, or the kernel's map; NULL: free */
    uint64_t from, size;
    struct pd_location *location; /* the function's; NULL: each address has one of its own */
};

/* What was found last in a block of an object's addresses: fills a cache line. */
struct pd_block_slot {
    struct pd_block_way ways[2];
};

/* Addresses in a row of the kernel itself, none of which is a module's or made at run time. */
struct pd_core {
    uint64_t stamp; /* of the kernel's maps; 0: none */
    uint64_t from, size;
    const struct pd_map *map;
};

/* The run that holds the address, at this number, when the stamp of the kernel's maps is `stamp`.
 * False: it lies in no such run. */
bool pd_core_find(struct pd_symbols *symbols, uint64_t number, uint64_t stamp, uint64_t ip,
                  struct pd_core *out);

/* The functions of a location, innermost first; count 0: none is known. */
struct pd_nested_list {
    struct pd_nested *functions;
    size_t count;
};

/* What consumers ask for: see resolve.h. */
struct pd_resolver_ways {
    bool from_caller, joins_branches, by_object, by_function, joins_outside;
    bool guest_code; /* a guest's user space is that of its thread, the host's */
    uint32_t missed; /* look-ups that level one did not answer; with by_function */
};

struct pd_resolver {
    struct pd_symbols *symbols;
    struct pd_recent_slot *recent;
    unsigned recent_shift; /* 64 - bits of its size */
    struct pd_symbol_slot *symbol_slots;
    struct pd_step_slot *step_slots; /* NULL: nothing was unwound yet */
    struct pd_location **places;     /* by map, mode and address */
    size_t place_mask;
    struct pd_arena arena;    /* locations */
    struct pd_location *slab; /* the next locations: each in a cache line of its own */
    unsigned slab_left;
    uint32_t count;
    struct pd_resolver_ways ways;
    /* What the sample had that was looked up last. */
    uint64_t number;
    const struct pd_thread *thread;
    bool of_guest;                   /* the thread is: all its maps are */
    bool no_host;                    /* the host's samples have no maps */
    bool rare;                       /* of_guest or no_host */
    const struct pd_maps_view *user; /* in `views`, or `nothing` */
    struct pd_maps_view kernel, nothing;
    struct pd_view_slot views[PD_VIEW_SLOTS]; /* by thread */
    struct {
        struct pd_view_slot *slot; /* that `user` lies in; NULL: in none */
        struct pd_core core;
        struct pd_location nowhere; /* of what lies in no function, with ways.joins_outside */
        struct {
            void *memory;                /* of the slots; NULL: none yet */
            struct pd_block_slot *slots; /* in `memory`, each in a cache line of its own */
            unsigned shift;              /* 64 - bits of their number */
            size_t missed;               /* since they grew */
        } blocks;
    } points;
    bool before_kernel;          /* no sample was in the kernel yet: its table is not there */
    bool loads_kernel;           /* it is the sample that loads the kernel's table */
    struct pd_location *loading; /* what its address gave */
    uint64_t unwind_stamp;       /* of the maps that can_unwind is about; 0: not asked */
    bool can_unwind;
    size_t unwound; /* frames of the last chain */
    /* Inlined functions. */
    struct {
        PD_VEC(struct pd_frame) inlined;  /* the last chain with its inlined functions */
        const struct pd_lines_turn *turn; /* NULL: names do not depend on what was asked before */
        struct pd_map64 nested_of;        /* location -> its place in `nested` */
        PD_VEC(struct pd_nested_list) nested;
    } inlines;
    struct pd_resolver_stats stats;
};

/* The frames of a chain as they are found. */
struct pd_chain_path {
    struct pd_resolver *resolver;
    const struct pd_thread *thread;
    uint64_t number;
    struct pd_frame *frames;
    size_t count, capacity;
};

/* Whether other processes may have the same map: without address randomisation, a new process maps
 * the same files at the same places as the one before it. */
PD_INLINE bool pd_map_is_shared(const struct pd_map *map)
{
    return map->dso->kind == PD_DSO_USER && !map->kernel && !map->dso->code;
}

/* The symbols of the machine that the sample's thread runs on. */
PD_INLINE struct pd_symbols *pd_resolver_symbols_here(const struct pd_resolver *resolver)
{
    return resolver->of_guest ? pd_timeline_symbols(resolver->thread->timeline) : resolver->symbols;
}

PD_INLINE size_t pd_block_slots(const struct pd_resolver *resolver)
{
    return resolver->points.blocks.slots ? (size_t)1 << (64 - resolver->points.blocks.shift) : 0;
}

/* places.c */
/* Whether both give the same answers for all addresses. */
bool pd_same_map(const struct pd_map *a, const struct pd_map *b);
/* What is at the address, known or made now; NULL: no memory. */
struct pd_location *pd_resolver_at_place(struct pd_resolver *resolver, const struct pd_map *map,
                                         uint8_t cpumode, uint64_t ip);
/* With ways.by_function: the location of a function of the map's object, whichever of its addresses
 * `ip` is; NULL: no memory. */
struct pd_location *pd_resolver_of_function(struct pd_resolver *resolver, const struct pd_map *map,
                                            uint8_t cpumode, uint64_t ip,
                                            const struct pd_symbol *symbol);
/* The same for an address in user space that lies in no function of its shared map's object. */
struct pd_location *pd_resolver_outside(struct pd_resolver *resolver, const struct pd_map *map,
                                        uint64_t ip);

/* For speed only: prefetches the slot of such an address, then what it holds. */
void pd_resolver_fetch_outside(const struct pd_resolver *resolver, const struct pd_point *point);
void pd_resolver_fetch_location(const struct pd_resolver *resolver, const struct pd_point *point);

/* history.c: the branches of a sample, in the order of its chain. */
enum { PD_HISTORY_MAX = 127 }; /* stacks with more are taken for damaged, and left out */

struct pd_history_loops {
    uint8_t times;   /* how many were left out in front of the branch */
    uint32_t cycles; /* of the last of them */
};

struct pd_history {
    struct pd_branch branches[PD_HISTORY_MAX];
    struct pd_history_loops loops[PD_HISTORY_MAX];
    size_t count, overlap; /* entries of the chain that the branches show as well */
    bool from_caller;
};

void pd_history_take(const struct pd_sample *sample, unsigned max_stack, bool from_caller,
                     struct pd_history *out);
void pd_history_put(const struct pd_history *history, struct pd_chain_path *path);
/* frame.end of a branch's target. */
uint64_t pd_chain_end_to(const struct pd_branch *branch);

/* unwind.c: are there registers and a copied stack? */
bool pd_has_stack(const struct pd_sample *sample);
/* Whether perf begins to unwind, and *ip, where. */
bool pd_unwind_begins(struct pd_resolver *resolver, const struct pd_sample *sample, uint64_t *ip);
/* The frames in user space from those, callee first; none where perf cannot begin. */
size_t pd_unwind_frames(struct pd_resolver *resolver, const struct pd_sample *sample,
                        const struct pd_thread *thread, uint64_t number, struct pd_frame *frames,
                        size_t capacity);

#endif
