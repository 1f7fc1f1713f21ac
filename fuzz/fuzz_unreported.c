/* SPDX-License-Identifier: MIT */
/* Branches looked at or not: the input is some settings, code, and a trace. It ends, and what is
 * told of is the same whether branches are looked at or not, whether they are handed over one by
 * one or many at once, and whether they come from step logs. */
#include "../tests/unit/walk_step_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SETTINGS = 8 };

static void set(struct pd_pt_config *config, const uint8_t *settings)
{
    config->branches = settings[0] & 1 ? false : true;
    config->return_compression = !(settings[0] & 2);
    config->next_ip_fup = settings[0] & 4;
    config->timeful = !(settings[0] & 8);
    config->quick = settings[0] >> 4 & 7 ? 0 : settings[0] >> 7 & 1;
    config->mtc_shift = settings[1] & 15;
    config->cyc_threshold = settings[1] >> 4 & 1;
    config->tsc_ctc_n = settings[2];
    config->tsc_ctc_d = settings[3];
    config->max_non_turbo_ratio = settings[4];
    config->max_loops = settings[5];
    config->wanted = PD_PT_ALL_STEPS & ~(PD_PT_BRANCH | PD_PT_TRACE_BEGIN | PD_PT_TRACE_END);
    config->period_type = settings[6] & 3 ? settings[6] & 3 : PD_PT_PERIOD_NONE;
    if (config->period_type > PD_PT_PERIOD_TICKS)
        config->period_type = PD_PT_PERIOD_NONE;
    config->period = settings[6] >> 2;
    config->watches_ips = settings[2] >> 7;
    config->watch_ips[0] = 0x400000u + settings[3];
    config->watch_ips[1] = 0x400000u + settings[4];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < SETTINGS + 1)
        return 0;
    size_t code = PD_MIN((size_t)data[7] * 4, size - SETTINGS);
    image_set(0x400000, data + SETTINGS, code);
    struct image_trace trace = { .bytes = data + SETTINGS + code, .size = size - SETTINGS - code };
    trace.cut = trace.size / 3 * (data[1] >> 5 & 1);
    trace.gap = data[1] >> 6 & 1;
    struct pd_pt_config config = image_config(&trace);
    set(&config, data);
    const uint64_t step = data[1] >> 7 ? data[5] + 1u : 0;
    if (image_compare(&config, &trace, step) == SIZE_MAX)
        abort();
    config.wanted = PD_PT_ALL_STEPS;
    if (image_compare_more(&config, &trace, 1 + data[4] % IMAGE_RUN, step) == SIZE_MAX)
        abort();
    if (!trace.cut && image_compare_step_log(&config, &trace) == SIZE_MAX)
        abort();
    return 0;
}
