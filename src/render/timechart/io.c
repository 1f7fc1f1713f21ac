/* SPDX-License-Identifier: MIT */
/* `timechart`: system calls that read, write, sync or wait, as spans by task. Short spans are drawn
 * longer, and neighbouring ones of one kind are joined. */
#include "render/timechart/timechart.h"

static perfdata_status skip(const struct pd_tp_sample *sample, const char *why)
{
    return pd_warning(&sample->tp->recording->context, PERFDATA_ISSUE_BAD_SAMPLE,
                      (int64_t)sample->record->offset, "Skip invalid %s\n", why);
}

perfdata_status pd_chart_io_enter(struct pd_chart *chart, const struct pd_tp_sample *sample,
                                  enum pd_chart_io_kind kind)
{
    struct pd_chart_io io = { .start = sample->sample.time,
                              .fd = (int32_t)pd_tp_number(sample, 0),
                              .kind = (uint8_t)kind };
    struct pd_chart_name *name = pd_chart_current(chart, sample->sample.tid);
    if (!name)
        return PERFDATA_ERROR_MEMORY;
    if (name->ios != PD_CHART_NONE && !chart->ios.data[name->ios].end) {
        /* As in perf, both calls are lost, since it is not known which one the next return belongs
         * to. */
        name->ios = chart->ios.data[name->ios].older;
        return skip(sample, "start event: previous event already started!");
    }
    io.older = name->ios;
    name->ios = (uint32_t)chart->ios.count;
    if (!name->start || name->start > io.start)
        name->start = io.start;
    return pd_vec_push(&chart->ios, io) ? PERFDATA_OK : pd_tp_no_memory(&chart->tp);
}

/* Keeps a call from overlapping the one before it, which was drawn longer: that one ends here,
 * unless it failed. */
static void part(struct pd_chart_io *before, struct pd_chart_io *io)
{
    if (io->start >= before->end)
        return;
    if (before->error)
        io->start = before->end;
    else
        before->end = io->start;
}

static bool joins(const struct pd_chart *chart, const struct pd_chart_io *before,
                  const struct pd_chart_io *io)
{
    return before->kind == io->kind && before->error == io->error && before->fd == io->fd &&
           before->end + chart->options->io_merge_distance >= io->start;
}

static bool has_bytes(const struct pd_chart_io *io)
{
    return io->kind != PD_CHART_SYNC && io->kind != PD_CHART_POLL;
}

perfdata_status pd_chart_io_exit(struct pd_chart *chart, const struct pd_tp_sample *sample,
                                 enum pd_chart_io_kind kind)
{
    int64_t returned = (int64_t)pd_tp_number(sample, 0);
    struct pd_chart_name *name = pd_chart_current(chart, sample->sample.tid);
    if (!name)
        return PERFDATA_ERROR_MEMORY;
    if (name->ios == PD_CHART_NONE)
        return PERFDATA_OK; /* it began before the recording did */
    struct pd_chart_io *io = &chart->ios.data[name->ios];
    struct pd_chart_io *before = io->older == PD_CHART_NONE ? NULL : &chart->ios.data[io->older];
    if (io->end)
        return skip(sample, "end event: previous event already ended!");
    if (io->kind != kind)
        return skip(sample, "end event: invalid event type!");
    io->end = PD_MAX(sample->sample.time, io->start + chart->options->io_min_time);
    if (before)
        part(before, io);
    if (returned < 0) {
        io->error = (int32_t)returned;
    } else if (has_bytes(io)) {
        io->bytes = (uint64_t)returned;
        name->bytes += io->bytes;
        chart->tasks.data[name->task].bytes += io->bytes;
        name->most_bytes = PD_MAX(name->most_bytes, io->bytes);
    }
    if (before && joins(chart, before, io)) {
        io->bytes += before->bytes;
        io->merges += before->merges + 1;
        io->start = before->start;
        io->older = before->older;
        if (!io->error)
            name->most_bytes = PD_MAX(name->most_bytes, io->bytes);
    }
    chart->io_events++;
    return PERFDATA_OK;
}
