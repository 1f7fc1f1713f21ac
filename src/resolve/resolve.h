/* SPDX-License-Identifier: MIT */
/* The layer resolve/: an address of a thread at a delivery number -> map, DSO, symbol. The only
 * place that joins model/ and object/. One `pd_symbols` per session (shared, tables loaded once),
 * one `pd_resolver` per worker (its caches; never shared). */
#ifndef PD_RESOLVE_H
#define PD_RESOLVE_H
#include "model/model.h"
#include "object/frames/rules.h"
#include "object/image.h"
#include "object/lines/lines.h"
#include "object/object.h"

struct pd_symbols;

/* The timeline that its maps come from. */
struct pd_timeline *pd_symbols_timeline(struct pd_symbols *symbols);

struct pd_symbols *pd_symbols_new(struct pd_context *context, struct pd_timeline *timeline,
                                  const struct pd_features *features,
                                  const struct pd_object_search *search);
void pd_symbols_free(struct pd_symbols *symbols);

/* An address, resolved. Owned by the resolver, valid until its pd_resolver_trim(); map, dso and
 * symbol stay. DSOs that only the kernel's table knows ("[kernel].init.text") are not in the
 * timeline's list; their index is above all in that list. */
struct pd_location {
    uint64_t ip;                 /* as recorded; with of_object, of the first process that had it */
    uint64_t addr;               /* what is looked up in the symbol table: al.addr */
    const struct pd_map *map;    /* NULL: none */
    const struct pd_dso *dso;    /* NULL: none */
    const struct pd_symbol *sym; /* NULL: unknown */
    char level;                  /* k . g u H */
    uint8_t cpumode;
    bool is_kernel_map : 1; /* map is a kernel map */
    bool is_nested : 1;     /* one of a frame's inlined functions: begins a struct pd_nested */
    bool of_object : 1;     /* of all processes that have the object: see pd_resolver_by_object() */
    bool of_function : 1;   /* and of all addresses of the function */
    uint8_t return_place;   /* enum pd_return_place, for chains */
    uint32_t index;         /* dense per resolver since the last trim */
    /* The consumer's memo (a text's place, an entry's id ...), zero when made. */
    uint64_t memo[2];
};

struct pd_resolver;

struct pd_resolver *pd_resolver_new(struct pd_symbols *symbols);
void pd_resolver_free(struct pd_resolver *resolver);

/* NULL only when the system has no memory. cpumode as in misc bits 0-2. */
struct pd_location *pd_resolve(struct pd_resolver *resolver, const struct pd_thread *thread,
                               uint64_t number, uint8_t cpumode, uint64_t ip);
/* For addresses without a mode (branch stacks): whether they are kernel or user is decided as
 * thread__find_map_fb does. */
struct pd_location *pd_resolve_any(struct pd_resolver *resolver, const struct pd_thread *thread,
                                   uint64_t number, uint8_t cpumode, uint64_t ip);
/* Where nothing says whose the address is: perf asks the process, then the kernel, then guests that
 * hide the host. */
struct pd_location *pd_resolve_unmoded(struct pd_resolver *resolver, const struct pd_thread *thread,
                                       uint64_t number, uint64_t ip);
/* For speed only. An address will be looked up some samples later: fetch prefetches what peek then
 * reads: the location that the address had last, or NULL. That need not be the right answer: use it
 * as a hint only. */
void pd_resolver_fetch(struct pd_resolver *resolver, uint8_t cpumode, uint64_t ip);
const struct pd_location *pd_resolver_peek(struct pd_resolver *resolver, uint8_t cpumode,
                                           uint64_t ip);
/* Addresses in a guest's user space are looked up in the sample's thread, that of its hypervisor
 * (--guest-code). Default: no. */
void pd_resolver_guest_code(struct pd_resolver *resolver, bool guest_code);
/* With no_host, addresses of the host get no map and no symbol. Default: they do. */
void pd_resolver_no_host(struct pd_resolver *resolver, bool no_host);
/* Processes that have the same object share the location of an address in one of its functions,
 * wherever they have the object: its `ip` is then the first one's, and so is its map, which says of
 * the address no more than the object and the symbol. For consumers that ask neither; set before
 * the first look-up. Default: no. */
