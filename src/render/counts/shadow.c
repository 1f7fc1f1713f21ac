/* SPDX-License-Identifier: MIT */
/* A count and the means of the events it depends on -> what perf stat prints behind it. */
#include "render/counts/shadow.h"

enum {
    METRIC_WIDTH = 35,
    HARDWARE = PD_TYPE_HARDWARE,
    SOFTWARE = PD_TYPE_SOFTWARE,
    CACHE = PD_TYPE_HW_CACHE,
    MISS = 1 << 16 /* in config of cache events: result miss, operation read */
};

void pd_mean_add(struct pd_mean *mean, double value)
{
    mean->count++;
    mean->mean += (value - mean->mean) / mean->count;
}

bool pd_event_is_clock(const struct pd_event *event)
{
    return event->attr.type == SOFTWARE && event->attr.config <= PD_SW_TASK_CLOCK;
}

static unsigned context_of(const struct pd_event *event)
{
    static const uint8_t excludes[] = { PD_ATTR_EXCLUDE_KERNEL, PD_ATTR_EXCLUDE_USER,
                                        PD_ATTR_EXCLUDE_HV, PD_ATTR_EXCLUDE_HOST,
                                        PD_ATTR_EXCLUDE_IDLE };
    unsigned context = 0;
    for (unsigned i = 0; i < PD_LENGTH(excludes); i++)
        context |= (unsigned)pd_attr_flag(&event->attr, excludes[i]) << i;
    return context;
}

/* Numbers of the kernel's generalised events. */
static const struct base_row {
    uint32_t type, config;
    enum pd_shadow_base base;
} bases[] = {
    { HARDWARE, PD_HW_CPU_CYCLES, PD_SHADOW_CYCLES },
    { HARDWARE, PD_HW_STALLED_CYCLES_FRONTEND, PD_SHADOW_STALLED_FRONT },
    { HARDWARE, PD_HW_STALLED_CYCLES_BACKEND, PD_SHADOW_STALLED_BACK },
    { HARDWARE, PD_HW_BRANCH_INSTRUCTIONS, PD_SHADOW_BRANCHES },
    { HARDWARE, PD_HW_CACHE_REFERENCES, PD_SHADOW_CACHE_REFS },
    { CACHE, PD_CACHE_L1D, PD_SHADOW_L1D },
    { CACHE, PD_CACHE_L1I, PD_SHADOW_L1I },
    { CACHE, PD_CACHE_LL, PD_SHADOW_LL },
    { CACHE, PD_CACHE_DTLB, PD_SHADOW_DTLB },
    { CACHE, PD_CACHE_ITLB, PD_SHADOW_ITLB },
};

/* How a count is related to its base: per unit of it, or in percent. */
static const struct metric_row {
    uint32_t type, config;
    enum pd_shadow_base base;
    const char *sign; /* behind the number of two decimals; NULL: three, and no sign */
    const char *unit;
    double factor;
} metrics[] = {
    { HARDWARE, PD_HW_CPU_CYCLES, PD_SHADOW_TIME, NULL, "GHz", 1 },
    { HARDWARE, PD_HW_INSTRUCTIONS, PD_SHADOW_CYCLES, " ", "insn per cycle", 1 },
    { HARDWARE, PD_HW_BRANCH_MISSES, PD_SHADOW_BRANCHES, "%", "of all branches", 100 },
    { HARDWARE, PD_HW_CACHE_MISSES, PD_SHADOW_CACHE_REFS, NULL, "% of all cache refs", 100 },
    { HARDWARE, PD_HW_STALLED_CYCLES_FRONTEND, PD_SHADOW_CYCLES, "%", "frontend cycles idle", 100 },
    { HARDWARE, PD_HW_STALLED_CYCLES_BACKEND, PD_SHADOW_CYCLES, "%", "backend cycles idle", 100 },
    { CACHE, MISS | PD_CACHE_L1D, PD_SHADOW_L1D, "%", "of all L1-dcache accesses", 100 },
    { CACHE, MISS | PD_CACHE_L1I, PD_SHADOW_L1I, "%", "of all L1-icache accesses", 100 },
    { CACHE, MISS | PD_CACHE_LL, PD_SHADOW_LL, "%", "of all LL-cache accesses", 100 },
    { CACHE, MISS | PD_CACHE_DTLB, PD_SHADOW_DTLB, "%", "of all dTLB cache accesses", 100 },
    { CACHE, MISS | PD_CACHE_ITLB, PD_SHADOW_ITLB, "%", "of all iTLB cache accesses", 100 },
};

