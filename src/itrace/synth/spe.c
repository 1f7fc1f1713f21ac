/* SPDX-License-Identifier: MIT */
/* Records of Arm SPE -> samples: which queue is next, who ran, and what each record is a sample
 * of. */
#include "itrace/synth/spe.h"
#include "format/offsets.h"
#include "itrace/synth/turns.h"
#include "itrace/spe/record.h"
#include "itrace/spe/packet.h"
#include <inttypes.h>
#include <stdlib.h>

/* In the order in which perf makes their events, and samples of one record. */
enum kind {
    L1D_MISS,
    L1D_ACCESS,
    LLC_MISS,
    LLC_ACCESS,
    TLB_MISS,
    TLB_ACCESS,
    BRANCH_MISS,
    REMOTE_ACCESS,
    MEMORY,
    INSTRUCTIONS,
    KINDS
};

static const struct {
    const char *name;
    uint64_t event; /* a record of it has this bit; 0: another rule */
} kinds[KINDS] = {
    [L1D_MISS] = { "l1d-miss", PD_SPE_L1D_REFILL },
    [L1D_ACCESS] = { "l1d-access", PD_SPE_L1D_ACCESS },
    [LLC_MISS] = { "llc-miss", PD_SPE_LLC_REFILL },
    [LLC_ACCESS] = { "llc-access", PD_SPE_LLC_ACCESS },
    [TLB_MISS] = { "tlb-miss", PD_SPE_TLB_WALK },
    [TLB_ACCESS] = { "tlb-access", PD_SPE_TLB_ACCESS },
    [BRANCH_MISS] = { "branch-miss", PD_SPE_MISPREDICTED },
    [REMOTE_ACCESS] = { "remote-access", PD_SPE_REMOTE },
    [MEMORY] = { "memory", 0 },
    [INSTRUCTIONS] = { "instructions", 0 },
};

struct queue {
    struct pd_spe_reader reader;
    struct pd_spe_record record; /* the next to be sampled */
    uint32_t cpu, tid, pid;
    uint64_t time; /* of its record, or of an earlier one that was later */
    uint64_t midr;
    uint64_t passed;          /* records since the last sample of instructions */
    struct pd_thread *thread; /* NULL: not known, or not yet looked for */
    struct pd_thread *shown;  /* whose samples these are in this run; NULL: look for it */
    bool has_buffers;
    bool sampled; /* `record` was: another one is to be read */
};

struct pd_synth_spe {
    struct queue *queues; /* by number */
    struct pd_turns turns;
    const struct pd_event *events[KINDS]; /* NULL: not wanted */
    struct pd_tsc_conversion clock;
    bool told_context; /* packets name the threads: switches do not count */
    uint64_t midr;     /* of CPUs that have none of their own */
    uint64_t period;   /* of instructions, in records */
    bool ended;
};

/* ---- AUXTRACE_INFO ---- */

/* Words: PMU's type, mmaps by CPU; or since perf 6.14 version 2, words before the CPUs', PMU's
 * type, number of CPUs; then of each CPU magic, number, how many words follow, MIDR ... */
enum { FIRST_WORDS = 2, TYPE_SECOND = 2, WORDS_BEFORE = 1, CPU = 1, MORE = 2, MIDR = 3 };

static bool is_second(const struct pd_aux_info *info)
{
    return info->word_count > FIRST_WORDS;
}

/* Of a machine with several kinds of cores each has a PMU: any of them serves. */
static const struct pd_event *trace_event(const struct pd_synth *synth)
{
    const struct pd_aux_info *info = &synth->aux->info;
    uint64_t type = is_second(info) ? info->words[TYPE_SECOND] : info->words[0];
    const struct pd_event *event = pd_synth_trace_event(synth, (uint32_t)type);
    for (size_t i = 0; !event && i < synth->made.own_count; i++)
        if (!strncmp(synth->made.own[i]->name, "arm_spe", strlen("arm_spe")) &&
            synth->made.own[i]->id_count)
            event = synth->made.own[i];
    return event;
}

static uint64_t midr_of(const struct pd_synth *synth, uint32_t cpu)
{
    const struct pd_aux_info *info = &synth->aux->info;
    if (!is_second(info))
        return synth->spe->midr;
    for (uint64_t at = info->words[WORDS_BEFORE];
         at < info->word_count && info->word_count - at > MIDR;) {
        const uint64_t *words = info->words + at;
        if (words[CPU] == cpu && words[MORE])
            return words[MIDR];
        if (words[MORE] > info->word_count)
            break;
        at += MIDR + words[MORE];
    }
    return synth->spe->midr;
}

/* ---- what is asked for ---- */

/* What perf asks for where nobody does, whatever the verb. */
static void set_defaults(struct pd_itrace_options *options)
{
    options->first_level = options->last_level = options->tlb = options->branches = true;
    options->remote_access = options->mem = options->instructions = true;
    options->period_type = PD_ITRACE_NS;
}

