/* SPDX-License-Identifier: MIT */
/* record: events and a command -> a recording. */
#include "tool/record/parts.h"
#include "tool/verbs.h"
#include <errno.h>
#include <inttypes.h>
#include <perfdata/recorder.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FIELD(name) offsetof(struct record_options, name)
#define FLAG(name) offsetof(struct record_options, flags) + sizeof(int) * RECORD_BIT(name)

static enum tool_exit select_text(struct tool *tool, struct record_options *options, int kind,
                                  const char *text)
{
    if (!options->selections)
        options->selections = calloc(MOST_SELECTIONS, sizeof *options->selections);
    if (!options->selections)
        return tool_failure(tool, PERFDATA_ERROR_MEMORY, NULL, NULL);
    if (options->selection_count == MOST_SELECTIONS)
        return tool_usage(tool, "more than %d events and filters", MOST_SELECTIONS);
    options->selections[options->selection_count].kind = kind;
    options->selections[options->selection_count++].text = text;
    return TOOL_DONE;
}

static enum tool_exit parse_events(struct tool *tool, void *data, const char *value, bool unset)
{
    struct record_options *options = data;
    if (unset)
        options->selection_count = 0;
    return unset ? TOOL_DONE : select_text(tool, options, SELECT_EVENTS, value);
}

static enum tool_exit parse_filter(struct tool *tool, void *data, const char *value, bool unset)
{
    return unset ? TOOL_DONE : select_text(tool, data, SELECT_FILTER, value);
}

static enum tool_exit parse_exclude(struct tool *tool, void *data, const char *value, bool unset)
{
    (void)value;
    return unset ? TOOL_DONE : select_text(tool, data, SELECT_NOT_US, NULL);
}

static enum tool_exit parse_cgroups(struct tool *tool, void *data, const char *value, bool unset)
{
    return unset ? TOOL_DONE : select_text(tool, data, SELECT_CGROUPS, value);
}

static enum tool_exit parse_triggers(struct tool *tool, void *data, const char *value, bool unset)
{
    return unset ? TOOL_DONE : select_text(tool, data, SELECT_TRIGGERS, value);
}

