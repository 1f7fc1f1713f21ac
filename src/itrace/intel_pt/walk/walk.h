/* SPDX-License-Identifier: MIT */
/* The inside of the decoder (decoder.h), for walk/ and fast/ only:
 *   walk.c              states, packets while in sync, what a step ends with
 *   bytes.c             buffers and packets, search for PSBs, looking ahead
 *   code.c              from branch to branch in the code, by TNT bits and TIPs
 *   event.c             FUPs and what waits for them, blocks of PEBS
 *   sync.c              PSB+, finding an address after an error, fast forward
 *   quick.c             the letters q and qq
 *   log.c               the debug log
 *   snapshot.c          places that are compared and gone to
 *   fast/unreported.c   code whose branches nobody wants to see
 *   fast/packet_loop.c  such code, packet by packet
 *   fast/run.c          what the bits of one TNT do at a place, found out once
 *   fast/chain.c        what several packets do
 *   fast/batch.c        many steps at once
 * Functions named step_* end with how the step ended: STEP_DONE, an error (enum pd_pt_error) or one
 * of the others here. */
#ifndef PD_INTEL_PT_WALK_H
#define PD_INTEL_PT_WALK_H
#include "itrace/intel_pt/walk/decoder.h"
#include "itrace/intel_pt/log.h"
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
    bool cfe, cfe_ip, mode_exec, tx, ptw, mwait, pwre, exstop, bep;
    uint8_t cfe_type, cfe_vector;
    uint32_t tx_flags;
    uint64_t ptw_payload, mwait_payload, pwre_payload;
};

PD_INLINE bool walk_is_pending(const struct walk_pending *pending)
{
    return pending->cfe || pending->cfe_ip || pending->mode_exec || pending->tx || pending->ptw ||
           pending->mwait || pending->pwre || pending->exstop || pending->bep;
}

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

/* See fast/run.h. */
struct walk_run;
struct walk_chain;
struct walk_chains {
    struct walk_chain *slots;     /* sets of two */
    struct walk_chain_more *more; /* of each */
    uint8_t epoch, turn;
    uint32_t hit, missed; /* packets, of late */
    uint32_t rest;        /* bytes to be walked without: it did not pay */
    uint32_t next_rest;
    bool pays; /* new ones are learnt at once */
};

enum {
    WALK_KNOWN = 4096,
    WALK_MAX_RETURNS =
        1 << 20 /* hardware keeps 64: what is deeper is only used up, never asked for */
};

struct pd_pt_tables {
    struct walk_known *known;
    struct walk_run *runs;
    struct walk_chains chains;
    uint64_t generations[2]; /* of the last host's and guest's view */
};

/* Each member that is a decoder's alone, and does not say where the walk is, needs a line in
 * snapshot.c (clear_own() and go_to()). */
struct pd_pt_decoder {
    /* Bytes of the trace, and the packet that was read last. */
    struct {
        const uint8_t *next, *end; /* not read yet */
        const uint8_t *at;         /* of `packet` */
        const uint8_t *start;      /* of the buffer */
        const uint8_t *fast_end;   /* up to here packets may be read the short way */
        struct pd_pt_packet packet;
        uint8_t last_kind; /* of the packet before it */
        enum pd_pt_context context, last_context;
        bool ended;
        uint64_t position; /* of start in the queue */
    } input;

    struct pd_pt_time time;

