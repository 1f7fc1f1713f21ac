/* SPDX-License-Identifier: MIT */
/* Guests: machines with threads, maps and symbols of their own, known by the pid of their
 * hypervisor's process. Samples and maps that are marked as a guest's belong there, once guests are
 * asked for. Only the front uses this list; others reach a guest through its threads. */
#ifndef PD_RESOLVE_GUESTS_H
#define PD_RESOLVE_GUESTS_H
#include "base/hash.h"
#include "base/vec.h"
#include "resolve/resolve.h"

/* Where the kernel of the nameless guest is looked for, and where the folders of the others lie:
 * MOUNT/PID. NULL: not given. */
struct pd_guest_places {
    const char *kallsyms, *modules, *vmlinux, *mount;
};

struct pd_guest {
    uint32_t pid;
    struct pd_timeline *timeline;
    struct pd_symbols *symbols; /* NULL: the session has none */
    char *root, *kallsyms;
};

/* Whose samples an event's id stands for. */
struct pd_guest_cpu {
    uint32_t machine_pid, vcpu;
};

struct pd_guests {
    bool wanted;
    /* what runs in a guest is its hypervisor's code: each process's guest is one by itself */
    bool code;
    bool swap;
    struct pd_context *context;
    struct pd_timeline *host;
    const struct pd_features *features;
    const struct pd_object_search *search; /* the host's; NULL: no symbols */
    struct pd_guest_places places;
    PD_VEC(struct pd_guest *) list;
    struct pd_map64 by_pid; /* place in `list` */
    struct pd_map64 by_id;  /* of an event: place in `cpus` */
    PD_VEC(struct pd_guest_cpu) cpus;
};

void pd_guests_free(struct pd_guests *guests);

/* Guests are asked for when some place is given. */
void pd_guests_want(struct pd_guests *guests, const struct pd_guest_places *places);
/* What an ID_INDEX record says of guests, whose samples are wanted then. */
perfdata_status pd_guests_index(struct pd_guests *guests, const uint8_t *record, uint32_t size);
/* NULL: the id is no guest's. */
const struct pd_guest_cpu *pd_guests_cpu(const struct pd_guests *guests, uint64_t id);

/* The machine as perf chooses it: the guest of that pid, else the nameless one, which is made when
 * unseen; for pid -1 the host. NULL without memory. */
struct pd_timeline *pd_guests_timeline(struct pd_guests *guests, uint32_t pid);

/* With `code`: the thread that perf shows samples of a guest with, named after the guest. NULL
 * without memory. */
struct pd_thread *pd_guests_code_thread(struct pd_guests *guests, uint32_t machine, uint32_t pid,
                                        uint64_t number);

/* Does for the timelines of all guests what is done for the host's. */
void pd_guests_settle(struct pd_guests *guests, uint64_t number);
void pd_guests_retire(struct pd_guests *guests, uint64_t number);

#endif
