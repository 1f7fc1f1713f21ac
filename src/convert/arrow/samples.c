/* SPDX-License-Identifier: MIT */
/* Samples as a stream: the profile's own columns, or with names and hashes. */
#include "convert/arrow/arrow.h"
#include <stdlib.h>

static uint64_t thread_pid(const struct pd_arrow_stream *stream, uint64_t row)
{
    return pd_profile_thread(stream->profile, stream->samples.thread[row])->pid;
}
static uint64_t thread_tid(const struct pd_arrow_stream *stream, uint64_t row)
{
    return pd_profile_thread(stream->profile, stream->samples.thread[row])->tid;
}
static uint64_t stack_hash(const struct pd_arrow_stream *stream, uint64_t row)
{
    return pd_profile_stack(stream->profile, stream->samples.stack[row])->hash;
}
static uint64_t no_address(const struct pd_arrow_stream *stream, uint64_t row)
{
    (void)stream, (void)row;
    return 0;
}

static void add_slice(struct pd_arrow_stream *stream, const char *name, const char *format,
                      const void *slice)
{
    struct pd_arrow_column column = { .name = name, .format = format, .slice = slice };
    pd_arrow_add(stream, &column, 1);
}

static void add_columns(struct pd_arrow_stream *stream)
{
    const struct perfdata_samples *samples = &stream->samples;
    add_slice(stream, "time", "l", samples->time);
    add_slice(stream, "cpu", "i", samples->cpu);
    add_slice(stream, "event", "i", samples->event);
    add_slice(stream, "thread", "i", samples->thread);
    add_slice(stream, "stack", "i", samples->stack);
    add_slice(stream, "period", "l", samples->weight);
    for (uint32_t i = 0; i < PERFDATA_COLUMN_COUNT; i++)
        if (samples->columns[i])
            add_slice(stream, perfdata_column_name(i), "L", samples->columns[i]);
}

/* ---- with names ---- */

static bool lay_out(struct pd_arrow_words *words)
{
    size_t size = 0, length;
    words->count = pd_strings_count(&words->strings);
    words->ends = calloc((size_t)words->count + 1, sizeof *words->ends);
    for (uint32_t i = 0; words->ends && i < words->count; i++) {
        pd_strings_at(&words->strings, i, &length);
        words->ends[i + 1] = (int64_t)(size += length);
    }
    words->bytes = malloc(size + 1);
    for (uint32_t i = 0; words->ends && words->bytes && i < words->count; i++) {
        const char *text = pd_strings_at(&words->strings, i, &length);
        memcpy(words->bytes + words->ends[i], text, length);
    }
    return words->ends && words->bytes;
}

/* A dictionary has each text once, also where two threads or events have one name. */
static bool gather(struct pd_arrow_words *words, const perfdata_profile *profile, bool comms)
{
    uint32_t count = comms ? perfdata_profile_thread_count(profile)
                           : perfdata_profile_event_count(profile);
    words->of = calloc((size_t)count + 1, sizeof *words->of);
    if (!words->of)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = comms ? perfdata_profile_thread(profile, i)->comm
                                 : perfdata_profile_event(profile, i)->name;
        words->of[i] = pd_strings_name(&words->strings, name, strlen(name));
    }
    bool ok = !words->strings.failed && lay_out(words);
    pd_strings_free(&words->strings);
    memset(&words->strings, 0, sizeof words->strings);
    return ok;
}

static perfdata_status add_portable(struct pd_arrow_stream *stream)
{
    const struct perfdata_samples *samples = &stream->samples;
    const uint64_t *ip = samples->columns[PERFDATA_COLUMN_IP];
    const struct pd_arrow_column names[] = {
        { .name = "pid", .format = "i", .kind = PD_ARROW_NUMBERS, .number = thread_pid },
        { .name = "tid", .format = "i", .kind = PD_ARROW_NUMBERS, .number = thread_tid },
        { .name = "comm",
          .format = "i",
          .kind = PD_ARROW_WORDS,
          .by = samples->thread,
          .words = &stream->comms },
        { .name = "event",
          .format = "i",
          .kind = PD_ARROW_WORDS,
          .by = samples->event,
          .words = &stream->events },
    };
    const struct pd_arrow_column rest[] = {
        { .name = "address",
          .format = "l",
          .kind = ip ? PD_ARROW_SLICE : PD_ARROW_NUMBERS,
          .number = no_address,
          .slice = ip },
        { .name = "stack_hash", .format = "l", .kind = PD_ARROW_NUMBERS, .number = stack_hash },
    };
    add_slice(stream, "time", "l", samples->time);
    add_slice(stream, "cpu", "i", samples->cpu);
    pd_arrow_add(stream, names, PD_LENGTH(names));
    add_slice(stream, "period", "l", samples->weight);
    pd_arrow_add(stream, rest, PD_LENGTH(rest));
    return gather(&stream->comms, stream->profile, true) &&
                   gather(&stream->events, stream->profile, false)
               ? PERFDATA_OK
               : PERFDATA_ERROR_MEMORY;
}

perfdata_status perfdata_samples_stream(perfdata_profile *profile, uint32_t flags,
                                        struct ArrowArrayStream *out)
{
    if (!out)
        return PERFDATA_ERROR_ARGUMENT;
    memset(out, 0, sizeof *out);
    if (!profile || flags & ~(uint32_t)PERFDATA_ARROW_PORTABLE)
        return PERFDATA_ERROR_ARGUMENT;
    if (perfdata_profile_thread_count(profile) > INT32_MAX ||
        perfdata_profile_stack_count(profile) > INT32_MAX)
        return PERFDATA_ERROR_LIMIT;
    struct pd_arrow_stream *stream = pd_arrow_new(profile);
    if (!stream)
        return PERFDATA_ERROR_MEMORY;
    stream->samples.struct_size = sizeof stream->samples;
    perfdata_status status = perfdata_profile_samples(profile, &stream->samples);
    if (status >= 0) {
        stream->rows = stream->samples.count;
        if (flags & PERFDATA_ARROW_PORTABLE)
            status = add_portable(stream);
        else
            add_columns(stream);
    }
    return pd_arrow_give(stream, status, out);
}
