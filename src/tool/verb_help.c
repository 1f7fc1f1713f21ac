/* SPDX-License-Identifier: MIT */
/* help, and what is generated from the option tables. */
#include "tool/verbs.h"
#include <perfdata/words.h>
#include <string.h>

struct help_options {
    const char *man, *completion;
    int options_table;
};
#define FIELD(name) offsetof(struct help_options, name)

/* Subjects that are no verbs: words that options take. */
static const struct topic {
    const char *name, *heading;
    int list;
} topics[] = {
    { "itrace",
      "Letters of --itrace, written one behind the other; a number may follow a letter.\n"
      "docs/intel-pt.md explains each.",
      PERFDATA_WORDS_ITRACE },
    { "fields", "Output fields of script: -F LIST, -F +FIELD, -F -FIELD, -F TYPE:LIST.",
      PERFDATA_WORDS_FIELDS },
    { "sort", "Sort keys of report (-s KEY,...) and columns (-F COLUMN,...), with their titles.",
      PERFDATA_WORDS_SORT },
};

static const struct topic *find_topic(const char *name)
{
    for (size_t i = 0; i < TOOL_LENGTH(topics); i++)
        if (!strcmp(topics[i].name, name))
            return &topics[i];
    return NULL;
}

static void print_topic(struct tool *tool, const struct topic *topic)
{
    const struct perfdata_word *word;
    tool_printf(tool, "%s\n\n", topic->heading);
    for (size_t i = 0; (word = perfdata_word(topic->list, i)) != NULL; i++)
        tool_help_row(tool, word->name,
                      word->supported ? word->about : "perf has it; refused so far");
}

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
    const struct topic *topic = find_topic(argv[0]);
    if (topic) {
        print_topic(tool, topic);
        return TOOL_DONE;
    }
    const struct tool_verb_row *row = tool_verb_find(tool, argv[0]);
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
    .synopsis = "[OPTIONS] [VERB|itrace|fields|sort]",
    .description =
        "Lists the verbs, or tells the options of one. `itrace`, `fields` and `sort` list the\n"
        "words that --itrace, script's -F and report's -s and -F take. The same tables give\n"
        "the manual pages and the completions of shells.",
    .examples = { "help script", "the options of script", "help --completion bash",
                  "a completion script for bash" },
    .options = help_rows,
    .options_size = sizeof(struct help_options),
    .run = run_help,
    .flags = TOOL_VERB_UNPAGED,
};
