/* SPDX-License-Identifier: MIT */
/* What collect.c shares with files that count other things than samples: a worker, and the facts of
 * a sample. */
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
    bool has_first; /* the tables of some worker have become those of `out` */
    struct pd_report_state *sequential;
    struct pd_report_running running; /* of a plan that counts_latency */
    struct pd_event_switch event_switch;
};

/* stacks.c: parts of chains that were met before. */
struct pd_report_stacks {
    struct pd_chain_memo user, kernel; /* addresses -> list */
    struct pd_intern lists;            /* frames, u32s, callee first */
    struct pd_map64 on_top;            /* list << 32 | cell -> the cell that both lead to */
    PD_VEC(uint32_t) frames;           /* of a list while it is made */
};

/* What one worker counts into, and what it keeps for that. */
struct pd_report_state {
    struct pd_report_collecting *shared;
    struct pd_resolver *resolver;
    struct pd_hist hist;
    uint64_t lost_samples, dropped_samples;
    struct pd_report_trace trace;
    struct pd_code_hist code;
    struct pd_frame *frames;
    size_t frame_capacity;
    /* The cell that a chain's callers lead to; without slots it is not in use. */
    struct pd_chain_memo callers;
    struct pd_report_stacks stacks;      /* in use when `callers` is */
    uint32_t last_cell;                  /* of the sample before */
    bool by_spots;                       /* locations stand for functions */
    bool by_name;                        /* only functions of plan->code_symbol count */
    struct pd_report_scratch scratch;    /* for payloads */
    struct pd_report_accesses *accesses; /* count.c; NULL: there were none yet */
};

struct pd_report_facts {
    const struct pd_event *event; /* the event whose histogram counts it */
    const struct pd_sample *sample;
    const struct pd_thread *thread;
    uint64_t number, period;
    struct pd_location *location;
    uint64_t addr; /* what is looked up in the symbol table; 0: not known yet */
    const struct pd_symbol *parent;
    uint32_t cell;
    uint8_t cpumode;
    bool ignores_callees; /* `location` is that of a function whose callees are ignored */
    uint32_t parallelism; /* 0: not counted */
    const struct pd_hist_access *access; /* a branch of the sample, or its access to memory */
};

/* collect.c: makes a worker; NULL: no memory. */
struct pd_report_state *pd_report_state_new(struct pd_report_collecting *shared,
                                            struct pd_resolver *resolver);
void pd_report_state_free(struct pd_report_state *state);
/* Sets facts->cell to the sample's chain, and does not touch it where the sample has none. False:
 * no memory. */
bool pd_report_take_chain(struct pd_report_state *state, struct pd_report_facts *facts);
/* A frame's number; PD_HIST_NONE: no memory. */
uint32_t pd_report_frame_id(struct pd_report_state *state, const struct pd_frame *frame);

/* ahead.c: the locations of a few consecutive samples, found before their turn. */
enum { PD_REPORT_AHEAD = 16 };
struct pd_report_ahead {
    size_t from, count; /* of the batch's records */
    struct pd_location *locations[PD_REPORT_AHEAD];
    uint64_t addrs[PD_REPORT_AHEAD]; /* where they were looked up in the symbol tables */
};

/* The location of record i of a batch, if it is known ahead, or NULL. Records have to be asked for
 * in turn, beginning with `ahead` empty. Also starts to fetch into the cache what the next ones
 * need. */
struct pd_location *pd_report_look_ahead(struct pd_report_state *state,
                                         const struct pd_batch *batch, size_t i,
                                         struct pd_report_ahead *ahead);

/* False: no memory. */
bool pd_report_stacks_init(struct pd_report_stacks *stacks);
void pd_report_stacks_free(struct pd_report_stacks *stacks);
/* Finds the cell of the sample's chain; parents, ignored functions and inlined ones are not looked
 * for. False: the chain is to be resolved as a whole. */
bool pd_report_stack_of(struct pd_report_state *state, const struct pd_report_facts *facts,
                        uint32_t *cell);

/* words.c: makes the words of a row's key, which follow the event: one per sort key. */
void pd_report_fill_key(struct pd_report_state *state, const struct pd_report_facts *facts,
                        uint64_t *key);

/* filtered.c: the filters that the sample does not pass, enum pd_hist_filter. */
uint8_t pd_report_filtered(const struct pd_report_collecting *shared,
                           const struct pd_report_facts *facts);

/* code.c, of a plan that counts_code: whether a sample counts, which is of the function asked for
 * and not filtered. */
bool pd_report_wants_code(const struct pd_report_plan *plan, struct pd_location *location,
                          bool filtered);
/* Counts it at its address in the function. */
void pd_report_count_code(struct pd_report_state *state, const struct pd_report_facts *facts);

/* branch.c: counts each branch of a sample's stack for itself. */
perfdata_status pd_report_count_branches(struct pd_report_state *state,
                                         struct pd_report_facts *facts, uint8_t filtered);

/* count.c. Counts a sample, which need not be there any more, for an entry; PD_HIST_NONE: there was
 * no memory for it. */
perfdata_status pd_report_count_entry(struct pd_report_state *state,
                                      const struct pd_report_facts *facts, uint32_t id,
                                      uint8_t filtered);
/* A sample of a report of memory. It counts when some have come together, at the latest when the
 * second function is called. */
perfdata_status pd_report_take_access(struct pd_report_state *state,
                                      const struct pd_report_facts *facts, uint8_t filtered);
perfdata_status pd_report_count_accesses(struct pd_report_state *state);

/* words.c, too: a sample's weight; of a weight in parts, the first part. */
uint64_t pd_report_weight(const struct pd_report_facts *facts);
/* For facts->access in a report of memory: what the sample accessed. False: no memory. */
bool pd_report_access(struct pd_report_state *state, const struct pd_report_facts *facts,
                      struct pd_hist_access *access);
void pd_report_cache_line(const struct pd_report_facts *facts, struct pd_hist_cache_line *line);

/* lines.c: the name of an address's source line or file, for the keys SRCLINE... and SRCFILE. */
uint64_t pd_report_line_word(struct pd_report_state *state, const struct pd_location *location,
                             uint64_t address, uint8_t key);
/* The text of an address's source line. It has no symbol: where no line is known, object and
 * address stand for it. False: no memory. */
bool pd_report_source_line(const struct pd_report_plan *plan, struct pd_symbols *symbols,
                           const struct pd_map *map, uint64_t address, struct pd_text *out);
/* The word that a sort key has for a frame of a chain. */
uint32_t pd_report_frame_word(struct pd_report_state *state, const struct pd_frame *frame,
                              uint8_t key);

/* A location in the form that rows of branches and of accesses to memory have. */
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
