/* SPDX-License-Identifier: MIT */
/* --code of the verbs that make a page. */
#ifndef PERFDATA_TOOL_PAGE_CODE_H
#define PERFDATA_TOOL_PAGE_CODE_H
#include "tool/profile.h"
#include <perfdata/page.h>

#define TOOL_ROW_PAGE_CODE                                                                         \
    {                                                                                              \
        TOOL_FLAG, 0, "code", NULL,                                                                \
            "source and instructions, by objdump, of functions with 0.1 % and more of the "        \
            "samples",                                                                             \
            FIELD(code)                                                                            \
    }

/* Reads the recording a second time, with `open`; its issues have been told. TOOL_DONE with *out
 * NULL where `wanted` is 0; else the code, for perfdata_page_code_free(), or the code of a failure
 * after a message. */
enum tool_exit tool_page_code(struct tool *tool, int wanted, const char *name,
                              const struct perfdata_profile_options *how,
                              const struct perfdata_options *open, perfdata_page_code **out);

#endif
