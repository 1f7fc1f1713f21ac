/* SPDX-License-Identifier: MIT */
/* `kvm stat report`: why guests of virtual machines were left, and how long it took until they ran
 * again. */
#include "analyse/spread.h"
#include "analyse/tracepoints.h"
#include "base/keys.h"
#include "container/handle.h"
#include "select/filter.h"
#include <inttypes.h>
#include <perfdata/kvm.h>
#include <stdio.h>
#include <stdlib.h>

enum { TABLE_SIZE = 4096, NAME_ROOM = 20 };
#define NO_KEY UINT64_MAX /* perf's, so that an access to the last address counts nowhere */

/* The reason of an exit, or a place and whether it is read or written. */
struct key {
    uint64_t number, kind;
};
enum { READS, WRITES };

struct event {
    struct key key;
    uint64_t total;
    struct pd_spread times;
};

struct totals {
    double count;
    uint64_t time;
};

/* A thread that runs a processor of a guest. */
struct processor {
    bool known;      /* it has entered the guest; nothing counts before that */
    uint32_t number; /* the guest CPU that it ran at that time */
    uint64_t since;  /* when the current event began; 0: none has */
    uint32_t event;  /* the event's index in `events` + 1; 0: only its end will tell */
};

struct kvm {
    const struct perfdata_kvm_options *options;
    struct pd_tp tp;
    struct pd_filter filter;
    struct pd_keys keys;
    PD_VEC(struct event) events; /* by the key's number, which is given in order of appearance */
    uint32_t last;               /* index in `events` of the one found last */
    PD_VEC(struct processor) processors; /* by the thread's index */
    bool intel;
};

/* ---- what happens ---- */

/* The key's index in `events`; UINT32_MAX: no memory. */
static uint32_t find_event(struct kvm *kvm, struct key key)
{
    if (kvm->last < kvm->events.count) { /* one reason comes again and again */
        const struct key *last = &kvm->events.data[kvm->last].key;
        if (last->number == key.number && last->kind == key.kind)
            return kvm->last;
    }
    uint32_t at = pd_keys_add(&kvm->keys, &key, pd_keys_hash(&kvm->keys, &key));
    struct event fresh = { .key = key };
    if (at == PD_KEYS_NONE || (at == kvm->events.count && !pd_vec_push(&kvm->events, fresh)))
        return UINT32_MAX;
    return kvm->last = at;
}

/* The processor of the sample's thread. NULL: the sample does not count, or there is no memory,
 * which has been told. */
static struct processor *processor_of(struct kvm *kvm, const struct pd_tp_sample *sample,
                                      const uint32_t *entered)
{
    struct pd_thread *thread = pd_tp_thread(sample, sample->sample.pid, sample->sample.tid);
    if (!thread || !pd_vec_widen_to(&kvm->processors, (size_t)thread->index + 1)) {
        pd_tp_no_memory(&kvm->tp);
        return NULL;
    }
    struct processor *processor = &kvm->processors.data[thread->index];
    if (!processor->known && entered)
        *processor = (struct processor){ .known = true, .number = *entered };
    if (!processor->known ||
        (kvm->options->vcpu >= 0 && processor->number != (uint64_t)kvm->options->vcpu))
        return NULL;
    return processor;
}

static perfdata_status begin(struct kvm *kvm, const struct pd_tp_sample *sample, struct key key)
{
    struct processor *processor = processor_of(kvm, sample, NULL);
    if (!processor)
        return pd_memory_failed() ? PERFDATA_ERROR_MEMORY : PERFDATA_OK;
    uint32_t event = key.number == NO_KEY ? 0 : find_event(kvm, key) + 1;
    if (key.number != NO_KEY && !event)
        return pd_tp_no_memory(&kvm->tp);
    processor->event = event;
    processor->since = sample->sample.time;
    return PERFDATA_OK;
}

static void count(struct event *event, uint64_t time)
{
    event->total += time;
    pd_spread_add(&event->times, time);
}

