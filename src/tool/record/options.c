/* SPDX-License-Identifier: MIT */
/* The command line of record -> options of the recorder. */
#include "tool/record/parts.h"
#include <errno.h>
#include <inttypes.h>
#include <perfdata/config.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool record_count(const char *text, uint64_t most, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 0);
    return *text >= '0' && *text <= '9' && !*end && !errno && *out <= most;
}

static enum tool_exit take_rate(struct record_run *run)
{
    const struct record_options *options = run->options;
    uint64_t number;
    if (options->period && options->frequency)
        return tool_usage(run->tool, "cannot set frequency and period at the same time");
    if (options->period) {
        if (!record_count(options->period, UINT64_MAX, &number) || !number)
            return tool_usage(run->tool, "-c %s: a number is needed", options->period);
        run->recorder.period = number;
    }
    if (options->frequency && !strcmp(options->frequency, "max")) {
        run->recorder.frequency = PERFDATA_RECORDER_MAX_FREQUENCY;
    } else if (options->frequency) {
        if (!record_count(options->frequency, UINT32_MAX - 1, &number) || !number)
            return tool_usage(run->tool, "-F %s: a number or max is needed", options->frequency);
        run->recorder.frequency = (uint32_t)number;
    }
    return TOOL_DONE;
}

/* Processes win over a user, and both over CPUs; a warning of perf's tells what was overridden. */
static enum tool_exit take_targets(struct record_run *run)
{
    const struct record_options *options = run->options;
    struct perfdata_recorder_options *recorder = &run->recorder;
    bool cpus = options->cpus || options->flags[RECORD_BIT(ALL_CPUS)];
    bool tasks = options->pids || options->tids;
    const char *over = options->user && tasks   ? "UID"
                       : options->cpus && tasks ? "CPU"
                       : cpus && tasks          ? "SYSTEM"
                                                : NULL;
    if (over)
        fprintf(stderr, "Warning:\nPID/TID switch overriding %s\n", over);
    else if (options->user && cpus)
        fprintf(stderr, "Warning:\nUID switch overriding %s\n", options->cpus ? "CPU" : "SYSTEM");
    recorder->cpus = options->cpus;
    recorder->pids = options->pids;
    recorder->tids = options->pids ? NULL : options->tids;
    if (options->user) {
        uint64_t number;
        const struct passwd *entry = getpwnam(options->user);
        if (!entry && !record_count(options->user, UINT32_MAX, &number))
            return tool_usage(run->tool, "Invalid User: %s", options->user);
        recorder->has_user = 1;
        recorder->user = entry ? entry->pw_uid : (uint32_t)number;
    }
    return TOOL_DONE;
}

enum tool_exit record_bad_value(struct record_run *run, const char *option, const char *value)
{
    return tool_usage(run->tool, "%s %s: not a value of this option", option, value);
}

/* Tells, as perf does, where a number of pages ("3", or "100K", up to `end`) is no power of two. */
static void tell_rounded(struct record_run *run, const char *text, const char *end, uint32_t pages)
{
    static const char units[] = "BKMG";
    char part[32];
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), size = pages * page, asked;
    unsigned unit = 0;
    snprintf(part, sizeof part, "%.*s", (int)(end - text), text);
    if (!record_count(part, UINT64_MAX, &asked)) {
        if (!record_size_parse(part, &asked))
            return;
        asked = asked / page + (asked % page != 0);
    }
    if (asked == pages || run->options->quiet)
        return;
    for (; size / 1024 > 1 && unit + 2 < sizeof units; unit++)
        size /= 1024;
    fprintf(stderr, "rounding mmap pages size to %" PRIu64 "%c (%u pages)\n", size, units[unit],
            pages);
}

static enum tool_exit take_pages(struct record_run *run, const char *text, uint32_t *pages,
                                 uint32_t *aux_pages)
{
    const char *comma = strchr(text, ','), *end = comma ? comma : text + strlen(text);
    if (perfdata_pages_parse(text, pages, aux_pages) < 0)
        return record_bad_value(run, "-m", text);
    if (end != text)
        tell_rounded(run, text, end, *pages);
    if (comma)
        tell_rounded(run, comma + 1, text + strlen(text), *aux_pages);
    return TOOL_DONE;
}

static enum tool_exit take_registers(struct record_run *run, const char *option, const char *text,
                                     uint64_t *mask)
{
    if (text && perfdata_registers_parse(*text ? text : NULL, mask) < 0)
        return record_bad_value(run, option, text);
    return TOOL_DONE;
}

/* ---- perfconfig ---- */

