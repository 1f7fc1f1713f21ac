/* SPDX-License-Identifier: MIT */
/* The debug log: what records and queues do, around what the decoders write (intel_pt/log.h). */
#include "itrace/intel_pt/log.h"
#include "itrace/synth/internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 128 << 10 };

struct pd_synth_logger {
    struct pd_pt_log pt;
    struct pd_synth_log to;
    bool records; /* each record of the recording is told */
    bool outside; /* also those whose time is not wanted */
    size_t keep;  /* only the last so many bytes, and when an error comes; 0: all */
    bool cut;     /* bytes have been dropped before what is kept */
};

perfdata_status pd_synth_log_open(struct pd_synth *synth, const struct pd_synth_config *config)
{
    const struct pd_itrace_options *options = &synth->options;
    if (!options->log)
        return PERFDATA_OK;
    if (!config->log)
        return pd_fail(&synth->recording->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "the debug log of --itrace (letter d) is not written here");
    struct pd_synth_logger *logger = synth->logger = calloc(1, sizeof *logger);
    if (!logger)
        return pd_no_memory(&synth->recording->context, "the debug log");
    logger->to = *config->log;
    logger->outside = options->log_plus & PD_ITRACE_FLAG('a');
    logger->records = logger->outside || !(options->log_minus & PD_ITRACE_FLAG('a'));
    logger->keep = options->log_plus & PD_ITRACE_FLAG('e') ? (size_t)options->log_buffer_size : 0;
    logger->pt.place = pd_code_place;
    logger->pt.cache_divisor = options->cache_divisor;
    return PERFDATA_OK;
}

void pd_synth_log_close(struct pd_synth *synth)
{
    if (!synth->logger)
        return;
    pd_pt_log_free(&synth->logger->pt);
    free(synth->logger);
}

struct pd_pt_log *pd_synth_log_of(const struct pd_synth *synth)
{
    return synth->logger ? &synth->logger->pt : NULL;
}

struct pd_text *pd_synth_log_to(const struct pd_synth *synth)
{
    return &synth->logger->pt.text;
}

/* ---- where it goes ---- */

/* Hands text over and returns how much was taken. Samples of a step must still have room behind it;
 * text beyond that waits. */
static size_t give(struct pd_synth *synth, const char *text, size_t size)
{
    struct pd_synth_logger *logger = synth->logger;
    struct pd_synth_sink *sink = synth->sink;
    size_t given = 0;
    if (!size || synth->status < 0)
        return size;
    if (logger->to.write) {
        synth->status = logger->to.write(logger->to.data, text, size);
        return size;
    }
    while (given < size && sink->capacity - sink->count > PD_SYNTH_STEP / 2) {
        size_t piece = PD_MIN(size - given, (size_t)PIECE);
        uint8_t *copy = pd_synth_alloc(synth, piece);
        if (!copy)
            return size;
        memcpy(copy, text + given, piece);
        sink->records[sink->count++] = (struct pd_delivered){
            .data = copy, .size = (uint32_t)piece, .type = PD_SYNTH_LOG, .time = PD_NO_TIME
        };
        given += piece;
    }
    return given;
}

static void drop_front(struct pd_synth_logger *logger, size_t keep)
{
    struct pd_text *text = &logger->pt.text;
    if (text->length <= keep)
        return;
    memmove(text->data, text->data + text->length - keep, keep);
    text->length = keep;
    logger->cut = true;
}

void pd_synth_log_flush(struct pd_synth *synth)
{
    struct pd_synth_logger *logger = synth->logger;
    if (!logger)
        return;
    struct pd_text *text = &logger->pt.text;
    if (text->failed)
        synth->status = PERFDATA_ERROR_MEMORY;
    if (logger->keep) {
        if (text->length > 2 * logger->keep)
            drop_front(logger, logger->keep);
        return;
    }
    size_t given = give(synth, text->data, text->length);
    if (given < text->length)
        memmove(text->data, text->data + given, text->length - given);
    text->length -= given;
}

/* Writes what was kept, from the beginning of a line on. */
static void dump_kept(struct pd_synth *synth)
{
    static const char begin[] = "Dumping debug log buffer\n";
    static const char end[] = "End of debug log buffer dump\n";
    struct pd_synth_logger *logger = synth->logger;
    struct pd_text *text = &logger->pt.text, out = { 0 };
    drop_front(logger, logger->keep);
    size_t from = 0;
    while (logger->cut && from < text->length && text->data[from++] != '\n')
        ;
    pd_text_string(&out, begin);
    pd_text_bytes(&out, text->data + from, text->length - from);
    pd_text_string(&out, end);
    text->failed |= out.failed;
    give(synth, out.data, out.length);
    pd_text_free(&out);
    text->length = 0;
    logger->cut = false;
}

