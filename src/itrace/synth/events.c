/* SPDX-License-Identifier: MIT */
/* The events of synthesised samples: appended to the recording's for as long as its trace is
 * decoded. */
#include "itrace/synth/internal.h"

#define FIRST_ID UINT64_C(1000000000) /* is added to the trace's own id */
#define CONFIG_POWER (UINT64_C(1) << 4)
#define CONFIG_EVENT (UINT64_C(1) << 31)

/* What an attr of ours has from that of the trace. */
#define COPIED                                                                                     \
    ((uint64_t)PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_ADDR | PD_SAMPLE_ID |     \
     PD_SAMPLE_STREAM_ID | PD_SAMPLE_CPU | PD_SAMPLE_PERIOD | PD_SAMPLE_IDENTIFIER)

enum {
    ATTR_SIZE = 128, /* the size that perf 6.1 has */
};

struct kind_row {
    uint32_t type;
    uint64_t config;
    const char *name; /* NULL: made from the attr */
};

static const struct kind_row kinds[PD_SYNTH_KINDS] = {
    [PD_SYNTH_BRANCHES] = { PD_TYPE_HARDWARE, PD_HW_BRANCH_INSTRUCTIONS, NULL },
    [PD_SYNTH_INSTRUCTIONS] = { PD_TYPE_HARDWARE, PD_HW_INSTRUCTIONS, NULL },
    [PD_SYNTH_TRANSACTIONS] = { PD_TYPE_HARDWARE, PD_HW_INSTRUCTIONS, "transactions" },
    [PD_SYNTH_PTWRITE] = { (uint32_t)PD_TYPE_SYNTH, PD_SYNTH_CONFIG_PTWRITE, "ptwrite" },
    [PD_SYNTH_MWAIT] = { (uint32_t)PD_TYPE_SYNTH, PD_SYNTH_CONFIG_MWAIT, "mwait" },
    [PD_SYNTH_PWRE] = { (uint32_t)PD_TYPE_SYNTH, PD_SYNTH_CONFIG_PWRE, "pwre" },
    [PD_SYNTH_EXSTOP] = { (uint32_t)PD_TYPE_SYNTH, PD_SYNTH_CONFIG_EXSTOP, "exstop" },
    [PD_SYNTH_PWRX] = { (uint32_t)PD_TYPE_SYNTH, PD_SYNTH_CONFIG_PWRX, "pwrx" },
    [PD_SYNTH_CBR] = { (uint32_t)PD_TYPE_SYNTH, PD_SYNTH_CONFIG_CBR, "cbr" },
    [PD_SYNTH_PSB] = { (uint32_t)PD_TYPE_SYNTH, PD_SYNTH_CONFIG_PSB, "psb" },
    [PD_SYNTH_EVT] = { (uint32_t)PD_TYPE_SYNTH, PD_SYNTH_CONFIG_EVT, "evt" },
    [PD_SYNTH_IFLAG] = { (uint32_t)PD_TYPE_SYNTH, PD_SYNTH_CONFIG_IFLAG, "iflag" },
};

static bool wanted(const struct pd_synth *synth, enum pd_synth_kind kind)
{
    const struct pd_itrace_options *options = &synth->options;
    uint64_t config = synth->aux->modes.config;
    switch (kind) {
    case PD_SYNTH_BRANCHES: return options->branches || options->calls || options->returns;
    case PD_SYNTH_INSTRUCTIONS: return options->instructions;
    case PD_SYNTH_TRANSACTIONS: return options->transactions;
    case PD_SYNTH_PTWRITE: return options->ptwrites;
    case PD_SYNTH_CBR:
    case PD_SYNTH_PSB: return options->power;
    case PD_SYNTH_MWAIT:
    case PD_SYNTH_PWRE:
    case PD_SYNTH_EXSTOP:
    case PD_SYNTH_PWRX: return options->power && config & CONFIG_POWER;
    case PD_SYNTH_EVT: return options->intr_events && config & CONFIG_EVENT;
    case PD_SYNTH_IFLAG: return options->intr_events && synth->aux->info.pt.cap_event_trace;
    case PD_SYNTH_KINDS: break;
    }
    return false;
}

