/* SPDX-License-Identifier: MIT */
/* Records -> the counts of report --stats. */
#include "render/about/stats.h"
#include "format/offsets.h"
#include "pipeline/split.h"
#include <stdlib.h>

#define TYPES 128

struct event_counts {
    uint64_t samples, lost, dropped;
};

struct pd_stats {
    struct pd_recording *recording;
    uint64_t total, types[TYPES];
    struct event_counts *events;
    size_t event_count;
    struct pd_split split;
    /* The record seen last, of which more parts may come. */
    const uint8_t *last;
    uint64_t last_offset;
};

struct pd_stats *pd_stats_new(struct pd_recording *recording)
{
    struct pd_stats *stats = calloc(1, sizeof *stats);
    if (!stats)
        return NULL;
    stats->recording = recording;
    stats->event_count = recording->event_count;
    stats->events = calloc(stats->event_count + 1, sizeof *stats->events);
    if (stats->events)
        return stats;
    free(stats);
    return NULL;
}

void pd_stats_free(struct pd_stats *stats)
{
    if (!stats)
        return;
    free(stats->events);
    free(stats);
}

/* An event of a stream may come after records of others. NULL: no memory. */
static struct event_counts *counts_of(struct pd_stats *stats, uint32_t index)
{
    if (index >= stats->event_count) {
        size_t count = PD_MAX(stats->recording->event_count, (size_t)index + 1);
        struct event_counts *grown = realloc(stats->events, (count + 1) * sizeof *grown);
        if (!grown)
            return NULL;
        memset(grown + stats->event_count, 0, (count + 1 - stats->event_count) * sizeof *grown);
        stats->events = grown;
        stats->event_count = count;
    }
    return &stats->events[index];
}

/* A sample that reads counters counts once for each event whose counter moved. */
static bool count_parts(struct pd_stats *stats, const struct pd_raw *raw)
{
    struct pd_delivered part = {
        .data = raw->data,
        .size = raw->size,
        .type = raw->type,
        .misc = raw->misc,
        .event = raw->event,
    };
    int got;
    pd_split_begin(&stats->split, &part);
    while ((got = pd_split_next(&stats->split, &part)) > 0) {
        struct event_counts *event = counts_of(stats, part.event->index);
        if (!event)
            return false;
        event->samples++;
    }
    return got == 0;
}

static uint64_t branches_of(const struct pd_delivered *record)
{
    struct pd_sample sample;
    return pd_delivered_sample(record, &sample) == PERFDATA_OK ? sample.branch_count : 0;
}

static void count_type(struct pd_stats *stats, uint32_t type)
{
    stats->total++;
    if (type < TYPES)
        stats->types[type]++;
}

/* What a record, or a part of it, counts for its event. */
static bool count_event(struct pd_stats *stats, const struct pd_stats_options *options,
                        const struct pd_delivered *record)
{
    const struct pd_event *of = pd_delivered_event(stats->recording, record);
    struct event_counts *event = of ? counts_of(stats, of->index) : NULL;
    if (!event)
        return !of;
    if (record->type == PD_RECORD_SAMPLE)
        event->samples += options->branches ? branches_of(record) : 1;
    else if (record->type == PD_RECORD_LOST_SAMPLES && record->size >= 16 && options->lost)
        *(record->misc & PD_MISC_LOST_SAMPLES_BPF && !stats->recording->like_perf
              ? &event->dropped
              : &event->lost) += pd_load64(record->data + PD_AT(lost_samples, lost),
                                           record->event->plan.swap);
    return true;
}

bool pd_stats_see(struct pd_stats *stats, const struct pd_stats_options *options,
                  const struct pd_delivered *record)
{
    if (record->data != stats->last || record->offset != stats->last_offset)
        count_type(stats, record->type);
    stats->last = record->data;
    stats->last_offset = record->offset;
    return count_event(stats, options, record);
}

static bool count(struct pd_stats *stats, const struct pd_stats_options *options,
                  const struct pd_raw *raw)
{
    count_type(stats, raw->type);
    if (!raw->event)
        return true;
    if (raw->type == PD_RECORD_SAMPLE && raw->event->plan.sample_type & PD_SAMPLE_READ)
        return count_parts(stats, raw);
    const struct pd_delivered record = {
        .data = raw->data,
        .size = raw->size,
        .type = raw->type,
        .misc = raw->misc,
        .event = raw->event,
    };
    return count_event(stats, options, &record);
}

