/* SPDX-License-Identifier: MIT */
/* The settings of perfconfig files -> how lines of `trace` look. */
#include "render/trace/settings.h"
#include "base/base.h"
#include "io/config.h"
#include "io/settings.h"
#include <stdlib.h>

enum { ALIGNMENT = 70 };

struct reader {
    struct pd_context *context;
    struct pd_trace_settings *settings;
    struct pd_chain_settings chains; /* checked only */
};

static int refuse(const struct reader *reader, const char *key)
{
    return pd_warning(reader->context, PERFDATA_ISSUE_CONFIG, -1,
                      "bad config value for '%s', ignoring...\n", key);
}

/* Counts as perf does: with k, m or g, and in 32 bits. A number below 0 and a text that is no
 * number both end in a column of their own. */
static int take_alignment(const struct reader *reader, const char *key, const char *value)
{
    uint64_t number;
    reader->settings->alignment = ALIGNMENT;
    if (!pd_config_number(value, &number))
        return refuse(reader, key);
    int32_t column = (int32_t)(uint32_t)number;
    reader->settings->alignment = column < 0 ? 0 : (size_t)column;
    return 0;
}

/* perf says that it ignores a value that is neither yes nor no, but takes it for yes. */
static int take_entry(void *data, const char *key, const char *value)
{
    struct reader *reader = data;
    struct pd_trace_settings *settings = reader->settings;
    const struct {
        const char *key;
        bool *out, means; /* *out becomes `means` where the setting is on */
    } rows[] = {
        { "trace.show_timestamp", &settings->no_time, false },
        { "trace.show_duration", &settings->no_duration, false },
        { "trace.show_arg_names", &settings->no_names, false },
        { "trace.show_zeros", &settings->zeros, true },
    };
    bool known;
    int truth = pd_config_truth(value),
        taken = pd_chain_settings_take(reader->context, &reader->chains, key, value, &known);
    if (known)
        return taken;
    if (!strcmp(key, "trace.args_alignment"))
        return take_alignment(reader, key, value);
    for (size_t i = 0; i < PD_LENGTH(rows); i++) {
        if (strcmp(key, rows[i].key) != 0)
            continue;
        *rows[i].out = (truth != 0) == rows[i].means;
        return truth < 0 ? refuse(reader, key) : 0;
    }
    bool of_prefix = !strcmp(key, "trace.show_prefix");
    if (truth < 0 && (of_prefix || !strcmp(key, "trace.no_inherit")))
        taken = refuse(reader, key);
    if (taken == 0 && of_prefix && truth)
        return pd_issue(reader->context, PERFDATA_ISSUE_UNSUPPORTED, -1,
                        "perfconfig: %s is not supported yet: words stand without their prefix",
                        key);
    return taken; /* of recording, or of what changes nothing here */
}

perfdata_status pd_trace_settings_take(struct pd_context *context,
                                       const struct perfdata_syscalls_options *options,
                                       struct pd_trace_settings *settings)
{
    const struct pd_config_places places = PD_CONFIG_PLACES(options);
    struct reader reader = { .context = context, .settings = settings };
    *settings = (struct pd_trace_settings){ .alignment = ALIGNMENT };
    int status = pd_config_read(context, &places, take_entry, &reader);
    return status < 0 ? (perfdata_status)status : PERFDATA_OK;
}
