/* SPDX-License-Identifier: MIT */
/* `kwork`: how long interrupts, soft interrupts and work queues ran, and how long they waited to
 * run. */
#include "container/handle.h"
#include "render/kernel/kwork.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- works ---- */

static uint32_t name_of(struct pd_kwork *kwork, const char *text, size_t length)
{
    return pd_intern(&kwork->names, text, length);
}

/* Makes the name of a soft interrupt, "RCU", from the format's own word for its number: "vec=9
 * [action=RCU]". */
static uint32_t softirq_name(struct pd_kwork *kwork, const struct pd_tp_sample *sample)
{
    static const char before[] = "[action=";
    struct pd_text text = { 0 };
    if (sample->plan->format && sample->sample.raw)
        pd_trace_print(sample->plan->format, NULL, sample->sample.raw, sample->sample.raw_size,
                       &text);
    pd_text_char(&text, 0);
    const char *word = text.failed ? NULL : strstr(text.data, before);
    size_t length = 0;
    if (word) {
        word += sizeof before - 1;
        length = strcspn(word, "]");
    }
    uint32_t name = text.failed ? PD_INTERN_NONE : name_of(kwork, word ? word : "", length);
    pd_text_free(&text);
    return name;
}

static uint32_t function_name(struct pd_kwork *kwork, const struct pd_tp_sample *sample,
                              uint64_t function)
{
    char address[24];
    struct pd_thread *thread = pd_tp_thread(sample, sample->sample.pid, sample->sample.tid);
    if (!thread)
        return PD_INTERN_NONE;
    const struct pd_location *place = pd_tp_resolve_at(sample, thread, PD_CPUMODE_KERNEL, function);
    const char *text = place && place->sym ? place->sym->name : address;
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)function);
    return name_of(kwork, text, strlen(text));
}

/* The work that a step is of. NULL: no memory. */
static struct pd_kwork_work *work_of(struct pd_kwork *kwork, const struct pd_tp_sample *sample,
                                     enum pd_kwork_kind kind, uint64_t id)
{
    struct {
        uint64_t id;
        uint32_t cpu, kind;
    } key = { id, sample->sample.cpu, kind };
    uint32_t at = pd_intern(&kwork->keys, (const char *)&key, sizeof key);
    if (at == PD_INTERN_NONE)
        return NULL;
    if (at == kwork->works.count) {
        struct pd_kwork_work fresh = {
            .id = id, .cpu = key.cpu, .kind = (uint8_t)kind, .name = PD_INTERN_NONE
        };
        if (!pd_vec_push(&kwork->works, fresh))
            return NULL;
    }
    return &kwork->works.data[at];
}

static bool is_asked(const struct pd_kwork *kwork, const struct pd_kwork_work *work)
{
    const char *name = kwork->options->name;
    return !name || (work->name != PD_INTERN_NONE &&
                     !strcmp(name, pd_intern_text(&kwork->names, work->name)));
}

static bool is_outside(const struct pd_kwork *kwork, const struct pd_tp_sample *sample)
{
    uint64_t time = sample->sample.time;
    return (kwork->from && time < kwork->from) || (kwork->to && time > kwork->to) ||
           !pd_filter_cpu(&kwork->filter, sample->sample.cpu);
}

/* ---- steps ---- */

static void count_time(struct pd_kwork_work *work, uint64_t from, uint64_t to)
{
    uint64_t time = to - from;
    work->count++;
    work->total += time;
    if (time > work->longest || work->count == 1) {
        work->longest = time;
        work->longest_from = from;
        work->longest_to = to;
    }
}

/* Takes away the newest waiting step; false: there is none before this time. */
static bool take_last(struct pd_kwork *kwork, struct pd_kwork_work *work, enum pd_kwork_step step,
                      uint64_t time, struct pd_kwork_wait *out)
{
    size_t *count = step == PD_KWORK_ENTRY ? &work->raised.count : &work->entered.count;
    const struct pd_kwork_wait *waits = step == PD_KWORK_ENTRY ? work->raised.data
                                                               : work->entered.data;
    if (!*count) {
        kwork->skipped[step]++;
        return false;
    }
    *out = waits[--*count];
    if (time > out->time)
        return true;
    kwork->skipped[step - 1]++;
    return false;
}

static perfdata_status take_entry(struct pd_kwork *kwork, struct pd_kwork_work *work, uint64_t time)
{
    struct pd_kwork_wait wait = { .time = time }, raised;
    uint32_t view = kwork->options->view;
    if (view != PERFDATA_KWORK_REPORT && take_last(kwork, work, PD_KWORK_ENTRY, time, &raised)) {
        wait.raised = raised.time;
        if (view == PERFDATA_KWORK_LATENCY)
            count_time(work, raised.time, time);
    }
    if (view != PERFDATA_KWORK_LATENCY && !pd_vec_push(&work->entered, wait))
        return pd_tp_no_memory(&kwork->tp);
    return PERFDATA_OK;
}

