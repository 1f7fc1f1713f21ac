/* SPDX-License-Identifier: MIT */
/* <perfdata/records.h>: samples decoded and resolved. */
#include "api/cursor.h"
#include "render/data_source.h"
#include "render/script/plan.h"
#include <stdlib.h>

perfdata_status pd_api_decode(const perfdata_record *record, struct pd_sample *out)
{
    const struct pd_delivered *delivered = record->delivered;
    if (!pd_api_is_sample(delivered))
        return pd_fail(&record->cursor->recording->context, PERFDATA_ERROR_ARGUMENT,
                       (int64_t)delivered->offset, "the record is no sample of a known event");
    return pd_delivered_sample(delivered, out);
}

perfdata_status perfdata_record_sample(const perfdata_record *record, const perfdata_sample **out)
{
    perfdata_status status = pd_api_decode(record, &record->cursor->sample.decoded);
    *out = status == PERFDATA_ERROR_ARGUMENT ? NULL : &record->cursor->sample;
    return status;
}

perfdata_status perfdata_sample_value(const perfdata_sample *sample, uint32_t field,
                                      uint64_t *value)
{
    const struct pd_sample *s = &sample->decoded;
    uint64_t bit;
    switch ((enum perfdata_sample_field)field) {
    case PERFDATA_SAMPLE_IP: *value = s->ip, bit = PD_SAMPLE_IP; break;
    case PERFDATA_SAMPLE_PID: *value = s->pid, bit = PD_SAMPLE_TID; break;
    case PERFDATA_SAMPLE_TID: *value = s->tid, bit = PD_SAMPLE_TID; break;
    case PERFDATA_SAMPLE_TIME: *value = s->time, bit = PD_SAMPLE_TIME; break;
    case PERFDATA_SAMPLE_ADDR: *value = s->addr, bit = PD_SAMPLE_ADDR; break;
    case PERFDATA_SAMPLE_ID: *value = s->id, bit = PD_SAMPLE_ID | PD_SAMPLE_IDENTIFIER; break;
    case PERFDATA_SAMPLE_STREAM_ID: *value = s->stream_id, bit = PD_SAMPLE_STREAM_ID; break;
    case PERFDATA_SAMPLE_CPU: *value = s->cpu, bit = PD_SAMPLE_CPU; break;
    case PERFDATA_SAMPLE_PERIOD:
        *value = s->period, bit = PD_SAMPLE_PERIOD;
        break;
/* clang-format off */
#define SAMPLE_TAIL(NAME, number, name, kind)                                                      \
    case PERFDATA_SAMPLE_##NAME: *value = s->name, bit = PD_SAMPLE_##NAME; break;
        /* clang-format on */
#include "format/sample.def"
    default: return PERFDATA_ERROR_ARGUMENT;
    }
#define SAMPLE_ALIAS(NAME, number, OTHER) bit |= bit & PD_SAMPLE_##OTHER ? PD_SAMPLE_##NAME : 0;
#include "format/sample.def"
    return s->event->attr.sample_type & bit ? PERFDATA_OK : PERFDATA_ERROR_NO_DATA;
}

uint8_t perfdata_sample_cpumode(const perfdata_sample *sample)
{
    return sample->decoded.cpumode;
}

size_t perfdata_sample_callchain_count(const perfdata_sample *sample)
{
    return sample->decoded.callchain_count;
}

uint64_t perfdata_sample_callchain(const perfdata_sample *sample, size_t index)
{
    const struct pd_sample *s = &sample->decoded;
    return index < s->callchain_count ? pd_load64(s->callchain + 8 * index, s->swap) : 0;
}

size_t perfdata_sample_branch_count(const perfdata_sample *sample)
{
    return sample->decoded.branch_count;
}

perfdata_status perfdata_sample_branch(const perfdata_sample *sample, size_t index, uint64_t *from,
                                       uint64_t *to, uint64_t *flags)
{
    if (index >= sample->decoded.branch_count)
        return PERFDATA_ERROR_ARGUMENT;
    struct pd_branch branch = pd_branch_at(&sample->decoded, index);
    *from = branch.from;
    *to = branch.to;
    *flags = branch.flags;
    return PERFDATA_OK;
}

