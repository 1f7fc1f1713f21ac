/* SPDX-License-Identifier: MIT */
/* inject --guest-data: what a guest recorded of its tasks and maps, among the records of its host.
 * Each of the guest's events becomes one of the host's recording; ID_INDEX says whose they are. */
#include "container/container.h"
#include "format/structs.h"
#include "itrace/intel_pt/time.h"
#include "itrace/aux/tsc.h"
#include "rewrite/describe.h"
#include "rewrite/inject.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NO_CPU = -1, RECORD_LIMIT = UINT16_MAX & ~7, TRAILER = 64, VCPU_LIMIT = 8192 };

/* An event's id in the guest, and what stands for it in the output. */
struct new_id {
    uint64_t id;
    uint32_t vcpu;
};

/* A thread of the hypervisor that is a CPU of the guest. */
struct vcpu {
    bool known;
    uint32_t tid, cpu; /* the host's CPU that it ran on last */
};

struct merged {
    struct pd_copy copy;
    struct pd_recording *host, *guest;
    uint32_t pid; /* of the hypervisor */
    uint64_t offset;
    double scale;
    struct pd_tsc_conversion host_time, guest_time;
    bool host_converts, guest_converts, begun;
    PD_VEC(struct new_id) ids;
    struct pd_map64 by_id; /* from the guest's id to its place in `ids` */
    PD_VEC(struct vcpu) vcpus;
    size_t attr_count;
    struct pd_attr *attrs;    /* of the guest's events, as they are written */
    struct pd_order *order;   /* of the guest */
    struct pd_delivered next; /* the guest's next record */
    uint64_t next_time;       /* its time by the host's clock */
    bool ended;
    uint8_t scratch[UINT16_MAX + 1];
};

static perfdata_status fail(struct merged *merged, perfdata_status status, const char *text)
{
    return pd_fail(&merged->host->context, status, -1, "%s", text);
}

/* ---- what both say of time and CPUs ---- */

/* Gives the guest's ids the CPU that ID_INDEX tells. */
static perfdata_status take_index(struct merged *merged, const struct pd_delivered *record,
                                  struct pd_map64 *cpus)
{
    struct pd_record_id_index body;
    struct pd_arena arena = { 0 };
    bool stored = true;
    (void)pd_record_decode(NULL, record->data, record->size, merged->guest->swap, &arena, &body,
                           sizeof body);
    for (uint32_t i = 0; i < body.entries_count && stored; i++)
        if (body.entries[i].cpu >= 0 && body.entries[i].cpu < VCPU_LIMIT)
            stored = pd_map64_set(cpus, body.entries[i].id, (uint32_t)body.entries[i].cpu);
    pd_arena_free(&arena);
    return stored ? PERFDATA_OK : fail(merged, PERFDATA_ERROR_MEMORY, "out of memory");
}

static bool is_vcpu(const char *comm, uint32_t length, uint32_t *number)
{
    char name[24] = "", rest;
    memcpy(name, comm, PD_MIN(length, (uint32_t)sizeof name - 1));
    return sscanf(name, "CPU %u/KVM%c", number, &rest) == 1 && strstr(name, "/KVM") &&
           *number < VCPU_LIMIT;
}

/* Finds the threads of the hypervisor that are the guest's CPUs: each has the name of one. */
static perfdata_status take_comm(struct merged *merged, const struct pd_delivered *record)
{
    struct pd_record_comm comm;
    uint32_t number;
    if (pd_record_decode(record->event, record->data, record->size, merged->host->swap, NULL, &comm,
                         sizeof comm) < 0 ||
        comm.pid != merged->pid || !is_vcpu(comm.comm.text, comm.comm.length, &number))
        return PERFDATA_OK;
    while (merged->vcpus.count <= number)
        if (!pd_vec_push(&merged->vcpus, (struct vcpu){ 0 }))
            return fail(merged, PERFDATA_ERROR_MEMORY, "out of memory");
    merged->vcpus.data[number] = (struct vcpu){ .known = true, .tid = comm.tid };
    return PERFDATA_OK;
}

typedef perfdata_status (*each_record)(struct merged *merged, const struct pd_delivered *record,
                                       void *data);

