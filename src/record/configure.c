/* SPDX-License-Identifier: MIT */
/* The attributes: what perf record 6.1 gives to perf_event_open for the same events and options. */
#include "record/trace/aux.h"
#include "record/callgraph.h"
#include <stdlib.h>

static void set(struct pd_attr *attr, unsigned flag)
{
    attr->flags |= UINT64_C(1) << flag;
}

static void clear(struct pd_attr *attr, unsigned flag)
{
    attr->flags &= ~(UINT64_C(1) << flag);
}

static void set_if(struct pd_attr *attr, unsigned flag, bool on)
{
    if (on)
        set(attr, flag);
}

static bool is_dummy(const struct pd_selected *event)
{
    return event->attr.type == PD_TYPE_SOFTWARE && event->attr.config == PD_SW_DUMMY;
}

/* ---- which event has the task records ---- */

static perfdata_status choose_tracking(perfdata_recorder *recorder)
{
    struct pd_selected *tracking = pd_record_event(recorder, 0);
    for (size_t i = 0; i < pd_record_event_count(recorder); i++)
        if (pd_record_event(recorder, i)->tracking)
            return PERFDATA_OK; /* a trace has its own */
    bool delayed = recorder->options.delay != 0;
    if ((delayed || recorder->targets.by_cpu) && !is_dummy(tracking)) {
        tracking = pd_events_add(&recorder->events, PD_TYPE_SOFTWARE, PD_SW_DUMMY, "dummy:HG");
        if (!tracking)
            return pd_record_no_memory(recorder);
        tracking->attr.sample_period = 1;
    }
    tracking->tracking = true;
    if (delayed && !recorder->targets.by_cpu)
        tracking->attr.flags |= UINT64_C(1) << PD_ATTR_ENABLE_ON_EXEC;
    else if (delayed || recorder->targets.by_cpu)
        tracking->at_once = true;
    return PERFDATA_OK;
}

static void track(const perfdata_recorder *recorder, struct pd_attr *attr)
{
    static const unsigned always[] = { PD_ATTR_TASK, PD_ATTR_MMAP,      PD_ATTR_MMAP2,
                                       PD_ATTR_COMM, PD_ATTR_COMM_EXEC, PD_ATTR_KSYMBOL };
    for (size_t i = 0; i < PD_LENGTH(always); i++)
        set(attr, always[i]);
    set_if(attr, PD_ATTR_BPF_EVENT, !pd_record_flag(recorder, PERFDATA_RECORDER_NO_BPF_EVENT));
    set_if(attr, PD_ATTR_NAMESPACES, pd_record_flag(recorder, PERFDATA_RECORDER_NAMESPACES));
    set_if(attr, PD_ATTR_BUILD_ID, recorder->options.map_build_ids);
    set_if(attr, PD_ATTR_CGROUP, pd_record_flag(recorder, PERFDATA_RECORDER_CGROUPS));
    set_if(attr, PD_ATTR_CONTEXT_SWITCH, pd_record_flag(recorder, PERFDATA_RECORDER_SWITCH_EVENTS));
}

/* ---- one event ---- */

static void set_address(struct pd_selected *event)
{
    event->attr.sample_type |= PD_SAMPLE_ADDR | PD_SAMPLE_DATA_SRC;
    set_if(&event->attr, PD_ATTR_MMAP_DATA, event->tracking);
}

static void set_call_graph(const perfdata_recorder *recorder, struct pd_selected *event,
                           uint32_t kind, uint32_t stack_size)
{
    struct pd_attr *attr = &event->attr;
    if (kind == PERFDATA_CALL_GRAPH_NONE)
        return;
    attr->sample_type |= PD_SAMPLE_CALLCHAIN;
    set_if(attr, PD_ATTR_EXCLUDE_CALLCHAIN_USER,
           pd_record_flag(recorder, PERFDATA_RECORDER_KERNEL_CALLCHAINS));
    set_if(attr, PD_ATTR_EXCLUDE_CALLCHAIN_KERNEL,
           pd_record_flag(recorder, PERFDATA_RECORDER_USER_CALLCHAINS));
    if (kind == PERFDATA_CALL_GRAPH_LBR) {
        attr->sample_type |= PD_SAMPLE_BRANCH_STACK;
        attr->branch_sample_type = PD_CALL_GRAPH_LBR_FILTER;
    }
    if (kind == PERFDATA_CALL_GRAPH_DWARF) {
        set_address(event);
        attr->sample_type |= PD_SAMPLE_REGS_USER | PD_SAMPLE_STACK_USER;
        attr->sample_regs_user |= PD_CALL_GRAPH_REGISTERS;
        attr->sample_stack_user = stack_size ? stack_size : PD_CALL_GRAPH_STACK;
        set(attr, PD_ATTR_EXCLUDE_CALLCHAIN_USER);
    }
}

