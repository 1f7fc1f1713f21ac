/* SPDX-License-Identifier: MIT */
/* Who runs where: what the records say of switches, and, where the kernel is traced, the exact
 * place in the trace where the switch happens. */
#include "itrace/synth/internal.h"
#include "format/offsets.h"

enum {
    BY_TRACEPOINT = 1, /* what record noted of switches (have_sched_switch) */
    BY_SWITCH = 2,
    BY_SWITCH_CPU_WIDE = 3,
    CPUS_MAX = 1 << 16
};

/* ---- the current thread of a CPU ---- */

uint32_t pd_synth_current_tid(const struct pd_synth *synth, uint32_t cpu)
{
    return cpu < synth->switches.current_tids.count ? synth->switches.current_tids.data[cpu]
                                                    : PD_NOBODY;
}

void pd_synth_set_current(struct pd_synth *synth, uint32_t cpu, uint32_t pid, uint32_t tid)
{
    if (cpu >= CPUS_MAX)
        return;
    while (synth->switches.current_tids.count <= cpu)
        if (!pd_vec_push(&synth->switches.current_tids, PD_NOBODY))
            return;
    synth->switches.current_tids.data[cpu] = tid;
    struct pd_thread *thread = pd_timeline_touch(synth->timeline, pid, tid, synth->number);
    if (thread)
        pd_map64_set(&synth->switches.thread_cpus, thread->index, cpu);
}

void pd_synth_set_thread(struct pd_synth_queue *queue)
{
    struct pd_synth *synth = queue->synth;
    struct pd_thread *thread = queue->runner.thread;
    uint32_t pid = queue->runner.pid, tid = queue->runner.tid;
    if (queue->recorded_tid == PD_NOBODY || synth->aux->info.pt.have_sched_switch) {
        queue->runner.tid = pd_synth_current_tid(synth, queue->runner.cpu);
        if (queue->runner.tid == PD_NOBODY)
            queue->runner.pid = PD_NOBODY;
        queue->runner.thread = NULL;
    }
    if (!queue->runner.thread && queue->runner.tid != PD_NOBODY)
        queue->runner.thread = pd_timeline_find(synth->timeline, queue->runner.tid);
    if (queue->runner.thread) {
        queue->runner.pid = pd_thread_pid(queue->runner.thread, synth->number);
        if (queue->recorded_cpu == PD_NOBODY)
            queue->runner.cpu = pd_map64_get(&synth->switches.thread_cpus,
                                             queue->runner.thread->index);
    }
    queue->runner.idle = !queue->runner.pid && !queue->runner.tid;
    if (queue->runner.thread != thread || queue->runner.idle)
        queue->runner.stack = NULL;
    if (queue->runner.pid != pid || queue->runner.tid != tid || queue->runner.thread != thread)
        queue->runner.shown = NULL;
}

/* ---- where the kernel switches ---- */

struct main_map {
    const struct pd_map *map;
};

static int find_main(void *data, const struct pd_map *map)
{
    struct main_map *found = data;
    if (map->main_kernel && !found->map)
        found->map = map;
    return 0;
}

static bool traces_kernel(const struct pd_synth *synth)
{
    for (size_t i = 0; i < synth->recording->event_count; i++) {
        const struct pd_event *event = synth->recording->events[i];
        if (event->attr.type == synth->aux->info.pt.pmu_type &&
            !pd_attr_flag(&event->attr, PD_ATTR_EXCLUDE_KERNEL))
            return true;
    }
    return false;
}

static bool is_named(const struct pd_symbol *symbol, const char *name)
{
    return strlen(name) == symbol->name_length && !memcmp(symbol->name, name, symbol->name_length);
}

/* Addresses of the functions that tell of switches; perf's table says where its symbols are
 * mapped. */