static perfdata_status for_each(struct merged *merged, struct pd_recording *recording,
                                each_record each, void *data)
{
    struct pd_order *order;
    struct pd_delivered record;
    int got = pd_order_open(recording, PD_ORDER_FILE, &order);
    if (got < 0)
        return got;
    while ((got = pd_order_next(order, &record)) > 0)
        if ((got = each(merged, &record, data)) < 0)
            break;
    pd_order_close(order);
    return got;
}

static perfdata_status look_at_guest(struct merged *merged, const struct pd_delivered *record,
                                     void *cpus)
{
    if (record->type == PD_RECORD_TIME_CONV)
        merged->guest_converts |= pd_tsc_conversion_read(record->data, record->size,
                                                         merged->guest->swap, &merged->guest_time);
    return record->type == PD_RECORD_ID_INDEX ? take_index(merged, record, cpus) : PERFDATA_OK;
}

/* perf looks for the guest's CPUs when the host's initial state is complete. */
static perfdata_status look_at_host(struct merged *merged, const struct pd_delivered *record,
                                    void *complete)
{
    bool *done = complete;
    if (record->type == PD_RECORD_TIME_CONV)
        merged->host_converts |= pd_tsc_conversion_read(record->data, record->size,
                                                        merged->host->swap, &merged->host_time);
    *done |= record->type == PD_RECORD_FINISHED_INIT;
    return record->type == PD_RECORD_COMM && !*done ? take_comm(merged, record) : PERFDATA_OK;
}

/* ---- the head ---- */

static uint64_t highest_id(const struct pd_recording *recording)
{
    uint64_t highest = 0;
    for (size_t i = 0; i < recording->event_count; i++)
        for (size_t k = 0; k < recording->events[i]->id_count; k++)
            highest = PD_MAX(highest, recording->events[i]->ids[k]);
    return highest;
}

static struct pd_attr attr_of_guest(const struct pd_event *event)
{
    struct pd_attr attr = event->attr;
    const uint64_t host = UINT64_C(1) << PD_ATTR_EXCLUDE_HOST, guest = UINT64_C(1)
                                                                       << PD_ATTR_EXCLUDE_GUEST;
    attr.sample_type |= PD_SAMPLE_IDENTIFIER;
    attr.flags = (attr.flags | host) & ~guest;
    return attr;
}

/* New ids for those that are of a CPU of the guest, and the event that has them. */
static perfdata_status add_event(struct merged *merged, size_t index, const struct pd_map64 *cpus,
                                 uint64_t *highest)
{
    const struct pd_event *event = merged->guest->events[index];
    PD_VEC(uint64_t) ids = { 0 };
    bool stored = true;
    for (size_t i = 0; i < event->id_count && stored; i++) {
        uint32_t cpu = pd_map64_get(cpus, event->ids[i]);
        if (cpu == PD_MAP64_NONE)
            continue;
        struct new_id id = { ++*highest, cpu };
        stored = pd_map64_set(&merged->by_id, event->ids[i], (uint32_t)merged->ids.count) &&
                 pd_vec_push(&merged->ids, id) && pd_vec_push(&ids, id.id);
    }
    merged->attrs[index] = attr_of_guest(event);
    perfdata_status status = stored
                                 ? pd_writer_add_event(merged->copy.writer, &merged->attrs[index],
                                                       ids.data, ids.count)
                                 : fail(merged, PERFDATA_ERROR_MEMORY, "out of memory");
    pd_vec_free(&ids);
    return status;
}

static perfdata_status add_events(struct merged *merged, const struct pd_map64 *cpus)
{
    size_t count = merged->guest->event_count;
    uint64_t highest = highest_id(merged->host);
    perfdata_status status = PERFDATA_OK;
    merged->attrs = calloc(count + 1, sizeof *merged->attrs);
    merged->attr_count = count;
    if (!merged->attrs)
        return fail(merged, PERFDATA_ERROR_MEMORY, "out of memory");
    for (size_t i = 0; i < count && status == PERFDATA_OK; i++)
        status = add_event(merged, i, cpus, &highest);
    if (status == PERFDATA_OK && !merged->ids.count)
        status = fail(merged, PERFDATA_ERROR_NO_DATA,
                      "the guest's recording names no CPU of its events (ID_INDEX)");
    return status;
}

