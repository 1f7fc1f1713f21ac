/* SPDX-License-Identifier: MIT */
/* The insides of the decoder (decoder.h), shared by walk_*.c:
 *   walk.c          states, packets while in sync, what a step ends with
 *   walk_bytes.c    buffers and packets, search for PSBs, looking ahead
 *   walk_code.c     code: from branch to branch by TNT bits and TIPs
 *   walk_event.c    FUPs and what waits for them, blocks of PEBS
 *   walk_sync.c     PSB+, finding an address after an error, fast forward
 * Functions named step_* end with how the step ended: STEP_DONE, an error (enum pd_pt_error) or one of the others here. */
#ifndef PD_INTEL_PT_WALK_H
#define PD_INTEL_PT_WALK_H
#include "itrace/intel_pt/decoder.h"
#include "itrace/intel_pt/time.h"

enum {
    STEP_DONE = 0, /* d->state holds a step */
    /* > 0: enum pd_pt_error */
    STEP_AGAIN = -1,   /* another buffer, not consecutive: the step begins anew */
    STEP_ON = -2,      /* nothing to report: go on with the next packet */
    STEP_CURRENT = -3, /* go on with the packet that has been read already */
    STEP_THERE = -4,   /* the address that was asked for is reached */
    STEP_BRANCH = -5   /* at a branch that needs a packet: d->branch */
};

enum walk {
    WALK_NO_PSB,
    WALK_NO_IP,
    WALK_RESYNC,
    WALK_IN_SYNC,
    WALK_TNT_MORE, /* some bits of the packet are used */
    WALK_RESAMPLE,
    WALK_TIMED =
        WALK_RESAMPLE, /* steps that end up to here get the time of now, others the time before */
    WALK_TNT,
    WALK_TIP,
    WALK_TIP_PGD,
    WALK_FUP,
    WALK_FUP_NO_TIP,
    WALK_FUP_IN_PSB
};

/* What waits for a FUP. */
struct walk_pending {
    bool any; /* one of these */
    bool cfe, cfe_ip, mode_exec, tx, ptw, mwait, pwre, exstop, bep;
    uint8_t cfe_type, cfe_vector;
    uint32_t tx_flags;
    uint64_t ptw_payload, mwait_payload, pwre_payload;
};

struct walk_return {
    uint64_t ip;
    struct pd_code_node *call; /* whose `fall` is there; NULL: not known, or no more */
};

/* Nodes by address, for indirect branches. */
struct walk_known {
    uint64_t ip;
    struct pd_code_view *view;
    struct pd_code_node *node;
};

enum {
    WALK_KNOWN = 4096,
    WALK_MAX_RETURNS =
        1 << 20 /* hardware keeps 64: what is deeper is only used up, never asked for */
};

struct pd_pt_decoder {
    /* Bytes. */
    const uint8_t *next, *end; /* not read yet */
    const uint8_t *at;         /* of `packet` */
    const uint8_t *start;      /* of the buffer */
    struct pd_pt_packet packet;
    uint8_t last_kind; /* of the packet before it */
    enum pd_pt_context context, last_context;
    bool ended;
    uint64_t position; /* of start in the queue */

    struct pd_pt_time time;

    /* Code. `ip` is instruction `index` of `node`; without a node it is where `from` leads, without that to be looked up. */
    struct pd_pt_config config;
    enum walk walk;
    uint64_t ip, last_ip, psb_ip;
    bool have_last_ip;
    struct pd_code_node *node, *from, *branch;
    uint32_t index;
    bool from_taken;
    struct pd_code_view *views[2], *view; /* host, guest; the one in use */
    uint64_t generations[2];
    struct walk_return *returns;
    size_t return_count, return_capacity;
    size_t stale_returns;        /* the lowest ones, whose nodes are of another view */
    struct walk_return returned; /* what the last return took */
    struct walk_known *known;
    bool tip_has_ip;
    unsigned tnt_count;
    uint64_t tnt; /* outcomes from bit 63 */
    bool emulated_ptwrite;
    uint32_t progress_count, stuck_left, stuck_period; /* see walk_code.c: never-ending loops */
    uint64_t stuck_ip;

    /* Modes and events. */
    bool hop, leap, in_psb, overflow;
    bool unseen; /* nobody wants to see branches */
    bool nr, next_nr, iflag, next_iflag;
    uint32_t tx_flags;
    uint64_t pip;
    uint32_t cbr_seen;
    struct walk_pending pending;
    unsigned event_data_count;
    bool event_data_used; /* by the last step */
    struct pd_pt_event_data event_data[PD_PT_MAX_EVENT_DATA], event_data_out[PD_PT_MAX_EVENT_DATA];
    int block; /* index of items, -1 none known */
    struct pd_pt_items items;

    /* Sampling. */
    uint64_t period_ticks, period_mask, last_masked_time;
    uint64_t period_base; /* insns at the last sample */
    bool continuous_period;
    uint64_t sample_time, sample_insn_base, sample_tot_cycles;
    /* sample_insn_base: insns at the time that sample_time has */

    uint64_t limit; /* of the call under way */
    struct pd_pt_state state;
};

