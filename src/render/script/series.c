/* SPDX-License-Identifier: MIT */
/* Samples made from a trace come in series: thousands of one thread that differ in their times and
 * addresses only. What their lines have in common is kept as text, and so is the text of each
 * address, with its instruction where that is shown. A line is then put together from copies of
 * these. The first line of a series is made the long way (line.c), as is every line with something
 * rare in it. */
#include "base/digits.h"
#include "render/script/plan.h"
#include <stdlib.h>

enum {
    SERIES = 16,                /* a power of 2: two for each of some CPUs, for kernel and user */
    SLOT_BITS = 11,             /* addresses */
    STEP = 32,                  /* short texts are copied in such steps */
    SLOT_TEXT = 224,            /* with 32 bytes before it four cache lines */
    ARROW = 3,                  /* " =>", which a target has before its blank */
    LONGEST = SLOT_TEXT - STEP, /* of what follows the arrow; it is read in whole steps */
    START_ROOM = 64,            /* for all up to the time, and for all between time and address */
    LINE_ROOM = 2 * START_ROOM + 2 * SLOT_TEXT + 192,
    PLAN_BITS = 8
};

/* The text of an address with what follows it up to the end of the line, if no target does. */
struct slot {
    uint64_t ip, stamp; /* of struct series; 0: free */
    const struct pd_location *location;
    uint32_t length;      /* from the blank on */
    uint32_t plan;        /* whose fields */
    char text[SLOT_TEXT]; /* " => ..." */
};

struct series {
    /* What the samples have in common. */
    const struct pd_event *event; /* NULL: no series */
    const struct pd_thread *thread;
    uint64_t from, span; /* numbers, and how many */
    uint64_t period;
    uint32_t pid, tid, cpu;
    uint16_t misc;
    uint8_t cpumode;
    /* Which parts the lines have. */
    bool has_time, has_middle, has_flags, has_insn, has_target;
    uint64_t stamp; /* of maps, cpumode and fields */
    uint64_t kernel_start;
    uint32_t head_length, middle_length;
    char head[START_ROOM];   /* up to the time */
    char middle[START_ROOM]; /* period and event */
};

/* A sample whose line is to be made. */
struct line {
    const struct pd_synth_packed *sample;
    const struct pd_delivered *record; /* NULL: it comes packed */
    const struct pd_synth_origin *origin;
};

struct pd_script_series {
    struct series series[SERIES];
    struct pd_synth_unpacked room; /* of the record */
    struct pd_delivered record;    /* of a packed sample, where it is needed */
    struct pd_text insn;           /* spare */
    unsigned turn;                 /* which slot is given up next */
    struct slot slots[1 << SLOT_BITS];
};

/* ---- which lines come in series ---- */

#define KNOWN_FIELDS                                                                               \
    (PD_FIELD(COMM) | PD_FIELD(TID) | PD_FIELD(PID) | PD_FIELD(TIME) | PD_FIELD(CPU) |             \
     PD_FIELD(EVENT) | PD_FIELD(IP) | PD_FIELD(SYM) | PD_FIELD(DSO) | PD_FIELD(SYMOFF) |           \
     PD_FIELD(PERIOD) | PD_FIELD(MISC) | PD_FIELD(FLAGS) | PD_FIELD(MACHINE_PID) | PD_FIELD(VCPU))

bool pd_script_has_series(const struct pd_script *script, const struct pd_script_event *plan)
{
    uint64_t known = KNOWN_FIELDS | (plan->branch_trace ? PD_FIELD(ADDR) : PD_INSN_OF_SAMPLE);
    return plan->event->synthesised && plan->event->attr.type != (uint32_t)PD_TYPE_SYNTH &&
           plan->event->index < 1u << PLAN_BITS && !script->order.sequential &&
           !script->options->write_event && !(plan->fields & ~known) &&
           plan->fields & PD_FIELD(IP) && !script->options->graph_functions &&
           !(script->options->flags & (PERFDATA_SCRIPT_PT_EVENTS | PERFDATA_SCRIPT_DUMP));
}

static bool is_asked_one_by_one(const struct pd_script *script)
{
    return script->dlfilter || pd_event_switch_any(&script->event_switch) ||
           pd_filter_has_thread(&script->filter) || pd_filter_has_location(&script->filter);
}

bool pd_script_any_series(const struct pd_script *script)
{
    for (size_t i = 0; i < script->recording->event_count; i++)
        if (script->events[i].series && !is_asked_one_by_one(script))
            return true;
    return false;
}

