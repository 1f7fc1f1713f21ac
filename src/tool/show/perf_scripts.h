/* SPDX-License-Identifier: MIT */
/* Scripts of perf, which are not run: what does their work here. */
#ifndef PERFDATA_TOOL_PERF_SCRIPTS_H
#define PERFDATA_TOOL_PERF_SCRIPTS_H
#include "tool/tool.h"

/* script -l: each with what does it here. */
enum tool_exit tool_list_scripts(struct tool *tool);
/* Refuses a script by name or path ("flamegraph", "python:x/flamegraph.py") and names what to use instead. */
enum tool_exit tool_refuse_script(struct tool *tool, const char *name);
/* A script of perf has this name. */
bool tool_is_script(const char *name);

#endif
