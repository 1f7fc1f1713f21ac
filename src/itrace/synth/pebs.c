/* SPDX-License-Identifier: MIT */
/* PEBS records that the processor wrote into the trace (reference, section 8): samples of the
 * recorded events. */
#include "itrace/synth/internal.h"

enum { COUNTERS = 8, BASIC_IP = 0, BASIC_COUNTERS = 1, BASIC_TIME = 2 };
enum { MEMORY_ADDRESS = 0, MEMORY_LATENCY = 2, MEMORY_TSX = 3 };
enum { GP_RIP = 1, GP_RAX = 2, LBR_BLOCKS = 3, LBR_ITEMS = 32, XMM_SHIFT = 32 };
enum { CHAIN_MAX = 1024, BRANCHES_MAX = 1024, REGISTERS_MAX = 64 };

/* perf's numbers of the registers, by item of a GP block. */
static const uint8_t gp_registers[] = {
    9, 8, 0, 2, 3, 1, 7, 6, 4, 5, 16, 17, 18, 19, 20, 21, 22, 23
};

struct bound {
    const struct pd_event *event; /* NULL: none */
    uint64_t id;
};

struct pd_pebs {
    const struct pd_event *single;   /* the only one, NULL: there are more */
    struct bound (*bound)[COUNTERS]; /* by queue */
    size_t queues;
    PD_VEC(struct pd_event *) variants; /* of events: with other registers than they ask for */
};

perfdata_status pd_pebs_open(struct pd_synth *synth)
{
    const struct pd_event *found = NULL;
    unsigned count = 0;
    for (size_t i = 0; i < synth->recording->event_count; i++) {
        const struct pd_event *event = synth->recording->events[i];
        if (!pd_attr_flag(&event->attr, PD_ATTR_AUX_OUTPUT) || !event->id_count)
            continue;
        found = event;
        count++;
    }
    if (!count)
        return PERFDATA_OK;
    synth->pebs = calloc(1, sizeof *synth->pebs);
    if (!synth->pebs)
        return PERFDATA_ERROR_MEMORY;
    synth->pebs->single = count == 1 ? found : NULL;
    return PERFDATA_OK;
}

void pd_pebs_close(struct pd_pebs *pebs)
{
    if (!pebs)
        return;
    pd_vec_free(&pebs->variants);
    free(pebs->bound);
    free(pebs);
}

void pd_pebs_hw_id(struct pd_synth *synth, const struct pd_delivered *record)
{
    struct pd_pebs *pebs = synth->pebs;
    struct pd_identity who;
    if (!pebs || record->size < 16)
        return;
    pd_record_identity(record->event, record->data, record->size, record->type, &who);
    uint64_t hw_id = pd_load64(record->data + PD_AT(aux_output_hw_id, hw_id),
                               synth->recording->swap);
    uint32_t at = pd_map64_get(&synth->aux->id_index, who.id);
    if (hw_id >= COUNTERS || at == PD_MAP64_NONE || at >= synth->aux->ids.count || !record->event)
        return;
    uint32_t queue = synth->aux->ids.data[at].queue;
    if (queue >= synth->queue_count)
        return;
    if (!pebs->bound) {
        pebs->bound = calloc(synth->queue_count, sizeof *pebs->bound);
        pebs->queues = pebs->bound ? synth->queue_count : 0;
    }
    if (queue < pebs->queues)
        pebs->bound[queue][hw_id] = (struct bound){ record->event, who.id };
}

/* ---- a sample ---- */

static bool has(const struct pd_pt_items *items, enum pd_pt_block block, unsigned item)
{
    return items->mask[block] >> item & 1;
}

struct put {
    uint8_t *at;
    bool swap;
};

static void put64(struct put *put, uint64_t value)
{
    pd_store64(put->at, value, put->swap);
    put->at += 8;
}

static void put_pair(struct put *put, uint32_t low, uint32_t high)
{
    pd_store32(put->at, low, put->swap);
    pd_store32(put->at + 4, high, put->swap);
    put->at += 8;
}

/* The registers that were asked for and are there. */
static uint64_t registers_of(const struct pd_pt_items *items, uint64_t asked, uint64_t *values)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < PD_LENGTH(gp_registers); i++)
        if (has(items, PD_PT_BLOCK_GP, i) && asked >> gp_registers[i] & 1) {
            mask |= UINT64_C(1) << gp_registers[i];
            values[gp_registers[i]] = items->value[PD_PT_BLOCK_GP][i];
        }
    for (unsigned i = 0; i < 32; i++)
        if (has(items, PD_PT_BLOCK_XMM, i) && asked >> (XMM_SHIFT + i) & 1) {
            mask |= UINT64_C(1) << (XMM_SHIFT + i);
            values[XMM_SHIFT + i] = items->value[PD_PT_BLOCK_XMM][i];
        }
    return mask;
}

