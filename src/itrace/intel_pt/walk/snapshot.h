/* SPDX-License-Identifier: MIT */
/* Places of a walk right behind a PSB, where no return is known any more and only a decoder's few
 * numbers tell what comes next. Two decoders at the same place of the same buffer will walk alike;
 * one may go on where another one has come to. */
#ifndef PD_INTEL_PT_SNAPSHOT_H
#define PD_INTEL_PT_SNAPSHOT_H
#include "itrace/intel_pt/walk/decoder.h"
#include "itrace/intel_pt/time.h"

struct pd_pt_snapshot;

/* NULL without memory; free() ends it. */
struct pd_pt_snapshot *pd_pt_snapshot_new(void);
/* Notes where the decoder is, right after it returned a step that is a PSB. False: it is at no such
 * place. */
bool pd_pt_snapshot_take(struct pd_pt_snapshot *snapshot, struct pd_pt_decoder *decoder);
/* Whether both are of one place, whatever instructions and cycles were counted up to there. */
bool pd_pt_snapshot_same(const struct pd_pt_snapshot *one, const struct pd_pt_snapshot *other);

/* Puts the decoder back to where it was; in the same buffer. */
void pd_pt_snapshot_back(struct pd_pt_decoder *decoder, const struct pd_pt_snapshot *snapshot);
/* Moves the decoder, which is at `own`, to where another one came to from `from`, the same place,
 * counting cycles by the changes. */
void pd_pt_snapshot_jump(struct pd_pt_decoder *decoder, const struct pd_pt_snapshot *own,
                         const struct pd_pt_snapshot *from, const struct pd_pt_snapshot *to,
                         const struct pd_pt_cycles *changes);
/* Notes what changes its count of cycles; NULL: no more. */
void pd_pt_note_cycles(struct pd_pt_decoder *decoder, struct pd_pt_cycles *changes);
/* Whether a step will take the count of cycles, which has changed. */
bool pd_pt_counts_wait(const struct pd_pt_decoder *decoder);
/* Notes pauses, which are then not returned as steps although PD_PT_TRACE_END is watched; NULL: no
 * more. */
void pd_pt_note_pauses(struct pd_pt_decoder *decoder, struct pd_pt_pauses *pauses);
/* What had been counted at a place. */
struct pd_pt_counted {
    bool have_cyc;
    uint64_t insns;
    uint64_t told_cycles; /* tot_cyc_cnt, which may lag behind */
};
void pd_pt_snapshot_counted(const struct pd_pt_snapshot *snapshot, struct pd_pt_counted *out);
/* The count of cycles there, all else zero: pd_pt_time_recount() goes on with it. */
void pd_pt_snapshot_cycles(const struct pd_pt_snapshot *snapshot, struct pd_pt_time *out);
/* Whether cycles are counted alike at both places. */
bool pd_pt_snapshot_counts(const struct pd_pt_snapshot *one, const struct pd_pt_snapshot *other);
/* Lets the decoder, which may be one of another queue, begin at the PSB at that position of the
 * snapshot's buffer; what changes seldom is as it was at the snapshot. */
void pd_pt_snapshot_begin(struct pd_pt_decoder *decoder, const struct pd_pt_snapshot *snapshot,
                          uint64_t position);

/* The bytes of the buffer that the decoder is in, behind its place. */
struct pd_pt_rest {
    const uint8_t *data;
    size_t size;
    uint64_t position; /* of data[0] in the queue */
    bool tracing;      /* packets are being generated */
    uint64_t insns;    /* walked so far */
};
void pd_pt_rest(const struct pd_pt_decoder *decoder, struct pd_pt_rest *out);

#endif
