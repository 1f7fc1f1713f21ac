/* SPDX-License-Identifier: MIT */
/* help, and what is generated from the option tables. */
#include "tool/verbs.h"

struct help_options {
    const char *man, *completion;
    int options_table;
};
#define FIELD(name) offsetof(struct help_options, name)

static enum tool_exit run_help(struct tool *tool, void *context, int argc, char **argv)
{
    const struct help_options *options = context;
    if (argc > 1)
        return tool_usage(tool, "one verb at a time, not also '%s'", argv[1]);
    if (options->options_table) {
        tool_generate_options(tool);
        return TOOL_DONE;
    }
    if (options->man)
        return tool_generate_man(tool, options->man);
    if (options->completion)
        return tool_generate_completion(tool, options->completion);
    if (!argc) {
        tool_help_all(tool);
        return TOOL_DONE;
    }
    const struct tool_verb_row *row = tool_verb_find(argv[0]);
    if (!row)
        return tool_verb_unknown(tool, argv[0]);
    tool_help_verb(tool, row->verb);
    return TOOL_DONE;
}

static const struct tool_option help_rows[] = {
    { TOOL_GROUP, .help = "Other forms" },
    { TOOL_STRING, 0, "man", "VERB", "manual page of a verb, or of perfdata itself", FIELD(man),
      .flags = TOOL_OURS },
    { TOOL_STRING, 0, "completion", "SHELL", "completion script for bash, zsh or fish",
      FIELD(completion), .flags = TOOL_OURS },
    { TOOL_FLAG, 0, "options-table", NULL, "all options and perf's, as in docs/options.md",
      FIELD(options_table), .flags = TOOL_OURS | TOOL_HIDDEN },
    { 0 }
};

const struct tool_verb tool_verb_help = {
    .name = "help",
    .synopsis = "[OPTIONS] [VERB]",
    .description = "Lists the verbs, or tells the options of one. The same tables give the manual\n"
                   "pages and the completions of shells.",
    .examples = { "help script", "the options of script", "help --completion bash",
                  "a completion script for bash" },
    .options = help_rows,
    .options_size = sizeof(struct help_options),
    .run = run_help,
};
