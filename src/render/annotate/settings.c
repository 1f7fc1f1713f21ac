/* SPDX-License-Identifier: MIT */
/* What perfconfig files set of annotated code. */
#include "io/config.h"
#include "io/settings.h"
#include "render/annotate/annotation.h"
#include <perfdata/annotate.h>
#include <stdio.h>

struct reader {
    struct pd_context *context;
    struct perfdata_annotate_options *options;
    struct pd_annotate_settings *settings;
    struct pd_chain_settings chains; /* checked only */
};

static int take_flag(const struct reader *reader, const char *key, const char *value, uint64_t flag)
{
    int given = pd_config_truth(value);
    if (given) /* perf says it ignores this value, but takes it for a yes */
        reader->options->flags |= flag;
    return given >= 0 ? 0
                      : pd_warning(reader->context, PERFDATA_ISSUE_CONFIG, -1,
                                   "bad config value for '%s', ignoring...\n", key);
}

static const struct {
    const char *key;
    uint64_t flag;
} switches[] = {
    { "show_nr_samples", PERFDATA_ANNOTATE_SAMPLES },
    { "show_total_period", PERFDATA_ANNOTATE_TOTAL_PERIOD },
    { "hide_src_code", PERFDATA_ANNOTATE_HIDE_SOURCE },
    { "show_linenr", PERFDATA_ANNOTATE_LINE_NUMBERS },
    { "show_nr_jumps", PERFDATA_ANNOTATE_JUMP_COUNTS },
};

static int take_entry(void *data, const char *key, const char *value)
{
    static const char section[] = "annotate.";
    struct reader *reader = data;
    struct pd_annotate_settings *settings = reader->settings;
    bool known;
    int taken = pd_chain_settings_take(reader->context, &reader->chains, key, value, &known);
    if (known)
        return taken;
    if (strncmp(key, section, sizeof section - 1) != 0)
        return 0;
    key += sizeof section - 1;
    for (size_t i = 0; i < PD_LENGTH(switches); i++)
        if (!strcmp(key, switches[i].key))
            return take_flag(reader, key, value, switches[i].flag);
    if ((!strcmp(key, "demangle") && pd_config_truth(value) < 0) ||
        (!strcmp(key, "offset_level") && strspn(value, "0123456789") == 0))
        return take_flag(reader, key, "no truth", 0);
    if (!strcmp(key, "demangle")) {
        if (!pd_config_truth(value) && !(reader->options->flags & PERFDATA_ANNOTATE_DEMANGLE))
            reader->options->flags |= PERFDATA_ANNOTATE_NO_DEMANGLE;
        return 0;
    }
    if (!strcmp(key, "offset_level"))
        return pd_issue(reader->context, PERFDATA_ISSUE_CONFIG, -1,
                        "perfconfig: annotate.%s is not honoured", key);
    if (!strcmp(key, "use_offset")) {
        if (!pd_config_truth(value))
            reader->options->flags |= PERFDATA_ANNOTATE_ADDRESSES;
        else if (pd_config_truth(value) < 0)
            return take_flag(reader, key, value, 0);
        return 0;
    }
    if (strcmp(key, "disassembler_style") != 0)
        return 0; /* settings of a terminal, which do not change this text */
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
    struct reader reader = { .context = context, .options = options, .settings = settings };
    int status = pd_config_read(context, &places, take_entry, &reader);
    if (status < 0)
        return status;
    if (*settings->style && !options->style)
        options->style = settings->style;
    return PERFDATA_OK;
}
