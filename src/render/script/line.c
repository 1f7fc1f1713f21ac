/* SPDX-License-Identifier: MIT */
/* The line of a sample. What nearly every line has is written straight into room that is reserved
 * once; what is rare goes through the text writer. */
#include "base/digits.h"
#include "render/raw_dump/raw_dump.h"
#include "render/script/json.h"
#include <stdio.h>

/* ---- the start: comm to time ---- */

/* Puts at most 8 digits; the bytes behind them may be overwritten. */
static char *put_int(char *to, uint32_t value, unsigned width, bool left)
{
    bool negative = (int32_t)value < 0;
    uint32_t magnitude = negative ? 0 - value : value;
    unsigned length = pd_digit_count(magnitude) + negative,
             pad = length < width ? width - length : 0;
    if (!left) {
        memset(to, ' ', 8);
        to += pad;
    }
    if (negative)
        *to++ = '-';
    to = pd_put_u64(to, magnitude);
    if (left) {
        memset(to, ' ', 8);
        to += pad;
    }
    return to;
}

/* As %03d, of which a sign takes one place. */
static char *put_cpu(char *to, uint32_t cpu)
{
    if (PD_LIKELY(cpu < 1000))
        return pd_put_fixed(to, cpu, 3);
    if ((int32_t)cpu >= 0)
        return pd_put_u64(to, cpu);
    *to++ = '-';
    uint32_t magnitude = 0 - cpu;
    return magnitude < 100 ? pd_put_fixed(to, magnitude, 2) : pd_put_u64(to, magnitude);
}

/* For names that may be longer than the room that was reserved for a line. */
static PD_NOINLINE char *put_rare_comm(const struct pd_script *script,
                                       const struct pd_script_event *plan, const char *comm,
                                       struct pd_text *text)
{
    size_t length = strlen(comm), width = script->form.latency ? 8 : plan->plain_comm ? 0 : 16;
    if (script->form.latency)
        length = PD_MIN(length, 8);
    char *to = pd_text_room(text, script->form.line_room + length);
    if (!to)
        return NULL;
    if (length < width) {
        memset(to, ' ', width - length);
        to += width - length;
    }
    to = pd_put_bytes(to, comm, length);
    *to++ = ' ';
    return to;
}

static bool keep_comm(struct pd_comm_text *slot, const char *comm)
{
    size_t length = strlen(comm);
    if (length > 15)
        return false;
    memset(slot->padded, ' ', sizeof slot->padded);
    memcpy(slot->padded + 16 - length, comm, length);
    slot->comm = comm;
    slot->length = (uint32_t)length;
    return true;
}

/* A name stays where it is in memory, so its address identifies it. */
PD_INLINE char *put_comm(struct pd_script_worker *worker, const struct pd_script_event *plan,
                         const char *comm, struct pd_text *text, char *to)
{
    size_t hash = (size_t)(((uintptr_t)comm * UINT64_C(0x9e3779b97f4a7c15)) >> 40);
    struct pd_comm_text *slot = &worker->texts.comms[hash & (PD_COMM_TEXTS - 1)];
    if (PD_UNLIKELY(worker->script->form.latency) ||
        (PD_UNLIKELY(slot->comm != comm) && !keep_comm(slot, comm)))
        return put_rare_comm(worker->script, plan, comm, text);
    memcpy(to, slot->padded, 20);
    if (!plan->plain_comm)
        return to + 17;
    memmove(to, to + 16 - slot->length, 17);
    return to + slot->length + 1;
}