/* Ends the current event. `key` says which it was, where its beginning did not tell. */
static perfdata_status end(struct kvm *kvm, const struct pd_tp_sample *sample,
                           struct processor *processor, struct key key)
{
    if (!processor)
        return pd_memory_failed() ? PERFDATA_ERROR_MEMORY : PERFDATA_OK;
    if (!processor->since || (!processor->event && key.number == NO_KEY))
        return PERFDATA_OK;
    uint32_t event = processor->event ? processor->event : find_event(kvm, key) + 1;
    uint64_t since = processor->since;
    if (!event)
        return pd_tp_no_memory(&kvm->tp);
    processor->event = 0;
    processor->since = 0;
    if (sample->sample.time >= since)
        count(&kvm->events.data[event - 1], sample->sample.time - since);
    return PERFDATA_OK;
}

enum { FIRST, SECOND }; /* indices of the fields that a handler asks for */

static perfdata_status take_entry(void *data, const struct pd_tp_sample *sample)
{
    uint32_t number = (uint32_t)pd_tp_number(sample, FIRST);
    return end(data, sample, processor_of(data, sample, &number), (struct key){ NO_KEY, 0 });
}

static perfdata_status take_exit(void *data, const struct pd_tp_sample *sample)
{
    bool by_reason = ((const struct kvm *)data)->options->event == PERFDATA_KVM_EXITS;
    return begin(data, sample, (struct key){ by_reason ? pd_tp_number(sample, FIRST) : NO_KEY, 0 });
}

/* A write begins here and ends at the next entry. A read began at the exit before and ends here. */
static perfdata_status take_mmio(void *data, const struct pd_tp_sample *sample)
{
    enum { UNSATISFIED, READ, WRITE };
    uint64_t type = pd_tp_number(sample, FIRST), address = pd_tp_number(sample, SECOND);
    if (type == WRITE)
        return begin(data, sample, (struct key){ address, WRITES });
    return type == READ
               ? end(data, sample, processor_of(data, sample, NULL), (struct key){ address, READS })
               : PERFDATA_OK;
}

/* A port or a model-specific register: from here to the next entry. */
static perfdata_status take_access(void *data, const struct pd_tp_sample *sample)
{
    uint64_t writes = pd_tp_number(sample, FIRST), number = pd_tp_number(sample, SECOND);
    return begin(data, sample, (struct key){ number, writes ? WRITES : READS });
}

/* What each kind of event asks for: samples of the other tracepoints would only be passed over. */
static const struct pd_tp_handler *handlers_of(const struct perfdata_kvm_options *options)
{
#define ENTRY                                                                                      \
    {                                                                                              \
        "kvm:kvm_entry", { "vcpu_id" }, take_entry                                                 \
    }
#define EXIT                                                                                       \
    {                                                                                              \
        "kvm:kvm_exit", { "exit_reason" }, take_exit                                               \
    }
    static const struct pd_tp_handler of_exits[] = { ENTRY, EXIT, { 0 } };
    static const struct pd_tp_handler of_memory[] = {
        ENTRY, EXIT, { "kvm:kvm_mmio", { "type", "gpa" }, take_mmio }, { 0 }
    };
    static const struct pd_tp_handler of_ports[] = {
        ENTRY, { "kvm:kvm_pio", { "rw", "port" }, take_access }, { 0 }
    };
    static const struct pd_tp_handler of_registers[] = {
        ENTRY, { "kvm:kvm_msr", { "write", "ecx" }, take_access }, { 0 }
    };
    switch (options->event) {
    case PERFDATA_KVM_MMIO: return of_memory;
    case PERFDATA_KVM_PORTS: return of_ports;
    case PERFDATA_KVM_MSRS: return of_registers;
    default: return of_exits;
    }
}

static bool is_left_out(void *data, const struct pd_tp_sample *sample)
{
    return !pd_filter_numbers(&((const struct kvm *)data)->filter, sample->sample.pid,
                              sample->sample.tid, UINT32_MAX);
}

