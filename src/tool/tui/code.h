/* SPDX-License-Identifier: MIT */
/* The code of functions with the samples on each instruction, to walk through. It is printed by a
 * thread of its own: what there is so far is shown. */
#ifndef PERFDATA_TUI_CODE_H
#define PERFDATA_TUI_CODE_H
#include "tool/tui/screen.h"
#include <perfdata/annotate.h>

/* code_show() shows the code until the user leaves. `options` and what they point to may be used
 * longer than that: see the result. `message`: why there is nothing to see, or what to know of it;
 * "": nothing. */
enum code_end {
    CODE_ENDED,  /* the thread has ended, too */
    CODE_ENDING, /* it has not: nothing that it uses may be freed */
};
enum code_end code_show(struct screen *screen, struct tool *tool, const char *name,
                        const struct perfdata_annotate_options *options, char *message, size_t size,
                        perfdata_status *status);

#endif
