/* SPDX-License-Identifier: MIT */
/* What is kept of a kernel's memory: its code and that of its modules. */
#ifndef PD_KCORE_COPY_H
#define PD_KCORE_COPY_H
#include "base/context.h"
#include <stdio.h>

/* Copies out of the folder `from`, which has kcore, kallsyms and modules as /proc has them, into
 * the folder `into`: the part of kcore from `start` to `end` and from the first module to the last,
 * and the other two as they are. Both are descriptors. A file that is there already is an error;
 * after one, part of the copy may be left. */
perfdata_status pd_kcore_copy(struct pd_context *context, int from, int into, uint64_t start,
                              uint64_t end);
/* Opens a file of lines as /proc has them, without waiting for whoever may write into a FIFO of
 * that name. NULL and errno. */
FILE *pd_open_lines(const char *path);
/* Where the kernel's text lies by this kallsyms. False: it does not tell, or hides it. */
bool pd_kernel_text_range(const char *kallsyms, uint64_t *start, uint64_t *end);

#endif
