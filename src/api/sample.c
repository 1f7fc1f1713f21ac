/* SPDX-License-Identifier: MIT */
/* <perfdata/records.h>: samples decoded and resolved. */
#include "api/cursor.h"
#include <stdlib.h>

perfdata_status pd_api_decode(const perfdata_record *record, struct pd_sample *out)
{
    const struct pd_delivered *delivered = record->delivered;
    if (delivered->type != PD_RECORD_SAMPLE || !delivered->event)
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

static perfdata_status check_resolving(const perfdata_record *record)
{
    if (!record->cursor->resolver)
        return pd_fail(&record->cursor->recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "the cursor was opened without PERFDATA_CURSOR_RESOLVE");
    return record->delivered->thread ? PERFDATA_OK : PERFDATA_ERROR_NO_DATA;
}

perfdata_status perfdata_record_thread(const perfdata_record *record, struct perfdata_thread *out)
{
    perfdata_status status = check_resolving(record);
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

static void put_location(const perfdata_record *record, const struct pd_location *location,
                         struct perfdata_location *out)
{
    const struct pd_dso *dso = location->dso;
    struct perfdata_location result = { .ip = location->ip,
                                        .address = location->addr,
                                        .cpumode = location->cpumode,
                                        .level = location->level };
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
    }
    pd_give_result(out, &result, sizeof result);
}

perfdata_status perfdata_record_resolve(const perfdata_record *record, uint8_t cpumode, uint64_t ip,
                                        struct perfdata_location *out)
{
    perfdata_status status = check_resolving(record);
    if (status < 0)
        return status;
    const struct pd_location *location = pd_resolve(record->cursor->resolver,
                                                    record->delivered->thread,
                                                    record->delivered->number, cpumode, ip);
    if (!location)
        return pd_fail(&record->cursor->recording->context, PERFDATA_ERROR_MEMORY, -1,
                       "out of memory");
    put_location(record, location, out);
    return PERFDATA_OK;
}

perfdata_status perfdata_record_frames(const perfdata_record *record, struct perfdata_location *out,
                                       size_t capacity, size_t *count)
{
    struct pd_sample sample;
    bool invalid = false;
    memset(&sample, 0, sizeof sample);
    *count = 0;
    perfdata_status status = check_resolving(record);
    if (status == PERFDATA_OK)
        status = pd_api_decode(record, &sample);
    if (status < 0 || !capacity)
        return status;
    if (!sample.stack_dynamic_size)
        capacity = PD_MIN(capacity, (size_t)sample.callchain_count + sample.branch_count + 2);
    struct pd_frame *frames = calloc(capacity + 1, sizeof *frames);
    if (!frames)
        return pd_fail(&record->cursor->recording->context, PERFDATA_ERROR_MEMORY, -1,
                       "out of memory");
    *count = pd_resolve_chain(record->cursor->resolver, &sample, record->delivered->thread,
                              record->delivered->number, (unsigned)capacity, frames, capacity,
                              &invalid);
    size_t stride = out->struct_size; /* the caller's idea of the structure */
    for (size_t i = 0; i < *count; i++) {
        struct perfdata_location *to = (struct perfdata_location *)(void *)((char *)out +
                                                                            i * stride);
        to->struct_size = stride;
        put_location(record, frames[i].location, to);
        to->ip = frames[i].ip;
    }
    free(frames);
    return invalid ? PERFDATA_ERROR_NO_DATA : PERFDATA_OK;
}
