/* SPDX-License-Identifier: MIT */
/* Which fields each kind of event prints: defaults, -F, and what the recording lacks. */
#include "render/script/json.h"

static const struct field {
    const char *name;
    uint64_t needs;
    const char *wanted;
    uint8_t done;
    bool aux;
} fields[PD_FIELD_COUNT] = {
#define FIELD(NAME, text, done, needs, wanted, aux, about) { text, needs, wanted, done, aux },
#include "render/script/fields.def"
#undef FIELD
};

static const struct kind {
    const char *name;   /* in messages */
    const char *prefix; /* in -F; NULL: cannot be named */
    uint64_t invalid;
} kinds[PD_SCRIPT_KINDS] = {
    [PD_SCRIPT_HW] = { "hardware", "hw", PD_FIELD(TRACE) | PD_FIELD(BPF_OUTPUT) },
    [PD_SCRIPT_SW] = { "software", "sw", PD_FIELD(TRACE) },
    [PD_SCRIPT_TRACE] = { "tracepoint", "trace", 0 },
    [PD_SCRIPT_CACHE] = { "hardware-cache", NULL, PD_FIELD(TRACE) | PD_FIELD(BPF_OUTPUT) },
    [PD_SCRIPT_RAW] = { "unknown", "raw", PD_FIELD(TRACE) | PD_FIELD(BPF_OUTPUT) },
    [PD_SCRIPT_BREAK] = { "unknown", "break", PD_FIELD(TRACE) | PD_FIELD(BPF_OUTPUT) },
    [PD_SCRIPT_SYNTH] = { "unknown", "synth", PD_FIELD(TRACE) | PD_FIELD(BPF_OUTPUT) },
    [PD_SCRIPT_OTHER] = { "unknown", NULL, PD_FIELD(TRACE) | PD_FIELD(BPF_OUTPUT) },
};

const char *perfdata_script_field_name(size_t index)
{
    return index < PD_FIELD_COUNT ? fields[index].name : NULL;
}

static enum pd_script_kind kind_of(uint32_t type)
{
    if (type == (uint32_t)PD_TYPE_SYNTH)
        return PD_SCRIPT_SYNTH;
    return type <= PD_TYPE_BREAKPOINT ? (enum pd_script_kind)type : PD_SCRIPT_OTHER;
}

void pd_script_defaults(struct pd_script *script)
{
    static const uint64_t place = PD_FIELD(IP) | PD_FIELD(SYM) | PD_FIELD(SYMOFF) | PD_FIELD(DSO);
    static const uint64_t common = PD_FIELD(COMM) | PD_FIELD(TID) | PD_FIELD(CPU) | PD_FIELD(TIME) |
                                   PD_FIELD(EVENT);
    for (int kind = 0; kind < PD_SCRIPT_KINDS; kind++)
        script->kinds[kind].fields = common | place | PD_FIELD(PERIOD);
    script->kinds[PD_SCRIPT_SW].fields |= PD_FIELD(BPF_OUTPUT);
    script->kinds[PD_SCRIPT_TRACE].fields = common | PD_FIELD(TRACE);
    script->kinds[PD_SCRIPT_RAW].fields |= PD_FIELD(ADDR) | PD_FIELD(DATA_SRC) | PD_FIELD(WEIGHT) |
                                           PD_FIELD(PHYS_ADDR) | PD_FIELD(DATA_PAGE_SIZE) |
                                           PD_FIELD(CODE_PAGE_SIZE) | PD_FIELD(INS_LAT);
    script->kinds[PD_SCRIPT_SYNTH].fields = common | place | PD_FIELD(SYNTH);
}

static perfdata_status usage(struct pd_script *script, const char *text)
{
    script->perf_exit = 129;
    return pd_fail(&script->recording->context, PERFDATA_ERROR_ARGUMENT, -1, "%s", text);
}

static perfdata_status refuse_field(struct pd_script *script, unsigned index)
{
    script->perf_exit = 129;
    return pd_fail(&script->recording->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                   "field '%s' is not supported yet", fields[index].name);
}

/* ---- -F ---- */

