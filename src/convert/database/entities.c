/* SPDX-License-Identifier: MIT */
/* Threads, objects, symbols and call paths -> rows of the database, when they are first met. */
#include "convert/database/entities.h"
#include "itrace/synth.h"
#include "object/elf/build_id.h"
#include <stdio.h>

void pd_db_entities_free(struct pd_db_entities *e)
{
    pd_vec_free(&e->events);
    pd_vec_free(&e->threads);
    pd_vec_free(&e->comms);
    pd_vec_free(&e->dsos);
    pd_vec_free(&e->times);
    pd_vec_free(&e->seen);
    pd_map64_free(&e->symbols);
    for (size_t i = 0; i < e->addresses.count; i++)
        pd_map64_free(&e->addresses.data[i]);
    pd_vec_free(&e->addresses);
    pd_map64_free(&e->by_tid);
}

static void no_memory(struct pd_db_entities *e)
{
    if (e->status >= 0)
        e->status = pd_no_memory(&e->session->recording->context, NULL);
}

void pd_db_put(struct pd_db_entities *e, enum pd_db_table table, const struct pd_db_cell *cells)
{
    if (e->status >= 0)
        e->status = e->writer->row(e->writer, table, cells);
    e->used[table] = true;
}

uint32_t pd_db_next(struct pd_db_entities *e, enum pd_db_table table)
{
    return ++e->last[table];
}

void pd_db_put_unknown(struct pd_db_entities *e, bool full, bool calls)
{
    static const enum pd_db_table tables[] = {
        PD_DB_selected_events, PD_DB_machines, PD_DB_threads,    PD_DB_comms, PD_DB_dsos,
        PD_DB_symbols,         PD_DB_samples,  PD_DB_call_paths, PD_DB_calls
    };
    for (size_t i = 0; i < PD_LENGTH(tables); i++) {
        struct pd_db_cell cells[PD_DB_CELLS_MAX] = { 0 };
        const struct pd_db_column *columns[PD_DB_CELLS_MAX];
        if (!calls && (tables[i] == PD_DB_call_paths || tables[i] == PD_DB_calls))
            continue;
        size_t count = pd_db_columns(tables[i], full, columns);
        for (size_t c = 0; c < count; c++)
            if (columns[c]->kind == PD_DB_TEXT)
                cells[c].text = strcmp(columns[c]->name, "build_id") != 0 ? "unknown" : "";
        if (tables[i] == PD_DB_threads)
            cells[3].number = cells[4].number = -1;
        pd_db_put(e, tables[i], cells);
    }
}

void pd_db_put_branch_types(struct pd_db_entities *e)
{
    static const struct {
        uint32_t flags;
        const char *name;
    } types[] = {
#define BRANCH_TYPE(flags, name) { flags, name },
#include "convert/database/branch_types.def"
    };
    for (size_t i = 0; i < PD_LENGTH(types); i++) {
        char begin[64] = "trace begin", end[64] = "trace end";
        if (types[i].flags != PD_IP_BRANCH) {
            snprintf(begin, sizeof begin, "trace begin / %s", types[i].name);
            snprintf(end, sizeof end, "%s / trace end", types[i].name);
        }
        const struct pd_db_cell rows[][2] = {
            { PD_DB_NUMBER(types[i].flags), PD_DB_STRING(types[i].name) },
            { PD_DB_NUMBER(types[i].flags | PD_IP_TRACE_BEGIN), PD_DB_STRING(begin) },
            { PD_DB_NUMBER(types[i].flags | PD_IP_TRACE_END), PD_DB_STRING(end) },
        };
        for (size_t r = 0; r < PD_LENGTH(rows); r++)
            pd_db_put(e, PD_DB_branch_types, rows[r]);
    }
}

/* ---- numbers by index ---- */

static uint32_t *slot_of(struct pd_db_entities *e, void *vector, size_t index)
{
    PD_VEC(uint32_t) *ids = vector;
    while (ids->count <= index) {
        if (!pd_vec_push(ids, 0)) {
            no_memory(e);
            return NULL;
        }
    }
    return &ids->data[index];
}

uint32_t pd_db_event(struct pd_db_entities *e, const struct pd_event *event)
{
    uint32_t *id = slot_of(e, &e->events, event->index);
    if (!id || *id)
        return id ? *id : 0;
    *id = pd_db_next(e, PD_DB_selected_events);
    pd_db_put(e, PD_DB_selected_events,
              (struct pd_db_cell[]){ PD_DB_NUMBER(*id), PD_DB_STRING(event->name) });
    return *id;
}

