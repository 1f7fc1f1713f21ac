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

struct counts {
    uint64_t total, types[TYPES];
    struct event_counts *events;
    size_t event_count;
    struct pd_stats_options options;
    bool like_perf; /* no mark of what a BPF filter dropped */
    struct pd_split split;
};

/* A sample that reads counters counts once for each event whose counter moved. */
static bool count_parts(struct counts *counts, const struct pd_raw *raw)
{
    struct pd_delivered part = {
        .data = raw->data,
        .size = raw->size,
        .type = raw->type,
        .misc = raw->misc,
        .event = raw->event,
    };
    int got;
    pd_split_begin(&counts->split, &part);
    while ((got = pd_split_next(&counts->split, &part)) > 0)
        counts->events[part.event->index].samples++;
    return got == 0;
}

static uint64_t branches_of(const struct pd_raw *raw)
{
    struct pd_sample sample;
    return pd_sample_decode(raw->event, raw->data, raw->size, &sample) == PERFDATA_OK
               ? sample.branch_count
               : 0;
}

static bool count(struct counts *counts, const struct pd_raw *raw)
{
    counts->total++;
    if (raw->type < TYPES)
        counts->types[raw->type]++;
    if (!raw->event || raw->event->index >= counts->event_count)
        return true;
    if (raw->type == PD_RECORD_SAMPLE && raw->event->plan.sample_type & PD_SAMPLE_READ)
        return count_parts(counts, raw);
    struct event_counts *event = &counts->events[raw->event->index];
    if (raw->type == PD_RECORD_SAMPLE)
        event->samples += counts->options.branches ? branches_of(raw) : 1;
    else if (raw->type == PD_RECORD_LOST_SAMPLES && raw->size >= 16 && counts->options.lost)
        *(raw->misc & PD_MISC_LOST_SAMPLES_BPF && !counts->like_perf
              ? &event->dropped
              : &event->lost) += pd_load64(raw->data + PD_AT(lost_samples, lost),
                                           raw->event->plan.swap);
    return true;
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
static bool is_shown(const struct counts *counts, uint32_t type)
{
    bool old = type <= PD_RECORD_AUX_OUTPUT_HW_ID ||
               (type >= PD_RECORD_HEADER_ATTR && type <= PD_RECORD_FINISHED_INIT);
    return pd_record_type_name(type) && (counts->types[type] || (counts->options.empty && old));
}

static void put_types(const struct counts *counts, struct pd_text *out)
{
    for (uint32_t type = 0; type < TYPES; type++) {
        if (!is_shown(counts, type))
            continue;
        const char *name = pd_record_type_name(type);
        line(out, strncmp(name, "HEADER_", 7) ? name : name + 7, counts->types[type]);
        pd_text_format(out, "  (%4.1f%%)\n",
                       100.0 * (double)counts->types[type] / (double)PD_MAX(counts->total, 1));
    }
}

static void print(const struct counts *counts, const struct pd_recording *recording,
                  struct pd_text *out)
{
    pd_text_string(out, "\nAggregated stats:");
    if (pd_recording_has_feature(recording, PD_FEATURE_AUXTRACE))
        pd_text_string(
            out, " (excludes AUX area (e.g. instruction trace) decoded / synthesized events)");
    pd_text_char(out, '\n');
    if (counts->total) {
        line(out, "TOTAL", counts->total);
        pd_text_char(out, '\n');
    }
    put_types(counts, out);
    for (size_t i = 0; i < counts->event_count; i++) {
        const struct event_counts *event = &counts->events[i];
        if (!event->samples && !event->lost && !event->dropped && !counts->options.empty)
            continue;
        put_name(recording, recording->events[i], counts->options.lost, out);
        pd_text_string(out, " stats:\n");
        if (event->samples) {
            line(out, pd_record_type_name(PD_RECORD_SAMPLE), event->samples);
            pd_text_char(out, '\n');
        }
        if (event->lost) {
            line(out, pd_record_type_name(PD_RECORD_LOST_SAMPLES), event->lost);
            pd_text_char(out, '\n');
        }
        if (event->dropped) {
            line(out, "DROPPED_BY_BPF", event->dropped);
            pd_text_char(out, '\n');
        }
    }
}

perfdata_status pd_stats_text(struct pd_recording *recording, struct pd_stats_options options,
                              struct pd_text *out)
{
    struct counts counts = { .event_count = recording->event_count,
                             .options = options,
                             .like_perf = recording->like_perf };
    struct pd_walk *walk;
    struct pd_raw raw;
    counts.events = calloc(counts.event_count + 1, sizeof *counts.events);
    if (!counts.events)
        return pd_no_memory(&recording->context, "counts");
    int status = pd_walk_open(recording, &walk);
    if (status >= 0) {
        pd_split_init(&counts.split, recording);
        while ((status = pd_walk_next(walk, &raw)) > 0 && count(&counts, &raw))
            continue;
        if (status > 0)
            status = pd_no_memory(&recording->context, "counts");
        pd_split_free(&counts.split);
        pd_walk_close(walk);
        for (size_t i = 0; options.kept && i < counts.event_count; i++)
            counts.events[i].samples = atomic_load(&options.kept[i]);
        counts.total += options.made;
        counts.types[PD_RECORD_HEADER_ATTR] += options.made;
        print(&counts, recording, out);
    }
    free(counts.events);
    return status;
}
