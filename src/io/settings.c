/* SPDX-License-Identifier: MIT */
/* Settings of perfconfig files that hold for several verbs, and which values perf refuses. */
#include "io/settings.h"
#include "base/base.h"
#include <stdio.h>
#include <stdlib.h>

enum { STACK_MAX = 65528 }; /* bytes of a stack that are copied at most */

/* `what` of a chain is wrong; NULL: perf gives no reason. */
static int refuse(struct pd_context *context, const char *key, const char *value, const char *what)
{
    return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                   "%s%s%s%s%sError in the given config file: wrong config key-value pair %s=%s",
                   what ? "Invalid callchain " : "", what ? what : "", what ? ": " : "",
                   what ? value : "", what ? "\n" : "", key, value);
}

/* One of the words, which may be cut short, as in -g. */
static bool take_word(const char *value, const char *const *words, char *out, size_t size)
{
    for (; *words; words++) {
        if (*value && !strncmp(value, *words, strlen(value))) {
            snprintf(out, size, "%s", *words);
            return true;
        }
    }
    return false;
}

static bool take_number(const char *value, char *out, size_t size)
{
    char *end;
    double number = strtod(value, &end);
    if (end == value || !(number >= 0))
        return false;
    snprintf(out, size, "%.*s", (int)(end - value), value);
    return true;
}

/* ---- of recording, of a terminal: only what perf says of their values ---- */

/* perf's limit of a stack's copy. */
static bool is_stack_size(const char *value)
{
    char *end;
    unsigned long size = strtoul(value, &end, 0);
    return end != value && !*end && size && size <= STACK_MAX;
}

static int check_stack_size(struct pd_context *context, const char *key, const char *value,
                            const char *size)
{
    if (is_stack_size(size))
        return 0;
    return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                   "callchain: Incorrect stack dump size (max %d): %s\n"
                   "Error in the given config file: wrong config key-value pair %s=%s",
                   STACK_MAX, size, key, value);
}

static int check_record_mode(struct pd_context *context, const char *key, const char *value)
{
    const char *comma = strchr(value, ',');
    size_t length = comma ? (size_t)(comma - value) : strlen(value);
    bool lbr = length == 3 && !strncmp(value, "lbr", length);
    if (length == 5 && !strncmp(value, "dwarf", length))
        return comma && comma[1] ? check_stack_size(context, key, value, comma + 1) : 0;
    if ((length == 2 && !strncmp(value, "fp", length)) || (lbr && !comma))
        return 0;
    return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                   "callchain: %s%s\n"
                   "Error in the given config file: wrong config key-value pair %s=%s",
                   lbr ? "No more arguments needed for --call-graph lbr"
                       : "Unknown --call-graph option value: ",
                   lbr ? "" : value, key, value);
}

static int check_truth(struct pd_context *context, const char *name, const char *value)
{
    if (pd_config_truth(value) >= 0)
        return 0;
    return pd_warning(context, PERFDATA_ISSUE_CONFIG, -1,
                      "bad config value for '%s', ignoring...\n", name);
}

static int check_compiler(struct pd_context *context, const char *key, const char *value)
{
    static const char *const keys[] = { "clang-path",  "clang-bpf-cmd-template",
                                        "clang-opt",   "kbuild-dir",
                                        "kbuild-opts", "opts" };
    const char *name = strchr(key, '.') + 1;
    for (size_t i = 0; i < PD_LENGTH(keys); i++)
        if (!strcmp(name, keys[i]))
            return 0;
    return strcmp(name, "dump-obj") != 0 ? refuse(context, key, value, NULL)
                                         : check_truth(context, name, value);
}

/* False: it is none of these. */
static bool check_other(struct pd_context *context, const char *key, const char *value, int *result)
{
    if (!strcmp(key, "call-graph.record-mode"))
        *result = check_record_mode(context, key, value);
    else if (!strcmp(key, "call-graph.dump-size"))
        *result = check_stack_size(context, key, value, value);
    else if ((!strcmp(key, "ui.show-headers") || !strcmp(key, "stat.big-num")) &&
             pd_config_truth(value) < 0)
        *result = check_truth(context, key, value);
    else if (!strncmp(key, "llvm.", strlen("llvm.")))
        *result = check_compiler(context, key, value);
    else
        return false;
    return true;
}