/* walk_bytes.c */
int walk_next_buffer(struct pd_pt_decoder *d, bool reposition);
int walk_next_packet_slow(struct pd_pt_decoder *d);
int walk_find_psb(struct pd_pt_decoder *d);
/* The FUP that a PSB+ holds, when the walk has to get there first; false: none. */
bool walk_fup_in_psb(const struct pd_pt_decoder *d, struct pd_pt_packet *fup);
/* 64 outcomes from here on without using them up. */
bool walk_peek_outcomes(const struct pd_pt_decoder *d, uint64_t *value);

/* walk_code.c */
int walk_tnt(struct pd_pt_decoder *d);
int walk_tip(struct pd_pt_decoder *d);
int walk_fup(struct pd_pt_decoder *d);
void walk_sample_at_fup(struct pd_pt_decoder *d);
void walk_reset_returns(struct pd_pt_decoder *d);
uint64_t walk_next_sample(struct pd_pt_decoder *d);
/* As many bits of a TNT packet as nobody wants to see: STEP_ON or an error. */
int walk_tnt_unseen(struct pd_pt_decoder *d);

/* walk_event.c */
bool walk_event(struct pd_pt_decoder *d, bool no_tip);
int walk_fup_tip(struct pd_pt_decoder *d);
int walk_overflow(struct pd_pt_decoder *d);
void walk_clear_pending(struct pd_pt_decoder *d);
void walk_block_begin(struct pd_pt_decoder *d);
void walk_block_item(struct pd_pt_decoder *d);
bool walk_event_data(struct pd_pt_decoder *d);
int walk_hop(struct pd_pt_decoder *d, bool *no_tip);

/* walk_sync.c */
int walk_sync(struct pd_pt_decoder *d);
int walk_sync_ip(struct pd_pt_decoder *d);
int walk_psb(struct pd_pt_decoder *d);
/* A packet that says something of time or state anywhere; false: another kind. */
bool walk_status(struct pd_pt_decoder *d);

/* walk.c */
int walk_trace(struct pd_pt_decoder *d);

/* ---- short helpers ---- */

PD_INLINE int walk_next_packet(struct pd_pt_decoder *d)
{
    const uint8_t *p = d->next;
    /* A short TNT or a CYC of one byte: most of a trace. */
    if (PD_LIKELY(p < d->end && d->context == PD_PT_NO_BLOCK)) {
        uint8_t byte = *p;
        if (!(byte & 1) && byte > 2) {
            unsigned count = 30 - (unsigned)__builtin_clz(byte);
            d->last_kind = d->packet.kind;
            d->last_context = PD_PT_NO_BLOCK;
            d->packet.kind = PD_PT_TNT;
            d->packet.count = (uint8_t)count;
            d->packet.payload = (uint64_t)(byte >> 1) << (64 - count);
            d->at = p;
            d->next = p + 1;
            return STEP_DONE;
        }
        if ((byte & 7) == 3) {
            d->last_kind = d->packet.kind;
            d->last_context = PD_PT_NO_BLOCK;
            d->packet.kind = PD_PT_CYC;
            d->packet.payload = byte >> 3;
            d->at = p;
            d->next = p + 1;
            return STEP_DONE;
        }
    }
    return walk_next_packet_slow(d);
}

/* The packet will be read again. */
PD_INLINE void walk_unread(struct pd_pt_decoder *d)
{
    d->next = d->at;
}

PD_INLINE bool walk_after_cyc(const struct pd_pt_decoder *d)
{
    return d->last_kind == PD_PT_CYC;
}

/* `ip` was set from outside of the code. */
PD_INLINE void walk_forget_node(struct pd_pt_decoder *d)
{
    d->node = NULL;
    d->from = NULL;
}

PD_INLINE bool walk_set_last_ip(struct pd_pt_decoder *d)
{
    if (!pd_pt_ip(&d->packet, &d->last_ip))
        return false;
    d->have_last_ip = true;
    return true;
}

PD_INLINE void walk_set_ip(struct pd_pt_decoder *d)
{
    walk_set_last_ip(d);
    d->ip = d->last_ip;
    walk_forget_node(d);
}

/* The packet's IP can be expanded. */
PD_INLINE bool walk_have_ip(const struct pd_pt_decoder *d)
{
    return d->packet.count && (d->have_last_ip || d->packet.count == 3 || d->packet.count == 6);
}

PD_INLINE void walk_trace_off(struct pd_pt_decoder *d)
{
    d->time.pge = false;
    d->continuous_period = false;
}

PD_INLINE void walk_update_nr(struct pd_pt_decoder *d)
{
    d->next_nr = d->pip & 1;
}

PD_INLINE void walk_set_nr(struct pd_pt_decoder *d)
{
    d->nr = d->next_nr = d->pip & 1;
}

/* An IF change that a packet before announced belongs to this step. */
PD_INLINE void walk_take_iflag(struct pd_pt_decoder *d)
{
    if (d->iflag == d->next_iflag)
        return;
    d->state.from_if = d->iflag;
    d->state.to_if = d->next_iflag;
    d->state.type |= PD_PT_IF_CHANGE;
    d->iflag = d->next_iflag;
}

PD_INLINE int walk_report(struct pd_pt_decoder *d, uint32_t type)
{
    d->state.type = type;
    d->state.from_ip = d->ip;
    d->state.to_ip = 0;
    return STEP_DONE;
}

/* The step's time is now. */
PD_INLINE void walk_take_time(struct pd_pt_decoder *d)
{
    d->sample_time = d->time.timestamp;
    d->sample_insn_base = d->time.insn_base;
    d->state.cycles = d->time.tot_cycles;
}

#endif
