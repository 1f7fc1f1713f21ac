/* SPDX-License-Identifier: MIT */
/* Samples: the plan of an event, decoding by it, identity of any record. */
#include "format/format.h"

#define SAMPLE_WORD(NAME, bit, name, kind) | PD_SAMPLE_##NAME
#define SAMPLE_PAIR(NAME, bit, low, low_kind, high, high_kind) | PD_SAMPLE_##NAME
static const uint64_t fixed_bits = 0
#include "format/sample.def"
    ;
#define TRAILER_WORD(NAME, name, kind) | PD_SAMPLE_##NAME
#define TRAILER_PAIR(NAME, low, low_kind, high, high_kind) | PD_SAMPLE_##NAME
static const uint64_t trailer_bits = 0
#include "format/sample.def"
    ;

/* Where the id's u64 is in samples of several layouts: all that may come before it. */
static void plan_positions(uint64_t type, struct pd_plan *out)
{
    const uint64_t before_id = PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_ADDR;
    if (type & PD_SAMPLE_IDENTIFIER) {
        out->id_position = out->is_position = 1;
    } else if (type & PD_SAMPLE_ID) {
        out->id_position = (uint8_t)(1 + __builtin_popcountll(type & before_id));
        out->is_position = (uint8_t)(1 + __builtin_popcountll(
                                             type & (PD_SAMPLE_CPU | PD_SAMPLE_STREAM_ID)));
    }
}

static void plan_trailer(uint64_t type, struct pd_plan *out)
{
    uint8_t left = (uint8_t)(8 * __builtin_popcountll(type & trailer_bits));
    out->trailer_size = left;
#define TRAILER_WORD(NAME, name, kind)                                                             \
    if (type & PD_SAMPLE_##NAME) {                                                                 \
        out->trailer_##name = left;                                                                \
        left = (uint8_t)(left - 8);                                                                \
    }
#define trailer_pid trailer_tid
#define TRAILER_PAIR(NAME, low, low_kind, high, high_kind) TRAILER_WORD(NAME, low, low_kind)
#include "format/sample.def"
#undef trailer_pid
}

