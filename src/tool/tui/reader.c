/* SPDX-License-Identifier: MIT */
/* Reads a recording beside the view: its first part, a larger one, the whole. */
#include "tool/tui/reader.h"
#include "tool/input.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FIRST_PART (UINT64_C(1) << 19)
#define MORE                                                                                       \
    8 /* how much larger the next part is: all parts together cost a seventh of the whole */

static int on_progress(void *data, const struct perfdata_progress *at)
{
    struct reader *reader = data;
    pthread_mutex_lock(&reader->lock);
    bool quit = reader->quit;
    reader->share = tool_share(at);
    reader->records = at->records;
    /* A recording of less than two parts is read as a whole at once. */
    bool enough = at->bytes >= reader->limit && at->total / 2 > reader->limit;
    pthread_mutex_unlock(&reader->lock);
    screen_wake(reader->screen);
    reader->stopped |= enough;
    return quit ? -1 : enough;
}

/* Puts a report where the view finds it. */
static void give(struct reader *reader, perfdata_report *report, perfdata_recording *recording,
                 bool whole)
{
    pthread_mutex_lock(&reader->lock);
    perfdata_report *old = reader->report;
    perfdata_recording *old_recording = reader->recording;
    reader->report = report;
    reader->recording = recording;
    reader->whole = whole;
    pthread_mutex_unlock(&reader->lock);
    perfdata_report_close(old);
    perfdata_recording_close(old_recording);
    screen_wake(reader->screen);
}

/* Reads up to the limit. True: there is more. */
static bool read_part(struct reader *reader)
{
    struct perfdata_options open = PERFDATA_OPTIONS_INIT;
    struct perfdata_report_result result = { .struct_size = sizeof result };
    perfdata_recording *recording;
    perfdata_report *report = NULL;
    reader->stopped = false;
    struct tool part = { .as_perf = reader->tool->as_perf, .before = reader->tool->before };
    tool_reading_options(reader->tool, &part, &open);
    open.on_progress = on_progress;
    open.progress_data = reader;
    perfdata_status status = perfdata_recording_open(reader->name, &open, &recording);
    if (status == PERFDATA_OK)
        status = perfdata_report_open(recording, &reader->options, &result, &report);
    /* A part without samples, or that ends in a strict error because it ends, tells nothing of the
     * whole. */
    bool more = reader->stopped && status != PERFDATA_ERROR_CANCELLED;
    pthread_mutex_lock(&reader->lock);
    more = more && !reader->quit;
    pthread_mutex_unlock(&reader->lock);
    /* What is wrong with a part is wrong with the whole, and is told of that alone. */
    if (!more && status != PERFDATA_ERROR_CANCELLED)
        tool_take_issues(reader->tool, &part);
    free(part.warnings.text);
    pthread_mutex_lock(&reader->lock);
    reader->status = status;
    if (status < 0)
        snprintf(reader->message, sizeof reader->message, "%s",
                 perfdata_recording_error(recording, NULL));
    more = more && !reader->quit;
    pthread_mutex_unlock(&reader->lock);
    if (report)
        give(reader, report, recording, !more);
    else
        perfdata_recording_close(recording);
    return more;
}

static void *read_all(void *data)
{
    struct reader *reader = data;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL); /* signals are the view's */
    reader->limit = FIRST_PART;
    while (read_part(reader))
        reader->limit = reader->limit > UINT64_MAX / MORE ? UINT64_MAX : reader->limit * MORE;
    pthread_mutex_lock(&reader->lock);
    reader->done = true;
    pthread_mutex_unlock(&reader->lock);
    screen_wake(reader->screen);
    return NULL;
}

bool reader_begin(struct reader *reader, struct tool *tool, const struct screen *screen,
                  const char *name, const struct perfdata_report_options *options)
{
    *reader = (struct reader){ .tool = tool, .screen = screen, .name = name, .options = *options };
    pthread_mutex_init(&reader->lock, NULL);
    reader->started = !pthread_create(&reader->thread, NULL, read_all, reader);
    return reader->started;
}

bool reader_take(struct reader *reader, perfdata_report **report, perfdata_recording **recording)
{
    pthread_mutex_lock(&reader->lock);
    *report = reader->report;
    *recording = reader->recording;
    reader->report = NULL;
    reader->recording = NULL;
    pthread_mutex_unlock(&reader->lock);
    return *report != NULL;
}

bool reader_end(struct reader *reader)
{
    struct timespec until;
    if (!reader->started)
        return true;
    pthread_mutex_lock(&reader->lock);
    reader->quit = true;
    pthread_mutex_unlock(&reader->lock);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1; /* counting and sorting are not interrupted */
    if (pthread_timedjoin_np(reader->thread, NULL, &until))
        return false;
    reader->started = false;
    perfdata_report_close(reader->report);
    perfdata_recording_close(reader->recording);
    pthread_mutex_destroy(&reader->lock);
    return true;
}
