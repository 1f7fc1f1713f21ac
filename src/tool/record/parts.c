/* SPDX-License-Identifier: MIT */
/* record --switch-output, --control and spans of time -> when a part of a recording begins and
 * ends. */
#include "tool/record/parts.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

/* ---- switched output ---- */

static bool with_unit(const char *text, const char *units, const uint64_t *factors, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (*text < '0' || *text > '9' || errno || !unit || end[1] || !number)
        return false;
    return !__builtin_mul_overflow(number, factors[unit - units], out);
}

bool record_size_parse(const char *text, uint64_t *bytes)
{
    static const uint64_t factors[] = { 1, 1 << 10, 1 << 20, 1 << 30 };
    return with_unit(text, "BKMG", factors, bytes);
}

bool record_switch_parse(const char *text, struct record_switch *out)
{
    static const uint64_t factors[] = { 1, 60, 3600, 86400 };
    uint64_t seconds;
    out->on = true;
    if (!strcmp(text, "signal")) {
        out->by_signal = true;
        return true;
    }
    if (record_size_parse(text, &out->bytes))
        return true;
    if (!with_unit(text, "smhd", factors, &seconds) || seconds > INT32_MAX / 1000)
        return false;
    out->seconds = (unsigned)seconds;
    return true;
}

void record_switch_begin(struct record_switch *out)
{
    (void)clock_gettime(CLOCK_MONOTONIC, &out->since);
}

static int64_t ms_since(const struct timespec *since)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - since->tv_sec) * 1000 + (now.tv_nsec - since->tv_nsec) / 1000000;
}

static int64_t left_ms(const struct record_switch *when)
{
    return (int64_t)when->seconds * 1000 - ms_since(&when->since);
}

int record_switch_timeout(const struct record_switch *when, bool signals)
{
    enum { SIGNAL = 200 }; /* ms: how late a signal that comes just before the wait is noticed */
    if (when->seconds) {
        int64_t left = left_ms(when);
        return left < 0 ? 0 : (int)left;
    }
    return when->by_signal || signals ? SIGNAL : -1;
}

bool record_switch_due(const struct record_switch *when, const perfdata_recorder *recorder,
                       bool signalled)
{
    return when->on && ((when->by_signal && signalled) ||
                        (when->by_event && perfdata_recorder_triggers(recorder) != when->events) ||
                        (when->bytes && perfdata_recorder_size(recorder) >= when->bytes) ||
                        (when->seconds && left_ms(when) <= 0));
}

/* The time as a name, later than the last one and moved on by hundredths of a second until no file
 * has it, so that none is overwritten. */
static bool free_name(struct record_switch *when, const char *path, char *out, size_t room)
{
    enum { TRIES = 100 * 60 };
    struct timeval now;
    gettimeofday(&now, NULL);
    uint64_t hundredths = (uint64_t)now.tv_sec * 100 + (uint64_t)now.tv_usec / 10000;
    if (hundredths <= when->last)
        hundredths = when->last + 1;
    for (unsigned i = 0; i < TRIES; i++, hundredths++) {
        time_t seconds = (time_t)(hundredths / 100);
        struct tm local;
        struct stat info;
        char stamp[32];
        localtime_r(&seconds, &local);
        strftime(stamp, sizeof stamp, "%Y%m%d%H%M%S", &local);
        int length = snprintf(out, room, "%s.%s%02u", path, stamp, (unsigned)(hundredths % 100));
        if (length < 0 || (size_t)length >= room)
            break;
        when->last = hundredths;
        if (lstat(out, &info) < 0)
            return true;
    }
    fprintf(stderr, "%s: no name is free for it\n", path);
    return false;
}

const char *record_switch_name(struct record_switch *when, const char *path)
{
    unsigned slots = when->most ? when->most : 1, slot = when->written % slots;
    if (!when->names && !(when->names = calloc(slots, sizeof *when->names))) {
        fprintf(stderr, "%s: no memory for the names of %u files\n", path, slots);
        return NULL;
    }
    if (when->most && when->written >= when->most)
        (void)unlink(when->names[slot]);
    if (!free_name(when, path, when->names[slot], sizeof when->names[slot]))
        return NULL;
    when->written++;
    return when->names[slot];
}

void record_switch_end(struct record_switch *when)
{
    free(when->names);
}

/* ---- commands ---- */

static bool number_of(const char *text, char end, int *out, const char **next)
{
    char *after;
    long number = strtol(text, &after, 10);
    if (*text < '0' || *text > '9' || number > 1 << 20 || (*after && *after != end))
        return false;
    *out = (int)number;
    *next = *after ? after + 1 : NULL;
    return true;
}