static void set_period(const perfdata_recorder *recorder, struct pd_attr *attr)
{
    bool asked = recorder->options.period || recorder->options.frequency;
    if (!attr->sample_period || asked) {
        bool by_period = recorder->options.period != 0;
        attr->sample_period = by_period ? recorder->options.period : recorder->frequency;
        if (!by_period) {
            set(attr, PD_ATTR_FREQ);
            attr->sample_type |= PD_SAMPLE_PERIOD;
        }
    }
    if (pd_record_flag(recorder, PERFDATA_RECORDER_NO_SAMPLES))
        attr->sample_period = 0;
}

/* Flags that only add to the sample type. */
static uint64_t wanted_samples(const perfdata_recorder *recorder)
{
    static const struct {
        unsigned flag;
        uint64_t bits;
    } rows[] = {
        { PERFDATA_RECORDER_PERIOD, PD_SAMPLE_PERIOD },
        { PERFDATA_RECORDER_TIME, PD_SAMPLE_TIME },
        { PERFDATA_RECORDER_CPU, PD_SAMPLE_CPU },
        { PERFDATA_RECORDER_RAW, PD_SAMPLE_TIME | PD_SAMPLE_RAW | PD_SAMPLE_CPU },
        { PERFDATA_RECORDER_WEIGHT, PD_SAMPLE_WEIGHT_STRUCT },
        { PERFDATA_RECORDER_PHYSICAL, PD_SAMPLE_PHYS_ADDR },
        { PERFDATA_RECORDER_DATA_PAGE_SIZE, PD_SAMPLE_DATA_PAGE_SIZE },
        { PERFDATA_RECORDER_CODE_PAGE_SIZE, PD_SAMPLE_CODE_PAGE_SIZE },
        { PERFDATA_RECORDER_TRANSACTION, PD_SAMPLE_TRANSACTION },
        { PERFDATA_RECORDER_CGROUPS, PD_SAMPLE_CGROUP },
    };
    uint64_t bits = PD_SAMPLE_IP | PD_SAMPLE_TID;
    for (size_t i = 0; i < PD_LENGTH(rows); i++)
        if (pd_record_flag(recorder, rows[i].flag))
            bits |= rows[i].bits;
    if (!recorder->targets.per_thread)
        bits |= PD_SAMPLE_TIME;
    if (recorder->targets.by_cpu)
        bits |= PD_SAMPLE_CPU;
    return bits;
}

static void set_samples(const perfdata_recorder *recorder, struct pd_selected *event)
{
    const struct perfdata_recorder_options *options = &recorder->options;
    struct pd_attr *attr = &event->attr;
    attr->sample_type |= wanted_samples(recorder);
    if (event->sample_read)
        attr->sample_type |= PD_SAMPLE_READ;
    if (pd_record_flag(recorder, PERFDATA_RECORDER_ADDRESS))
        set_address(event);
    set_call_graph(recorder, event, options->call_graph, options->stack_size);
    if (options->interrupt_registers && !is_dummy(event)) {
        attr->sample_type |= PD_SAMPLE_REGS_INTR;
        attr->sample_regs_intr = options->interrupt_registers;
    }
    if (options->user_registers && !is_dummy(event)) {
        attr->sample_type |= PD_SAMPLE_REGS_USER;
        attr->sample_regs_user |= options->user_registers;
    }
    if (options->branch_filter) {
        attr->sample_type |= PD_SAMPLE_BRANCH_STACK;
        attr->branch_sample_type = options->branch_filter;
    }
}

static void set_levels(const perfdata_recorder *recorder, struct pd_attr *attr)
{
    if (pd_record_flag(recorder, PERFDATA_RECORDER_ALL_KERNEL)) {
        clear(attr, PD_ATTR_EXCLUDE_KERNEL);
        set(attr, PD_ATTR_EXCLUDE_USER);
    }
    if (pd_record_flag(recorder, PERFDATA_RECORDER_ALL_USER)) {
        set(attr, PD_ATTR_EXCLUDE_KERNEL);
        clear(attr, PD_ATTR_EXCLUDE_USER);
    }
}

/* A command's events begin with its exec, all others when every event has been opened. */
static void set_begin(const perfdata_recorder *recorder, const struct pd_selected *event,
                      struct pd_attr *attr, bool leads)
{
    const struct perfdata_recorder_options *options = &recorder->options;
    bool command_only = !recorder->targets.by_cpu && !options->pids && !options->tids &&
                        !options->has_user;
    if (leads)
        set(attr, PD_ATTR_DISABLED);
    if (leads && command_only && !options->delay)
        set(attr, PD_ATTR_ENABLE_ON_EXEC);
    if (event->at_once) {
        clear(attr, PD_ATTR_DISABLED);
        clear(attr, PD_ATTR_ENABLE_ON_EXEC);
    }
}

