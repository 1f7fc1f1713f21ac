/* SPDX-License-Identifier: MIT */
/* AUXTRACE_INFO, and what follows from it for the decoding of Intel PT. */
#include "format/offsets.h"
#include "format/structs.h"
#include "itrace/aux/aux.h"
#include "itrace/bts/branch.h"

/* Words of Intel PT's AUXTRACE_INFO. */
enum {
    PMU_TYPE,
    TIME_SHIFT,
    TIME_MULT,
    TIME_ZERO,
    CAP_TIME_ZERO,
    TSC_BIT,
    NORETCOMP_BIT,
    HAVE_SCHED_SWITCH,
    SNAPSHOT_MODE,
    PER_CPU_MMAPS,
    LEAST, /* perf reads none with less */
    MTC_BIT = LEAST,
    MTC_FREQ_BITS,
    TSC_CTC_N,
    TSC_CTC_D,
    CYC_BIT,
    MAX_NON_TURBO,
    FILTER_LENGTH,
    FILTER
};

/* Bits of an intel_pt event's config that no mask names. */
#define CONFIG_PASS_THROUGH UINT64_C(1)
#define CONFIG_BRANCH (UINT64_C(1) << 13)
#define CONFIG_NO_TNT (UINT64_C(1) << 55)
#define CONFIG_CYC_THRESHOLD(config) ((unsigned)((config) >> 19 & 15))

const char *pd_aux_kind_name(uint32_t type)
{
    static const char *const names[] = {
        [PD_AUXTRACE_INTEL_PT] = "Intel Processor Trace",
        [PD_AUXTRACE_INTEL_BTS] = "Intel BTS",
        [PD_AUXTRACE_CS_ETM] = "Arm CoreSight ETM",
        [PD_AUXTRACE_ARM_SPE] = "Arm SPE",
        [PD_AUXTRACE_S390_CPUMSF] = "s390 CPU-measurement sampling facility",
        [PD_AUXTRACE_HISI_PTT] = "HiSilicon PCIe Tune and Trace",
        [PD_AUXTRACE_VPA_DTL] = "PowerPC VPA dispatch trace log",
    };
    return type < PD_LENGTH(names) ? names[type] : NULL;
}

static uint64_t word(const struct pd_aux_info *info, unsigned index)
{
    return index < info->word_count ? info->words[index] : 0;
}

bool pd_aux_info_bts_snapshot(const struct pd_aux_info *info)
{
    return info->type == PD_AUXTRACE_INTEL_BTS && word(info, PD_BTS_SNAPSHOT);
}

/* The filter string's bytes are as recorded, whatever the byte order; it ends with a NUL, padded to
 * 8. */
static perfdata_status decode_filter(struct pd_context *context, const struct pd_array *words,
                                     uint64_t length, struct pd_arena *arena,
                                     struct pd_pt_info *out, size_t *after)
{
    *after = FILTER;
    if (!length)
        return PERFDATA_OK;
    size_t room = 8 * (size_t)(words->count - FILTER);
    const char *text = (const char *)words->data + 8 * (size_t)FILTER;
    *after = words->count;
    if (length >= room)
        return pd_issue(context, PERFDATA_ISSUE_BAD_RECORD, -1,
                        "Intel PT's address filter is longer than its record");
    if (text[length])
        return pd_issue(context, PERFDATA_ISSUE_BAD_RECORD, -1,
                        "Intel PT's address filter is not terminated");
    *after = FILTER + (size_t)pd_align8(length + 1) / 8;
    out->filter = pd_arena_copy(arena, text, (size_t)length);
    return out->filter ? PERFDATA_OK : pd_no_memory(context, NULL);
}