/* Events have names where the host's have. */
static perfdata_status describe(struct merged *merged)
{
    const struct pd_recording *host = merged->host, *guest = merged->guest;
    struct pd_text out = { 0 };
    if (!host->feature_table.bytes[PD_FEATURE_EVENT_DESC].data)
        return PERFDATA_OK;
    pd_describe_begin(&out, host->event_count + guest->event_count, host->swap);
    for (size_t i = 0; i < host->event_count; i++)
        pd_describe_event(&out, host->events[i]->name, &host->events[i]->attr, host->events[i]->ids,
                          host->events[i]->id_count, host->swap);
    for (size_t i = 0; i < guest->event_count; i++)
        pd_describe_event(&out, guest->events[i]->name, &merged->attrs[i], NULL, 0, host->swap);
    return pd_copy_give_feature(&merged->copy, PD_FEATURE_EVENT_DESC, &out);
}

static uint16_t guest_misc(uint16_t misc)
{
    bool user = (misc & PD_MISC_CPUMODE_MASK) == PD_CPUMODE_USER;
    misc &= (uint16_t)~PD_MISC_CPUMODE_MASK;
    return (uint16_t)(misc | (user ? PD_CPUMODE_GUEST_USER : PD_CPUMODE_GUEST_KERNEL));
}

/* Adds the guest's build-ids behind the host's: an entry is {type, misc, size, pid, ...}. */
static perfdata_status add_build_ids(struct merged *merged)
{
    enum { PID = 8, LEAST = 36 };
    const struct pd_feature_bytes *host = &merged->host->feature_table.bytes[PD_FEATURE_BUILD_ID];
    const struct pd_feature_bytes *guest = &merged->guest->feature_table.bytes[PD_FEATURE_BUILD_ID];
    bool swap = merged->host->swap;
    if (!guest->data || !guest->size)
        return PERFDATA_OK;
    uint8_t *table = malloc(host->size + guest->size);
    if (!table)
        return fail(merged, PERFDATA_ERROR_MEMORY, "out of memory");
    if (host->size)
        memcpy(table, host->data, host->size);
    uint8_t *at = memcpy(table + host->size, guest->data, guest->size);
    size_t left = guest->size;
    while (left >= LEAST) {
        size_t size = pd_load16(at + 6, swap);
        if (size < LEAST || size > left)
            break;
        pd_store16(at + 4, guest_misc(pd_load16(at + 4, swap)), swap);
        pd_store32(at + PID, merged->pid, swap);
        at += size;
        left -= size;
    }
    perfdata_status status = pd_copy_set_feature(&merged->copy, PD_FEATURE_BUILD_ID, table,
                                                 (size_t)(at - table));
    free(table);
    return status;
}

/* ---- the guest's records ---- */

static bool is_wanted(const struct pd_delivered *record, bool swap)
{
    enum { KIND = 20, OUT_OF_LINE = 2 };
    switch (record->type) {
    case PD_RECORD_MMAP:
    case PD_RECORD_MMAP2:
    case PD_RECORD_COMM:
    case PD_RECORD_FORK:
    case PD_RECORD_EXIT:
    case PD_RECORD_LOST:
    case PD_RECORD_SWITCH:
    case PD_RECORD_SWITCH_CPU_WIDE:
    case PD_RECORD_TEXT_POKE: return true;
    case PD_RECORD_KSYMBOL:
        return record->size >= KIND + 2 && pd_load16(record->data + KIND, swap) == OUT_OF_LINE;
    default: return false;
    }
}

static uint64_t time_of_host(const struct merged *merged, uint64_t time)
{
    if (time == PD_NO_TIME || !merged->host_converts || !merged->guest_converts)
        return time == PD_NO_TIME ? 0 : time;
    uint64_t tsc = pd_time_to_tsc(&merged->guest_time, time) - merged->offset;
    if (merged->scale != 1.0)
        tsc = pd_pt_time_round((double)tsc / merged->scale);
    return pd_tsc_to_time(&merged->host_time, tsc);
}

static perfdata_status fetch(struct merged *merged)
{
    int got;
    while ((got = pd_order_next(merged->order, &merged->next)) > 0)
        if (is_wanted(&merged->next, merged->guest->swap))
            break;
    merged->ended = got <= 0;
    merged->next_time = time_of_host(merged, merged->next.time);
    return got < 0 ? got : PERFDATA_OK;
}