/* The text was looked at when it was parsed. */
static void set_branches(struct pd_selected *event)
{
    uint64_t filter;
    const char *text = event->terms.text[PD_TERM_BRANCH_TYPE];
    event->attr.sample_type &= ~(uint64_t)PD_SAMPLE_BRANCH_STACK;
    if (!strcmp(text, "no") || perfdata_branch_filter_parse(text, &filter) < 0)
        return;
    event->attr.sample_type |= PD_SAMPLE_BRANCH_STACK;
    event->attr.branch_sample_type = filter;
}

static perfdata_status apply_terms(perfdata_recorder *recorder, struct pd_selected *event)
{
    const struct pd_terms *terms = &event->terms;
    struct pd_attr *attr = &event->attr;
    uint32_t kind = PERFDATA_CALL_GRAPH_NONE, stack = (uint32_t)terms->number[PD_TERM_STACK_SIZE];
    if (pd_term_said(terms, PD_TERM_PERIOD)) {
        attr->sample_period = terms->number[PD_TERM_PERIOD];
        clear(attr, PD_ATTR_FREQ);
        attr->sample_type &= ~(uint64_t)PD_SAMPLE_PERIOD;
    }
    if (pd_term_said(terms, PD_TERM_FREQ)) {
        attr->sample_period = terms->number[PD_TERM_FREQ];
        set(attr, PD_ATTR_FREQ);
        attr->sample_type |= PD_SAMPLE_PERIOD;
    }
    if (pd_term_said(terms, PD_TERM_TIME))
        attr->sample_type = terms->number[PD_TERM_TIME]
                                ? attr->sample_type | PD_SAMPLE_TIME
                                : attr->sample_type & ~(uint64_t)PD_SAMPLE_TIME;
    if (pd_term_said(terms, PD_TERM_OVERWRITE) || pd_term_said(terms, PD_TERM_NO_OVERWRITE)) {
        bool on = pd_term_said(terms, PD_TERM_OVERWRITE) ? terms->number[PD_TERM_OVERWRITE]
                                                         : !terms->number[PD_TERM_NO_OVERWRITE];
        clear(attr, PD_ATTR_WRITE_BACKWARD);
        set_if(attr, PD_ATTR_WRITE_BACKWARD, on);
    }
    if (pd_term_said(terms, PD_TERM_BRANCH_TYPE))
        set_branches(event);
    if (terms->number[PD_TERM_AUX_OUTPUT])
        set(attr, PD_ATTR_AUX_OUTPUT);
    if (pd_term_said(terms, PD_TERM_INHERIT) || pd_term_said(terms, PD_TERM_NO_INHERIT)) {
        bool on = pd_term_said(terms, PD_TERM_INHERIT) ? terms->number[PD_TERM_INHERIT]
                                                       : !terms->number[PD_TERM_NO_INHERIT];
        clear(attr, PD_ATTR_INHERIT);
        set_if(attr, PD_ATTR_INHERIT, on);
    }
    if (pd_term_said(terms, PD_TERM_CALL_GRAPH)) {
        const char *text = terms->text[PD_TERM_CALL_GRAPH];
        if (!strcmp(text, "no"))
            attr->sample_type &= ~(uint64_t)PD_SAMPLE_CALLCHAIN;
        else if (!pd_call_graph_parse(text, &kind, NULL))
            pd_record_log(recorder, 0,
                          "callchain: Unknown --call-graph option value: %s\nper-event callgraph "
                          "setting for %s failed. Apply callgraph global setting for it\n",
                          text, event->name);
    } else if (pd_term_said(terms, PD_TERM_MAX_STACK)) {
        kind = PERFDATA_CALL_GRAPH_FP;
    }
    set_call_graph(recorder, event, kind, stack);
    if (pd_term_said(terms, PD_TERM_MAX_STACK))
        attr->sample_max_stack = (uint16_t)PD_MIN(terms->number[PD_TERM_MAX_STACK], UINT16_MAX);
    return PERFDATA_OK;
}

/* Terms that only perf stat and perf trace use: perf record accepts and ignores them. */
static void tell_idle_terms(const perfdata_recorder *recorder, const struct pd_selected *event)
{
    static const struct {
        enum pd_term term;
        const char *name;
    } rows[] = {
        { PD_TERM_MAX_EVENTS, "nr" },
        { PD_TERM_PERCORE, "percore" },
        { PD_TERM_METRIC_ID, "metric-id" },
    };
    for (size_t i = 0; i < PD_LENGTH(rows); i++)
        if (pd_term_said(&event->terms, rows[i].term))
            pd_record_log(recorder, 1, "%s: the term %s changes nothing of a recording\n",
                          event->name, rows[i].name);
}