static const struct tool_option record_rows[] = {
    { TOOL_GROUP, .help = "Events" },
    { TOOL_CALLBACK, 'e', "event", "EVENTS",
      "events to record; default: cycles, or the CPU's clock", .parse = parse_events },
    { TOOL_CALLBACK, 0, "filter", "FILTER",
      "of the tracepoints before it, or addresses of the trace before it", .parse = parse_filter },
    { TOOL_CALLBACK, 0, "exclude-perf", NULL, "the tracepoints before it leave this process out",
      .flags = TOOL_NO_VALUE, .parse = parse_exclude },
    { TOOL_STRING, 'c', "count", "N", "a sample each N events", FIELD(period) },
    { TOOL_STRING, 'F', "freq", "HZ", "samples a second, or max; default: 4000", FIELD(frequency) },
    { TOOL_FLAG, 0, "strict-freq", NULL, "fail where the frequency is not allowed",
      FLAG(STRICT_FREQUENCY) },
    { TOOL_FLAG, 0, "group", NULL, "all events are one group", FLAG(GROUP) },
    { TOOL_FLAG, 0, "all-kernel", NULL, "only what the kernel does", FLAG(ALL_KERNEL) },
    { TOOL_FLAG, 0, "all-user", NULL, "only what programs do", FLAG(ALL_USER) },
    { TOOL_FLAG, 'n', "no-samples", NULL, "no samples", FLAG(NO_SAMPLES) },
    { TOOL_GROUP, .help = "Whom" },
    { TOOL_FLAG, 'a', "all-cpus", NULL, "all CPUs", FLAG(ALL_CPUS) },
    { TOOL_STRING, 'C', "cpu", "LIST", "these CPUs, like 0-3,5", FIELD(cpus) },
    { TOOL_STRING, 'p', "pid", "LIST", "these processes, with all threads", FIELD(pids) },
    { TOOL_STRING, 't', "tid", "LIST", "these threads", FIELD(tids) },
    { TOOL_STRING, 'u', "uid", "USER", "the processes of a user", FIELD(user) },
    { TOOL_CALLBACK, 'G', "cgroup", "NAME[,...]",
      "tasks of control groups: one for each event before it, or one for all; with -a",
      .parse = parse_cgroups },
    { TOOL_FLAG, 'i', "no-inherit", NULL, "without the children that come later",
      FLAG(NO_INHERIT) },
    { TOOL_FLAG, 0, "per-thread", NULL, "a buffer for each thread instead of each CPU",
      FLAG(PER_THREAD) },
    { TOOL_STRING, 'D', "delay", "MS",
      "events count only after so many milliseconds, or within 10-20,30-40; -1: never",
      FIELD(delay) },
    { TOOL_GROUP, .help = "What a sample holds" },
    { TOOL_FLAG, 'g', NULL, NULL, "call chains by frame pointers", FIELD(graph) },
    { TOOL_STRING, 0, "call-graph", "KIND", "call chains: fp, dwarf[,BYTES], lbr",
      FIELD(call_graph) },
    { TOOL_FLAG, 0, "user-callchains", NULL, "their part in programs only", FLAG(USER_CALLCHAINS) },
    { TOOL_FLAG, 0, "kernel-callchains", NULL, "their part in the kernel only",
      FLAG(KERNEL_CALLCHAINS) },
    { TOOL_FLAG, 'b', "branch-any", NULL, "the last branches", FIELD(branch_any) },
    { TOOL_STRING, 'j', "branch-filter", "LIST", "which branches: any, any_call, any_ret, u, k...",
      FIELD(branches) },
    { TOOL_STRING, 0, "user-regs", "LIST", "registers of the program; without a list all",
      FIELD(user_registers), .flags = TOOL_OPTIONAL, .implied = "" },
    { TOOL_STRING, 'I', "intr-regs", "LIST", "registers at the interrupt; without a list all",
      FIELD(interrupt_registers), .flags = TOOL_OPTIONAL, .implied = "" },
    { TOOL_FLAG, 'd', "data", NULL, "addresses of data, and maps of data", FLAG(ADDRESS) },
    { TOOL_FLAG, 0, "phys-data", NULL, "their physical addresses", FLAG(PHYSICAL) },
    { TOOL_FLAG, 0, "data-page-size", NULL, "their page sizes", FLAG(DATA_PAGE_SIZE) },
    { TOOL_FLAG, 0, "code-page-size", NULL, "page sizes of code", FLAG(CODE_PAGE_SIZE) },
    { TOOL_FLAG, 'P', "period", NULL, "period", FLAG(PERIOD) },
    { TOOL_FLAG, 'T', "timestamp", NULL, "time", FLAG(TIME) },
    { TOOL_FLAG, 'W', "weight", NULL, "weight", FLAG(WEIGHT) },
    { TOOL_FLAG, 'R', "raw-samples", NULL, "raw data of all events", FLAG(RAW) },
    { TOOL_FLAG, 0, "sample-cpu", NULL, "CPU", FLAG(CPU) },
    { TOOL_FLAG, 0, "sample-identifier", NULL, "the event's id in front", FLAG(IDENTIFIER) },
    { TOOL_FLAG, 0, "transaction", NULL, "flags of transactions", FLAG(TRANSACTION) },
    { TOOL_FLAG, 's', "stat", NULL, "counts of each thread when it ends", FLAG(STAT) },
    { TOOL_FLAG, 0, "running-time", NULL, "times that groups were enabled and ran",
      FLAG(RUNNING_TIME) },
    { TOOL_STRING, 'k', "clockid", "CLOCK", "clock of the times: mono, raw, real, boot, tai",
      FIELD(clock) },
    { TOOL_GROUP, .help = "Other records" },
    { TOOL_FLAG, 0, "switch-events", NULL, "context switches", FLAG(SWITCH_EVENTS) },
    { TOOL_FLAG, 0, "latency", NULL, "the same, for report --latency", FLAG(SWITCH_EVENTS),
      .flags = TOOL_OURS },
    { TOOL_FLAG, 0, "namespaces", NULL, "namespaces of tasks", FLAG(NAMESPACES) },
    { TOOL_FLAG, 0, "all-cgroups", NULL, "control groups", FLAG(CGROUPS) },
    { TOOL_FLAG, 0, "no-bpf-event", NULL, "no programs of BPF that are loaded",
      FLAG(NO_BPF_EVENT) },
    { TOOL_STRING, 0, "synth", "WHAT", "of what runs already: all, task, mmap, cgroup, no",
      FIELD(synth) },
    { TOOL_STRING, 0, "num-thread-synthesize", "N",
      "so many threads read what runs already; the recording is the same",
      FIELD(synthesis_threads) },
    { TOOL_STRING, 0, "proc-map-timeout", "MS",
      "the maps of a process are cut after so many milliseconds; default: never",
      FIELD(map_timeout) },
    { TOOL_GROUP, .help = "Output" },
    { TOOL_STRING, 'o', "output", "FILE", "where to write; - is standard output, a pipe stream",
      FIELD(output) },
    { TOOL_STRING, 'z', "compression-level", "N", "compress with zstd; default level: 1",
      FIELD(level), .flags = TOOL_OPTIONAL, .implied = "1" },
    { TOOL_STRING, 0, "threads", "HOW",
      "a directory, written by threads: cpu, core, package, numa, or CPUS/AFFINITY:...",
      FIELD(threads), .flags = TOOL_OPTIONAL, .implied = "" },
    { TOOL_FLAG, 0, "kcore", NULL, "a directory, with a copy of the kernel's code and symbols",
      FIELD(kcore) },
    { TOOL_FLAG, 'B', "no-buildid", NULL, "no build-ids in the header", FLAG(NO_BUILD_ID) },
    { TOOL_FLAG, 0, "buildid-all", NULL,
      "build-ids of all that was mapped, not of what samples hit", FLAG(ALL_BUILD_IDS) },
    { TOOL_FLAG, 0, "buildid-mmap", NULL, "build-ids in the records of maps, none in the header",
      FIELD(map_build_ids) },
    { TOOL_FLAG, 'N', "no-buildid-cache", NULL, "as always: the build-id cache is not touched",
      FIELD(no_cache) },
    { TOOL_STRING, 'm', "mmap-pages", "PAGES",
      "size of a buffer, and of a trace: pages, or bytes like 1M,16M", FIELD(pages) },
    { TOOL_STRING, 0, "mmap-flush", "BYTES",
      "a buffer is read when it has so many bytes, like 16K; a quarter of it at most",
      FIELD(flush) },
    { TOOL_STRING, 0, "aio", "N",
      "another thread writes, N blocks of 1 MiB (1 to 4) at most; default: 1", FIELD(blocks),
      .flags = TOOL_OPTIONAL, .implied = "1" },
    { TOOL_STRING, 0, "affinity", "WHERE",
      "read each buffer on its CPU (cpu), on a CPU of its node (node), or anywhere (sys)",
      FIELD(affinity) },
    { TOOL_FLAG, 0, "tail-synthesize", NULL, "what runs already is said at the end", FIELD(tail) },
    { TOOL_FLAG, 0, "no-buffering", NULL, "write each sample at once", FLAG(NO_BUFFERING) },
    { TOOL_FLAG, 0, "overwrite", NULL,
      "buffers keep the newest; written at the end or when output switches", FLAG(OVERWRITE) },
    { TOOL_STRING, 0, "switch-output", "WHEN",
      "a new file at each SIGUSR2 (signal), so many bytes (100M) or seconds (30s)",
      FIELD(switch_output), .flags = TOOL_OPTIONAL, .implied = "signal" },
    { TOOL_CALLBACK, 0, "switch-output-event", "EVENTS",
      "a new file at each of these events, tracepoints mostly, on any CPU",
      .parse = parse_triggers },
    { TOOL_STRING, 0, "switch-max-files", "N", "how many of them are kept", FIELD(switch_files) },
    { TOOL_FLAG, 0, "timestamp-filename", NULL, "date and time behind the file's name",
      FIELD(stamp) },
    { TOOL_FLAG, 0, "timestamp-boundary", NULL,
      "the header has the first and last sample's time, also with -B", FIELD(boundary) },
    { TOOL_STRING, 0, "max-size", "SIZE", "ends at this size, like 100M", FIELD(max_size) },
    { TOOL_GROUP, .help = "Traces (Intel PT)" },
    { TOOL_STRING, 'S', "snapshot", "[e][SIZE]",
      "only at SIGUSR2, or the command snapshot, what is in the areas; e: at the end, too",
      FIELD(snapshot), .flags = TOOL_OPTIONAL, .implied = "" },
    { TOOL_STRING, 0, "aux-sample", "SIZE",
      "samples of the events in the trace's group carry its last bytes; default: 4096",
      FIELD(aux_sample), .flags = TOOL_OPTIONAL, .implied = "" },
    { TOOL_GROUP, .help = "While it runs" },
    { TOOL_STRING, 0, "control", "WHERE",
      "fd:N[,ACK] or fifo:PATH[,ACK]: takes the commands enable, disable, stop, ping, snapshot",
      FIELD(control) },
    { TOOL_STRING, 'r', "realtime", "PRIORITY", "records with this priority of SCHED_FIFO",
      FIELD(priority) },
    { TOOL_FLAG, 0, "dry-run", NULL, "only looks at the options", FIELD(dry) },
    { TOOL_FLAG, 'q', "quiet", NULL, "no messages", FIELD(quiet) },
    { TOOL_COUNT, 'v', "verbose", NULL, "-v: what was tried; -vv: attributes and calls",
      FIELD(verbose) },
    { 0 },
};