    struct pd_pt_config config;
    enum walk walk;
    /* Where the walk is. `ip` is instruction `index` of `node`. Without a node it is where `from`
     * leads; without `from` it has to be looked up. */
    struct {
        uint64_t ip, last_ip, psb_ip;
        bool have_last_ip;
        struct pd_code_node *node, *from, *branch;
        uint32_t index;
        bool from_taken;
    } place;
    /* What it walks through. */
    struct {
        struct pd_code_view *views[2], *view; /* host, guest; the one in use */
        uint64_t generations[2];
    } code;
    /* Where calls return to. */
    struct {
        struct walk_return *returns;
        size_t count, capacity;
        size_t stale;                /* the lowest ones, whose nodes are of another view */
        struct walk_return returned; /* what the last return took */
    } stack;
    /* What was met before. The tables are those of `config`, or its own. */
    struct {
        struct pd_pt_tables *tables;
        struct walk_known *known;
        struct walk_run *runs;
        struct walk_chains *chains;
    } learnt;
    /* What packets said that no branch has used up yet. */
    struct {
        bool tip_has_ip;
        unsigned tnt_count;
        uint64_t tnt; /* outcomes from bit 63 */
    } unused;
    /* Events under way. */
    struct {
        bool emulated_ptwrite;
        bool in_psb, overflow;
        unsigned data_count;
        bool data_used; /* by the last step */
        int block;      /* index of items, -1 none known */
    } events;
    /* To notice loops that never end: see code.c. */
    struct {
        uint32_t progress_count, stuck_left, stuck_period;
        uint64_t stuck_ip;
        /* Direct branches since something of the trace was used up, whether or not samples came in
         * between. */
        uint64_t direct_count;
    } loop;
    /* How much is left out. */
    struct {
        bool on, only_psbs;
        bool unreported; /* nobody wants to see branches */
        bool skips_code; /* nobody wants to see instructions either: code is not walked */
        struct pd_pt_psb_jumps
            psb_jumps;      /* the PSBs that come next; list NULL: they have to be found */
        size_t psb_jump_at; /* of them */
    } quick;
    /* As the trace says they are. */
    struct {
        bool nr, next_nr, iflag, next_iflag;
        uint32_t tx_flags;
        uint64_t pip;
        uint32_t cbr_seen;
    } modes;
    struct walk_pending pending;
    /* When the next sample is due. */
    struct {
        uint64_t ticks, mask, last_masked_time;
        uint64_t base; /* insns at the last sample */
        bool continuous;
        /* while the time is late, and periods are of time: no sample up to so many */
        uint64_t late_insns;
    } period;
    /* The last sample. */
    struct {
        uint64_t time, tot_cycles;
        uint64_t insn_base; /* insns at the time that `time` has */
        uint64_t cycles;    /* time.cycles at `time`, which is yet to be set */
        bool late;
    } sample;
    /* A return to user space that was not returned although the caller is timeful: the last one
     * since the call. */
    struct {
        bool skipped, late;
        uint64_t time;   /* estimated; while it is late, to be added to the time */
        uint64_t cycles; /* time.cycles then */
    } untold;
    struct pd_pt_pauses *pauses; /* NULL: nobody asks */

    uint64_t limit; /* of the call under way */
    uint32_t watch; /* see pd_pt_watch() */
    uint64_t watch_from;
    struct pd_pt_state state;

    /* Three quarters of the decoder, and mostly never used: snapshots leave out what comes from
     * here on while nothing is in it. */
    struct pd_pt_items items;
    struct pd_pt_event_data event_data[PD_PT_MAX_EVENT_DATA], event_data_out[PD_PT_MAX_EVENT_DATA];
};

/* bytes.c */
int walk_next_buffer(struct pd_pt_decoder *d, bool reposition);
int walk_next_packet_slow(struct pd_pt_decoder *d);
int walk_next_packet(struct pd_pt_decoder *d);
int walk_find_psb(struct pd_pt_decoder *d);
/* The FUP that a PSB+ holds, when the walk has to get there first; false: none. */
bool walk_fup_in_psb(const struct pd_pt_decoder *d, struct pd_pt_packet *fup);
/* 64 outcomes from here on without using them up. */
bool walk_peek_outcomes(const struct pd_pt_decoder *d, uint64_t *value);

/* code.c */
int walk_tnt(struct pd_pt_decoder *d);
int walk_tip(struct pd_pt_decoder *d);
int walk_fup(struct pd_pt_decoder *d);
void walk_sample_at_fup(struct pd_pt_decoder *d);
void walk_reset_returns(struct pd_pt_decoder *d);
uint64_t walk_next_sample(struct pd_pt_decoder *d);
/* The node at that address of the view in use; NULL: no code can be had there. */
struct pd_code_node *walk_look_up(struct pd_pt_decoder *d, uint64_t ip, enum pd_code_error *error);
/* The node where the walk is; NULL as above. */
struct pd_code_node *walk_resolve(struct pd_pt_decoder *d, enum pd_code_error *error);
void walk_more_returns(struct pd_pt_decoder *d);
struct walk_return walk_pop_return(struct pd_pt_decoder *d);