int pd_chain_settings_take(struct pd_context *context, struct pd_chain_settings *settings,
                           const char *key, const char *value, bool *known)
{
    static const char *const modes[] = { "graph", "flat", "fractal", "folded", NULL };
    static const char *const orders[] = { "caller", "callee", NULL };
    static const char *const keys[] = { "function", "address", "srcline", NULL };
    const struct {
        const char *key, *what;
        const char *const *words; /* NULL: a number */
        char *out;
        size_t size;
    } rows[] = {
        { "call-graph.print-type", "mode", modes, settings->mode, sizeof settings->mode },
        { "call-graph.order", "order", orders, settings->order, sizeof settings->order },
        { "call-graph.sort-key", "sort key", keys, settings->key, sizeof settings->key },
        { "call-graph.threshold", "threshold", NULL, settings->threshold,
          sizeof settings->threshold },
        { "call-graph.print-limit", "print limit", NULL, settings->limit, sizeof settings->limit },
    };
    int result;
    *known = true;
    if (check_other(context, key, value, &result))
        return result;
    for (size_t i = 0; i < PD_LENGTH(rows); i++) {
        if (strcmp(key, rows[i].key) != 0)
            continue;
        bool good = rows[i].words ? take_word(value, rows[i].words, rows[i].out, rows[i].size)
                                  : take_number(value, rows[i].out, rows[i].size);
        return good ? 0 : refuse(context, key, value, rows[i].what);
    }
    *known = !strcmp(key, "hist.percentage");
    if (!*known)
        return 0;
    settings->relative = !strcmp(value, "relative");
    return settings->relative || !strcmp(value, "absolute") ? 0 : refuse(context, key, value, NULL);
}

/* ---- what a verb checks alone ---- */

static bool is_word(const char *value, const char *const *words)
{
    while (*words && strcmp(value, *words) != 0)
        words++;
    return *words;
}

static int check_build_ids(struct pd_context *context, const char *key, const char *value)
{
    static const char *const words[] = { "cache", "no-cache", "skip", "mmap", NULL };
    return is_word(value, words) ? 0 : refuse(context, key, value, NULL);
}

static int check_allocator(struct pd_context *context, const char *key, const char *value)
{
    static const char *const words[] = { "slab", "page", NULL };
    (void)key;
    return is_word(value, words)
               ? 0
               : pd_warning(context, PERFDATA_ISSUE_CONFIG, -1,
                            "invalid default value ('slab' or 'page' required): %s\n", value);
}

static int check_format(struct pd_context *context, const char *key, const char *value)
{
    static const char *const words[] = { "man", "info", "web", "html", NULL };
    return is_word(value, words)
               ? 0
               : pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                         "unrecognized help format '%s'Error in the given config file: "
                         "wrong config key-value pair %s=%s",
                         value, key, value);
}

static int check_number(struct pd_context *context, const char *key, const char *value)
{
    uint64_t number;
    return pd_config_number(value, &number)
               ? 0
               : pd_warning(context, PERFDATA_ISSUE_CONFIG, -1,
                            "bad config value for '%s', ignoring...\n", key);
}

static const struct {
    const char *verb, *key;
    int (*check)(struct pd_context *context, const char *key, const char *value);
} of_verbs[] = {
    { "record", "record.call-graph", check_record_mode },
    { "record", "record.build-id", check_build_ids },
    { "kmem", "kmem.default", check_allocator },
    { "help", "help.format", check_format },
    /* trace tells of these before it looks at trace.add_events */
    { "trace", "trace.show_timestamp", check_truth },
    { "trace", "trace.show_duration", check_truth },
    { "trace", "trace.show_arg_names", check_truth },
    { "trace", "trace.show_zeros", check_truth },
    { "trace", "trace.show_prefix", check_truth },
    { "trace", "trace.no_inherit", check_truth },
    { "trace", "trace.args_alignment", check_number },
    /* No value of theirs is checked, but perf reads the files for them once more. */
    { "config", NULL, NULL },
    { "archive", NULL, NULL },
};

struct checker {
    struct pd_context *context;
    const char *verb;
    struct pd_chain_settings chains;
};

static int check_entry(void *data, const char *key, const char *value)
{
    struct checker *checker = data;
    bool known;
    if (!checker->verb)
        return pd_chain_settings_take(checker->context, &checker->chains, key, value, &known);
    for (size_t i = 0; i < PD_LENGTH(of_verbs); i++)
        if (of_verbs[i].key && !strcmp(of_verbs[i].verb, checker->verb) &&
            !strcmp(of_verbs[i].key, key))
            return of_verbs[i].check(checker->context, key, value);
    return 0;
}

int pd_settings_check(struct pd_context *context, const struct pd_config_places *places,
                      const char *verb)
{
    struct checker checker = { .context = context, .verb = verb };
    bool any = !verb;
    for (size_t i = 0; i < PD_LENGTH(of_verbs) && !any; i++)
        any = !strcmp(of_verbs[i].verb, verb);
    return any ? pd_config_read(context, places, check_entry, &checker) : 0;
}