/* An event whose samples have these registers: the event itself, or one like it. */
static const struct pd_event *with_registers(struct pd_synth *synth, const struct pd_event *event,
                                             uint64_t mask)
{
    if (event->plan.regs_intr == mask)
        return event;
    for (size_t i = 0; i < synth->pebs->variants.count; i++) {
        const struct pd_event *variant = synth->pebs->variants.data[i];
        if (variant->index == event->index && variant->plan.regs_intr == mask)
            return variant;
    }
    struct pd_event *variant = pd_arena_alloc(&synth->arena, sizeof *variant);
    if (!variant || !pd_vec_push(&synth->pebs->variants, variant))
        return event;
    *variant = *event;
    variant->plan.regs_intr = mask;
    return variant;
}

static void put_registers(struct put *put, const struct pd_pt_items *items, uint64_t mask,
                          const uint64_t *values)
{
    if (!items->mask[PD_PT_BLOCK_GP] && !items->mask[PD_PT_BLOCK_XMM]) {
        put64(put, 0);
        return;
    }
    put64(put, items->is_32_bit ? 1 : 2);
    for (unsigned i = 0; i < REGISTERS_MAX; i++)
        if (mask >> i & 1)
            put64(put, values[i]);
}

static size_t lbr_branches(const struct pd_pt_items *items, struct pd_stack_branch *to)
{
    size_t count = 0;
    for (unsigned block = 0; block < LBR_BLOCKS; block++) {
        uint32_t mask = items->mask[PD_PT_BLOCK_LBR_0 + block];
        const uint64_t *value = items->value[PD_PT_BLOCK_LBR_0 + block];
        for (unsigned i = 0; i + 3 <= LBR_ITEMS; i += 3) {
            if ((mask >> i & 7) != 7)
                continue;
            uint64_t info = value[i + 2], mispred = info >> 63;
            uint64_t flags = mispred << PD_BRANCH_SHIFT_MISPRED |
                             (mispred ^ 1) << PD_BRANCH_SHIFT_PREDICTED |
                             (info >> 62 & 1) << PD_BRANCH_SHIFT_IN_TX |
                             (info >> 61 & 1) << PD_BRANCH_SHIFT_ABORT |
                             (info & 0xffff) << PD_BRANCH_SHIFT_CYCLES;
            to[count++] = (struct pd_stack_branch){ value[i], value[i + 1], flags };
        }
    }
    return count;
}

static void put_branches(struct put *put, struct pd_synth_queue *queue,
                         const struct pd_event *event)
{
    struct pd_synth *synth = queue->synth;
    const struct pd_pt_items *items = queue->step.state->items;
    struct pd_stack_branch branches[BRANCHES_MAX];
    bool big = pd_is_big_endian(put->swap);
    size_t count = 0;
    if (items->mask[PD_PT_BLOCK_LBR_0] || items->mask[PD_PT_BLOCK_LBR_1] ||
        items->mask[PD_PT_BLOCK_LBR_2])
        count = lbr_branches(items, branches);
    else if (synth->options.last_branch)
        count = pd_stack_branches(&synth->stacks, pd_synth_stack(queue), branches,
                                  synth->options.last_branch_size);
    put64(put, count);
    if (event->plan.branch_sample_type & PD_BRANCH_SAMPLE_HW_INDEX)
        put64(put, UINT64_MAX);
    for (size_t i = 0; i < count; i++) {
        put64(put, branches[i].from);
        put64(put, branches[i].to);
        put64(put, big ? pd_branch_flags_to_big(branches[i].flags) : branches[i].flags);
    }
}

static void put_chain(struct put *put, struct pd_synth_queue *queue, uint64_t ip)
{
    struct pd_synth *synth = queue->synth;
    uint64_t ips[CHAIN_MAX + 2];
    size_t count = 0;
    if (synth->options.callchain)
        count = pd_stack_chain(pd_synth_stack(queue), ip, PD_PT_KERNEL_START, ips,
                               synth->options.callchain_size);
    put64(put, count);
    for (size_t i = 0; i < count; i++)
        put64(put, ips[i]);
}

