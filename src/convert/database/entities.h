/* SPDX-License-Identifier: MIT */
/* What samples refer to, with its number in the database: written when it is first met, in the
 * order in which perf does it. One owner. */
#ifndef PD_DATABASE_ENTITIES_H
#define PD_DATABASE_ENTITIES_H
#include "base/hash.h"
#include "base/vec.h"
#include "convert/database/rows.h"
#include "pipeline/pipeline.h"

struct pd_db_thread_times { /* of COMM and FORK records: when a name began */
    uint64_t number, time;
};

struct pd_db_entities {
    struct pd_db_writer *writer;
    struct pd_session *session;
    PD_VEC(uint32_t) events, threads, comms, dsos; /* by index: the number, 0: not met */
    struct pd_map64 symbols;                       /* address of the symbol -> number */
    PD_VEC(struct pd_map64) addresses; /* by DSO's number: address without symbol -> number */
    PD_VEC(struct pd_db_thread_times) times;
    struct pd_map64 by_tid; /* -> index into seen */
    PD_VEC(const struct pd_thread *) seen;
    bool *used;   /* tables, by enum pd_db_table */
    bool by_exec; /* names begin with exec: attr comm_exec */
    uint32_t last[PD_DB_TABLES];
    perfdata_status status; /* the first failure */
};

/* A thread with its main thread, and the name that stands for its process. */
struct pd_db_task {
    uint32_t thread, comm; /* numbers */
    const struct pd_comm *object;
    bool is_main;
};

/* Where an address lies. */
struct pd_db_place {
    uint32_t dso, symbol;
    uint64_t offset;
    bool at_start; /* of its symbol */
    const char *name;
};

void pd_db_entities_free(struct pd_db_entities *e);
/* The rows with id 0, which stand for what is unknown. */
void pd_db_put_unknown(struct pd_db_entities *e, bool full, bool calls);
void pd_db_put_branch_types(struct pd_db_entities *e);
void pd_db_put(struct pd_db_entities *e, enum pd_db_table table, const struct pd_db_cell *cells);
uint32_t pd_db_next(struct pd_db_entities *e, enum pd_db_table table);

uint32_t pd_db_event(struct pd_db_entities *e, const struct pd_event *event);
uint32_t pd_db_machine(struct pd_db_entities *e);
struct pd_db_task pd_db_task(struct pd_db_entities *e, const struct pd_thread *thread,
                             uint64_t number);
struct pd_db_place pd_db_place(struct pd_db_entities *e, const struct pd_location *location);

/* Each record, in order: when names begin, and which thread has a tid. */
void pd_db_see(struct pd_db_entities *e, const struct pd_delivered *record);
const struct pd_thread *pd_db_find_thread(struct pd_db_entities *e, uint32_t tid);
/* It has a name of its own. */
bool pd_db_is_named(const struct pd_thread *thread, uint64_t number);

#endif
