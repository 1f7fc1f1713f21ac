/* SPDX-License-Identifier: MIT */
/* A profile -> the page's data: a header in JSON, then columns of numbers (docs/page-data.md). */
#include "base/intern.h"
#include "page/code.h"
#include "page/gather.h"
#include "profile/switches.h"
#include <perfdata/text.h>
#include <perfdata/types.h>
#include <stdlib.h>

#define TYPE_SYNTH (UINT32_C(1) << 31) /* of events that a trace's decoder makes */

struct maker {
    const struct perfdata_page_options *options;
    struct pd_page_tables tables;
    struct pd_intern strings;
    struct pd_text columns, body; /* JSON of what each column is; the columns */
    PD_VEC(struct pd_page_row) rows;
    const struct pd_page_packed *packed; /* in place of `rows`; NULL: these */
    uint32_t *stacks;                    /* for `packed`: the page's stack of a profile's */
    uint64_t begin, unit;                /* times are (time - begin) / unit */
    uint32_t *functions;                 /* by the profile's */
    struct pd_thinned switches;
    uint64_t switches_left_out;
    bool joined, timed;
};

/* ---- rows, from the first to the last ---- */

/* Begins as at_first(). */
struct at {
    const struct maker *m;
    size_t next;
    struct pd_page_unpack unpack;
    struct pd_page_row row;
};

static struct at at_first(const struct maker *m)
{
    return (struct at){ .m = m, .unpack = { .packed = m->packed } };
}

static bool next_row(struct at *at)
{
    const struct maker *m = at->m;
    if (!m->packed) {
        if (at->next == m->rows.count)
            return false;
        at->row = m->rows.data[at->next++];
        return true;
    }
    if (!pd_page_unpack(&at->unpack))
        return false;
    at->row = at->unpack.row;
    struct pd_page_row *row = &at->row;
    if (row->time == UINT64_MAX || !m->timed || row->time < m->begin)
        row->time = m->begin;
    row->stack = row->stack == PERFDATA_NONE ? 0 : m->stacks[row->stack];
    return true;
}

/* ---- columns ---- */

static void put_number(struct pd_text *out, uint64_t value)
{
    while (value >= 0x80) {
        pd_text_char(out, (char)(value | 0x80));
        value >>= 7;
    }
    pd_text_char(out, (char)value);
}

/* Where all numbers are the same, only the first one is kept. */
static bool keep_one(struct pd_text *body, size_t from, size_t count)
{
    size_t bytes = body->length - from, one = count ? bytes / count : 0;
    const char *numbers = body->data + from;
    if (body->failed || count < 2 || bytes != one * count || numbers[one - 1] & 0x80 ||
        memcmp(numbers, numbers + one, bytes - one) != 0)
        return false;
    for (size_t i = 0; i + 1 < one; i++)
        if (!(numbers[i] & 0x80)) /* these are shorter numbers */
            return false;
    body->length = from + one;
    return true;
}

/* `type` says "v", how each number is packed, or "d", that they are differences; and how wide. */
static void end_column(struct maker *m, const char *name, const char *type, size_t count,
                       size_t from)
{
    char kind = type[0] == 'v' && keep_one(&m->body, from, count) ? 's' : type[0];
    if (m->columns.length)
        pd_text_char(&m->columns, ',');
    pd_text_format(&m->columns, "{\"name\":\"%s\",\"type\":\"%c%s\",\"count\":%zu,\"bytes\":%zu}",
                   name, kind, type + 1, count, m->body.length - from);
}

/* A column of `value`, which may use i, over `count` things. */
#define COLUMN(m, name, type, count, value)                                                        \
    do {                                                                                           \
        size_t from_ = (m)->body.length, count_ = (count);                                         \
        for (size_t i = 0; i < count_; i++)                                                        \
            put_number(&(m)->body, (value));                                                       \
        end_column((m), (name), (type), count_, from_);                                            \
    } while (0)

static uint64_t string_number(struct maker *m, const char *text)
{
    uint32_t number = pd_intern(&m->strings, text, strlen(text));
    if (number == PD_INTERN_NONE)
        m->body.failed = true;
    return number;
}

