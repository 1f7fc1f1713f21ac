/* SPDX-License-Identifier: MIT */
/* The settings of perf's configuration files, for who has settings of their own there. What the
 * library itself honours it reads on its own. */
#ifndef PERFDATA_CONFIG_H
#define PERFDATA_CONFIG_H
#include <perfdata/status.h>
#include <stddef.h>

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

/* What perf checks of the same files before it reads anything. `verb` NULL: what it checks whatever
 * it is asked to do, that each line parses and the values of call-graph.*, hist.percentage, llvm.*,
 * ui.show-headers and stat.big-num. A verb of perf's: what that verb checks besides; what the
 * library honours for it, it checks when it is run. `on_issue` (may be NULL) gets what perf warns
 * of; issues last during the call. A value that perf refuses is PERFDATA_ERROR_ARGUMENT, with
 * perf's text, without the last newline, in `error`, which is cut to `size` bytes with its NUL.
 * PERFDATA_OK otherwise. Since 0.1. */
PERFDATA_API perfdata_status
perfdata_settings_check(const char *only, const char *home, const char *verb,
                        void (*on_issue)(void *data, const struct perfdata_issue *issue),
                        void *issue_data, char *error, size_t size);
/* A value that is yes or no: 1 or 0, and -1 where it is neither, which perf takes for a yes. Since
 * 0.1. */
PERFDATA_API int perfdata_setting_truth(const char *value);

#ifdef __cplusplus
}
#endif
#endif