/* fast/unreported.c */
/* As many bits of a TNT packet as can be followed without a look at each. */
void walk_tnt_unreported(struct pd_pt_decoder *d);

/* fast/packet_loop.c */
/* Packets as long as they are ordinary ones. True: the current one is a TNT of which bits are
 * left. */
bool walk_unreported(struct pd_pt_decoder *d);

/* fast/run.c, fast/chain.c */
void walk_clear_tables(struct pd_pt_tables *tables);

/* event.c */
bool walk_event(struct pd_pt_decoder *d, bool no_tip);
int walk_fup_tip(struct pd_pt_decoder *d);
int walk_overflow(struct pd_pt_decoder *d);
void walk_clear_pending(struct pd_pt_decoder *d);
void walk_block_begin(struct pd_pt_decoder *d);
void walk_block_item(struct pd_pt_decoder *d);
bool walk_event_data(struct pd_pt_decoder *d);

/* quick.c */
int walk_quick(struct pd_pt_decoder *d, bool *no_tip);
/* True: the packet is done with, without a step. */
bool walk_without_code(struct pd_pt_decoder *d);
/* A PSB that is known from elsewhere: d->quick.psb_jumps.list is not NULL. */
int walk_psb_jump(struct pd_pt_decoder *d);

/* sync.c */
int walk_sync(struct pd_pt_decoder *d);
int walk_sync_ip(struct pd_pt_decoder *d);
int walk_psb(struct pd_pt_decoder *d);
/* What a PSB does before its PSB+ is read. */
void walk_enter_psb(struct pd_pt_decoder *d);
/* A packet that says something of time or state anywhere; false: another kind. */
bool walk_status_now(struct pd_pt_decoder *d);

/* Makes up for calibration that was put off; the times are then right again. */
void walk_settle_late(struct pd_pt_decoder *d);
void walk_settle_vain(struct pd_pt_decoder *d);

/* log.c */
bool walk_status_logged(struct pd_pt_decoder *d);
/* The instructions that the next walk goes over. */
void walk_log_run(struct pd_pt_decoder *d, uint64_t to_ip, uint64_t max);

/* walk.c */
int walk_trace(struct pd_pt_decoder *d);

/* ---- short helpers ---- */

#define walk_log(d, ...)                                                                           \
    do {                                                                                           \
        if (PD_UNLIKELY((d)->config.log != NULL))                                                  \
            pd_text_format(&(d)->config.log->text, __VA_ARGS__);                                   \
    } while (0)

PD_INLINE void walk_log_at(struct pd_pt_decoder *d, const char *what, uint64_t ip)
{
    walk_log(d, "%s 0x%llx\n", what, (unsigned long long)ip);
}

PD_INLINE bool walk_status(struct pd_pt_decoder *d)
{
    return PD_UNLIKELY(d->config.log != NULL) ? walk_status_logged(d) : walk_status_now(d);
}

PD_INLINE void walk_read(struct pd_pt_decoder *d, unsigned kind, uint64_t payload, unsigned count,
                         const uint8_t *at, unsigned size)
{
    d->input.last_kind = d->input.packet.kind;
    d->input.last_context = PD_PT_NO_BLOCK;
    d->input.packet.kind = (uint8_t)kind;
    d->input.packet.count = (uint8_t)count;
    d->input.packet.payload = payload;
    d->input.at = at;
    d->input.next = at + size;
}