static perfdata_status take_exit(struct pd_kwork *kwork, struct pd_kwork_work *work,
                                 const struct pd_tp_sample *sample)
{
    struct pd_kwork_wait entry;
    if (kwork->options->view == PERFDATA_KWORK_LATENCY ||
        !take_last(kwork, work, PD_KWORK_EXIT, sample->sample.time, &entry))
        return PERFDATA_OK;
    if (kwork->options->view == PERFDATA_KWORK_TIMEHIST)
        return pd_kwork_put_run(kwork, work, &entry, sample);
    count_time(work, entry.time, sample->sample.time);
    return PERFDATA_OK;
}

static perfdata_status take_step(struct pd_kwork *kwork, const struct pd_tp_sample *sample,
                                 struct pd_kwork_work *work, enum pd_kwork_step step)
{
    uint64_t time = sample->sample.time;
    bool is_report = kwork->options->view == PERFDATA_KWORK_REPORT;
    if (!is_asked(kwork, work) || (is_report && step == PD_KWORK_RAISE))
        return PERFDATA_OK;
    kwork->first = kwork->events++ ? kwork->first : time;
    kwork->last = time;
    if (step == PD_KWORK_ENTRY)
        return take_entry(kwork, work, time);
    if (step == PD_KWORK_EXIT)
        return take_exit(kwork, work, sample);
    struct pd_kwork_wait wait = { .time = time };
    if (!pd_vec_push(&work->raised, wait))
        return pd_tp_no_memory(&kwork->tp);
    return PERFDATA_OK;
}

enum { ID, NAME };

static perfdata_status take_irq(struct pd_kwork *kwork, const struct pd_tp_sample *sample,
                                enum pd_kwork_step step)
{
    size_t length = 0;
    if (!kwork->kinds[PD_KWORK_IRQ] || is_outside(kwork, sample))
        return PERFDATA_OK;
    struct pd_kwork_work *work = work_of(kwork, sample, PD_KWORK_IRQ, pd_tp_number(sample, ID));
    const char *name = work && work->name == PD_INTERN_NONE ? pd_tp_text(sample, NAME, &length)
                                                            : NULL;
    if (name)
        work->name = name_of(kwork, name, length);
    if (!work || (name && work->name == PD_INTERN_NONE))
        return pd_tp_no_memory(&kwork->tp);
    return take_step(kwork, sample, work, step);
}

static perfdata_status take_softirq(struct pd_kwork *kwork, const struct pd_tp_sample *sample,
                                    enum pd_kwork_step step)
{
    if (!kwork->kinds[PD_KWORK_SOFTIRQ] || is_outside(kwork, sample))
        return PERFDATA_OK;
    struct pd_kwork_work *work = work_of(kwork, sample, PD_KWORK_SOFTIRQ, pd_tp_number(sample, ID));
    if (work && work->name == PD_INTERN_NONE)
        work->name = softirq_name(kwork, sample);
    if (!work || work->name == PD_INTERN_NONE)
        return pd_tp_no_memory(&kwork->tp);
    return take_step(kwork, sample, work, step);
}

static perfdata_status take_queue(struct pd_kwork *kwork, const struct pd_tp_sample *sample,
                                  enum pd_kwork_step step)
{
    if (!kwork->kinds[PD_KWORK_WORKQUEUE] || is_outside(kwork, sample))
        return PERFDATA_OK;
    struct pd_kwork_work *work = work_of(kwork, sample, PD_KWORK_WORKQUEUE,
                                         pd_tp_number(sample, ID));
    if (work && sample->plan->fields[NAME] && work->name == PD_INTERN_NONE)
        work->name = function_name(kwork, sample, pd_tp_number(sample, NAME));
    if (!work || (sample->plan->fields[NAME] && work->name == PD_INTERN_NONE))
        return pd_tp_no_memory(&kwork->tp);
    return take_step(kwork, sample, work, step);
}

#define TAKE(name, kind, step)                                                                     \
    static perfdata_status name(void *data, const struct pd_tp_sample *sample)                     \
    {                                                                                              \
        return kind(data, sample, step);                                                           \
    }
TAKE(irq_entry, take_irq, PD_KWORK_ENTRY)
TAKE(irq_exit, take_irq, PD_KWORK_EXIT)
TAKE(softirq_raise, take_softirq, PD_KWORK_RAISE)
TAKE(softirq_entry, take_softirq, PD_KWORK_ENTRY)
TAKE(softirq_exit, take_softirq, PD_KWORK_EXIT)
TAKE(queue_activate, take_queue, PD_KWORK_RAISE)
TAKE(queue_start, take_queue, PD_KWORK_ENTRY)
TAKE(queue_end, take_queue, PD_KWORK_EXIT)

