/* SPDX-License-Identifier: MIT */
/* The PSBs of a recording's traces and their times, kept in a file beside it (docs/aux.md), so that
 * decoding may begin in the middle without reading what comes before, and go from PSB to PSB
 * without what lies between. What is decoded is the same without it. */
#ifndef PD_AUX_INDEX_H
#define PD_AUX_INDEX_H
#include "itrace/aux/aux.h"
#include "itrace/intel_pt/psb.h"

#define PD_AUX_INDEX_SUFFIX ".psbindex"

struct pd_aux_index;

/* Makes the index of all traces and writes it beside the recording. PERFDATA_ERROR_UNSUPPORTED
 * where buffers overlap, or the recording is not one file. */
perfdata_status pd_aux_index_store(struct pd_aux *aux);
/* Opens the index beside the recording, if there is one (aux->index). An index of another
 * recording, or of an older state of this one, is an issue and is not used; so is one that turns
 * out to be of other bytes when it leads to a place of the trace. */
perfdata_status pd_aux_index_load(struct pd_aux *aux);
void pd_aux_index_free(struct pd_aux_index *index);

/* A place in [from, from + size) of a buffer, a PSB or `from`: every PSB before has a TSC before
 * `tsc`. */
uint64_t pd_aux_index_before(const struct pd_aux *aux, uint32_t buffer, uint64_t from,
                             uint64_t size, uint64_t tsc);

enum { PD_AUX_PSB_JUMPS = 4096 }; /* of a run at most */

/* What one reader has read of the index. All zero is ready. */
struct pd_index_run;
struct pd_aux_psb_jumps {
    struct pd_pt_psb_jump told[2];
    size_t told_count;
    const struct pd_index_run *run; /* whose jumps the list has; NULL: none */
    struct pd_pt_psb_jump list[PD_AUX_PSB_JUMPS];
};
/* The jump from the PSB at `offset` of a buffer over those behind it that have a TSC less than
 * `below` (56 bits; 0: no jump is wanted), none of which the caller wants to see; false: there is
 * none. Both ends of the jump have been compared with the trace. `out` is valid as long as `room`;
 * out->resume is an offset, too. */
bool pd_aux_index_psb_jumps(const struct pd_aux *aux, uint32_t buffer, uint64_t offset,
                            uint64_t below, struct pd_aux_psb_jumps *room,
                            struct pd_pt_psb_jumps *out);

#endif
