/* SPDX-License-Identifier: MIT */
/* What perfconfig files set of annotated code. */
#include "io/config.h"
#include "render/annotate/annotation.h"
#include <perfdata/annotate.h>
#include <stdio.h>

struct reader {
    struct pd_context *context;
    struct perfdata_annotate_options *options;
    struct pd_annotate_settings *settings;
};

static int take_flag(const struct reader *reader, const char *key, const char *value, uint64_t flag)
{
    int given = pd_config_truth(value);
    if (given < 0)
        return pd_warning(reader->context, PERFDATA_ISSUE_CONFIG, -1,
                          "bad config value for '%s', ignoring...\n", key);
    if (given)
        reader->options->flags |= flag;
    return 0;
}

static int take_entry(void *data, const char *key, const char *value)
{
    static const char section[] = "annotate.";
    struct reader *reader = data;
    struct pd_annotate_settings *settings = reader->settings;
    if (strncmp(key, section, sizeof section - 1) != 0)
        return 0;
    key += sizeof section - 1;
    if (!strcmp(key, "show_nr_samples"))
        return take_flag(reader, key, value, PERFDATA_ANNOTATE_SAMPLES);
    if (!strcmp(key, "show_total_period"))
        return take_flag(reader, key, value, PERFDATA_ANNOTATE_TOTAL_PERIOD);
    if (strcmp(key, "disassembler_style") != 0)
        return 0; /* of a terminal: nothing of this text */
    if (value && (size_t)snprintf(settings->style, sizeof settings->style, "%s", value) <
                     sizeof settings->style)
        return 0;
    settings->style[0] = 0;
    return pd_issue(reader->context, PERFDATA_ISSUE_CONFIG, -1,
                    "perfconfig: annotate.%s is no style of objdump", key);
}

perfdata_status pd_annotate_settings_take(struct pd_context *context,
                                          struct perfdata_annotate_options *options,
                                          struct pd_annotate_settings *settings)
{
    struct pd_config_places places = PD_CONFIG_PLACES(options);
    struct reader reader = { context, options, settings };
    int status = pd_config_read(context, &places, take_entry, &reader);
    if (status < 0)
        return status;
    if (*settings->style && !options->style)
        options->style = settings->style;
    return PERFDATA_OK;
}
