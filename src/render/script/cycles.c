/* SPDX-License-Identifier: MIT */
/* The filter show-cycles: how many cycles a processor (or a thread, where that is not known) has
 * run, and how many since the line before. Samples of instructions, of branches and of anything
 * else are counted apart. */
#include "render/script/dlfilter.h"
#include "base/hash.h"
#include "base/vec.h"

enum kind { KIND_INSTRUCTIONS, KIND_BRANCHES, KIND_OTHER, KINDS };

struct count {
    uint64_t cycles[KINDS], shown[KINDS];
};

struct counts {
    struct pd_map64 by_owner; /* CPU, or thread above 2^32 -> place in `list` */
    PD_VEC(struct count) list;
};

static enum kind kind_of(const char *event)
{
    if (!strncmp(event, "instructions", 12))
        return KIND_INSTRUCTIONS;
    return !strncmp(event, "branches", 8) ? KIND_BRANCHES : KIND_OTHER;
}

/* The count of the sample's CPU or thread; NULL: neither is known, or no memory. */
static struct count *count_of(struct counts *counts, const struct pd_dl_sample *sample)
{
    uint64_t owner;

    if (sample->cpu >= 0)
        owner = (uint32_t)sample->cpu;
    else if (sample->tid != -1)
        owner = UINT64_C(1) << 32 | (uint32_t)sample->tid;
    else
        return NULL;
    uint32_t at = pd_map64_get(&counts->by_owner, owner);
    if (at == PD_MAP64_NONE) {
        at = (uint32_t)counts->list.count;
        if (!pd_vec_push(&counts->list, (struct count){ 0 }) ||
            !pd_map64_set(&counts->by_owner, owner, at))
            return NULL;
    }
    return &counts->list.data[at];
}

static int start(void **data, void *ctx)
{
    (void)ctx;
    *data = calloc(1, sizeof(struct counts));
    return *data ? 0 : -1;
}

static int stop(void *data, void *ctx)
{
    struct counts *counts = data;

    (void)ctx;
    if (!counts)
        return 0;
    pd_map64_free(&counts->by_owner);
    pd_vec_free(&counts->list);
    free(counts);
    return 0;
}

static int count_all(void *data, const struct pd_dl_sample *sample, void *ctx)
{
    (void)ctx;
    struct count *count = sample->cyc_cnt ? count_of(data, sample) : NULL;
    if (count)
        count->cycles[kind_of(sample->event)] += sample->cyc_cnt;
    return 0;
}

static int show(void *data, const struct pd_dl_sample *sample, void *ctx)
{
    struct count *count = count_of(data, sample);
    enum kind kind = kind_of(sample->event);

    if (!count) {
        pd_dl_print(ctx, NULL, 0);
        return 0;
    }
    uint64_t values[2] = { count->cycles[kind], count->cycles[kind] - count->shown[kind] };
    count->shown[kind] = count->cycles[kind];
    pd_dl_print(ctx, values, values[1] ? 2 : 1);
    return 0;
}

const struct pd_dl_filter pd_dl_show_cycles = {
    .start = start, .stop = stop, .filter_event = show, .filter_event_early = count_all
};
