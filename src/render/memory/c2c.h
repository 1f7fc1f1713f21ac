/* SPDX-License-Identifier: MIT */
/* `c2c report`: which lines of the data cache several processors want, from accesses to memory. */
#ifndef PD_RENDER_C2C_H
#define PD_RENDER_C2C_H
#include "base/keys.h"
#include "pipeline/pipeline.h"
#include <perfdata/memory.h>

/* What is counted of accesses: of all, of those to a line, of those of a row. */
enum pd_c2c_count {
    /* what most accesses count for, in one line of the cache */
    PD_C2C_RECORDS,
    PD_C2C_LOADS,
    PD_C2C_LD_FB,
    PD_C2C_LD_L1,
    PD_C2C_LD_L2,
    PD_C2C_LD_LLC, /* not modified elsewhere */
    PD_C2C_LCL_HITM,
    PD_C2C_RMT_HITM,
    PD_C2C_RMT_HIT,
    PD_C2C_LCL_DRAM,
    PD_C2C_RMT_DRAM,
    PD_C2C_EXCLUSIVE,
    PD_C2C_LD_MISS,
    PD_C2C_STORES,
    PD_C2C_ST_L1,
    PD_C2C_ST_L1_MISS,
    PD_C2C_LOCKS,
    PD_C2C_LD_UNCACHED,
    PD_C2C_LD_IO,
    PD_C2C_LD_NO_ADDRESS,
    PD_C2C_SHARED,
    PD_C2C_BLOCKED_DATA,
    PD_C2C_BLOCKED_ADDRESS,
    PD_C2C_LCL_PEER,
    PD_C2C_RMT_PEER,
    PD_C2C_ST_UNCACHED,
    PD_C2C_ST_NO_ADDRESS,
    PD_C2C_ST_NA,
    PD_C2C_NO_MAP,
    PD_C2C_NO_PARSE,
    PD_C2C_COUNTS
};

struct pd_c2c_stats {
    uint64_t n[PD_C2C_COUNTS];
};

/* Adds to the counts what an access's data_src says; `address` 0: the processor did not tell it. */
void pd_c2c_decode(uint64_t source, uint64_t address, struct pd_c2c_stats *stats);

/* The count for which a line is shown, as perfdata_c2c_display chooses. */
PD_INLINE uint64_t pd_c2c_choose(uint32_t display, uint64_t local, uint64_t remote, uint64_t peers)
{
    switch (display) {
    case PERFDATA_C2C_LOCAL: return local;
    case PERFDATA_C2C_REMOTE: return remote;
    case PERFDATA_C2C_PEER: return peers;
    default: return local + remote;
    }
}
PD_INLINE uint64_t pd_c2c_wanted(const struct pd_c2c_stats *stats, uint32_t display)
{
    const uint64_t *n = stats->n;
    return pd_c2c_choose(display, n[PD_C2C_LCL_HITM], n[PD_C2C_RMT_HITM],
                         n[PD_C2C_LCL_PEER] + n[PD_C2C_RMT_PEER]);
}

/* PD_C2C_HITS: no access counts for so many things. */
enum { PD_C2C_HITS = 2 * PD_C2C_COUNTS, PD_C2C_MEANINGS = 1024 };

/* What accesses with the same data_src count for: there are few different ones. */
struct pd_c2c_meaning {
    uint64_t source;
    bool known, address, unmapped;    /* `address` is told; `unmapped`: it is in no map */
    uint8_t count, hits[PD_C2C_HITS]; /* hits: values of pd_c2c_count, some repeated */
    uint8_t kind;                     /* enum pd_c2c_kind, or PD_C2C_KINDS */
    uint8_t stores, wanted;
};

/* The meaning of a data_src; it holds until the next call. */
const struct pd_c2c_meaning *pd_c2c_meaning_of(struct pd_c2c_meaning *meanings, uint64_t source,
                                               bool address, bool unmapped, uint32_t display);

/* Cycles that accesses took. As in perf this is a running mean, whose rounding shows. */
enum pd_c2c_kind {
    PD_C2C_CYCLES_RMT_HITM,
    PD_C2C_CYCLES_LCL_HITM,
    PD_C2C_CYCLES_RMT_PEER,
    PD_C2C_CYCLES_LCL_PEER,
    PD_C2C_CYCLES_LOAD,
    PD_C2C_KINDS
};

struct pd_c2c_cycles {
    double mean;
    uint64_t count;
};

/* A CPU that accessed the row's line. */
struct pd_c2c_cpu {
    uint32_t cpu;
    uint64_t wanted, stores;
};

/* A line, or a row of one. There may be millions, and each access updates one of each, so the
 * members that are counted for every access stand in front. */
struct pd_c2c_cell {
    uint32_t n[PD_C2C_COUNTS]; /* as in pd_c2c_stats */
    uint32_t node, physical_changes;
    uint64_t physical;                         /* the last one, in the memory of `node` */
    uint64_t period;                           /* of all of its samples */
    PD_VEC(struct pd_c2c_cpu) cpus;            /* by number; of a row */
    struct pd_c2c_cycles cycles[PD_C2C_KINDS]; /* of a row */
    PD_VEC(uint32_t) nodes;                    /* of the memory, by number */
    uint64_t address;                          /* of its first access */
    const struct pd_thread *thread;
    uint32_t pid, line; /* `line`: a row's line, as an index */
    /* of the first access's code */
    const struct pd_map *map;
    const struct pd_dso *dso;
    const struct pd_symbol *symbol;
    uint64_t ip, code;
    char level;
    uint32_t key; /* in the keys of the lines, or of the rows */
};

enum { PD_C2C_BY_PID = 1, PD_C2C_BY_TID = 2, PD_C2C_BY_CODE = 4, PD_C2C_BY_DSO = 8 };

struct pd_c2c_chains;

struct pd_c2c {
    const struct perfdata_c2c_options *options;
    struct pd_recording *recording;
    struct pd_session session;
    uint32_t display; /* never the default one */
    uint8_t by[4];    /* PD_C2C_BY_*, in the order of --coalesce */
    unsigned by_count, by_set;
    int32_t *node_of; /* by CPU; -1: in none */
    uint32_t cpu_count;
    bool told_cpu, told_node; /* whether it was said that a CPU or a node is not known */
    struct pd_c2c_stats all;
    struct pd_keys line_keys, row_keys;
    struct pd_c2c_meaning *meanings;
    PD_VEC(struct pd_c2c_cell) lines;
    PD_VEC(struct pd_c2c_cell) rows;
    struct pd_c2c_chains *chains; /* NULL: none are drawn */
    struct pd_text out;
};

/* Three tables of sums. */
void pd_c2c_put_stats(const struct pd_c2c *c2c, struct pd_text *out);
PD_INLINE struct pd_c2c_stats pd_c2c_stats_of(const struct pd_c2c_cell *cell)
{
    struct pd_c2c_stats stats;
    for (size_t i = 0; i < PD_C2C_COUNTS; i++)
        stats.n[i] = cell->n[i];
    return stats;
}

PD_INLINE uint64_t pd_c2c_wanted_of(const struct pd_c2c_cell *cell, uint32_t display)
{
    const uint32_t *n = cell->n;
    return pd_c2c_choose(display, n[PD_C2C_LCL_HITM], n[PD_C2C_RMT_HITM],
                         (uint64_t)n[PD_C2C_LCL_PEER] + n[PD_C2C_RMT_PEER]);
}

/* The lines, and below each the places that accessed it. PERFDATA_ERROR_MEMORY. */
perfdata_status pd_c2c_put_lines(struct pd_c2c *c2c, struct pd_text *out);

#endif