/* ---- the table ---- */

static const struct {
    uint64_t code;
    bool intel;
    const char *name;
} exits[] = {
#define SVM(code, name) { code, false, name },
#define VMX(code, name) { code, true, name },
#include "render/kernel/kvm_exits.def"
#undef SVM
#undef VMX
};

static void put_exit_name(struct kvm *kvm, uint64_t code)
{
    struct pd_text *out = &kvm->tp.out;
    const char *name = NULL;
    for (size_t i = 0; i < PD_LENGTH(exits) && !name; i++)
        if (exits[i].code == code && exits[i].intel == kvm->intel)
            name = exits[i].name;
    if (!name)
        pd_text_format(out, "unknown kvm exit code:%" PRIu64 " on %s\n", code,
                       kvm->intel ? "VMX" : "SVM");
    pd_text_format(out, "%*s ", NAME_ROOM, name ? name : "UNKNOWN");
}

static void put_name(struct kvm *kvm, const struct key *key)
{
    static const char *const words[][2] = { { ":R", ":W" }, { ":PIN", ":POUT" } };
    bool port = kvm->options->event == PERFDATA_KVM_PORTS;
    char name[2 * NAME_ROOM];
    if (kvm->options->event == PERFDATA_KVM_EXITS) {
        put_exit_name(kvm, key->number);
        return;
    }
    snprintf(name, sizeof name, "%#" PRIx64 "%s", key->number, words[port][key->kind]);
    pd_text_format(&kvm->tp.out, "%*.*s ", NAME_ROOM, NAME_ROOM - 1, name);
}

static double us(double ns)
{
    return ns / 1e3;
}

static void put_event(struct kvm *kvm, const struct event *event, const struct totals *all)
{
    const struct pd_spread *times = &event->times;
    double deviation = times->mean != 0 ? 100 * pd_spread_error(times) / times->mean : 0;
    uint64_t shortest = kvm->options->vcpu >= 0 ? 0 : times->least; /* as perf */
    put_name(kvm, &event->key);
    pd_text_format(&kvm->tp.out, "%10.0f %8.2f%% %8.2f%% %9.2fus %9.2fus %9.2fus ( +- %6.2f%% )\n",
                   times->count, times->count / all->count * 100,
                   (double)event->total / (double)all->time * 100, us((double)shortest),
                   us((double)times->most), us(times->mean), deviation);
}

struct sorted {
    const struct event *event;
    bool by_time;
};

/* Those of equal value stand as in perf's hash table, the newest first in each slot. */
static int largest_first(const void *a, const void *b)
{
    const struct event *x = ((const struct sorted *)a)->event;
    const struct event *y = ((const struct sorted *)b)->event;
    double m = x->times.count, n = y->times.count;
    if (((const struct sorted *)a)->by_time) {
        m = x->times.mean;
        n = y->times.mean;
    }
    if (m > n || m < n)
        return m < n ? 1 : -1;
    if (x->key.number % TABLE_SIZE != y->key.number % TABLE_SIZE)
        return x->key.number % TABLE_SIZE < y->key.number % TABLE_SIZE ? -1 : 1;
    return x < y ? 1 : -(x > y);
}

static void put_head(struct kvm *kvm)
{
    static const char *const titles[] = { "VM-EXIT", "MMIO Access", "IO Port Access",
                                          "MSR Access" };
    const struct perfdata_kvm_options *options = kvm->options;
    struct pd_text *out = &kvm->tp.out;
    pd_text_string(out, "\n\nAnalyze events for ");
    if (options->pids)
        pd_text_format(out, "pid(s) %s, ", options->pids);
    else
        pd_text_string(out, "all VMs, ");
    if (options->vcpu >= 0)
        pd_text_format(out, "VCPU %" PRId64 ":\n\n", options->vcpu);
    else
        pd_text_string(out, "all VCPUs:\n\n");
    pd_text_format(out, "%*s %10s %9s %9s %11s %11s %16s \n\n", NAME_ROOM, titles[options->event],
                   "Samples", "Samples%", "Time%", "Min Time", "Max Time", "Avg time");
}