void pd_resolver_by_object(struct pd_resolver *resolver, bool by_object);
/* All addresses of a function share one location, too, also in the kernel: `addr` is then the first
 * one's as well. For an address that lies in no function, processes share its location with the
 * first one's map. For consumers that ask for none of these; set behind pd_resolver_by_object(),
 * without which it does nothing. Default: no. Returns whether it is so now. */
bool pd_resolver_by_function(struct pd_resolver *resolver, bool by_function);
/* Addresses of user space outside of all functions may share one location, with no map and no
 * symbol. For consumers that leave such samples out; does nothing without
 * pd_resolver_by_function(). Default: no. */
void pd_resolver_join_outside(struct pd_resolver *resolver, bool joins);
/* Inlined functions are named as perf names them, which depends on the order of the samples
 * (object/lines/asked.c). `turn` outlives the resolver. Default: NULL, each has its name. */
void pd_resolver_ask_in_turn(struct pd_resolver *resolver, const struct pd_lines_turn *turn);
/* Equal stamps: the same (cpumode, ip) gives the same answers for these threads. */
uint64_t pd_resolver_stamp(struct pd_resolver *resolver, const struct pd_thread *thread,
                           uint64_t number);
/* The same for addresses in the kernel only, whatever the thread; 0: nothing can be said. */
uint64_t pd_resolver_kernel_stamp(struct pd_resolver *resolver, const struct pd_thread *thread,
                                  uint64_t number);
/* A range of delivery numbers in which every address of the thread, looked up with this cpumode,
 * keeps its answer. */
struct pd_resolver_span {
    uint64_t from, until; /* [from, until) */
    uint64_t stamp;       /* another span with the same stamp gives the same answers; never 0 */
};
/* Only for the cpumodes of user and kernel, and for threads of the resolver's own machine; false:
 * it is one of the rare cases of which nothing can be said. */
bool pd_resolver_span(struct pd_resolver *resolver, const struct pd_thread *thread, uint64_t number,
                      uint8_t cpumode, struct pd_resolver_span *out);
/* Where an address of a process lies in what the process has mapped there, or one of the kernel's
 * in its map. */
struct pd_point {
    const struct pd_map *map; /* NULL: nothing */
    uint64_t addr;            /* what is looked up in the symbol table */
    uint64_t shown;           /* in a chain: as `addr` in user space, as recorded in the kernel */
};

/* The points of addresses of user space or the kernel, recorded in a row, with
 * pd_resolver_by_object(): makes no locations. False: one of them is a marker, or its answer is not
 * the same for all that have the object, or it lies in no kernel but in a module or the like: all
 * are to be looked up one by one. */
struct pd_chain_entries;
bool pd_resolver_points(struct pd_resolver *resolver, const struct pd_thread *thread,
                        uint64_t number, uint8_t cpumode, const struct pd_chain_entries *entries,
                        struct pd_point *out);
/* The same for one address that does not come from a chain. */
bool pd_resolver_point(struct pd_resolver *resolver, const struct pd_thread *thread,
                       uint64_t number, uint8_t cpumode, uint64_t ip, struct pd_point *out);
/* Where an address lies of which pd_resolve() gave this location for the thread at this number:
 * what was looked up in the symbol table, also where the location is that of a whole function. */
uint64_t pd_resolver_address(struct pd_resolver *resolver, const struct pd_thread *thread,
                             uint64_t number, const struct pd_location *location, uint64_t ip);
/* The map of any address in user space, and where it lies there, without a location: for data, of
 * which each address is another. False: this is a rare case, and the address has to be resolved. */
bool pd_resolver_user_map(struct pd_resolver *resolver, const struct pd_thread *thread,
                          uint64_t number, uint64_t ip, struct pd_point *out);
/* Equal stamps: the same (cpumode, ip) has the same point for these threads; 0: points cannot be
 * told for the thread at this number. */
uint64_t pd_resolver_points_stamp(struct pd_resolver *resolver, const struct pd_thread *thread,
                                  uint64_t number);
/* The symbol at a point that has a map, and which addresses of the object have the same symbol. */
struct pd_symbol_span pd_resolver_span_of(struct pd_resolver *resolver,
                                          const struct pd_point *point);