static perfdata_status change_field(struct pd_script *script, int kind, unsigned index, bool remove)
{
    uint64_t bit = UINT64_C(1) << index;
    if (index == PD_FIELD_INDEX_FLAGS) /* perf takes it for all kinds */
        kind = -1;
    for (int k = 0; k < PD_SCRIPT_KINDS; k++) {
        struct pd_script_fields *set = &script->kinds[k];
        if (kind >= 0 && k != kind)
            continue;
        if (kinds[k].invalid & bit) {
            if (kind < 0) /* perf warns and goes on */
                continue;
            script->perf_exit = 129;
            return pd_fail(&script->recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                           "'%s' not valid for %s events.", fields[index].name, kinds[k].name);
        }
        set->fields = remove ? set->fields & ~bit : set->fields | bit;
        set->removed = remove ? set->removed | bit : set->removed & ~bit;
        if (kind < 0)
            set->asked = remove ? set->asked & ~bit : set->asked | bit;
        /* Adding or dropping only flags keeps the defaults of tracepoints with chains. */
        if (index != PD_FIELD_INDEX_FLAGS)
            set->user_set = set->wildcard = true;
    }
    return PERFDATA_OK;
}

static void clear_fields(struct pd_script_fields *set, bool wildcard)
{
    set->fields = 0;
    set->user_set = true;
    set->wildcard = wildcard;
}

static int find_field(const char *name, size_t length)
{
    for (int i = 0; i < PD_FIELD_COUNT; i++)
        if (strlen(fields[i].name) == length && !memcmp(fields[i].name, name, length))
            return i;
    return -1;
}

/* The kind that is named before the colon; -1: there is none, -2: it is unknown. */
static int prefix_kind(const char *text, const char *colon)
{
    if (!colon)
        return -1;
    for (int k = 0; k < PD_SCRIPT_KINDS; k++)
        if (kinds[k].prefix && strlen(kinds[k].prefix) == (size_t)(colon - text) &&
            !memcmp(kinds[k].prefix, text, (size_t)(colon - text)))
            return k;
    return -2;
}

perfdata_status pd_script_parse_fields(struct pd_script *script, const char *text)
{
    enum { UNDECIDED, SET, CHANGE } mode = UNDECIDED;
    const char *colon = strchr(text, ':');
    int kind = prefix_kind(text, colon);
    if (kind == -2)
        return usage(script, "Invalid event type in field string.");
    if (kind < 0 && !*text)
        return usage(script, "Cannot set fields to 'none' for all event types.");
    if (colon)
        text = colon + 1;
    /* A list with a plus or a minus anywhere, even that in "bpf-output", changes the fields that
     * there are. */
    if (!strpbrk(text, "+-"))
        for (int k = 0; k < PD_SCRIPT_KINDS; k++)
            if (kind < 0 || k == kind)
                clear_fields(&script->kinds[k], kind < 0);
    bool remove = false;
    while (*text) {
        size_t length = strcspn(text, ",");
        if (!length) {
            text++;
            continue;
        }
        bool sign = *text == '+' || *text == '-';
        if (mode == (sign ? SET : CHANGE))
            return usage(script, "Cannot mix +-field with overridden fields");
        mode = sign ? CHANGE : SET;
        if (sign)
            remove = *text == '-';
        int index = find_field(text + sign, length - sign);
        if (index < 0)
            return usage(script, "Invalid field requested.");
        if (!fields[index].done && !(sign && remove))
            return refuse_field(script, (unsigned)index);
        perfdata_status status = change_field(script, kind, (unsigned)index, sign && remove);
        if (status)
            return status;
        text += length;
    }
    return PERFDATA_OK;
}

/* ---- what the recording has ---- */

static bool is_dummy(const struct pd_event *event)
{
    return event->attr.type == PD_TYPE_SOFTWARE && event->attr.config == PD_SW_DUMMY;
}

static bool has_chain(const struct pd_event *event)
{
    return (pd_event_fields(event) | event->added_type) & PD_SAMPLE_CALLCHAIN;
}

static perfdata_status missing(struct pd_script *script, const char *text)
{
    script->perf_exit = 255;
    return pd_fail(&script->recording->context, PERFDATA_ERROR_NO_DATA, -1, "%s", text);
}

static bool any_has(const struct pd_recording *recording, uint64_t sample_type)
{
    for (size_t i = 0; i < recording->event_count; i++)
        if (pd_event_fields(recording->events[i]) & sample_type)
            return true;
    return false;
}

/* Blocks of code need every branch that was taken. Where not all were recorded, a trace may still
 * give them. */
