/* SPDX-License-Identifier: MIT */
/* The text of `perf data convert --to-json`: header and samples, with the addresses of their chains
 * as recorded. */
#include "convert/direct.h"
#include <stdlib.h>
#include <time.h>

/* perf escapes char by char, and its char is signed: a byte above 0x7f becomes \uffffffXX. */
static void put_string(struct pd_text *out, const char *text, size_t length)
{
    static const char letters[] = "bfnrt", controls[] = "\b\f\n\r\t";
    pd_text_char(out, '"');
    for (size_t i = 0; i < length; i++) {
        signed char c = (signed char)text[i];
        const char *control = c ? strchr(controls, c) : NULL;
        if (control) {
            pd_text_char(out, '\\');
            pd_text_char(out, letters[control - controls]);
        } else if (c < 0x20) {
            pd_text_bytes(out, "\\u", 2);
            pd_text_hex(out, (uint32_t)c, 4, '0');
        } else {
            if (c == '"' || c == '\\')
                pd_text_char(out, '\\');
            pd_text_char(out, (char)c);
        }
    }
    pd_text_char(out, '"');
}

struct form {
    bool later; /* a sample was written */
    bool cpu;   /* some event has CPUs: perf then shows one for all samples */
};

/* ---- the header ---- */

static void put_key(struct pd_text *out, const char *key)
{
    pd_text_format(out, ",\n\t\t\"%s\": ", key);
}

static void put_number(struct pd_text *out, const char *key, uint64_t value)
{
    put_key(out, key);
    pd_text_u64(out, value, 0, ' ');
}

static void put_word(struct pd_text *out, const char *key, const struct pd_str *value)
{
    if (!value->text)
        return;
    put_key(out, key);
    put_string(out, value->text, strlen(value->text));
}

static void put_command(const struct pd_feature_cmdline *command, struct pd_text *out)
{
    put_key(out, "cmdline");
    pd_text_char(out, '[');
    for (uint32_t i = 0; i < command->words_count; i++) {
        const char *word = command->words[i].text.text;
        pd_text_string(out, i ? ",\n\t\t\t" : "\n\t\t\t");
        put_string(out, word ? word : "", word ? strlen(word) : 0);
    }
    pd_text_string(out, "\n\t\t]");
}

static void put_header(const struct pd_recording *recording, struct pd_text *out)
{
    const struct pd_features *f = &recording->features;
    const struct pd_section *data = &recording->recorded_data;
    time_t seconds = (time_t)pd_source_mtime(recording->source);
    struct tm utc = { 0 };
    char when[64] = "", here[PD_CPUID_SIZE];
    const struct pd_str cpuid = { .text = pd_recording_cpuid(recording, here) };
    if (gmtime_r(&seconds, &utc))
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    pd_text_format(out,
                   "{\n\t\"linux-perf-json-version\": 1,\n\t\"headers\": {\n"
                   "\t\t\"header-version\": %u,\n\t\t\"captured-on\": \"%s\"",
                   recording->version - 1, when);
    put_number(out, "data-offset", data->offset);
    put_number(out, "data-size", data->size);
    put_number(out, "feat-offset", data->offset + data->size);
    put_word(out, "hostname", &f->hostname.text);
    put_word(out, "os-release", &f->osrelease.text);
    put_word(out, "arch", &f->arch.text);
    put_word(out, "cpu-desc", &f->cpudesc.text);
    put_word(out, "cpuid", &cpuid);
    put_number(out, "nrcpus-online", f->nrcpus.online);
    put_number(out, "nrcpus-avail", f->nrcpus.available);
    if (pd_recording_has_feature(recording, PD_FEATURE_CLOCK_DATA)) {
        put_number(out, "clockid", f->clock_data.clockid);
        put_number(out, "clock-time", f->clock_data.clock_time);
        put_number(out, "real-time", f->clock_data.wall_clock);
    }
    put_word(out, "perf-version", &f->version.text);
    put_command(&f->cmdline, out);
    pd_text_string(out, "\n\t},\n\t\"samples\": [");
}

/* ---- samples ---- */

static void put_place(struct pd_profile_worker *worker, const struct pd_location *at, bool first,
                      struct pd_text *out)
{
    pd_text_string(out, first ? "\n\t\t\t\t{\n\t\t\t\t\t\"ip\": \"0x"
                              : ",\n\t\t\t\t{\n\t\t\t\t\t\"ip\": \"0x");
    pd_text_hex(out, at->ip, 0, ' ');
    pd_text_char(out, '"');
    if (at->sym) {
        pd_text_string(out, ",\n\t\t\t\t\t\"symbol\": ");
        put_string(out, at->sym->name, at->sym->name_length);
        if (at->dso) {
            const char *name = pd_symbols_short_name(pd_resolver_symbols(worker->resolver),
                                                     at->dso);
            pd_text_string(out, ",\n\t\t\t\t\t\"dso\": ");
            put_string(out, name, strlen(name));
        }
    }
    pd_text_string(out, "\n\t\t\t\t}");
}