static char *put_misc(char *to, const struct pd_line_start *start)
{
    static const char letters[] =
        "KUHGg"; /* of cpumodes 1 to 5; a letter shows when its bits are all there */
    unsigned mode = start->misc & PD_MISC_CPUMODE_MASK;
    char *begin = to;
    for (unsigned i = 0; i < 5; i++)
        if ((mode & (i + 1)) == i + 1)
            *to++ = letters[i];
    switch (start->type) {
    case PD_RECORD_MMAP:
    case PD_RECORD_MMAP2:
        if (start->misc & PD_MISC_MMAP_DATA)
            *to++ = 'M';
        break;
    case PD_RECORD_COMM:
        if (start->misc & PD_MISC_COMM_EXEC)
            *to++ = 'E';
        break;
    case PD_RECORD_SWITCH:
    case PD_RECORD_SWITCH_CPU_WIDE:
        if (start->misc & PD_MISC_SWITCH_OUT) {
            *to++ = 'S';
            if (start->misc & PD_MISC_SWITCH_OUT_PREEMPT)
                *to++ = 'p';
        }
        break;
    default: break;
    }
    size_t used = (size_t)(to - begin), pad = used < 5 ? 6 - used : 1;
    memset(to, ' ', pad);
    return to + pad;
}

/* Puts the time, whose text is often that of the line before. */
PD_INLINE char *put_time(struct pd_script_worker *worker, char *to, uint64_t time)
{
    struct pd_time_text *last = &worker->texts.time;
    if (last->time != time || !last->length)
        pd_script_make_time(worker, time);
    memcpy(to, last->text, sizeof last->text);
    return to + last->length;
}

/* Puts the process that runs the guest, and the guest's CPU. */
static PD_NOINLINE void put_machine(uint64_t fields, const struct pd_line_start *start,
                                    struct pd_text *text)
{
    if (fields & PD_FIELD(MACHINE_PID))
        pd_text_format(text, "VM:%5d ", (int)start->machine_pid);
    if (fields & PD_FIELD(VCPU))
        pd_text_format(text, "VCPU:%03d ", (int)start->vcpu - 1);
}

/* comm to misc */
static char *put_head(struct pd_script_worker *worker, const struct pd_script_event *plan,
                      const struct pd_line_start *start, struct pd_text *text, char *to)
{
    uint64_t fields = plan->fields;
    if (fields & PD_FIELD(COMM))
        to = put_comm(worker, plan, start->comm, text, to);
    if (PD_UNLIKELY(!to))
        return NULL;
    if (fields & PD_FIELD(PID)) {
        to = put_int(to, start->pid, 5, false);
        if (fields & PD_FIELD(TID)) {
            *to++ = '/';
            to = put_int(to, start->tid, 5, true);
        }
        *to++ = ' ';
    } else if (fields & PD_FIELD(TID)) {
        to = put_int(to, start->tid, 5, false);
        *to++ = ' ';
    }
    if (fields & PD_FIELD(CPU)) {
        if (PD_UNLIKELY(worker->script->form.latency)) {
            to = put_int(to, start->cpu, 3, false);
        } else {
            *to++ = '[';
            to = put_cpu(to, start->cpu);
            *to++ = ']';
        }
        *to++ = ' ';
    }
    return fields & PD_FIELD(MISC) ? put_misc(to, start) : to;
}

PD_INLINE bool is_head(const struct pd_head_text *head, const struct pd_script_event *plan,
                       const struct pd_line_start *start)
{
    return head->plan == plan && head->comm == start->comm && head->tid == start->tid &&
           head->pid == start->pid && head->cpu == start->cpu && head->type == start->type &&
           head->misc == start->misc;
}

static PD_NOINLINE char *put_new_head(struct pd_script_worker *worker,
                                      const struct pd_script_event *plan,
                                      const struct pd_line_start *start, struct pd_text *text,
                                      char *to)
{
    struct pd_head_text *head = pd_script_head(worker, start->cpu);
    char *end = put_head(worker, plan, start, text, to);
    size_t length = end ? (size_t)(end - (text->data + text->length)) : sizeof head->text + 1;
    head->plan = length <= sizeof head->text ? plan : NULL;
    if (!head->plan)
        return end;
    head->comm = start->comm;
    head->pid = start->pid;
    head->tid = start->tid;
    head->cpu = start->cpu;
    head->type = start->type;
    head->misc = start->misc;
    head->length = (uint32_t)length;
    memcpy(head->text, end - length, length);
    return end;
}