static bool has_all_branches(const struct pd_script *script)
{
    enum { ANY_BRANCH = 8 };
    const struct pd_recording *recording = script->recording;
    uint64_t types = 0;
    for (size_t i = 0; i < recording->event_count; i++)
        types |= recording->events[i]->attr.branch_sample_type;
    return types & ANY_BRANCH || pd_recording_has_feature(recording, PD_FEATURE_AUXTRACE);
}

static bool has_counters(const struct pd_recording *recording)
{
    for (size_t i = 0; i < recording->event_count; i++)
        if (recording->events[i]->plan.branch_sample_type & PD_BRANCH_SAMPLE_COUNTERS)
            return true;
    return false;
}

static perfdata_status check_consistency(struct pd_script *script, const struct pd_event *event,
                                         uint64_t set)
{
    if (set & PD_FIELD(TRACE) && !any_has(script->recording, PD_SAMPLE_RAW))
        return missing(script, "No trace sample to read. Did you call 'perf record -R'?");
    uint64_t places = PD_SAMPLE_IP | PD_SAMPLE_ADDR | PD_SAMPLE_BRANCH_STACK;
    bool has_place = event->attr.sample_type & places;
    if (set & PD_FIELD(SYM) && !has_place)
        return missing(
            script,
            "Display of symbols requested but none of sample IP, sample address, nor branch stack\n"
            "available. Hence, no addresses to convert to symbols.");
    if (set & PD_FIELD(SYMOFF) && !(set & PD_FIELD(SYM)))
        return missing(script, "Display of offsets requested but symbol is notselected.");
    if (set & PD_FIELD(DSO) && !has_place)
        return missing(script, "Display of DSO requested but no address to convert.");
    if (set & PD_FIELD(DSOFF) && !(set & PD_FIELD(DSO)))
        return missing(script, "Display of offsets in DSOs requested but dso is not selected.");
    if (set & PD_FIELD(SRCLINE) && !(set & PD_FIELD(IP)))
        return missing(script, "Display of source line number requested but sample IP is not\n"
                               "selected. Hence, no address to lookup the source line number.");
    if (set & PD_INSN_OF_BRANCHES && !has_all_branches(script))
        return missing(
            script, "Display of branch stack assembler requested, but non all-branch filter set\n"
                    "Hint: run 'perf record -b ...'");
    if (set & PD_FIELD(BRCNTR) && !has_counters(script->recording))
        return missing(script, "Display of branch counters requested, but no event has some\n"
                               "Hint: run 'perf record -j any,counter'");
    if (set & PD_FIELD(TOD) && !script->clock.known)
        return missing(script, "Can't provide 'tod' time, missing clock data. Please record with "
                               "-k/--clockid option.");
    return PERFDATA_OK;
}

/* The first event of a kind decides for the kind. */
static perfdata_status check_kind(struct pd_script *script, struct pd_script_fields *set,
                                  const struct pd_event *event)
{
    bool aux = pd_recording_has_feature(script->recording, PD_FEATURE_AUXTRACE);
    for (unsigned i = 0; i < PD_FIELD_COUNT; i++) {
        uint64_t bit = UINT64_C(1) << i;
        if (!(set->fields & bit) || !fields[i].needs || event->attr.sample_type & fields[i].needs)
            continue;
        if (!(set->asked & bit)) {
            set->fields &= ~bit;
        } else if (!aux || !fields[i].aux) {
            script->perf_exit = 255;
            return pd_fail(
                &script->recording->context, PERFDATA_ERROR_NO_DATA, -1,
                "Samples for '%s' event do not have %s attribute set. Cannot print '%s' field.",
                event->name, fields[i].wanted, fields[i].name);
        }
    }
    return check_consistency(script, event, set->fields);
}

static const struct pd_event *first_of_kind(const struct pd_recording *recording,
                                            enum pd_script_kind kind)
{
    for (size_t i = 0; i < recording->event_count; i++)
        if (!is_dummy(recording->events[i]) && kind_of(recording->events[i]->attr.type) == kind)
            return recording->events[i];
    return NULL;
}

