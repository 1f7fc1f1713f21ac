/* SPDX-License-Identifier: MIT */
/* What collect.c shares with those that count other things than samples: a worker, a sample's
 * facts. */
#ifndef PD_REPORT_COLLECT_H
#define PD_REPORT_COLLECT_H
#include "pipeline/pipeline.h"
#include "render/report/parallelism.h"
#include "render/report/plan.h"
#include "resolve/chain_memo.h"

struct pd_report_collecting {
    const struct pd_report_plan *plan;
    struct pd_session *session;
    bool wants_chain;
    pthread_mutex_t lock;
    struct pd_report_counts *out;
    bool has_first; /* a worker's tables have become those of `out` */
    struct pd_report_state *sequential;
    struct pd_report_running running; /* of a plan that counts_latency */
    struct pd_event_switch event_switch;
};

/* stacks.c: parts of chains that came before. */
struct pd_report_stacks {
    struct pd_chain_memo user, kernel; /* addresses -> list */
    struct pd_intern lists;            /* frames, u32s, callee first */
    struct pd_map64 on_top;            /* list << 32 | cell -> the cell that both lead to */
    PD_VEC(uint32_t) frames;           /* of a list while it is made */
};

/* A worker. */
struct pd_report_state {
    struct pd_report_collecting *shared;
    struct pd_resolver *resolver;
    struct pd_hist hist;
    uint64_t lost_samples, dropped_samples;
    struct pd_report_trace trace;
    struct pd_code_hist code;
    struct pd_frame *frames;
    size_t frame_capacity;
    /* The cell that a chain's callers lead to; not in use: no slots. */
    struct pd_chain_memo callers;
    struct pd_report_stacks stacks;   /* in use with it */
    uint32_t last_cell;               /* of the sample before */
    bool by_spots;                    /* locations are functions' */
    struct pd_report_scratch scratch; /* for payloads */
};

struct pd_report_facts {
    const struct pd_event *event; /* whose histogram */
    const struct pd_sample *sample;
    const struct pd_thread *thread;
    uint64_t number, period;
    struct pd_location *location;
    const struct pd_symbol *parent;
    uint32_t cell;
    uint32_t parallelism;                /* 0: not counted */
    const struct pd_hist_access *access; /* a branch of the sample, or its access to memory */
};

/* collect.c: a worker; NULL: no memory. */
struct pd_report_state *pd_report_state_new(struct pd_report_collecting *shared,
                                            struct pd_resolver *resolver);
void pd_report_state_free(struct pd_report_state *state);
/* Sets facts->cell to the sample's chain; leaves it where it has none. False: no memory. */
bool pd_report_take_chain(struct pd_report_state *state, struct pd_report_facts *facts);
/* PD_HIST_NONE: no memory. */
uint32_t pd_report_frame_id(struct pd_report_state *state, const struct pd_frame *frame);

/* ahead.c: the locations of some samples in a row. */
enum { PD_REPORT_AHEAD = 16 };
struct pd_report_ahead {
    size_t from, count; /* of the batch's records */
    struct pd_location *locations[PD_REPORT_AHEAD];
};

/* Of record i of a batch whose records are asked for in turn: its location, if it is known before
 * its turn, or NULL. `ahead` begins empty. Asks the memory for what the next ones need. */
struct pd_location *pd_report_look_ahead(struct pd_report_state *state,
                                         const struct pd_batch *batch, size_t i,
                                         struct pd_report_ahead *ahead);

/* False: no memory. */
bool pd_report_stacks_init(struct pd_report_stacks *stacks);
void pd_report_stacks_free(struct pd_report_stacks *stacks);
/* The cell of the sample's chain, without parents, ignored functions and inlined ones. False: the
 * chain is to be resolved as a whole. */
bool pd_report_stack_of(struct pd_report_state *state, const struct pd_report_facts *facts,
                        uint32_t *cell);

/* words.c: the words of a row's key, one per sort key behind the event. */
void pd_report_fill_key(struct pd_report_state *state, const struct pd_report_facts *facts,
                        uint64_t *key);

/* branch.c: each branch of a sample's stack for itself. */
perfdata_status pd_report_count_branches(struct pd_report_state *state,
                                         struct pd_report_facts *facts, bool filtered);

/* memory.c: what a sample's weight is: of one in parts, the first. */
uint64_t pd_report_weight(const struct pd_report_facts *facts);
/* What a sample accessed, in a report of memory, for facts->access; false: no memory. */
bool pd_report_access(struct pd_report_state *state, const struct pd_report_facts *facts,
                      struct pd_hist_access *access);
void pd_report_cache_line(const struct pd_report_facts *facts, struct pd_hist_cache_line *line);

/* lines.c: the name of an address's source line or file, for the keys SRCLINE... and SRCFILE. */
uint64_t pd_report_line_word(struct pd_report_state *state, const struct pd_location *location,
                             uint64_t address, uint8_t key);
/* The text of an address's source line, without a symbol: its object and address where no line is
 * known. False: no memory. */
bool pd_report_source_line(const struct pd_report_plan *plan, struct pd_symbols *symbols,
                           const struct pd_map *map, uint64_t address, struct pd_text *out);
/* The word that a sort key makes of a frame of a chain. */
uint32_t pd_report_frame_word(struct pd_report_state *state, const struct pd_frame *frame,
                              uint8_t key);

/* A location as rows of branches and of accesses to memory have it. */
PD_INLINE struct pd_hist_place pd_report_place(const struct pd_location *location, char level)
{
    return (struct pd_hist_place){ .dso = location->dso,
                                   .map = location->map,
                                   .symbol = location->sym,
                                   .ip = location->ip,
                                   .addr = location->addr,
                                   .map_bias = location->map ? location->ip - location->addr : 0,
                                   .level = level };
}

#endif
