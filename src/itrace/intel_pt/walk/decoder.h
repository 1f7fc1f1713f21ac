/* SPDX-License-Identifier: MIT */
/* Intel PT packets and code -> what ran: the walk through one queue's trace, one step at a time.
 *
 *     struct pd_pt_decoder *decoder = pd_pt_decoder_new(&config);
 *     pd_pt_set_code(decoder, view, guest_view);
 *     while ((state = pd_pt_decode(decoder, limit)) != NULL)
 *         ... state->type, from_ip, to_ip ...
 *
 * A decoder belongs to one thread at a time. It walks as perf's does, step by step: the same
 * branches, errors and times. */
#ifndef PD_INTEL_PT_DECODER_H
#define PD_INTEL_PT_DECODER_H
#include "itrace/code/code.h"
#include "itrace/intel_pt/packet.h"
#include "itrace/intel_pt/psb.h"

/* What a step is; bits of pd_pt_state.type. */
enum {
    PD_PT_BRANCH = 1u << 0,
    PD_PT_INSTRUCTION = 1u << 1, /* the period is over */
    PD_PT_TRANSACTION = 1u << 2,
    PD_PT_PTW = 1u << 3,
    PD_PT_MWAIT_OP = 1u << 4,
    PD_PT_PWR_ENTRY = 1u << 5,
    PD_PT_EX_STOP = 1u << 6,
    PD_PT_PWR_EXIT = 1u << 7,
    PD_PT_CBR_CHANGE = 1u << 8,
    PD_PT_TRACE_BEGIN = 1u << 9,
    PD_PT_TRACE_END = 1u << 10,
    PD_PT_BLOCK_ITEMS = 1u << 11,
    PD_PT_PSB_EVENT = 1u << 12,
    PD_PT_EVENT = 1u << 13, /* CFE */
    PD_PT_IF_CHANGE = 1u << 14,
    PD_PT_ALL_STEPS = (1u << 15) - 1
};

/* Bits of pd_pt_state.flags. */
enum {
    PD_PT_IN_TX = 1u << 0,
    PD_PT_ABORT_TX = 1u << 1,
    PD_PT_ASYNC = 1u << 2,
    PD_PT_FUP_IP = 1u << 3,    /* PTWRITE, EXSTOP, CFE came with their IP */
    PD_PT_SAMPLE_IPC = 1u << 4 /* tot_cyc_cnt belongs to this step */
};

/* perf's codes of errors, see pd_pt_error_text(). */
enum pd_pt_error {
    PD_PT_OK,
    PD_PT_NO_MEMORY,
    PD_PT_INTERNAL,
    PD_PT_BAD_PACKET,
    PD_PT_NO_DATA, /* never in a state: pd_pt_decode() returns NULL */
    PD_PT_NO_INSN,
    PD_PT_MISMATCH,
    PD_PT_OVERFLOW,
    PD_PT_LOST, /* of AUX records, not of the walk */
    PD_PT_UNKNOWN,
    PD_PT_LOOP,
    PD_PT_BROKEN_PTWRITE
};

/* Items of a PEBS block, by type and number; reference 8. */
enum pd_pt_block {
    PD_PT_BLOCK_GP,
    PD_PT_BLOCK_BASIC,
    PD_PT_BLOCK_MEMORY,
    PD_PT_BLOCK_LBR_0,
    PD_PT_BLOCK_LBR_1,
    PD_PT_BLOCK_LBR_2,
    PD_PT_BLOCK_XMM,
    PD_PT_BLOCKS
};

struct pd_pt_items {
    uint32_t mask[PD_PT_BLOCKS]; /* which items are there */
    uint64_t value[PD_PT_BLOCKS][32];
    bool is_32_bit; /* the GP block had 4-byte items */
};

struct pd_pt_event_data {
    uint64_t type, payload;
};

enum { PD_PT_MAX_EVENT_DATA = 64 };

struct pd_pt_state {
    uint32_t type, flags;
    enum pd_pt_error error; /* then only from_ip (where), times and counts are meant */
    uint8_t insn_op,
        /* of the last instruction walked; enum pd_insn_op, PD_INSN_OTHER and 0: none */
        insn_length;
    bool from_nr, to_nr; /* in a guest */
    bool from_if, to_if; /* interrupt flag */
    /* Why PD_PT_NO_INSN. */
    struct {
        bool in_view;
        enum pd_code_error error; /* in a view if `in_view` */
        const struct pd_map *map; /* where; NULL: nothing is mapped there */
    } failure;
    uint64_t from_ip, to_ip;
    uint64_t insn_ip; /* of the last instruction walked, for its bytes: pd_code_bytes() */
    uint64_t timestamp;
    /* of errors and of branches that come from the kernel or lead there, else 0 */
    uint64_t est_timestamp;
    /* the latest since the last returned step: its own, and those of steps not returned */
    uint64_t last_timestamp;
    /* estimated, of the last of these that came (back) to user space; 0: none */
    uint64_t skipped_timestamp;
    uint64_t tot_insn_cnt, tot_cyc_cnt, cycles;
    uint64_t trace_nr;
    uint32_t cbr, cbr_payload;
    /* What the packets carried. */
    struct {
        uint64_t ptw, mwait, pwre, pwrx;
    } payload;
    uint64_t psb_offset; /* in the queue */
    /* An event that a CFE packet told, with the data before it. */
    struct {
        uint8_t type, vector;
        uint32_t data_count;
        const struct pd_pt_event_data *data;
    } cfe;
    const struct pd_pt_items *items;
};

