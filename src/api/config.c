/* SPDX-License-Identifier: MIT */
/* <perfdata/config.h>: settings of configuration files. */
#include "io/config.h"
#include <perfdata/config.h>

int perfdata_settings(const char *only, const char *home, perfdata_setting_fn each, void *data)
{
    struct pd_context context;
    const struct pd_config_places places = { .only = only,
                                             .system = home ? "/etc/perfconfig" : NULL,
                                             .home = home };
    pd_context_init(&context);
    int result = pd_config_read(&context, &places, each, data);
    pd_context_fini(&context);
    return result;
}