static bool wanted(const struct pd_itrace_options *options, enum kind kind)
{
    switch (kind) {
    case L1D_MISS:
    case L1D_ACCESS: return options->first_level;
    case LLC_MISS:
    case LLC_ACCESS: return options->last_level;
    case TLB_MISS:
    case TLB_ACCESS: return options->tlb;
    case BRANCH_MISS: return options->branches || options->calls || options->returns;
    case REMOTE_ACCESS: return options->remote_access;
    case MEMORY: return options->mem;
    case INSTRUCTIONS:
        return options->instructions && options->period_type == PD_ITRACE_INSTRUCTIONS;
    case KINDS: break;
    }
    return false;
}

/* The hardware chooses which instructions are recorded: periods of time can't be had. */
static perfdata_status check_period(const struct pd_synth *synth)
{
    struct pd_context *context = &synth->recording->context;
    const struct pd_itrace_options *options = &synth->options;
    if (!options->instructions)
        return PERFDATA_OK;
    if (options->period_type != PD_ITRACE_INSTRUCTIONS)
        return pd_warning(context, PERFDATA_ISSUE_UNSUPPORTED, -1,
                          "Only instruction-based sampling period is currently supported by Arm "
                          "SPE.\n");
    if (options->period > 1)
        return pd_warning(context, PERFDATA_ISSUE_UNSUPPORTED, -1,
                          "Arm SPE has a hardware-based sample period.\n"
                          "Additional instruction events will be discarded by --itrace\n");
    return PERFDATA_OK;
}

static perfdata_status add_events(struct pd_synth *synth)
{
    const uint64_t added = PD_SAMPLE_DATA_SRC | PD_SAMPLE_WEIGHT | PD_SAMPLE_ADDR;
    struct pd_synth_spe *spe = synth->spe;
    perfdata_status status = pd_synth_own_events(synth, KINDS);
    const struct pd_event *trace = trace_event(synth);
    if (status)
        return status;
    if (!trace)
        return pd_synth_no_event(synth);
    struct pd_attr attr = pd_synth_common_attr(synth, &trace->attr);
    attr.sample_type |= added | (trace->attr.sample_type & PD_SAMPLE_PHYS_ADDR);
    attr.type = PD_TYPE_HARDWARE;
    uint64_t id = pd_synth_first_id(trace);
    for (int kind = 0; kind < KINDS; kind++) {
        if (!wanted(&synth->options, (enum kind)kind))
            continue;
        if (kind == INSTRUCTIONS) {
            attr.config = PD_HW_INSTRUCTIONS;
            attr.sample_period = spe->period;
        }
        spe->events[kind] = pd_synth_add_event(synth, &attr, kinds[kind].name, id++);
        if (!spe->events[kind])
            return PERFDATA_ERROR_MEMORY;
    }
    return PERFDATA_OK;
}

void pd_spe_close(struct pd_synth *synth)
{
    struct pd_synth_spe *spe = synth->spe;
    if (!spe)
        return;
    for (size_t i = 0; spe->queues && i < spe->turns.count; i++)
        free(spe->queues[i].reader.bytes);
    free(spe->queues);
    pd_turns_close(&spe->turns);
    free(spe);
}

/* ---- samples ---- */

static void put_sample(struct pd_synth *synth, struct queue *queue, enum kind kind, uint64_t source)
{
    const struct pd_spe_record *from = &queue->record;
    const struct pd_event *event = synth->spe->events[kind];
    bool branch = kind == BRANCH_MISS;
    uint64_t id = event->ids[0];
    const uint64_t more[3] = { from->latency, branch ? 0 : source, branch ? 0 : from->physical };
    size_t size = event->attr.sample_type & PD_SAMPLE_PHYS_ADDR ? sizeof more
                                                                : sizeof more - sizeof more[0];
    struct pd_synth_facts *facts = pd_synth_alloc(synth, sizeof *facts +
                                                             sizeof(struct pd_synth_fixed) + size);
    if (!facts)
        return;
    struct pd_synth_fixed *fixed = (struct pd_synth_fixed *)(facts + 1);
    uint64_t time = synth->plan.timeless ? 0 : pd_tsc_to_time(&synth->spe->clock, from->time);
    *fixed = (struct pd_synth_fixed){
        .type = PD_RECORD_SAMPLE,
        .misc = pd_synth_mode(from->ip, false),
        .size = (uint16_t)(sizeof *fixed + size),
        .ip = from->ip,
        .pid = queue->pid,
        .tid = queue->tid,
        .time = time,
        .addr = branch ? from->to : from->data,
        .id = id,
        .stream_id = id,
        .cpu = queue->cpu,
        .period = kind == INSTRUCTIONS ? synth->spe->period : 1,
    };
    memcpy(fixed + 1, more, size);
    *facts = (struct pd_synth_facts){ .to = fixed->addr };
    struct pd_delivered *record = &synth->sink->records[synth->sink->count++];
    if (!queue->shown)
        queue->shown = pd_timeline_touch(synth->timeline, queue->pid, queue->tid, synth->number);
    pd_synth_record(fixed, facts, event, queue->shown, record);
    record->size = fixed->size;
}

