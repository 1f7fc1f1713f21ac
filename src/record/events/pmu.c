/* SPDX-License-Identifier: MIT */
/* Formats of PMUs in sysfs, such as "config1:0-7,32-35" -> the bits of an attribute. */
#include "record/events/events.h"
#include <stdlib.h>

uint64_t *pd_pmu_config(struct pd_attr *attr, unsigned word)
{
    return word == 3   ? &attr->config3
           : word == 2 ? &attr->bp_len
           : word == 1 ? &attr->bp_addr
                       : &attr->config;
}

/* "config1:0-7,32-35" */
static bool parse_format(const char *format, unsigned *word, uint64_t *mask)
{
    const char *at = strchr(format, ':');
    *word = 0;
    *mask = 0;
    if (strncmp(format, "config", 6) != 0 || !at || at - format > 7)
        return false;
    if (at - format == 7)
        *word = (unsigned)(format[6] - '0');
    do {
        char *end;
        unsigned long low = strtoul(at + 1, &end, 10), high = low;
        if (end == at + 1)
            return false;
        if (*end == '-')
            high = strtoul(end + 1, &end, 10);
        if (low > high || high > 63)
            return false;
        *mask |= (high - low == 63 ? UINT64_MAX : (UINT64_C(1) << (high - low + 1)) - 1) << low;
        at = end;
    } while (*at == ',');
    return *word <= 3 && *mask;
}

bool pd_pmu_set(struct pd_attr *attr, const char *format, uint64_t value, uint64_t *most)
{
    unsigned word, used = 0;
    uint64_t mask;
    if (!parse_format(format, &word, &mask))
        return false;
    unsigned room = (unsigned)__builtin_popcountll(mask);
    *most = room == 64 ? UINT64_MAX : (UINT64_C(1) << room) - 1;
    if (value > *most)
        return false;
    uint64_t *to = pd_pmu_config(attr, word);
    *to &= ~mask;
    for (unsigned bit = 0; bit < 64; bit++)
        if (mask >> bit & 1)
            *to |= (value >> used++ & 1) << bit;
    return true;
}

uint64_t pd_pmu_mask(const struct pd_roots *roots, const char *pmu, const char *term,
                     unsigned *word)
{
    uint64_t mask;
    char *format = pd_roots_read(roots, NULL, PD_PMU_FOLDER "/%s/format/%s", pmu, term);
    bool good = format && parse_format(format, word, &mask);
    free(format);
    return good ? mask : 0;
}
