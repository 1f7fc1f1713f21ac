/* SPDX-License-Identifier: MIT */
/* The inside of resolve/: what is loaded, for all workers. */
#ifndef PD_RESOLVE_SYMBOLS_H
#define PD_RESOLVE_SYMBOLS_H
#include "base/arena.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/vec.h"
#include "object/process.h"
#include "resolve/resolve.h"
#include <pthread.h>
#include <stdatomic.h>

/* What a DSO became; immutable once published in dso->symbols. */
struct pd_loaded {
    struct pd_loaded *next;
    const struct pd_symtab *table;     /* NULL: none */
    const struct pd_kernel_view *view; /* whose table it is; NULL: not a kernel's */
    struct pd_object *object;          /* owned; NULL: none */
    struct pd_symtab *own;             /* owned; NULL: none */
    enum pd_path_owner owner;          /* whose path the long name is */
    const char *long_name, *short_name;
    struct pd_lines *_Atomic lines;             /* owned; NULL: not yet read */
    struct pd_frame_rules *_Atomic frame_rules; /* owned; NULL: not yet read */
};

/* The kernel's maps as its symbol table cut them; immutable once published. */
struct pd_kernel_place {
    struct pd_map map;
    struct pd_loaded loaded;
};

struct pd_kernel_view {
    struct pd_kernel *kernel;
    struct pd_kernel_place *places; /* by start */
    size_t count;
    struct pd_dso *dsos; /* those that only the table knows */
    bool of_guest;
    uint64_t start;  /* of the main map */
    uint64_t number; /* whose maps were given to the table */
};

enum { PD_LOAD_LOCKS = 16 };

/* The bytes behind DSOs, opened on first need. */
struct pd_images {
    pthread_mutex_t lock;
    struct pd_map64 by_dso;         /* pointer -> place in `list` */
    PD_VEC(struct pd_image *) list; /* NULL: cannot be had */
};

void pd_images_init(struct pd_images *images);
void pd_images_free(struct pd_images *images);
/* `symbols` is a struct pd_symbols. */
enum pd_program_kind pd_symbols_program_kind(void *symbols, const struct pd_map *map);

/* Symbols of inlined functions, by the symbol of the function around them and their name. */
struct pd_inlined_symbols {
    pthread_mutex_t lock;
    struct pd_arena arena;
    struct pd_intern keys;
    PD_VEC(const struct pd_symbol *) list; /* by the id of the key */
};

void pd_inlined_symbols_init(struct pd_inlined_symbols *inlined);
void pd_inlined_symbols_free(struct pd_inlined_symbols *inlined);

struct pd_symbols {
    struct pd_context *context;
    struct pd_timeline *timeline;
    const struct pd_features *features;
    struct pd_object_search search;
    pthread_mutex_t locks[PD_LOAD_LOCKS]; /* by DSO: no object is loaded twice */
    pthread_mutex_t list_lock;            /* objects are loaded while the kernel is, too */
    pthread_mutex_t lock;                 /* the kernel */
    _Atomic bool loading;                 /* the kernel, just now */
    _Atomic bool guests;                  /* of a host: they are asked for */
    struct pd_loaded *list;
    struct pd_kernel_view *_Atomic view;
    _Atomic uint64_t
        first_kernel; /* number of the first sample in the kernel; all ones: none yet */
    bool is_x86_64;
    bool is_of_here; /* the recording may be of this machine: its processes may live */
    struct pd_images images;
    struct pd_inlined_symbols inlined;
};

/* Loads the kernel, unless it is loaded already, with the maps of the first kernel sample, or those
 * that held at `number` if there was none; NULL without memory. */
const struct pd_kernel_view *pd_symbols_kernel(struct pd_symbols *symbols, uint64_t number);
void pd_kernel_view_free(struct pd_kernel_view *view);
/* Whose file the path of a DSO names, as pd_path_owner(). */
enum pd_path_owner pd_dso_owner(const struct pd_dso *dso, char root[PD_ROOT_ROOM]);
/* Where a DSO's path is to be looked for. */
struct pd_dso_search {
    struct pd_object_search places;
    char root[PD_ROOT_ROOM]; /* that `places` may show */
};

enum pd_path_owner pd_symbols_search(const struct pd_symbols *symbols, const struct pd_dso *dso,
                                     struct pd_dso_search *out);
/* Is there a program or library behind the map that can be read? */
bool pd_symbols_has_file(struct pd_symbols *symbols, const struct pd_map *map);
/* The path of that file, if it was loaded; NULL: none. */
const char *pd_symbols_file(struct pd_symbols *symbols, const struct pd_map *map);
/* Does the recording come from an arm64 machine? */
bool pd_symbols_of_arm64(const struct pd_symbols *symbols);
/* Where the function at an address of a map keeps its return address. arm64's files only. */
enum pd_return_place pd_symbols_return_place(struct pd_symbols *symbols, const struct pd_map *map,
                                             uint64_t address);
/* The call frame information of the map's file; NULL: no file. `*address`, as the symbol table
 * counts, becomes what the file itself counts. `machine` is ELF's number of the recording's
 * machine. */
struct pd_frame_rules *pd_symbols_frame_rules(struct pd_symbols *symbols, const struct pd_map *map,
                                              uint16_t machine, uint64_t *address);
PD_INLINE bool pd_symbols_of_guest(const struct pd_symbols *symbols)
{
    return pd_timeline_machine(symbols->timeline) != UINT32_MAX;
}

/* The functions that hold an address of a map, as pd_lines_functions(), with a turn as
 * pd_lines_functions_asked(). */
size_t pd_symbols_functions(struct pd_symbols *symbols, const struct pd_map *map, uint64_t address,
                            const struct pd_lines_turn *turn, struct pd_lines_function *out);

/* NULL without memory. */
const struct pd_loaded *pd_symbols_load(struct pd_symbols *symbols, struct pd_dso *dso);
/* For dumps that are read in place: the file that perf would make of a dump's code. False: no
 * memory. */
bool pd_dso_code_image(const struct pd_dso *dso, struct pd_text *out);
struct pd_build_id pd_dso_build_id(const struct pd_dso *dso);

#endif