void pd_synth_log_error(struct pd_synth *synth, const struct pd_delivered *record, bool outside)
{
    struct pd_synth_logger *logger = synth->logger;
    if (!logger)
        return;
    if (logger->to.errors)
        logger->to.record(logger->to.data, record, &logger->pt.text);
    if (logger->keep && !outside)
        dump_kept(synth);
    pd_synth_log_flush(synth);
}

/* ---- records ---- */

/* Between the first span of time that is wanted and the last. */
static bool in_ranges(const struct pd_synth *synth, uint64_t tsc)
{
    if (!synth->plan.range_count)
        return true;
    uint64_t end = synth->plan.ranges[synth->plan.range_count - 1].end;
    return tsc > synth->plan.ranges[0].start && (!end || tsc < end);
}

void pd_synth_log_record(struct pd_synth *synth, const struct pd_delivered *record)
{
    struct pd_synth_logger *logger = synth->logger;
    if (!logger || !logger->records || !logger->to.record)
        return;
    uint64_t time = record->time == PD_NO_TIME ? 0 : record->time;
    uint64_t tsc = time ? pd_time_to_tsc(&synth->aux->info.pt.time, time) : 0;
    if (!logger->outside && !in_ranges(synth, tsc))
        return;
    struct pd_identity who = { .cpu = PD_NOBODY };
    if (record->type == PD_RECORD_SAMPLE) {
        struct pd_sample sample;
        if (record->event && pd_delivered_sample(record, &sample) >= 0)
            who.cpu = sample.cpu;
    } else {
        pd_record_identity(record->event, record->data, record->size, record->type, &who);
    }
    pd_synth_log_text(synth, "event %u: cpu %d time %llu tsc %#llx ", record->type,
                      (int32_t)who.cpu, (unsigned long long)time, (unsigned long long)tsc);
    logger->to.record(logger->to.data, record, &logger->pt.text);
}

void pd_synth_log_no_code(struct pd_synth *synth, const struct pd_pt_state *state, bool told)
{
    unsigned long long ip = state->from_ip;
    if (!synth->logger || state->error != PD_PT_NO_INSN)
        return;
    if (!state->failure.in_view) {
        pd_synth_log_text(synth, "ERROR: no guest machine\n");
    } else if (state->failure.error == PD_CODE_NO_MAP) {
        pd_synth_log_text(synth, "ERROR: thread has no map for 0x%llx\n", ip);
    } else if (state->failure.error == PD_CODE_UNREADABLE && told && state->failure.map) {
        const char *name = state->failure.map->dso->name;
        pd_synth_log_text(synth, "ERROR: failed to read at offset 0x%llx dso: %s (%s, loaded, )\n",
                          ip, name, name);
    }
    pd_synth_log_text(synth, "ERROR: Failed to get instruction at 0x%llx\n", ip);
}

/* The object's name: a copy of the kernel beside the recording is the file. */
static const char *object_name(const struct pd_synth *synth, const struct pd_map *map, char *path,
                               size_t size)
{
    int length = map->kernel && synth->recording->directory
                     ? snprintf(path, size, "%s/kcore_dir/kcore", synth->recording->path)
                     : -1;
    bool is_copy = length > 0 && (size_t)length < size && !access(path, F_OK);
    return is_copy ? path : map->dso->long_name;
}

void pd_synth_log_poke(struct pd_synth *synth, const struct pd_delivered *record)
{
    enum { ADDRESS = 8, NEW_SIZE = 18, LEAST = 20 };
    struct pd_code_place place;
    char path[4096];
    if (!synth->logger || record->size < LEAST)
        return;
    bool swap = synth->recording->swap;
    uint64_t ip = pd_load64(record->data + ADDRESS, swap);
    uint16_t size = pd_load16(record->data + NEW_SIZE, swap);
    struct pd_code_view *view = pd_code_view(synth->code_reader, NULL, synth->number, PD_CODE_HOST);
    const struct pd_map *map = view ? pd_code_map(view, ip) : NULL;
    if (size && map && pd_code_place(view, ip, &place))
        pd_pt_log_patch(&synth->logger->pt, &place, size, ip,
                        object_name(synth, map, path, sizeof path));
}