static void line(struct pd_text *out, const char *name, uint64_t count)
{
    pd_text_right(out, name, strlen(name), 16);
    pd_text_string(out, " events: ");
    pd_text_u64(out, count, 10, ' ');
}

/* For its statistics alone, perf ignores what a pipe says of its events, so that their attrs name
 * them. */
static void put_name(const struct pd_recording *recording, const struct pd_event *event, bool alone,
                     struct pd_text *out)
{
    if (alone && recording->kind == PD_CONTAINER_PIPE && event->attr.type != PD_TYPE_TRACEPOINT)
        pd_attr_name(&event->attr, out);
    else
        pd_text_string(out, event->name);
}

/* Types that perf 6.1 does not know have no line of zeros. */
static bool is_shown(const struct pd_stats *stats, bool empty, uint32_t type)
{
    bool old = type <= PD_RECORD_AUX_OUTPUT_HW_ID ||
               (type >= PD_RECORD_HEADER_ATTR && type <= PD_RECORD_FINISHED_INIT);
    return pd_record_type_name(type) && (stats->types[type] || (empty && old));
}

static void put_types(const struct pd_stats *stats, bool empty, struct pd_text *out)
{
    for (uint32_t type = 0; type < TYPES; type++) {
        if (!is_shown(stats, empty, type))
            continue;
        const char *name = pd_record_type_name(type);
        line(out, strncmp(name, "HEADER_", 7) ? name : name + 7, stats->types[type]);
        pd_text_format(out, "  (%4.1f%%)\n",
                       100.0 * (double)stats->types[type] / (double)PD_MAX(stats->total, 1));
    }
}

static void put_event(const struct event_counts *event, struct pd_text *out)
{
    const struct {
        const char *name;
        uint64_t count;
    } rows[] = {
        { pd_record_type_name(PD_RECORD_SAMPLE), event->samples },
        { pd_record_type_name(PD_RECORD_LOST_SAMPLES), event->lost },
        { "DROPPED_BY_BPF", event->dropped },
    };
    pd_text_string(out, " stats:\n");
    for (size_t i = 0; i < PD_LENGTH(rows); i++) {
        if (!rows[i].count)
            continue;
        line(out, rows[i].name, rows[i].count);
        pd_text_char(out, '\n');
    }
}

void pd_stats_put(struct pd_stats *stats, const struct pd_stats_options *options,
                  struct pd_text *out)
{
    const struct pd_recording *recording = stats->recording;
    for (size_t i = 0; i < PD_MIN(options->kept_count, stats->event_count); i++)
        stats->events[i].samples = atomic_load(&options->kept[i]);
    stats->total += options->made;
    stats->types[PD_RECORD_HEADER_ATTR] += options->made;
    pd_text_string(out, "\nAggregated stats:");
    if (pd_recording_has_feature(recording, PD_FEATURE_AUXTRACE))
        pd_text_string(
            out, " (excludes AUX area (e.g. instruction trace) decoded / synthesized events)");
    pd_text_char(out, '\n');
    if (stats->total) {
        line(out, "TOTAL", stats->total);
        pd_text_char(out, '\n');
    }
    put_types(stats, options->empty, out);
    for (size_t i = 0; i < stats->event_count; i++) {
        const struct event_counts *event = &stats->events[i];
        if (!event->samples && !event->lost && !event->dropped && !options->empty)
            continue;
        put_name(recording, recording->events[i], options->lost, out);
        put_event(event, out);
    }
}

perfdata_status pd_stats_text(struct pd_recording *recording, struct pd_stats_options options,
                              struct pd_text *out)
{
    struct pd_stats *stats = pd_stats_new(recording);
    struct pd_walk *walk;
    struct pd_raw raw;
    if (!stats)
        return pd_no_memory(&recording->context, "counts");
    int status = pd_walk_open(recording, &walk);
    if (status >= 0) {
        pd_split_init(&stats->split, recording);
        while ((status = pd_walk_next(walk, &raw)) > 0 && count(stats, &options, &raw))
            continue;
        if (status > 0)
            status = pd_no_memory(&recording->context, "counts");
        pd_split_free(&stats->split);
        pd_walk_close(walk);
        pd_stats_put(stats, &options, out);
    }
    pd_stats_free(stats);
    return status;
}
