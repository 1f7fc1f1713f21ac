/* SPDX-License-Identifier: MIT */
#ifndef PERFDATA_TOOL_DLFILTERS_H
#define PERFDATA_TOOL_DLFILTERS_H
#include "tool/tool.h"

enum tool_exit tool_list_dlfilters(struct tool *tool);

#endif