char *pd_script_start(struct pd_script_worker *worker, const struct pd_script_event *plan,
                      const struct pd_line_start *start, struct pd_text *text)
{
    const struct pd_script *script = worker->script;
    uint64_t fields = plan->fields;
    if (PD_UNLIKELY(start->vcpu))
        put_machine(fields, start, text);
    char *to = pd_text_room(text, script->form.line_room);
    if (PD_UNLIKELY(!to))
        return NULL;
    const struct pd_head_text *head = pd_script_head(worker, start->cpu);
    if (PD_LIKELY(is_head(head, plan, start)))
        to = pd_put_block(to, head->text, head->length);
    else
        to = put_new_head(worker, plan, start, text, to);
    if (PD_UNLIKELY(!to))
        return NULL;
    if (PD_UNLIKELY(fields & PD_FIELD(TOD)))
        to = pd_script_put_day(script, to, start->time);
    if (fields & PD_FIELD(TIME)) {
        if (PD_LIKELY(!script->order.sequential))
            to = put_time(worker, to, start->time);
        else if (!pd_vec_push(&worker->gaps->gaps,
                              (struct pd_time_gap){ (size_t)(to - text->data), start->time }))
            text->failed = true;
    }
    return to;
}

/* ---- fields that few lines have ---- */

/* Puts the address that the sample is about, with its symbol where it can have one. */
static void put_address(struct pd_script_worker *worker, const struct pd_script_event *plan,
                        const struct pd_sample *sample, const struct pd_delivered *record,
                        struct pd_text *text)
{
    pd_text_hex(text, sample->addr, 16, ' ');
    if (!plan->address_symbol)
        return;
    const struct pd_location *location = pd_resolve_any(
        worker->resolver, record->thread, record->number, sample->cpumode, sample->addr);
    if (location)
        pd_script_symbol(worker->script, plan->fields, location, text);
    else
        text->failed = true;
}

static void put_word_address(struct pd_text *text, uint64_t address)
{
    pd_text_hex(text, address, 16, ' ');
}

static void put_word_page_size(struct pd_text *text, uint64_t size)
{
    pd_text_char(text, ' ');
    pd_size_text(size, text);
}

#define BPF_LINE 8

static void put_bpf_line(struct pd_text *text, const uint8_t *bytes, size_t at, size_t size)
{
    pd_text_format(text, "%17s %04zx:", at ? "           " : "BPF output:", at);
    for (size_t i = 0; i < BPF_LINE; i++) {
        pd_text_char(text, ' ');
        if (at + i < size)
            pd_text_hex(text, bytes[at + i], 2, '0');
        else
            pd_text_fill(text, ' ', 2);
    }
    pd_text_fill(text, ' ', 2);
    for (size_t i = 0; i < BPF_LINE; i++) {
        uint8_t c = at + i < size ? bytes[at + i] : ' ';
        pd_text_char(text, c >= ' ' && c < 0x7f ? (char)c : '.');
    }
    pd_text_char(text, '\n');
}

static void put_bpf_output(const struct pd_sample *sample, struct pd_text *text)
{
    const uint8_t *bytes = sample->raw;
    size_t size = bytes ? sample->raw_size : 0, length = 0;
    pd_text_char(text, '\n');
    for (size_t at = 0; at < size; at += BPF_LINE)
        put_bpf_line(text, bytes, at, size);
    while (length < size && bytes[length] >= ' ' && bytes[length] < 0x7f)
        length++;
    if (length == size) /* no NUL: no string */
        return;
    for (size_t i = length; i < size; i++)
        if (bytes[i])
            return;
    pd_text_format(text, "%17s \"%.*s\"\n", "BPF string:", (int)length, (const char *)bytes);
}

struct kernel_place {
    struct pd_script_worker *worker;
    const struct pd_delivered *record;
};

