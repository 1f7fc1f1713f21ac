/* SPDX-License-Identifier: MIT */
/* A file without a name, gone when it is closed: in TMPDIR or /tmp, else in memory. */
#ifndef PD_IO_TEMPORARY_H
#define PD_IO_TEMPORARY_H

/* A descriptor, -1: none can be had. */
int pd_temporary_file(void);

#endif
