/* SPDX-License-Identifier: MIT */
/* The layer model/: sideband facts -> the timeline: threads, names, maps, each with the delivery
 * number from which it holds. One writer, the front; any number of readers without locks: a look-up
 * takes (thing, delivery number). COMM, FORK and MMAP number n already hold when n itself is
 * printed; EXIT holds after it. */
#ifndef PD_MODEL_H
#define PD_MODEL_H
#include "base/vec.h"
#include "format/features.h"
#include "format/format.h"
#include "model/version.h"

/* What a map shows: an object file, the kernel, a JIT... An identity only; its symbols are
 * resolve/'s. */
enum pd_dso_kind {
    PD_DSO_USER,   /* a file */
    PD_DSO_KERNEL, /* the kernel's text */
    PD_DSO_MODULE,
    PD_DSO_VDSO,
    PD_DSO_PERF_MAP, /* anonymous executable memory: symbols come from perf-PID.map */
    PD_DSO_NO_FILE,  /* [heap], [stack], //anon without execute permission: no symbols */
    PD_DSO_BPF,  /* made by a KSYMBOL: one symbol, `name`, of symbol_size bytes from address 0 */
    PD_DSO_OOL,  /* the same, out-of-line kernel code */
    PD_DSO_OTHER /* a name that is no path: [vsyscall], anon_inode:... */
};

/* Owned by the timeline, never freed before it. Names are fixed before a reader can reach the
 * object. */
struct pd_dso {
    /* Order of creation, as in perf: build-id table first, then as maps appear. Of all machines. */
    uint32_t index;
    uint32_t place; /* of its machine */
    enum pd_dso_kind kind;
    const char *name;       /* as at creation: what script prints */
    const char *long_name;  /* buildid-list; a loaded vmlinux changes it in resolve/ */
    const char *short_name; /* what report prints */
    uint32_t name_length, long_name_length, short_name_length;
    uint32_t short_name_id; /* equal for equal short names */
    uint32_t long_name_id;
    _Atomic uint8_t build_id_size; /* 0: none recorded. Set once build_id is */
    uint8_t build_id[20];
    /* an earlier object of the kernel's has it, too: only recorded, not believed */
    bool id_distrusted;
    /* Of the map that showed it first: */
    uint32_t pid; /* 0: none did; a perf map's: the process that it is of */
    uint64_t mapped_at;
    uint64_t mount_namespace; /* inode of the process's, as a NAMESPACES record says; 0: none did */
    uint64_t symbol_size;     /* BPF, OOL */
    bool kernel_space, from_header;
    bool listed; /* perf keeps it in its list (buildid-list): all but those made by KSYMBOL */
    bool mapped; /* a map shows it */
    uint32_t maj, min;
    uint64_t ino, ino_generation;
    const void *code; /* of a runtime, where its dump is read in place; NULL: none */
    /* resolve/'s: */
    void *_Atomic symbols; /* what was loaded */
    _Atomic bool alone;    /* a module that was looked up before the kernel's table was there */
};

/* Immutable. Lives as long as a version that no retirement freed shows it, and for ever once a
 * look-up returned it. */
struct pd_map {
    uint64_t start, end, pgoff;
    uint64_t reloc;         /* kernel: address of the reference symbol, 0: it was hidden */
    const char *reloc_name; /* its name, NULL: not recorded */
    struct pd_dso *dso;
    uint32_t prot, flags;
    uint32_t pid, tid; /* of the record that made it */
    uint64_t number;   /* delivery number from which it holds */
    bool identity;     /* addresses are looked up as they are, else ip - start + pgoff */
    bool kernel;
    bool main_kernel;
    _Atomic bool hit; /* a look-up returned it */
    uint32_t refs;    /* model/'s */
};

PD_INLINE uint64_t pd_map_address(const struct pd_map *map, uint64_t ip)
{
    return map->identity ? ip : ip - map->start + map->pgoff;
}
PD_INLINE uint64_t pd_map_ip(const struct pd_map *map, uint64_t address)
{
    return map->identity ? address : address - map->pgoff + map->start;
}

/* A name is an object: the first COMM replaces the text of the default name (":TID"), later ones
 * add names. script prints the text as of n, report keys by the object and compares final texts.
 * Texts are interned: equal texts are the same pointer. */
struct pd_comm {
    struct pd_version version;
    uint32_t index; /* of the object, dense */
    /* use pd_comm_text() / pd_comm_final_text() */
    const char *_Atomic final_text;
    const char *default_text; /* NULL unless it began as a default name */
    _Atomic uint64_t
        replaced_at; /* delivery number from which the default is replaced; all ones: not yet */
    _Atomic bool exec;
};
/* The name before; NULL: none. */
PD_INLINE const struct pd_comm *pd_comm_before(const struct pd_comm *comm)
{
    return (const struct pd_comm *)comm->version.before;
}

