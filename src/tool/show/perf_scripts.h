/* SPDX-License-Identifier: MIT */
/* Scripts made for perf: those in Python are run by python3 with the package perfdata. */
#ifndef PERFDATA_TOOL_PERF_SCRIPTS_H
#define PERFDATA_TOOL_PERF_SCRIPTS_H
#include "tool/tool.h"

enum { TOOL_SCRIPT_WORDS = 96 };

/* The command line of python3, as it grows. */
struct tool_script {
    const char *words[TOOL_SCRIPT_WORDS];
    size_t count;
    bool too_many;
};

/* Appends a word, or an option with its value; nothing where the value is NULL. */
void tool_script_word(struct tool_script *script, const char *word);
void tool_script_option(struct tool_script *script, const char *option, const char *value);

/* Whether a script of that name comes with perf. */
bool tool_is_script(const char *name);
/* Runs the script of that path or name with its arguments, which NULL ends. `script` holds the
 * options given so far. */
enum tool_exit tool_run_script(struct tool *tool, struct tool_script *script, const char *name,
                               char **arguments);
/* -l: the scripts that come with perf or, where they are not installed, what does their work. */
enum tool_exit tool_list_scripts(struct tool *tool, struct tool_script *script);
/* -g: a script for the events of a recording. */
enum tool_exit tool_generate_script(struct tool *tool, struct tool_script *script);

#endif