/* All tracepoints show addresses as soon as one of them has chains. */
static void set_trace_places(struct pd_script *script)
{
    struct pd_script_fields *set = &script->kinds[PD_SCRIPT_TRACE];
    for (size_t i = 0; i < script->recording->event_count; i++) {
        const struct pd_event *event = script->recording->events[i];
        if (event->attr.type == PD_TYPE_TRACEPOINT && has_chain(event))
            set->fields |= PD_FIELD(IP) | PD_FIELD(SYM) | PD_FIELD(SYMOFF) | PD_FIELD(DSO);
    }
}

/* perf learns of a pipe's events after it has read -F, and then adds the fields with which a call
 * chain is printed. */
static void add_chain_places(struct pd_script *script)
{
    for (size_t i = 0; i < script->recording->event_count; i++) {
        const struct pd_event *event = script->recording->events[i];
        struct pd_script_fields *set = &script->kinds[kind_of(event->attr.type)];
        if (has_chain(event))
            set->fields |= (PD_FIELD(IP) | PD_FIELD(SYM)) & ~set->removed;
    }
}

static bool correlates(const struct pd_attr *attr)
{
    if (attr->type != PD_TYPE_SOFTWARE)
        return false;
    return attr->config == PD_SW_PAGE_FAULTS || attr->config == PD_SW_PAGE_FAULTS_MIN ||
           attr->config == PD_SW_PAGE_FAULTS_MAJ;
}

static bool is_branch_trace(const struct pd_attr *attr)
{
    return attr->type == PD_TYPE_HARDWARE && attr->config == PD_HW_BRANCH_INSTRUCTIONS &&
           attr->sample_period == 1;
}

bool pd_script_address_is_code(const struct pd_event *event)
{
    return event->attr.sample_type & PD_SAMPLE_ADDR &&
           (correlates(&event->attr) || is_branch_trace(&event->attr));
}

static perfdata_status open_tracing(struct pd_script *script)
{
    const struct pd_features *features = &script->recording->features;
    const struct pd_span *data = &features->tracing_data.data;
    if (script->tracing || !features->tracing_data.present || !data->size)
        return PERFDATA_OK;
    return pd_tracing_open(&script->recording->context, data->data, data->size, NULL,
                           &script->tracing);
}

static perfdata_status plan_trace(struct pd_script *script, struct pd_script_event *plan)
{
    const struct pd_attr *attr = &plan->event->attr;
    if (attr->type != PD_TYPE_TRACEPOINT || !(plan->fields & PD_FIELD(TRACE)))
        return PERFDATA_OK;
    perfdata_status status = open_tracing(script);
    if (!status && script->tracing)
        plan->format = pd_tracing_format(script->tracing, attr->config);
    return status;
}

static perfdata_status plan_events(struct pd_script *script)
{
    const struct pd_recording *recording = script->recording;
    size_t width = 0;
    for (size_t i = 0; i < recording->event_count; i++)
        width = PD_MAX(width, strlen(recording->events[i]->name));
    script->form.line_room = PD_START_ROOM + pd_block_room(width + 3);
    script->events = pd_arena_zalloc(&script->arena,
                                     (recording->event_count + 1) * sizeof *script->events);
    if (!script->events)
        return PERFDATA_ERROR_MEMORY;
    for (size_t i = 0; i < recording->event_count; i++) {
        const struct pd_event *event = recording->events[i];
        const struct pd_script_fields *set = &script->kinds[kind_of(event->attr.type)];
        struct pd_script_event *plan = &script->events[i];
        char *name = pd_arena_zalloc(&script->arena, pd_block_room(width + 3));
        if (!name)
            return PERFDATA_ERROR_MEMORY;
        size_t length = strlen(event->name);
        memset(name, ' ', width - length);
        memcpy(name + width - length, event->name, length);
        memcpy(name + width, ": ", 3);
        *plan = (struct pd_script_event){ event, set->fields, name, width + 2 };
        plan->has_chain = has_chain(event) && script->form.use_callchain &&
                          set->fields & PD_FIELD(IP);
        plan->plain_comm = plan->has_chain;
        plan->branch_trace = is_branch_trace(&event->attr);
        plan->address_symbol = correlates(&event->attr) || plan->branch_trace;
        plan->address_shown = set->fields & PD_FIELD(ADDR) ||
                              (event->attr.sample_type & PD_SAMPLE_ADDR && !set->user_set);
        plan->bpf_output = event->attr.type == PD_TYPE_SOFTWARE &&
                           event->attr.config == PD_SW_BPF_OUTPUT &&
                           set->fields & PD_FIELD(BPF_OUTPUT);
        if (set->fields & PD_FIELD(BRCNTR) &&
            event->plan.branch_sample_type & PD_BRANCH_SAMPLE_COUNTERS) {
            plan->counters = pd_arena_alloc(&script->arena, sizeof *plan->counters);
            if (!plan->counters)
                return PERFDATA_ERROR_MEMORY;
            pd_branch_counters_of(script->recording, event, plan->counters);
        }
        bool json = script->options->flags & PERFDATA_SCRIPT_JSON;
        plan->series = !json && pd_script_has_series(script, plan);
        perfdata_status status = json ? pd_script_json_check_fields(script, plan->fields)
                                      : PERFDATA_OK;
        if (!status)
            status = plan_trace(script, plan);
        if (status)
            return status;
    }
    return PERFDATA_OK;
}

