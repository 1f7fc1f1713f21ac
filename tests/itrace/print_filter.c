/* SPDX-License-Identifier: MIT */
/* A filter that prints all that it is told and can ask for: built as a shared object, loaded by
 * perf and by us. Arguments: how many samples it prints, then words that it prints when it
 * starts. */
#include "render/script/dlfilter.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT struct pd_dl_functions perf_dlfilter_fns;
EXPORT int start(void **data, void *ctx);
EXPORT int stop(void *data, void *ctx);
EXPORT int filter_event(void *data, const struct pd_dl_sample *sample, void *ctx);
EXPORT int filter_event_early(void *data, const struct pd_dl_sample *sample, void *ctx);
EXPORT const char *filter_description(const char **more);

struct state {
    long wanted, early, late;
};

static const char *text(const char *value)
{
    return value ? value : "-";
}

static void print_location(const char *what, const struct pd_dl_location *at)
{
    if (!at) {
        printf("  %s: none\n", what);
        return;
    }
    printf("  %s: sym %s+%x at %llx of %llx-%llx binding %u, dso %s bits %u, build-id %u:", what,
           text(at->sym), at->sym ? at->symoff : 0, (unsigned long long)at->addr,
           (unsigned long long)(at->sym ? at->sym_start : 0),
           (unsigned long long)(at->sym ? at->sym_end : 0), at->sym ? at->sym_binding : 0,
           text(at->dso), at->dso ? at->is_64_bit : 0, at->dso ? at->buildid_size : 0);
    for (uint32_t i = 0; at->dso && i < at->buildid_size; i++)
        printf("%02x", at->buildid[i]);
    printf(" kernel %u\n", at->is_kernel_ip);
}

static void print_bytes(const char *what, const uint8_t *bytes, long count)
{
    printf("  %s %ld:", what, count);
    for (long i = 0; i < count; i++)
        printf(" %02x", bytes[i]);
    printf("\n");
}

static void print_sample(const struct pd_dl_sample *sample)
{
    printf("%s ip %llx addr %llx pid %d tid %d cpu %d time %llu id %llu stream %llu period %llu "
           "weight %llu flags %x mode %u misc %x correlates %u insn %llu cyc %llu raw %u\n",
           sample->event, (unsigned long long)sample->ip, (unsigned long long)sample->addr,
           sample->pid, sample->tid, sample->cpu, (unsigned long long)sample->time,
           (unsigned long long)sample->id, (unsigned long long)sample->stream_id,
           (unsigned long long)sample->period, (unsigned long long)sample->weight, sample->flags,
           sample->cpumode, sample->misc, sample->addr_correlates_sym,
           (unsigned long long)sample->insn_cnt, (unsigned long long)sample->cyc_cnt,
           sample->raw_size);
    printf("  chain %llu:", (unsigned long long)sample->raw_callchain_nr);
    for (uint64_t i = 0; i < sample->raw_callchain_nr; i++)
        printf(" %llx", (unsigned long long)sample->raw_callchain[i]);
    printf("\n  branches %llu:", (unsigned long long)sample->brstack_nr);
    for (uint64_t i = 0; i < sample->brstack_nr; i++) {
        const uint64_t *entry = (const uint64_t *)sample->brstack + 3 * i;
        printf(" %llx>%llx/%llx", (unsigned long long)entry[0], (unsigned long long)entry[1],
               (unsigned long long)entry[2]);
    }
    printf("\n");
}

int start(void **data, void *ctx)
{
    struct state *state = calloc(1, sizeof *state);
    int count = 0;
    char **words = perf_dlfilter_fns.args(ctx, &count);

    *data = state;
    state->wanted = count ? atol(words[0]) : 10;
    printf("start");
    for (int i = 1; i < count; i++)
        printf(" %s", words[i]);
    printf("\n");
    return 0;
}

int stop(void *data, void *ctx)
{
    struct state *state = data;

    (void)ctx;
    printf("stop: %ld early, %ld late\n", state->early, state->late);
    free(state);
    return 0;
}

int filter_event_early(void *data, const struct pd_dl_sample *sample, void *ctx)
{
    struct state *state = data;

    (void)ctx;
    state->early++;
    return sample->ip % 7 == 3; /* drops some */
}

int filter_event(void *data, const struct pd_dl_sample *sample, void *ctx)
{
    struct state *state = data;
    uint32_t length = 0, line = 0;
    uint8_t code[24];

    if (state->late++ >= state->wanted)
        return 1;
    print_sample(sample);
    const struct pd_dl_location *at = perf_dlfilter_fns.resolve_ip(ctx);
    print_location("ip", at);
    if (at)
        printf("  comm %s filtered %u\n", text(at->comm), at->filtered);
    if (sample->addr_correlates_sym)
        print_location("addr", perf_dlfilter_fns.resolve_addr(ctx));
    struct pd_dl_location other = { .size = sizeof other };
    if (perf_dlfilter_fns.resolve_address(ctx, sample->ip + 4, &other) == 0)
        print_location("ip+4", &other);
    const uint8_t *insn = perf_dlfilter_fns.insn(ctx, &length);
    print_bytes("insn", insn, insn ? (long)length : 0);
    const char *file = perf_dlfilter_fns.srcline(ctx, &line);
    printf("  line %s:%u\n", text(file), line);
    const uint8_t *attr = perf_dlfilter_fns.attr(ctx);
    print_bytes("attr", attr, attr ? 32 : 0);
    int32_t got = perf_dlfilter_fns.object_code(ctx, sample->ip, code, sizeof code);
    print_bytes("code", code, got);
    return sample->ip % 5 == 1;
}

const char *filter_description(const char **more)
{
    *more = NULL;
    return "prints what it is told";
}