static void put_tables(struct maker *m)
{
    const struct pd_page_tables *t = &m->tables;
    const struct pd_page_function *f = t->functions.data;
    COLUMN(m, "fn_name", "v32", t->functions.count, string_number(m, f[i].name));
    COLUMN(m, "fn_object", "v32", t->functions.count, string_number(m, f[i].object));
    COLUMN(m, "fn_file", "v32", t->functions.count, string_number(m, f[i].file));
    COLUMN(m, "fn_kind", "v32", t->functions.count, f[i].kind);
    COLUMN(m, "fr_fn", "v32", t->frames.count, t->frames.data[i].function);
    COLUMN(m, "fr_line", "v32", t->frames.count, t->frames.data[i].line);
    COLUMN(m, "st_parent", "v32", t->stacks.count, i - t->stacks.data[i].parent);
    COLUMN(m, "st_frame", "v32", t->stacks.count, t->stacks.data[i].frame);
}

/* The difference to the row before: small where times grow. */
static void put_step(struct maker *m, uint64_t value, uint64_t *last)
{
    int64_t step = (int64_t)(value - *last);
    put_number(&m->body, (uint64_t)step << 1 ^ (uint64_t)(step >> 63));
    *last = value;
}

static uint64_t time_of(const struct maker *m, uint64_t time)
{
    return time > m->begin ? (time - m->begin) / m->unit : 0;
}

static void put_times(struct maker *m)
{
    size_t from = m->body.length, count = 0;
    uint64_t last = 0;
    for (struct at at = at_first(m); next_row(&at); count++)
        put_step(m, time_of(m, at.row.time), &last);
    end_column(m, "sa_time", "d64", count, from);
}

/* A column of `value`, of the row `r`. */
#define ROW_COLUMN(m, name, type, value)                                                           \
    do {                                                                                           \
        size_t from_ = (m)->body.length, count_ = 0;                                               \
        for (struct at at_ = at_first(m); next_row(&at_); count_++) {                              \
            const struct pd_page_row *r = &at_.row;                                                \
            put_number(&(m)->body, (value));                                                       \
        }                                                                                          \
        end_column((m), (name), (type), count_, from_);                                            \
    } while (0)

static void put_samples(struct maker *m)
{
    put_times(m);
    ROW_COLUMN(m, "sa_stack", "v32", r->stack);
    ROW_COLUMN(m, "sa_thread", "v32", r->thread);
    /* CPUs are written plus one, so that "unknown" is 0. */
    ROW_COLUMN(m, "sa_cpu", "v32", (uint32_t)(r->cpu + 1));
    ROW_COLUMN(m, "sa_event", "v32", r->event);
    ROW_COLUMN(m, "sa_weight", "v64", r->weight);
    if (m->joined)
        ROW_COLUMN(m, "sa_count", "v32", r->count);
    if (m->options->before)
        ROW_COLUMN(m, "sa_side", "v32", r->side);
}

static bool is_told(const struct maker *m, uint64_t number)
{
    return !m->switches.left_out || !m->switches.left_out[number];
}

/* A column of `value`, of each switch `row` that is told. */
#define SWITCH_COLUMN(name, value)                                                                 \
    do {                                                                                           \
        size_t from_ = m->body.length;                                                             \
        for (uint64_t i_ = 0; i_ < count; i_++) {                                                  \
            const struct perfdata_profile_switch *row = &switches[i_];                             \
            if (is_told(m, i_))                                                                    \
                put_number(&m->body, (value));                                                     \
        }                                                                                          \
        end_column(m, (name), "v32", m->switches.kept, from_);                                     \
    } while (0)