uint32_t pd_db_machine(struct pd_db_entities *e)
{
    if (!e->last[PD_DB_machines]) {
        e->last[PD_DB_machines] = 1;
        pd_db_put(e, PD_DB_machines,
                  (struct pd_db_cell[]){ PD_DB_NUMBER(1), PD_DB_NUMBER(-1), PD_DB_STRING("") });
    }
    return 1;
}

/* ---- threads and names ---- */

void pd_db_see(struct pd_db_entities *e, const struct pd_delivered *record)
{
    if (record->type == PD_RECORD_COMM || record->type == PD_RECORD_FORK) {
        uint64_t time = record->time == PD_NO_TIME ? 0 : record->time;
        if (!pd_vec_push(&e->times, (struct pd_db_thread_times){ record->number, time }))
            no_memory(e);
    }
    const struct pd_thread *thread = record->thread;
    if (!thread)
        return;
    uint32_t at = pd_map64_get(&e->by_tid, thread->tid);
    if (at != PD_MAP64_NONE)
        e->seen.data[at] = thread;
    else if (!pd_vec_push(&e->seen, thread) ||
             !pd_map64_set(&e->by_tid, thread->tid, (uint32_t)(e->seen.count - 1)))
        no_memory(e);
}

const struct pd_thread *pd_db_find_thread(struct pd_db_entities *e, uint32_t tid)
{
    uint32_t at = pd_map64_get(&e->by_tid, tid);
    return at == PD_MAP64_NONE ? NULL : e->seen.data[at];
}

/* The delivery number from which the object says what it says; 0: it is a default name. */
static uint64_t began_at(const struct pd_comm *comm, uint64_t number)
{
    if (!comm->default_text)
        return comm->version.number;
    uint64_t replaced = atomic_load(&comm->replaced_at);
    return replaced <= number ? replaced : 0;
}

bool pd_db_is_named(const struct pd_thread *thread, uint64_t number)
{
    const struct pd_comm *comm = pd_thread_comm(thread, number);
    return comm && (!comm->default_text || atomic_load(&comm->replaced_at) <= number);
}

static uint64_t time_of(const struct pd_db_entities *e, const struct pd_comm *comm, uint64_t number)
{
    uint64_t from = began_at(comm, number);
    size_t first = from ? pd_upto(e->times.data, e->times.count, number, from - 1) : 0;
    return from && first < e->times.count && e->times.data[first].number == from
               ? e->times.data[first].time
               : 0;
}

static bool is_exec(const struct pd_comm *comm, uint64_t number)
{
    return atomic_load(&comm->exec) && (!comm->default_text || began_at(comm, number));
}

/* The name that stands for a process: of its last exec. */
static const struct pd_comm *process_comm(const struct pd_db_entities *e,
                                          const struct pd_thread *thread, uint64_t number)
{
    const struct pd_comm *comm = pd_thread_comm(thread, number), *last = NULL, *second = NULL;
    if (!e->by_exec)
        return comm;
    for (; comm; comm = pd_comm_before(comm)) {
        if (is_exec(comm, number))
            return comm;
        second = last;
        last = comm;
    }
    /* A first name without time may be the parent's. */
    bool is_main = pd_thread_pid(thread, number) == thread->tid;
    return second && is_main && !time_of(e, last, number) ? second : last;
}

static uint32_t put_comm(struct pd_db_entities *e, const struct pd_comm *comm, uint32_t thread,
                         uint64_t number)
{
    uint32_t *id = slot_of(e, &e->comms, comm->index);
    if (!id || *id)
        return id ? *id : 0;
    *id = pd_db_next(e, PD_DB_comms);
    pd_db_put(e, PD_DB_comms,
              (struct pd_db_cell[]){ PD_DB_NUMBER(*id), PD_DB_STRING(pd_comm_text(comm, number)),
                                     PD_DB_NUMBER(thread), PD_DB_NUMBER(time_of(e, comm, number)),
                                     PD_DB_NUMBER(is_exec(comm, number)) });
    return *id;
}

static void put_comm_thread(struct pd_db_entities *e, uint32_t comm, uint32_t thread)
{
    uint32_t id = pd_db_next(e, PD_DB_comm_threads);
    pd_db_put(e, PD_DB_comm_threads,
              (struct pd_db_cell[]){ PD_DB_NUMBER(id), PD_DB_NUMBER(comm), PD_DB_NUMBER(thread) });
}

