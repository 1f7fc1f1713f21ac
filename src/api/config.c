/* SPDX-License-Identifier: MIT */
/* <perfdata/config.h>: settings of configuration files. */
#include "io/settings.h"
#include <perfdata/config.h>
#include <stdio.h>

static struct pd_config_places places_of(const char *only, const char *home)
{
    return (struct pd_config_places){ .only = only,
                                      .system = home ? "/etc/perfconfig" : NULL,
                                      .home = home };
}

int perfdata_settings(const char *only, const char *home, perfdata_setting_fn each, void *data)
{
    struct pd_context context;
    const struct pd_config_places places = places_of(only, home);
    pd_context_init(&context);
    int result = pd_config_read(&context, &places, each, data);
    pd_context_fini(&context);
    return result;
}

perfdata_status perfdata_settings_check(const char *only, const char *home, const char *verb,
                                        void (*on_issue)(void *data,
                                                         const struct perfdata_issue *issue),
                                        void *issue_data, char *error, size_t size)
{
    struct pd_context context;
    const struct pd_config_places places = places_of(only, home);
    pd_context_init(&context);
    context.on_issue = on_issue;
    context.issue_data = issue_data;
    perfdata_status status = pd_settings_check(&context, &places, verb);
    if (size)
        snprintf(error, size, "%s", status < 0 ? context.message : "");
    pd_context_fini(&context);
    return status;
}

int perfdata_setting_truth(const char *value)
{
    return pd_config_truth(value);
}
