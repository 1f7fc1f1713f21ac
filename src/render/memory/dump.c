/* SPDX-License-Identifier: MIT */
/* `mem -D`: one line for each sample. Without -x, perf pads the first line that it prints, and no
 * other. */
#include "container/handle.h"
#include "pipeline/pipeline.h"
#include "render/raw_dump/raw_dump.h"
#include "select/filter.h"
#include <perfdata/memory.h>

struct memory_dump {
    const struct perfdata_memory_options *options;
    struct pd_session session;
    struct pd_filter filter;
    perfdata_write_fn write;
    void *data;
    bool has_line; /* the first line has been written */
};

static perfdata_status begin(void *data, unsigned worker, struct pd_resolver *resolver,
                             void **state)
{
    (void)data, (void)worker;
    *state = resolver;
    return PERFDATA_OK;
}

/* ---- a sample ---- */

static void put_separator(const struct memory_dump *dump, struct pd_text *out)
{
    pd_text_string(out, dump->options->separator ? dump->options->separator : " ");
}

static void put_addresses(const struct memory_dump *dump, const struct pd_sample *sample,
                          bool padded, struct pd_text *out)
{
    if (padded) {
        /* The odd "0x016" before the second number is perf's. */
        pd_text_format(out, "%5d %5d 0x%016llx 0x016%llx", (int)sample->pid, (int)sample->tid,
                       (unsigned long long)sample->ip, (unsigned long long)sample->addr);
        return;
    }
    pd_text_format(out, "%d", (int)sample->pid);
    put_separator(dump, out);
    pd_text_format(out, "%d", (int)sample->tid);
    put_separator(dump, out);
    pd_text_format(out, "0x%llx", (unsigned long long)sample->ip);
    put_separator(dump, out);
    pd_text_format(out, "0x%llx", (unsigned long long)sample->addr);
}

/* The weight; where it has parts, the first of them. */
static uint64_t weight_of(const struct pd_delivered *record, const struct pd_sample *sample)
{
    bool parts = record->event->attr.sample_type & PD_SAMPLE_WEIGHT_STRUCT;
    return parts ? (uint32_t)sample->weight : sample->weight;
}

static void put_line(const struct memory_dump *dump, const struct pd_delivered *record,
                     const struct pd_sample *sample, const struct pd_location *location,
                     bool padded, struct pd_text *out)
{
    uint64_t flags = dump->options->flags;
    put_addresses(dump, sample, padded, out);
    put_separator(dump, out);
    if (flags & PERFDATA_MEMORY_PHYSICAL) {
        pd_text_format(out, "0x%016llx", (unsigned long long)sample->phys_addr);
        put_separator(dump, out);
    }
    if (flags & PERFDATA_MEMORY_PAGE_SIZE) {
        pd_size_text(sample->data_page_size, out);
        put_separator(dump, out);
    }
    pd_text_u64(out, weight_of(record, sample), padded ? 5 : 0, ' ');
    put_separator(dump, out);
    pd_text_format(out, "0x%llx", (unsigned long long)sample->data_src);
    put_separator(dump, out);
    pd_text_string(out, location->dso ? pd_symbols_long_name(dump->session.symbols, location->dso)
                                      : "???");
    pd_text_char(out, ':');
    pd_text_string(out, location->sym ? location->sym->name : "???");
    pd_text_char(out, '\n');
}

static perfdata_status put_sample(const struct memory_dump *dump, struct pd_resolver *resolver,
                                  const struct pd_delivered *record, struct pd_text *out)
{
    struct pd_sample sample;
    if (record->type != PD_RECORD_SAMPLE || !record->event ||
        pd_delivered_sample(record, &sample) < 0 || !pd_filter_cpu(&dump->filter, sample.cpu))
        return PERFDATA_OK;
    const struct pd_location *location = pd_resolve(resolver, record->thread, record->number,
                                                    sample.cpumode, sample.ip);
    if (!location)
        return PERFDATA_ERROR_MEMORY;
    if (!location->sym && dump->options->flags & PERFDATA_MEMORY_HIDE_UNRESOLVED)
        return PERFDATA_OK;
    if (out->length) {
        put_line(dump, record, &sample, location, false, out);
        return PERFDATA_OK;
    }
    /* A batch begins with both forms of its first line, padded and not, so that sink() can choose.
     * Each form ends with a NUL, since names may hold any other byte. */
    for (unsigned padded = 2; padded-- > 0;) {
        put_line(dump, record, &sample, location, padded && !dump->options->separator, out);
        pd_text_char(out, 0);
    }
    return PERFDATA_OK;
}

