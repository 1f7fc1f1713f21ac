/* SPDX-License-Identifier: MIT */
/* The layer format/: bytes <-> structures. What all others may use: record types, attributes,
 * events, samples. The lists themselves are in *.def; nothing of the format is listed anywhere
 * else. */
#ifndef PD_FORMAT_H
#define PD_FORMAT_H
#include "base/arena.h"
#include "base/base.h"
#include "base/context.h"
#include "base/text.h"
/* enum pd_record_type, pd_feature, pd_sample_bit, pd_misc ... made from the tables */
#include "format/enums.h"

/* ---- attributes ------------------------------------------------------------------------------ */

/* perf_event_attr in host order, each field under the kernel's name; the flag bits numbered as in a
 * little-endian file (bit n = flag n), precise_ip in bits 15-16. Fields beyond `size` are 0. */
struct pd_attr {
    uint32_t type, size; /* size as recorded, 0 read as 64 */
    uint64_t config, sample_period /* or sample_freq */, sample_type, read_format, flags;
    uint32_t wakeup_events /* or wakeup_watermark */, bp_type;
    uint64_t bp_addr /* config1 */, bp_len /* config2 */, branch_sample_type, sample_regs_user;
    uint32_t sample_stack_user;
    int32_t clockid;
    uint64_t sample_regs_intr;
    uint32_t aux_watermark;
    uint16_t sample_max_stack, reserved_2;
    uint32_t aux_sample_size, aux_action;
    uint64_t sig_data, config3, config4;
};

PD_INLINE bool pd_attr_flag(const struct pd_attr *attr, unsigned flag)
{
    return attr->flags >> flag & 1;
}

/* Decodes an attr of `room` readable bytes (its own size field says how many count). */
perfdata_status pd_attr_decode(const uint8_t *bytes, size_t room, bool swap, struct pd_attr *out);
/* The reverse: `size` bytes, which its size field then says; what does not fit is left out. */
void pd_attr_encode(const struct pd_attr *attr, bool swap, uint8_t *to, size_t size);

/* The flag word and aux_action of a big-endian file <-> our numbering (docs/perf-data-format.md,
 * Attributes). */
uint64_t pd_attr_flags_from_big(uint64_t word);
uint64_t pd_attr_flags_to_big(uint64_t flags);
uint32_t pd_aux_action_mirror(uint32_t word); /* its own inverse */

PD_INLINE unsigned pd_attr_precise_ip(const struct pd_attr *attr)
{
    return (unsigned)(attr->flags >> PD_ATTR_PRECISE_IP & 3);
}

/* ---- a sample's layout, computed once per event ---------------------------------------------- */

/* Offsets are from the start of the record; 0: the field is absent. */
struct pd_plan {
    uint64_t sample_type /* WEIGHT is set with WEIGHT_STRUCT: one field */, read_format,
        branch_sample_type, regs_user, regs_intr;
    bool swap;
    bool is_fixed;  /* samples have no variable field: those of fixed_size are readable */
    bool is_chain;  /* the call chain is the only field behind the fixed ones */
    bool is_raw;    /* raw data are the only variable field */
    bool is_offcpu; /* the raw data of its samples hold the sample: pd_event_name() */
    uint16_t id, ip, tid, time, addr, stream_id, cpu, period; /* in a sample */
    uint16_t fixed_size; /* of the part before the first variable field, header included */
    /* the trailer of other records: bytes before the record's end; 0: absent */
    uint8_t trailer_size, trailer_tid, trailer_time, trailer_id, trailer_stream_id, trailer_cpu,
        trailer_identifier;
    uint8_t
        id_position; /* u64 index in a sample's body + 1, 0: none (see "Which event" in the page) */
    uint8_t is_position; /* u64s from the end of other records, 0: none */
};

void pd_plan_make(const struct pd_attr *attr, bool swap, struct pd_plan *out);

/* ---- events ---------------------------------------------------------------------------------- */

