/* SPDX-License-Identifier: MIT */
/* What a function of the library writes, kept in memory. */
#ifndef PERFDATA_TOOL_TEXT_H
#define PERFDATA_TOOL_TEXT_H
#include <stddef.h>

struct tool_text {
    char *text; /* by malloc(), a NUL behind it; NULL: nothing was written */
    size_t length, capacity;
};

/* A perfdata_write_fn; `data` is a struct tool_text. It fails without memory. */
int tool_text_take(void *data, const char *text, size_t length);

#endif
