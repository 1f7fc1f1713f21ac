/* SPDX-License-Identifier: MIT */
/* Settings of perfconfig files that hold for several verbs, and which values perf refuses. */
#include "io/settings.h"
#include "base/base.h"
#include <stdio.h>
#include <stdlib.h>

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
    *known = true;
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