/* Both forms: all in one, or weight and latency apart. */
static uint64_t weight_of(const struct pd_pt_items *items)
{
    uint64_t weight = 0, latency = 0;
    if (has(items, PD_PT_BLOCK_MEMORY, MEMORY_LATENCY)) {
        uint64_t value = items->value[PD_PT_BLOCK_MEMORY][MEMORY_LATENCY];
        weight = value >> 32 ? value >> 32 & 0xffff : value;
        latency = value >> 32 ? value & 0xffff : 0;
    }
    if (!weight && has(items, PD_PT_BLOCK_MEMORY, MEMORY_TSX))
        weight = (uint32_t)items->value[PD_PT_BLOCK_MEMORY][MEMORY_TSX];
    return latency ? (weight & UINT32_MAX) | latency << 32 : weight;
}

static uint64_t transaction_of(const struct pd_pt_items *items)
{
    enum { TRANSACTION = 1 << 2 };
    uint64_t value = has(items, PD_PT_BLOCK_MEMORY, MEMORY_TSX)
                         ? items->value[PD_PT_BLOCK_MEMORY][MEMORY_TSX] >> 32 & 0xff
                         : 0;
    uint64_t rax = has(items, PD_PT_BLOCK_GP, GP_RAX) ? items->value[PD_PT_BLOCK_GP][GP_RAX] : 0;
    if (value & TRANSACTION && rax & 1)
        value |= (rax >> 24 & 0xff) << 32;
    return value;
}

struct facts {
    uint64_t ip, time, id, registers;
    uint64_t values[REGISTERS_MAX];
};

static uint64_t fixed_value(const struct pd_synth_queue *queue, const struct pd_event *event,
                            const struct facts *facts, uint64_t bit)
{
    const struct pd_pt_items *items = queue->step.state->items;
    switch (bit) {
    case PD_SAMPLE_IP: return facts->ip;
    case PD_SAMPLE_TIME: return facts->time;
    case PD_SAMPLE_ADDR:
        return has(items, PD_PT_BLOCK_MEMORY, MEMORY_ADDRESS)
                   ? items->value[PD_PT_BLOCK_MEMORY][MEMORY_ADDRESS]
                   : 0;
    case PD_SAMPLE_PERIOD:
        return pd_attr_flag(&event->attr, PD_ATTR_FREQ) ? 0 : event->attr.sample_period;
    default: return facts->id;
    }
}