struct pd_attr pd_synth_common_attr(const struct pd_synth *synth, const struct pd_attr *trace)
{
    static const unsigned flags[] = { PD_ATTR_EXCLUDE_USER,  PD_ATTR_EXCLUDE_KERNEL,
                                      PD_ATTR_EXCLUDE_HV,    PD_ATTR_EXCLUDE_HOST,
                                      PD_ATTR_EXCLUDE_GUEST, PD_ATTR_SAMPLE_ID_ALL };
    struct pd_attr attr = { .size = ATTR_SIZE, .read_format = trace->read_format };
    for (size_t i = 0; i < PD_LENGTH(flags); i++)
        attr.flags |= trace->flags & UINT64_C(1) << flags[i];
    attr.sample_type = trace->sample_type & COPIED;
    attr.sample_type |= PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_PERIOD;
    if (synth->plan.timeless)
        attr.sample_type &= ~(uint64_t)PD_SAMPLE_TIME;
    else
        attr.sample_type |= PD_SAMPLE_TIME;
    return attr;
}

static struct pd_attr pt_attr(const struct pd_synth *synth, const struct pd_attr *trace)
{
    struct pd_attr attr = pd_synth_common_attr(synth, trace);
    if (!synth->aux->info.pt.per_cpu_mmaps)
        attr.sample_type &= ~(uint64_t)PD_SAMPLE_CPU;
    return attr;
}

/* All later events keep what one of them adds, as perf has it. */
static void change_attr(const struct pd_synth *synth, enum pd_synth_kind kind, struct pd_attr *attr)
{
    const struct pd_itrace_options *options = &synth->options;
    if (kind == PD_SYNTH_INSTRUCTIONS && options->callchain)
        attr->sample_type |= PD_SAMPLE_CALLCHAIN;
    if (kind == PD_SYNTH_INSTRUCTIONS && options->last_branch) {
        attr->sample_type |= PD_SAMPLE_BRANCH_STACK;
        attr->branch_sample_type |= PD_BRANCH_SAMPLE_HW_INDEX;
    }
    if (kind == PD_SYNTH_TRANSACTIONS)
        attr->sample_type &= ~(uint64_t)PD_SAMPLE_PERIOD;
    if (kind == PD_SYNTH_PTWRITE)
        attr->sample_type |= PD_SAMPLE_RAW;
}

static uint64_t period_of(const struct pd_synth *synth, enum pd_synth_kind kind)
{
    const struct pd_itrace_options *options = &synth->options;
    if (kind != PD_SYNTH_INSTRUCTIONS)
        return 1;
    return options->period_type == PD_ITRACE_NS
               ? pd_ns_to_ticks(&synth->aux->info.pt.time, options->period)
               : options->period;
}

/* The records hold all fixed fields, whatever the attr says: perf hands samples on without writing
 * them down, so fields can be shown that the attr does not have. */
static void make_plan(struct pd_event *event)
{
    struct pd_attr attr = event->attr;
    const uint64_t fixed = (uint64_t)PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME |
                           PD_SAMPLE_ADDR | PD_SAMPLE_ID | PD_SAMPLE_STREAM_ID | PD_SAMPLE_CPU |
                           PD_SAMPLE_PERIOD;
    attr.sample_type = (attr.sample_type & ~(uint64_t)PD_SAMPLE_IDENTIFIER) | fixed;
    pd_plan_make(&attr, false, &event->plan);
}

struct pd_event *pd_synth_add_event(struct pd_synth *synth, const struct pd_attr *attr,
                                    const char *caller_name, uint64_t id)
{
    struct pd_recording *recording = synth->recording;
    struct pd_event *event = pd_arena_zalloc(&synth->arena, sizeof *event);
    uint64_t *ids = pd_arena_alloc(&synth->arena, sizeof *ids);
    struct pd_text name = { 0 };
    if (!event || !ids)
        return NULL;
    *ids = id;
    event->attr = *attr;
    make_plan(event);
    if (caller_name)
        pd_text_string(&name, caller_name);
    else
        pd_attr_name(&event->attr, &name);
    event->name = name.failed ? NULL : pd_arena_copy(&synth->arena, name.data, name.length);
    event->name_length = (uint32_t)name.length;
    pd_text_free(&name);
    event->ids = ids;
    event->id_count = 1;
    event->scale = 1.0;
    event->member_count = 1;
    event->synthesised = true;
    event->index = event->leader = (uint32_t)recording->event_count;
    if (!event->name || !pd_map64_set(&recording->ids.by_id, id, event->index))
        return NULL;
    recording->events[recording->event_count++] = event;
    return event;
}

