/* SPDX-License-Identifier: MIT */
/* Parts of the verb record: output that is switched, commands that come while it runs. */
#ifndef PERFDATA_TOOL_RECORD_PARTS_H
#define PERFDATA_TOOL_RECORD_PARTS_H
#include "tool/tool.h"
#include <perfdata/recorder.h>
#include <time.h>

/* --switch-output: when, and the names of what was written. */
struct record_switch {
    bool on, by_signal, by_event;
    uint64_t events;  /* events that had come when the last file ended */
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
/* How many milliseconds may be waited; -1: for ever. `signals`: something else waits for
 * signals, too. */
int record_switch_timeout(const struct record_switch *when, bool signals);
bool record_switch_due(const struct record_switch *when, const perfdata_recorder *recorder,
                       bool signalled);
/* The next name: PATH.YYYYMMDDhhmmssCC, one that no file has. The oldest file goes when there are
 * too many. NULL: told why. */
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

/* ---- events that count for spans of time ---- */

struct record_spans {
    uint32_t *at; /* milliseconds: when they are enabled, disabled... */
    size_t count, next;
    struct timespec since;
};

/* "10-20,30-40", ascending. */
bool record_spans_parse(const char *text, struct record_spans *out);
void record_spans_begin(struct record_spans *spans);
/* Milliseconds until the next change, -1: there is none. */
int record_spans_timeout(const struct record_spans *spans);
/* Makes the changes whose time has come. False: one failed. */
bool record_spans_handle(struct record_spans *spans, perfdata_recorder *recorder, bool quiet);
void record_spans_end(struct record_spans *spans);

/* ---- the command line ---- */

/* -e, --filter, --exclude-perf and -G, in the order of the command line. */
struct selection {
    enum { SELECT_EVENTS, SELECT_FILTER, SELECT_NOT_US, SELECT_CGROUPS, SELECT_TRIGGERS } kind;
    const char *text;
};

enum { MOST_SELECTIONS = 1024 };

struct record_options {
    struct selection *selections;
    size_t selection_count;
    const char *output, *cpus, *pids, *tids, *user, *period, *frequency, *call_graph, *clock,
        *pages;
    const char *delay, *synth, *branches, *user_registers, *interrupt_registers, *level;
    const char *switch_output, *switch_files, *max_size, *control, *priority, *threads, *snapshot,
        *aux_sample, *flush, *affinity, *synthesis_threads, *map_timeout, *blocks;
    int tail, map_build_ids, kcore;
    int graph, branch_any, quiet, verbose, stamp, boundary, dry;
    int flags[31]; /* by bit of enum perfdata_recorder_flags */
    int no_cache;
};
/* What a flag was given as: --no-NAME, --NAME, not at all. */
enum { RECORD_OFF = 0, RECORD_ON = 1, RECORD_UNSAID = 2 };
#define RECORD_BIT(name) __builtin_ctz(PERFDATA_RECORDER_##name)

/* A run of the verb. */
struct record_run {
    struct tool *tool;
    const struct record_options *options;
    struct perfdata_recorder_options recorder;
    int32_t delay;
    struct record_spans spans;
    uint64_t max_size; /* 0: none */
    struct record_switch when;
    struct record_control control;
};

/* Fills run->recorder and what belongs to the session; the rest of the command line is the
 * command. */
enum tool_exit record_take_options(struct record_run *run, int argc, char **argv);
/* A number, 0x allowed, of at most `most`. */
bool record_count(const char *text, uint64_t most, uint64_t *out);
enum tool_exit record_bad_value(struct record_run *run, const char *option, const char *value);

#endif