/* A state as callers of the library see it. */
struct pd_pt_step {
    uint32_t type, flags; /* type 0: an error */
    uint32_t error, insn_length;
    uint64_t from, to;
    uint64_t tsc, time; /* time: nanoseconds; 0: not known, or of a bare trace */
    uint64_t insns, cycles, payload;
    uint32_t pid, tid, cpu; /* who ran; all ones: not known */
};

/* Fills all but who ran and the time, of which it has only the decoder's own TSC. */
struct pd_pt_step pd_pt_step_of(const struct pd_pt_state *state);

struct pd_pt_buffer {
    const uint8_t *data; /* until the next one is asked for */
    size_t size;
    uint64_t reference, trace_nr;
    uint64_t position; /* of data[0] in the queue */
    bool consecutive;
};

enum pd_pt_period {
    PD_PT_PERIOD_NONE,
    PD_PT_PERIOD_INSTRUCTIONS,
    PD_PT_PERIOD_TICKS /* `period` is rounded down to a power of two */
};

enum { PD_PT_MAX_LOOPS = 100000 };

struct pd_pt_log;

/* What walks have found out about code. Decoders of one thread that walk the code of one reader may
 * share it, if what their configs say of the recording is the same. */
struct pd_pt_tables;
/* NULL without memory; free() ends it. */
struct pd_pt_tables *pd_pt_tables_new(void);

struct pd_pt_config {
    /* From AUXTRACE_INFO and the event. */
    bool branches;           /* branch tracing was on */
    bool return_compression; /* return compression was on */
    unsigned mtc_shift, cyc_threshold;
    uint64_t tsc_ctc_n, tsc_ctc_d;
    unsigned max_non_turbo_ratio;
    bool next_ip_fup; /* family 6, model 92: FUP may hold the next IP after an indirect branch */
    /* From the options. */
    uint8_t quick;      /* 1: q, 2: qq */
    uint64_t max_loops; /* 0: PD_PT_MAX_LOOPS */
    enum pd_pt_period period_type;
    uint64_t period;
    /* With samples by time: steps that come fewer ticks than these before the next sample are
     * returned, too. */
    uint64_t near_ticks;
    /* Which steps are to be returned, bits of type; others only where they carry an error, reach
     * the limit or, when `timeful`, come (back) to user space. */
    uint32_t wanted;
    /* The caller's time takes est_timestamp when the kernel is left, and skipped_timestamp where
     * that is not 0. */
    bool timeful;
    uint64_t kernel_start;
    /* Set by pd_pt_watch_ips(). */
    bool watches_ips;
    uint64_t watch_ips[2];

    struct pd_pt_log *log;       /* the debug log; NULL: none */
    struct pd_pt_tables *tables; /* outlives the decoder; NULL: it has its own */

    void *data;
    /* The next buffer: 1; 0: no more; < 0: an error, which ends the trace like 0. */
    int (*buffer)(void *data, struct pd_pt_buffer *out);
    /* For pd_pt_fast_forward() only; both may be NULL. Gives the first TSC of the buffer that comes
     * `nth` after the current one (from 0), and its reference: 1; 0: it has none; < 0: there is no
     * such buffer. */
    int (*look_ahead)(void *data, size_t nth, uint64_t *tsc, uint64_t *reference);
    /* Makes buffer() give that one next, without what lies before a PSB that is known to come
     * before `tsc`. */
    void (*skip)(void *data, size_t nth, uint64_t tsc);
    /* For qq only; both are NULL, or neither is. What is known of the PSBs behind the one at that
     * place of the queue that have a TSC below `below`, none of which is to be seen. False:
     * nothing. It is valid until the next call. */
    bool (*psb_jumps)(void *data, uint64_t position, uint64_t below, struct pd_pt_psb_jumps *out);
    /* Makes buffer() give what is at that place, in the buffer under way. */
    void (*psb_jump_to)(void *data, uint64_t position);
    /* Whether an address lies outside of the address filters; NULL: there are none. */
    bool (*filtered_out)(void *data, uint64_t ip);
    /* pd_code_at and pd_code_link, or what a test has instead. */
    struct pd_code_node *(*code_at)(struct pd_code_view *view, uint64_t ip,
                                    enum pd_code_error *error);
    struct pd_code_node *(*code_link)(struct pd_code_view *view, struct pd_code_node *node,
                                      bool taken, enum pd_code_error *error);
};

