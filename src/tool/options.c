/* SPDX-License-Identifier: MIT */
/* The parser of options. The rules are perf's: an exact name wins, an abbreviation counts while it
 * fits one name only, and --no-NAME takes an option back. */
#include "tool/options.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    struct tool *tool;
    const struct tool_verb *verb;
    void *options;
    char **argv;      /* the words not yet taken */
    const char *rest; /* of a bundle of short options, or what follows = */
};

/* A row of the verb, or an option of perf's that we refuse. */
struct candidate {
    const struct tool_option *row;
    const struct tool_perf_option *refused;
    bool unset;
};

static bool row_is_option(const struct tool_option *row)
{
    return row->kind != TOOL_GROUP;
}

static const char *without_no(const char *name)
{
    return strncmp(name, "no-", 3) ? NULL : name + 3;
}

/* How a word after -- may mean an option of this name. */
enum match { MATCH_NONE, MATCH_PREFIX, MATCH_EXACT };

static enum match match_one(const char *word, size_t length, const char *name)
{
    if (strncmp(word, name, length))
        return MATCH_NONE;
    return name[length] ? MATCH_PREFIX : MATCH_EXACT;
}

static enum match match_name(const char *word, size_t length, const char *name, bool negatable,
                             bool *unset)
{
    const char *positive = without_no(name);
    *unset = false;
    enum match match = match_one(word, length, name);
    if (match != MATCH_NONE || !negatable)
        return match;
    *unset = true;
    if (positive)
        return match_one(word, length, positive);
    if (length <= 3)
        return match_one(word, length, "no-") != MATCH_NONE ? MATCH_PREFIX : MATCH_NONE;
    return without_no(word) ? match_one(word + 3, length - 3, name) : MATCH_NONE;
}

struct search {
    struct candidate found, ours;
    unsigned count, ours_count; /* of prefixes */
    char names[240];            /* of the prefixes, for the message */
    bool exact;
};

static void search_note(struct search *search, struct candidate candidate, const char *name)
{
    bool ours = candidate.row && candidate.row->flags & TOOL_OURS;
    if (ours && !search->ours_count++)
        search->ours = candidate;
    if (ours)
        return;
    if (!search->count++)
        search->found = candidate;
    size_t used = strlen(search->names);
    if (used + strlen(name) + 16 < sizeof search->names)
        snprintf(search->names + used, sizeof search->names - used, "%s--%s%s", used ? ", " : "",
                 candidate.unset && !without_no(name) ? "no-" : "",
                 candidate.unset && without_no(name) ? without_no(name) : name);
    else if (used + 6 < sizeof search->names && search->names[used - 1] != '.')
        snprintf(search->names + used, sizeof search->names - used, ", ...");
}

static void search_try(struct search *search, const char *word, size_t length,
                       struct candidate candidate, const char *name, bool negatable)
{
    enum match match = match_name(word, length, name, negatable, &candidate.unset);
    if (match == MATCH_EXACT && !search->exact) {
        search->exact = true;
        search->found = candidate;
    } else if (match == MATCH_PREFIX && !search->exact) {
        search_note(search, candidate, name);
    }
}

static void search_long(const struct tool_verb *verb, const char *word, size_t length,
                        struct search *search)
{
    memset(search, 0, sizeof *search);
    for (const struct tool_option *row = verb->options; row->kind; row++) {
        struct candidate candidate = { row, NULL, false };
        if (row_is_option(row) && row->long_name)
            search_try(search, word, length, candidate, row->long_name,
                       !(row->flags & TOOL_NO_NEGATION));
    }
    const struct tool_perf_option *refused = NULL;
    while ((refused = tool_refused_next(verb, refused))) {
        struct candidate candidate = { NULL, refused, false };
        search_try(search, word, length, candidate, refused->long_name, true);
    }
    if (!search->exact && !search->count && search->ours_count) {
        search->found = search->ours;
        search->count = search->ours_count;
    }
}

struct names {
    const struct tool_verb *verb;
    const struct tool_option *row;
    const struct tool_perf_option *refused;
    char text[80];
};

static const char *next_name(void *context)
{
    struct names *names = context;
    while (names->row->kind) {
        const struct tool_option *row = names->row++;
        if (row_is_option(row) && row->long_name && !(row->flags & TOOL_HIDDEN))
            return row->long_name;
    }
    names->refused = tool_refused_next(names->verb, names->refused);
    return names->refused ? names->refused->long_name : NULL;
}