static void put_fixed(struct put *put, const struct pd_synth_queue *queue,
                      const struct pd_event *event, const struct facts *facts)
{
    uint64_t type = event->attr.sample_type;
#define SAMPLE_WORD(NAME, bit, name, kind)                                                         \
    if (type & PD_SAMPLE_##NAME)                                                                   \
        put64(put, fixed_value(queue, event, facts, PD_SAMPLE_##NAME));
#define SAMPLE_PAIR(NAME, bit, low, low_kind, high, high_kind)                                     \
    if (type & PD_SAMPLE_##NAME)                                                                   \
        put_pair(put, PD_SAMPLE_##NAME == PD_SAMPLE_TID ? queue->runner.pid : queue->runner.cpu,   \
                 PD_SAMPLE_##NAME == PD_SAMPLE_TID ? queue->runner.tid : 0);
#include "format/sample.def"
}

/* What PEBS does not tell is 0. */
static uint64_t tail_value(const struct pd_pt_items *items, uint64_t bit)
{
    switch (bit) {
    case PD_SAMPLE_WEIGHT: return weight_of(items);
    case PD_SAMPLE_DATA_SRC: return PD_DATA_SRC_NONE;
    case PD_SAMPLE_TRANSACTION: return transaction_of(items);
    default: return 0;
    }
}

/* Values of counters that are read leave nothing here; of the other parts that PEBS does not tell
 * there is a count of 0. */
static void put_part(struct put *put, struct pd_synth_queue *queue, const struct pd_event *event,
                     const struct facts *facts, uint64_t bit)
{
    switch (bit) {
    case PD_SAMPLE_READ: break;
    case PD_SAMPLE_CALLCHAIN: put_chain(put, queue, facts->ip); break;
    case PD_SAMPLE_BRANCH_STACK: put_branches(put, queue, event); break;
    case PD_SAMPLE_REGS_INTR:
        put_registers(put, queue->step.state->items, facts->registers, facts->values);
        break;
    default: put64(put, 0);
    }
}

static void put_parts(struct put *put, struct pd_synth_queue *queue, const struct pd_event *event,
                      const struct facts *facts)
{
    uint64_t type = event->attr.sample_type;
#define SAMPLE_ALIAS(NAME, bit, OTHER) type |= type & PD_SAMPLE_##NAME ? PD_SAMPLE_##OTHER : 0;
#include "format/sample.def"
#define SAMPLE_PART(NAME, bit, function)                                                           \
    if (type & PD_SAMPLE_##NAME)                                                                   \
        put_part(put, queue, event, facts, PD_SAMPLE_##NAME);
#define SAMPLE_TAIL(NAME, bit, name, kind)                                                         \
    if (type & PD_SAMPLE_##NAME)                                                                   \
        put64(put, tail_value(queue->step.state->items, PD_SAMPLE_##NAME));
#include "format/sample.def"
}

static void find_facts(struct pd_synth_queue *queue, struct facts *facts)
{
    struct pd_synth *synth = queue->synth;
    const struct pd_pt_items *items = queue->step.state->items;
    facts->ip = queue->step.state->from_ip;
    if (has(items, PD_PT_BLOCK_BASIC, BASIC_IP))
        facts->ip = items->value[PD_PT_BLOCK_BASIC][BASIC_IP];
    else if (has(items, PD_PT_BLOCK_GP, GP_RIP))
        facts->ip = items->value[PD_PT_BLOCK_GP][GP_RIP];
    uint64_t ticks = synth->plan.timeless ? 0 : queue->time;
    if (has(items, PD_PT_BLOCK_BASIC, BASIC_TIME))
        ticks = items->value[PD_PT_BLOCK_BASIC][BASIC_TIME];
    facts->time = ticks ? pd_tsc_to_time(&synth->aux->info.pt.time, ticks) : 0;
}

static void put_sample(struct pd_synth_queue *queue, const struct pd_event *event, uint64_t id)
{
    enum { ROOM = 1024 };
    struct pd_synth *synth = queue->synth;
    const struct pd_pt_items *items = queue->step.state->items;
    struct facts facts = { .id = id };
    if (synth->options.skip && synth->plan.skipped++ < synth->options.skip)
        return;
    if (event->attr.sample_type & PD_SAMPLE_READ) /* nothing was read */
        return;
    size_t room = ROOM + 8 * (size_t)(synth->options.callchain_size + 2) +
                  24 * (size_t)PD_MAX(synth->options.last_branch_size, 32u);
    uint8_t *at = pd_synth_alloc(synth, room);
    if (!at)
        return;
    find_facts(queue, &facts);
    facts.registers = registers_of(items, event->attr.sample_regs_intr, facts.values);
    if (event->attr.sample_type & PD_SAMPLE_REGS_INTR &&
        (items->mask[PD_PT_BLOCK_GP] || items->mask[PD_PT_BLOCK_XMM]))
        event = with_registers(synth, event, facts.registers);
    struct put put = { at + 8, synth->recording->swap };
    put_fixed(&put, queue, event, &facts);
    put_parts(&put, queue, event, &facts);
    uint16_t mode = pd_synth_mode(facts.ip, queue->step.state->from_nr);
    uint32_t size = (uint32_t)(put.at - at);
    pd_store32(at, PD_RECORD_SAMPLE, put.swap);
    pd_store16(at + 4, (uint16_t)(mode | PD_MISC_EXACT_IP), put.swap);
    pd_store16(at + 6, (uint16_t)size, put.swap);
    struct pd_synth_facts *side = pd_synth_alloc(synth, sizeof *side);
    if (!side)
        return;
    memset(side, 0, sizeof *side);
    pd_synth_log_flush(synth);
    synth->sink->records[synth->sink->count++] = (struct pd_delivered){
        .data = at,
        .size = size,
        .type = PD_RECORD_SAMPLE,
        .misc = (uint16_t)(mode | PD_MISC_EXACT_IP),
        .time = facts.time ? facts.time : PD_NO_TIME,
        .event = event,
        .thread = pd_timeline_touch(synth->timeline, queue->runner.pid, queue->runner.tid,
                                    synth->number),
        .facts = side,
    };
}

void pd_pebs_emit(struct pd_synth_queue *queue)
{
    struct pd_pebs *pebs = queue->synth->pebs;
    const struct pd_pt_items *items = queue->step.state->items;
    uint64_t counters = 0;
    if (!items)
        return;
    if (has(items, PD_PT_BLOCK_BASIC, BASIC_COUNTERS))
        counters = items->value[PD_PT_BLOCK_BASIC][BASIC_COUNTERS];
    if (!counters && pebs->single)
        put_sample(queue, pebs->single, pebs->single->ids[0]);
    for (unsigned i = 0; i < COUNTERS; i++) {
        if (!(counters >> i & 1))
            continue;
        struct bound bound = { NULL, 0 };
        if (queue->number < pebs->queues)
            bound = pebs->bound[queue->number][i];
        if (!bound.event && pebs->single)
            bound = (struct bound){ pebs->single, pebs->single->ids[0] };
        if (bound.event)
            put_sample(queue, bound.event, bound.id);
    }
}
