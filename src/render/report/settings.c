/* SPDX-License-Identifier: MIT */
/* The settings of perfconfig files -> those options of a report that were not given. */
#include "render/report/settings.h"
#include "base/base.h"
#include "io/config.h"
#include "io/settings.h"
#include <stdio.h>
#include <strings.h>

struct reader {
    struct pd_context *context;
    struct perfdata_report_options *options;
    struct pd_report_settings *settings;
    bool no_children, group, skip_empty;
    struct pd_chain_settings chains;
};

static int take_truth(const struct reader *reader, const char *key, const char *value, bool *out)
{
    int given = pd_config_truth(value);
    *out = given != 0; /* perf does not ignore it as it says, but takes it for a yes */
    return given >= 0 ? 0
                      : pd_warning(reader->context, PERFDATA_ISSUE_CONFIG, -1,
                                   "bad config value for '%s', ignoring...\n", key);
}

/* perf's own queue gets this size; ours grows by itself, so the value is only checked. */
static int check_queue_size(const struct reader *reader, const char *key, const char *value)
{
    uint64_t size;
    if (pd_config_number(value, &size))
        return 0;
    return pd_fail(reader->context, PERFDATA_ERROR_ARGUMENT, -1,
                   "bad config value for '%s', ignoring...\n"
                   "Error in the given config file: wrong config key-value pair %s=%s",
                   key, key, value);
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
    struct reader *reader = data;
    struct pd_report_settings *settings = reader->settings;
    const char *text = value;
    bool children, known;
    int taken = pd_chain_settings_take(reader->context, &reader->chains, key, text, &known);
    if (known)
        return taken;
    if (!strcmp(key, "report.children")) {
        children = !reader->no_children;
        int status = take_truth(reader, key, value, &children);
        reader->no_children = !children;
        return status;
    }
    if (!strcmp(key, "report.group"))
        return take_truth(reader, key, value, &reader->group);
    if (!strcmp(key, "report.skip-empty"))
        return take_truth(reader, key, value, &reader->skip_empty);
    if (!strcmp(key, "report.queue-size"))
        return check_queue_size(reader, key, value);
    if (!strcmp(key, "report.percent-limit"))
        return take_text(reader, key, text, settings->percent_limit,
                         sizeof settings->percent_limit);
    if (!strcmp(key, "report.sort_order"))
        return take_text(reader, key, text, settings->sort, sizeof settings->sort);
    if (!strcmp(key, "buildid.dir"))
        return take_text(reader, key, text, settings->cache, sizeof settings->cache);
    bool of_chains = !strncmp(key, "call-graph.", 11) && strcmp(key, "call-graph.record-mode") &&
                     strcmp(key, "call-graph.dump-size");
    bool of_report = !strncmp(key, "report.", 7);
    if (of_chains || of_report)
        return pd_issue(reader->context, PERFDATA_ISSUE_CONFIG, -1,
                        "perfconfig: %s is no setting that is known", key);
    return 0; /* of other verbs, of recording, of a terminal's colours: nothing here changes */
}

/* Joins the settings into the words of -g, where a limit stands behind a threshold. */
static void put_chains(const struct reader *reader)
{
    struct pd_report_settings *settings = reader->settings;
    const struct pd_chain_settings *chains = &reader->chains;
    const char *const words[] = { chains->mode, chains->order, chains->key,
                                  chains->limit[0] && !chains->threshold[0] ? "0.5"
                                                                            : chains->threshold,
                                  chains->limit };
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
    struct reader reader = { .context = context,
                             .options = options,
                             .settings = settings,
                             .group = true,
                             .skip_empty = true };
    int status = pd_config_read(context, &places, take_entry, &reader);
    if (status < 0)
        return status;
    put_chains(&reader);
    if (reader.no_children && !(options->flags & PERFDATA_REPORT_CHILDREN))
        options->flags |= PERFDATA_REPORT_NO_CHILDREN;
    if (!reader.group && !(options->flags & PERFDATA_REPORT_GROUP))
        options->flags |= PERFDATA_REPORT_UNGROUPED;
    if (!reader.skip_empty && !(options->flags & PERFDATA_REPORT_SKIP_EMPTY))
        options->flags |= PERFDATA_REPORT_SHOW_EMPTY;
    if (reader.chains.relative && !(options->flags & PERFDATA_REPORT_ABSOLUTE))
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
