/* SPDX-License-Identifier: MIT */
/* The settings of perfconfig files -> those options of a report that were not given. */
#include "render/report/settings.h"
#include "base/base.h"
#include "io/config.h"
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

struct reader {
    struct pd_context *context;
    struct perfdata_report_options *options;
    struct pd_report_settings *settings;
    bool no_children, group, relative;
    char mode[16], order[16], key[16], threshold[32], limit[32];
};

static int take_truth(const struct reader *reader, const char *key, const char *value, bool *out)
{
    int given = pd_config_truth(value);
    if (given < 0)
        return pd_warning(reader->context, PERFDATA_ISSUE_CONFIG, -1,
                          "bad config value for '%s', ignoring...\n", key);
    *out = given;
    return 0;
}

static int refuse(const struct reader *reader, const char *what, const char *value)
{
    return pd_fail(reader->context, PERFDATA_ERROR_ARGUMENT, -1, "Invalid callchain %s: %s", what,
                   value);
}

/* One of the words, which may be cut short, as in -g. */
static int take_word(const struct reader *reader, const char *what, const char *value,
                     const char *const *words, char *out, size_t size)
{
    for (; *words; words++) {
        if (*value && !strncmp(value, *words, strlen(value))) {
            snprintf(out, size, "%s", *words);
            return 0;
        }
    }
    return refuse(reader, what, value);
}

static int take_number(const struct reader *reader, const char *what, const char *value, char *out,
                       size_t size)
{
    char *end;
    double number = strtod(value, &end);
    if (end == value || !(number >= 0))
        return refuse(reader, what, value);
    snprintf(out, size, "%.*s", (int)(end - value), value);
    return 0;
}

static int take_chain(struct reader *reader, const char *key, const char *value)
{
    static const char *const modes[] = { "graph", "flat", "fractal", "folded", NULL };
    static const char *const orders[] = { "caller", "callee", NULL };
    static const char *const keys[] = { "function", "address", "srcline", NULL };
    if (!strcmp(key, "print-type"))
        return take_word(reader, "mode", value, modes, reader->mode, sizeof reader->mode);
    if (!strcmp(key, "order"))
        return take_word(reader, "order", value, orders, reader->order, sizeof reader->order);
    if (!strcmp(key, "sort-key"))
        return take_word(reader, "sort key", value, keys, reader->key, sizeof reader->key);
    if (!strcmp(key, "threshold"))
        return take_number(reader, "threshold", value, reader->threshold, sizeof reader->threshold);
    if (!strcmp(key, "print-limit"))
        return take_number(reader, "print limit", value, reader->limit, sizeof reader->limit);
    if (!strcmp(key, "record-mode") || !strcmp(key, "dump-size")) /* of recording */
        return 0;
    return pd_issue(reader->context, PERFDATA_ISSUE_CONFIG, -1,
                    "perfconfig: call-graph.%s is no setting that is known", key);
}

static int take_text(const struct reader *reader, const char *key, const char *value, char *out,
                     size_t size)
{
    if ((size_t)snprintf(out, size, "%s", value) < size)
        return 0;
    *out = '\0';
    return pd_issue(reader->context, PERFDATA_ISSUE_CONFIG, -1, "perfconfig: %s is too long", key);
}

static int take_entry(void *data, const char *key, const char *value)
{
    static const char chains[] = "call-graph.";
    struct reader *reader = data;
    struct pd_report_settings *settings = reader->settings;
    const char *text = value ? value : "";
    bool children;
    if (!strncmp(key, chains, sizeof chains - 1))
        return take_chain(reader, key + sizeof chains - 1, text);
    if (!strcmp(key, "report.children")) {
        children = !reader->no_children;
        int status = take_truth(reader, key, value, &children);
        reader->no_children = !children;
        return status;
    }
    if (!strcmp(key, "report.group"))
        return take_truth(reader, key, value, &reader->group);
    if (!strcmp(key, "report.percent-limit"))
        return take_text(reader, key, text, settings->percent_limit,
                         sizeof settings->percent_limit);
    if (!strcmp(key, "report.sort_order"))
        return take_text(reader, key, text, settings->sort, sizeof settings->sort);
    if (!strcmp(key, "hist.percentage")) {
        reader->relative = !strcmp(text, "relative");
        if (!reader->relative && strcmp(text, "absolute") != 0)
            return pd_fail(reader->context, PERFDATA_ERROR_ARGUMENT, -1,
                           "perfconfig: hist.percentage is relative or absolute, not '%s'", text);
        return 0;
    }
    if (!strcmp(key, "buildid.dir"))
        return take_text(reader, key, text, settings->cache, sizeof settings->cache);
    if (!strncmp(key, "report.", 7) && strcmp(key, "report.queue-size") != 0)
        return pd_issue(reader->context, PERFDATA_ISSUE_CONFIG, -1,
                        "perfconfig: %s is no setting that is known", key);
    return 0; /* of other verbs, of recording, of a terminal's colours: nothing of this text */
}

/* The words of -g; a limit stands behind a threshold. */
static void put_chains(const struct reader *reader)
{
    struct pd_report_settings *settings = reader->settings;
    const char *const words[] = { reader->mode, reader->order, reader->key,
                                  reader->limit[0] && !reader->threshold[0] ? "0.5"
                                                                            : reader->threshold,
                                  reader->limit };
    size_t at = 0;
    for (size_t i = 0; i < PD_LENGTH(words); i++)
        if (words[i][0])
            at += (size_t)snprintf(settings->chains + at, sizeof settings->chains - at, "%s%s",
                                   at ? "," : "", words[i]);
}

perfdata_status pd_report_settings_take(struct pd_context *context,
                                        struct perfdata_report_options *options,
                                        struct pd_report_settings *settings)
{
    struct pd_config_places places = PD_CONFIG_PLACES(options);
    struct reader reader = { .context = context, .options = options, .settings = settings };
    int status = pd_config_read(context, &places, take_entry, &reader);
    if (status < 0)
        return status;
    put_chains(&reader);
    if (reader.no_children && !(options->flags & PERFDATA_REPORT_CHILDREN))
        options->flags |= PERFDATA_REPORT_NO_CHILDREN;
    if (reader.group && !(options->flags & PERFDATA_REPORT_NO_GROUP))
        options->flags |= PERFDATA_REPORT_GROUP;
    if (reader.relative && !(options->flags & PERFDATA_REPORT_ABSOLUTE))
        options->flags |= PERFDATA_REPORT_RELATIVE;
    if (*settings->percent_limit && !options->percent_limit)
        options->percent_limit = settings->percent_limit;
    if (*settings->sort)
        options->sort_settings = settings->sort;
    if (*settings->cache && !options->search.build_id_dir)
        options->search.build_id_dir = settings->cache;
    if (*settings->chains)
        options->chain_settings = settings->chains;
    return PERFDATA_OK;
}