/* The name that is shown for a payload's pointer into the kernel. */
static const char *name_kernel(void *data, uint64_t address, uint64_t *start)
{
    const struct kernel_place *place = data;
    const struct pd_delivered *record = place->record;
    const struct pd_location *location = pd_resolve(place->worker->resolver, record->thread,
                                                    record->number, PD_CPUMODE_KERNEL, address);
    if (!location || !location->sym)
        return NULL;
    *start = address - (location->addr - location->sym->start);
    return location->sym->name;
}

static void put_trace(struct pd_script_worker *worker, const struct pd_script_event *plan,
                      const struct pd_sample *sample, const struct pd_delivered *record,
                      struct pd_text *text)
{
    struct kernel_place place = { worker, record };
    struct pd_trace_resolver resolver = { name_kernel, &place };
    if (plan->format && sample->raw)
        pd_trace_print(plan->format, &resolver, sample->raw, sample->raw_size, text);
}

/* Puts the fields that stand between event and ip. */
static void put_before_ip(struct pd_script_worker *worker, const struct pd_script_event *plan,
                          const struct pd_sample *sample, const struct pd_delivered *record,
                          struct pd_text *text)
{
    bool parts = plan->event->attr.sample_type & PD_SAMPLE_WEIGHT_STRUCT;
    if (plan->fields & PD_FIELD(FLAGS))
        pd_script_flags(worker, record, text);
    if (plan->fields & PD_FIELD(TRACE))
        put_trace(worker, plan, sample, record, text);
    if (plan->fields & PD_FIELD(SYNTH))
        pd_script_synth(sample, text);
    if (plan->fields & PD_FIELD(ADDR))
        put_address(worker, plan, sample, record, text);
    if (plan->fields & PD_FIELD(DATA_SRC))
        pd_script_data_source(worker, sample, text);
    if (plan->fields & PD_FIELD(WEIGHT))
        pd_text_u64(text, parts ? (uint32_t)sample->weight : sample->weight, 16, ' ');
    if (plan->fields & PD_FIELD(INS_LAT))
        pd_text_u64(text, parts ? (uint16_t)(sample->weight >> 32) : 0, 16, ' ');
    if (plan->fields & PD_FIELD(RETIRE_LAT))
        pd_text_u64(text, parts ? (uint16_t)(sample->weight >> 48) : 0, 16, ' ');
}

/* Puts the cgroup's name as of the sample's time, or its number where no record names it. */
static void put_cgroup(struct pd_script_worker *worker, const struct pd_sample *sample,
                       const struct pd_delivered *record, struct pd_text *text)
{
    const char *name = pd_timeline_cgroup(worker->script->session.timeline, record->number,
                                          sample->cgroup);
    if (name)
        pd_text_format(text, " %16s", name);
    else
        pd_text_u64(text, sample->cgroup, 17, ' ');
}

static void put_words(uint64_t fields, const struct pd_sample *sample, struct pd_text *text)
{
#define FIELD(NAME, name, done, needs, wanted, aux, about)
#define WORD(NAME, name, needs, wanted, aux, about, member, form)                                  \
    if (fields & PD_FIELD(NAME))                                                                   \
        put_word_##form(text, sample->member);
#include "render/script/fields.def"
#undef FIELD
}

static void put_after_ip(struct pd_script_worker *worker, const struct pd_script_event *plan,
                         const struct pd_sample *sample, const struct pd_delivered *record,
                         struct pd_text *text)
{
    if (plan->bpf_output)
        put_bpf_output(sample, text);
    if (plan->fields & PD_INSN_FIELDS)
        pd_script_insn(worker, plan->fields, plan->counters, sample, record, text);
    if (plan->fields & pd_word_fields)
        put_words(plan->fields, sample, text);
    if (plan->fields & PD_FIELD(IPC))
        pd_script_ipc(record, text);
    if (plan->fields & PD_FIELD(CGROUP))
        put_cgroup(worker, sample, record, text);
}

#define BEFORE_IP                                                                                  \
    (PD_FIELD(FLAGS) | PD_FIELD(TRACE) | PD_FIELD(SYNTH) | PD_FIELD(ADDR) | PD_FIELD(DATA_SRC) |   \
     PD_FIELD(WEIGHT) | PD_FIELD(INS_LAT) | PD_FIELD(RETIRE_LAT))