struct settings {
    uint32_t kind, stack_size; /* of -g */
    bool of_record;            /* record.call-graph came, before which call-graph.* count nothing */
    bool no_build_ids, map_build_ids;
};

/* Values are those that tool_settings_check() lets pass; behind "fp," and "dwarf," lies what perf
 * does not read. */
static void take_chains(struct settings *settings, const char *value)
{
    char word[16];
    size_t length = strcspn(value, ",");
    if (perfdata_call_graph_parse(value, &settings->kind, &settings->stack_size) >= 0)
        return;
    snprintf(word, sizeof word, "%.*s", (int)length, value);
    perfdata_call_graph_parse(word, &settings->kind, &settings->stack_size);
}

static int take_setting(void *data, const char *key, const char *value)
{
    struct settings *settings = data;
    bool of_record = !strcmp(key, "record.call-graph");
    if (of_record || (!strcmp(key, "call-graph.record-mode") && !settings->of_record)) {
        settings->of_record = of_record;
        take_chains(settings, value);
    } else if (!strcmp(key, "call-graph.dump-size") && !settings->of_record) {
        settings->stack_size = ((uint32_t)strtoul(value, NULL, 0) + 7) & ~7u;
    } else if (!strcmp(key, "record.build-id")) {
        settings->no_build_ids |= !strcmp(value, "skip");
        settings->map_build_ids |= !strcmp(value, "mmap");
    }
    return 0;
}

/* Comes before the options of the command line, which win. */
static enum tool_exit take_settings(struct record_run *run)
{
    struct settings settings = { .kind = PERFDATA_CALL_GRAPH_FP };
    if (perfdata_settings(getenv("PERF_CONFIG"), getenv("HOME"), take_setting, &settings) < 0)
        return tool_failure(run->tool, PERFDATA_ERROR_MEMORY, NULL, NULL);
    if (run->options->graph) {
        run->recorder.call_graph = settings.kind;
        run->recorder.stack_size = settings.stack_size;
    }
    if (settings.no_build_ids && run->options->flags[RECORD_BIT(NO_BUILD_ID)] == RECORD_UNSAID)
        run->recorder.flags |= PERFDATA_RECORDER_NO_BUILD_ID;
    run->recorder.map_build_ids = run->options->map_build_ids == RECORD_UNSAID
                                      ? settings.map_build_ids
                                      : (uint32_t)run->options->map_build_ids;
    return TOOL_DONE;
}

static enum tool_exit take_contents(struct record_run *run)
{
    const struct record_options *options = run->options;
    struct perfdata_recorder_options *recorder = &run->recorder;
    if (options->call_graph && perfdata_call_graph_parse(options->call_graph, &recorder->call_graph,
                                                         &recorder->stack_size) < 0)
        return tool_usage(run->tool, "callchain: Unknown --call-graph option value: %s",
                          options->call_graph);
    const char *branches = options->branches     ? options->branches
                           : options->branch_any ? "any"
                                                 : NULL;
    if (branches && perfdata_branch_filter_parse(branches, &recorder->branch_filter) < 0)
        return record_bad_value(run, "-j", branches);
    if (options->clock) {
        recorder->has_clock = 1;
        if (perfdata_clock_parse(options->clock, &recorder->clock) < 0)
            return tool_usage(run->tool, "Warning: unknown clockid: %s", options->clock);
    }
    enum tool_exit code = take_registers(run, "--user-regs", options->user_registers,
                                         &recorder->user_registers);
    return code != TOOL_DONE ? code
                             : take_registers(run, "--intr-regs", options->interrupt_registers,
                                              &recorder->interrupt_registers);
}

static enum tool_exit take_synthesis(struct record_run *run)
{
    static const struct {
        const char *name;
        uint32_t bits;
    } words[] = { { "no", PERFDATA_SYNTHESIZE_NOTHING },
                  { "all", 0 },
                  { "task", PERFDATA_SYNTHESIZE_TASKS },
                  { "mmap", PERFDATA_SYNTHESIZE_MAPS },
                  { "cgroup", PERFDATA_SYNTHESIZE_CGROUPS } };
    bool all = !run->options->synth;
    for (const char *at = run->options->synth; at; at = *at ? at + 1 : NULL) {
        size_t length = strcspn(at, ","), i = 0;
        while (i < TOOL_LENGTH(words) &&
               (strlen(words[i].name) != length || memcmp(words[i].name, at, length) != 0))
            i++;
        if (i == TOOL_LENGTH(words))
            return record_bad_value(run, "--synth", run->options->synth);
        all |= !words[i].bits;
        run->recorder.synthesize |= words[i].bits;
        at += length;
    }
    if (all)
        run->recorder.synthesize = 0;
    return TOOL_DONE;
}