PD_INLINE struct series *series_of(struct pd_script_series *all, uint32_t cpu, uint16_t misc)
{
    bool kernel = misc == PD_CPUMODE_KERNEL;
    return &all->series[(cpu << 1 | kernel) % SERIES];
}

static void put_middle(struct series *series, const struct pd_script_event *plan, uint64_t period)
{
    char *to = series->middle;
    series->period = period;
    if (plan->fields & PD_FIELD(PERIOD)) {
        to = pd_put_u64_right(to, period, 10);
        *to++ = ' ';
    }
    if (plan->fields & PD_FIELD(EVENT)) {
        memcpy(to, plan->name, plan->name_length);
        to += plan->name_length;
    }
    series->middle_length = (uint32_t)(to - series->middle);
}

/* The line of this record was made the long way. The next ones may be like it. */
void pd_script_series_begin(struct pd_script_worker *worker, const struct pd_delivered *record)
{
    enum { PERIOD = 21 };
    struct pd_script *script = worker->script;
    const struct pd_thread *thread = record->thread;
    if (!pd_synth_is_fixed(record) || !thread || record->vcpu ||
        !script->events[record->event->index].series || is_asked_one_by_one(script))
        return;
    const struct pd_script_event *plan = &script->events[record->event->index];
    const struct pd_synth_fixed *fixed = (const void *)record->data;
    uint64_t settled = pd_timeline_settled(thread->timeline);
    struct pd_resolver_span span;
    const struct pd_head_text *head = pd_script_head(worker, fixed->cpu); /* just printed */
    if (plan->name_length + PERIOD > START_ROOM || head->plan != plan || head->cpu != fixed->cpu ||
        head->pid != fixed->pid || head->tid != fixed->tid ||
        !pd_resolver_span(worker->resolver, thread, record->number,
                          record->misc & PD_MISC_CPUMODE_MASK, &span) ||
        span.stamp >> (64 - PLAN_BITS))
        return;
    if (!worker->series)
        worker->series = calloc(1, sizeof *worker->series);
    if (!worker->series) /* no memory: lines are made the long way */
        return;
    struct series *series = series_of(worker->series, fixed->cpu, record->misc);
    series->event = record->event;
    series->thread = thread;
    series->from = record->number;
    series->span = PD_MIN(span.until, pd_thread_comm_until(thread, record->number, settled)) -
                   record->number;
    series->pid = fixed->pid;
    series->tid = fixed->tid;
    series->cpu = fixed->cpu;
    series->misc = record->misc;
    series->cpumode = record->misc & PD_MISC_CPUMODE_MASK;
    series->has_time = plan->fields & PD_FIELD(TIME);
    series->has_middle = plan->fields & (PD_FIELD(PERIOD) | PD_FIELD(EVENT));
    series->has_flags = plan->fields & PD_FIELD(FLAGS);
    series->has_insn = plan->fields & PD_INSN_OF_SAMPLE;
    series->has_target = plan->branch_trace && plan->address_shown;
    series->stamp = span.stamp << PLAN_BITS | record->event->index;
    if (series->has_target) /* the symbols were asked for it before */
        series->kernel_start = pd_symbols_kernel_start(script->session.symbols, record->number);
    series->head_length = head->length;
    memcpy(series->head, head->text, head->length);
    put_middle(series, plan, fixed->period);
}

void pd_script_series_forget(struct pd_script_worker *worker)
{
    if (worker->series)
        memset(worker->series->slots, 0, sizeof worker->series->slots);
}

void pd_script_series_free(struct pd_script_worker *worker)
{
    if (worker->series)
        pd_text_free(&worker->series->insn);
    free(worker->series);
}

/* ---- addresses ---- */

/* An address belongs in one of two neighbouring slots; this is the first to look at. */
PD_INLINE struct slot *slot_of(struct pd_script_series *all, uint64_t ip)
{
    return &all->slots[ip * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SLOT_BITS)];
}

PD_INLINE struct slot *neighbour(struct pd_script_series *all, struct slot *slot)
{
    return &all->slots[(size_t)(slot - all->slots) ^ 1];
}

/* The slot that the address had, or a free one, else either of the two by turns. */
static struct slot *take_slot(struct pd_script_series *all, uint64_t ip)
{
    struct slot *slot = slot_of(all, ip), *other = neighbour(all, slot);
    if (!slot->stamp || slot->ip == ip)
        return slot;
    return !other->stamp || other->ip == ip || all->turn++ & 1 ? other : slot;
}

