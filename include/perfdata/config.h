/* SPDX-License-Identifier: MIT */
/* The settings of perf's configuration files, for who has settings of their own there. What the
 * library itself honours it reads on its own. */
#ifndef PERFDATA_CONFIG_H
#define PERFDATA_CONFIG_H
#include <perfdata/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A setting "section.key" in the files' order, a later one holds. The strings live during the
 * call. 0 to go on; anything else ends the reading. Since 0.1. */
typedef int (*perfdata_setting_fn)(void *data, const char *key, const char *value);

/* Reads `only` (what PERF_CONFIG names), or where that is NULL /etc/perfconfig and
 * home/.perfconfig; `home` NULL: neither. A file that is not there has no settings; one that does
 * not parse gives those before the line that does not. Returns what `each` returned last. Since
 * 0.1. */
PERFDATA_API int perfdata_settings(const char *only, const char *home, perfdata_setting_fn each,
                                   void *data);

#ifdef __cplusplus
}
#endif
#endif