/* *made: it was not there before. `process` 0: its own. */
static uint32_t put_thread(struct pd_db_entities *e, const struct pd_thread *thread,
                           bool has_process, uint32_t process, uint64_t number, bool *made)
{
    uint32_t *id = slot_of(e, &e->threads, thread->index);
    *made = id && !*id;
    if (!*made)
        return id ? *id : 0;
    *id = pd_db_next(e, PD_DB_threads);
    pd_db_put(e, PD_DB_threads,
              (struct pd_db_cell[]){ PD_DB_NUMBER(*id), PD_DB_NUMBER(1),
                                     PD_DB_NUMBER(!has_process ? 0
                                                  : process    ? process
                                                               : *id),
                                     PD_DB_NUMBER((int32_t)pd_thread_pid(thread, number)),
                                     PD_DB_NUMBER((int32_t)thread->tid) });
    return *id;
}

struct pd_db_task pd_db_task(struct pd_db_entities *e, const struct pd_thread *thread,
                             uint64_t number)
{
    struct pd_db_task task = { 0 };
    bool made, no_tid = thread->tid == UINT32_MAX;
    const struct pd_thread *leader = no_tid ? thread : pd_thread_leader(thread, number);
    uint32_t process = 0;
    if (leader) {
        task.object = process_comm(e, leader, number);
        process = put_thread(e, leader, true, 0, number, &made);
        bool new_comm = task.object && (task.object->index >= e->comms.count ||
                                        !e->comms.data[task.object->index]);
        if (task.object)
            task.comm = put_comm(e, task.object, process, number);
        if (new_comm)
            put_comm_thread(e, task.comm, process);
    }
    task.is_main = leader == thread;
    task.thread = process;
    if (!task.is_main) {
        task.thread = put_thread(e, thread, leader != NULL, process, number, &made);
        if (made && task.object)
            put_comm_thread(e, task.comm, task.thread);
    }
    const struct pd_comm *current = pd_thread_comm(thread, number);
    if (current)
        put_comm(e, current, task.thread, number);
    return task;
}

/* ---- objects and symbols ---- */

static uint32_t put_dso(struct pd_db_entities *e, const struct pd_dso *dso)
{
    uint32_t *id = slot_of(e, &e->dsos, dso->index);
    if (!id || *id)
        return id ? *id : 0;
    *id = pd_db_next(e, PD_DB_dsos);
    struct pd_symbols *symbols = e->session->symbols;
    struct pd_build_id build_id = pd_symbols_build_id(symbols, dso);
    char text[2 * PD_BUILD_ID_MAX + 1] = "";
    if (build_id.size)
        pd_build_id_text(&build_id, text);
    pd_db_put(e, PD_DB_dsos,
              (struct pd_db_cell[]){ PD_DB_NUMBER(*id), PD_DB_NUMBER(1),
                                     PD_DB_STRING(pd_symbols_short_name(symbols, dso)),
                                     PD_DB_STRING(pd_symbols_long_name(symbols, dso)),
                                     PD_DB_STRING(text) });
    return *id;
}

static struct pd_map64 *addresses_of(struct pd_db_entities *e, uint32_t dso)
{
    while (e->addresses.count <= dso)
        if (!pd_vec_push(&e->addresses, (struct pd_map64){ 0 }))
            return NULL;
    return &e->addresses.data[dso];
}

/* An address without symbol is one of its own, as in perf. */
static uint32_t put_symbol(struct pd_db_entities *e, const struct pd_location *location,
                           uint32_t dso)
{
    const struct pd_symbol *symbol = location->sym;
    struct pd_map64 *map = symbol ? &e->symbols : addresses_of(e, dso);
    uint64_t key = symbol ? (uint64_t)(uintptr_t)symbol : location->addr;
    uint32_t id = map ? pd_map64_get(map, key) : PD_MAP64_NONE;
    if (id != PD_MAP64_NONE)
        return id;
    id = pd_db_next(e, PD_DB_symbols);
    if (!map || !pd_map64_set(map, key, id))
        no_memory(e);
    pd_db_put(e, PD_DB_symbols,
              (struct pd_db_cell[]){ PD_DB_NUMBER(id), PD_DB_NUMBER(dso),
                                     PD_DB_NUMBER(symbol ? symbol->start : location->addr),
                                     PD_DB_NUMBER(symbol ? symbol->end : location->addr),
                                     PD_DB_NUMBER(symbol ? symbol->binding : PD_SYMBOL_LOCAL),
                                     PD_DB_STRING(symbol ? symbol->name : "unknown") });
    return id;
}

struct pd_db_place pd_db_place(struct pd_db_entities *e, const struct pd_location *location)
{
    struct pd_db_place place = { .name = "" };
    if (!location || !location->map)
        return place;
    place.dso = put_dso(e, location->dso);
    place.symbol = put_symbol(e, location, place.dso);
    place.offset = location->sym ? location->addr - location->sym->start : 0;
    place.at_start = !place.offset;
    place.name = location->sym ? location->sym->name : "unknown";
    return place;
}
