/* SPDX-License-Identifier: MIT */
/* The verbs, from verbs.def. */
#ifndef PERFDATA_TOOL_VERBS_H
#define PERFDATA_TOOL_VERBS_H
#include "tool/options.h"

#define VERB(identifier, name, group, summary) extern const struct tool_verb tool_verb_##identifier;
#include "tool/verbs.def"
#undef VERB

struct tool_verb_row {
    const struct tool_verb *verb;
    const char *name, *group, *summary;
};

/* For struct tool's `verbs`; ends with a row of NULLs. */
extern const struct tool_verb_row tool_verbs[];
/* NULL when there is none of that name. */
const struct tool_verb_row *tool_verb_find(const struct tool *tool, const char *name);
/* "perfdata: 'x' is not a verb; near: ..."; TOOL_USAGE, but called as perf the process ends with
 * 1. */
enum tool_exit tool_verb_unknown(struct tool *tool, const char *name);
/* What `perfdata` alone prints: what can be done. */
void tool_help_all(struct tool *tool);
void tool_version(struct tool *tool);
/* The version, and what this build was made with, in perf's form. */
void tool_build_options(struct tool *tool);
/* global.c: takes the options before the verb off argv[1..]; *done: one of them was all there is to
 * do. */
enum tool_exit tool_global_options(struct tool *tool, int *argc, char ***argv, bool *done);

/* generate.c: from the tables to man pages, completions and docs/options.md. */
enum tool_exit tool_generate_man(struct tool *tool, const char *verb);
enum tool_exit tool_generate_completion(struct tool *tool, const char *shell);
void tool_generate_options(struct tool *tool);

#endif