static bool is_event(const struct pd_event *event, uint32_t type, uint32_t config)
{
    return event->attr.type == type && event->attr.config == config;
}

void pd_shadow_add(struct pd_shadow *shadow, const struct pd_event *event, uint64_t value)
{
    unsigned context = context_of(event);
    if (pd_event_is_clock(event)) {
        pd_mean_add(&shadow->bases[PD_SHADOW_TIME][0], (double)value);
        return;
    }
    double scaled = (double)(uint64_t)((double)value * event->scale);
    for (size_t i = 0; i < PD_LENGTH(bases); i++)
        if (is_event(event, bases[i].type, bases[i].config))
            pd_mean_add(&shadow->bases[bases[i].base][context], scaled);
}

void pd_shadow_put_nothing(struct pd_text *out)
{
    pd_text_fill(out, ' ', METRIC_WIDTH);
}

static void put(struct pd_text *out, const char *unit, const char *sign, double value)
{
    size_t from = out->length;
    pd_text_string(out, " # ");
    if (sign)
        pd_text_format(out, "%7.2f%s", value, sign);
    else
        pd_text_format(out, "%8.3f", value);
    pd_text_char(out, ' ');
    pd_text_string(out, unit);
    pd_text_pad(out, from, METRIC_WIDTH);
}

/* The idle cycles per instruction, which stand in a line of their own. */
static void put_stalled(const struct pd_shadow *shadow, unsigned context, double value,
                        const char *begin, struct pd_text *out)
{
    const struct pd_mean *front = &shadow->bases[PD_SHADOW_STALLED_FRONT][context],
                         *back = &shadow->bases[PD_SHADOW_STALLED_BACK][context];
    double stalled = PD_MAX(front->mean, back->mean);
    if (stalled == 0 || value == 0)
        return;
    pd_text_char(out, '\n');
    pd_text_string(out, begin);
    put(out, "stalled cycles per insn", " ", stalled / value);
}

static void put_rate(double value, double time, struct pd_text *out)
{
    static const struct {
        double above;
        const char *unit;
    } units[] = { { 1e9, "G/sec" }, { 1e6, "M/sec" }, { 1e3, "K/sec" }, { 0, "/sec" } };
    double rate = time != 0 ? 1e9 * value / time : 0;
    size_t i = 0;
    while (i + 1 < PD_LENGTH(units) && rate <= units[i].above)
        i++;
    put(out, units[i].unit, NULL, units[i].above != 0 ? rate / units[i].above : rate);
}

void pd_shadow_put(const struct pd_shadow *shadow, const struct pd_event *event, double value,
                   double wall, const char *begin, struct pd_text *out)
{
    unsigned context = context_of(event);
    if (pd_event_is_clock(event)) {
        if (wall != 0)
            put(out, "CPUs utilized", NULL, value / wall);
        else
            pd_shadow_put_nothing(out);
        return;
    }
    for (size_t i = 0; i < PD_LENGTH(metrics); i++) {
        const struct metric_row *row = &metrics[i];
        if (!is_event(event, row->type, row->config))
            continue;
        unsigned of = row->base == PD_SHADOW_TIME ? 0 : context;
        const struct pd_mean *base = &shadow->bases[row->base][of];
        bool front = row->type == HARDWARE && row->config == PD_HW_STALLED_CYCLES_FRONTEND;
        if (base->mean != 0 && !(front && value == 0))
            put(out, row->unit, row->sign, value / base->mean * row->factor);
        else
            pd_shadow_put_nothing(out);
        if (row->type == HARDWARE && row->config == PD_HW_INSTRUCTIONS)
            put_stalled(shadow, context, value, begin, out);
        return;
    }
    const struct pd_mean *time = &shadow->bases[PD_SHADOW_TIME][0];
    if (time->count != 0)
        put_rate(value, time->mean, out);
    else
        pd_shadow_put_nothing(out);
}