/* One incarnation of a tid. */
struct pd_thread {
    uint32_t index; /* dense, in order of creation */
    uint32_t tid;
    struct pd_timeline *timeline; /* of its machine */
    /* the rest is model/'s: use the functions */
    struct pd_thread_state *state;
};

struct pd_timeline;

/* `features` gives the build-id table and the architecture; NULL: none. `swap`: the recording's
 * byte order is not ours. NULL when the system has no memory. */
struct pd_timeline *pd_timeline_new(struct pd_context *context, const struct pd_features *features,
                                    bool swap);
/* The same for a guest, whose hypervisor's process is `pid`; 0: the guest that is meant where no
 * pid is known. Its host outlives it. Indices of threads, names and DSOs are unique over both. */
struct pd_timeline *pd_timeline_new_guest(struct pd_timeline *host,
                                          const struct pd_features *features, uint32_t pid);
/* The machine's pid; for the host, all ones. */
uint32_t pd_timeline_machine(const struct pd_timeline *timeline);
/* The thread of the host whose code a guest runs, set before the first look-up there; NULL:
 * none. */
void pd_timeline_set_hypervisor(struct pd_timeline *timeline, const struct pd_thread *thread);
const struct pd_thread *pd_timeline_hypervisor(const struct pd_timeline *timeline);
/* "[kernel.kallsyms]", or a guest's. */
const char *pd_timeline_kernel_name(const struct pd_timeline *timeline);
/* What the file behind a map is for. */
enum pd_program_kind { PD_PROGRAM_UNKNOWN, PD_PROGRAM_32, PD_PROGRAM_X32, PD_PROGRAM_64 };
/* resolve/'s: the symbols of this machine, and who looks into files for it, from before the first
 * record on. */
void pd_timeline_set_symbols(struct pd_timeline *timeline, void *symbols,
                             enum pd_program_kind (*program_kind)(void *symbols,
                                                                  const struct pd_map *map));
void *pd_timeline_symbols(const struct pd_timeline *timeline);
void pd_timeline_free(struct pd_timeline *timeline);
/* From now on EXIT takes the thread out of the table, as perf does in buildid-list only. */
void pd_timeline_remove_exited(struct pd_timeline *timeline);

/* A map of a process as its record told it, whatever later ones covered of it. */
struct pd_told_map {
    const struct pd_dso *dso;
    uint64_t number; /* of the record */
    uint64_t start, end, pgoff;
    uint32_t pid;
};
struct pd_map_log {
    PD_VEC(struct pd_told_map) maps;
};
/* From now on each map of a process, guests' too, is noted there; NULL: nowhere. The log outlives
 * the last record. */
void pd_timeline_log_maps(struct pd_timeline *timeline, struct pd_map_log *log);

/* ---- the writer: the front, in delivery order, numbers rising ---- */

/* Applies one record (type < 64, or the user records that the timeline knows) that is no sample. */
perfdata_status pd_timeline_apply(struct pd_timeline *timeline, const struct pd_event *event,
                                  const uint8_t *record, uint32_t size, uint64_t number);
/* Code that a runtime made appears, or moves, as if an MMAP2 of a file had shown it. */
struct pd_code_map {
    uint32_t pid, tid;
    uint64_t start, length, pgoff;
    const char *name;
    size_t name_length;
    uint64_t version; /* the same name may stand for other code later */
    const void *code; /* becomes the DSO's */
};
perfdata_status pd_timeline_map_code(struct pd_timeline *timeline, const struct pd_code_map *map,
                                     uint64_t number);
/* The thread of a sample (or another record's trailer), made when unseen, as perf does even for pid
 * and tid -1 (absent: its name is ":-1"). NULL only when the system has no memory. One hash probe.
 * Publishes the maps changed since. */
struct pd_thread *pd_timeline_touch(struct pd_timeline *timeline, uint32_t pid, uint32_t tid,
                                    uint64_t number);
/* Where all changes of maps, and of who has them, are counted: while the count stays, so do the
 * newest maps. */
const uint64_t *pd_timeline_changes(const struct pd_timeline *timeline);
/* The map of a user address as the newest record left the maps, NULL. `number` is the newest, and
 * the thread was touched at it. */
const struct pd_map *pd_thread_map_now(const struct pd_thread *thread, uint64_t number,
                                       uint64_t ip);
/* perf's machine__findnew_thread without a change where it exists; NULL when there is none. */
struct pd_thread *pd_timeline_find(struct pd_timeline *timeline, uint32_t tid);
/* Versions older than `number` are no longer needed by any reader: they may be freed. */
void pd_timeline_retire(struct pd_timeline *timeline, uint64_t number);
/* Says that all records up to `number` have been applied: up to there, the newest version that a
 * reader sees is known to hold. Optional. */