/* Makes the text of the instruction; false: it may be another one next time. */
static bool make_insn(struct pd_script_worker *worker, const struct pd_delivered *record,
                      uint64_t fields, struct pd_location *location)
{
    struct pd_text *text = &worker->series->insn;
    worker->location = location;
    text->length = 0;
    pd_synth_sample(record, &worker->synthesised);
    if (!pd_script_keeps_insn(worker, &worker->synthesised, record))
        return false;
    pd_script_insn(worker, fields, NULL, &worker->synthesised, record, text);
    return !text->failed;
}

/* The sample's record, which is made here if the sample is packed. */
static const struct pd_delivered *record_of(struct pd_script_series *all, const struct line *line)
{
    if (line->record)
        return line->record;
    pd_synth_unpack_one(line->sample, line->origin, &all->room, &all->record);
    return &all->record;
}

static PD_NOINLINE const struct slot *fill(struct pd_script_worker *worker,
                                           const struct series *series, const struct line *line,
                                           uint64_t ip)
{
    const struct pd_delivered *record = record_of(worker->series, line);
    const struct pd_script_event *plan = &worker->script->events[record->event->index];
    struct pd_location *location = pd_resolve(worker->resolver, record->thread, record->number,
                                              series->cpumode, ip);
    struct slot *slot = take_slot(worker->series, ip);
    /* The stamp is old because other maps have changed; this one has not. */
    if (location && slot->location == location && slot->plan == record->event->index) {
        slot->stamp = series->stamp;
        return slot;
    }
    const struct pd_place *place = location ? pd_script_place(worker, plan->fields, location)
                                            : NULL;
    const struct pd_text *insn = &worker->series->insn;
    if (!place || (series->has_insn && !make_insn(worker, record, plan->fields, location)))
        return NULL;
    size_t shown = PD_ADDRESS_WIDTH + place->length;
    size_t extra = series->has_target ? 0 : 1 + (series->has_insn ? insn->length : 0);
    if (1 + shown + extra > LONGEST)
        return NULL;
    slot->ip = ip;
    slot->stamp = series->stamp;
    slot->location = location;
    slot->plan = record->event->index;
    slot->length = (uint32_t)(1 + shown + extra);
    memcpy(slot->text, " => ", ARROW + 1);
    char *to = pd_put_hex16(slot->text + ARROW + 1, ip);
    to = pd_put_bytes(to, place->text, place->length);
    if (extra) {
        if (extra > 1)
            memcpy(to, insn->data, extra - 1);
        to[extra - 1] = '\n';
    }
    return slot;
}

PD_INLINE const struct slot *find(struct pd_script_worker *worker, const struct series *series,
                                  const struct line *line, uint64_t ip)
{
    struct slot *slot = slot_of(worker->series, ip);
    if (PD_LIKELY(slot->ip == ip && slot->stamp == series->stamp))
        return slot;
    slot = neighbour(worker->series, slot);
    if (slot->ip == ip && slot->stamp == series->stamp)
        return slot;
    return fill(worker, series, line, ip);
}

/* ---- a line ---- */

PD_INLINE void copy_step(char *to, const char *from)
{
    memcpy(to, from, STEP);
}

/* At `from`, whole steps must be readable. */
PD_INLINE char *put(char *to, const char *from, size_t length)
{
    copy_step(to, from);
    if (PD_UNLIKELY(length > STEP))
        copy_step(to + STEP, from + STEP);
    return to + length;
}

PD_INLINE char *put_slot(char *to, const char *from, size_t length)
{
    copy_step(to, from);
    copy_step(to + STEP, from + STEP);
    for (size_t at = 2 * (size_t)STEP; PD_UNLIKELY(at < length); at += STEP)
        copy_step(to + at, from + at);
    return to + length;
}

/* Puts the address and where it leads to, up to the line's end. */
PD_INLINE char *put_places(struct pd_script_worker *worker, const struct series *series,
                           const struct line *line, char *to)
{
    const struct pd_synth_packed *sample = line->sample;
    const struct slot *slot = find(worker, series, line, sample->from);
    if (PD_UNLIKELY(!slot))
        return NULL;
    to = put_slot(to, slot->text + ARROW, slot->length);
    if (!series->has_target)
        return to;
    /* A target that is not in the same one of kernel and user space takes the long way. */
    if ((sample->to >= series->kernel_start) != (series->cpumode == PD_CPUMODE_KERNEL))
        return NULL;
    slot = find(worker, series, line, sample->to);
    if (PD_UNLIKELY(!slot))
        return NULL;
    to = put_slot(to, slot->text, ARROW + slot->length);
    *to++ = '\n';
    return to;
}