/* The identity that the record has in the host's recording; its size. */
static size_t put_identity(const struct merged *merged, const struct pd_attr *attr,
                           const struct pd_identity *from, const struct new_id *id, uint8_t *to)
{
    const struct vcpu *vcpu = id->vcpu < merged->vcpus.count ? &merged->vcpus.data[id->vcpu] : NULL;
    uint64_t type = attr->sample_type;
    bool swap = merged->host->swap;
    uint8_t *at = to;
    if (type & PD_SAMPLE_TID) {
        pd_store32(at, from->pid, swap);
        pd_store32(at + 4, from->tid, swap);
        at += 8;
    }
    const struct {
        uint64_t bit, value;
    } words[] = {
        { PD_SAMPLE_TIME, merged->next_time },
        { PD_SAMPLE_ID, id->id },
        { PD_SAMPLE_STREAM_ID, from->stream_id },
    };
    for (size_t i = 0; i < PD_LENGTH(words); i++)
        if (type & words[i].bit) {
            pd_store64(at, words[i].value, swap);
            at += 8;
        }
    if (type & PD_SAMPLE_CPU) {
        pd_store32(at, vcpu && from->time ? vcpu->cpu : 0, swap);
        pd_store32(at + 4, 0, swap);
        at += 8;
    }
    pd_store64(at, id->id, swap); /* IDENTIFIER, last */
    return (size_t)(at + 8 - to);
}

static perfdata_status put_guest_record(struct merged *merged)
{
    const struct pd_delivered *record = &merged->next;
    const struct pd_event *event = record->event;
    struct pd_identity identity;
    pd_record_identity(event, record->data, record->size, record->type, &identity);
    uint32_t at = pd_map64_get(&merged->by_id, identity.id);
    const struct new_id *id = &merged->ids.data[at == PD_MAP64_NONE ? 0 : at];
    bool trailer = event && event->index < merged->attr_count &&
                   pd_attr_flag(&event->attr, PD_ATTR_SAMPLE_ID_ALL);
    size_t old = trailer ? event->plan.trailer_size : 0;
    if (record->size < 8 + old || record->size + TRAILER > RECORD_LIMIT)
        return PERFDATA_OK;
    size_t size = record->size - old;
    memcpy(merged->scratch, record->data, size);
    if (trailer) /* without one the record says nothing of whose it is */
        size += put_identity(merged, &merged->attrs[event->index], &identity, id,
                             merged->scratch + size);
    pd_store16(merged->scratch + 4, guest_misc(record->misc), merged->host->swap);
    pd_store16(merged->scratch + 6, (uint16_t)size, merged->host->swap);
    return pd_copy_record(&merged->copy, NULL, merged->scratch, (uint32_t)size);
}

static perfdata_status put_guest_until(struct merged *merged, uint64_t time)
{
    perfdata_status status = PERFDATA_OK;
    while (merged->begun && !merged->ended && merged->next_time <= time && status == PERFDATA_OK) {
        status = put_guest_record(merged);
        if (status == PERFDATA_OK)
            status = fetch(merged);
    }
    return status;
}

/* ID_INDEX: {id, idx, cpu, tid} of all, then {machine_pid, vcpu}. */
static perfdata_status put_index(struct merged *merged)
{
    enum { HEAD = 16, ENTRY = 32, GUEST = 16, MOST = (RECORD_LIMIT - HEAD) / (ENTRY + GUEST) };
    bool swap = merged->host->swap;
    perfdata_status status = PERFDATA_OK;
    for (size_t first = 0; first < merged->ids.count && status == PERFDATA_OK; first += MOST) {
        size_t count = PD_MIN(merged->ids.count - first, (size_t)MOST);
        size_t size = HEAD + count * (ENTRY + GUEST);
        uint8_t *at = merged->scratch;
        pd_store32(at, PD_RECORD_ID_INDEX, swap);
        pd_store16(at + 4, 0, swap);
        pd_store16(at + 6, (uint16_t)size, swap);
        pd_store64(at + 8, count, swap);
        for (size_t i = 0; i < count; i++) {
            const struct new_id *id = &merged->ids.data[first + i];
            uint8_t *entry = at + HEAD + i * ENTRY, *guest = at + HEAD + count * ENTRY + i * GUEST;
            pd_store64(entry, id->id, swap);
            pd_store64(entry + 8, 0, swap);
            pd_store64(entry + 16, (uint64_t)(int64_t)NO_CPU, swap);
            pd_store64(entry + 24, merged->vcpus.data[id->vcpu].tid, swap);
            pd_store64(guest, merged->pid, swap);
            pd_store64(guest + 8, id->vcpu, swap);
        }
        status = pd_copy_record(&merged->copy, NULL, at, (uint32_t)size);
    }
    return status;
}

