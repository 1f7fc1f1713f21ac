/* SPDX-License-Identifier: MIT */
/* The texts of options -> numbers. */
#include "format/names.h"
#include "record/callgraph.h"
#include <perfdata/recorder.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static const struct {
    uint64_t bit;
    const char *word;
} branches[] = {
#define BRANCH(bit, word) { PD_BRANCH_SAMPLE_##bit, word },
#include "record/words.def"
};

static const struct {
    int32_t clock;
    const char *name, *word;
} clocks[] = {
#define CLOCK(name, word) { CLOCK_##name, #name, word },
#include "record/words.def"
};

perfdata_status perfdata_registers_parse(const char *text, uint64_t *mask)
{
    struct utsname system;
    *mask = text ? 0 : PD_CALL_GRAPH_REGISTERS;
    if (uname(&system) < 0)
        return PERFDATA_ERROR_UNSUPPORTED;
    for (const char *at = text; at && *at;) {
        size_t length = strcspn(at, ",");
        uint64_t before = *mask;
        for (unsigned i = 0; i < 64; i++) {
            const char *name = PD_CALL_GRAPH_REGISTERS >> i & 1
                                   ? pd_register_name(system.machine, i, 0)
                                   : NULL;
            if (name && strlen(name) == length && !strncasecmp(name, at, length))
                *mask |= UINT64_C(1) << i;
        }
        if (*mask == before)
            return PERFDATA_ERROR_ARGUMENT;
        at += length + (at[length] == ',');
    }
    return *mask ? PERFDATA_OK : PERFDATA_ERROR_ARGUMENT;
}

perfdata_status perfdata_branch_filter_parse(const char *text, uint64_t *mask)
{
    *mask = 0;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ","), i = 0;
        while (i < PD_LENGTH(branches) &&
               (strlen(branches[i].word) != length || strncmp(branches[i].word, at, length) != 0))
            i++;
        if (i == PD_LENGTH(branches))
            return PERFDATA_ERROR_ARGUMENT;
        *mask |= branches[i].bit;
        at += length + (at[length] == ',');
    }
    const uint64_t levels = PD_BRANCH_SAMPLE_USER | PD_BRANCH_SAMPLE_KERNEL | PD_BRANCH_SAMPLE_HV;
    if (!(*mask & ~levels)) /* the words say whose branches, but not which */
        *mask |= PD_BRANCH_SAMPLE_ANY;
    return PERFDATA_OK;
}

perfdata_status perfdata_call_graph_parse(const char *text, uint32_t *kind, uint32_t *stack_size)
{
    return pd_call_graph_parse(text, kind, stack_size) ? PERFDATA_OK : PERFDATA_ERROR_ARGUMENT;
}

perfdata_status perfdata_clock_parse(const char *text, int32_t *clock)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    if (end != text && !*end && number <= INT32_MAX) {
        *clock = (int32_t)number;
        return PERFDATA_OK;
    }
    const char *name = strncasecmp(text, "CLOCK_", 6) ? text : text + 6;
    for (size_t i = 0; i < PD_LENGTH(clocks); i++)
        if (!strcasecmp(name, clocks[i].name) || !strcasecmp(name, clocks[i].word)) {
            *clock = clocks[i].clock;
            return PERFDATA_OK;
        }
    return PERFDATA_ERROR_ARGUMENT;
}

/* A number of pages, or of bytes with a unit; rounded up to a power of two. */
static bool pages_of(const char *text, char **end, uint32_t *pages)
{
    static const char units[] = "BKMG";
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), count = strtoull(text, end, 10), power = 1;
    const char *unit = **end && **end != ',' ? strchr(units, **end) : NULL;
    if (*end == text)
        return false;
    if (unit) {
        if (count > UINT64_MAX >> 40)
            return false;
        count = ((count << (10 * (unit - units))) + page - 1) / page;
        ++*end;
    }
    while (power < count && power < UINT64_C(1) << 31)
        power *= 2;
    *pages = (uint32_t)power;
    return power >= count;
}

perfdata_status perfdata_pages_parse(const char *text, uint32_t *pages, uint32_t *aux_pages)
{
    char *end = (char *)(uintptr_t)text;
    *pages = *aux_pages = 0;
    if (*text != ',' && !pages_of(text, &end, pages))
        return PERFDATA_ERROR_ARGUMENT;
    if (*end == ',' && !pages_of(end + 1, &end, aux_pages))
        return PERFDATA_ERROR_ARGUMENT;
    return *end ? PERFDATA_ERROR_ARGUMENT : PERFDATA_OK;
}
