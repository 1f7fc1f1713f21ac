/* SPDX-License-Identifier: MIT */
/* kvm: record, report and diff, with the guests of virtual machines beside their host. */
#include "tool/input.h"
#include "tool/verbs.h"
#include <perfdata/kvm.h>
#include <string.h>

struct kvm_options {
    const char *kallsyms, *modules, *vmlinux, *mount, *output;
    int host, guest, guest_code;
};
#define FIELD(name) offsetof(struct kvm_options, name)

static const struct tool_option kvm_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROW_VERBOSE,
    TOOL_ROW_PROGRESS,
    { TOOL_GROUP, .help = "Output" },
    { TOOL_STRING, 'o', "output", "FILE",
      "what record writes; default: perf.data.guest, .host or .kvm, which is both", FIELD(output) },
    { TOOL_GROUP, .help = "Whose execution is recorded and shown" },
    { TOOL_FLAG, 0, "host", NULL,
      "the host's, too; report, diff: without it they count, but have no rows", FIELD(host) },
    { TOOL_FLAG, 0, "guest", NULL, "its guests', as always; --no-guest: not", FIELD(guest) },
    { TOOL_FLAG, 0, "guest-code", NULL,
      "report, diff: what runs in a guest is its hypervisor's own code", FIELD(guest_code) },
    { TOOL_GROUP, .help = "Where guests' symbols come from" },
    { TOOL_STRING, 0, "guestkallsyms", "FILE", "table of the kernel of the guest that no pid names",
      FIELD(kallsyms) },
    { TOOL_STRING, 0, "guestvmlinux", "FILE", "that kernel's image", FIELD(vmlinux) },
    { TOOL_STRING, 0, "guestmodules", "FILE",
      "as in perf: the modules' maps are those that were recorded", FIELD(modules) },
    { TOOL_STRING, 0, "guestmount", "DIR",
      "DIR/PID is the root of the guest that PID is the hypervisor of", FIELD(mount) },
    { 0 },
};

/* ---- stat report ---- */

struct stat_options {
    const char *pids, *key, *event;
    int vcpu;
};
#define STAT_FIELD(name) offsetof(struct stat_options, name)

static const struct tool_option stat_report_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROWS_READING,
    TOOL_ROW_VERBOSE,
    { TOOL_GROUP, .help = "Output" },
    { TOOL_STRING, 0, "event", "EVENT",
      "a line a reason to leave the guest: vmexit; an address of a device: mmio; a port: ioport; a "
      "model-specific register: msr (vmexit)",
      STAT_FIELD(event) },
    { TOOL_STRING, 'k', "key", "KEY",
      "the most frequent first: sample; the longest in the mean: time (sample)", STAT_FIELD(key) },
    { TOOL_STRING, 'p', "pid", "PID[,...]", "machines of these processes only", STAT_FIELD(pids) },
    { TOOL_INT, 0, "vcpu", "N", "this processor of each machine only", STAT_FIELD(vcpu) },
    { 0 },
};

static void set_stat_defaults(void *data)
{
    ((struct stat_options *)data)->vcpu = -1;
}

static enum tool_exit run_stat_report(struct tool *tool, void *data, int argc, char **argv)
{
    enum { FAILED = 234, NOT_SUPPORTED = 161 };
    static const char *const events[] = { "vmexit", "mmio", "ioport", "msr" };
    const struct stat_options *from = data;
    struct perfdata_kvm_options options = { .struct_size = sizeof options,
                                            .pids = from->pids,
                                            .vcpu = from->vcpu };
    while (from->event && options.event < TOOL_LENGTH(events) &&
           strcmp(from->event, events[options.event]) != 0)
        options.event++;
    if (options.event == TOOL_LENGTH(events))
        return tool_exit_as(tool, tool_usage(tool, "Unknown report event:%s", from->event), FAILED);
    options.by_time = from->key && !strcmp(from->key, "time");
    if (from->key && !options.by_time && strcmp(from->key, "sample") != 0)
        return tool_exit_as(tool, tool_usage(tool, "Unknown compare key:%s", from->key), FAILED);
    if (from->vcpu < -1)
        return tool_exit_as(tool, tool_usage(tool, "Invalid vcpu:%d.", from->vcpu), FAILED);
    perfdata_recording *recording;
    enum tool_exit code = tool_open_one(tool, argc, argv, &recording);
    if (code != TOOL_DONE)
        return code;
    perfdata_status status = perfdata_kvm_run(recording, &options, tool_write_error, tool);
    return tool_close_run(tool, recording, status,
                          status == PERFDATA_ERROR_UNSUPPORTED ? NOT_SUPPORTED
                          : status == PERFDATA_ERROR_ARGUMENT || status == PERFDATA_ERROR_NO_DATA
                              ? FAILED
                              : -1);
}