static enum tool_exit unknown_long(struct parser *parser, const char *word, size_t length)
{
    char name[64], near[200];
    struct names names = { .verb = parser->verb, .row = parser->verb->options };
    snprintf(name, sizeof name, "%.*s", (int)(length < 60 ? length : 60), word);
    tool_nearest(without_no(name) ? without_no(name) : name, "--", next_name, &names, near,
                 sizeof near);
    if (*near)
        return tool_usage(parser->tool, "unknown option --%s; near: %s", name, near);
    return tool_usage(parser->tool, "unknown option --%s; see %s %s --help", name,
                      parser->tool->name, parser->verb->name);
}

/* As the user would write it, for messages. */
static const char *row_name(const struct tool_option *row, char *text, size_t size)
{
    if (row->long_name)
        snprintf(text, size, "--%s", row->long_name);
    else
        snprintf(text, size, "-%c", row->short_name);
    return text;
}

static enum tool_exit refuse(struct parser *parser, const struct tool_perf_option *refused)
{
    const char *reason = tool_refused_reason(refused);
    return tool_usage(parser->tool, "option --%s is not supported yet%s%s", refused->long_name,
                      reason ? ": " : "", reason ? reason : "");
}

static bool takes_value(const struct tool_option *row)
{
    return row->kind != TOOL_FLAG && row->kind != TOOL_COUNT && !(row->flags & TOOL_NO_VALUE);
}

/* The value that belongs to `row`, NULL when there is none. */
static enum tool_exit take_value(struct parser *parser, const struct tool_option *row, bool unset,
                                 const char **value)
{
    char name[80];
    *value = NULL;
    if (unset || !takes_value(row))
        return TOOL_DONE;
    if (parser->rest) {
        *value = parser->rest;
        parser->rest = NULL;
    } else if (row->flags & TOOL_OPTIONAL) {
        *value = row->implied;
    } else if (row->flags & TOOL_LAST && (!*parser->argv || **parser->argv == '-')) {
        *value = row->implied;
    } else if (*parser->argv) {
        *value = *parser->argv++;
    } else {
        return tool_usage(parser->tool, "option %s needs a value (%s)",
                          row_name(row, name, sizeof name), row->argument);
    }
    return TOOL_DONE;
}

/* Decimal with an optional sign; false when it is not a number between the bounds. */
static bool parse_number(const char *text, int64_t least, uint64_t most, uint64_t *value)
{
    char *end;
    errno = 0;
    if (*text == '-') {
        long long number = strtoll(text, &end, 10);
        *value = (uint64_t)number;
        return !errno && end != text && !*end && number >= least;
    }
    unsigned long long number = strtoull(text, &end, 10);
    *value = number;
    return !errno && end != text && !*end && number <= most;
}

static enum tool_exit store_number(struct parser *parser, const struct tool_option *row,
                                   const char *text, void *target)
{
    uint64_t number = 0;
    int64_t least = row->kind == TOOL_INT ? INT32_MIN : 0;
    uint64_t most = row->kind == TOOL_INT    ? INT32_MAX
                    : row->kind == TOOL_UINT ? UINT32_MAX
                                             : UINT64_MAX;
    char name[80];
    if (text && !parse_number(text, least, most, &number))
        return tool_usage(parser->tool, "option %s needs a number, not '%s'",
                          row_name(row, name, sizeof name), text);
    if (row->kind == TOOL_INT)
        *(int *)target = (int)(int64_t)number;
    else if (row->kind == TOOL_UINT)
        *(unsigned *)target = (unsigned)number;
    else
        *(uint64_t *)target = number;
    return TOOL_DONE;
}

static enum tool_exit apply(struct parser *parser, const struct tool_option *row, bool unset)
{
    const char *value;
    enum tool_exit code = take_value(parser, row, unset, &value);
    if (code != TOOL_DONE)
        return code;
    void *target = (char *)parser->options + row->offset;
    switch (row->kind) {
    case TOOL_FLAG: *(int *)target = !unset; return TOOL_DONE;
    case TOOL_COUNT: *(int *)target = unset ? 0 : *(int *)target + 1; return TOOL_DONE;
    case TOOL_STRING: *(const char **)target = value; return TOOL_DONE;
    case TOOL_INT:
    case TOOL_UINT:
    case TOOL_U64: return store_number(parser, row, value, target);
    case TOOL_CALLBACK: return row->parse(parser->tool, parser->options, value, unset);
    case TOOL_END:
    case TOOL_GROUP: break;
    }
    return TOOL_DONE;
}