static perfdata_status add_kind(struct pd_synth *synth, enum pd_synth_kind kind,
                                const struct pd_attr *common, uint64_t id)
{
    struct pd_attr attr = *common;
    attr.type = kinds[kind].type;
    attr.config = kinds[kind].config;
    attr.sample_period = period_of(synth, kind);
    if (kind == PD_SYNTH_BRANCHES)
        attr.sample_type |= PD_SAMPLE_ADDR;
    synth->made.events[kind] = pd_synth_add_event(synth, &attr, kinds[kind].name, id);
    return synth->made.events[kind] ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;
}

/* The first event of the trace's PMU that has ids. */
const struct pd_event *pd_synth_trace_event(const struct pd_synth *synth, uint64_t pmu_type)
{
    for (size_t i = 0; i < synth->made.own_count; i++) {
        const struct pd_event *event = synth->made.own[i];
        if (event->attr.type == pmu_type && event->id_count)
            return event;
    }
    return NULL;
}

uint64_t pd_synth_first_id(const struct pd_event *trace)
{
    uint64_t id = trace->ids[0] + FIRST_ID;
    return id ? id : 1;
}

perfdata_status pd_synth_no_event(const struct pd_synth *synth)
{
    return pd_issue(&synth->recording->context, PERFDATA_ISSUE_BAD_RECORD, -1,
                    "no event is of the unit that AUXTRACE_INFO names: no samples are made of the "
                    "trace");
}

perfdata_status pd_synth_own_events(struct pd_synth *synth, size_t more)
{
    struct pd_recording *recording = synth->recording;
    synth->made.own = recording->events;
    synth->made.own_count = recording->event_count;
    struct pd_event **events = pd_arena_alloc(&synth->arena,
                                              (recording->event_count + more) * sizeof *events);
    if (!events)
        return PERFDATA_ERROR_MEMORY;
    memcpy(events, recording->events, recording->event_count * sizeof(struct pd_event *));
    recording->events = events;
    return PERFDATA_OK;
}

/* All that samples of "large PEBS" may hold: the hardware collects several records before the
 * kernel sees them. */
#define LARGE_PEBS_TYPE                                                                            \
    (PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_ADDR | PD_SAMPLE_ID |               \
     PD_SAMPLE_CPU | PD_SAMPLE_PERIOD | PD_SAMPLE_STREAM_ID | PD_SAMPLE_REGS_USER |                \
     PD_SAMPLE_DATA_SRC | PD_SAMPLE_IDENTIFIER | PD_SAMPLE_TRANSACTION | PD_SAMPLE_REGS_INTR |     \
     PD_SAMPLE_PHYS_ADDR)

/* Such samples have a TSC as their time, so no clock that the user chose; PEBS via PT has its own
 * way. Whether the CPU and its kernel really collected them is not recorded. */
static bool may_be_large_pebs(const struct pd_synth *synth, const struct pd_attr *attr)
{
    bool counts_by_cpu = attr->type != PD_TYPE_SOFTWARE && attr->type != PD_TYPE_TRACEPOINT &&
                         attr->type != PD_TYPE_BREAKPOINT &&
                         attr->type != synth->aux->info.pt.pmu_type;
    return counts_by_cpu && pd_attr_precise_ip(attr) && attr->sample_period &&
           !pd_attr_flag(attr, PD_ATTR_FREQ) && !pd_attr_flag(attr, PD_ATTR_AUX_OUTPUT) &&
           !pd_attr_flag(attr, PD_ATTR_USE_CLOCKID) && !(attr->sample_type & ~LARGE_PEBS_TYPE);
}

/* What is added to samples is found by their time, which large PEBS gives late. */
static perfdata_status check_times(const struct pd_synth *synth, const struct pd_event *event)
{
    if (synth->plan.timeless || !may_be_large_pebs(synth, &event->attr))
        return PERFDATA_OK;
    return pd_issue(&synth->recording->context, PERFDATA_ISSUE_LATE_SAMPLES, -1,
                    "%s may be large PEBS with late times: chains and branches of the trace may "
                    "not be those of its samples (not so with a frequency in place of a period)",
                    event->name);
}