static void put_switches(struct maker *m, const perfdata_profile *profile)
{
    uint64_t count = perfdata_profile_switch_count(profile);
    uint64_t shorter_than, left_out = perfdata_profile_switches_left_out(profile, &shorter_than);
    if (count + left_out == 0 || m->options->before)
        return;
    const struct perfdata_profile_switch *switches = perfdata_profile_switch(profile, 0);
    if (!pd_switches_thin(switches, count, perfdata_profile_thread_count(profile),
                          PERFDATA_PAGE_MOST_SWITCHES, shorter_than, &m->switches)) {
        m->body.failed = true;
        return;
    }
    m->switches_left_out = left_out + count - m->switches.kept;
    m->switches.shorter_than = PD_MAX(m->switches.shorter_than, shorter_than);
    size_t from = m->body.length;
    uint64_t last = 0;
    for (uint64_t i = 0; i < count; i++)
        if (is_told(m, i))
            put_step(m, time_of(m, switches[i].time), &last);
    end_column(m, "sw_time", "d64", m->switches.kept, from);
    SWITCH_COLUMN("sw_thread", row->thread);
    SWITCH_COLUMN("sw_cpu", (uint32_t)(row->cpu + 1));
    SWITCH_COLUMN("sw_kind", !(row->flags & PERFDATA_SWITCH_OUT)      ? 0
                             : row->flags & PERFDATA_SWITCH_PREEMPTED ? 1
                                                                      : 2);
}

/* Calls of threads, as a trace tells them, and sums of each function's. */
static void put_calls(struct maker *m, const perfdata_profile *profile)
{
    uint64_t count = perfdata_profile_call_count(profile), last = 0;
    size_t sum_count, from = m->body.length;
    const struct perfdata_profile_call_sum *sums = perfdata_profile_call_sums(profile, &sum_count);
    if (!sum_count || m->options->before)
        return;
#define CALL(member) perfdata_profile_call(profile, i)->member
    for (uint64_t i = 0; i < count; i++)
        put_step(m, time_of(m, CALL(start)), &last);
    end_column(m, "ca_time", "d64", count, from);
    COLUMN(m, "ca_length", "v64", count, time_of(m, CALL(end)) - time_of(m, CALL(start)));
    COLUMN(m, "ca_thread", "v32", count, CALL(thread));
    COLUMN(m, "ca_fn", "v32", count, m->functions[CALL(function)]);
    COLUMN(m, "ca_depth", "v32", count, CALL(depth));
    COLUMN(m, "ca_flags", "v32", count, CALL(flags));
    COLUMN(m, "ca_insns", "v64", count, CALL(insns));
    COLUMN(m, "ca_cycles", "v64", count, CALL(cycles));
#undef CALL
    COLUMN(m, "cs_fn", "v32", sum_count, m->functions[sums[i].function]);
    COLUMN(m, "cs_count", "v64", sum_count, sums[i].count);
    COLUMN(m, "cs_total", "v64", sum_count, sums[i].total);
    COLUMN(m, "cs_sum", "v64", sum_count, sums[i].sum);
    COLUMN(m, "cs_self", "v64", sum_count, sums[i].self);
    COLUMN(m, "cs_least", "v64", sum_count, sums[i].least);
    COLUMN(m, "cs_most", "v64", sum_count, sums[i].most);
    COLUMN(m, "cs_insns", "v64", sum_count, sums[i].insns);
    COLUMN(m, "cs_cycles", "v64", sum_count, sums[i].cycles);
}

/* Losses and errors. Of those without a time there is only the warning. */
static void put_marks(struct maker *m, const perfdata_profile *profile)
{
    uint64_t count = perfdata_profile_mark_count(profile);
    if (!count || m->options->before)
        return;
#define MARK(member) perfdata_profile_mark(profile, i)->member
    COLUMN(m, "mk_time", "v64", count,
           MARK(time) == UINT64_MAX ? 0 : time_of(m, MARK(time)) + (uint64_t)1);
    COLUMN(m, "mk_kind", "v32", count, MARK(kind));
    COLUMN(m, "mk_cpu", "v32", count, (uint32_t)(MARK(cpu) + 1));
    COLUMN(m, "mk_tid", "v64", count, MARK(tid));
    COLUMN(m, "mk_count", "v64", count, MARK(count));
    COLUMN(m, "mk_text", "v32", count, string_number(m, MARK(text) ? MARK(text) : ""));
#undef MARK
}

