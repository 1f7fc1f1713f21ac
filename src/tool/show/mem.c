/* SPDX-License-Identifier: MIT */
/* mem: the report of accesses to memory, with the keys that its options ask for, and their dump. */
#include "tool/input.h"
#include "tool/verbs.h"
#include <perfdata/memory.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct mem_options {
    const char *separator, *cpus;
    int physical, page_size, dumps, hides_unresolved, text;
    bool stores_only; /* of the types that were asked for */
};
#define FIELD(name) offsetof(struct mem_options, name)

/* As in perf: a later -t takes the place of an earlier one. */
static enum tool_exit parse_type(struct tool *tool, void *data, const char *value, bool unset)
{
    struct mem_options *options = data;
    bool loads = unset, stores = unset;
    const char *at = unset ? "" : value;
    while (!unset) {
        size_t length = strcspn(at, ",");
        if (length == 4 && !strncasecmp(at, "load", length))
            loads = true;
        else if (length == 5 && !strncasecmp(at, "store", length))
            stores = true;
        else
            return tool_usage(tool, "option --type takes load, store or load,store, not '%s'",
                              value);
        if (!at[length])
            break;
        at += length + 1;
    }
    options->stores_only = stores && !loads;
    return TOOL_DONE;
}

static const struct tool_option mem_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROW_FORCE,
    { TOOL_GROUP, .help = "Rows and columns" },
    { TOOL_CALLBACK, 't', "type", "TYPE[,...]",
      "load, store or both: store leaves out the columns that only loads have",
      .parse = parse_type },
    { TOOL_FLAG, 'p', "phys-data", NULL, "a column of physical addresses", FIELD(physical) },
    { TOOL_FLAG, 0, "data-page-size", NULL, "a column of the sizes of the data's pages",
      FIELD(page_size) },
    { TOOL_STRING, 'x', "field-separator", "TEXT", "between columns, without padding",
      FIELD(separator) },
    { TOOL_GROUP, .help = "A line a sample" },
    { TOOL_FLAG, 'D', "dump-raw-samples", NULL,
      "not the report, but each sample: process, thread, address, address accessed, weight, data "
      "source, function",
      FIELD(dumps) },
    { TOOL_STRING, 'C', "cpu", "CPU[,...]", "with -D: these CPUs only; 0-3 is a range",
      FIELD(cpus) },
    { TOOL_FLAG, 'U', "hide-unresolved", NULL, "with -D: no samples without a function",
      FIELD(hides_unresolved) },
    { 0 },
};

/* Options of perf's mem itself, which may also stand behind the verb below it. */
static const struct own_option {
    char letter;
    bool has_value;
    const char *name;
} own_options[] = {
    { 'C', true, "cpu" },
    { 'D', false, "dump-raw-samples" },
    { 'U', false, "hide-unresolved" },
    { 'i', true, "input" },
    { 't', true, "type" },
    { 'p', false, "phys-data" },
    { 'x', true, "field-separator" },
    { 0, false, "data-page-size" },
};

static const struct own_option *find_letter(char letter)
{
    for (size_t i = 0; i < TOOL_LENGTH(own_options); i++)
        if (own_options[i].letter && own_options[i].letter == letter)
            return &own_options[i];
    return NULL;
}

/* "-Dpx": several letters in one word. If one of them is an option of report, the whole word is
 * report's. */
static const struct own_option *find_short(const char *letters, bool *apart)
{
    const struct own_option *own = NULL;
    for (; *letters; letters++) {
        own = find_letter(*letters);
        if (!own || own->has_value)
            break;
    }
    *apart = own && own->has_value && !letters[1];
    return own;
}

/* The name in full, or a beginning that fits no other. */
static const struct own_option *find_long(const char *word, bool *apart)
{
    size_t length = strcspn(word, "=");
    const struct own_option *found = NULL;
    for (size_t i = 0; length && i < TOOL_LENGTH(own_options); i++) {
        const struct own_option *own = &own_options[i];
        if (strncmp(word, own->name, length) != 0)
            continue;
        if (found && own->name[length])
            return NULL;
        found = own;
    }
    *apart = found && found->has_value && !word[length];
    return found;
}

/* NULL: an option of report, or no option. *apart: its value is the next word. */
static const struct own_option *find_own(const char *word, bool *apart)
{
    *apart = false;
    if (word[0] != '-' || !word[1])
        return NULL;
    if (word[1] != '-')
        return find_short(word + 1, apart);
    const struct own_option *own = find_long(word + 2, apart);
    if (!own && !strncmp(word, "--no-", 5)) {
        own = find_long(word + 5, apart);
        *apart = false;
    }
    return own;
}

/* Takes mem's own options out of argv[1..], which ends with NULL; report's stay. */
static enum tool_exit take_own(struct tool *tool, struct mem_options *options, int *argc,
                               char **argv)
{
    int left = 1;
    for (int i = 1; i < *argc; i++) {
        bool apart = false, help = false;
        if (!find_own(argv[i], &apart)) {
            argv[left++] = argv[i];
            continue;
        }
        char *words[] = { argv[i], NULL, NULL };
        if (apart && i + 1 < *argc)
            words[1] = argv[++i];
        int count = words[1] ? 2 : 1;
        enum tool_exit code = tool_parse(tool, &tool_verb_mem, options, &count, words, &help);
        if (code != TOOL_DONE)
            return code;
    }
    *argc = left;
    argv[left] = NULL;
    return TOOL_DONE;
}