/* Where the location of an address is remembered, with pd_resolver_by_function(). */
struct pd_block_slot;
struct pd_spot {
    struct pd_point point;
    uint64_t ip;
    struct pd_block_slot *slot; /* NULL: there is none */
    uint8_t cpumode;
};

/* For consumers that look up many addresses in a row: they ask for all the spots first, which are
 * then prefetched, and afterwards for what lies there. */
/* Between two rows: room for more, if many were not found. */
void pd_resolver_begin_spots(struct pd_resolver *resolver);
/* If the spot has no slot, the address has to be looked up by pd_resolve(), in its turn. */
void pd_resolver_spot(struct pd_resolver *resolver, const struct pd_thread *thread, uint64_t number,
                      uint8_t cpumode, uint64_t ip, struct pd_spot *out);
/* What lies at each spot, as pd_resolve() would give it; NULL: it has to be looked up by that, as
 * where a spot has no slot. */
void pd_resolver_at_spots(struct pd_resolver *resolver, const struct pd_spot *spots, size_t count,
                          struct pd_location **out);
/* Bounds the caches; call between batches only. True when locations were dropped. */
bool pd_resolver_trim(struct pd_resolver *resolver);
struct pd_symbols *pd_resolver_symbols(struct pd_resolver *resolver);

/* Which samples lie in no function of a name, told before anything else is made of them. One owner,
 * the writer of the timeline. */
struct pd_elsewhere;
/* NULL without memory. `symbols` and `name` outlive it. */
struct pd_elsewhere *pd_elsewhere_new(struct pd_symbols *symbols, const char *name);
void pd_elsewhere_free(struct pd_elsewhere *elsewhere);
/* Whether the address lies in no function of the name, for a thread of the recording's own machine
 * that was touched at `number`, the newest. False where nothing is known yet: it loads no symbols,
 * and every object's first samples have to be resolved. */
bool pd_elsewhere_is(struct pd_elsewhere *elsewhere, struct pd_thread *thread, uint64_t number,
                     uint8_t cpumode, uint64_t ip);

/* How often the caches answered. */
struct pd_resolver_stats {
    uint64_t lookups;
    uint64_t recent; /* by (maps, address) in the first level */
    uint64_t known;  /* by (map, address) */
    uint64_t made;   /* locations made */
    uint64_t memory; /* bytes held now */
};
void pd_resolver_statistics(const struct pd_resolver *resolver, struct pd_resolver_stats *out);

/* The front shows each sample until this returns true: the kernel's table is loaded with the maps
 * that hold at the first kernel address in delivery order, whichever worker comes first. Loads
 * nothing itself. */
bool pd_symbols_show_front(struct pd_symbols *symbols, uint8_t cpumode, uint64_t ip,
                           uint64_t number);

/* Whether some thread is loading the kernel's table, for which all others would have to wait. A
 * hint only. */
bool pd_symbols_loading(const struct pd_symbols *symbols);
/* Whether the kernel's table has been loaded. */
bool pd_symbols_has_kernel(const struct pd_symbols *symbols);

/* The symbol table behind a map, loading it when needed; NULL when it has none. Any thread. */
const struct pd_symtab *pd_symbols_table(struct pd_symbols *symbols, const struct pd_map *map);
/* What is looked up in that table for an address. */
uint64_t pd_symbols_address(struct pd_symbols *symbols, const struct pd_map *map, uint64_t ip);
/* The kernel's map of an address once its table is loaded, which cuts and adds maps; NULL: none. */
const struct pd_map *pd_symbols_kernel_map(struct pd_symbols *symbols, uint64_t number,
                                           uint64_t ip);
/* Where kernel addresses begin: perf's machine__kernel_start. */
uint64_t pd_symbols_kernel_start(struct pd_symbols *symbols, uint64_t number);
/* The DSO's names as loading left them: of the kernel, the vmlinux that was used. */
const char *pd_symbols_long_name(struct pd_symbols *symbols, const struct pd_dso *dso);
const char *pd_symbols_short_name(struct pd_symbols *symbols, const struct pd_dso *dso);

