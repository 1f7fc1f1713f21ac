/* SPDX-License-Identifier: MIT */
/* How far reading is, as a line on a terminal, and what an interrupt ends. */
#include "tool/tool.h"
#include <inttypes.h>
#include <math.h>
#include <perfdata/recording.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FIRST = 500, AGAIN = 200 /* milliseconds until the line comes, and comes anew */ };

static volatile sig_atomic_t interrupted;

/* The second time ends us at once: the handler is gone by then. */
static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

bool tool_interrupted(void)
{
    return interrupted;
}

uint64_t tool_milliseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* The line is wanted only where it can be wiped off again and does not run into what is printed:
 * not when we write into a pipe, whose other end may well print on the same terminal. */
static bool is_wanted(const struct tool *tool)
{
    struct stat status;
    bool piped = !tool->pager_process && !fstat(STDOUT_FILENO, &status) && S_ISFIFO(status.st_mode);
    return !tool->no_progress && !tool->as_perf && !piped && isatty(STDERR_FILENO);
}

void tool_progress_clear(struct tool *tool)
{
    if (!tool->progress.shown)
        return;
    tool->progress.shown = false;
    fputs("\r\033[K", stderr);
    fflush(stderr);
}

/* 1234567 -> "1.2 million". */
static void rate_text(double rate, char *text, size_t size)
{
    if (rate >= 1e6)
        snprintf(text, size, "%.1f million records/s", rate / 1e6);
    else if (rate >= 1e4)
        snprintf(text, size, "%.0f thousand records/s", rate / 1e3);
    else
        snprintf(text, size, "%.0f records/s", rate);
}

static void time_text(double seconds, char *text, size_t size)
{
    if (seconds < 90)
        snprintf(text, size, "%.0f s left", ceil(seconds));
    else
        snprintf(text, size, "%.0f min left", seconds / 60);
}

static int terminal_columns(void)
{
    struct winsize size;
    return !ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 80;
}

double tool_share(const struct perfdata_progress *at)
{
    double share = at->total ? (double)at->bytes / (double)at->total : 0;
    return share > 1 ? 1 : share;
}

static void put_line(struct tool *tool, const char *line)
{
    fprintf(stderr, "\r\033[K%.*s", terminal_columns() - 1, line);
    fflush(stderr);
    tool->progress.shown = true;
}

static void show(struct tool *tool, const struct perfdata_progress *at, uint64_t taken)
{
    char line[256], rate[64], left[64];
    double seconds = (double)taken / 1000, share = tool_share(at);
    rate_text((double)at->records / seconds, rate, sizeof rate);
    if (at->total) {
        time_text(share > 0 ? seconds / share - seconds : 0, left, sizeof left);
        snprintf(line, sizeof line, "%s: %.0f %%, %s, %s", tool->verb, share * 100, rate, left);
    } else {
        snprintf(line, sizeof line, "%s: %.0f MiB, %s", tool->verb,
                 (double)at->bytes / (1024 * 1024), rate);
    }
    put_line(tool, line);
}

void tool_progress_line(struct tool *tool, uint64_t begin, const char *line)
{
    if (tool_milliseconds() - begin < FIRST || !is_wanted(tool) ||
        (tool->printed && tool_output_is_terminal(tool)))
        return;
    put_line(tool, line);
}

static int on_progress(void *context, const struct perfdata_progress *at)
{
    struct tool *tool = context;
    struct tool_progress *progress = &tool->progress;
    if (at->records < progress->records) /* another walk */
        progress->begin = tool_milliseconds();
    progress->records = at->records;
    if (interrupted && !tool->goes_on) {
        progress->ended_at = *at;
        return tool->writes ? -1 : 1;
    }
    /* What is printed on the same terminal takes the line's place for good. */
    if (!progress->wanted || (tool->printed && tool_output_is_terminal(tool)))
        return 0;
    uint64_t now = tool_milliseconds(), taken = now - progress->begin;
    if (taken < FIRST || now - progress->told < AGAIN)
        return 0;
    progress->told = now;
    show(tool, at, taken);
    return 0;
}

void tool_watch(struct tool *tool, struct perfdata_options *options)
{
    struct sigaction before, change = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };
    struct tool_progress *progress = &tool->progress;
    if (!sigaction(SIGINT, NULL, &before) && before.sa_handler == SIG_DFL)
        sigaction(SIGINT, &change, NULL);
    *progress = (struct tool_progress){ .wanted = is_wanted(tool),
                                        .begin = tool_milliseconds(),
                                        .ended_at = progress->ended_at };
    options->on_progress = on_progress;
    options->progress_data = tool;
}

void tool_tell_interrupt(struct tool *tool)
{
    char share[64] = "a part";
    const struct perfdata_progress *at = &tool->progress.ended_at;
    if (tool->progress.text_ended && !tool->as_perf)
        tool_error(tool, "interrupted: the text ends here, behind a whole line");
    if (tool->as_perf || !at->struct_size)
        return;
    if (at->total)
        snprintf(share, sizeof share, "the first %.1f %%", tool_share(at) * 100);
    if (tool->writes)
        tool_error(tool,
                   "interrupted after %s of the recording: an output file is not put in place, "
                   "what stood there is as it was",
                   share);
    else
        tool_error(tool,
                   "interrupted: what is shown is whole, of %s of the recording (%" PRIu64
                   " records)",
                   share, at->records);
}