/* Existing events whose samples get a chain or branches (G, L): the twin has the larger record. */
static perfdata_status make_twins(struct pd_synth *synth)
{
    const struct pd_itrace_options *options = &synth->options;
    uint64_t more = (options->add_callchain ? PD_SAMPLE_CALLCHAIN : 0) |
                    (options->add_last_branch ? PD_SAMPLE_BRANCH_STACK : 0);
    if (!more)
        return PERFDATA_OK;
    synth->made.twins = pd_arena_zalloc(&synth->arena,
                                        (synth->made.own_count + 1) * sizeof *synth->made.twins);
    for (size_t i = 0; synth->made.twins && i < synth->made.own_count; i++) {
        struct pd_event *own = synth->made.own[i];
        struct pd_event *twin = pd_arena_alloc(&synth->arena, sizeof *twin);
        if (!twin)
            return PERFDATA_ERROR_MEMORY;
        own->added_type = more & ~own->attr.sample_type;
        perfdata_status status = check_times(synth, own);
        if (status)
            return status;
        *twin = *own;
        twin->attr.sample_type |= more;
        if (own->added_type & PD_SAMPLE_BRANCH_STACK)
            twin->attr.branch_sample_type |= PD_BRANCH_SAMPLE_HW_INDEX;
        pd_plan_make(&twin->attr, own->plan.swap, &twin->plan);
        synth->made.twins[i] = twin;
    }
    return synth->made.twins ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;
}

perfdata_status pd_synth_add_events(struct pd_synth *synth)
{
    perfdata_status status = pd_synth_own_events(synth, PD_SYNTH_KINDS + 1);
    if (!status)
        status = make_twins(synth);
    const struct pd_event *trace = pd_synth_trace_event(synth, synth->aux->info.pt.pmu_type);
    if (status || !trace)
        return status;
    struct pd_attr attr = pt_attr(synth, &trace->attr);
    uint64_t id = pd_synth_first_id(trace);
    for (int kind = 0; kind < PD_SYNTH_KINDS && !status; kind++) {
        /* With the event of a kind off, what it adds for the later ones is left out but for the
         * last two. */
        if (wanted(synth, (enum pd_synth_kind)kind) || kind >= PD_SYNTH_INSTRUCTIONS)
            change_attr(synth, (enum pd_synth_kind)kind, &attr);
        if (wanted(synth, (enum pd_synth_kind)kind))
            status = add_kind(synth, (enum pd_synth_kind)kind, &attr, id++);
    }
    return status;
}

void pd_synth_plan_branches(struct pd_synth *synth)
{
    const struct pd_itrace_options *options = &synth->options;
    static const uint32_t of_op[] = {
        [PD_INSN_CALL] = PD_IP_CALL,
        [PD_INSN_RET] = PD_IP_RETURN,
        [PD_INSN_JCC] = PD_IP_CONDITIONAL,
        [PD_INSN_JMP] = 0,
        [PD_INSN_LOOP] = PD_IP_CONDITIONAL,
        [PD_INSN_IRET] = PD_IP_RETURN | PD_IP_INTERRUPT,
        [PD_INSN_INT] = PD_IP_CALL | PD_IP_INTERRUPT,
        [PD_INSN_SYSCALL] = PD_IP_CALL | PD_IP_SYSCALLRET,
        [PD_INSN_SYSRET] = PD_IP_RETURN | PD_IP_SYSCALLRET,
        [PD_INSN_VMENTRY] = PD_IP_CALL | PD_IP_VMENTRY,
    };
    for (unsigned op = 1; op < PD_LENGTH(of_op); op++)
        synth->plan.op_flags[op] = PD_IP_BRANCH | of_op[op];
    if (options->calls)
        synth->plan.branch_filter |= PD_IP_CALL | PD_IP_ASYNC | PD_IP_TRACE_END;
    if (options->returns)
        synth->plan.branch_filter |= PD_IP_RETURN | PD_IP_TRACE_BEGIN;
}

void pd_synth_remove_events(struct pd_synth *synth)
{
    if (!synth->made.own)
        return;
    synth->recording->events = synth->made.own;
    synth->recording->event_count = synth->made.own_count;
    for (size_t i = 0; i < synth->made.own_count; i++)
        synth->made.own[i]->added_type = 0;
}