void pd_timeline_settle(struct pd_timeline *timeline, uint64_t number);

/* ---- readers, any thread, for numbers that the writer has passed ---- */

const struct pd_comm *pd_thread_comm(const struct pd_thread *thread, uint64_t number);
/* The text that held at `number`. */
const char *pd_comm_text(const struct pd_comm *comm, uint64_t number);
/* Up to which number, exclusive, the thread keeps the name that it has at `number`; `settled` as
 * for pd_thread_maps_view(). */
uint64_t pd_thread_comm_until(const struct pd_thread *thread, uint64_t number, uint64_t settled);
/* The text at the end of the recording (or so far). */
const char *pd_comm_final_text(const struct pd_comm *comm);
uint32_t pd_thread_pid(const struct pd_thread *thread, uint64_t number); /* -1 unknown */
/* The thread whose tid is the pid; NULL while the pid is unknown. */
const struct pd_thread *pd_thread_leader(const struct pd_thread *thread, uint64_t number);
uint32_t pd_thread_ppid(const struct pd_thread *thread, uint64_t number); /* -1 unknown */
/* The maps that a thread sees, for a run of numbers: a reader that remembers it does not search the
 * versions again. */
struct pd_maps_view {
    const struct pd_map_version *version; /* NULL: no maps */
    uint64_t stamp;
    uint64_t from,
        until; /* the same for all numbers in [from, until) that the reader may still ask for */
};
/* Asked before a view and given to it: how far the writer was. */
uint64_t pd_timeline_settled(const struct pd_timeline *timeline);
void pd_thread_maps_view(const struct pd_thread *thread, uint64_t number, uint64_t settled,
                         struct pd_maps_view *out);
void pd_timeline_kernel_view(const struct pd_timeline *timeline, uint64_t number, uint64_t settled,
                             struct pd_maps_view *out);
const struct pd_map *pd_maps_view_find(const struct pd_maps_view *view, uint64_t ip);
/* Addresses in a row that lie in no map. */
struct pd_map_gap {
    uint64_t from, size;
};
/* The same; NULL: *gap has the address, and is the same as long as the view's stamp is. */
const struct pd_map *pd_maps_view_find_or_gap(const struct pd_maps_view *view, uint64_t ip,
                                              struct pd_map_gap *gap);
/* In address order, until `each` returns non-zero, which is then returned. */
int pd_maps_view_each(const struct pd_maps_view *view,
                      int (*each)(void *data, const struct pd_map *map), void *data);

/* The map of a user address, NULL. */
const struct pd_map *pd_thread_map(const struct pd_thread *thread, uint64_t number, uint64_t ip);
/* Changes whenever the maps that the thread sees change; equal stamps, equal answers. Never 0. */
uint64_t pd_thread_maps_stamp(const struct pd_thread *thread, uint64_t number);
const struct pd_map *pd_timeline_kernel_map(const struct pd_timeline *timeline, uint64_t number,
                                            uint64_t ip);
uint64_t pd_timeline_kernel_stamp(const struct pd_timeline *timeline, uint64_t number);
/* Device and inode of the thread's cgroup namespace; false: none known. */
bool pd_thread_cgroup_namespace(const struct pd_thread *thread, uint64_t number, uint32_t *device,
                                uint64_t *inode);
const char *pd_timeline_cgroup(const struct pd_timeline *timeline, uint64_t number,
                               uint64_t id); /* NULL unknown */

/* ---- after the walk, one thread: tables in perf's order ---- */
size_t pd_timeline_dso_count(const struct pd_timeline *timeline);
struct pd_dso *pd_timeline_dso(const struct pd_timeline *timeline, size_t index);
size_t pd_timeline_thread_count(
    const struct pd_timeline *timeline); /* live incarnations and replaced ones */
struct pd_thread *pd_timeline_thread(const struct pd_timeline *timeline, size_t index);
/* Whether the thread is still in perf's table: no later FORK replaced it. (EXIT replaces
 * nothing.) */
bool pd_thread_current(const struct pd_thread *thread);
/* Whether an EXIT said that the thread ended. The writer's thread only. */
bool pd_thread_dead(const struct pd_thread *thread);
/* Maps of a thread in address order, the unpublished ones too when `number` is all ones; stops when
 * `each` returns non-zero. A replaced incarnation may have lost its maps. */
int pd_thread_each_map(const struct pd_thread *thread, uint64_t number,
                       int (*each)(void *data, const struct pd_map *map), void *data);
/* Whether a record has said where the kernel lies, even if later ones have covered that. */
bool pd_timeline_kernel_mapped(const struct pd_timeline *timeline);
int pd_timeline_each_kernel_map(const struct pd_timeline *timeline, uint64_t number,
                                int (*each)(void *data, const struct pd_map *map), void *data);

#endif