/* Source and instructions, as far as they were gathered. */
static void put_code(struct maker *m)
{
    const perfdata_page_code *code = m->options->code;
    if (!code)
        return;
    m->body.failed |= code->failed;
#define TEXT(id) string_number(m, pd_intern_text(&code->texts, id))
    const struct pd_page_code_function *f = code->functions.data;
    COLUMN(m, "co_name", "v32", code->functions.count, TEXT(f[i].name));
    COLUMN(m, "co_object", "v32", code->functions.count, TEXT(f[i].object));
    COLUMN(m, "co_address", "v64", code->functions.count, f[i].address);
    COLUMN(m, "co_lines", "v32", code->functions.count, f[i].lines);
    const struct pd_page_code_line *l = code->lines.data;
    COLUMN(m, "cl_place", "v64", code->lines.count, l[i].place);
    COLUMN(m, "cl_text", "v32", code->lines.count, TEXT(l[i].text));
    COLUMN(m, "cl_kind", "v32", code->lines.count, l[i].kind);
    COLUMN(m, "cl_indent", "v32", code->lines.count, l[i].indent);
    COLUMN(m, "cl_gap", "v32", code->lines.count, l[i].gap);
    const struct pd_page_code_cell *c = code->cells.data;
    COLUMN(m, "cc_line", "v32", code->cells.count, c[i].line);
    COLUMN(m, "cc_event", "v32", code->cells.count, c[i].event);
    COLUMN(m, "cc_count", "v64", code->cells.count, c[i].count);
    COLUMN(m, "cc_weight", "v64", code->cells.count, c[i].weight);
#undef TEXT
}

/* ---- samples ---- */

/* Rows that compare equal are equal: their order does not depend on how qsort works. */
static int by_time(const void *x, const void *y)
{
    const struct pd_page_row *a = x, *b = y;
    int order = pd_page_rows_order(x, y);
    return order ? order : (a->weight > b->weight) - (a->weight < b->weight);
}

/* Times are told in a unit that parts the recording into ten million pieces or more: nanoseconds of
 * long recordings are noise that does not compress. */
static void choose_unit(struct maker *m, uint64_t span)
{
    m->unit = 1;
    while (span / m->unit >= UINT64_C(100000000))
        m->unit *= 10;
}

static perfdata_status add_samples(struct maker *m, const perfdata_profile *profile,
                                   const uint32_t *stacks, const uint32_t *threads,
                                   const uint32_t *events, uint32_t side)
{
    struct perfdata_samples samples = { .struct_size = sizeof samples };
    perfdata_status status = perfdata_profile_samples(profile, &samples);
    if (status < 0)
        return status;
    if (!pd_vec_reserve(&m->rows, m->rows.count + samples.count))
        return PERFDATA_ERROR_MEMORY;
    for (size_t i = 0; i < samples.count; i++) {
        uint32_t thread = samples.thread[i], event = samples.event[i], stack = samples.stack[i];
        m->rows.data[m->rows.count++] = (struct pd_page_row){
            .time = samples.time[i] == UINT64_MAX || !m->timed ? m->begin : samples.time[i],
            .weight = samples.weight[i],
            .count = 1,
            .event = events ? events[event] : event,
            .thread = threads ? threads[thread] : thread,
            .stack = stack == PERFDATA_NONE ? 0 : stacks[stack],
            .cpu = samples.cpu[i],
            .side = side
        };
    }
    return PERFDATA_OK;
}

static bool sorted(const struct maker *m)
{
    uint64_t last = 0;
    for (struct at at = at_first(m); next_row(&at); last = at.row.time)
        if (at.row.time < last)
            return false;
    return true;
}

static uint64_t most_of(const struct maker *m)
{
    return m->options->max_samples ? m->options->max_samples : PD_PAGE_MOST_SAMPLES;
}