static void find_functions(struct pd_synth *synth, const struct pd_symtab *table, uint64_t shift)
{
    const char *told = synth->aux->info.pt.have_sched_switch == BY_TRACEPOINT
                           ? "perf_trace_sched_switch"
                           : "__perf_event_task_sched_out";
    for (size_t i = 0; i < pd_symtab_count(table); i++) {
        const struct pd_symbol *symbol = pd_symtab_at(table, i);
        if (!synth->switches.switch_ip && symbol->binding == PD_SYMBOL_GLOBAL &&
            is_named(symbol, "__switch_to"))
            synth->switches.switch_ip = symbol->start + shift;
        if (!synth->switches.ptss_ip && is_named(symbol, told))
            synth->switches.ptss_ip = symbol->start + shift;
    }
    if (!synth->switches.switch_ip)
        synth->switches.ptss_ip = 0;
    else
        pd_synth_log(synth, "switch_ip: %llx ptss_ip: %llx\n",
                     (unsigned long long)synth->switches.switch_ip,
                     (unsigned long long)synth->switches.ptss_ip);
}

/* pd_synth_sync() has to see each branch to these addresses, and each end of tracing. */
static void watch_switches(struct pd_synth *synth)
{
    for (size_t i = 0; i < synth->queue_count; i++) {
        struct pd_synth_queue *queue = &synth->queues[i];
        queue->switches.sync = true;
        if (queue->decoder)
            pd_pt_watch_ips(queue->decoder, synth->switches.switch_ip, synth->switches.ptss_ip);
    }
}

perfdata_status pd_synth_find_switch(struct pd_synth *synth)
{
    const struct pd_pt_info *info = &synth->aux->info.pt;
    if (PD_LIKELY(synth->switches.known))
        return PERFDATA_OK;
    synth->switches.known = true;
    bool told = info->have_sched_switch == BY_TRACEPOINT ||
                info->have_sched_switch == BY_SWITCH_CPU_WIDE;
    if (!info->per_cpu_mmaps || !told || synth->plan.timeless || synth->aux->modes.sampling ||
        !traces_kernel(synth))
        return PERFDATA_OK;
    struct main_map main_map = { NULL };
    struct pd_thread *thread = pd_timeline_touch(synth->timeline, PD_NOBODY, PD_NOBODY,
                                                 synth->number);
    pd_timeline_each_kernel_map(synth->timeline, synth->number, find_main, &main_map);
    if (!main_map.map || !thread)
        return PERFDATA_OK;
    uint64_t ip = main_map.map->start;
    pd_symbols_show_front(synth->symbols, PD_CPUMODE_KERNEL, ip, synth->number);
    struct pd_resolver *resolver = pd_resolver_new(synth->symbols);
    const struct pd_location *location = resolver ? pd_resolve(resolver, thread, synth->number,
                                                               PD_CPUMODE_KERNEL, ip)
                                                  : NULL;
    /* Behind the look-up: that loads the table with the maps that hold now. */
    const struct pd_symtab *table = location ? pd_symbols_table(synth->symbols, main_map.map)
                                             : NULL;
    if (table)
        find_functions(synth, table, location->ip - location->addr);
    if (resolver)
        pd_resolver_free(resolver);
    if (synth->switches.switch_ip)
        watch_switches(synth);
    return PERFDATA_OK;
}

/* ---- both sides of a switch ---- */

void pd_synth_next_tid(struct pd_synth_queue *queue)
{
    if (queue->switches.next_tid == PD_NOBODY)
        return;
    pd_synth_log(queue->synth, "switch: cpu %d tid %d\n", (int32_t)queue->runner.cpu,
                 (int32_t)queue->switches.next_tid);
    pd_synth_set_current(queue->synth, queue->runner.cpu, PD_NOBODY, queue->switches.next_tid);
    pd_synth_set_thread(queue);
    pd_synth_show_code(queue);
    queue->switches.next_tid = PD_NOBODY;
}