static enum tool_exit parse_long(struct parser *parser, const char *word)
{
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    struct search search;
    search_long(parser->verb, word, length, &search);
    if (!search.exact && search.count > 1)
        return tool_usage(parser->tool, "ambiguous option --%.*s: could be %s", (int)length, word,
                          search.names);
    if (!search.exact && !search.count)
        return unknown_long(parser, word, length);
    if (search.found.refused)
        return refuse(parser, search.found.refused);
    const struct tool_option *row = search.found.row;
    if (equals && (search.found.unset || !takes_value(row)))
        return tool_usage(parser->tool, "option --%.*s takes no value", (int)length, word);
    parser->rest = equals ? equals + 1 : NULL;
    enum tool_exit code = apply(parser, row, search.found.unset);
    parser->rest = NULL;
    return code;
}

static enum tool_exit parse_short(struct parser *parser, char letter)
{
    for (const struct tool_option *row = parser->verb->options; row->kind; row++) {
        if (row_is_option(row) && row->short_name == letter)
            return apply(parser, row, false);
    }
    const struct tool_perf_option *refused = NULL;
    while ((refused = tool_refused_next(parser->verb, refused))) {
        if (refused->short_name == letter)
            return refuse(parser, refused);
    }
    return tool_usage(parser->tool, "unknown option -%c; see %s %s --help", letter,
                      parser->tool->name, parser->verb->name);
}

/* -abc, -n5, -n 5 */
static enum tool_exit parse_bundle(struct parser *parser, const char *word, bool *help)
{
    while (*word) {
        char letter = *word++;
        parser->rest = *word ? word : NULL;
        const char *before = parser->rest;
        if (letter == 'h') {
            *help = true;
            return TOOL_DONE;
        }
        enum tool_exit code = parse_short(parser, letter);
        if (code != TOOL_DONE)
            return code;
        if (before && !parser->rest)
            break; /* the rest was the value */
    }
    parser->rest = NULL;
    return TOOL_DONE;
}

/* For shells: the verb's long options, or its own verbs, in a line. */
static bool list_words(struct tool *tool, const struct tool_verb *verb, const char *word)
{
    if (!strcmp(word, "--list-opts")) {
        for (const struct tool_option *row = verb->options; row->kind; row++)
            if (row_is_option(row) && row->long_name && !(row->flags & TOOL_HIDDEN))
                tool_printf(tool, "--%s ", row->long_name);
    } else if (!strcmp(word, "--list-cmds")) {
        for (const struct tool_verb *const *sub = verb->subs; sub && *sub; sub++)
            tool_printf(tool, "%s ", tool_sub_name(*sub));
    } else {
        return false;
    }
    tool_puts(tool, "\n");
    tool->listed = true;
    return true;
}

enum tool_exit tool_parse(struct tool *tool, const struct tool_verb *verb, void *options, int *argc,
                          char **argv, bool *help)
{
    struct parser parser = { tool, verb, options, argv, NULL };
    enum tool_exit code = TOOL_DONE;
    int kept = 0;
    *help = false;
    while (*parser.argv && code == TOOL_DONE && !*help) {
        char *word = *parser.argv++;
        if (word[0] != '-' || !word[1]) {
            argv[kept++] = word;
            if (verb->flags & TOOL_VERB_STOP || (verb->stops && verb->stops(options, word)))
                break;
        } else if (word[1] != '-') {
            code = parse_bundle(&parser, word + 1, help);
        } else if (!word[2]) {
            break;
        } else if (!strcmp(word, "--help") || list_words(tool, verb, word)) {
            *help = true;
        } else {
            code = parse_long(&parser, word + 2);
        }
    }
    while (*parser.argv)
        argv[kept++] = *parser.argv++;
    argv[kept] = NULL;
    *argc = kept;
    return code == TOOL_DONE && !*help ? tool_settings_strict(tool) : code;
}

/* --debug verbose=N before the verb means the same as N times -v behind it. */
static enum tool_exit take_debug_level(struct tool *tool, const struct tool_verb *verb,
                                       void *options)
{
    char *none[] = { NULL };
    struct parser parser = { tool, verb, options, none, NULL };
    const struct tool_option *row = verb->options;
    while (row->kind && (!row->long_name || strcmp(row->long_name, "verbose") != 0))
        row++;
    enum tool_exit code = TOOL_DONE;
    for (int i = 0; row->kind && i < tool->before.debug_level && code == TOOL_DONE; i++)
        code = apply(&parser, row, false);
    return code;
}

