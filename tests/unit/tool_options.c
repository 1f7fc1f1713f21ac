/* SPDX-License-Identifier: MIT */
/* Options are parsed by perf's rules: prefixes, --no-, bundles, values that may be missing. */
#include "test.h"
#include "tool/verbs.h"
#include <unistd.h>

struct target {
    int flag, count, number, no_inline;
    unsigned stack;
    uint64_t size;
    const char *input, *header, *graph, *sort, *show_a, *show_b;
    char calls[64];
};
#define FIELD(name) offsetof(struct target, name)

static enum tool_exit on_call(struct tool *tool, void *options, const char *value, bool unset)
{
    struct target *target = options;
    (void)tool;
    size_t used = strlen(target->calls);
    snprintf(target->calls + used, sizeof target->calls - used, "%s,",
             unset   ? "unset"
             : value ? value
                     : "null");
    return TOOL_DONE;
}

static const struct tool_option rows[] = {
    { TOOL_GROUP, .help = "All kinds" },
    { TOOL_FLAG, 'f', "flag", NULL, "", FIELD(flag) },
    { TOOL_COUNT, 'v', "verbose", NULL, "", FIELD(count) },
    { TOOL_INT, 'n', "number", "N", "", FIELD(number) },
    { TOOL_UINT, 0, "stack", "N", "", FIELD(stack) },
    { TOOL_U64, 0, "size", "N", "", FIELD(size) },
    { TOOL_FLAG, 0, "no-inline", NULL, "", FIELD(no_inline) },
    { TOOL_STRING, 'i', "input", "FILE", "", FIELD(input) },
    { TOOL_STRING, 0, "header", "WHAT", "", FIELD(header), TOOL_OPTIONAL, "all" },
    { TOOL_STRING, 'g', "graph", "HOW", "", FIELD(graph), TOOL_LAST, "default" },
    { TOOL_STRING, 0, "sort", "KEY", "", FIELD(sort), TOOL_NO_NEGATION },
    { TOOL_STRING, 0, "show-a", "X", "", FIELD(show_a) },
    { TOOL_STRING, 0, "show-b", "X", "", FIELD(show_b) },
    { TOOL_STRING, 0, "show-ours", "X", "", FIELD(show_b), TOOL_OURS },
    { TOOL_CALLBACK, 'c', "call", "X", "", .parse = on_call },
    { TOOL_CALLBACK, 'x', "xcall", NULL, "", .flags = TOOL_NO_VALUE, .parse = on_call },
    { 0 }
};
static const struct tool_verb verb = { .name = "evlist", .options = rows, .flags = TOOL_VERB_PERF };

static struct target target;
static char rest[200];

