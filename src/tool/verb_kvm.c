/* SPDX-License-Identifier: MIT */
/* kvm: report, with the guests of virtual machines beside their host. */
#include "tool/tool.h"
#include "tool/verbs.h"
#include <string.h>

struct kvm_options {
    const char *kallsyms, *modules, *vmlinux, *mount;
    int host, guest;
};
#define FIELD(name) offsetof(struct kvm_options, name)

static const struct tool_option kvm_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROW_VERBOSE,
    { TOOL_GROUP, .help = "What is shown" },
    { TOOL_FLAG, 0, "host", NULL, "the host", FIELD(host) },
    { TOOL_FLAG, 0, "guest", NULL, "its guests, as always", FIELD(guest) },
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

static enum tool_exit run_kvm(struct tool *tool, void *data, int argc, char **argv)
{
    const struct kvm_options *options = data;
    if (!argc || strcmp(argv[0], "report") != 0)
        return tool_usage(tool, "kvm has one verb: report");
    if (!options->host)
        return tool_refuse(tool, "guests without --host");
    tool->guests = (struct tool_guests){ .wanted = true,
                                         .kallsyms = options->kallsyms,
                                         .modules = options->modules,
                                         .vmlinux = options->vmlinux,
                                         .mount = options->mount };
    if (!tool->input) /* what perf kvm record calls it */
        tool->input = options->guest ? "perf.data.kvm" : "perf.data.host";
    tool->verb = "report";
    return tool_verb_run(tool, &tool_verb_report, argc, argv);
}

const struct tool_verb tool_verb_kvm = {
    .name = "kvm",
    .synopsis = "[OPTIONS] report [OPTIONS]",
    .description = "Prints the report of a recording in which a host's guests were recorded, too.",
    .examples = { "kvm --host --guest --guestkallsyms=guest.kallsyms -i perf.data report",
                  "host and guest, by command, object and symbol",
                  "kvm --host --guestmount=/roots report -s comm",
                  "the guests whose roots are below /roots" },
    .options = kvm_rows,
    .options_size = sizeof(struct kvm_options),
    .run = run_kvm,
    .flags = TOOL_VERB_PERF | TOOL_VERB_STOP,
};