#define AFTER_IP                                                                                   \
    (PD_EXTRA_AFTER_IP | PD_INSN_FIELDS | PD_FIELD(BPF_OUTPUT) | pd_word_fields | PD_FIELD(IPC) |  \
     PD_FIELD(CGROUP))

/* ---- a sample ---- */

PD_INLINE struct pd_location *resolve(struct pd_script_worker *worker,
                                      const struct pd_sample *sample,
                                      const struct pd_delivered *record)
{
    if (PD_LIKELY(worker->location != NULL))
        return worker->location;
    return pd_resolve(worker->resolver, record->thread, record->number, sample->cpumode,
                      sample->ip);
}

PD_INLINE bool is_guest(const struct pd_sample *sample)
{
    return sample->cpumode == PD_CPUMODE_GUEST_KERNEL || sample->cpumode == PD_CPUMODE_GUEST_USER;
}

/* Whether samples of guests are shown: as in perf, where they are asked for. */
static PD_NOINLINE bool shows_guests(const struct pd_script *script)
{
    return script->options->flags & PERFDATA_SCRIPT_GUEST_CODE || script->session.guests.wanted;
}

static bool keep(struct pd_script_worker *worker, const struct pd_sample *sample,
                 const struct pd_delivered *record)
{
    const struct pd_filter *filter = &worker->script->filter;
    if (pd_filter_has_thread(filter) && !pd_filter_thread(filter, record->thread, record->number))
        return false;
    if (!pd_filter_has_location(filter))
        return true;
    const struct pd_location *location = resolve(worker, sample, record);
    return location && pd_filter_location(filter, worker->script->session.symbols, location);
}

static void put_ip(struct pd_script_worker *worker, const struct pd_script_event *plan,
                   uint64_t fields, const struct pd_sample *sample,
                   const struct pd_delivered *record, struct pd_text *text)
{
    if (plan->has_chain && sample->callchain &&
        (worker->script->form.max_stack ||
         !pd_chain_of_none_fails(worker->resolver, sample, record->thread, record->number))) {
        pd_text_char(text, '\n');
        pd_script_chain(worker, plan, sample, record, text);
        return;
    }
    if (worker->point && pd_script_put_point(worker, fields, worker->point, sample->ip, text))
        return;
    struct pd_location *location = resolve(worker, sample, record);
    const struct pd_place *place = location ? pd_script_place(worker, fields, location) : NULL;
    char *to = place ? pd_text_room(text, PD_ADDRESS_WIDTH + 1 + pd_block_room(place->length))
                     : NULL;
    if (!to) {
        text->failed = true;
        return;
    }
    *to = ' ';
    pd_put_block(pd_put_hex16(to + 1, sample->ip), place->text, place->length);
    text->length += PD_ADDRESS_WIDTH + place->length + 1;
}

/* Puts "from => to"; the texts of these addresses are known from earlier lines. */
static void put_target(struct pd_script_worker *worker, const struct pd_script_event *plan,
                       const struct pd_sample *sample, const struct pd_delivered *record,
                       struct pd_text *text)
{
    uint64_t fields = plan->fields & ~PD_FIELD(SRCLINE);
    struct pd_location *location = pd_resolve_any(worker->resolver, record->thread, record->number,
                                                  sample->cpumode, sample->addr);
    const struct pd_place *place = location ? pd_script_place(worker, fields, location) : NULL;
    char *to = place ? pd_text_room(text, PD_ADDRESS_WIDTH + 4 + pd_block_room(place->length))
                     : NULL;
    if (!to) {
        text->failed = true;
        return;
    }
    to = pd_put_hex16(pd_put_bytes(to, " => ", 4), sample->addr);
    pd_put_block(to, place->text, place->length);
    text->length += PD_ADDRESS_WIDTH + place->length + 4;
}