/* perf takes the addresses before the first marker to be in user space, and heeds only these
 * markers. */
static uint8_t mode_of_marker(uint64_t marker, uint8_t mode)
{
    switch (marker) {
    case (uint64_t)-32: return PD_CPUMODE_HYPERVISOR;
    case (uint64_t)-128: return PD_CPUMODE_KERNEL;
    case (uint64_t)-512: return PD_CPUMODE_USER;
    default: return mode;
    }
}

static void put_chain(struct pd_profile_worker *worker, const struct pd_delivered *record,
                      const struct pd_sample *sample, struct pd_text *out)
{
    const struct pd_profile_shared *shared = worker->shared;
    unsigned left = shared->options->max_stack ? shared->options->max_stack : UINT32_MAX;
    uint8_t mode = PD_CPUMODE_USER;
    bool first = true;
    for (uint32_t i = 0; i < sample->callchain_count && left; i++) {
        uint64_t ip = pd_load64(sample->callchain + (size_t)i * 8, sample->swap);
        if (ip >= PD_CHAIN_FIRST_CONTEXT) {
            mode = mode_of_marker(ip, mode);
            continue;
        }
        const struct pd_location *at = pd_resolve(worker->resolver, record->thread, record->number,
                                                  mode, ip);
        if (at)
            put_place(worker, at, first, out);
        out->failed |= !at;
        first = false;
        left = at && pd_profile_is_stop(worker, at) ? 0 : left - 1;
    }
}

/* Threads that have ended share the tid -1, and perf shows the process of the first of them for
 * all. */
static uint32_t shown_pid(const struct pd_direct *direct, const struct pd_delivered *record,
                          const struct pd_sample *sample)
{
    return direct->x->recording->like_perf && record->thread
               ? pd_thread_pid(record->thread, record->number)
               : sample->pid;
}

static void put_sample(struct pd_direct *direct, struct pd_profile_worker *worker,
                       const struct pd_delivered *record, const struct pd_profile_taken *taken,
                       struct pd_text *out)
{
    const struct pd_sample *sample = taken->sample;
    const struct pd_comm *comm = record->thread ? pd_thread_comm(record->thread, record->number)
                                                : NULL;
    const struct form *form = direct->state;
    const char *name = comm ? pd_comm_text(comm, record->number) : ":-1";
    bool chain = sample->callchain && !(direct->options.flags & PERFDATA_PROFILE_NO_CALLCHAIN);
    pd_text_string(out, ",\n\t\t{\n\t\t\t\"timestamp\": ");
    pd_text_i64(out, (int64_t)sample->time, 0);
    pd_text_string(out, ",\n\t\t\t\"pid\": ");
    pd_text_i64(out, (int32_t)shown_pid(direct, record, sample), 0);
    pd_text_string(out, ",\n\t\t\t\"tid\": ");
    pd_text_i64(out, (int32_t)sample->tid, 0);
    if (form->cpu) {
        pd_text_string(out, ",\n\t\t\t\"cpu\": ");
        pd_text_i64(out, (int32_t)sample->cpu, 0);
    }
    pd_text_string(out, ",\n\t\t\t\"comm\": ");
    put_string(out, name, strlen(name));
    pd_text_string(out, ",\n\t\t\t\"callchain\": [");
    if (chain)
        put_chain(worker, record, sample, out);
    else
        put_place(worker, taken->own, true, out);
    pd_text_string(out, "\n\t\t\t]\n\t\t}");
}

/* Each sample but the first begins with a comma, which the first one's text loses here. */
static perfdata_status take(struct pd_direct *direct, const char *text, size_t length)
{
    struct pd_convert *x = direct->x;
    struct form *form = direct->state;
    size_t skip = !form->later && length;
    form->later |= length > 0;
    pd_text_bytes(&x->out, text + skip, length - skip);
    return pd_convert_flush(x, false);
}

static perfdata_status run(struct pd_convert *x, const struct perfdata_profile_options *how,
                           struct perfdata_export_result *result)
{
    struct form form = { 0 };
    struct pd_direct direct = {
        .x = x, .options = *how, .state = &form, .sample = put_sample, .take = take
    };
    for (size_t i = 0; i < x->recording->event_count; i++)
        form.cpu |= (x->recording->events[i]->attr.sample_type & PD_SAMPLE_CPU) != 0;
    perfdata_status status = pd_direct_check(x, how, "json");
    if (status < 0)
        return status;
    direct.shared.takes_guests = true;
    put_header(x->recording, &x->out);
    status = pd_direct_run(&direct, result);
    if (status < 0)
        return status;
    pd_text_string(&x->out, "\n\t]\n}\n");
    return pd_convert_flush(x, true);
}

const struct pd_format pd_format_json = { .run = run };