struct pd_event {
    uint32_t index; /* position in the recording */
    struct pd_attr attr;
    struct pd_plan plan;
    const char *name; /* as perf names it; never NULL once the recording is open */
    uint32_t name_length;
    const uint64_t *ids;
    size_t id_count;
    /* EVENT_UPDATE */
    const char *unit;
    double scale;
    /* groups: the leader's index (own index when alone), members of the group when this is its
     * leader */
    uint32_t leader, member_count;
    const char *group_name; /* NULL: "anon group" */
    /* while a trace is decoded */
    bool synthesised; /* made for what the trace shows */
    /* Bits of sample_type that the trace gives the samples of a recorded event. */
    uint64_t added_type;
};

/* Names an event; `name` outlives it. For a bpf-output event named "offcpu-time" (perf 6.16 and
 * later) the raw data of each sample say what it is about. */
void pd_event_name(struct pd_event *event, const char *name);

/* The fields that samples of the event have once decoded: those of its sample_type, and what raw
 * data bring. */
PD_INLINE uint64_t pd_event_fields(const struct pd_event *event)
{
    return event->attr.sample_type | (event->plan.is_offcpu ? PD_SAMPLE_CALLCHAIN : 0);
}

/* The name that perf makes from the attr alone (docs/perf-data-format.md), with modifiers, into
 * `out`. */
void pd_attr_name(const struct pd_attr *attr, struct pd_text *out);

/* ---- records --------------------------------------------------------------------------------- */

struct pd_record_header {
    uint32_t type;
    uint16_t misc;
    uint32_t size;
};

PD_INLINE struct pd_record_header pd_record_header(const uint8_t *record, bool swap)
{
    struct pd_record_header header = { pd_load32(record, swap), pd_load16(record + 4, swap),
                                       pd_load16(record + 6, swap) };
    if (PD_UNLIKELY(header.type >= PD_RECORD_WIDE)) {
        header.size |= (uint32_t)header.misc << 16;
        header.misc = 0;
    }
    return header;
}