/* `from`: options that were given before, with which the verb's begin; or NULL. */
static enum tool_exit run_verb(struct tool *tool, const struct tool_verb *verb, const void *from,
                               int argc, char **argv)
{
    void *options = calloc(1, verb->options_size ? verb->options_size : 1);
    bool help;
    if (!options)
        return tool_failure(tool, PERFDATA_ERROR_MEMORY, NULL, NULL);
    if (from)
        memcpy(options, from, verb->options_size);
    if (verb->defaults)
        verb->defaults(options);
    if (verb->view_at)
        memcpy((char *)options + verb->view_at, &verb->view, sizeof verb->view);
    argc--;
    enum tool_exit debug = take_debug_level(tool, verb, options);
    if (debug != TOOL_DONE) {
        free(options);
        return debug;
    }
    enum tool_exit code = tool_parse(tool, verb, options, &argc, argv + 1, &help);
    if (code == TOOL_DONE && tool->listed) {
        tool_exit_as(tool, TOOL_DONE, 130); /* as perf ends */
    } else if (code == TOOL_DONE && help) {
        tool->pages = true;
        tool_help_verb(tool, verb);
        tool_exit_as(tool, TOOL_DONE, 129);
    } else if (code == TOOL_DONE) {
        code = verb->run(tool, options, argc, argv + 1);
    }
    free(options);
    return code;
}

enum tool_exit tool_verb_run(struct tool *tool, const struct tool_verb *verb, int argc, char **argv)
{
    return run_verb(tool, verb, NULL, argc, argv);
}

static const struct tool_verb *find_sub(const struct tool_verb *verb, const char *word)
{
    enum { LEAST = 3 };
    size_t length = strlen(word);
    for (const struct tool_verb *const *sub = verb->subs; *sub; sub++)
        if (!strcmp(tool_sub_name(*sub), word))
            return *sub;
    for (const struct tool_verb *const *sub = verb->subs; *sub && length >= LEAST; sub++)
        if (!strncmp(tool_sub_name(*sub), word, length))
            return *sub;
    return NULL;
}

enum tool_exit tool_run_sub(struct tool *tool, const struct tool_verb *verb, const void *options,
                            int argc, char **argv)
{
    const struct tool_verb *sub = argc ? find_sub(verb, argv[0]) : NULL;
    if (sub) {
        tool->verb = sub->name;
        return run_verb(tool, sub, verb->options_size == sub->options_size ? options : NULL, argc,
                        argv);
    }
    char names[256];
    size_t length = 0;
    for (const struct tool_verb *const *at = verb->subs; *at && length < sizeof names; at++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                   at == verb->subs ? "" : ", ", tool_sub_name(*at));
    return argc ? tool_usage(tool, "'%s' is none of its verbs: %s", argv[0], names)
                : tool_usage(tool, "a verb is needed: %s", names);
}

uint64_t tool_flags(const struct tool_flag *rows, size_t count)
{
    uint64_t flags = 0;
    for (size_t i = 0; i < count; i++)
        flags |= rows[i].set ? rows[i].flag : 0;
    return flags;
}

enum tool_exit tool_parse_input(struct tool *tool, void *options, const char *value, bool unset)
{
    (void)options;
    tool->input = unset ? NULL : value;
    return TOOL_DONE;
}

enum tool_exit tool_parse_force(struct tool *tool, void *options, const char *value, bool unset)
{
    (void)options, (void)value;
    tool->reading.force = !unset;
    return TOOL_DONE;
}

enum tool_exit tool_parse_verbose(struct tool *tool, void *options, const char *value, bool unset)
{
    (void)options, (void)value;
    tool->verbose = unset ? 0 : tool->verbose + 1;
    return TOOL_DONE;
}

enum tool_exit tool_parse_jobs(struct tool *tool, void *options, const char *value, bool unset)
{
    uint64_t number = 0;
    (void)options;
    if (!unset && !parse_number(value, 1, 1024, &number))
        return tool_usage(tool, "option --jobs needs a number up to 1024, not '%s'", value);
    tool->jobs = (unsigned)number;
    return TOOL_DONE;
}