/* Refuses a default field of an event of the recording that we cannot print yet. */
static perfdata_status check_done(struct pd_script *script, uint64_t set)
{
    for (unsigned i = 0; i < PD_FIELD_COUNT; i++)
        if (set >> i & 1 && !fields[i].done)
            return refuse_field(script, i);
    return PERFDATA_OK;
}

perfdata_status pd_script_check_fields(struct pd_script *script)
{
    const struct pd_recording *recording = script->recording;
    const struct pd_event *first[PD_SCRIPT_KINDS];
    for (int k = 0; k < PD_SCRIPT_KINDS; k++) {
        struct pd_script_fields *set = &script->kinds[k];
        first[k] = first_of_kind(recording, (enum pd_script_kind)k);
        if (!first[k] && set->user_set && !set->wildcard && k != PD_SCRIPT_SYNTH) {
            script->perf_exit = 255;
            return pd_fail(&script->recording->context, PERFDATA_ERROR_NO_DATA, -1,
                           "%s events do not exist. Remove corresponding -F option to proceed.",
                           kinds[k].name);
        }
        perfdata_status status = first[k] && set->fields && !script->is_stat
                                     ? check_kind(script, set, first[k])
                                     : PERFDATA_OK;
        if (status)
            return status;
    }
    if (!any_has(recording, PD_SAMPLE_CALLCHAIN))
        script->form.use_callchain = false;
    if (script->form.use_callchain && !script->kinds[PD_SCRIPT_TRACE].user_set)
        set_trace_places(script);
    if (script->form.use_callchain && recording->kind == PD_CONTAINER_PIPE)
        add_chain_places(script);
    for (int k = 0; k < PD_SCRIPT_KINDS; k++) {
        perfdata_status status = first[k] ? check_done(script, script->kinds[k].fields)
                                          : PERFDATA_OK;
        if (status)
            return status;
    }
    return PERFDATA_OK;
}

bool pd_script_shows_calls(const struct pd_script *script)
{
    for (int k = 0; k < PD_SCRIPT_KINDS; k++)
        if (script->kinds[k].fields & PD_FIELD(CALLINDENT))
            return true;
    return false;
}

/* perf learns of these events one by one, long after it has read -F. So which fields one of them
 * can show depends on the events before it. */
static perfdata_status check_added(struct pd_script *script)
{
    const struct pd_recording *recording = script->recording;
    uint64_t all = 0;
    for (size_t i = 0; i < recording->event_count; i++) {
        const struct pd_event *event = recording->events[i];
        struct pd_script_fields *set = &script->kinds[kind_of(event->attr.type)];
        all |= event->attr.sample_type;
        if (!event->synthesised)
            continue;
        perfdata_status status = check_kind(script, set, event);
        if (!status)
            status = check_done(script, set->fields);
        if (status)
            return status;
        if (script->form.use_callchain && all & (PD_SAMPLE_CALLCHAIN | PD_SAMPLE_BRANCH_STACK))
            set->fields |= (PD_FIELD(IP) | PD_FIELD(SYM)) & ~set->removed;
    }
    return PERFDATA_OK;
}

perfdata_status pd_script_plan_events(struct pd_script *script)
{
    if (script->session.synth && (script->itrace.callchain || script->itrace.add_callchain))
        script->form.use_callchain = true;
    perfdata_status status = check_added(script);
    return status ? status : plan_events(script);
}