bool pd_synth_sync(struct pd_synth_queue *queue)
{
    struct pd_synth *synth = queue->synth;
    const struct pd_pt_state *state = queue->step.state;
    enum pd_switch_state *now = &queue->switches.state;
    bool here = state->to_ip == synth->switches.switch_ip &&
                (queue->step.flags & PD_IP_BRANCH &&
                 !(queue->step.flags &
                   (PD_IP_CONDITIONAL | PD_IP_ASYNC | PD_IP_INTERRUPT | PD_IP_TX_ABORT)));
    if (here) {
        if (*now == PD_SWITCH_TRACING || *now == PD_SWITCH_EXPECTING_EVENT) {
            *now = PD_SWITCH_EXPECTING_EVENT;
            return false;
        }
        pd_synth_next_tid(queue);
        *now = PD_SWITCH_TRACING;
    } else if (!state->to_ip) {
        *now = PD_SWITCH_NOT_TRACING;
    } else if (*now == PD_SWITCH_NOT_TRACING) {
        *now = PD_SWITCH_UNKNOWN;
    } else if (*now == PD_SWITCH_UNKNOWN && state->to_ip == synth->switches.ptss_ip &&
               queue->step.flags & PD_IP_CALL) {
        *now = PD_SWITCH_TRACING;
    }
    return true;
}

static struct pd_synth_queue *queue_of_cpu(struct pd_synth *synth, uint32_t cpu)
{
    if (cpu == PD_NOBODY)
        return NULL;
    for (size_t i = 0; i < synth->queue_count; i++)
        if (synth->queues[i].decoder && synth->queues[i].runner.cpu == cpu)
            return &synth->queues[i];
    return NULL;
}

/* True: the switch holds at once. */
static bool switch_event(struct pd_synth *synth, uint32_t cpu, uint32_t tid, uint64_t time)
{
    struct pd_synth_queue *queue = synth->switches.switch_ip ? queue_of_cpu(synth, cpu) : NULL;
    if (!queue || !queue->switches.sync)
        return true;
    switch (queue->switches.state) {
    case PD_SWITCH_NOT_TRACING: break;
    case PD_SWITCH_UNKNOWN:
    case PD_SWITCH_TRACING:
        queue->switches.next_tid = tid;
        queue->switches.state = PD_SWITCH_EXPECTING_IP;
        return false;
    case PD_SWITCH_EXPECTING_EVENT:
        if (!queue->on_heap) {
            queue->time = pd_time_to_tsc(&synth->aux->info.pt.time, time);
            queue->on_heap = pd_synth_heap_add(synth, queue->number, queue->time);
        }
        queue->switches.state = PD_SWITCH_TRACING;
        break;
    case PD_SWITCH_EXPECTING_IP:
        pd_synth_log(synth, "ERROR: cpu %d expecting switch ip\n", (int32_t)cpu);
        break;
    }
    queue->switches.next_tid = PD_NOBODY;
    return true;
}

static void switch_in(struct pd_synth *synth, const struct pd_identity *who)
{
    struct pd_synth_queue *queue = synth->switches.switch_ip ? queue_of_cpu(synth, who->cpu) : NULL;
    if (queue && queue->switches.sync) {
        queue->switches.next_tid = PD_NOBODY;
        if (queue->switches.state == PD_SWITCH_EXPECTING_EVENT ||
            queue->switches.state == PD_SWITCH_EXPECTING_IP)
            queue->switches.state = PD_SWITCH_TRACING;
    }
    if (pd_synth_current_tid(synth, who->cpu) != who->tid)
        pd_synth_set_current(synth, who->cpu, who->pid, who->tid);
}

/* ---- records ---- */

static void take_switch(struct pd_synth *synth, const struct pd_delivered *record,
                        const struct pd_identity *who)
{
    bool out = record->misc & PD_MISC_SWITCH_OUT;
    bool swap = synth->recording->swap;
    uint32_t pid = who->pid, tid = who->tid;
    if (synth->aux->info.pt.have_sched_switch == BY_SWITCH_CPU_WIDE) {
        if (!out) {
            switch_in(synth, who);
            return;
        }
        if (record->type != PD_RECORD_SWITCH_CPU_WIDE || record->size < 16) {
            synth->status = pd_fail(&synth->recording->context, PERFDATA_ERROR_BAD_RECORD,
                                    (int64_t)record->offset,
                                    "Expecting CPU-wide context switch event");
            return;
        }
        pid = pd_load32(record->data + PD_AT(switch_cpu_wide, next_prev_pid), swap);
        tid = pd_load32(record->data + PD_AT(switch_cpu_wide, next_prev_tid), swap);
    } else if (out) {
        return;
    }
    if (switch_event(synth, who->cpu, tid, who->time))
        pd_synth_set_current(synth, who->cpu, pid, tid);
}