static enum tool_exit take_delay(struct record_run *run)
{
    const char *text = run->options->delay;
    uint64_t number;
    if (!text)
        return TOOL_DONE;
    if (!strcmp(text, "-1"))
        run->delay = run->recorder.delay = -1;
    else if (record_count(text, INT32_MAX, &number))
        run->delay = run->recorder.delay = (int32_t)number;
    else if (record_spans_parse(text, &run->spans))
        run->recorder.delay = (int32_t)run->spans.at[0];
    else
        return record_bad_value(run, "-D", text);
    return TOOL_DONE;
}

static enum tool_exit take_affinity(struct record_run *run)
{
    static const char *const words[] = { [PERFDATA_AFFINITY_NONE] = "sys",
                                         [PERFDATA_AFFINITY_NODE] = "node",
                                         [PERFDATA_AFFINITY_CPU] = "cpu" };
    const char *text = run->options->affinity;
    for (uint32_t i = 0; text && i < TOOL_LENGTH(words); i++)
        if (!strcmp(text, words[i])) {
            run->recorder.affinity = i;
            return TOOL_DONE;
        }
    return text ? record_bad_value(run, "--affinity", text) : TOOL_DONE;
}

static enum tool_exit take_output(struct record_run *run)
{
    const struct record_options *options = run->options;
    struct perfdata_recorder_options *recorder = &run->recorder;
    uint64_t number;
    struct stat info;
    const char *output = options->output ? options->output : run->tool->guests.output;
    recorder->path = output ? output : "perf.data";
    /* as perf: into a pipe goes a stream, also unasked */
    bool piped = !output && !fstat(STDOUT_FILENO, &info) && S_ISFIFO(info.st_mode);
    if (piped || !strcmp(recorder->path, "-")) {
        recorder->path = NULL;
        recorder->fd = STDOUT_FILENO;
    }
    if (options->level) {
        if (!record_count(options->level, 22, &number))
            return record_bad_value(run, "-z", options->level);
        recorder->compression = (int32_t)(number ? number : 1);
    }
    if (options->pages &&
        take_pages(run, options->pages, &recorder->pages, &recorder->aux_pages) != TOOL_DONE)
        return TOOL_USAGE;
    if (options->flush && !record_count(options->flush, UINT64_MAX, &recorder->flush) &&
        !record_size_parse(options->flush, &recorder->flush))
        return record_bad_value(run, "--mmap-flush", options->flush);
    if (options->synthesis_threads) {
        if (!record_count(options->synthesis_threads, UINT32_MAX, &number))
            return record_bad_value(run, "--num-thread-synthesize", options->synthesis_threads);
        recorder->synthesis_threads = (uint32_t)number;
    }
    if (options->blocks) {
        enum { MOST = 4 }; /* perf's */
        if (!record_count(options->blocks, UINT32_MAX, &number))
            return record_bad_value(run, "--aio", options->blocks);
        recorder->write_blocks = number > MOST ? MOST : number ? (uint32_t)number : 1;
    }
    if (options->map_timeout) {
        if (!record_count(options->map_timeout, UINT32_MAX, &number))
            return record_bad_value(run, "--proc-map-timeout", options->map_timeout);
        recorder->has_map_timeout = 1;
        recorder->map_timeout = (uint32_t)number;
    }
    recorder->tail_synthesis = (uint32_t)options->tail;
    recorder->kcore = (uint32_t)options->kcore;
    enum tool_exit code = take_affinity(run);
    return code != TOOL_DONE ? code : take_delay(run);
}

/* What `kvm` says of guests. */
static enum tool_exit take_guests(struct record_run *run)
{
    const struct tool_guests *guests = &run->tool->guests;
    run->recorder.machines = (guests->without_host ? 0u : (unsigned)PERFDATA_MACHINES_HOST) |
                             (guests->wanted ? (unsigned)PERFDATA_MACHINES_GUESTS : 0u);
    if (guests->vmlinux)
        return tool_usage(run->tool, "--guestvmlinux is for report, record takes --guestkallsyms");
    run->recorder.guest_kallsyms = guests->kallsyms;
    run->recorder.guest_modules = guests->modules;
    run->recorder.guest_mount = guests->mount;
    return TOOL_DONE;
}