/* The build-id as recorded, else that of the file that the symbols were read from; size 0: none. */
struct pd_build_id pd_symbols_build_id(struct pd_symbols *symbols, const struct pd_dso *dso);
/* perf's letter for where the object's symbols were read from; '!': nowhere. */
char pd_symbols_origin(const struct pd_dso *dso);
/* Whether perf looks symbols of the object, which it has loaded, up by file offset. */
bool pd_symbols_adjusts(const struct pd_dso *dso);

/* The files that are read for a map's object, which is loaded. */
struct pd_symbols_files {
    const struct pd_object *object; /* NULL: it has no file of its own */
    const char *lines;              /* NULL: none is asked for source lines */
    const struct pd_kernel *kernel; /* whose table gives its symbols; NULL: none does */
};
struct pd_symbols_files pd_symbols_files(const struct pd_map *map);

/* The source line of an address. */
struct pd_source_line {
    enum pd_lines_answer answer;
    unsigned line;
    uint64_t address; /* as the object's file counts it */
    const char *file; /* with its folders; lives as long as the symbols */
};

/* `address` is what is looked up in the map's symbol table. Lines are read once, on first need; any
 * thread. False when the system has no memory. */
bool pd_symbols_line(struct pd_symbols *symbols, const struct pd_map *map, uint64_t address,
                     struct pd_source_line *out);

/* Turns the address that is looked up in the map's symbol table, which is loaded, into the one that
 * the object's file has. False: there is no such file, and the address is left as it is. */
bool pd_symbols_file_address(struct pd_symbols *symbols, const struct pd_map *map,
                             uint64_t *address);

/* DWARF's index of the map's object, for what is asked at addresses as the file counts; NULL: the
 * object has no file, or no memory. Lives as long as the symbols. */
struct pd_lines *pd_symbols_lines(struct pd_symbols *symbols, const struct pd_map *map);

/* Where the code of a map's object lies as a file. */
enum pd_code_source {
    PD_CODE_IN_FILE,
    PD_CODE_OF_KERNEL, /* whose image is not known, only its table of symbols */
    PD_CODE_OF_BPF     /* a program that was made at run time */
};

struct pd_code_file {
    enum pd_code_source source;
    char *path;       /* of a file, which may be there no more; the caller frees it */
    uint64_t address; /* as the file counts */
};

/* `address` is what is looked up in the map's symbol table, which is loaded. False: no memory. */
bool pd_symbols_code_file(struct pd_symbols *symbols, const struct pd_map *map, uint64_t address,
                          struct pd_code_file *out);

/* ---- code ------------------------------------------------------------------------------------ */

/* The bytes that a map shows; the address `ip` lies at pd_symbols_address() in them. NULL: they
 * cannot be had. Opened on first need; any thread; lives as long as the symbols. */
const struct pd_image *pd_symbols_image(struct pd_symbols *symbols, const struct pd_map *map);
/* Whether the image can be had without a server: a program is not fetched only to see that it is
 * there, or of what kind it is. */
bool pd_symbols_is_here(struct pd_symbols *symbols, const struct pd_dso *dso);

/* ---- call chains ----------------------------------------------------------------------------- */

/* Values of a chain from here on are no addresses: they say whose addresses follow. */
#define PD_CHAIN_FIRST_CONTEXT ((uint64_t)-4095)

/* What a frame that is an end of a branch tells, packed into a word. For a target: from where and
 * how it was reached ... */
enum pd_chain_end_part {
    PD_END_TO = 1,
    PD_END_FROM = 2,
    PD_END_PREDICTED = 4,
    PD_END_ABORT = 8,
    PD_END_FORWARD = 16, /* conditional branches */
    PD_END_BACKWARD = 32,
    PD_END_CROSS_4K = 64,
    PD_END_CROSS_2M = 128,
    PD_END_TYPE_SHIFT = 16, /* a bit for each type, then one for each that was added later */
    PD_END_NEW_TYPE_SHIFT = 32,
    /* For a source only: how many loops come before it, and its cycles. */
    PD_END_LOOPS_SHIFT = 8,
    PD_END_CYCLES_SHIFT = 16,
    PD_END_LOOP_CYCLES_SHIFT = 32
};