static const struct pd_tp_handler handlers[] = {
    { "irq:irq_handler_entry", { "irq", "name" }, irq_entry },
    { "irq:irq_handler_exit", { "irq" }, irq_exit },
    { "irq:softirq_raise", { "vec" }, softirq_raise },
    { "irq:softirq_entry", { "vec" }, softirq_entry },
    { "irq:softirq_exit", { "vec" }, softirq_exit },
    { "workqueue:workqueue_activate_work", { "work", "function" }, queue_activate },
    { "workqueue:workqueue_execute_start", { "work", "function" }, queue_start },
    { "workqueue:workqueue_execute_end", { "work", "function" }, queue_end },
    { 0 },
};

/* ---- options ---- */

static perfdata_status take_kinds(struct pd_kwork *kwork, const char *list)
{
    static const char *const names[] = { "irq", "softirq", "workqueue" };
    char word[16];
    uint8_t place = 0;
    for (size_t i = 0; !list && i < PD_LENGTH(names); i++)
        kwork->kinds[i] = (uint8_t)(i + 1);
    while (list && *(list += strspn(list, ", "))) {
        size_t length = strcspn(list, ", "), i = 0;
        snprintf(word, sizeof word, "%.*s", (int)PD_MIN(length, sizeof word - 1), list);
        while (i < PD_LENGTH(names) && strcmp(names[i], word) != 0)
            i++;
        if (i == PD_LENGTH(names)) {
            kwork->perf_exit = 129;
            return pd_fail(&kwork->tp.recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                           "Unknown --event key: `%.*s'", (int)length, list);
        }
        if (!kwork->kinds[i])
            kwork->kinds[i] = ++place;
        list += length;
    }
    return PERFDATA_OK;
}

static perfdata_status take_options(struct pd_kwork *kwork)
{
    const struct perfdata_kwork_options *options = kwork->options;
    const char *sort = options->sort;
    perfdata_status status = take_kinds(kwork, options->kinds);
    if (!sort)
        sort = options->view == PERFDATA_KWORK_LATENCY ? "avg,max,count" : "runtime,max,count";
    if (status == PERFDATA_OK)
        status = pd_kwork_take_keys(kwork, sort);
    if (status == PERFDATA_OK && options->time &&
        !pd_tp_span(options->time, &kwork->from, &kwork->to)) {
        kwork->perf_exit = 255;
        status = pd_fail(&kwork->tp.recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                         "Invalid time span");
    }
    if (status == PERFDATA_OK && options->cpus) {
        kwork->perf_exit = 255;
        status = pd_filter_add_cpus(&kwork->filter, kwork->tp.recording, options->cpus);
    }
    return status;
}

static perfdata_status take_other(void *data, const struct pd_delivered *record)
{
    struct pd_kwork *kwork = data;
    pd_tp_note_loss(&kwork->tp, &kwork->losses, record);
    return PERFDATA_OK;
}

static perfdata_status print(struct pd_kwork *kwork, struct pd_recording *recording,
                             perfdata_write_fn write, void *data)
{
    struct pd_tp_verb verb = {
        .handlers = handlers, .data = kwork, .hears = PD_TP_HEARS_ALL, .other = take_other
    };
    perfdata_status status = pd_tp_open(&kwork->tp, recording, &kwork->options->search, &verb,
                                        write, data);
    bool is_table = kwork->options->view != PERFDATA_KWORK_TIMEHIST;
    if (status >= 0 && !is_table)
        pd_kwork_timehist_head(kwork);
    if (status >= 0)
        status = pd_tp_run(&kwork->tp);
    if (status >= 0 && is_table)
        status = pd_kwork_put_table(kwork);
    return pd_tp_close(&kwork->tp, status);
}

static void free_all(struct pd_kwork *kwork)
{
    for (size_t i = 0; i < kwork->works.count; i++) {
        pd_vec_free(&kwork->works.data[i].raised);
        pd_vec_free(&kwork->works.data[i].entered);
    }
    pd_vec_free(&kwork->works);
    pd_vec_free(&kwork->frames);
    pd_intern_free(&kwork->names);
    pd_intern_free(&kwork->keys);
    pd_filter_free(&kwork->filter);
}

perfdata_status perfdata_kwork_run(perfdata_recording *recording,
                                   const struct perfdata_kwork_options *options,
                                   perfdata_write_fn write, void *data,
                                   struct perfdata_kwork_result *result)
{
    struct perfdata_kwork_options known = { 0 };
    struct perfdata_kwork_result out = { .perf_exit = -1 };
    perfdata_status status = pd_handle_print(recording, &known, sizeof known, options, write);
    if (status < 0)
        return status;
    if (known.view >= PERFDATA_KWORK_VIEWS)
        return pd_fail(&recording->recording.context, PERFDATA_ERROR_ARGUMENT, -1,
                       "there is no such view of the kernel's works");
    struct pd_kwork kwork = { .options = &known,
                              .tp.recording = &recording->recording,
                              .perf_exit = -1 };
    status = take_options(&kwork);
    if (status == PERFDATA_OK) {
        kwork.perf_exit = -1;
        status = print(&kwork, &recording->recording, write, data);
    }
    out.perf_exit = kwork.perf_exit;
    free_all(&kwork);
    pd_give_result(result, &out, sizeof out);
    return status;
}