/* ---- the host's records ---- */

/* Keeps track of which of the host's CPUs a CPU of the guest runs on. */
static void follow_switch(struct merged *merged, const struct pd_delivered *record)
{
    struct pd_identity identity;
    bool is_switch = record->type == PD_RECORD_SWITCH || record->type == PD_RECORD_SWITCH_CPU_WIDE;
    if (!is_switch || record->misc & PD_MISC_SWITCH_OUT)
        return;
    pd_record_identity(record->event, record->data, record->size, record->type, &identity);
    for (size_t i = 0; identity.pid == merged->pid && i < merged->vcpus.count; i++)
        if (merged->vcpus.data[i].known && merged->vcpus.data[i].tid == identity.tid)
            merged->vcpus.data[i].cpu = identity.cpu;
}

static bool is_early(const struct pd_delivered *record)
{
    return record->type >= PD_RECORD_KERNEL_END || record->time == PD_NO_TIME;
}

static perfdata_status begin_guest(struct merged *merged)
{
    if (merged->begun)
        return PERFDATA_OK;
    merged->begun = true;
    perfdata_status status = put_index(merged);
    if (status == PERFDATA_OK)
        status = fetch(merged);
    return status == PERFDATA_OK ? put_guest_until(merged, 0) : status;
}

/* The host's records that are ordered by time. */
struct timed {
    struct pd_order *order;
    struct pd_delivered next;
    bool ended;
};

static perfdata_status next_timed(struct timed *timed)
{
    int got;
    while ((got = pd_order_next(timed->order, &timed->next)) > 0)
        if (!is_early(&timed->next))
            break;
    timed->ended = got <= 0;
    return got < 0 ? got : PERFDATA_OK;
}

static perfdata_status put_timed_until(struct merged *merged, struct timed *timed, uint64_t time)
{
    perfdata_status status = PERFDATA_OK;
    while (!timed->ended && timed->next.time <= time && status == PERFDATA_OK) {
        follow_switch(merged, &timed->next);
        if (is_wanted(&timed->next, merged->host->swap))
            status = put_guest_until(merged, timed->next.time);
        if (status == PERFDATA_OK)
            status = pd_copy_delivered(&merged->copy, &timed->next, NULL);
        if (status == PERFDATA_OK)
            status = next_timed(timed);
    }
    return status;
}

/* In perf's order: records that it reads without a time are written at once; the others wait for
 * the end of a round, and then go out up to the latest time of the round before. */
static perfdata_status put_all(struct merged *merged, struct pd_order *file, struct timed *timed)
{
    struct pd_delivered record;
    uint64_t latest = 0, limit = 0;
    int got;
    while ((got = pd_order_next(file, &record)) > 0) {
        if (!is_early(&record)) {
            latest = PD_MAX(latest, record.time);
            continue;
        }
        if (record.type == PD_RECORD_FINISHED_INIT)
            got = begin_guest(merged);
        if (record.type == PD_RECORD_FINISHED_ROUND) {
            got = put_timed_until(merged, timed, limit);
            if (got == PERFDATA_OK)
                got = put_guest_until(merged, limit);
            limit = latest;
        }
        if (got < 0 || (got = pd_copy_delivered(&merged->copy, &record, NULL)) < 0)
            return got;
    }
    if (got == PERFDATA_OK)
        got = begin_guest(merged);
    if (got == PERFDATA_OK)
        got = put_timed_until(merged, timed, UINT64_MAX);
    return got == PERFDATA_OK ? put_guest_until(merged, UINT64_MAX) : got;
}

