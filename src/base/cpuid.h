/* SPDX-License-Identifier: MIT */
/* The processor's id as headers of recordings have it: "GenuineIntel,6,143,8". */
#ifndef PD_BASE_CPUID_H
#define PD_BASE_CPUID_H
#include <stdbool.h>
#include <stddef.h>

enum { PD_CPUID_SIZE = 128 };

/* The value of the first line of `cpuinfo` with this key, without blanks around it and with one
 * where it has several. False: there is none. */
bool pd_cpuinfo_value(const char *cpuinfo, const char *key, char *out, size_t size);
/* Makes the id from the text of /proc/cpuinfo. False: that does not have the four parts, as on
 * machines other than x86. */
bool pd_cpuid_from(const char *cpuinfo, char id[PD_CPUID_SIZE]);
/* The id of the machine that the program runs on. */
bool pd_cpuid_of_this_machine(char id[PD_CPUID_SIZE]);

#endif