static perfdata_status decode_pt(struct pd_context *context, const struct pd_array *words,
                                 struct pd_arena *arena, struct pd_aux_info *info)
{
    struct pd_pt_info *pt = &info->pt;
    if (info->word_count < LEAST)
        return pd_issue(context, PERFDATA_ISSUE_BAD_RECORD, -1,
                        "what AUXTRACE_INFO says of Intel PT is cut");
    pt->pmu_type = word(info, PMU_TYPE);
    pt->time.shift = word(info, TIME_SHIFT) & 63;
    pt->time.mult = (uint32_t)word(info, TIME_MULT);
    pt->time.mult += !pt->time.mult;
    pt->time.zero = word(info, TIME_ZERO);
    pt->cap_user_time_zero = word(info, CAP_TIME_ZERO);
    pt->tsc_bit = word(info, TSC_BIT);
    pt->noretcomp_bit = word(info, NORETCOMP_BIT);
    pt->have_sched_switch = word(info, HAVE_SCHED_SWITCH);
    pt->snapshot_mode = word(info, SNAPSHOT_MODE);
    pt->per_cpu_mmaps = word(info, PER_CPU_MMAPS);
    if (info->word_count > CYC_BIT) { /* all of them or none */
        pt->mtc_bit = word(info, MTC_BIT);
        pt->mtc_freq_bits = word(info, MTC_FREQ_BITS);
        pt->tsc_ctc_n = (uint32_t)word(info, TSC_CTC_N);
        pt->tsc_ctc_d = (uint32_t)word(info, TSC_CTC_D);
        pt->cyc_bit = word(info, CYC_BIT);
    }
    pt->max_non_turbo_ratio = (uint32_t)word(info, MAX_NON_TURBO);
    if (info->word_count <= FILTER_LENGTH)
        return PERFDATA_OK;
    size_t after;
    perfdata_status status = decode_filter(context, words, word(info, FILTER_LENGTH), arena, pt,
                                           &after);
    pt->cap_event_trace = word(info, (unsigned)after) != 0;
    return status;
}

perfdata_status pd_aux_info_decode(struct pd_context *context, const uint8_t *record, uint32_t size,
                                   bool swap, struct pd_arena *arena, struct pd_aux_info *out)
{
    struct pd_record_auxtrace_info body;
    memset(out, 0, sizeof *out);
    if (pd_record_decode(NULL, record, size, swap, arena, &body, sizeof body) < 0)
        return pd_issue(context, PERFDATA_ISSUE_BAD_RECORD, -1, "AUXTRACE_INFO is cut");
    uint64_t *words = pd_arena_alloc(arena, 8 * (size_t)body.priv.count + 1);
    if (!words)
        return pd_no_memory(context, NULL);
    for (uint32_t i = 0; i < body.priv.count; i++)
        words[i] = pd_array_at(&body.priv, i);
    out->present = true;
    out->type = body.auxtrace_type;
    out->words = words;
    out->word_count = body.priv.count;
    out->pt.time.mult = 1;
    if (out->type != PD_AUXTRACE_INTEL_PT)
        return PERFDATA_OK;
    return decode_pt(context, &body.priv, arena, out);
}

size_t pd_pt_filter_text(const uint8_t *record, size_t size, bool swap, size_t *length)
{
    const size_t words = sizeof(struct pd_at_auxtrace_info),
                 length_at = words + 8 * (size_t)FILTER_LENGTH;
    size_t offset = words + 8 * (size_t)FILTER;
    *length = 0;
    if (size <= offset ||
        pd_load32(record + PD_AT(auxtrace_info, auxtrace_type), swap) != PD_AUXTRACE_INTEL_PT)
        return size;
    if (pd_load64(record + length_at, swap))
        *length = size - offset;
    return offset;
}

static unsigned low_bit(uint64_t mask)
{
    return mask ? (unsigned)__builtin_ctzll(mask) : 0;
}

void pd_pt_modes_find(const struct pd_recording *recording, const struct pd_pt_info *info,
                      struct pd_pt_modes *out)
{
    bool all_have_time = true;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < recording->event_count; i++) {
        const struct pd_event *event = recording->events[i];
        if (!out->event && event->attr.type == info->pmu_type)
            out->event = event;
        all_have_time &= (event->attr.sample_type & PD_SAMPLE_TIME) != 0;
        out->sampling |= (event->attr.sample_type & PD_SAMPLE_AUX) != 0 &&
                         event->attr.aux_sample_size != 0;
    }
    uint64_t config = out->config = out->event ? out->event->attr.config : 0;
    out->have_tsc = (config & info->tsc_bit) != 0;
    out->timeless = !all_have_time || !out->have_tsc || !info->cap_user_time_zero;
    out->branches = !(config & CONFIG_PASS_THROUGH) || config & CONFIG_BRANCH;
    out->return_compression = !(config & info->noretcomp_bit);
    out->no_tnt = (config & CONFIG_NO_TNT) != 0;
    out->mtc_shift = (unsigned)((config & info->mtc_freq_bits) >> low_bit(info->mtc_freq_bits));
    if (config & info->cyc_bit)
        out->cyc_threshold = CONFIG_CYC_THRESHOLD(config);
}
