/* SPDX-License-Identifier: MIT */
/* The layer model/: sideband facts -> the timeline: threads, names, maps, each with the delivery number from which
 * it holds. One writer, the front; any number of readers without locks: a look-up takes (thing, delivery number).
 * COMM, FORK and MMAP number n already hold when n itself is printed; EXIT holds after it. */
#ifndef PD_MODEL_H
#define PD_MODEL_H
#include "format/features.h"
#include "format/format.h"

/* What a map shows: an object file, the kernel, a JIT... An identity only; its symbols are resolve/'s. */
enum pd_dso_kind {
    PD_DSO_USER,    /* a file */
    PD_DSO_KERNEL,  /* the kernel's text */
    PD_DSO_MODULE,
    PD_DSO_VDSO,
    PD_DSO_PERF_MAP, /* anonymous executable memory: symbols come from perf-PID.map */
    PD_DSO_NO_FILE,  /* [heap], [stack], //anon without execute permission */
    PD_DSO_BPF,
    PD_DSO_OTHER
};

struct pd_dso {
    uint32_t index; /* order of creation, as in perf: build-id table first, then as maps appear */
    enum pd_dso_kind kind;
    const char *name;       /* as at creation: what script prints */
    const char *long_name;  /* buildid-list; a loaded vmlinux changes it in resolve/ */
    const char *short_name; /* what report prints */
    uint32_t name_length, long_name_length, short_name_length;
    uint32_t short_name_id;  /* equal for equal short names */
    uint8_t build_id_size;   /* 0: none recorded */
    uint8_t build_id[20];
    uint32_t pid;            /* of a perf map */
    bool kernel_space, from_header;
    uint32_t maj, min;
    uint64_t ino, ino_generation;
};

struct pd_map {
    uint64_t start, end, pgoff;
    uint64_t reloc;      /* kernel: pgoff of the reference symbol */
    struct pd_dso *dso;
    uint32_t prot, flags;
    uint32_t pid, tid;   /* of the record that made it */
    uint64_t number;     /* delivery number from which it holds */
    bool identity;       /* addresses are looked up as they are, else ip - start + pgoff */
    bool kernel;
};

PD_INLINE uint64_t pd_map_address(const struct pd_map *map, uint64_t ip)
{
    return map->identity ? ip : ip - map->start + map->pgoff;
}

/* A name is an object: the first COMM replaces the text of the default name (":TID"), later ones add names.
 * script prints the text as of n, report keys by the object and compares final texts. */
struct pd_comm {
    uint32_t index; /* of the object, dense */
    uint64_t number; /* from which it holds */
    /* use pd_comm_text() / pd_comm_final_text() */
    const char *_Atomic final_text;
    const char *default_text; /* NULL unless it began as a default name */
    uint64_t replaced_at;     /* delivery number from which the default is replaced */
    bool exec;
    struct pd_comm *before;   /* older one, NULL */
};

/* One incarnation of a tid. */
struct pd_thread {
    uint32_t index; /* dense, in order of creation */
    uint32_t tid;
    /* the rest is model/'s: use the functions */
    struct pd_thread_state *state;
};

struct pd_timeline;

/* `features` gives the build-id table and the architecture; NULL: none. */
struct pd_timeline *pd_timeline_new(struct pd_context *context, const struct pd_features *features);
void pd_timeline_free(struct pd_timeline *timeline);

/* ---- the writer: the front, in delivery order, numbers rising ---- */

/* Applies one record (type < 64, or the user records that the timeline knows) that is no sample. */
perfdata_status pd_timeline_apply(struct pd_timeline *timeline, const struct pd_event *event, const uint8_t *record,
                                  uint32_t size, uint64_t number);
/* The thread of a sample (or another record's trailer), made when unseen; NULL for pid and tid -1. One hash probe. */
struct pd_thread *pd_timeline_touch(struct pd_timeline *timeline, uint32_t pid, uint32_t tid, uint64_t number);
/* perf's machine__findnew_thread without a change where it exists; NULL when there is none. */
struct pd_thread *pd_timeline_find(struct pd_timeline *timeline, uint32_t tid);
/* Versions older than `number` are no longer needed by any reader: they may be freed. */
void pd_timeline_retire(struct pd_timeline *timeline, uint64_t number);

/* ---- readers, any thread, for numbers that the writer has passed ---- */

const struct pd_comm *pd_thread_comm(const struct pd_thread *thread, uint64_t number);
/* The text that held at `number`. */
const char *pd_comm_text(const struct pd_comm *comm, uint64_t number);
/* The text at the end of the recording (or so far). */
const char *pd_comm_final_text(const struct pd_comm *comm);
uint32_t pd_thread_pid(const struct pd_thread *thread, uint64_t number); /* -1 unknown */
uint32_t pd_thread_ppid(const struct pd_thread *thread, uint64_t number); /* -1 unknown */
/* The map of a user address, NULL. */
const struct pd_map *pd_thread_map(const struct pd_thread *thread, uint64_t number, uint64_t ip);
/* Changes whenever the maps that the thread sees change; equal stamps, equal answers. Never 0. */
uint64_t pd_thread_maps_stamp(const struct pd_thread *thread, uint64_t number);
const struct pd_map *pd_timeline_kernel_map(const struct pd_timeline *timeline, uint64_t number, uint64_t ip);
uint64_t pd_timeline_kernel_stamp(const struct pd_timeline *timeline, uint64_t number);
const char *pd_timeline_cgroup(const struct pd_timeline *timeline, uint64_t number, uint64_t id); /* NULL unknown */

/* ---- after the walk, one thread: tables in perf's order ---- */
size_t pd_timeline_dso_count(const struct pd_timeline *timeline);
struct pd_dso *pd_timeline_dso(const struct pd_timeline *timeline, size_t index);
size_t pd_timeline_thread_count(const struct pd_timeline *timeline); /* live incarnations and dead ones */
struct pd_thread *pd_timeline_thread(const struct pd_timeline *timeline, size_t index);
/* Maps of a thread at the end in address order; stops when `each` returns non-zero. */
int pd_thread_each_map(const struct pd_thread *thread, uint64_t number,
                       int (*each)(void *data, const struct pd_map *map), void *data);
int pd_timeline_each_kernel_map(const struct pd_timeline *timeline, uint64_t number,
                                int (*each)(void *data, const struct pd_map *map), void *data);

#endif