/* Whether a file that we read with `swap` is big-endian: bit-fields lie mirrored there. */
PD_INLINE bool pd_is_big_endian(bool swap)
{
    return swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* "MMAP2", or NULL for a type that is in no table. */
const char *pd_record_type_name(uint32_t type);
/* The least size of a record of this type without trailer, 8 for unknown ones. */
uint32_t pd_record_min_size(uint32_t type);

/* The identity fields at the end of a record that is no sample, or the same fields of a sample.
 * Absent: all ones. */
struct pd_identity {
    uint32_t pid, tid, cpu;
    uint64_t time, id, stream_id;
};
/* `event` NULL: all absent. Never reads outside the record. */
void pd_record_identity(const struct pd_event *event, const uint8_t *record, uint32_t size,
                        uint32_t type, struct pd_identity *out);

#define PD_NO_TIME UINT64_MAX

/* The record's time by the plan alone; PD_NO_TIME when it has none (0 and all ones count as
 * none). */
PD_INLINE uint64_t pd_record_time(const struct pd_plan *plan, const uint8_t *record, uint32_t size,
                                  uint32_t type)
{
    uint32_t at = type == PD_RECORD_SAMPLE ? plan->time
                  : plan->trailer_time     ? size - plan->trailer_time
                                           : 0;
    if (at < 8 || size < 8 || at > size - 8) /* also where the trailer is larger than the record */
        return PD_NO_TIME;
    uint64_t time = pd_load64(record + at, plan->swap);
    return time ? time : PD_NO_TIME;
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Decoded; the pointers lead into the record and are unaligned, in file byte order (use
 * pd_load64(p, swap)). Absent fields have perf's defaults (docs/perf-data-format.md): cpu, pid,
 * tid, time, id, stream_id all ones, period = attr.sample_period, data_src PD_DATA_SRC_NONE (0 in
 * samples of synthesised events), others 0. */
struct pd_sample {
    const struct pd_event *event;
    const uint8_t *record;
    uint32_t size;
    uint16_t misc;
    uint8_t cpumode;
    bool swap;
    uint64_t ip, time, addr, id, stream_id, period;
    uint32_t pid, tid, cpu;
    const uint8_t *read; /* read_format values */
    uint32_t read_size;
    const uint8_t *callchain; /* u64s */
    uint32_t callchain_count;
    const uint8_t *raw;
    uint32_t raw_size;
    const uint8_t *branches; /* 24 bytes each */
    uint32_t branch_count;
    uint64_t branch_hw_index; /* all ones: unknown */
    bool has_hw_index;
    const uint8_t *branch_counters;
    uint64_t user_abi, intr_abi;
    const uint8_t *user_regs, *intr_regs; /* u64s, as many as bits in the event's mask; NULL none */
    const uint8_t *user_simd, *intr_simd; /* behind them, for pd_simd(); NULL none */
    const uint8_t *stack;
    uint64_t stack_size, stack_dynamic_size;
/* `weight` is raw: the sample type says which shape it has. */
#define SAMPLE_TAIL(NAME, bit, name, kind) uint64_t name;
#include "format/sample.def"
    const uint8_t *aux;
    uint64_t aux_size;
    uint32_t parts_end; /* offset behind the last field that was read */
};

/* Vector registers of a sample (abi bit PD_REGS_ABI_SIMD): so many, of so many u64 each, then
 * predicate registers. */
struct pd_simd {
    uint16_t vectors, vector_words, predicates, predicate_words;
    const uint8_t *values; /* u64s */
    uint64_t count;        /* of all of them */
};
/* `at`: user_simd or intr_simd, not NULL. */
struct pd_simd pd_simd(const uint8_t *at, bool swap);

#define PD_DATA_SRC_NONE UINT64_C(0x5080021)

/* PERFDATA_ERROR_BAD_RECORD when the content exceeds the record's size; *out then holds what was
 * readable. */
perfdata_status pd_sample_decode(const struct pd_event *event, const uint8_t *record, uint32_t size,
                                 struct pd_sample *out);

/* The same for one sample after the other into the same `out`. `after_raw`: it holds one whose
 * event's plan is_raw, so that for another one of such an event most of it need not be cleared. */
perfdata_status pd_sample_decode_next(const struct pd_event *event, const uint8_t *record,
                                      uint32_t size, bool after_raw, struct pd_sample *out);

/* Whether a look at the sample's sizes shows that it can be decoded; false: decoding will tell. */
PD_INLINE bool pd_sample_is_whole(const struct pd_plan *plan, const uint8_t *record, uint32_t size)
{
    const uint32_t fixed = plan->fixed_size;
    if (size < fixed || plan->is_offcpu)
        return false;
    return plan->is_fixed || (plan->is_chain && size - fixed >= 8 &&
                              pd_load64(record + fixed, plan->swap) <= (size - fixed - 8) / 8);
}

/* What pd_sample.read holds, by read_format. Entry i: value, id (0 without READ_ID), lost (0
 * without READ_LOST). */
struct pd_read_values {
    uint64_t count;            /* entries; 1 when not a group */
    uint64_t enabled, running; /* 0: not there */
    const uint8_t *entries;
    uint32_t stride;
    uint8_t id_at, lost_at; /* in an entry; 0: not there */
    bool swap;
};

struct pd_read_value {
    uint64_t value, id, lost;
};

/* The bytes that the values take, 0 when they exceed `room`. */
uint32_t pd_read_decode(uint64_t read_format, const uint8_t *bytes, size_t room, bool swap,
                        struct pd_read_values *out);
struct pd_read_value pd_read_value(const struct pd_read_values *values, uint64_t index);

/* One entry of pd_sample.branches; flags as in a little-endian file: PD_BRANCH_PART(flags,
 * CYCLES). */
struct pd_branch {
    uint64_t from, to, flags;
};

/* Turns a branch's flags from a big-endian file's order into ours, and back. */
uint64_t pd_branch_flags_from_big(uint64_t word);
uint64_t pd_branch_flags_to_big(uint64_t flags);

PD_INLINE struct pd_branch pd_branch_at(const struct pd_sample *sample, size_t index)
{
    const uint8_t *at = sample->branches + 24 * index;
    uint64_t flags = pd_load64(at + 16, sample->swap);
    return (struct pd_branch){ pd_load64(at, sample->swap), pd_load64(at + 8, sample->swap),
                               pd_is_big_endian(sample->swap) ? pd_branch_flags_from_big(flags)
                                                              : flags };
}

/* ---- any record, by its table ---------------------------------------------------------------- */

/* Text "name: value" lines, JSON objects, checksums, encoders: format/fields.h (FORMAT). */

#endif