static void take_tracepoint(struct pd_synth *synth, const struct pd_delivered *record)
{
    struct pd_sample sample;
    uint64_t tid;
    const struct pd_trace_field *field = pd_trace_field(synth->switches.format, "next_pid");
    if (!field || pd_delivered_sample(record, &sample) < 0 || !sample.raw ||
        !pd_trace_number(synth->switches.format, field, sample.raw, sample.raw_size, &tid))
        return;
    pd_synth_log(synth, "sched_switch: cpu %d tid %d time %llu tsc 0x%llx\n", (int32_t)sample.cpu,
                 (int32_t)tid, (unsigned long long)sample.time,
                 (unsigned long long)pd_time_to_tsc(&synth->aux->info.pt.time, sample.time));
    if (switch_event(synth, sample.cpu, (uint32_t)tid, sample.time))
        pd_synth_set_current(synth, sample.cpu, PD_NOBODY, (uint32_t)tid);
}

static void take_start(struct pd_synth *synth, const struct pd_delivered *record,
                       const struct pd_identity *who)
{
    bool swap = synth->recording->swap;
    if (!synth->aux->info.pt.per_cpu_mmaps || record->size < 16)
        return;
    uint32_t pid = pd_load32(record->data + PD_AT(itrace_start, pid), swap);
    uint32_t tid = pd_load32(record->data + PD_AT(itrace_start, tid), swap);
    pd_synth_log(synth, "itrace_start: cpu %d pid %d tid %d time %llu tsc 0x%llx\n",
                 (int32_t)who->cpu, (int32_t)pid, (int32_t)tid, (unsigned long long)who->time,
                 (unsigned long long)pd_time_to_tsc(&synth->aux->info.pt.time, who->time));
    pd_synth_set_current(synth, who->cpu, pid, tid);
}

static void take_aux(struct pd_synth *synth, const struct pd_delivered *record,
                     const struct pd_identity *who)
{
    enum { FLAGS = 24 };
    if (record->size < FLAGS + 8 ||
        !(pd_load64(record->data + FLAGS, synth->recording->swap) & PD_AUX_TRUNCATED))
        return;
    struct pd_synth_error error = { .code = PD_PT_LOST,
                                    .cpu = who->cpu,
                                    .pid = who->pid,
                                    .tid = who->tid,
                                    .time = who->time == PD_NO_TIME ? 0 : who->time };
    pd_synth_emit_error(synth, &error);
}

void pd_synth_take_record(struct pd_synth *synth, const struct pd_delivered *record)
{
    struct pd_identity who;
    if (record->type == PD_RECORD_SAMPLE) {
        if (record->event && record->event->index < synth->made.own_count &&
            synth->made.own[record->event->index] == synth->switches.event)
            take_tracepoint(synth, record);
        return;
    }
    pd_record_identity(record->event, record->data, record->size, record->type, &who);
    switch (record->type) {
    case PD_RECORD_AUX: take_aux(synth, record, &who); break;
    case PD_RECORD_TEXT_POKE: pd_synth_log_poke(synth, record); break;
    case PD_RECORD_ITRACE_START: take_start(synth, record, &who); break;
    case PD_RECORD_SWITCH:
    case PD_RECORD_SWITCH_CPU_WIDE: take_switch(synth, record, &who); break;
    case PD_RECORD_AUX_OUTPUT_HW_ID: pd_pebs_hw_id(synth, record); break;
    default: break;
    }
}