static perfdata_status configure(perfdata_recorder *recorder, size_t index)
{
    struct pd_selected *event = pd_record_event(recorder, index);
    struct pd_attr *attr = &event->attr;
    const struct pd_selected *leader = pd_record_event(recorder, event->leader);
    bool leads = event->leader == index;
    attr->size = 128;
    set(attr, PD_ATTR_SAMPLE_ID_ALL);
    set_if(attr, PD_ATTR_WRITE_BACKWARD, pd_record_flag(recorder, PERFDATA_RECORDER_OVERWRITE));
    set_if(attr, PD_ATTR_INHERIT,
           !pd_record_flag(recorder, PERFDATA_RECORDER_NO_INHERIT) &&
               !recorder->targets.per_thread && !recorder->options.tids);
    attr->read_format |= PD_READ_ID | PD_READ_LOST;
    if (pd_record_flag(recorder, PERFDATA_RECORDER_STAT | PERFDATA_RECORDER_RUNNING_TIME))
        attr->read_format |= PD_READ_TOTAL_TIME_ENABLED | PD_READ_TOTAL_TIME_RUNNING;
    set_if(attr, PD_ATTR_INHERIT_STAT, pd_record_flag(recorder, PERFDATA_RECORDER_STAT));
    if (event->sample_read && leader->members > 1) {
        attr->read_format |= PD_READ_GROUP;
        clear(attr, PD_ATTR_INHERIT);
    }
    set_period(recorder, attr);
    set_samples(recorder, event);
    if (pd_record_flag(recorder, PERFDATA_RECORDER_NO_BUFFERING))
        attr->wakeup_events = 1;
    if (event->tracking)
        track(recorder, attr);
    if (recorder->options.has_clock) {
        set(attr, PD_ATTR_USE_CLOCKID);
        attr->clockid = recorder->options.clock;
    }
    set_levels(recorder, attr);
    set_begin(recorder, event, attr, leads);
    if (event->most_precise) {
        set(attr, PD_ATTR_PRECISE_IP);
        set(attr, PD_ATTR_PRECISE_IP_HIGH);
    }
    tell_idle_terms(recorder, event);
    return apply_terms(recorder, event);
}

/* Members of a group that is read as one give no samples of their own. */
static void follow_leader(const perfdata_recorder *recorder, size_t index)
{
    struct pd_selected *event = pd_record_event(recorder, index);
    const struct pd_selected *leader = pd_record_event(recorder, event->leader);
    if (event->leader == index || !leader->sample_read)
        return;
    if (!pd_term_said(&event->terms, PD_TERM_PERIOD) &&
        !pd_term_said(&event->terms, PD_TERM_FREQ)) {
        event->attr.sample_period = 0;
        clear(&event->attr, PD_ATTR_FREQ);
    }
    clear(&event->attr, PD_ATTR_WRITE_BACKWARD);
    event->attr.sample_type = leader->attr.sample_type;
}

static void set_ids(perfdata_recorder *recorder, size_t count)
{
    bool identifier = pd_record_flag(recorder, PERFDATA_RECORDER_IDENTIFIER);
    for (size_t i = 1; i < count; i++)
        identifier |= pd_record_event(recorder, i)->attr.sample_type !=
                      pd_record_event(recorder, 0)->attr.sample_type;
    for (size_t i = 0; i < count; i++) {
        struct pd_attr *attr = &pd_record_event(recorder, i)->attr;
        if (identifier)
            attr->sample_type |= PD_SAMPLE_IDENTIFIER;
        else if (count > 1 || !recorder->options.path)
            attr->sample_type |= PD_SAMPLE_ID;
    }
}

static void make_one_group(perfdata_recorder *recorder, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pd_record_event(recorder, i)->leader = 0;
        pd_record_event(recorder, i)->members = i ? 0 : (uint32_t)count;
    }
}

perfdata_status pd_record_configure(perfdata_recorder *recorder)
{
    if (pd_record_flag(recorder, PERFDATA_RECORDER_GROUP))
        make_one_group(recorder, pd_record_event_count(recorder));
    perfdata_status status = pd_aux_area_prepare(recorder);
    if (status == PERFDATA_OK)
        status = choose_tracking(recorder);
    size_t count = pd_record_event_count(recorder);
    for (size_t i = 0; i < count && status == PERFDATA_OK; i++)
        status = configure(recorder, i);
    for (size_t i = 0; i < count && status == PERFDATA_OK; i++)
        follow_leader(recorder, i);
    if (status == PERFDATA_OK)
        pd_aux_area_configure(recorder);
    if (status == PERFDATA_OK)
        set_ids(recorder, count);
    return status;
}