static bool is_sampled(const struct pd_synth_spe *spe, struct queue *queue, enum kind kind,
                       uint64_t source)
{
    if (!spe->events[kind])
        return false;
    if (kind == MEMORY)
        return source != 0;
    if (kind != INSTRUCTIONS)
        return (queue->record.events & kinds[kind].event) != 0;
    if (++queue->passed < spe->period)
        return false;
    queue->passed = 0;
    return true;
}

static void put_samples(struct pd_synth *synth, struct queue *queue)
{
    uint64_t source = pd_spe_data_source(&queue->record, queue->midr);
    for (int kind = 0; kind < KINDS; kind++)
        if (is_sampled(synth->spe, queue, (enum kind)kind, source))
            put_sample(synth, queue, (enum kind)kind, source);
}

/* ---- who runs ---- */

static void look_for_thread(struct pd_synth *synth, struct queue *queue)
{
    uint32_t tid = pd_synth_current_tid(synth, queue->cpu);
    if (tid != PD_NOBODY && tid != queue->tid) {
        queue->tid = tid;
        queue->thread = NULL;
    }
    if (!queue->thread && queue->tid != PD_NOBODY)
        queue->thread = pd_timeline_find(synth->timeline, queue->tid);
    if (queue->thread)
        queue->pid = pd_thread_pid(queue->thread, synth->number);
    queue->shown = NULL;
}

static void take_context(struct pd_synth *synth, struct queue *queue)
{
    if (queue->record.context == PD_SPE_NO_CONTEXT)
        return;
    uint32_t tid = (uint32_t)queue->record.context;
    synth->spe->told_context = true;
    if (queue->cpu == PD_NOBODY && tid != queue->tid) {
        queue->tid = tid;
        queue->thread = NULL;
    }
    pd_synth_set_current(synth, queue->cpu, PD_NOBODY, tid);
    look_for_thread(synth, queue);
}

/* ---- queues ---- */

/* The next record, whole or not. False: there is none. */
static bool read_record(struct pd_synth *synth, struct queue *queue)
{
    int got = pd_spe_read(&queue->reader, &queue->record);
    if (got < 0)
        synth->status = got;
    if (got == PD_SPE_WHOLE && queue->record.time > queue->time)
        queue->time = queue->record.time;
    return got > PD_SPE_NOTHING;
}

/* Goes to the first whole record: what is broken before it is no sample. */
static bool begin(struct pd_synth *synth, size_t number)
{
    struct queue *queue = &synth->spe->queues[number];
    int got = PD_SPE_NOTHING;
    while (queue->has_buffers &&
           (got = pd_spe_read(&queue->reader, &queue->record)) == PD_SPE_BROKEN)
        ;
    if (got < 0)
        synth->status = got;
    queue->time = queue->record.time;
    return got > PD_SPE_NOTHING;
}

static uint64_t time_of(const struct pd_synth *synth, size_t number)
{
    return synth->spe->queues[number].time;
}

static uint32_t tid_of(const struct pd_synth *synth, size_t number)
{
    return synth->spe->queues[number].tid;
}

static void enter(struct pd_synth *synth, size_t number)
{
    struct queue *queue = &synth->spe->queues[number];
    queue->shown = NULL;
    if (synth->plan.timeless || !synth->spe->told_context)
        look_for_thread(synth, queue);
}

static enum pd_turn run(struct pd_synth *synth, size_t number, uint64_t limit)
{
    struct queue *queue = &synth->spe->queues[number];
    for (;;) {
        if (pd_turns_is_full(synth))
            return PD_TURN_FULL;
        if (!queue->sampled) {
            take_context(synth, queue);
            put_samples(synth, queue);
            queue->sampled = true;
            continue;
        }
        if (!read_record(synth, queue))
            return PD_TURN_ENDED;
        queue->sampled = false;
        if (!synth->plan.timeless && queue->time >= limit)
            return PD_TURN_LIMIT;
    }
}

static const struct pd_turn_ways ways = { begin, time_of, tid_of, enter, run };

/* ---- opening ---- */