static perfdata_status put_records(struct merged *merged)
{
    struct timed timed = { 0 };
    struct pd_order *file = NULL;
    perfdata_status status = pd_order_open(merged->guest, PD_ORDER_DELIVERY, &merged->order);
    if (status == PERFDATA_OK)
        status = pd_order_open(merged->host, PD_ORDER_DELIVERY, &timed.order);
    if (status == PERFDATA_OK)
        status = pd_order_open(merged->host, PD_ORDER_FILE, &file);
    if (status == PERFDATA_OK)
        status = next_timed(&timed);
    if (status == PERFDATA_OK)
        status = put_all(merged, file, &timed);
    if (file)
        pd_order_close(file);
    if (timed.order)
        pd_order_close(timed.order);
    if (merged->order)
        pd_order_close(merged->order);
    return status;
}

/* ---- a run ---- */

static perfdata_status look(struct merged *merged, struct pd_map64 *cpus)
{
    bool complete = false;
    perfdata_status status = for_each(merged, merged->guest, look_at_guest, cpus);
    if (status == PERFDATA_OK)
        status = for_each(merged, merged->host, look_at_host, &complete);
    if (status == PERFDATA_OK && !merged->vcpus.count)
        status = pd_fail(&merged->host->context, PERFDATA_ERROR_NO_DATA, -1,
                         "No VCPU threads found for pid %u", merged->pid);
    return status;
}

static perfdata_status check_vcpus(struct merged *merged)
{
    for (size_t i = 0; i < merged->ids.count; i++) {
        uint32_t vcpu = merged->ids.data[i].vcpu;
        if (vcpu >= merged->vcpus.count || !merged->vcpus.data[vcpu].known)
            return pd_fail(&merged->host->context, PERFDATA_ERROR_NO_DATA, -1,
                           "no thread of pid %u is CPU %u of the guest", merged->pid, vcpu);
    }
    return PERFDATA_OK;
}

static perfdata_status check_inputs(struct merged *merged)
{
    if (pd_source_is_stream(merged->host->source) || pd_source_is_stream(merged->guest->source))
        return fail(merged, PERFDATA_ERROR_UNSUPPORTED,
                    "a guest's recording can be put into a file only, and comes from one");
    if (merged->host->swap != merged->guest->swap)
        return fail(merged, PERFDATA_ERROR_UNSUPPORTED,
                    "the guest's recording has another byte order");
    return PERFDATA_OK;
}

perfdata_status pd_inject_guest(struct pd_recording *recording,
                                const struct perfdata_output *output,
                                const struct pd_guest_input *input, unsigned how)
{
    struct pd_map64 cpus = { 0 };
    struct merged *merged = calloc(1, sizeof *merged);
    if (!merged)
        return pd_no_memory(&recording->context, NULL);
    merged->host = recording;
    merged->guest = input->recording;
    merged->pid = input->pid;
    merged->offset = input->offset;
    merged->scale = input->scale;
    perfdata_status status = check_inputs(merged);
    if (status == PERFDATA_OK)
        status = look(merged, &cpus);
    if (status == PERFDATA_OK) {
        status = pd_copy_open(recording, output, how | PD_COPY_REORDER | PD_COPY_ROUNDS,
                              &merged->copy);
        if (status == PERFDATA_OK && merged->copy.convert)
            status = fail(merged, PERFDATA_ERROR_UNSUPPORTED,
                          "guest data and another byte order need two runs");
        if (status == PERFDATA_OK)
            status = add_events(merged, &cpus);
        if (status == PERFDATA_OK)
            status = check_vcpus(merged);
        if (status == PERFDATA_OK)
            status = describe(merged);
        if (status == PERFDATA_OK)
            status = add_build_ids(merged);
        if (status == PERFDATA_OK)
            status = pd_copy_begin(&merged->copy);
        if (status == PERFDATA_OK)
            status = put_records(merged);
        status = pd_copy_close(&merged->copy, status);
    }
    pd_map64_free(&cpus);
    pd_map64_free(&merged->by_id);
    pd_vec_free(&merged->ids);
    pd_vec_free(&merged->vcpus);
    free(merged->attrs);
    free(merged);
    return status;
}
