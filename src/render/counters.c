/* SPDX-License-Identifier: MIT */
/* A branch's word of counters -> the events that it counted. */
#include "render/counters.h"
#include <stdlib.h>

static unsigned number_of(const struct pd_part_pmu_cap *caps, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (caps[i].name.text && caps[i].value.text && !strcmp(caps[i].name.text, name))
            return (unsigned)strtoul(caps[i].value.text, NULL, 10);
    return 0;
}

/* A capability of the processor's PMU; where cores differ, that of the first PMU that has any. */
static unsigned capability(const struct pd_features *features, const char *name)
{
    unsigned number = number_of(features->cpu_pmu_caps.caps, features->cpu_pmu_caps.caps_count,
                                name);
    for (uint32_t i = 0; !number && i < features->pmu_caps.pmus_count; i++)
        number = number_of(features->pmu_caps.pmus[i].caps, features->pmu_caps.pmus[i].caps_count,
                           name);
    return number;
}

void pd_branch_counters_of(const struct pd_recording *recording, const struct pd_event *event,
                           struct pd_branch_counters *out)
{
    enum { BITS = 64 };
    *out = (struct pd_branch_counters){
        .width = capability(&recording->features, "branch_counter_width"),
        .slots = capability(&recording->features, "branch_counter_nr")
    };
    if (out->width >= BITS || out->slots > BITS || out->width * out->slots > BITS)
        out->width = out->slots = 0;
    const struct pd_event *leader = recording->events[event->leader];
    for (uint32_t i = 0; i < PD_MAX(leader->member_count, 1u); i++) {
        const struct pd_event *member = recording->events[leader->index + i];
        if (member->attr.branch_sample_type & PD_BRANCH_SAMPLE_COUNTERS &&
            out->count < PD_BRANCH_COUNTERS_MAX)
            out->events[out->count++] = member;
    }
}

void pd_branch_counters_text(const struct pd_branch_counters *counters, uint64_t word, bool names,
                             struct pd_text *text)
{
    bool some = false;
    if (!counters->width) {
        pd_text_hex_prefixed(text, word);
        return;
    }
    uint64_t full = (UINT64_C(1) << counters->width) - 1;
    for (unsigned i = 0; i < counters->count && (i + 1) * counters->width <= 64; i++) {
        uint64_t number = word >> i * counters->width & full;
        if (names) {
            pd_text_format(text, "%s%s %llu%s", i ? " " : "", counters->events[i]->name,
                           (unsigned long long)number, number == full ? "+" : "");
            some = true;
            continue;
        }
        for (uint64_t k = 0; k < number && k < PD_BRANCH_COUNTERS_MAX; k++)
            pd_text_char(text, (char)('A' + i));
        if (number == full)
            pd_text_char(text, '+');
        some |= number != 0;
    }
    if (!some)
        pd_text_char(text, '-');
}

void pd_branch_counters_list(const struct pd_branch_counters *counters, struct pd_text *text)
{
    pd_text_string(text, "# Branch counter abbr list:\n");
    for (unsigned i = 0; i < counters->count; i++)
        pd_text_format(text, "# %s = %c\n", counters->events[i]->name, 'A' + (int)i);
    pd_text_string(text, "# '-' No event occurs\n"
                         "# '+' Event occurrences may be lost due to branch counter saturated\n");
}
