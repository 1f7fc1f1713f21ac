/* SPDX-License-Identifier: MIT */
/* The event intel_pt// and the machine -> its attr, and what AUXTRACE_INFO says. */
#include "record/trace/intel_pt.h"
#include <stdlib.h>

#define FOLDER PD_PMU_FOLDER "/" PD_INTEL_PT

static uint64_t capability(const struct pd_roots *roots, const char *name)
{
    char *text = pd_roots_read(roots, NULL, FOLDER "/caps/%s", name);
    uint64_t value = text ? strtoull(text, NULL, 16) : 0;
    free(text);
    return value;
}

static bool has_term(const struct pd_roots *roots, const char *name)
{
    unsigned word;
    return pd_pmu_mask(roots, PD_INTEL_PT, name, &word) != 0;
}

static void set_term(const struct pd_roots *roots, struct pd_attr *attr, const char *name,
                     uint64_t value)
{
    uint64_t most;
    char *format = pd_roots_read(roots, NULL, FOLDER "/format/%s", name);
    if (format)
        (void)pd_pmu_set(attr, format, value, &most);
    free(format);
}

/* The supported value next to 3, downwards first: perf's choice. */
static unsigned nearest(uint64_t supported)
{
    enum { WANTED = 3 };
    for (int value = WANTED; value >= 0; value--)
        if (supported >> value & 1)
            return (unsigned)value;
    for (unsigned value = WANTED + 1; value < 64; value++)
        if (supported >> value & 1)
            return value;
    return 0;
}

void pd_intel_pt_default(const struct pd_roots *roots, struct pd_attr *attr)
{
    uint64_t mtc = capability(roots, "mtc") ? capability(roots, "mtc_periods") : 0;
    uint64_t psb = capability(roots, "psb_periods");
    set_term(roots, attr, "tsc", 1);
    if (mtc) {
        set_term(roots, attr, "mtc", 1);
        set_term(roots, attr, "mtc_period", nearest(mtc));
    }
    if (capability(roots, "psb_cyc") && mtc && psb)
        set_term(roots, attr, "psb_period", nearest(psb));
    if (has_term(roots, "pt") && has_term(roots, "branch")) {
        set_term(roots, attr, "pt", 1);
        set_term(roots, attr, "branch", 1);
    }
}

/* The trace in a sample is short, so it gets as many points as possible at which decoding can
 * begin. */
void pd_intel_pt_default_sampled(const struct pd_roots *roots, struct pd_attr *attr, uint64_t said)
{
    unsigned word = 0;
    uint64_t mask = pd_pmu_mask(roots, PD_INTEL_PT, "psb_period", &word);
    if (!(mask & said) && !word)
        attr->config &= ~mask;
}

static uint64_t get_term(const struct pd_roots *roots, const struct pd_attr *attr, const char *name)
{
    unsigned word;
    uint64_t mask = pd_pmu_mask(roots, PD_INTEL_PT, name, &word);
    return mask && !word ? (attr->config & mask) >> __builtin_ctzll(mask) : 0;
}

/* "0,3-5,9": a run of two is two numbers. */
static void list_values(uint64_t supported, struct pd_text *out)
{
    for (unsigned value = 0; value < 64; value++) {
        unsigned last = value;
        if (!(supported >> value & 1))
            continue;
        while (last < 63 && supported >> (last + 1) & 1)
            last++;
        pd_text_format(out, "%s%u", out->length ? "," : "", value);
        if (last > value)
            pd_text_format(out, "%c%u", last == value + 1 ? ',' : '-', last);
        value = last;
    }
    pd_text_char(out, 0);
}

static perfdata_status check_value(struct pd_context *context, const struct pd_roots *roots,
                                   const struct pd_attr *attr, const char *needs, const char *caps,
                                   const char *name)
{
    struct pd_text values = { 0 };
    bool can = !needs || capability(roots, needs);
    uint64_t supported = (can ? capability(roots, caps) : 0) | 1;
    uint64_t value = get_term(roots, attr, name);
    if (value < 64 && supported >> value & 1)
        return PERFDATA_OK;
    list_values(supported, &values);
    perfdata_status status = pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                                     "Invalid %s for " PD_INTEL_PT ". Valid values are: %s", name,
                                     values.failed ? "?" : values.data);
    pd_text_free(&values);
    return status;
}

bool pd_intel_pt_force(const struct pd_roots *roots, struct pd_attr *attr)
{
    if (!has_term(roots, "pt") || get_term(roots, attr, "pt"))
        return false;
    set_term(roots, attr, "pt", 1);
    return true;
}

uint64_t pd_intel_pt_psb_bytes(const struct pd_roots *roots, const struct pd_attr *attr)
{
    enum { SMALLEST = 11, ONE_ENTRY = 256 };
    if (!capability(roots, "topa_multiple_entries"))
        return ONE_ENTRY;
    return UINT64_C(1) << (get_term(roots, attr, "psb_period") + SMALLEST);
}

perfdata_status pd_intel_pt_check(struct pd_context *context, const struct pd_roots *roots,
                                  struct pd_attr *attr)
{
    perfdata_status status = check_value(context, roots, attr, "psb_cyc", "cycle_thresholds",
                                         "cyc_thresh");
    if (status == PERFDATA_OK)
        status = check_value(context, roots, attr, "mtc", "mtc_periods", "mtc_period");
    if (status == PERFDATA_OK)
        status = check_value(context, roots, attr, "psb_cyc", "psb_periods", "psb_period");
    return status;
}