static enum tool_exit open_fifos(struct tool *tool, const char *text, struct record_control *out)
{
    char name[4096];
    const char *comma = strchr(text, ',');
    snprintf(name, sizeof name, "%.*s", comma ? (int)(comma - text) : (int)strlen(text), text);
    out->in = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (out->in < 0)
        return tool_usage(tool, "Failed to open '%s': %s", name, strerrordesc_np(errno));
    if (comma && (out->out = open(comma + 1, O_RDWR | O_NONBLOCK | O_CLOEXEC)) < 0)
        return tool_usage(tool, "Failed to open '%s': %s", comma + 1, strerrordesc_np(errno));
    return TOOL_DONE;
}

enum tool_exit record_control_open(struct tool *tool, const char *text, struct record_control *out)
{
    const char *next;
    *out = (struct record_control){ .in = -1, .out = -1 };
    if (!strncmp(text, "fifo:", 5) && text[5])
        return open_fifos(tool, text + 5, out);
    if (strncmp(text, "fd:", 3) != 0 || !number_of(text + 3, ',', &out->in, &next) ||
        (next && !number_of(next, 0, &out->out, &next)))
        return tool_usage(tool, "--control %s: fd:NUMBER[,NUMBER] or fifo:PATH[,PATH]", text);
    return TOOL_DONE;
}

void record_control_close(struct record_control *control)
{
    if (control->in >= 0)
        close(control->in);
    if (control->out >= 0)
        close(control->out);
}

static bool turn(perfdata_recorder *recorder, bool on, bool quiet)
{
    if (perfdata_recorder_enable(recorder, on) < 0)
        return false;
    if (!quiet)
        fputs(on ? "Events enabled\n" : "Events disabled\n", stderr);
    return true;
}

static bool act(const char *line, perfdata_recorder *recorder, bool quiet, bool *known)
{
    *known = true;
    if (!strcmp(line, "ping"))
        return true;
    if (!strcmp(line, "stop")) {
        perfdata_recorder_stop(recorder);
        return true;
    }
    if (!strcmp(line, "snapshot")) {
        perfdata_status status = perfdata_recorder_snapshot(recorder);
        if (status == PERFDATA_ERROR_ARGUMENT)
            fputs("No AUX area tracing to snapshot\n", stderr);
        return status == PERFDATA_OK || status == PERFDATA_ERROR_ARGUMENT;
    }
    bool on = !strcmp(line, "enable");
    if (!on && strcmp(line, "disable") != 0) {
        *known = false;
        fprintf(stderr, "Unsupported command: %s\n", line);
        return true;
    }
    return turn(recorder, on, quiet);
}

bool record_control_handle(struct record_control *control, perfdata_recorder *recorder, bool quiet)
{
    struct pollfd poll_in = { .fd = control->in, .events = POLLIN };
    bool good = true, known;
    while (good && control->in >= 0 && poll(&poll_in, 1, 0) > 0 && poll_in.revents & POLLIN) {
        char c;
        ssize_t got = read(control->in, &c, 1);
        if (got <= 0)
            break;
        if (c && c != '\n') {
            if (control->length + 1 < sizeof control->line)
                control->line[control->length++] = c;
            continue;
        }
        control->line[control->length] = 0;
        if (!control->length)
            continue;
        control->length = 0;
        good = act(control->line, recorder, quiet, &known);
        if (good && known && control->out >= 0)
            (void)!write(control->out, "ack\n", 4);
    }
    return good;
}

/* ---- spans ---- */

bool record_spans_parse(const char *text, struct record_spans *out)
{
    size_t commas = 1, count = 0;
    uint64_t before = 0;
    for (const char *at = text; *at; at++)
        commas += *at == ',';
    out->at = calloc(commas, 2 * sizeof *out->at);
    for (const char *at = text; out->at; count++) {
        char *end;
        errno = 0;
        unsigned long long number = strtoull(at, &end, 10);
        bool last = count & 1;
        /* a span may begin with the recording */
        if (*at < '0' || *at > '9' || errno || number > INT32_MAX || (count && number <= before) ||
            (last ? *end && *end != ',' : *end != '-'))
            break;
        out->at[count] = (uint32_t)number;
        before = number;
        at = end + 1;
        if (!*end) {
            out->count = count + 1;
            return true;
        }
    }
    return false;
}

void record_spans_begin(struct record_spans *spans)
{
    spans->next = spans->count && !spans->at[0]; /* the events are enabled already */
    (void)clock_gettime(CLOCK_MONOTONIC, &spans->since);
}

int record_spans_timeout(const struct record_spans *spans)
{
    if (spans->next >= spans->count)
        return -1;
    int64_t left = spans->at[spans->next] - ms_since(&spans->since);
    return left < 0 ? 0 : (int)left;
}

bool record_spans_handle(struct record_spans *spans, perfdata_recorder *recorder, bool quiet)
{
    bool good = true;
    while (good && !record_spans_timeout(spans))
        good = turn(recorder, !(spans->next++ & 1), quiet);
    return good;
}

void record_spans_end(struct record_spans *spans)
{
    free(spans->at);
}
