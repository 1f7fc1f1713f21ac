/* SPDX-License-Identifier: MIT */
/* Which instructions run at an address, as of a delivery number.
 *
 * `pd_code` is a session's: the bytes of programs, libraries, kernel and BPF images, and of each
 * straight run of instructions up to a branch, once decoded, its facts. All threads share it.
 * `pd_code_reader` is one thread's: its views. A view is what one set of user maps and the kernel
 * show together; going back to the same maps comes back to the same view. It holds nodes: such runs
 * at their addresses, which the walk links to each other as it goes along, so that following a
 * direct branch again is one load. */
#ifndef PD_ITRACE_CODE_H
#define PD_ITRACE_CODE_H
#include "itrace/code/insn.h"
#include "resolve/resolve.h"

struct pd_code;
struct pd_code_reader;
struct pd_code_space; /* the nodes of one half of a view, user or kernel */

/* Some instructions behind each other in one map, ending with
 *   - a branch (branch != PD_BRANCH_NONE), or
 *   - none, and `next_ip` is where it goes on: where the map ends, at a bound, or before what is no
 *     instruction. */
struct pd_code_node {
    /* Where a branch that is taken goes (direct and conditional ones) and where it goes on: use
     * pd_code_taken() and pd_code_fall(). NULL until they have been looked up. */
    struct pd_code_node *taken, *fall;
    uint64_t ip;                /* of the first instruction */
    uint64_t last_ip;           /* of the last one */
    uint64_t next_ip;           /* behind it: last_ip + length */
    uint64_t target;            /* of a direct or conditional branch, else 0 */
    uint32_t insns;             /* at least one; the branch is counted, too */
    uint8_t op, branch, length; /* of the last instruction */
    /* A jmp over 16 bytes by which a program says that an emulated PTWRITE follows: 64 conditional
     * branches whose outcomes spell a value. */
    bool emulated_ptwrite;
    /* ---- 64 bytes ---- */
    const uint8_t *code;    /* the bytes from ip to next_ip */
    const uint8_t *lengths; /* of each instruction */
    const struct pd_map *map;
    struct pd_code_space *space;
    bool is_64_bit;
    bool dead; /* its bytes have been patched since */
};

enum pd_code_error {
    PD_CODE_OK,
    PD_CODE_NO_MAP,     /* no thread, or nothing is known to be mapped there */
    PD_CODE_UNREADABLE, /* the object's bytes cannot be had */
    PD_CODE_UNDECODABLE,
    PD_CODE_NO_MEMORY
};

struct pd_code_view {
    struct pd_code_space *user, *kernel;
    uint64_t kernel_start; /* at and above it, the kernel */
    uint64_t user_stamp, kernel_stamp;
    size_t pokes; /* how many patches of the kernel hold */
    uint64_t
        generation; /* changes when nodes died: those looked up before must be looked up again */
    struct pd_code_reader *reader;
    /* The map of the last look-up that failed. */
    const struct pd_map *failed_map; /* NULL: none there */
};

/* `symbols` outlives it. NULL without memory. */
struct pd_code *pd_code_new(struct pd_symbols *symbols);
void pd_code_free(struct pd_code *code);
/* Applies a TEXT_POKE record. The front calls it, with rising numbers, before a reader asks for
 * that number. */
perfdata_status pd_code_poke(struct pd_code *code, const struct pd_event *event,
                             const uint8_t *record, uint32_t size, bool swap, uint64_t number);
/* Notes an error met in this object; to be called in delivery order. perf reports an object that it
 * cannot read twice and then no more. True: this error is to be reported. */
bool pd_code_tell(struct pd_code *code, const struct pd_map *map, enum pd_code_error error);

/* perf has tried to read the object before any error: if it cannot be read, the first error is the
 * last that is told. */
void pd_code_see(struct pd_code *code, const struct pd_map *map);
/* A vdso is about to be mapped: perf then opens the thread's objects, up to the first that it can
 * read, so that it knows which it cannot. */
void pd_code_see_vdso(struct pd_code *code, const struct pd_thread *thread);

struct pd_code_reader *pd_code_reader_new(struct pd_code *code);
void pd_code_reader_free(struct pd_code_reader *reader);

enum pd_code_machine {
    PD_CODE_HOST,
    /* A guest that runs what `thread`, its hypervisor's process, has mapped (--guest-code). */
    PD_CODE_GUEST_CODE,
    /* The kernel of the guest that `thread` is one of. */
    PD_CODE_GUEST
};

/* What the thread (NULL: unknown, its kernel only) sees as of that number. The view stays where it
 * is until the reader is trimmed. As always, map records act only once pd_timeline_touch() has been
 * called behind them. NULL without memory. */
struct pd_code_view *pd_code_view(struct pd_code_reader *reader, const struct pd_thread *thread,
                                  uint64_t number, enum pd_code_machine machine);
/* Forgets views when there are too many; true when it did. Not while one is in use. */
bool pd_code_reader_trim(struct pd_code_reader *reader);

/* Whether the kernel is loaded, so that looking into it loads nothing any more. */
bool pd_code_has_kernel(const struct pd_code_view *view);

/* The node that begins at `ip`. NULL: *error says why, view->failed_map where. perf then counts
 * none of the instructions that were walked over since the last branch. */
struct pd_code_node *pd_code_at(struct pd_code_view *view, uint64_t ip, enum pd_code_error *error);
/* The same for the target of a node's branch and for what is behind it; links what may be
 * linked. */
struct pd_code_node *pd_code_link(struct pd_code_view *view, struct pd_code_node *node, bool taken,
                                  enum pd_code_error *error);

PD_INLINE struct pd_code_node *pd_code_taken(struct pd_code_view *view, struct pd_code_node *node,
                                             enum pd_code_error *error)
{
    return PD_LIKELY(node->taken != NULL) ? node->taken : pd_code_link(view, node, true, error);
}

PD_INLINE struct pd_code_node *pd_code_fall(struct pd_code_view *view, struct pd_code_node *node,
                                            enum pd_code_error *error)
{
    return PD_LIKELY(node->fall != NULL) ? node->fall : pd_code_link(view, node, false, error);
}

/* The map of an address; NULL none. Address filters need its file's name and offset. */
const struct pd_map *pd_code_map(struct pd_code_view *view, uint64_t ip);
/* Where the bytes of an address lie. */
struct pd_code_place {
    const void *object;
    uint64_t offset, size; /* in the object, and its size */
};
bool pd_code_place(struct pd_code_view *view, uint64_t ip, struct pd_code_place *out);
/* Copies up to `size` bytes of code at `ip`; the count, 0: none are known. */
size_t pd_code_read(struct pd_code_view *view, uint64_t ip, uint8_t *bytes, size_t size,
                    bool *is_64_bit);

/* Copies as many bytes at `ip` as an instruction may have. */
PD_INLINE size_t pd_code_bytes(struct pd_code_view *view, uint64_t ip, uint8_t *bytes,
                               bool *is_64_bit)
{
    return pd_code_read(view, ip, bytes, PD_INSN_BUFFER, is_64_bit);
}

#endif
