/* SPDX-License-Identifier: MIT */
/* kvm: record and report, with the guests of virtual machines beside their host. */
#include "tool/tool.h"
#include "tool/verbs.h"
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
      "the host's, too; report: without it they count, but have no rows", FIELD(host) },
    { TOOL_FLAG, 0, "guest", NULL, "its guests', as always; --no-guest: not", FIELD(guest) },
    { TOOL_FLAG, 0, "guest-code", NULL, "report: what runs in a guest is its hypervisor's own code",
      FIELD(guest_code) },
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

static const char *default_name(const struct kvm_options *options)
{
    return options->host && options->guest ? "perf.data.kvm"
           : options->host                 ? "perf.data.host"
                                           : "perf.data.guest";
}

static enum tool_exit run_kvm(struct tool *tool, void *data, int argc, char **argv)
{
    const struct kvm_options *options = data;
    bool record = argc && !strcmp(argv[0], "record");
    if (!argc || (!record && strcmp(argv[0], "report") != 0))
        return tool_usage(tool, "kvm has the verbs record and report");
    if (!record && options->output)
        return tool_usage(tool, "-o is for record");
    if (record && options->guest_code)
        return tool_usage(tool, "--guest-code is for report");
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
    .synopsis = "[OPTIONS] record|report [OPTIONS]",
    .description =
        "Records what the guests of virtual machines execute, with --host beside what this machine "
        "does, and prints the\nreport of such a recording. The options behind the verb are that "
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
};