static void arrange(struct maker *m, uint64_t span)
{
    if (m->rows.count > most_of(m)) {
        m->rows.count = pd_page_rows_join(m->rows.data, m->rows.count, m->begin,
                                          span / PD_PAGE_PIECES + 1);
        m->joined = true;
    } else if (!sorted(m)) {
        qsort(m->rows.data, m->rows.count, sizeof *m->rows.data, by_time);
    }
}

/* What was gathered while the profile was built: it stays packed, unless it must be sorted. */
static perfdata_status take_gathered(struct maker *m)
{
    perfdata_page_samples *samples = m->options->samples;
    if (!pd_page_samples_end(samples, most_of(m)))
        return PERFDATA_ERROR_MEMORY;
    m->packed = &samples->packed;
    m->joined = samples->piece != 0;
    if (sorted(m))
        return PERFDATA_OK;
    if (!pd_vec_reserve(&m->rows, samples->packed.count))
        return PERFDATA_ERROR_MEMORY;
    for (struct at at = at_first(m); next_row(&at);)
        m->rows.data[m->rows.count++] = at.row;
    m->packed = NULL;
    qsort(m->rows.data, m->rows.count, sizeof *m->rows.data, by_time);
    return PERFDATA_OK;
}

/* ---- the header ---- */

static void put_json(struct pd_text *out, const char *text)
{
    pd_text_json(out, text, strlen(text));
}

/* Periods of clocks are nanoseconds; others count their event. */
static const char *unit_of(const struct perfdata_profile_event *event)
{
    bool clock = event->type == PERFDATA_TYPE_SOFTWARE && (event->config == PERFDATA_SW_CPU_CLOCK ||
                                                           event->config == PERFDATA_SW_TASK_CLOCK);
    return clock ? "ns" : event->name;
}

/* What a trace tells of a moment, with no weight of its own. */
static bool is_mark(const struct perfdata_profile_event *event)
{
    return event->type == TYPE_SYNTH || !strncmp(event->name, "transactions", 12);
}

/* Whether marks tell the events of a trace. */
static bool has_event_marks(const perfdata_profile *profile)
{
    for (uint64_t i = 0; i < perfdata_profile_mark_count(profile); i++)
        if (perfdata_profile_mark(profile, i)->kind == PERFDATA_MARK_EVENT)
            return true;
    return false;
}

static void put_events(struct pd_text *out, const perfdata_profile *profile, bool *first)
{
    bool told = has_event_marks(profile);
    for (uint32_t i = 0; i < perfdata_profile_event_count(profile); i++) {
        const struct perfdata_profile_event *event = perfdata_profile_event(profile, i);
        if (!*first)
            pd_text_char(out, ',');
        *first = false;
        pd_text_string(out, "{\"name\":");
        put_json(out, event->name);
        pd_text_string(out, ",\"unit\":");
        put_json(out, unit_of(event));
        if (is_mark(event))
            pd_text_string(out, ",\"mark\":true");
        pd_text_string(out, told && event->type == TYPE_SYNTH ? ",\"told\":true}" : "}");
    }
}

static void put_threads(struct pd_text *out, const perfdata_profile *profile, bool *first)
{
    for (uint32_t i = 0; i < perfdata_profile_thread_count(profile); i++) {
        const struct perfdata_profile_thread *thread = perfdata_profile_thread(profile, i);
        if (!*first)
            pd_text_char(out, ',');
        *first = false;
        pd_text_string(out, "{\"comm\":");
        put_json(out, thread->comm);
        pd_text_format(out, ",\"pid\":%d,\"tid\":%d}", (int)thread->pid, (int)thread->tid);
    }
}

/* perf's header, "# name : value", as pairs. */
static int put_fact(void *data, const char *text, size_t length)
{
    pd_text_bytes(data, text, length);
    return ((struct pd_text *)data)->failed;
}

static void put_facts(struct pd_text *out, const char *text, size_t length)
{
    bool first = true;
    for (const char *at = text, *end = text + length; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        const char *colon = memmem(at, (size_t)(stop - at), " : ", 3);
        if (colon && at[0] == '#') {
            const char *name = at + 1, *name_end = colon;
            while (name < name_end && *name == ' ')
                name++;
            while (name_end > name && name_end[-1] == ' ')
                name_end--;
            pd_text_string(out, first ? "[" : ",[");
            pd_text_json(out, name, (size_t)(name_end - name));
            pd_text_char(out, ',');
            pd_text_json(out, colon + 3, (size_t)(stop - colon - 3));
            pd_text_char(out, ']');
            first = false;
        }
        at = stop + 1;
    }
}