/* Parses a line of words; the arguments come back in `rest`, joined by blanks. */
static enum tool_exit parse(const char *line)
{
    static char words[200];
    char *argv[32];
    int argc = 0;
    bool help;
    struct tool tool;
    tool_init(&tool, "perfdata");
    tool.verb = "test";
    memset(&target, 0, sizeof target);
    snprintf(words, sizeof words, "%s", line);
    for (char *word = words, *end; *word; word = end) {
        end = word + strcspn(word, " ");
        if (*end)
            *end++ = 0;
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    enum tool_exit code = tool_parse(&tool, &verb, &target, &argc, argv, &help);
    rest[0] = 0;
    for (int i = 0; i < argc; i++) {
        size_t used = strlen(rest);
        snprintf(rest + used, sizeof rest - used, "%s%s", i ? " " : "", argv[i]);
    }
    return help ? (enum tool_exit)99 : code;
}

static void check_values(void)
{
    CHECK(parse("--input=a --size 5 -n-3 x -g y") == TOOL_DONE);
    CHECK_STR(target.input, "a");
    CHECK_U64(target.size, 5);
    CHECK(target.number == -3);
    CHECK_STR(target.graph, "y");
    CHECK_STR(rest, "x");
    CHECK(parse("-vvfn5 - -vi b -- -v") == TOOL_DONE);
    CHECK(target.count == 3 && target.flag == 1 && target.number == 5);
    CHECK_STR(target.input, "b");
    CHECK_STR(rest, "- -v");
    CHECK(parse("-g -f --header x") == TOOL_DONE);
    CHECK_STR(target.graph, "default");
    CHECK_STR(target.header, "all");
    CHECK_STR(rest, "x");
    CHECK(parse("--header=y -g") == TOOL_DONE);
    CHECK_STR(target.header, "y");
    CHECK_STR(target.graph, "default");
    CHECK(parse("-gcaller") == TOOL_DONE);
    CHECK_STR(target.graph, "caller");
    CHECK(parse("-c a --call=b -x --no-call") == TOOL_DONE);
    CHECK_STR(target.calls, "a,b,null,unset,");
}

static void check_names(void)
{
    CHECK(parse("--fl --no-flag --inp a") == TOOL_DONE);
    CHECK(target.flag == 0);
    CHECK_STR(target.input, "a");
    CHECK(parse("--flag --no-fl") == TOOL_DONE && target.flag == 0);
    CHECK(parse("--no-inline") == TOOL_DONE && target.no_inline == 1);
    CHECK(parse("--no-inline --inline") == TOOL_DONE && target.no_inline == 0);
    CHECK(parse("--no-inp") == TOOL_DONE && !target.input);
    CHECK(parse("--show-o=1") == TOOL_DONE); /* ours, and the only one */
    CHECK(parse("--show") == TOOL_USAGE);    /* two of perf's */
    CHECK(parse("--no") == TOOL_USAGE);
    CHECK(parse("--no-sort") == TOOL_USAGE);
    CHECK(parse("-h") == (enum tool_exit)99);
    CHECK(parse("-vh --nonsense") == (enum tool_exit)99);
}

static void check_errors(void)
{
    CHECK(parse("--flag=1") == TOOL_USAGE);
    CHECK(parse("--no-input=1") == TOOL_USAGE);
    CHECK(parse("--input") == TOOL_USAGE);
    CHECK(parse("-n x") == TOOL_USAGE);
    CHECK(parse("--stack -1") == TOOL_USAGE);
    CHECK(parse("--stack 4294967296") == TOOL_USAGE);
    CHECK(parse("-n 99999999999") == TOOL_USAGE);
    CHECK(parse("--nonsense") == TOOL_USAGE);
    CHECK(parse("-Z") == TOOL_USAGE);
    /* perf's evlist has these, this table has not. */
    CHECK(parse("--trace-fields") == TOOL_USAGE);
    CHECK(parse("--trace") == TOOL_USAGE);
    CHECK(parse("-F") == TOOL_USAGE);
}

static const char *const *list;
static const char *next(void *context)
{
    (void)context;
    return *list ? *list++ : NULL;
}

static void check_nearest(void)
{
    static const char *const names[] = { "comm", "comms", "dso", "symbol", "period", NULL };
    char text[100];
    list = names;
    tool_nearest("cmom", "-", next, NULL, text, sizeof text);
    CHECK_STR(text, "-comm or -comms");
    list = names;
    tool_nearest("symbl", "-", next, NULL, text, sizeof text);
    CHECK_STR(text, "-symbol");
    list = names;
    tool_nearest("zzzzzz", "-", next, NULL, text, sizeof text);
    CHECK_STR(text, "");
}

int main(void)
{
    /* What the parser says on the way is not the matter here. */
    FILE *log = getenv("VERBOSE") ? stderr : freopen("/dev/null", "w", stderr);
    CHECK(log != NULL);
    check_values();
    check_names();
    check_errors();
    check_nearest();
    if (test_failures)
        printf("%d of %d checks failed\n", test_failures, test_checks);
    return test_failures != 0;
}
