/* SPDX-License-Identifier: MIT */
/* A recording that is a directory because a copy of the kernel lies in it (kcore_dir) becomes such
 * a directory again. */
#ifndef PD_REWRITE_KERNEL_COPY_H
#define PD_REWRITE_KERNEL_COPY_H
#include "rewrite/rewrite.h"

struct pd_kernel_copy {
    struct pd_context *context;
    struct perfdata_output output; /* where the recording itself goes */
    char *from, *to, *data;        /* NULL: it is no such recording, or goes to no file */
};

/* Then pd_kernel_copy_end(), also after a failure. */
perfdata_status pd_kernel_copy_begin(struct pd_recording *recording,
                                     const struct perfdata_output *output,
                                     struct pd_kernel_copy *out);
perfdata_status pd_kernel_copy_end(struct pd_kernel_copy *copy, perfdata_status status);

#endif