/* Puts "from => to" of BTS or of a trace's branches. */
static void put_branch(struct pd_script_worker *worker, const struct pd_script_event *plan,
                       const struct pd_sample *sample, const struct pd_delivered *record,
                       struct pd_text *text)
{
    bool line_last = plan->fields & PD_FIELD(SRCLINE) && !plan->has_chain;
    uint64_t fields = line_last ? plan->fields & ~PD_FIELD(SRCLINE) : plan->fields;
    if (PD_UNLIKELY(plan->fields & PD_FIELD(CALLINDENT)))
        pd_script_call(worker, plan, sample, record, text);
    if (plan->fields & PD_FIELD(IP))
        put_ip(worker, plan, fields, sample, record, text);
    if (plan->address_shown)
        put_target(worker, plan, sample, record, text);
    if (plan->fields & PD_FIELD(IPC))
        pd_script_ipc(record, text);
    const struct pd_location *location = line_last ? resolve(worker, sample, record) : NULL;
    if (location)
        pd_script_srcline(worker->script, location, location->addr, text);
    if (plan->fields & PD_INSN_FIELDS)
        pd_script_insn(worker, plan->fields, plan->counters, sample, record, text);
}

static const char *comm_of(const struct pd_delivered *record)
{
    const struct pd_comm *comm = record->thread ? pd_thread_comm(record->thread, record->number)
                                                : NULL;
    return comm ? pd_comm_text(comm, record->number) : ":-1";
}

/* Names stay where they are in memory: see put_comm(). */
static PD_NOINLINE const char *guest_name(struct pd_script_worker *worker, uint32_t pid)
{
    uint32_t at = pd_map64_get(&worker->guests.at, pid);
    if (at != PD_MAP64_NONE)
        return worker->guests.names.data[at];
    char text[32];
    snprintf(text, sizeof text, "[guest/%d]", (int)pid);
    char *name = pd_arena_strdup(&worker->guests.arena, text);
    if (!name || !pd_vec_push(&worker->guests.names, name) ||
        !pd_map64_set(&worker->guests.at, pid, (uint32_t)worker->guests.names.count - 1))
        return "[guest]";
    return name;
}

const char *pd_script_comm(struct pd_script_worker *worker, const struct pd_sample *sample,
                           const struct pd_delivered *record)
{
    bool named = worker->script->options->flags & PERFDATA_SCRIPT_GUEST_CODE &&
                 sample->pid != UINT32_MAX;
    return named && is_guest(sample) ? guest_name(worker, sample->pid) : comm_of(record);
}

bool pd_script_keeps(struct pd_script_worker *worker, const struct pd_sample *sample,
                     const struct pd_delivered *record)
{
    return keep(worker, sample, record);
}

/* Whether a loaded filter drops the sample before CPUs and times are looked at. */
static PD_NOINLINE bool early_drops(struct pd_script_worker *worker,
                                    const struct pd_script_event *plan,
                                    const struct pd_sample *sample,
                                    const struct pd_delivered *record, struct pd_text *text)
{
    const struct pd_filter *filter = &worker->script->filter;
    return pd_dlfilter_drops(worker, plan, sample, record, true, text) ||
           !pd_filter_time(filter, sample->time) || !pd_filter_cpu(filter, sample->cpu);
}

/* Whether the options or a loaded filter drop the sample. */
static bool drops(struct pd_script_worker *worker, const struct pd_script_event *plan,
                  const struct pd_sample *sample, const struct pd_delivered *record,
                  struct pd_text *text)
{
    struct pd_script *script = worker->script;
    if (PD_UNLIKELY(script->dlfilter) && early_drops(worker, plan, sample, record, text))
        return true;
    if (PD_UNLIKELY(is_guest(sample)) && !shows_guests(script))
        return true;
    if (!keep(worker, sample, record))
        return true;
    if (PD_UNLIKELY(pd_event_switch_any(&script->event_switch)) &&
        pd_event_switch_drops(&script->event_switch, record->event))
        return true;
    if (PD_UNLIKELY(script->options->graph_functions) &&
        !pd_script_graph(worker, plan, sample, record))
        return true;
    return PD_UNLIKELY(script->dlfilter) &&
           pd_dlfilter_drops(worker, plan, sample, record, false, text);
}

