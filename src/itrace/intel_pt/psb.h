/* SPDX-License-Identifier: MIT */
/* PSB+: what stands between a PSB and its PSBEND, read by itself, without a walk. */
#ifndef PD_INTEL_PT_PSB_H
#define PD_INTEL_PT_PSB_H
#include "base/base.h"

/* How many kinds of packets in PSB+ tell of a state; pd_pt_psb has which are there and what they
 * say. */
enum { PD_PT_PSB_STATES = 6 };

/* A plain PSB+: state packets only, each of them once at most; TSC, TMA and FUP are in this
 * order. */
struct pd_pt_psb {
    size_t size;  /* from the PSB up to behind PSBEND */
    uint64_t tsc; /* 56 bits */
    uint64_t ip;  /* of its FUP; 0: it has none */
    bool has_tma;
    bool has[PD_PT_PSB_STATES];
    uint64_t state[PD_PT_PSB_STATES];
};

/* Reads the PSB+ that begins at `at`: 1; 0: it is not plain, or a bad packet follows; < 0: it, or
 * the packet behind it, may be cut by `end`. */
int pd_pt_psb_read(const uint8_t *at, const uint8_t *end, struct pd_pt_psb *out);
/* Whether a walk is in the same state, but for time and address, behind either of two PSB+ that
 * follow one another. */
bool pd_pt_psb_alike(const struct pd_pt_psb *before, const struct pd_pt_psb *psb);

/* Where [0, size) may be cut in two so that a walk from PSB to PSB ("qq") does not see it: in front
 * of its last PSB, if the one before is plain. 0: nowhere near the end. */
size_t pd_pt_psb_cut(const uint8_t *bytes, size_t size);

/* One of many PSBs that are alike. */
struct pd_pt_psb_jump {
    uint64_t offset;  /* in its buffer */
    uint64_t tsc, ip; /* as of struct pd_pt_psb */
};

/* What is known of the PSBs behind one that the caller does not want to see: they are plain and
 * alike, and their TSCs do not go back. The last one with an address and the very last one tell the
 * state behind them. */
struct pd_pt_psb_jumps {
    const struct pd_pt_psb_jump *list; /* in the order in which they are in the trace */
    size_t count;
    uint64_t base;   /* added to their offsets: places in the queue */
    uint64_t resume; /* place in the queue of the PSB behind the last one */
    bool has_tma;
};

#endif