void pd_plan_make(const struct pd_attr *attr, bool swap, struct pd_plan *out)
{
    uint64_t type = attr->sample_type;
    uint16_t at = 8, identifier = 0;
    memset(out, 0, sizeof *out);
#define SAMPLE_ALIAS(NAME, bit, OTHER)                                                             \
    if (type & PD_SAMPLE_##NAME)                                                                   \
        type |= PD_SAMPLE_##OTHER;
#include "format/sample.def"
    out->sample_type = type;
    out->read_format = attr->read_format;
    out->branch_sample_type = attr->branch_sample_type;
    out->regs_user = attr->sample_regs_user;
    out->regs_intr = attr->sample_regs_intr;
    out->swap = swap;
#define AT_IDENTIFIER identifier
#define AT_IP out->ip
#define AT_TID out->tid
#define AT_TIME out->time
#define AT_ADDR out->addr
#define AT_ID out->id
#define AT_STREAM_ID out->stream_id
#define AT_CPU out->cpu
#define AT_PERIOD out->period
#define SAMPLE_WORD(NAME, bit, name, kind)                                                         \
    if (type & PD_SAMPLE_##NAME) {                                                                 \
        AT_##NAME = at;                                                                            \
        at = (uint16_t)(at + 8);                                                                   \
    }
#define SAMPLE_PAIR(NAME, bit, low, low_kind, high, high_kind) SAMPLE_WORD(NAME, bit, low, pair)
#include "format/sample.def"
    out->fixed_size = at;
    out->is_fixed = !(type & ~fixed_bits);
    out->is_chain = (type & ~fixed_bits) == PD_SAMPLE_CALLCHAIN;
    out->is_raw = (type & ~fixed_bits) == PD_SAMPLE_RAW;
    if (!out->id)
        out->id = identifier;
    plan_positions(type, out);
    if (pd_attr_flag(attr, PD_ATTR_SAMPLE_ID_ALL))
        plan_trailer(type, out);
}

/* ---- identity -------------------------------------------------------------------------------- */

static void sample_identity(const struct pd_plan *plan, const uint8_t *record,
                            struct pd_identity *out)
{
    bool swap = plan->swap;
    if (plan->tid) {
        out->pid = pd_load32(record + plan->tid, swap);
        out->tid = pd_load32(record + plan->tid + 4, swap);
    }
    if (plan->cpu)
        out->cpu = pd_load32(record + plan->cpu, swap);
    if (plan->time)
        out->time = pd_load64(record + plan->time, swap);
    if (plan->id)
        out->id = pd_load64(record + plan->id, swap);
    if (plan->stream_id)
        out->stream_id = pd_load64(record + plan->stream_id, swap);
}

static void trailer_identity(const struct pd_plan *plan, const uint8_t *end,
                             struct pd_identity *out)
{
    bool swap = plan->swap;
    if (plan->trailer_tid) {
        out->pid = pd_load32(end - plan->trailer_tid, swap);
        out->tid = pd_load32(end - plan->trailer_tid + 4, swap);
    }
    if (plan->trailer_time)
        out->time = pd_load64(end - plan->trailer_time, swap);
    if (plan->trailer_id)
        out->id = pd_load64(end - plan->trailer_id, swap);
    if (plan->trailer_stream_id)
        out->stream_id = pd_load64(end - plan->trailer_stream_id, swap);
    if (plan->trailer_cpu)
        out->cpu = pd_load32(end - plan->trailer_cpu, swap);
    if (plan->trailer_identifier)
        out->id = pd_load64(end - plan->trailer_identifier, swap);
}

void pd_record_identity(const struct pd_event *event, const uint8_t *record, uint32_t size,
                        uint32_t type, struct pd_identity *out)
{
    memset(out, 0xff, sizeof *out);
    if (!event || type >= PD_RECORD_KERNEL_END)
        return;
    if (type != PD_RECORD_SAMPLE) {
        if (size >= 8u + event->plan.trailer_size)
            trailer_identity(&event->plan, record + size, out);
    } else if (size >= event->plan.fixed_size) {
        sample_identity(&event->plan, record, out);
    }
}

/* ---- read_format ----------------------------------------------------------------------------- */

uint32_t pd_read_decode(uint64_t read_format, const uint8_t *bytes, size_t room, bool swap,
                        struct pd_read_values *out)
{
    size_t at = 0, head = 0;
    bool group = read_format & PD_READ_GROUP;
    memset(out, 0, sizeof *out);
    out->swap = swap;
    out->count = 1;
    out->stride = 8;
    if (read_format & PD_READ_ID) {
        out->id_at = (uint8_t)out->stride;
        out->stride += 8;
    }
    if (read_format & PD_READ_LOST) {
        out->lost_at = (uint8_t)out->stride;
        out->stride += 8;
    }
    unsigned times = (unsigned)__builtin_popcountll(
        read_format & (PD_READ_TOTAL_TIME_ENABLED | PD_READ_TOTAL_TIME_RUNNING));
    head = 8 * (times + 1u);
    if (room < head)
        return 0;
    if (group)
        out->count = pd_load64(bytes, swap);
    at = 8; /* nr, or the value */
    if (read_format & PD_READ_TOTAL_TIME_ENABLED) {
        out->enabled = pd_load64(bytes + at, swap);
        at += 8;
    }
    if (read_format & PD_READ_TOTAL_TIME_RUNNING)
        out->running = pd_load64(bytes + at, swap);
    if (group) {
        out->entries = bytes + head;
        if (out->count > (room - head) / out->stride)
            return 0;
        return (uint32_t)(head + out->count * out->stride);
    }
    /* The times lie between the value and what else belongs to it. */
    out->entries = bytes;
    if (out->id_at)
        out->id_at = (uint8_t)(out->id_at + 8 * times);
    if (out->lost_at)
        out->lost_at = (uint8_t)(out->lost_at + 8 * times);
    out->stride += 8 * times;
    return room < out->stride ? 0 : out->stride;
}

struct pd_read_value pd_read_value(const struct pd_read_values *values, uint64_t index)
{
    const uint8_t *at = values->entries + index * values->stride;
    return (struct pd_read_value){ pd_load64(at, values->swap),
                                   values->id_at ? pd_load64(at + values->id_at, values->swap) : 0,
                                   values->lost_at ? pd_load64(at + values->lost_at, values->swap)
                                                   : 0 };
}

/* ---- branch flags ---------------------------------------------------------------------------- */

uint64_t pd_branch_flags_from_big(uint64_t word)
{
    uint64_t flags = 0;
#define BRANCH_FLAG(NAME, name, width, le, be)                                                     \
    flags |= (word >> (be) & ((UINT64_C(1) << (width)) - 1)) << (le);
#define DATA_SRC(NAME, name, shift, width)
#include "format/words.def"
#undef BRANCH_FLAG
    return flags;
}

uint64_t pd_branch_flags_to_big(uint64_t flags)
{
    uint64_t word = 0;
#define BRANCH_FLAG(NAME, name, width, le, be)                                                     \
    word |= (flags >> (le) & ((UINT64_C(1) << (width)) - 1)) << (be);
#include "format/words.def"
#undef BRANCH_FLAG
#undef DATA_SRC
    return word;
}

/* ---- the variable parts ---------------------------------------------------------------------- */

struct cursor {
    const uint8_t *at, *end;
    const struct pd_plan *plan;
    bool swap, no_hw_index; /* the latter: read the record as if the kernel had left hw_idx out */
    bool doubtful;          /* whether it did cannot be told from the branch stack alone */
};

PD_INLINE size_t left(const struct cursor *c)
{
    return (size_t)(c->end - c->at);
}

PD_INLINE bool take64(struct cursor *c, uint64_t *out)
{
    if (left(c) < 8)
        return false;
    *out = pd_load64(c->at, c->swap);
    c->at += 8;
    return true;
}

/* `count` items of `each` bytes; NULL when there is not as much. */
PD_INLINE const uint8_t *take(struct cursor *c, uint64_t count, size_t each)
{
    const uint8_t *at = c->at;
    if (count > left(c) / each)
        return NULL;
    c->at += count * each;
    return at;
}

PD_INLINE bool pd_part_read(struct cursor *c, struct pd_sample *out)
{
    struct pd_read_values values;
    uint32_t size = pd_read_decode(c->plan->read_format, c->at, left(c), c->swap, &values);
    if (!size)
        return false;
    out->read = take(c, size, 1);
    out->read_size = size;
    return true;
}

PD_INLINE bool pd_part_callchain(struct cursor *c, struct pd_sample *out)
{
    uint64_t count;
    if (!take64(c, &count) || !(out->callchain = take(c, count, 8)))
        return false;
    out->callchain_count = (uint32_t)count;
    return true;
}

PD_INLINE bool pd_part_raw(struct cursor *c, struct pd_sample *out)
{
    if (left(c) < 4)
        return false;
    uint32_t size = pd_load32(c->at, c->swap);
    c->at += 4;
    if (!(out->raw = take(c, size, 1)))
        return false;
    out->raw_size = size;
    return true;
}

PD_INLINE bool pd_part_branch_stack(struct cursor *c, struct pd_sample *out)
{
    uint64_t count;
    if (!take64(c, &count))
        return false;
    if (c->plan->branch_sample_type & PD_BRANCH_SAMPLE_HW_INDEX) {
        c->doubtful |= !count;
        if (count || !c->no_hw_index) {
            if (!take64(c, &out->branch_hw_index))
                return false;
            out->has_hw_index = true;
        }
    }
    if (!(out->branches = take(c, count, 24)))
        return false;
    if (c->plan->branch_sample_type & PD_BRANCH_SAMPLE_COUNTERS &&
        !(out->branch_counters = take(c, count, 8)))
        return false;
    out->branch_count = (uint32_t)count;
    return true;
}

enum { SIMD_HEAD = 8 };

struct pd_simd pd_simd(const uint8_t *at, bool swap)
{
    struct pd_simd simd = { pd_load16(at, swap),     pd_load16(at + 2, swap),
                            pd_load16(at + 4, swap), pd_load16(at + 6, swap),
                            at + SIMD_HEAD,          0 };
    simd.count = (uint64_t)simd.vectors * simd.vector_words +
                 (uint64_t)simd.predicates * simd.predicate_words;
    return simd;
}

static PD_NOINLINE bool take_simd(struct cursor *c, const uint8_t **simd)
{
    const uint8_t *head = take(c, SIMD_HEAD, 1);
    if (!head || !take(c, pd_simd(head, c->swap).count, 8))
        return false;
    *simd = head;
    return true;
}

PD_INLINE bool take_regs(struct cursor *c, uint64_t mask, uint64_t *abi, const uint8_t **regs,
                         const uint8_t **simd)
{
    if (!take64(c, abi))
        return false;
    if (!*abi)
        return true;
    *regs = take(c, (uint64_t)__builtin_popcountll(mask), 8);
    return *regs && (PD_LIKELY(!(*abi & PD_REGS_ABI_SIMD)) || take_simd(c, simd));
}

PD_INLINE bool pd_part_regs_user(struct cursor *c, struct pd_sample *out)
{
    return take_regs(c, c->plan->regs_user, &out->user_abi, &out->user_regs, &out->user_simd);
}

PD_INLINE bool pd_part_regs_intr(struct cursor *c, struct pd_sample *out)
{
    return take_regs(c, c->plan->regs_intr, &out->intr_abi, &out->intr_regs, &out->intr_simd);
}

PD_INLINE bool pd_part_stack_user(struct cursor *c, struct pd_sample *out)
{
    uint64_t size;
    if (!take64(c, &size))
        return false;
    if (!(out->stack = take(c, size, 1)))
        return false;
    if (!size)
        return true;
    out->stack_size = size;
    return take64(c, &out->stack_dynamic_size);
}

PD_INLINE bool pd_part_aux(struct cursor *c, struct pd_sample *out)
{
    uint64_t size;
    if (!take64(c, &size) || !(out->aux = take(c, size, 1)))
        return false;
    out->aux_size = size;
    return true;
}

PD_INLINE bool take_parts(struct cursor *c, struct pd_sample *out)
{
    uint64_t type = c->plan->sample_type;
#define SAMPLE_PART(NAME, bit, function)                                                           \
    if (type & PD_SAMPLE_##NAME && !pd_part_##function(c, out))                                    \
        return false;
#define SAMPLE_TAIL(NAME, bit, name, kind)                                                         \
    if (type & PD_SAMPLE_##NAME && !take64(c, &out->name))                                         \
        return false;
#include "format/sample.def"
    return true;
}

/* perf leaves data_src 0 in the samples that it makes itself. */
PD_INLINE void reset_parts(const struct pd_event *event, struct pd_sample *out)
{
    const size_t first = offsetof(struct pd_sample, read);
    pd_clear((uint8_t *)out + first, sizeof *out - first);
    out->data_src = PD_UNLIKELY(event->synthesised) ? 0 : PD_DATA_SRC_NONE;
    out->branch_hw_index = UINT64_MAX;
}

/* The kernel leaves hw_idx out when it has no branch stack at all (docs/perf-data-format.md,
 * Branches): where the number of entries is 0 the reading that uses the record up is right. */
static PD_NOINLINE bool decide_hw_index(struct cursor *c, const uint8_t *start, bool first_ok,
                                        struct pd_sample *out)
{
    struct pd_sample other = *out;
    struct cursor again = *c;
    if (first_ok && c->at == c->end)
        return true;
    again.at = start;
    again.no_hw_index = true;
    reset_parts(out->event, &other);
    bool second_ok = take_parts(&again, &other);
    if (second_ok && (!first_ok || again.at == again.end)) {
        *out = other;
        *c = again;
        return true;
    }
    return first_ok;
}

PD_INLINE void set_fixed(const struct pd_event *event, const uint8_t *record, bool swap,
                         struct pd_sample *out)
{
    const struct pd_plan *plan = &event->plan;
    out->ip = plan->ip ? pd_load64(record + plan->ip, swap) : 0;
    out->time = plan->time ? pd_load64(record + plan->time, swap) : UINT64_MAX;
    out->addr = plan->addr ? pd_load64(record + plan->addr, swap) : 0;
    out->id = plan->id ? pd_load64(record + plan->id, swap) : UINT64_MAX;
    out->stream_id = plan->stream_id ? pd_load64(record + plan->stream_id, swap) : UINT64_MAX;
    out->period = plan->period ? pd_load64(record + plan->period, swap) : event->attr.sample_period;
    out->pid = plan->tid ? pd_load32(record + plan->tid, swap) : UINT32_MAX;
    out->tid = plan->tid ? pd_load32(record + plan->tid + 4, swap) : UINT32_MAX;
    out->cpu = plan->cpu ? pd_load32(record + plan->cpu, swap) : UINT32_MAX;
}

void pd_event_name(struct pd_event *event, const char *name)
{
    const struct pd_attr *attr = &event->attr;
    event->name = name;
    event->name_length = (uint32_t)strlen(name);
    event->plan.is_offcpu = attr->type == PD_TYPE_SOFTWARE && attr->config == PD_SW_BPF_OUTPUT &&
                            attr->sample_type & PD_SAMPLE_RAW && !strcmp(name, "offcpu-time");
}

/* What perf 6.16 and later record about time during which a thread did not run: u32 pid, u32 tid,
 * u64 period, u64 nr, u64 ips[nr] with the marker of user space first, u64 cgroup. The record's own
 * address, process and mode are of the BPF program that wrote it. */
static bool take_offcpu(struct pd_sample *out)
{
    enum { PERIOD = 8, COUNT = 16, IPS = 24, LEAST = 32 };
    const uint8_t *raw = out->raw;
    uint64_t count = raw && out->raw_size >= LEAST ? pd_load64(raw + COUNT, out->swap) : UINT64_MAX;
    if (count > (out->raw_size - LEAST) / 8)
        return false;
    out->pid = pd_load32(raw, out->swap);
    out->tid = pd_load32(raw + 4, out->swap);
    out->period = pd_load64(raw + PERIOD, out->swap);
    out->callchain = raw + IPS;
    out->callchain_count = (uint32_t)count;
    out->cgroup = pd_load64(raw + IPS + 8 * count, out->swap);
    if (count > 1) {
        uint64_t context = pd_load64(raw + IPS, out->swap);
        out->ip = pd_load64(raw + IPS + 8, out->swap);
        out->cpumode = context == PD_CONTEXT(USER)     ? PD_CPUMODE_USER
                       : context == PD_CONTEXT(KERNEL) ? PD_CPUMODE_KERNEL
                                                       : out->cpumode;
    }
    return true;
}

PD_INLINE void set_head(const struct pd_event *event, const uint8_t *record, uint32_t size,
                        bool swap, struct pd_sample *out)
{
    out->event = event;
    out->record = record;
    out->size = size;
    out->swap = swap;
    out->misc = pd_load16(record + 4, swap);
    out->cpumode = out->misc & PD_MISC_CPUMODE_MASK;
}

PD_INLINE perfdata_status decode(const struct pd_event *event, const uint8_t *record, uint32_t size,
                                 bool swap, struct pd_sample *out)
{
    const struct pd_plan *plan = &event->plan;
    reset_parts(event, out);
    set_head(event, record, size, swap, out);
    if (PD_UNLIKELY(size < plan->fixed_size)) {
        out->ip = out->addr = 0;
        out->time = out->id = out->stream_id = UINT64_MAX;
        out->pid = out->tid = out->cpu = UINT32_MAX;
        out->period = event->attr.sample_period;
        return PERFDATA_ERROR_BAD_RECORD;
    }
    set_fixed(event, record, swap, out);
    if (plan->is_fixed) {
        out->parts_end = plan->fixed_size;
        return PERFDATA_OK;
    }
    const uint8_t *start = record + plan->fixed_size;
    struct cursor c = { start, record + size, plan, swap, false, false };
    bool ok = plan->is_chain ? pd_part_callchain(&c, out) : take_parts(&c, out);
    if (PD_UNLIKELY(c.doubtful))
        ok = decide_hw_index(&c, start, ok, out);
    out->parts_end = (uint32_t)(c.at - record);
    if (PD_UNLIKELY(plan->is_offcpu) && ok)
        ok = take_offcpu(out);
    return ok ? PERFDATA_OK : PERFDATA_ERROR_BAD_RECORD;
}

perfdata_status pd_sample_decode(const struct pd_event *event, const uint8_t *record, uint32_t size,
                                 struct pd_sample *out)
{
    return event->plan.swap ? decode(event, record, size, true, out)
                            : decode(event, record, size, false, out);
}

PD_INLINE perfdata_status decode_raw(const struct pd_event *event, const uint8_t *record,
                                     uint32_t size, bool swap, struct pd_sample *out)
{
    const uint32_t at = event->plan.fixed_size;
    set_head(event, record, size, swap, out);
    out->raw = NULL;
    out->raw_size = 0;
    set_fixed(event, record, swap, out);
    struct cursor c = { record + at, record + size, &event->plan, swap, false, false };
    bool ok = pd_part_raw(&c, out);
    out->parts_end = (uint32_t)(c.at - record);
    return ok ? PERFDATA_OK : PERFDATA_ERROR_BAD_RECORD;
}

perfdata_status pd_sample_decode_next(const struct pd_event *event, const uint8_t *record,
                                      uint32_t size, bool after_raw, struct pd_sample *out)
{
    const struct pd_plan *plan = &event->plan;
    if (PD_UNLIKELY(!after_raw || !plan->is_raw || plan->is_offcpu || size < plan->fixed_size))
        return pd_sample_decode(event, record, size, out);
    return plan->swap ? decode_raw(event, record, size, true, out)
                      : decode_raw(event, record, size, false, out);
}