/* Puts what stands behind the event's name, up to the line's end. */
static void put_fields(struct pd_script_worker *worker, const struct pd_script_event *plan,
                       const struct pd_sample *sample, const struct pd_delivered *record,
                       struct pd_text *text)
{
    if (PD_UNLIKELY(plan->branch_trace)) {
        if (plan->fields & PD_FIELD(FLAGS))
            pd_script_flags(worker, record, text);
        put_branch(worker, plan, sample, record, text);
        return;
    }
    if (PD_UNLIKELY(plan->fields & BEFORE_IP))
        put_before_ip(worker, plan, sample, record, text);
    if (plan->fields & PD_FIELD(IP))
        put_ip(worker, plan, plan->fields, sample, record, text);
    if (PD_UNLIKELY(plan->fields & PD_EXTRA_AFTER_IP))
        pd_script_after_ip(worker, plan, sample, record, text);
    if (PD_UNLIKELY(plan->fields & AFTER_IP))
        put_after_ip(worker, plan, sample, record, text);
}

void pd_script_sample(struct pd_script_worker *worker, const struct pd_delivered *record,
                      struct pd_text *text)
{
    if (PD_UNLIKELY(!record->event))
        return;
    struct pd_script *script = worker->script;
    const struct pd_script_event *plan = &script->events[record->event->index];
    struct pd_sample local, *sample = &local;
    if (PD_UNLIKELY(!plan->fields))
        return;
    if (pd_synth_is_fixed(record)) {
        sample = &worker->synthesised;
        pd_synth_sample(record, sample);
    } else if (PD_UNLIKELY(pd_delivered_sample(record, sample) < 0)) {
        pd_issue(&script->recording->context, PERFDATA_ISSUE_BAD_SAMPLE, (int64_t)record->offset,
                 "a sample says more than it holds");
        return;
    }
    if (drops(worker, plan, sample, record, text))
        return;
    if (PD_UNLIKELY(script->options->flags & PERFDATA_SCRIPT_PT_EVENTS)) {
        pd_script_pt_sample(worker, plan, sample, record, text);
        return;
    }
    struct pd_line_start start = {
        PD_UNLIKELY(is_guest(sample))   ? pd_script_comm(worker, sample, record)
        : plan->fields & PD_FIELD(COMM) ? comm_of(record)
                                        : "",
        sample->pid, sample->tid, sample->cpu, PD_RECORD_SAMPLE,
        /* what is made from a trace has none in perf */
        record->facts && !record->facts->recorded ? 0 : sample->misc, sample->time,
        .vcpu = record->vcpu,
        .machine_pid = PD_UNLIKELY(record->vcpu) ? pd_timeline_machine(record->thread->timeline) : 0
    };
    if (PD_UNLIKELY(script->options->flags & PERFDATA_SCRIPT_JSON)) {
        pd_script_json(worker, plan, &start, sample, record, text);
        worker->samples++;
        return;
    }
    if (PD_UNLIKELY(plan->counters) && !(script->options->flags & PERFDATA_SCRIPT_VERBOSE_NAMES))
        pd_branch_counters_list(plan->counters, text);
    char *to = pd_script_start(worker, plan, &start, text);
    if (PD_UNLIKELY(!to))
        return;
    if (plan->fields & PD_FIELD(PERIOD)) {
        to = pd_put_u64_right(to, sample->period, 10);
        *to++ = ' ';
    }
    if (plan->fields & PD_FIELD(EVENT))
        to = pd_put_block(to, plan->name, plan->name_length);
    text->length = (size_t)(to - text->data);
    put_fields(worker, plan, sample, record, text);
    pd_text_char(text, '\n');
    if (PD_UNLIKELY(plan->fields & PD_FIELD(SRCCODE))) {
        const struct pd_location *location = resolve(worker, sample, record);
        if (location)
            pd_script_source_put(worker->source, script, location, record, text);
    }
    worker->samples++;
}
