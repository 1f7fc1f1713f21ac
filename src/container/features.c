/* SPDX-License-Identifier: MIT */
/* The feature table behind the data, and each feature. A bad one is an issue; the next goes on. */
#include "container/internal.h"

/* More is not read: sections may overlap, and a hostile table may name the whole file 256 times. */
enum { TOTAL_MAX = 256 << 20 };

static perfdata_status read_table(struct pd_recording *recording, uint8_t table[256 * 16],
                                  size_t *got)
{
    uint64_t at;
    unsigned count = 0;
    for (unsigned i = 0; i < 4; i++)
        count += (unsigned)__builtin_popcountll(recording->feature_table.bits[i]);
    *got = 0;
    if (!count || recording->truncated || recording->unfinished)
        return PERFDATA_OK;
    at = recording->data.offset + recording->data.size; /* checked: it lies in the file */
    recording->feature_table.offset = at;
    perfdata_status status = pd_source_read(recording->source, at, table, 16u * count, got);
    if (status == PERFDATA_OK && *got < 16u * count)
        status = pd_issue(&recording->context, PERFDATA_ISSUE_TRUNCATED, (int64_t)(at + *got),
                          "the file ends within its feature table: %zu of %u features are lost",
                          count - *got / 16, count);
    return status;
}

perfdata_status pdc_take_feature(struct pd_recording *recording, unsigned feature,
                                 const uint8_t *bytes, size_t size, uint64_t offset)
{
    struct pd_context *context = &recording->context;
    uint64_t before = context->issue_count[PERFDATA_ISSUE_BAD_FEATURE];
    recording->feature_table.bytes[feature] = (struct pd_feature_bytes){ bytes, size };
    perfdata_status status = pd_feature_decode(&recording->features, feature, bytes, size,
                                               recording->swap, &recording->arena, context, offset);
    recording->feature_table.bad[feature] = context->issue_count[PERFDATA_ISSUE_BAD_FEATURE] !=
                                            before;
    return status;
}

static perfdata_status read_feature(struct pd_recording *recording, unsigned feature,
                                    struct pd_section section, uint64_t *total)
{
    struct pd_context *context = &recording->context;
    const char *name = pd_feature_name(feature);
    if (!pd_range_ok(section.offset, section.size, pd_source_size(recording->source)))
        return pd_issue(context, PERFDATA_ISSUE_BAD_FEATURE, (int64_t)section.offset,
                        "feature %u (%s) lies outside the file", feature, name ? name : "unknown");
    recording->feature_table.section[feature] = section;
    if (section.size > TOTAL_MAX - *total)
        return pd_issue(context, PERFDATA_ISSUE_LIMIT, (int64_t)section.offset,
                        "feature %u (%s) has %llu bytes: too many", feature,
                        name ? name : "unknown", (unsigned long long)section.size);
    *total += section.size;
    const uint8_t *bytes;
    size_t size;
    perfdata_status status = pdc_read_section(recording, section, &bytes, &size);
    return status < 0 ? status : pdc_take_feature(recording, feature, bytes, size, section.offset);
}

perfdata_status pdc_read_features(struct pd_recording *recording)
{
    uint8_t table[256 * 16];
    size_t got, at = 0;
    uint64_t total = 0;
    perfdata_status status = read_table(recording, table, &got);
    for (unsigned feature = 0; feature < 256 && status == PERFDATA_OK && at + 16 <= got;
         feature++) {
        if (!pd_recording_has_feature(recording, feature))
            continue;
        struct pd_section section = { pd_load64(table + at, recording->swap),
                                      pd_load64(table + at + 8, recording->swap) };
        at += 16;
        status = read_feature(recording, feature, section, &total);
    }
    return status;
}

const char *pd_recording_cpuid(const struct pd_recording *recording, char here[PD_CPUID_SIZE])
{
    if (recording->features.cpuid.text.text)
        return recording->features.cpuid.text.text;
    return recording->like_perf && pd_cpuid_of_this_machine(here) ? here : NULL;
}