static perfdata_status make_queues(struct pd_synth *synth)
{
    struct pd_synth_spe *spe = synth->spe;
    size_t count = synth->aux->queues.count;
    spe->queues = calloc(count + 1, sizeof *spe->queues);
    if (!spe->queues || pd_turns_open(&spe->turns, count) < 0)
        return PERFDATA_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const struct pd_aux_queue *from = &synth->aux->queues.data[i];
        struct queue *queue = &spe->queues[i];
        pd_spe_reader_init(&queue->reader, synth->aux, (uint32_t)i);
        queue->cpu = from->cpu;
        queue->tid = from->tid;
        queue->pid = PD_NOBODY;
        queue->midr = midr_of(synth, from->cpu);
        queue->has_buffers = from->set && from->buffers.count;
    }
    spe->turns.ways = &ways;
    spe->turns.clock = &spe->clock;
    spe->turns.timeless = synth->plan.timeless;
    return PERFDATA_OK;
}

/* What record wrote of the timer. Without it there is no time: samples then come all at once. */
static perfdata_status set_clock(struct pd_synth *synth)
{
    const struct pd_recording *recording = synth->recording;
    bool has_time = false;
    for (size_t i = 0; i < recording->event_count; i++)
        has_time |= (recording->events[i]->attr.sample_type & PD_SAMPLE_TIME) != 0;
    synth->spe->clock = synth->aux->clock;
    synth->plan.timeless = !has_time || !synth->aux->has_clock;
    if (!has_time || synth->aux->has_clock)
        return PERFDATA_OK;
    return pd_issue(&synth->recording->context, PERFDATA_ISSUE_BAD_RECORD, -1,
                    "no TIME_CONV record tells how ticks of the trace become times: its samples "
                    "have none");
}

perfdata_status pd_spe_open(struct pd_synth *synth)
{
    const struct pd_features *features = &synth->recording->features;
    struct pd_synth_spe *spe = synth->spe = calloc(1, sizeof *spe);
    if (!spe)
        return PERFDATA_ERROR_MEMORY;
    if (!synth->aux->info.word_count)
        return pd_fail(&synth->recording->context, PERFDATA_ERROR_BAD_RECORD, -1,
                       "AUXTRACE_INFO says nothing of Arm SPE");
    if (features->cpuid.present && features->cpuid.text.text)
        spe->midr = strtoull(features->cpuid.text.text, NULL, 16);
    if (!synth->options.set)
        set_defaults(&synth->options);
    spe->period = synth->options.period ? synth->options.period : 1;
    perfdata_status status = check_period(synth);
    if (status == PERFDATA_OK)
        status = set_clock(synth);
    if (status == PERFDATA_OK)
        status = add_events(synth);
    return status == PERFDATA_OK ? make_queues(synth) : status;
}

/* ---- records ---- */

/* Reports, once, what no samples could be made of. */
static perfdata_status tell_end(struct pd_synth *synth)
{
    struct pd_synth_spe *spe = synth->spe;
    struct pd_context *context = &synth->recording->context;
    uint64_t bad = 0, unknown = 0;
    perfdata_status status = PERFDATA_OK;
    if (spe->ended)
        return PERFDATA_OK;
    spe->ended = true;
    for (size_t i = 0; i < spe->turns.count; i++) {
        bad += spe->queues[i].reader.bad;
        unknown += spe->queues[i].reader.unknown;
    }
    if (!spe->told_context)
        status = pd_warning(context, PERFDATA_ISSUE_LIMIT, -1,
                            "Warning:\nArm SPE CONTEXT packets not found in the traces.\n"
                            "Matching of TIDs to SPE events could be inaccurate.\n");
    if (status == PERFDATA_OK && bad)
        status = pd_issue(context, PERFDATA_ISSUE_TRACE_ERROR, -1,
                          "%" PRIu64 " bytes of the trace begin no packet of Arm SPE", bad);
    if (status == PERFDATA_OK && unknown)
        status = pd_issue(context, PERFDATA_ISSUE_UNSUPPORTED, -1,
                          "%" PRIu64 " packets of the trace say what is not known here", unknown);
    return status;
}

/* The next thread of a CPU, where packets do not tell. */
static void take_switch(struct pd_synth *synth, const struct pd_delivered *record)
{
    struct pd_identity who;
    if (synth->spe->told_context || record->type != PD_RECORD_SWITCH_CPU_WIDE ||
        !(record->misc & PD_MISC_SWITCH_OUT) || record->size < 16)
        return;
    pd_record_identity(record->event, record->data, record->size, record->type, &who);
    pd_synth_set_current(
        synth, who.cpu,
        pd_load32(record->data + PD_AT(switch_cpu_wide, next_prev_pid), synth->recording->swap),
        pd_load32(record->data + PD_AT(switch_cpu_wide, next_prev_tid), synth->recording->swap));
}

int pd_spe_before(struct pd_synth *synth, const struct pd_delivered *record)
{
    int got = pd_turns_before(synth, &synth->spe->turns, record);
    if (got)
        return got;
    if (!record)
        return tell_end(synth);
    take_switch(synth, record);
    return synth->status;
}