/* Puts a line from copies. False: it has to be made the long way. */
PD_INLINE bool put_line(struct pd_script_worker *worker, struct series *series,
                        const struct line *line, struct pd_text *text)
{
    const struct pd_synth_packed *sample = line->sample;
    if (PD_UNLIKELY(series->has_insn && sample->insn_length && sample->insn_ip != sample->from))
        return false;
    char *to = pd_text_room(text, LINE_ROOM);
    if (PD_UNLIKELY(!to))
        return false;
    to = put(to, series->head, series->head_length);
    if (series->has_time) {
        if (sample->time != worker->texts.time.time || !worker->texts.time.length)
            pd_script_make_time(worker, sample->time);
        to = put(to, worker->texts.time.text, worker->texts.time.length);
    }
    if (series->has_middle) {
        if (PD_UNLIKELY(sample->period != series->period))
            put_middle(series, &worker->script->events[series->event->index], sample->period);
        to = put(to, series->middle, series->middle_length);
    }
    if (series->has_flags) {
        const struct pd_flag_text *flags = pd_script_flag_text(worker, sample->flags);
        to = put_slot(to, flags->text, flags->length);
    }
    to = put_places(worker, series, line, to);
    if (PD_UNLIKELY(!to))
        return false;
    text->length = (size_t)(to - text->data);
    return true;
}

/* ---- records ---- */

static bool put_record(struct pd_script_worker *worker, const struct pd_delivered *record,
                       struct pd_text *text)
{
    const struct pd_synth_fixed *fixed = (const void *)record->data;
    if (PD_UNLIKELY(!record->facts || record->size != sizeof *fixed))
        return false;
    struct series *series = series_of(worker->series, fixed->cpu, record->misc);
    if (PD_UNLIKELY(record->event != series->event || record->thread != series->thread ||
                    record->number - series->from >= series->span || fixed->pid != series->pid ||
                    fixed->tid != series->tid || fixed->cpu != series->cpu ||
                    record->misc != series->misc || record->vcpu))
        return false;
    struct pd_synth_packed sample = { .from = fixed->ip,
                                      .to = fixed->addr,
                                      .time = fixed->time,
                                      .period = fixed->period,
                                      .insn_ip = record->facts->insn_ip,
                                      .flags = (uint16_t)record->facts->flags,
                                      .insn_length = record->facts->insn_length };
    struct line line = { .sample = &sample, .record = record };
    return put_line(worker, series, &line, text);
}

size_t pd_script_series_lines(struct pd_script_worker *worker, const struct pd_delivered *records,
                              size_t count, struct pd_text *text)
{
    size_t done = 0;
    if (!worker->series)
        return 0;
    while (done < count && put_record(worker, &records[done], text))
        done++;
    worker->samples += done;
    return done;
}

/* ---- packed samples ---- */

PD_INLINE bool is_kernel(const struct pd_synth_packed *packed)
{
    return pd_synth_packed_mode(packed) == PD_CPUMODE_KERNEL;
}

/* Puts the packed samples from `at` on that are of one series. Returns how many. */
static size_t put_packed(struct pd_script_worker *worker, const struct pd_synth_packs *packs,
                         size_t at, struct pd_text *text)
{
    const struct pd_synth_packed *packed = &packs->list[at];
    const struct pd_synth_origin *origin = &packs->origins.data[packed->origin];
    const bool kernel = is_kernel(packed);
    struct series *series = series_of(worker->series, origin->cpu,
                                      kernel ? PD_CPUMODE_KERNEL : PD_CPUMODE_USER);
    uint64_t first = origin->base + packed->place - series->from;
    if (origin->event != series->event || origin->thread != series->thread ||
        first >= series->span || origin->pid != series->pid || origin->tid != series->tid ||
        origin->cpu != series->cpu || kernel != (series->misc == PD_CPUMODE_KERNEL))
        return 0;
    const size_t most = (size_t)PD_MIN(packs->count - at, series->span - first);
    const uint16_t of = packed->origin, place = packed->place;
    size_t done = 0;
    for (; done < most; done++, packed++) {
        if (packed->origin != of || packed->place != place + done || packed->unpacked ||
            is_kernel(packed) != kernel)
            break;
        struct line line = { .sample = packed, .origin = origin };
        if (!put_line(worker, series, &line, text))
            break;
    }
    return done;
}

size_t pd_script_series_packed(struct pd_script_worker *worker, const struct pd_synth_packs *packs,
                               size_t at, struct pd_text *text)
{
    size_t i = at;
    if (!worker->series)
        return 0;
    while (i < packs->count && !packs->list[i].unpacked &&
           packs->list[i].place == packs->list[at].place + (i - at)) {
        size_t done = put_packed(worker, packs, i, text);
        if (!done)
            break;
        i += done;
    }
    worker->samples += i - at;
    return i - at;
}