const void *perfdata_sample_raw(const perfdata_sample *sample, size_t *size)
{
    *size = sample->decoded.raw_size;
    return sample->decoded.raw;
}

const void *perfdata_sample_stack(const perfdata_sample *sample, size_t *size)
{
    const struct pd_sample *s = &sample->decoded;
    *size = (size_t)PD_MIN(s->stack_size, s->stack_dynamic_size);
    return s->stack_size ? s->stack : NULL;
}

perfdata_status perfdata_sample_register(const perfdata_sample *sample, int at_ip, uint32_t number,
                                         uint64_t *value)
{
    const struct pd_sample *s = &sample->decoded;
    const uint8_t *values = at_ip ? s->intr_regs : s->user_regs;
    uint64_t mask = at_ip ? s->event->plan.regs_intr : s->event->plan.regs_user;
    if (!values || number > 63 || !(mask >> number & 1))
        return PERFDATA_ERROR_NO_DATA;
    unsigned before = (unsigned)__builtin_popcountll(mask & ((UINT64_C(1) << number) - 1));
    *value = pd_load64(values + 8u * before, s->swap);
    return PERFDATA_OK;
}

/* ---- what a trace tells ---- */

/* The public bits are the layer's own. */
#define SAME(PUBLIC, OWN) _Static_assert((int)PERFDATA_TRACE_##PUBLIC == (int)PD_IP_##OWN, #PUBLIC)
SAME(BRANCH, BRANCH);
SAME(SYSCALL, SYSCALLRET);
SAME(ABORT, TX_ABORT);
SAME(END, TRACE_END);
SAME(TRANSACTION, IN_TX);
SAME(VM_EXIT, VMEXIT);
SAME(INTR_TOGGLE, INTR_TOGGLE);

perfdata_status perfdata_record_trace_facts(const perfdata_record *record,
                                            struct perfdata_trace_facts *out)
{
    const struct pd_synth_facts *facts = record->delivered->facts;
    if (!facts || facts->recorded)
        return PERFDATA_ERROR_NO_DATA;
    struct perfdata_trace_facts result = { .flags = facts->flags,
                                           .insn_length = facts->insn_length,
                                           .insn_ip = facts->insn_ip,
                                           .to = facts->to,
                                           .insn_count = facts->insn_count,
                                           .cycle_count = facts->cycle_count,
                                           .machine_pid = facts->machine_pid,
                                           .vcpu = facts->vcpu };
    pd_give_result(out, &result, sizeof result);
    return PERFDATA_OK;
}

/* ---- as of the record ---- */

perfdata_status pd_api_resolves(const perfdata_record *record)
{
    if (!record->cursor->resolver)
        return pd_fail(&record->cursor->recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "the cursor was opened without PERFDATA_CURSOR_RESOLVE");
    return record->delivered->thread ? PERFDATA_OK : PERFDATA_ERROR_NO_DATA;
}

perfdata_status perfdata_record_thread(const perfdata_record *record, struct perfdata_thread *out)
{
    perfdata_status status = pd_api_resolves(record);
    if (status < 0)
        return status;
    const struct pd_thread *thread = record->delivered->thread;
    uint64_t number = record->delivered->number;
    const struct pd_comm *comm = pd_thread_comm(thread, number);
    struct perfdata_thread result = { .tid = thread->tid,
                                      .pid = pd_thread_pid(thread, number),
                                      .ppid = pd_thread_ppid(thread, number),
                                      .comm = comm ? pd_comm_text(comm, number) : "" };
    pd_give_result(out, &result, sizeof result);
    return PERFDATA_OK;
}

void pd_api_put_location(const perfdata_record *record, const struct pd_location *location,
                         uint64_t ip, struct perfdata_location *out)
{
    const struct pd_dso *dso = location->dso;
    struct perfdata_location result = {
        .ip = ip, .address = location->addr, .cpumode = location->cpumode, .level = location->level
    };
    if (dso) {
        result.object = pd_symbols_long_name(record->cursor->session.symbols, dso);
        result.build_id = dso->build_id_size ? dso->build_id : NULL;
        result.build_id_size = dso->build_id_size;
    }
    if (location->map) {
        result.map_start = location->map->start;
        result.map_end = location->map->end;
        result.map_offset = location->map->pgoff;
    }
    if (location->sym) {
        result.symbol = location->sym->name;
        result.symbol_start = location->sym->start;
        result.symbol_end = location->sym->end;
        result.binding = location->sym->binding;
    }
    pd_give_result(out, &result, sizeof result);
}