static perfdata_status put_table(struct kvm *kvm)
{
    struct totals all = { 0 };
    size_t shown = 0;
    struct sorted *rows = calloc(kvm->events.count + 1, sizeof *rows);
    if (!rows)
        return pd_tp_no_memory(&kvm->tp);
    for (size_t i = 0; i < kvm->events.count; i++) {
        const struct event *event = &kvm->events.data[i];
        all.count += event->times.count;
        all.time += event->total;
        if (event->times.count > 0)
            rows[shown++] = (struct sorted){ event, kvm->options->by_time };
    }
    qsort(rows, shown, sizeof *rows, largest_first);
    put_head(kvm);
    for (size_t i = 0; i < shown; i++)
        put_event(kvm, rows[i].event, &all);
    pd_text_format(&kvm->tp.out, "\nTotal Samples:%.0f, Total events handled time:%.2fus.\n\n",
                   all.count, us((double)all.time));
    free(rows);
    return PERFDATA_OK;
}

/* ---- the run ---- */

static void note_isa(struct kvm *kvm, const struct pd_recording *recording)
{
    char here[PD_CPUID_SIZE];
    const char *id = pd_recording_cpuid(recording, here);
    kvm->intel = id && strstr(id, "Intel");
}

static perfdata_status check(struct pd_recording *recording,
                             const struct perfdata_kvm_options *options)
{
    static const char *const makers[] = { "Intel", "AMD", "Hygon" };
    char here[PD_CPUID_SIZE];
    const char *id = pd_recording_cpuid(recording, here);
    bool known = !id;
    if (options->event > PERFDATA_KVM_MSRS || options->by_time > 1)
        return pd_fail(&recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "there are no such events of guests");
    for (size_t i = 0; i < PD_LENGTH(makers) && !known; i++)
        known = strstr(id, makers[i]);
    return known ? PERFDATA_OK
                 : pd_fail(&recording->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                           "CPU %s is not supported.", id);
}

static perfdata_status run(struct kvm *kvm, struct pd_recording *recording, perfdata_write_fn write,
                           void *data)
{
    const struct pd_tp_verb verb = { .handlers = handlers_of(kvm->options),
                                     .data = kvm,
                                     .hears = PD_TP_HEARS(COMM),
                                     .drops = kvm->options->pids ? is_left_out : NULL };
    note_isa(kvm, recording);
    perfdata_status status = pd_filter_add_numbers(&kvm->filter, recording, kvm->options->pids,
                                                   NULL, NULL);
    if (status >= 0)
        status = pd_tp_open(&kvm->tp, recording, NULL, &verb, write, data);
    if (status < 0)
        return status;
    status = pd_tp_run(&kvm->tp);
    if (status >= 0)
        status = put_table(kvm);
    return pd_tp_close(&kvm->tp, status);
}

perfdata_status perfdata_kvm_run(perfdata_recording *recording,
                                 const struct perfdata_kvm_options *options,
                                 perfdata_write_fn write, void *data)
{
    struct perfdata_kvm_options known = { 0 };
    perfdata_status status = pd_handle_print(recording, &known, sizeof known, options, write);
    if (status >= 0)
        status = check(&recording->recording, &known);
    if (status < 0)
        return status;
    struct kvm kvm = { .options = &known, .keys.size = sizeof(struct key) };
    status = pd_tp_need_tracepoints(&recording->recording, "kvm record");
    if (status >= 0)
        status = run(&kvm, &recording->recording, write, data);
    pd_filter_free(&kvm.filter);
    pd_keys_free(&kvm.keys);
    pd_vec_free(&kvm.events);
    pd_vec_free(&kvm.processors);
    return status;
}