static const char *sort_keys(const struct mem_options *options)
{
#define LOADS "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked"
#define STORES "mem,sym,dso,symbol_daddr,dso_daddr,tlb,locked"
    /* [only stores][physical][page size]; NULL is what report takes by itself */
    static const char *const keys[2][2][2] = {
        { { NULL, "--sort=" LOADS ",data_page_size" },
          { "--sort=" LOADS ",phys_daddr", "--sort=" LOADS ",phys_daddr,data_page_size" } },
        { { "--sort=" STORES, "--sort=" STORES ",data_page_size" },
          { "--sort=" STORES ",phys_daddr", "--sort=" STORES ",phys_daddr,data_page_size" } },
    };
    return keys[options->stores_only][options->physical != 0][options->page_size != 0];
}

/* Behind these, report's own options win, as in perf. */
static enum tool_exit run_report_of(struct tool *tool, const struct mem_options *options, int argc,
                                    char **argv)
{
    enum { ADDED = 6 };
    const char **words = calloc((size_t)argc + ADDED, sizeof *words);
    if (!words) {
        tool_error(tool, "out of memory");
        return TOOL_NOTHING;
    }
    int count = 0;
    words[count++] = "report";
    words[count++] = "--mem-mode";
    words[count++] = "-n";
    if (sort_keys(options))
        words[count++] = sort_keys(options);
    if (options->separator) {
        words[count++] = "-t";
        words[count++] = options->separator;
    }
    for (int i = 1; i < argc; i++)
        words[count++] = argv[i];
    tool->verb = "report";
    enum tool_exit code = tool_verb_run(tool, &tool_verb_report, count, (char **)words);
    free(words);
    return code;
}

/* For `mem report -D`: the options of report that change no line of a dump. */
static const struct tool_option dump_rows[] = {
    TOOL_ROW_INPUT,
    TOOL_ROWS_READING,
    TOOL_ROW_VERBOSE,
    { TOOL_FLAG, 0, "stdio", NULL, "text: there is no other form", FIELD(text) },
    { 0 },
};

static enum tool_exit run_dump(struct tool *tool, void *data, int argc, char **argv)
{
    const struct mem_options *from = data;
    struct perfdata_memory_options options = {
        .struct_size = sizeof options,
        .flags = (from->physical ? PERFDATA_MEMORY_PHYSICAL : 0) |
                 (from->page_size ? PERFDATA_MEMORY_PAGE_SIZE : 0) |
                 (from->hides_unresolved ? PERFDATA_MEMORY_HIDE_UNRESOLVED : 0),
        .separator = from->separator,
        .cpus = from->cpus,
        .threads = tool->jobs,
    };
    options.search = tool_search(tool, options.search);
    perfdata_recording *recording;
    enum tool_exit code = tool_open_one(tool, argc, argv, &recording);
    if (code != TOOL_DONE)
        return code;
    return tool_close_run(tool, recording,
                          perfdata_memory_dump(recording, &options, tool_write_text, tool), 255);
}

static const struct tool_verb dump = {
    .name = "mem report",
    .synopsis = "-D [OPTIONS] [FILE]",
    .description = "Prints a line a sample.",
    .options = dump_rows,
    .options_size = sizeof(struct mem_options),
    .run = run_dump,
    .flags = TOOL_VERB_PERF,
};
static const struct tool_verb *const dump_verbs[] = { &dump, NULL };
static const struct tool_verb dumping = { .options_size = sizeof(struct mem_options),
                                          .subs = dump_verbs };

static enum tool_exit run_mem(struct tool *tool, void *data, int argc, char **argv)
{
    struct mem_options *options = data;
    size_t length = argc ? strlen(argv[0]) : 0;
    if (length > 2 && !strncmp("record", argv[0], length))
        return tool_usage(tool, "mem has the verb report; record -d -W -e "
                                "cpu/mem-loads,ldlat=30/P records loads where the processor has "
                                "such an event");
    if (length <= 2 || strncmp("report", argv[0], length) != 0)
        return tool_usage(tool, "mem has the verb report");
    enum tool_exit code = take_own(tool, options, &argc, argv);
    if (code != TOOL_DONE)
        return code;
    if (options->dumps)
        return tool_run_sub(tool, &dumping, options, argc, argv);
    if (options->cpus || options->hides_unresolved)
        return tool_usage(tool,
                          "option --%s works with -D only: perf's report takes no notice of it",
                          options->cpus ? "cpu" : "hide-unresolved");
    return run_report_of(tool, options, argc, argv);
}

const struct tool_verb tool_verb_mem = {
    .name = "mem",
    .synopsis = "[OPTIONS] report [OPTIONS]",
    .description =
        "Counts samples of accesses to memory by their weights, with what was accessed, where it "
        "was found and how\nlong that took: report --mem-mode -n with the columns that belong to "
        "it. What stands behind report and is none of\nthe options below is an option of report.\n"
        "With -D it prints each sample instead.",
    .examples = { "mem report --stdio -i perf.data", "the accesses that took longest",
                  "mem -t store report --stdio -s dso_daddr -i perf.data",
                  "stores, by the object that was written to" },
    .options = mem_rows,
    .options_size = sizeof(struct mem_options),
    .run = run_mem,
    .flags = TOOL_VERB_PERF | TOOL_VERB_STOP,
};