struct pd_pt_decoder;

/* NULL without memory. The config is copied. */
struct pd_pt_decoder *pd_pt_decoder_new(const struct pd_pt_config *config);
void pd_pt_decoder_free(struct pd_pt_decoder *decoder);
const struct pd_pt_config *pd_pt_config_of(const struct pd_pt_decoder *decoder);

/* Sets the host and guest code that the next steps are walked through; NULL: none is known. To be
 * called when the thread or its maps may have changed; cheap when they have not. */
void pd_pt_set_code(struct pd_pt_decoder *decoder, struct pd_code_view *host,
                    struct pd_code_view *guest);

/* Forgets the nodes that the decoder was given, which may be gone: to be called after the code's
 * reader has been trimmed. */
void pd_pt_forget_code(struct pd_pt_decoder *decoder);

/* Writes into the debug log what the times are made with. */
void pd_pt_log_settings(struct pd_pt_decoder *decoder);

/* Sets which steps are wanted from here on, in place of those of the config. */
void pd_pt_set_wanted(struct pd_pt_decoder *decoder, uint32_t wanted);

/* Has branches to these addresses returned, too, and those that lead nowhere because tracing ends.
 * All decoders that share tables need the same ones. */
void pd_pt_watch_ips(struct pd_pt_decoder *decoder, uint64_t one, uint64_t other);
/* Whether the state's step is such a branch. */
bool pd_pt_is_at_place(const struct pd_pt_decoder *decoder);

/* Has steps of these types returned besides, once the last PSB is at that position of the queue or
 * behind it. */
void pd_pt_watch(struct pd_pt_decoder *decoder, uint32_t types, uint64_t from);

/* Whether the next sample by time is near (pd_pt_config.near_ticks). */
bool pd_pt_is_near(const struct pd_pt_decoder *decoder);

/* The next step that is wanted, or the first whose time is `limit` or later. NULL: the queue is at
 * its end. The state is the decoder's, until the next call. */
const struct pd_pt_state *pd_pt_decode(struct pd_pt_decoder *decoder, uint64_t limit);

/* Instructions in a straight line. */
struct pd_pt_straight {
    uint64_t ip;
    const uint8_t *lengths;
    size_t count;
    bool has_cycles; /* PD_PT_SAMPLE_IPC */
};

/* Where each instruction is a step: takes the next steps as long as they are instructions and
 * nothing else, at most `most`. Their times and cycles are those of the last step; the state is
 * then that of the last of them. False: the next step is to be asked for. */
bool pd_pt_straight(struct pd_pt_decoder *decoder, size_t most, struct pd_pt_straight *out);

struct pd_pt_branch {
    /* Where each instruction is a step: the instructions before the branch, which is a step itself
     * whether it is taken or not. Their times and cycles are those of the step before. */
    struct pd_pt_straight straight;
    uint64_t from, to; /* to 0: not taken; the branch's insn_ip is `from` */
    uint64_t insns;    /* tot_insn_cnt */
    uint64_t timestamp, tot_cycles, cycles;
    uint8_t insn_op, insn_length;
    bool has_cycles; /* PD_PT_SAMPLE_IPC */
};

/* The same for branches before the limit of the last pd_pt_decode(), as long as their steps are at
 * most `steps`; where instructions are sampled each of them has to be a step. What is walked over
 * behind the last one may tell of the state. */
size_t pd_pt_branches(struct pd_pt_decoder *decoder, size_t steps, struct pd_pt_branch *out,
                      size_t most);

/* Goes on at the last PSB before that time, as far as it lies ahead (reference 4.3). */
void pd_pt_fast_forward(struct pd_pt_decoder *decoder, uint64_t tsc);

/* The first TSC in the PSB+ that begins at `at`, 56 bits: 1, 0 there is none, < 0 none up to `end`,
 * which may cut it. */
int pd_pt_psb_tsc(const uint8_t *at, const uint8_t *end, uint64_t *tsc);
/* The first TSC of a PSB+ in these bytes; gives what pd_pt_psb_tsc() gives. */
int pd_pt_first_tsc(const uint8_t *bytes, size_t size, uint64_t *tsc);
/* The TSC of which these are the low 56 bits, near a buffer's reference. */
uint64_t pd_pt_tsc_near(uint64_t tsc, uint64_t reference);

/* "Overflow packet" and so on. */
const char *pd_pt_error_text(unsigned error);

#endif
