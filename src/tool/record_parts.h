/* SPDX-License-Identifier: MIT */
/* Parts of the verb record: output that is switched, commands that come while it runs. */
#ifndef PERFDATA_TOOL_RECORD_PARTS_H
#define PERFDATA_TOOL_RECORD_PARTS_H
#include "tool/tool.h"
#include <perfdata/recorder.h>
#include <time.h>

/* --switch-output: when, and the names of what was written. */
struct record_switch {
    bool on, by_signal;
    uint64_t bytes;   /* 0: not by size */
    unsigned seconds; /* 0: not by time */
    struct timespec since;
    unsigned most; /* files that are kept; 0: all */
    char (*names)[512];
    unsigned written;
    uint64_t last; /* hundredths of a second in the newest name */
};

/* "signal", "100M", "30s"; false: neither. */
bool record_switch_parse(const char *text, struct record_switch *out);
/* "100K" with a unit of bytes. */
bool record_size_parse(const char *text, uint64_t *bytes);
void record_switch_begin(struct record_switch *out);
/* Milliseconds that may be waited; -1: for ever. */
int record_switch_timeout(const struct record_switch *when);
bool record_switch_due(const struct record_switch *when, const perfdata_recorder *recorder,
                       bool signalled);
/* The next name: PATH.YYYYMMDDhhmmssCC, one that no file has. The oldest file goes when there are too many. NULL: told
 * why. */
const char *record_switch_name(struct record_switch *when, const char *path);
void record_switch_end(struct record_switch *when);

/* --control */
struct record_control {
    int in, out; /* -1: none */
    char line[256];
    size_t length;
};

/* "fd:3,4", "fifo:ctl,ack"; the second may be missing. An error is told. */
enum tool_exit record_control_open(struct tool *tool, const char *text, struct record_control *out);
void record_control_close(struct record_control *control);
/* Takes what has come. False: something failed. */
bool record_control_handle(struct record_control *control, perfdata_recorder *recorder, bool quiet);

#endif