perfdata_status perfdata_record_resolve(const perfdata_record *record, uint8_t cpumode, uint64_t ip,
                                        struct perfdata_location *out)
{
    perfdata_status status = pd_api_resolves(record);
    if (status < 0)
        return status;
    const struct pd_location *location = pd_resolve(record->cursor->resolver,
                                                    record->delivered->thread,
                                                    record->delivered->number, cpumode, ip);
    if (!location)
        return pd_no_memory(&record->cursor->recording->context, NULL);
    pd_api_put_location(record, location, location->ip, out);
    return PERFDATA_OK;
}

/* The frames of a decoded sample -> cursor->frames; PERFDATA_ERROR_NO_DATA: perf would discard its
 * chain. */
static perfdata_status find_frames(const perfdata_record *record, const struct pd_sample *sample,
                                   size_t capacity, size_t *count)
{
    struct perfdata_cursor *cursor = record->cursor;
    bool invalid = false;
    if (!sample->stack_dynamic_size)
        capacity = PD_MIN(capacity, (size_t)sample->callchain_count + sample->branch_count + 2);
    if (!pd_vec_reserve(&cursor->frames, capacity + 1))
        return pd_no_memory(&cursor->recording->context, NULL);
    struct pd_frame *frames = cursor->frames.data;
    memset(frames, 0, (capacity + 1) * sizeof *frames);
    *count = pd_resolve_chain(cursor->resolver, sample, record->delivered->thread,
                              record->delivered->number, (unsigned)capacity, frames, capacity,
                              &invalid);
    return invalid ? PERFDATA_ERROR_NO_DATA : PERFDATA_OK;
}

/* The first `count` of cursor->frames. */
static void put_frames(const perfdata_record *record, size_t count, struct perfdata_location *out)
{
    const struct pd_frame *frames = record->cursor->frames.data;
    size_t stride = out->struct_size; /* the caller's idea of the structure */
    for (size_t i = 0; i < count; i++) {
        struct perfdata_location *to = (struct perfdata_location *)(void *)((char *)out +
                                                                            i * stride);
        to->struct_size = stride;
        pd_api_put_location(record, frames[i].location, frames[i].ip, to);
    }
}

perfdata_status perfdata_record_frames(const perfdata_record *record, struct perfdata_location *out,
                                       size_t capacity, size_t *count)
{
    struct pd_sample sample;
    memset(&sample, 0, sizeof sample);
    *count = 0;
    perfdata_status status = pd_api_resolves(record);
    if (status == PERFDATA_OK)
        status = pd_api_decode(record, &sample);
    if (status < 0 || !capacity)
        return status;
    status = find_frames(record, &sample, capacity, count);
    put_frames(record, *count, out);
    return status;
}

/* ---- samples, each in one call ---- */

/* The sample's own address in the place of a chain. */
static perfdata_status find_own_frame(const perfdata_record *record, const struct pd_sample *sample)
{
    struct perfdata_cursor *cursor = record->cursor;
    struct pd_location *own = pd_resolve(cursor->resolver, record->delivered->thread,
                                         record->delivered->number, sample->cpumode, sample->ip);
    if (!own || !pd_vec_reserve(&cursor->frames, 1))
        return pd_no_memory(&cursor->recording->context, NULL);
    cursor->frames.data[0] = (struct pd_frame){ .ip = own->ip, .location = own };
    return PERFDATA_OK;
}

static perfdata_status fill_frames(const perfdata_record *record, const struct pd_sample *sample,
                                   size_t capacity, struct perfdata_sample_row *row)
{
    size_t count = 0;
    bool chained = sample->callchain_count || sample->stack_dynamic_size;
    perfdata_status status = chained ? find_frames(record, sample, capacity, &count)
                                     : PERFDATA_ERROR_NO_DATA;
    row->has_chain = status == PERFDATA_OK && count;
    row->frame_count = (uint32_t)count;
    if (row->has_chain || (status < 0 && status != PERFDATA_ERROR_NO_DATA))
        return status;
    row->frame_count = 1;
    return find_own_frame(record, sample);
}

