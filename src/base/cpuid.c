/* SPDX-License-Identifier: MIT */
/* Finds the processor's id in the text of /proc/cpuinfo. */
#include "base/cpuid.h"
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool pd_cpuinfo_value(const char *cpuinfo, const char *key, char *out, size_t size)
{
    size_t length = strlen(key), used = 0;
    for (const char *line = cpuinfo; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *value = line + length;
        if (strncmp(line, key, length) != 0 || !strchr(" \t:", *value))
            continue;
        value += strspn(value, " \t:");
        for (; *value && *value != '\n' && used + 1 < size; value++)
            if (!isspace((unsigned char)*value) || (used && !isspace((unsigned char)out[used - 1])))
                out[used++] = *value;
        while (used && isspace((unsigned char)out[used - 1]))
            used--;
        out[used] = 0;
        return true;
    }
    return false;
}

bool pd_cpuid_from(const char *cpuinfo, char id[PD_CPUID_SIZE])
{
    char vendor[64], family[16], model[16], stepping[16];
    if (!pd_cpuinfo_value(cpuinfo, "vendor_id", vendor, sizeof vendor) ||
        !pd_cpuinfo_value(cpuinfo, "cpu family", family, sizeof family) ||
        !pd_cpuinfo_value(cpuinfo, "model", model, sizeof model) ||
        !pd_cpuinfo_value(cpuinfo, "stepping", stepping, sizeof stepping))
        return false;
    snprintf(id, PD_CPUID_SIZE, "%s,%s,%s,%s", vendor, family, model, stepping);
    return true;
}

bool pd_cpuid_of_this_machine(char id[PD_CPUID_SIZE])
{
    char text[4096]; /* the first processor's first lines are all that counts */
    int file = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    if (size <= 0)
        return false;
    text[size] = 0;
    return pd_cpuid_from(text, id);
}
