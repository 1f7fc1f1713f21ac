/* SPDX-License-Identifier: MIT */
/* Samples counted by function and address in it, for each event: what annotated code shows. A
 * worker fills its own; the sums do not depend on who counted what. */
#ifndef PD_CODE_HIST_H
#define PD_CODE_HIST_H
#include "base/hash.h"
#include "base/vec.h"
#include "resolve/resolve.h"

struct pd_code_function {
    const struct pd_symbol *symbol;
    const struct pd_dso *dso;
    const struct pd_map *map; /* of its first sample */
    uint64_t number;          /* of that */
    size_t first, count;      /* its cells, after pd_code_hist_sort() */
};

struct pd_code_cell {
    uint32_t function, event;
    uint64_t offset; /* from the function's start */
    uint64_t count, period;
};

/* All zero is an empty one. */
struct pd_code_hist {
    PD_VEC(struct pd_code_function) functions;
    PD_VEC(struct pd_code_cell) cells;
    struct pd_map64 by_symbol; /* pointer -> function */
    uint32_t *slots;           /* cell + 1, open addressing */
    size_t mask;
    bool failed; /* the system had no memory */
};

/* What location->memo[1] holds: which function it is of, or that nobody asks for it, in the lower
 * half, and the cell that it counted for last in the upper half. */
#define PD_CODE_NOT_WANTED UINT32_MAX

/* Whether a sample at the location counts where only functions of the name are asked for. */
bool pd_code_hist_wants(const char *name, struct pd_location *location);
/* The answer is known, and it is no. */
PD_INLINE bool pd_code_hist_is_unwanted(const struct pd_location *location)
{
    return (uint32_t)location->memo[1] == PD_CODE_NOT_WANTED;
}
/* Counts a sample of the event at an address of the location, which may be a whole function's;
 * without a symbol it counts for nothing. Uses location->memo[1]. */
void pd_code_hist_count(struct pd_code_hist *hist, struct pd_location *location, uint64_t addr,
                        uint32_t event, uint64_t number, uint64_t period);
/* Adds all of `from`; false without memory. */
bool pd_code_hist_merge(struct pd_code_hist *into, const struct pd_code_hist *from);
/* Cells by function, event and offset. After all merging. */
void pd_code_hist_sort(struct pd_code_hist *hist);
/* NULL: no sample lies in it. */
const struct pd_code_function *pd_code_hist_function(const struct pd_code_hist *hist,
                                                     const struct pd_symbol *symbol);
/* The function's cells of one event, by rising offset; after sorting. */
const struct pd_code_cell *pd_code_hist_cells(const struct pd_code_hist *hist,
                                              const struct pd_code_function *function,
                                              uint32_t event, size_t *count);
void pd_code_hist_free(struct pd_code_hist *hist);

#endif