static void put_strings(struct maker *m, struct pd_text *out)
{
    for (size_t i = 0; i < m->strings.strings.count; i++) {
        const struct pd_string *string = &m->strings.strings.data[i];
        if (i)
            pd_text_char(out, ',');
        pd_text_json(out, string->text, string->length);
    }
}

static void put_warnings(struct maker *m, struct pd_text *out)
{
    for (size_t i = 0; i < m->options->warning_count; i++) {
        if (i)
            pd_text_char(out, ',');
        put_json(out, m->options->warnings[i]);
    }
    if (m->joined) {
        pd_text_string(out, m->options->warning_count ? "," : "");
        put_json(
            out,
            "There are more samples than a page holds: those of one stack, thread and CPU within a "
            "piece of time were joined. All sums are exact.");
    }
}

static perfdata_status put_header(struct maker *m, perfdata_recording *recording,
                                  const perfdata_profile *profile, struct pd_text *out)
{
    const char *title = m->options->title ? m->options->title : "perf.data";
    pd_text_string(out, "{\"format\":1,\"title\":");
    put_json(out, title);
    pd_text_format(out, ",\"has_time\":%s,\"begin\":\"%llu\",\"time_unit\":%llu,\"events\":[",
                   m->timed ? "true" : "false", (unsigned long long)m->begin,
                   (unsigned long long)m->unit);
    bool first = true;
    put_events(out, profile, &first);
    if (m->options->before)
        put_events(out, m->options->before, &first);
    pd_text_string(out, "],\"threads\":[");
    first = true;
    put_threads(out, profile, &first);
    if (m->options->before)
        put_threads(out, m->options->before, &first);
    pd_text_string(out, "],\"warnings\":[");
    put_warnings(m, out);
    uint64_t shorter, left_out = perfdata_profile_calls_left_out(profile, &shorter);
    pd_text_format(out, "],\"calls_left_out\":%llu,\"calls_shorter_than\":%llu",
                   (unsigned long long)left_out, (unsigned long long)shorter);
    if (m->switches_left_out)
        pd_text_format(out, ",\"switches_left_out\":%llu,\"switches_shorter_than\":%llu",
                       (unsigned long long)m->switches_left_out,
                       (unsigned long long)m->switches.shorter_than);
    if (m->options->code) {
        pd_text_format(out, ",\"code_left_out\":%llu,\"code_limit\":",
                       (unsigned long long)m->options->code->left_out);
        put_json(out, m->options->code->limit);
    }
    pd_text_string(out, ",\"facts\":[");
    struct pd_text facts = { 0 };
    perfdata_status status = recording ? perfdata_header_print(recording, 0, put_fact, &facts)
                                       : PERFDATA_OK;
    if (facts.failed) /* it takes no text that it is given */
        status = PERFDATA_ERROR_MEMORY;
    put_facts(out, facts.data, facts.length);
    pd_text_free(&facts);
    pd_text_string(out, "],\"strings\":[");
    put_strings(m, out);
    pd_text_string(out, "],\"columns\":[");
    pd_text_bytes(out, m->columns.data, m->columns.length);
    pd_text_string(out, "]}");
    return status;
}

/* ---- all ---- */

