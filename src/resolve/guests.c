/* SPDX-License-Identifier: MIT */
/* Samples of virtual machines -> the guest that each belongs to, with its own timeline. */
#include "resolve/guests.h"
#include "base/memory.h"
#include "format/structs.h"
#include "resolve/symbols.h"
#include <stdio.h>
#include <unistd.h>

/* Each has tables of its own; nobody runs more guests. */
#define GUEST_LIMIT 1024

static void free_guest(struct pd_guest *guest)
{
    if (guest->symbols)
        pd_symbols_free(guest->symbols);
    pd_timeline_free(guest->timeline);
    free(guest->root);
    free(guest->kallsyms);
    free(guest);
}

void pd_guests_free(struct pd_guests *guests)
{
    for (size_t i = 0; i < guests->list.count; i++)
        free_guest(guests->list.data[i]);
    pd_vec_free(&guests->list);
    pd_map64_free(&guests->by_pid);
    pd_map64_free(&guests->by_id);
    pd_vec_free(&guests->cpus);
}

static void want(struct pd_guests *guests)
{
    struct pd_symbols *symbols = pd_timeline_symbols(guests->host);
    guests->wanted = true;
    if (symbols)
        atomic_store_explicit(&symbols->guests, true, memory_order_relaxed);
}

void pd_guests_want(struct pd_guests *guests, const struct pd_guest_places *places)
{
    guests->places = *places;
    if (guests->wanted || places->kallsyms || places->modules || places->vmlinux || places->mount)
        want(guests);
}

/* ---- making one ---- */

static char *join(const char *folder, const char *name)
{
    size_t room = strlen(folder) + strlen(name) + 1;
    char *path = pd_memory_noted(malloc(room));
    if (path)
        snprintf(path, room, "%s%s", folder, name);
    return path;
}

/* Below its folder lies what it runs, and its kernel's table. */
static bool take_root(struct pd_guest *guest, const struct pd_guests *guests,
                      struct pd_object_search *search)
{
    char name[16];
    if (!guests->places.mount)
        return true;
    snprintf(name, sizeof name, "/%d", (int)guest->pid);
    guest->root = join(guests->places.mount, name);
    guest->kallsyms = guest->root ? join(guest->root, "/proc/kallsyms") : NULL;
    if (!guest->kallsyms)
        return false;
    search->symfs = guest->root;
    search->kallsyms = access(guest->kallsyms, F_OK) ? NULL : guest->kallsyms;
    return true;
}

static bool open_symbols(struct pd_guest *guest, const struct pd_guests *guests)
{
    struct pd_object_search search = *guests->search;
    search.kallsyms = search.vmlinux = search.jitdump = NULL;
    if (guest->pid) {
        if (!take_root(guest, guests, &search))
            return false;
    } else {
        search.kallsyms = guests->places.kallsyms;
        search.vmlinux = guests->places.vmlinux;
    }
    guest->symbols = pd_symbols_new(guests->context, guest->timeline, guests->features, &search);
    return guest->symbols != NULL;
}

static struct pd_guest *find(const struct pd_guests *guests, uint32_t pid)
{
    uint32_t at = pd_map64_get(&guests->by_pid, pid);
    return at == PD_MAP64_NONE ? NULL : guests->list.data[at];
}

static struct pd_guest *make(struct pd_guests *guests, uint32_t pid)
{
    struct pd_guest *guest = pd_memory_noted(calloc(1, sizeof *guest));
    if (!guest)
        return NULL;
    guest->pid = pid;
    guest->timeline = pd_timeline_new_guest(guests->host, guests->features, pid);
    if (!guest->timeline || (guests->search && !open_symbols(guest, guests)) ||
        !pd_vec_reserve(&guests->list, guests->list.count + 1) ||
        !pd_map64_set(&guests->by_pid, pid, (uint32_t)guests->list.count)) {
        free_guest(guest);
        return NULL;
    }
    guests->list.data[guests->list.count++] = guest;
    return guest;
}

/* The guest of a process that brings its code. */
static struct pd_timeline *make_code(struct pd_guests *guests, uint32_t pid)
{
    const struct pd_thread *hypervisor = pd_timeline_touch(guests->host, UINT32_MAX, pid, 0);
    struct pd_guest *guest = hypervisor ? make(guests, pid) : NULL;
    if (!guest)
        return NULL;
    pd_timeline_set_hypervisor(guest->timeline, hypervisor);
    return guest->timeline;
}

struct pd_timeline *pd_guests_timeline(struct pd_guests *guests, uint32_t pid)
{
    if (pid == pd_timeline_machine(guests->host))
        return guests->host;
    struct pd_guest *guest = find(guests, pid);
    if (!guest && guests->code && guests->list.count < GUEST_LIMIT)
        return make_code(guests, pid);
    if (!guest)
        guest = find(guests, 0);
    if (!guest)
        guest = make(guests, 0);
    return guest ? guest->timeline : NULL;
}

struct pd_thread *pd_guests_code_thread(struct pd_guests *guests, uint32_t machine, uint32_t pid,
                                        uint64_t number)
{
    struct pd_timeline *timeline = pd_guests_timeline(guests, machine);
    return timeline ? pd_timeline_touch(timeline, UINT32_MAX, pid, number) : NULL;
}

/* ---- ID_INDEX ---- */

static bool take_entry(struct pd_guests *guests, uint64_t id,
                       const struct pd_part_id_index_guest *entry)
{
    struct pd_guest_cpu cpu = { (uint32_t)entry->machine_pid, (uint32_t)entry->vcpu };
    if (!entry->machine_pid)
        return true;
    want(guests);
    if (!find(guests, cpu.machine_pid) && guests->list.count < GUEST_LIMIT &&
        !make(guests, cpu.machine_pid))
        return false;
    return pd_map64_set(&guests->by_id, id, (uint32_t)guests->cpus.count) &&
           pd_vec_push(&guests->cpus, cpu);
}

perfdata_status pd_guests_index(struct pd_guests *guests, const uint8_t *record, uint32_t size)
{
    struct pd_record_id_index body;
    struct pd_arena arena = { 0 };
    bool stored = true;
    (void)pd_record_decode(NULL, record, size, guests->swap, &arena, &body, sizeof body);
    for (uint32_t i = 0; i < body.entries_count && i < body.guests_count && stored; i++)
        stored = take_entry(guests, body.entries[i].id, &body.guests[i]);
    pd_arena_free(&arena);
    return stored ? PERFDATA_OK : pd_no_memory(guests->context, "guests");
}

const struct pd_guest_cpu *pd_guests_cpu(const struct pd_guests *guests, uint64_t id)
{
    uint32_t at = pd_map64_get(&guests->by_id, id);
    return at == PD_MAP64_NONE ? NULL : &guests->cpus.data[at];
}

/* ---- all of them ---- */

void pd_guests_settle(struct pd_guests *guests, uint64_t number)
{
    for (size_t i = 0; i < guests->list.count; i++)
        pd_timeline_settle(guests->list.data[i]->timeline, number);
}

void pd_guests_retire(struct pd_guests *guests, uint64_t number)
{
    for (size_t i = 0; i < guests->list.count; i++)
        pd_timeline_retire(guests->list.data[i]->timeline, number);
}