/* ---- recording ---- */

static perfdata_recorder *volatile signalled_recorder;
static volatile sig_atomic_t signal_number, switch_signals;

static void on_signal(int number)
{
    signal_number = number;
    if (signalled_recorder)
        perfdata_recorder_stop(signalled_recorder);
}

static void on_switch(int number)
{
    (void)number;
    switch_signals = 1;
}

static void watch_signals(perfdata_recorder *recorder)
{
    struct sigaction change = { .sa_handler = on_switch };
    sigaction(SIGUSR2, &change, NULL);
    struct sigaction action = { .sa_handler = on_signal };
    signalled_recorder = recorder;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void write_failed(const perfdata_recorder *recorder)
{
    static const char ours[] = "cannot write: ";
    const char *text = perfdata_recorder_error(recorder);
    if (!strncmp(text, ours, sizeof ours - 1))
        text += sizeof ours - 1;
    fprintf(stderr, "failed to write perf data, error: %s\n", text);
}

/* What perf says in other words than "perf record: ..." goes out as it is. */
static enum tool_exit failed(struct record_run *run, perfdata_status status,
                             const perfdata_recorder *recorder)
{
    const char *text = perfdata_recorder_error(recorder);
    if (status == PERFDATA_ERROR_OUTPUT && strncmp(text, "failed to open", 14) != 0) {
        write_failed(recorder);
        return tool_exit_as(run->tool, TOOL_OUTPUT, 255);
    }
    bool event = status == PERFDATA_ERROR_ACCESS || status == PERFDATA_ERROR_UNSUPPORTED ||
                 status == PERFDATA_ERROR_LIMIT;
    bool mapping = !strncmp(text, "Permission error mapping", 24);
    fprintf(stderr, "%s%s\n", event && !mapping ? "Error:\n" : "", text);
    if (status == PERFDATA_ERROR_ARGUMENT)
        return TOOL_USAGE;
    return tool_exit_as(run->tool, status == PERFDATA_ERROR_OUTPUT ? TOOL_OUTPUT : TOOL_NOTHING,
                        255);
}

static perfdata_status add_selection(perfdata_recorder *recorder, const struct selection *selection)
{
    char text[64];
    switch (selection->kind) {
    case SELECT_EVENTS: return perfdata_recorder_add_events(recorder, selection->text);
    case SELECT_FILTER: return perfdata_recorder_set_filter(recorder, selection->text);
    case SELECT_CGROUPS: return perfdata_recorder_set_cgroups(recorder, selection->text);
    case SELECT_TRIGGERS: return perfdata_recorder_add_triggers(recorder, selection->text);
    case SELECT_NOT_US: break;
    }
    snprintf(text, sizeof text, "common_pid != %d", (int)getpid());
    return perfdata_recorder_set_filter(recorder, text);
}

static void say(const struct record_run *run, const char *text)
{
    if (!run->options->quiet)
        fputs(text, stderr);
}

static perfdata_status delay(struct record_run *run, perfdata_recorder *recorder)
{
    record_spans_begin(&run->spans);
    if (run->delay || run->recorder.delay)
        say(run, "Events disabled\n");
    if (!run->delay)
        return PERFDATA_OK;
    if (run->delay < 0)
        return PERFDATA_OK;
    struct timespec time = { run->delay / 1000, run->delay % 1000 * 1000000L };
    while (nanosleep(&time, &time) < 0 && errno == EINTR && !signal_number)
        continue;
    perfdata_status status = perfdata_recorder_enable(recorder, 1);
    if (status == PERFDATA_OK)
        say(run, "Events enabled\n");
    return status;
}

static void tell_wakeups(const struct record_run *run,
                         const struct perfdata_recorder_result *result)
{
    if (!run->options->quiet)
        fprintf(stderr, "[ perf record: Woken up %" PRIu64 " times to write data ]\n",
                result->wakeups);
}

static void tell(const struct record_run *run, const struct perfdata_recorder_result *result)
{
    const double mib = 1024.0 * 1024.0;
    char samples[64] = "", packed[128] = "";
    if (run->options->quiet)
        return;
    if (result->samples)
        snprintf(samples, sizeof samples, " (%" PRIu64 " samples)", result->samples);
    if (result->compressed)
        snprintf(packed, sizeof packed, ", compressed (original %.3f MB, ratio is %.3f)",
                 (double)result->uncompressed / mib,
                 (double)result->uncompressed / (double)result->compressed);
    fprintf(stderr, "[ perf record: Captured and wrote %.3f MB %s%s%s%s ]\n",
            (double)result->bytes / mib, run->recorder.path ? run->recorder.path : "-",
            run->when.on || run->options->stamp ? ".<timestamp>" : "", packed, samples);
}

/* As perf: the command's exit code, the signal that ended it or us. */
static enum tool_exit end_as_command(struct record_run *run,
                                     const struct perfdata_recorder_result *result)
{
    int status = result->command_status, code = 0;
    if (signal_number)
        code = 128 + signal_number;
    else if (status >= 0 && WIFSIGNALED(status))
        code = 128 + WTERMSIG(status);
    else if (status >= 0 && WIFEXITED(status))
        code = WEXITSTATUS(status);
    return tool_exit_as(run->tool, (enum tool_exit)code, code);
}

static bool switch_output(struct record_run *run, perfdata_recorder *recorder)
{
    const char *name = record_switch_name(&run->when, run->recorder.path);
    switch_signals = 0;
    run->when.events = perfdata_recorder_triggers(recorder);
    record_switch_begin(&run->when);
    if (!name || perfdata_recorder_switch(recorder, name) < 0)
        return false;
    if (!run->options->quiet)
        fprintf(stderr, "[ perf record: Dump %s ]\n", name);
    return true;
}

static bool take_snapshot(struct record_run *run, perfdata_recorder *recorder)
{
    switch_signals = run->when.by_signal; /* a new file then begins behind the snapshot */
    if (run->options->verbose)
        say(run, "Recording AUX area tracing snapshot\n");
    return perfdata_recorder_snapshot(recorder) == PERFDATA_OK;
}

/* Until the command or a signal ends it: as perfdata_recorder_read(). */
static int read_all(struct record_run *run, perfdata_recorder *recorder)
{
    int more;
    record_switch_begin(&run->when);
    do {
        int timeout = record_switch_timeout(&run->when, run->recorder.snapshot != 0);
        int span = record_spans_timeout(&run->spans);
        more = perfdata_recorder_read(
            recorder, timeout < 0 || (span >= 0 && span < timeout) ? span : timeout);
        if (more > 0 && !record_spans_handle(&run->spans, recorder, run->options->quiet))
            more = -1;
        if (more > 0 && !record_control_handle(&run->control, recorder, run->options->quiet))
            more = -1;
        if (more > 0 && run->recorder.snapshot && switch_signals && !take_snapshot(run, recorder))
            more = -1;
        if (more > 0 && record_switch_due(&run->when, recorder, switch_signals) &&
            !switch_output(run, recorder))
            more = -1;
        uint64_t size = perfdata_recorder_size(recorder);
        if (more > 0 && run->max_size && size >= run->max_size) {
            fprintf(stderr,
                    "[ perf record: perf size limit reached (%" PRIu64 " KB), stopping session ]\n",
                    size >> 10);
            run->max_size = 0;
            perfdata_recorder_stop(recorder);
        }
    } while (more > 0);
    return more;
}

/* Names the last file of a session whose files are named after the time. */
static bool name_last(struct record_run *run)
{
    if (!run->when.on && !run->options->stamp)
        return true;
    const char *name = record_switch_name(&run->when, run->recorder.path);
    if (!name)
        return false;
    if (rename(run->recorder.path, name) < 0) {
        fprintf(stderr, "failed to rename %s : %s\n", run->recorder.path, strerror(errno));
        return false;
    }
    if (!run->options->quiet)
        fprintf(stderr, "[ perf record: Dump %s ]\n", name);
    return true;
}

static enum tool_exit be_urgent(struct record_run *run)
{
    uint64_t priority;
    const char *text = run->options->priority;
    if (!text)
        return TOOL_DONE;
    if (!record_count(text, 99, &priority) || !priority)
        return record_bad_value(run, "-r", text);
    struct sched_param parameter = { .sched_priority = (int)priority };
    if (!sched_setscheduler(0, SCHED_FIFO, &parameter))
        return TOOL_DONE;
    fputs("Could not set realtime priority.\n", stderr);
    return tool_exit_as(run->tool, TOOL_NOTHING, 255);
}

static enum tool_exit record(struct record_run *run, perfdata_recorder *recorder)
{
    struct perfdata_recorder_result result = { .struct_size = sizeof result };
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < run->options->selection_count && status == PERFDATA_OK; i++)
        status = add_selection(recorder, &run->options->selections[i]);
    if (status == PERFDATA_OK && run->options->dry)
        return TOOL_DONE;
    watch_signals(recorder);
    if (status == PERFDATA_OK)
        status = perfdata_recorder_start(recorder);
    enum tool_exit code = status < 0 ? TOOL_DONE : be_urgent(run);
    if (code != TOOL_DONE)
        return code;
    if (status == PERFDATA_OK)
        status = delay(run, recorder);
    if (status < 0)
        return failed(run, status, recorder);
    int more = read_all(run, recorder);
    if (more < 0)
        write_failed(recorder);
    status = perfdata_recorder_finish(recorder, &result);
    if (more < 0 || status < 0) {
        if (more >= 0)
            fprintf(stderr, "%s\n", perfdata_recorder_error(recorder));
        return tool_exit_as(run->tool, TOOL_OUTPUT, 255);
    }
    tell_wakeups(run, &result);
    if (!name_last(run))
        return tool_exit_as(run->tool, TOOL_OUTPUT, 255);
    tell(run, &result);
    return end_as_command(run, &result);
}