static perfdata_status work(void *data, void *state, struct pd_batch *batch)
{
    perfdata_status status = PERFDATA_OK;
    pd_resolver_trim(state);
    for (size_t i = 0; i < batch->count && status >= 0; i++)
        status = put_sample(data, state, &batch->records[i], &batch->text);
    return status;
}

static perfdata_status give(const struct memory_dump *dump, const char *text, size_t length)
{
    return length && dump->write(dump->data, text, length) ? PERFDATA_ERROR_OUTPUT : PERFDATA_OK;
}

/* The first line of a batch comes in two forms, one of which is written: the padded one if it is
 * the first line of all. */
static perfdata_status sink(void *data, const char *text, size_t length)
{
    struct memory_dump *dump = data;
    const char *end = text + length;
    const char *padded = length ? memchr(text, 0, length) : NULL;
    const char *plain = padded ? memchr(padded + 1, 0, (size_t)(end - padded - 1)) : NULL;
    if (!plain)
        return PERFDATA_OK;
    const char *first = dump->has_line ? padded + 1 : text;
    perfdata_status status = give(dump, first, strlen(first));
    dump->has_line = true;
    return status < 0 ? status : give(dump, plain + 1, (size_t)(end - plain - 1));
}

/* ---- the run ---- */

static perfdata_status put_head(const struct memory_dump *dump)
{
    struct pd_text out = { 0 };
    uint64_t flags = dump->options->flags;
    pd_text_string(&out, "# PID, TID, IP, ADDR, ");
    if (flags & PERFDATA_MEMORY_PHYSICAL)
        pd_text_string(&out, "PHYS ADDR, ");
    if (flags & PERFDATA_MEMORY_PAGE_SIZE)
        pd_text_string(&out, "DATA PAGE SIZE, ");
    pd_text_string(&out, "LOCAL WEIGHT, DSRC, SYMBOL\n");
    return pd_api_emit(&dump->session.recording->context, &out, dump->write, dump->data);
}

static perfdata_status check(struct memory_dump *dump, struct pd_recording *recording)
{
    const struct perfdata_memory_options *options = dump->options;
    if (options->separator && !strcmp(options->separator, "."))
        return pd_fail(&recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "'.' is the only non valid --field-separator argument");
    return options->cpus ? pd_filter_add_cpus(&dump->filter, recording, options->cpus)
                         : PERFDATA_OK;
}

static perfdata_status run(struct memory_dump *dump, struct pd_recording *recording)
{
    struct pd_consumer consumer = { .kind = PD_CONSUME_ORDERED,
                                    .warns = PD_WARN_READ,
                                    .data = dump,
                                    .order = PD_ORDER_DELIVERY,
                                    .begin = begin,
                                    .work = work,
                                    .sink = sink };
    struct pd_object_search search = pd_search_of(recording, &dump->options->search, NULL);
    search.demangle = true;
    perfdata_status status = pd_session_open(recording, &search, &dump->session);
    if (status < 0)
        return status;
    status = put_head(dump);
    if (status >= 0)
        status = pd_pipeline_run(&dump->session, &consumer, dump->options->threads);
    pd_session_close(&dump->session);
    return pd_analysis_status(&recording->context, status);
}

perfdata_status perfdata_memory_dump(perfdata_recording *recording,
                                     const struct perfdata_memory_options *options,
                                     perfdata_write_fn write, void *data)
{
    struct perfdata_memory_options known = { 0 };
    perfdata_status status = pd_handle_print(recording, &known, sizeof known, options, write);
    if (status < 0)
        return status;
    struct memory_dump dump = { .options = &known, .write = write, .data = data };
    status = check(&dump, &recording->recording);
    if (status >= 0)
        status = run(&dump, &recording->recording);
    pd_filter_free(&dump.filter);
    return status;
}