/* The branch's kinds, as bits from PD_END_FORWARD on; 0: its type is not known. */
uint64_t pd_branch_kinds(const struct pd_branch *branch);

struct pd_frame {
    uint64_t ip;  /* as in the chain */
    uint64_t end; /* enum pd_chain_end_part; 0: none of a branch */
    struct pd_location *location;
};

/* perf walks a chain from the caller when it shows callers first, and then counts max_stack from
 * there. Default: no. */
void pd_resolver_from_caller(struct pd_resolver *resolver, bool from_caller);
/* Chains begin with the sample's branches, loops once (perf's branch history). Default: no. */
void pd_resolver_join_branches(struct pd_resolver *resolver, bool joins);
/* Do frames depend on more of the sample than its recorded chain: registers, a stack, branches? */
bool pd_chain_has_more(const struct pd_sample *sample);
/* How many of the recorded entries, markers included, lie in the kernel in front of all that lie
 * in user space; 0: none, or the chain has another form. */
uint32_t pd_chain_kernel_part(const struct pd_sample *sample);
/* The frames of a sample's chain, callee first, markers applied and left out (text reference 1.7).
 * At most `capacity` frames, from at most `max_stack` addresses and as many branches with two ends
 * each; of the processor's call stack, all calls. Returns the count; 0 with *invalid set when the
 * chain is discarded. */
size_t pd_resolve_chain(struct pd_resolver *resolver, const struct pd_sample *sample,
                        const struct pd_thread *thread, uint64_t number, unsigned max_stack,
                        struct pd_frame *frames, size_t capacity, bool *invalid);
/* With a `max_stack` of 0: whether perf shows the sample's address in place of a chain without
 * frames, since it fails to unwind a stack into none. */
bool pd_chain_of_none_fails(struct pd_resolver *resolver, const struct pd_sample *sample,
                            const struct pd_thread *thread, uint64_t number);
/* How many of the last chain's frames, the outermost ones, were not recorded but unwound. */
size_t pd_chain_unwound(const struct pd_resolver *resolver);

/* A function at an address that lies in several, by inlining. */
struct pd_nested {
    struct pd_location location;
    const char *file; /* where the next inner one is called in it; NULL: not known */
    unsigned line;
};

PD_INLINE const struct pd_nested *pd_nested_of(const struct pd_location *location)
{
    return location->is_nested ? (const struct pd_nested *)(const void *)location : NULL;
}

/* The last chain with a frame for each function that the compiler has put into those that were
 * unwound, innermost first: recorded addresses stand for themselves, as for perf. The same frames
 * where there is nothing to add, else the resolver's, valid until the next chain. NULL without
 * memory. */
struct pd_frame *pd_chain_inlined(struct pd_resolver *resolver, struct pd_frame *frames,
                                  size_t *count);

/* Entries of a recorded chain, markers included, in a row. */
struct pd_chain_entries {
    const uint8_t *ips; /* u64s */
    uint32_t count;
    bool swap;
};

PD_INLINE struct pd_chain_entries pd_chain_entries_of(const struct pd_sample *sample)
{
    return (struct pd_chain_entries){ sample->callchain, sample->callchain_count, sample->swap };
}

/* A chain's first address and the entries behind it: samples of one function differ in the first,
 * seldom in the rest. */
struct pd_chain_parts {
    uint64_t ip;
    const uint8_t *callers; /* u64s */
    uint32_t caller_count;
    uint8_t cpumode; /* of the address, and of those behind it up to the next marker */
};

/* The mode of the addresses behind a marker. False for markers that perf does not accept. */
bool pd_chain_context_mode(uint64_t context, uint8_t *mode);
/* Takes the chain of a sample apart. False where that cannot be done: the chain has no address, or
 * its first address follows no marker or an unusual one. */
bool pd_chain_split(const struct pd_chain_entries *chain, struct pd_chain_parts *out);
/* The frame that pd_resolve_chain() would give first; NULL: no memory. */
struct pd_location *pd_resolve_leaf(struct pd_resolver *resolver, const struct pd_thread *thread,
                                    uint64_t number, const struct pd_chain_parts *parts);

#endif