/* The command line as it was given: the program's path, then what follows its name. */
struct own_words {
    const char *words[1024];
    char program[4096], text[1 << 16];
};

static void read_own_words(struct own_words *own)
{
    size_t count = 0;
    ssize_t length = readlink("/proc/self/exe", own->program, sizeof own->program - 1);
    FILE *file = fopen("/proc/self/cmdline", "re");
    size_t size = file ? fread(own->text, 1, sizeof own->text - 1, file) : 0;
    if (file)
        fclose(file);
    own->words[count++] = length > 0 ? own->program : "perfdata";
    for (size_t at = strlen(own->text) + 1; at < size && count + 1 < TOOL_LENGTH(own->words);
         at += strlen(own->text + at) + 1)
        own->words[count++] = own->text + at;
}

static enum tool_exit run_record(struct tool *tool, void *data, int argc, char **argv)
{
    struct record_options *options = data;
    struct record_run run = { .tool = tool,
                              .options = options,
                              .control = { .in = -1, .out = -1 } };
    perfdata_recorder *recorder = NULL;
    struct own_words *own = calloc(1, sizeof *own);
    enum tool_exit code = own ? record_take_options(&run, argc, argv)
                              : tool_failure(tool, PERFDATA_ERROR_MEMORY, NULL, NULL);
    if (own && code == TOOL_DONE) {
        read_own_words(own);
        run.recorder.arguments = own->words;
        perfdata_status status = perfdata_recorder_open(&run.recorder, &recorder);
        code = status < 0 && recorder ? failed(&run, status, recorder)
               : status < 0           ? tool_failure(tool, status, "record", "")
                                      : record(&run, recorder);
    }
    signalled_recorder = NULL;
    perfdata_recorder_close(recorder);
    record_switch_end(&run.when);
    record_control_close(&run.control);
    record_spans_end(&run.spans);
    free(options->selections);
    free(own);
    return code;
}

static void set_defaults(void *data)
{
    struct record_options *options = data;
    options->flags[RECORD_BIT(SWITCH_EVENTS)] = RECORD_UNSAID;
    options->flags[RECORD_BIT(NO_BUILD_ID)] = options->map_build_ids = RECORD_UNSAID;
}

const struct tool_verb tool_verb_record = {
    .name = "record",
    .synopsis = "[OPTIONS] [COMMAND [ARGUMENTS]]",
    .description =
        "Records what the kernel's performance events say of a command, of processes or of whole "
        "CPUs, with the same\ncalls as perf record and in the same form. The file can be read at "
        "every moment, also after a crash.",
    .examples = { "record -g -- ./program", "where a program spends its time",
                  "record -a -e sched:sched_switch sleep 5", "five seconds of context switches" },
    .options = record_rows,
    .options_size = sizeof(struct record_options),
    .defaults = set_defaults,
    .run = run_record,
    .flags = TOOL_VERB_WRITES | TOOL_VERB_PERF | TOOL_VERB_STOP,
};