/* -S "e0x100000": "e" takes a snapshot at the end, too; the number is its size in bytes. */
static enum tool_exit take_traces(struct record_run *run)
{
    struct perfdata_recorder_options *recorder = &run->recorder;
    const char *snapshot = run->options->snapshot, *sample = run->options->aux_sample;
    uint64_t number;
    if (snapshot) {
        bool at_end = *snapshot == 'e';
        recorder->snapshot = at_end ? PERFDATA_SNAPSHOT_AT_END : PERFDATA_SNAPSHOT_ASKED;
        if (snapshot[at_end] &&
            !record_count(snapshot + at_end, UINT64_MAX, &recorder->snapshot_size))
            return record_bad_value(run, "-S", snapshot);
    }
    if (sample) {
        recorder->aux_sample = 1;
        if (*sample && !record_count(sample, UINT32_MAX, &number))
            return record_bad_value(run, "--aux-sample", sample);
        recorder->aux_sample_size = *sample ? (uint32_t)number : 0;
    }
    return TOOL_DONE;
}

/* Whether the path is, or will be, a file or directory: a device or FIFO would be moved away. */
static bool is_file_to_be(const char *path)
{
    struct stat info;
    return path && (stat(path, &info) < 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode));
}

static enum tool_exit take_session(struct record_run *run)
{
    const struct record_options *options = run->options;
    uint64_t number;
    run->recorder.want_times = (uint32_t)options->boundary;
    enum tool_exit bad = take_traces(run);
    if (bad != TOOL_DONE)
        return bad;
    if (options->max_size && !record_size_parse(options->max_size, &run->max_size))
        return record_bad_value(run, "--max-size", options->max_size);
    if (options->switch_output && !record_switch_parse(options->switch_output, &run->when))
        return record_bad_value(run, "--switch-output", options->switch_output);
    for (size_t i = 0; i < options->selection_count; i++)
        run->when.by_event |= options->selections[i].kind == SELECT_TRIGGERS;
    run->when.on |= run->when.by_event;
    if (options->switch_files) {
        if (!record_count(options->switch_files, 1 << 16, &number))
            return record_bad_value(run, "--switch-max-files", options->switch_files);
        run->when.most = (unsigned)number;
    }
    if (run->when.on && options->kcore)
        return tool_usage(run->tool, "--switch-output does not go with --kcore");
    if ((run->when.on || options->stamp) && !is_file_to_be(run->recorder.path))
        return tool_usage(run->tool, "a stream has no name that could change");
    run->recorder.threads = options->threads;
    if (run->when.on && options->threads) {
        run->when.on = false;
        if (!options->quiet)
            fprintf(stderr,
                    "WARNING: --switch-output%s option is not available in parallel streaming "
                    "mode.\n",
                    options->switch_output ? "" : "-event");
    }
    if (run->when.on) /* as perf: looking back takes too long between files */
        run->recorder.flags |= PERFDATA_RECORDER_NO_BUILD_ID;
    if (!options->control)
        return TOOL_DONE;
    enum tool_exit code = record_control_open(run->tool, options->control, &run->control);
    run->recorder.watch_fd = run->control.in;
    return code;
}

static void on_log(void *data, int32_t level, const char *text)
{
    const struct record_options *options = data;
    if (!options->quiet && level <= options->verbose)
        fputs(text, stderr);
}

enum tool_exit record_take_options(struct record_run *run, int argc, char **argv)
{
    enum tool_exit (*const parts[])(struct record_run *) = {
        take_settings,  take_rate,   take_targets, take_contents,
        take_synthesis, take_output, take_guests,  take_session,
    };
    enum tool_exit code = TOOL_DONE;
    run->recorder.struct_size = sizeof run->recorder;
    for (unsigned bit = 0; bit < TOOL_LENGTH(run->options->flags); bit++)
        run->recorder.flags |= (run->options->flags[bit] == RECORD_ON ? 1u : 0u) << bit;
    run->recorder.no_switches = run->options->flags[RECORD_BIT(SWITCH_EVENTS)] == RECORD_OFF;
    run->recorder.log = on_log;
    run->recorder.log_data = (void *)(uintptr_t)run->options;
    run->recorder.command = argc ? (const char *const *)argv : NULL;
    for (size_t i = 0; i < TOOL_LENGTH(parts) && code == TOOL_DONE; i++)
        code = parts[i](run);
    const struct perfdata_recorder_options *recorder = &run->recorder;
    bool whom = argc || recorder->pids || recorder->tids || recorder->has_user || recorder->cpus ||
                recorder->flags & PERFDATA_RECORDER_ALL_CPUS;
    if (code == TOOL_DONE && !whom) /* as perf: everything */
        run->recorder.flags |= PERFDATA_RECORDER_ALL_CPUS;
    return code;
}
