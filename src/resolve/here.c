/* SPDX-License-Identifier: MIT */
/* The header's features -> whether they are this machine's. */
#include "resolve/here.h"
#include "format/names.h"
#include <string.h>
#include <sys/utsname.h>

bool pd_recorded_here(const struct pd_features *features)
{
    struct utsname here;
    return !features || !features->hostname.present || !*features->hostname.text.text ||
           uname(&here) || !strcmp(features->hostname.text.text, here.nodename);
}

bool pd_arch_is_here(const struct pd_features *features)
{
    struct utsname here;
    return !features || !features->arch.present || !*features->arch.text.text || uname(&here) ||
           !strcmp(pd_arch_normalise(features->arch.text.text), pd_arch_normalise(here.machine));
}

bool pd_kernel_runs_here(const struct pd_features *features)
{
    struct utsname here;
    bool release = !features || !features->osrelease.present || !*features->osrelease.text.text ||
                   uname(&here) || !strcmp(features->osrelease.text.text, here.release);
    return release && pd_arch_is_here(features);
}
