/* SPDX-License-Identifier: MIT */
/* perfconfig files: "[section]", "key = value". */
#ifndef PD_CONFIG_H
#define PD_CONFIG_H
#include "base/context.h"

/* Where perf looks: `only` (PERF_CONFIG) or, without it, `system` and then `home`/.perfconfig;
 * NULL: not. */
struct pd_config_places {
    const char *only, *system, *home;
};

/* For an options structure with members perf_config and home. */
#define PD_CONFIG_PLACES(options)                                                                  \
    {                                                                                              \
        .only = (options)->perf_config,                                                            \
        .system = (options)->search.home ? "/etc/perfconfig" : NULL,                               \
        .home = (options)->search.home                                                             \
    }

/* Calls `each` with "section.key" in the files' order. Stops when it returns non-zero, and returns
 * that. A file that is not there is empty; a line that does not parse ends its file with an
 * issue. */
typedef int (*pd_config_fn)(void *data, const char *key, const char *value);
int pd_config_read(struct pd_context *context, const struct pd_config_places *places,
                   pd_config_fn each, void *data);
/* The same of a file's text. False: line *line does not parse. */
bool pd_config_parse(const char *text, size_t size, pd_config_fn each, void *data, int *result,
                     unsigned *line);
/* perf's number: of strtoull, with k, m or g behind it. False: it is none. */
bool pd_config_number(const char *value, uint64_t *out);
/* One of perf's words for yes and no, or a number. -1: neither. */
int pd_config_truth(const char *value);

#endif