/* Events of `before` that have a name of the newer ones are these; others come behind them. */
static perfdata_status match_events(const perfdata_profile *profile, const perfdata_profile *before,
                                    uint32_t **events, uint32_t **threads)
{
    uint32_t ours = perfdata_profile_event_count(profile);
    uint32_t theirs = perfdata_profile_event_count(before);
    uint32_t thread_count = perfdata_profile_thread_count(before);
    *events = malloc((theirs + (size_t)1) * sizeof **events);
    *threads = malloc((thread_count + (size_t)1) * sizeof **threads);
    if (!*events || !*threads)
        return PERFDATA_ERROR_MEMORY;
    for (uint32_t i = 0; i < theirs; i++) {
        const char *name = perfdata_profile_event(before, i)->name;
        (*events)[i] = ours + i;
        for (uint32_t j = ours; j-- > 0;)
            if (!strcmp(perfdata_profile_event(profile, j)->name, name))
                (*events)[i] = j;
    }
    for (uint32_t i = 0; i < thread_count; i++)
        (*threads)[i] = perfdata_profile_thread_count(profile) + i;
    return PERFDATA_OK;
}

static perfdata_status add_before(struct maker *m, const perfdata_profile *profile)
{
    const perfdata_profile *before = m->options->before;
    uint32_t *stacks = NULL, *events = NULL, *threads = NULL;
    perfdata_status status = pd_page_tables_add(&m->tables, before, &stacks, NULL);
    if (status >= 0)
        status = match_events(profile, before, &events, &threads);
    if (status >= 0)
        status = add_samples(m, before, stacks, threads, events, 1);
    free(stacks);
    free(events);
    free(threads);
    return status;
}

/* Branches that are no samples may come before the first sample. */
static uint64_t first_call(const perfdata_profile *profile)
{
    uint64_t first = UINT64_MAX;
    for (uint64_t i = 0; i < perfdata_profile_call_count(profile); i++)
        first = PD_MIN(first, perfdata_profile_call(profile, i)->start);
    return first;
}

static perfdata_status collect(struct maker *m, const perfdata_profile *profile)
{
    uint64_t first = 0, last = 0;
    m->timed = perfdata_profile_times(profile, &first, &last) >= 0 && !m->options->before;
    if (m->timed)
        first = PD_MIN(first, first_call(profile));
    m->begin = m->timed ? first : 0;
    uint64_t span = m->timed ? last - first : 0;
    choose_unit(m, perfdata_profile_call_count(profile) ? 0 : span); /* calls are short */
    perfdata_status status = pd_page_tables_add(&m->tables, profile, &m->stacks, &m->functions);
    if (status >= 0 && m->options->samples)
        return take_gathered(m);
    if (status >= 0)
        status = add_samples(m, profile, m->stacks, NULL, NULL, 0);
    if (status >= 0 && m->options->before)
        status = add_before(m, profile);
    if (status >= 0)
        arrange(m, span);
    return status;
}

/* Writes a text behind its length. */
static perfdata_status put_headed(struct pd_text *out, const struct pd_text *header)
{
    uint32_t length = (uint32_t)header->length;
    for (int byte = 0; byte < 4; byte++)
        pd_text_char(out, (char)(length >> 8 * byte));
    pd_text_bytes(out, header->data, header->length);
    bool failed = out->failed || header->failed || header->length > UINT32_MAX;
    return failed ? PERFDATA_ERROR_MEMORY : PERFDATA_OK;
}

perfdata_status pd_page_data(perfdata_recording *recording, const perfdata_profile *profile,
                             const struct perfdata_page_options *options, struct pd_text *head,
                             struct pd_text *columns)
{
    struct maker m = { .options = options };
    perfdata_status status = collect(&m, profile);
    struct pd_text header = { 0 };
    if (status >= 0) {
        put_tables(&m);
        put_samples(&m);
        put_switches(&m, profile);
        put_calls(&m, profile);
        put_marks(&m, profile);
        put_code(&m);
        status = put_header(&m, recording, profile, &header);
    }
    if (status >= 0 && (m.body.failed || m.columns.failed))
        status = PERFDATA_ERROR_MEMORY;
    if (status >= 0)
        status = put_headed(head, &header);
    pd_text_free(&header);
    pd_text_free(&m.columns);
    pd_vec_free(&m.rows);
    free(m.stacks);
    free(m.functions);
    free(m.switches.left_out);
    pd_intern_free(&m.strings);
    pd_page_tables_free(&m.tables);
    *columns = m.body;
    return status;
}
