/* SPDX-License-Identifier: MIT */
/* What a session knows of code, for the files code*.c: facts of straight runs of instructions by
 * their place in an object, and what patched the kernel. */
#ifndef PD_ITRACE_CODE_OBJECT_H
#define PD_ITRACE_CODE_OBJECT_H
#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "itrace/code/code.h"
#include <pthread.h>
#include <stdatomic.h>

enum { PD_CODE_RUN = 1024 /* instructions of a run without a branch */ };

/* From one place to the next branch, or to the bound, or to what is no instruction. Immutable. */
struct pd_code_facts {
    uint32_t insns, size; /* size: all of its bytes */
    int32_t rel;
    uint8_t op, branch;
    bool emulated_ptwrite;
    const uint8_t *lengths;
};

/* `lengths` gets room for PD_CODE_RUN from the caller. insns 0: there is no instruction. */
void pd_code_decode(const uint8_t *bytes, size_t size, bool is_64_bit, uint8_t *lengths,
                    struct pd_code_facts *out);

/* Fills a node with what `facts` says of the run at its address. */
void pd_code_node_fill(struct pd_code_node *node, const struct pd_code_facts *facts, uint64_t ip);

struct pd_code_object {
    const struct pd_image *image;
    pthread_mutex_t lock;
    struct pd_map64 by_offset; /* place in `facts` */
    PD_VEC(const struct pd_code_facts *) facts;
    struct pd_arena arena;
};

/* NULL: no instruction there, or no memory. */
const struct pd_code_facts *pd_code_object_at(struct pd_code_object *object, uint64_t offset);

/* ---- patches of the kernel ---- */

struct pd_code_poke {
    uint64_t number, addr;
    uint32_t size;
    const uint8_t *bytes;
};

struct pd_code_pokes {
    pthread_mutex_t lock;
    _Atomic size_t count;
    PD_VEC(struct pd_code_poke) list; /* by number */
    struct pd_map64 lines;            /* address / PD_CODE_LINE -> the newest of `links` */
    PD_VEC(struct pd_code_poke_link) links;
    struct pd_arena arena;
};

struct pd_code_poke_link {
    uint32_t poke, before; /* the link of an older one, PD_MAP64_NONE: none */
};

void pd_code_pokes_init(struct pd_code_pokes *pokes);
void pd_code_pokes_free(struct pd_code_pokes *pokes);
bool pd_code_pokes_add(struct pd_code_pokes *pokes, uint64_t number, uint64_t addr,
                       const uint8_t *bytes, uint32_t size);
/* How many patches hold at `number`. */
size_t pd_code_pokes_at(struct pd_code_pokes *pokes, uint64_t number);
/* A copy of one. */
struct pd_code_poke pd_code_pokes_get(struct pd_code_pokes *pokes, size_t index);
/* Whether any patch, at whatever time, changes bytes in this range. */
bool pd_code_pokes_touch(struct pd_code_pokes *pokes, uint64_t addr, uint64_t size);
/* Patches what was read from `addr`, with the first `count` of them. */
void pd_code_pokes_apply(struct pd_code_pokes *pokes, size_t count, uint64_t addr, uint8_t *bytes,
                         size_t size);

/* ---- */

struct pd_code {
    struct pd_symbols *symbols;
    pthread_mutex_t lock;     /* of objects and told */
    struct pd_map64 by_image; /* pointer -> place in `objects` */
    PD_VEC(struct pd_code_object *) objects;
    struct pd_map64 told; /* DSO -> how often it was met */
    struct pd_code_pokes pokes;
};

/* NULL without memory. */
struct pd_code_object *pd_code_object_of(struct pd_code *code, const struct pd_image *image);

#endif