static const struct tool_verb stat_report = {
    .name = "kvm stat report",
    .synopsis = "[OPTIONS] [FILE]",
    .description = "What guests were left for, and how long until they went on.",
    .options = stat_report_rows,
    .options_size = sizeof(struct stat_options),
    .defaults = set_stat_defaults,
    .run = run_stat_report,
    .flags = TOOL_VERB_PERF,
};
static const struct tool_verb *const stat_verbs[] = { &stat_report, NULL };

static const struct tool_option stat_rows[] = { TOOL_ROW_VERBOSE, { 0 } };

static enum tool_exit run_stat(struct tool *tool, void *data, int argc, char **argv);

static const struct tool_verb kvm_stat = {
    .name = "kvm stat",
    .synopsis = "report [OPTIONS] [FILE]",
    .description = "Sums of kvm:kvm_exit and kvm_entry, kvm_mmio and kvm_pio, on standard error as "
                   "with perf.",
    .options = stat_rows,
    .options_size = sizeof(int),
    .run = run_stat,
    .flags = TOOL_VERB_STOP,
    .subs = stat_verbs,
};
static const struct tool_verb *const kvm_verbs[] = { &kvm_stat, NULL };

static enum tool_exit run_stat(struct tool *tool, void *data, int argc, char **argv)
{
    if (argc && !strncmp("record", argv[0], strlen(argv[0])) && strlen(argv[0]) > 2)
        return tool_usage(tool,
                          "kvm stat has the verb report; record -e kvm:kvm_entry -e "
                          "kvm:kvm_exit -e kvm:kvm_mmio -e kvm:kvm_pio records what it needs");
    return tool_run_sub(tool, &kvm_stat, data, argc, argv);
}

/* ---- kvm ---- */

static const char *default_name(const struct kvm_options *options)
{
    return options->host && options->guest ? "perf.data.kvm"
           : options->host                 ? "perf.data.host"
                                           : "perf.data.guest";
}

static enum tool_exit run_kvm(struct tool *tool, void *data, int argc, char **argv)
{
    const struct kvm_options *options = data;
    bool record = argc && !strcmp(argv[0], "record"), diff = argc && !strcmp(argv[0], "diff");
    if (argc && (!strcmp(argv[0], "stat") || !strcmp(argv[0], "buildid-list"))) {
        if (!tool->input)
            tool->input = default_name(options);
        tool->verb = argv[0];
        return tool_verb_run(tool, *argv[0] == 's' ? &kvm_stat : &tool_verb_buildid_list, argc,
                             argv);
    }
    if (!argc || (!record && !diff && strcmp(argv[0], "report") != 0))
        return tool_usage(tool, "kvm has the verbs record, report, diff, stat and buildid-list");
    if (!record && options->output)
        return tool_usage(tool, "-o is for record");
    if (diff && tool->input)
        return tool_usage(tool, "-i: diff's recordings stand behind it");
    if (record && options->guest_code)
        return tool_usage(tool, "--guest-code is for report and diff");
    tool->guests = (struct tool_guests){ .wanted = options->guest || !options->host,
                                         .without_host = !options->host,
                                         .code = options->guest_code,
                                         .kallsyms = options->kallsyms,
                                         .modules = options->modules,
                                         .vmlinux = options->vmlinux,
                                         .mount = options->mount };
    if (record) {
        /* as with perf, either option names the file */
        tool->guests.output = options->output ? options->output
                              : tool->input   ? tool->input
                                              : default_name(options);
        tool->verb = "record";
        return tool_verb_run(tool, &tool_verb_record, argc, argv);
    }
    if (diff) {
        tool->verb = "diff";
        return tool_verb_run(tool, &tool_verb_diff, argc, argv);
    }
    if (!tool->input) /* what perf kvm record calls it */
        tool->input = default_name(options);
    tool->verb = "report";
    return tool_verb_run(tool, &tool_verb_report, argc, argv);
}

static void set_defaults(void *data)
{
    struct kvm_options *options = data;
    options->guest = 1;
}

const struct tool_verb tool_verb_kvm = {
    .name = "kvm",
    .synopsis = "[OPTIONS] record|report|diff|buildid-list|stat report [OPTIONS]",
    .description =
        "Records what the guests of virtual machines execute, with --host beside what this machine "
        "does, and prints the\nreport of such a recording, or what differs between two. The "
        "options behind the verb are that "
        "verb's.",
    .examples = { "kvm --host --guest --guestkallsyms=FILE record -e intel_pt/cyc=1/k -p 16998",
                  "traces a virtual machine's processors, inside it and outside",
                  "kvm --host --guest --guestkallsyms=FILE -i perf.data.kvm report",
                  "host and guest, by command, object and symbol" },
    .options = kvm_rows,
    .options_size = sizeof(struct kvm_options),
    .defaults = set_defaults,
    .run = run_kvm,
    .flags = TOOL_VERB_PERF | TOOL_VERB_STOP,
    .subs = kvm_verbs,
};