/* The packets that traces mostly consist of are read right here. */
PD_INLINE int walk_next_packet_here(struct pd_pt_decoder *d)
{
    static const uint8_t ip_bytes[8] = { 0, 2, 4, 6, 6, 0, 8, 0 };
    static const uint8_t ip_kinds[32] = {
        [0x0d] = PD_PT_TIP, [0x11] = PD_PT_TIP_PGE, [0x01] = PD_PT_TIP_PGD, [0x1d] = PD_PT_FUP
    };
    const uint8_t *p = d->input.next;
    if (PD_UNLIKELY(p >= d->input.fast_end || d->input.context != PD_PT_NO_BLOCK))
        return walk_next_packet_slow(d);
    unsigned byte = *p;
    if (!(byte & 1) && byte > 2) {
        unsigned count = 30 - (unsigned)__builtin_clz(byte);
        walk_read(d, PD_PT_TNT, (uint64_t)(byte >> 1) << (64 - count), count, p, 1);
        return STEP_DONE;
    }
    if ((byte & 3) == 3) {
        uint64_t cycles;
        unsigned size = pd_pt_short_cyc(p, &cycles);
        if (!size)
            return walk_next_packet_slow(d);
        walk_read(d, PD_PT_CYC, cycles, 0, p, size);
        return STEP_DONE;
    }
    if (ip_kinds[byte & 0x1f] && byte >> 5 != 5 && byte >> 5 != 7) {
        unsigned size = ip_bytes[byte >> 5];
        uint64_t payload = size ? pd_load64(p + 1, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
                                          << (64 - 8 * size) >>
                                      (64 - 8 * size)
                                : 0;
        walk_read(d, ip_kinds[byte & 0x1f], payload, byte >> 5, p, 1 + size);
        return STEP_DONE;
    }
    if (byte == 0x59) {
        walk_read(d, PD_PT_MTC, p[1], 0, p, 2);
        return STEP_DONE;
    }
    if (byte == 0x99 && (p[1] & ~4u) <= 1) { /* MODE.Exec of 16 or 64 bits */
        walk_read(d, PD_PT_MODE_EXEC, p[1] & 1 ? 64 : 16, 0, p, 2);
        d->input.packet.ip = p[1] & 4;
        return STEP_DONE;
    }
    return walk_next_packet_slow(d);
}

PD_INLINE void walk_settle(struct pd_pt_decoder *d)
{
    if (PD_UNLIKELY(d->time.max_cycles != 0))
        walk_settle_late(d);
}

/* Reads the next packet; the time is then not late. */
PD_INLINE int walk_next_settled(struct pd_pt_decoder *d)
{
    int error = walk_next_packet(d);
    walk_settle(d);
    return error;
}

/* What samples by time go by: between packets that tell it, an instruction takes a tick. */
PD_INLINE uint64_t walk_time(const struct pd_pt_decoder *d)
{
    return d->time.timestamp + (d->time.insns - d->time.insn_base);
}

/* No sample comes, and nothing of the period changes, in fewer ticks than these. The time is not
 * late. */
PD_INLINE uint64_t walk_ticks_left(const struct pd_pt_decoder *d)
{
    uint64_t now = walk_time(d) + !d->period.continuous, masked = now & d->period.mask;
    if (masked > d->period.last_masked_time)
        return 0;
    return masked < d->period.last_masked_time ? d->period.ticks : d->period.ticks - (now - masked);
}

/* How many ticks may pass before steps are returned because the next sample is near. */
PD_INLINE uint64_t walk_ticks_far(const struct pd_pt_decoder *d)
{
    uint64_t left = walk_ticks_left(d), near = d->config.near_ticks;
    return left > near ? left - near : 0;
}

/* Nobody asks for the time before walk_settle() is called. */
PD_INLINE bool walk_may_be_late(const struct pd_pt_decoder *d)
{
    return (d->quick.unreported || d->quick.skips_code) && d->walk == WALK_IN_SYNC;
}

/* Tells the time of the step that was skipped, now that it is known. */
PD_INLINE void walk_tell_skipped(struct pd_pt_decoder *d, uint64_t time)
{
    d->untold.time += time;
    d->untold.late = false;
    struct pd_pt_pauses *pauses = d->pauses;
    if (!pauses || !pauses->ended)
        return;
    pd_pt_pauses_set(pauses, d->untold.time);
    if (pauses->listed)
        pauses->list.data[pauses->list.count - 1].to = d->untold.time;
}

/* The length of a cycle is known now: does what waited for it. */
PD_INLINE void walk_apply_late(struct pd_pt_decoder *d)
{
    if (!d->time.late)
        return;
    d->time.late = false;
    if (d->sample.late)
        d->sample.time = pd_pt_time_at(&d->time, d->sample.cycles);
    if (d->untold.late)
        walk_tell_skipped(d, pd_pt_time_at(&d->time, d->untold.cycles));
    d->sample.late = false;
    d->time.timestamp = pd_pt_time_at(&d->time, d->time.cycles);
}

/* The time that must not be reached without a look, when it is `now`. Once the limit is reached the
 * next step is returned, whenever it is. */
PD_INLINE uint64_t walk_late_limit(const struct pd_pt_decoder *d, uint64_t now)
{
    return now < d->limit ? d->limit : UINT64_MAX;
}

/* Lets CYCs be late from here on, and calibration with them. Where samples go by time, cycles and
 * instructions may each take half of what is left. False: not possible here. */
PD_INLINE bool walk_put_off(struct pd_pt_decoder *d, bool calibration)
{
    uint64_t limit = walk_late_limit(d, d->time.timestamp);
    if (d->config.period_type == PD_PT_PERIOD_TICKS) {
        uint64_t half = walk_ticks_far(d) / 2;
        limit = PD_MIN(limit, d->time.timestamp + half);
        d->period.late_insns = d->time.insns + half;
    }
    return pd_pt_time_put_off(&d->time, calibration, limit);
}

PD_INLINE void walk_cyc(struct pd_pt_decoder *d, uint64_t cycles)
{
    struct pd_pt_time *time = &d->time;
    if (time->cycles < time->max_cycles && cycles < time->max_cycles - time->cycles) {
        pd_pt_time_cyc_late(time, cycles);
        return;
    }
    walk_settle(d);
    pd_pt_time_cyc(time, cycles);
    if (walk_may_be_late(d))
        walk_put_off(d, false);
}

/* Whether the caller wants to see branches to `ip`: see pd_pt_watch_ips(). */
PD_INLINE bool walk_is_place(const struct pd_pt_decoder *d, uint64_t ip)
{
    return ip == d->config.watch_ips[0] || ip == d->config.watch_ips[1];
}

PD_INLINE struct walk_known *walk_known_slot(const struct pd_pt_decoder *d, uint64_t ip)
{
    return &d->learnt.known[(ip ^ ip >> 12) % WALK_KNOWN];
}

/* The node that has been met at `ip`; NULL: none, or not of late. */
PD_INLINE struct pd_code_node *walk_known_node(const struct pd_pt_decoder *d, uint64_t ip)
{
    const struct walk_known *known = walk_known_slot(d, ip);
    return known->ip == ip && known->view == d->code.view ? known->node : NULL;
}

PD_INLINE uint64_t walk_position(const struct pd_pt_decoder *d)
{
    return d->input.position + (uint64_t)(d->input.at - d->input.start);
}

/* As in perf, a PSB that decoding begins at anew keeps the place of the one before. */
PD_INLINE void walk_note_psb(struct pd_pt_decoder *d)
{
    d->state.psb_offset = walk_position(d);
}

/* The packet will be read again. */
PD_INLINE void walk_unread(struct pd_pt_decoder *d)
{
    d->input.next = d->input.at;
}

PD_INLINE bool walk_after_cyc(const struct pd_pt_decoder *d)
{
    return d->input.last_kind == PD_PT_CYC;
}

/* `ip` was set from outside of the code. */
PD_INLINE void walk_forget_node(struct pd_pt_decoder *d)
{
    d->place.node = NULL;
    d->place.from = NULL;
}

/* The walk is where the taken branch of `from` leads, or behind it. */
PD_INLINE void walk_follow(struct pd_pt_decoder *d, struct pd_code_node *from, bool taken)
{
    d->place.ip = taken ? from->target : from->next_ip;
    d->place.node = NULL;
    d->place.from = from;
    d->place.from_taken = taken;
}

/* Not below the default, whatever perfconfig says: it counts branches that perf does not. */
PD_INLINE uint64_t walk_direct_max(const struct pd_pt_decoder *d)
{
    return PD_MAX(d->config.max_loops, PD_PT_MAX_LOOPS);
}

PD_INLINE bool walk_set_last_ip(struct pd_pt_decoder *d)
{
    if (!pd_pt_ip(&d->input.packet, &d->place.last_ip))
        return false;
    d->place.have_last_ip = true;
    return true;
}

PD_INLINE void walk_set_ip(struct pd_pt_decoder *d)
{
    walk_set_last_ip(d);
    d->place.ip = d->place.last_ip;
    walk_forget_node(d);
}

/* Whether the packet's IP can be expanded. */
PD_INLINE bool walk_have_ip(const struct pd_pt_decoder *d)
{
    return d->input.packet.count &&
           (d->place.have_last_ip || d->input.packet.count == 3 || d->input.packet.count == 6);
}

PD_INLINE void walk_trace_off(struct pd_pt_decoder *d)
{
    d->time.pge = false;
    d->period.continuous = false;
}

PD_INLINE void walk_update_nr(struct pd_pt_decoder *d)
{
    d->modes.next_nr = d->modes.pip & 1;
}

PD_INLINE void walk_set_nr(struct pd_pt_decoder *d)
{
    d->modes.nr = d->modes.next_nr = d->modes.pip & 1;
}

/* An IF change that an earlier packet announced belongs to this step. */
PD_INLINE void walk_take_iflag(struct pd_pt_decoder *d)
{
    if (d->modes.iflag == d->modes.next_iflag)
        return;
    d->state.from_if = d->modes.iflag;
    d->state.to_if = d->modes.next_iflag;
    d->state.type |= PD_PT_IF_CHANGE;
    d->modes.iflag = d->modes.next_iflag;
}

PD_INLINE int walk_report(struct pd_pt_decoder *d, uint32_t type)
{
    d->state.type = type;
    d->state.from_ip = d->place.ip;
    d->state.to_ip = 0;
    return STEP_DONE;
}

PD_INLINE void walk_push_return(struct pd_pt_decoder *d, struct pd_code_node *call)
{
    if (PD_UNLIKELY(d->stack.count == d->stack.capacity))
        walk_more_returns(d);
    if (PD_LIKELY(d->stack.count < d->stack.capacity))
        d->stack.returns[d->stack.count++] = (struct walk_return){ call->next_ip, call };
}

PD_INLINE void walk_set_insn(struct pd_pt_decoder *d, uint8_t op, uint8_t length, uint64_t ip)
{
    d->state.insn_op = op;
    d->state.insn_length = length;
    d->state.insn_ip = ip;
    if (d->modes.tx_flags & PD_PT_IN_TX)
        d->state.flags |= PD_PT_IN_TX;
}

/* The ticks that so many instructions are thought to take: two cycles each. */
PD_INLINE uint64_t walk_estimate(const struct pd_pt_decoder *d, uint64_t insns)
{
    if (!d->time.cbr || !d->config.max_non_turbo_ratio)
        return insns << 1;
    uint64_t ticks = (insns << 1) * d->config.max_non_turbo_ratio;
    /* Each step asks: a short division where it will do. */
    if (PD_LIKELY(ticks <= UINT32_MAX))
        return (uint32_t)ticks / d->time.cbr;
    return ticks / d->time.cbr;
}

/* The step's time is now. */
PD_INLINE void walk_take_time(struct pd_pt_decoder *d)
{
    if (d->time.late) {
        d->sample.late = true;
        d->sample.cycles = d->time.cycles;
    }
    d->sample.time = d->time.timestamp;
    d->sample.insn_base = d->time.insn_base;
    d->state.cycles = d->time.tot_cycles;
}

PD_INLINE void walk_take_total(struct pd_pt_decoder *d)
{
    d->sample.tot_cycles = d->time.tot_cycles;
    if (PD_UNLIKELY(d->time.changes != NULL))
        d->time.changes->taken = d->time.changes->list.count;
}

/* The step takes the cycles as well, if the packet before has counted them. False: it has not. */
PD_INLINE bool walk_take_counts(struct pd_pt_decoder *d)
{
    walk_take_time(d);
    if (!d->time.sample_cyc)
        return false;
    walk_take_total(d);
    d->time.sample_cyc = false;
    return true;
}

/* The size of a TIP, 0: not here. */
PD_INLINE unsigned walk_tip_ip(const uint8_t *p, uint64_t *ip)
{
    uint64_t bytes = pd_load64(p + 1, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    switch (*p >> 5) {
    case 1: *ip = (*ip & ~UINT64_C(0xffff)) | (bytes & 0xffff); return 3;
    case 2: *ip = (*ip & ~UINT64_C(0xffffffff)) | (bytes & 0xffffffff); return 5;
    case 3: *ip = (uint64_t)((int64_t)(bytes << 16) >> 16); return 7;
    default: return 0;
    }
}

/* A return to where the TIP says; NULL: the call that belongs to it is not known. */
PD_INLINE struct pd_code_node *walk_return_to(struct pd_pt_decoder *d, uint64_t ip)
{
    const struct walk_return back = walk_pop_return(d);
    return back.ip == ip && back.call ? back.call->fall : NULL;
}

#endif
