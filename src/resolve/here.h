/* SPDX-License-Identifier: MIT */
/* Is what the header says of the recording's machine true of this one? */
#ifndef PD_RESOLVE_HERE_H
#define PD_RESOLVE_HERE_H
#include "format/features.h"

/* May its processes still live here? Not if HOSTNAME is that of another machine; NULL or no
 * HOSTNAME: they may. */
bool pd_recorded_here(const struct pd_features *features);
/* May its kernel be the one that runs here? Not if OSRELEASE or ARCH differ from this machine's. */
bool pd_kernel_runs_here(const struct pd_features *features);
/* Has this machine's processor the recording's architecture, as far as ARCH says? */
bool pd_arch_is_here(const struct pd_features *features);

#endif