perfdata_status pd_api_fill_row(struct perfdata_cursor *cursor, size_t capacity,
                                struct perfdata_sample_row *row)
{
    const perfdata_record *record = &cursor->record;
    const struct pd_delivered *delivered = record->delivered;
    const struct pd_sample *sample = &cursor->sample.decoded;
    perfdata_status status = pd_api_decode(record, &cursor->sample.decoded);
    if (status == PERFDATA_ERROR_ARGUMENT)
        return status;
    row->damaged = status < 0;
    row->record = record;
    row->event = pd_public_event(delivered->event);
    row->cpumode = sample->cpumode;
    for (uint32_t i = 0; i < PERFDATA_SAMPLE_FIELDS; i++)
        if (perfdata_sample_value(&cursor->sample, i, &row->values[i]) == PERFDATA_OK)
            row->present |= 1u << i;
    if (!cursor->resolver || !delivered->thread)
        return PERFDATA_OK;
    const struct pd_comm *comm = pd_thread_comm(delivered->thread, delivered->number);
    row->comm = comm ? pd_comm_text(comm, delivered->number) : "";
    return capacity ? fill_frames(record, sample, capacity, row) : PERFDATA_OK;
}

perfdata_status perfdata_record_sample_row(const perfdata_record *record,
                                           struct perfdata_sample_row *out,
                                           struct perfdata_location *frames, size_t capacity)
{
    struct perfdata_sample_row row = { 0 };
    perfdata_status status = pd_api_fill_row(record->cursor, frames ? capacity : 0, &row);
    if (status < 0)
        return status;
    if (frames && row.frame_count)
        put_frames(record, row.frame_count, frames);
    pd_give_result(out, &row, sizeof row);
    return status;
}

int perfdata_cursor_next_sample(perfdata_cursor *cursor, struct perfdata_sample_row *out,
                                struct perfdata_location *frames, size_t capacity)
{
    const perfdata_record *record;
    int got;
    while ((got = perfdata_cursor_next(cursor, &record)) > 0) {
        if (!pd_api_is_sample(record->delivered))
            continue;
        perfdata_status status = perfdata_record_sample_row(record, out, frames, capacity);
        return status < 0 ? status : 1;
    }
    return got;
}

/* ---- in perf's words ---- */

static void put_registers(const struct perfdata_cursor *cursor, const struct pd_sample *sample,
                          bool at_ip, struct pd_text *text)
{
    const struct pd_plan *plan = &sample->event->plan;
    const uint8_t *values = at_ip ? sample->intr_regs : sample->user_regs;
    if (values)
        pd_registers_text(cursor->recording, at_ip ? sample->intr_abi : sample->user_abi,
                          at_ip ? plan->regs_intr : plan->regs_user, values, sample->swap, text);
}

perfdata_status perfdata_record_sample_text(const perfdata_record *record, uint32_t which,
                                            const char **text)
{
    struct perfdata_cursor *cursor = record->cursor;
    const struct pd_synth_facts *facts = record->delivered->facts;
    struct pd_sample sample;
    memset(&sample, 0, sizeof sample);
    *text = NULL;
    perfdata_status status = pd_api_decode(record, &sample);
    if (status == PERFDATA_ERROR_ARGUMENT)
        return status;
    cursor->text.length = 0;
    switch (which) {
    case PERFDATA_SAMPLE_TEXT_DATA_SRC:
        /* a sample made of a trace shows nothing here, not "not available" */
        pd_data_source_text(
            facts && !(record->delivered->event->attr.sample_type & PD_SAMPLE_DATA_SRC)
                ? 0
                : sample.data_src,
            cursor->recording->like_perf, &cursor->text);
        break;
    case PERFDATA_SAMPLE_TEXT_TRACE_FLAGS:
        pd_trace_flags_text(facts && !facts->recorded ? facts->flags : 0, &cursor->text);
        break;
    case PERFDATA_SAMPLE_TEXT_USER_REGS:
    case PERFDATA_SAMPLE_TEXT_INTR_REGS:
        put_registers(cursor, &sample, which == PERFDATA_SAMPLE_TEXT_INTR_REGS, &cursor->text);
        break;
    default: return PERFDATA_ERROR_ARGUMENT;
    }
    return pd_api_give_text(cursor, text);
}
