/* SPDX-License-Identifier: MIT */
/* The settings of perfconfig files that perf checks whatever it is asked to do: of call chains, of
 * percentages, of the compiler, and two that are yes or no. */
#ifndef PD_SETTINGS_H
#define PD_SETTINGS_H
#include "base/context.h"
#include "io/config.h"

/* Empty: not set. */
struct pd_chain_settings {
    char mode[16], order[16], key[16], threshold[32], limit[32];
    bool relative; /* hist.percentage */
};

/* An entry of a file, when it is one of these; `*known` says so. A value that perf refuses is an
 * error with its text. */
int pd_chain_settings_take(struct pd_context *context, struct pd_chain_settings *settings,
                           const char *key, const char *value, bool *known);
/* Those of all files, and lines that do not parse: what perf does first, whatever the verb. With a
 * verb what it checks alone: of `record`, `kmem` and `help`; others check what they take. */
int pd_settings_check(struct pd_context *context, const struct pd_config_places *places,
                      const char *verb);

#endif
