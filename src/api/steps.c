/* SPDX-License-Identifier: MIT */
/* <perfdata/itrace.h>: the steps of a bare trace; those of a recording come from aux_steps.c. */
#include "api/steps.h"
#include "itrace/code/caller.h"
#include <stdlib.h>

struct perfdata_steps {
    struct pd_aux_steps *recorded; /* of a recording; NULL: the members below */
    uint64_t errors;
    const uint8_t *bytes;
    size_t size;
    bool given; /* the decoder has the bytes */
    uint32_t wanted;
    struct pd_code_caller code;
    struct pd_pt_decoder *decoder;
};

/* The public bits are the walk's. */
#define SAME(NAME, OTHER) _Static_assert((int)PERFDATA_STEP_##NAME == (int)PD_PT_##OTHER, #NAME)
SAME(BRANCH, BRANCH);
SAME(PTWRITE, PTW);
SAME(CBR, CBR_CHANGE);
SAME(PSB, PSB_EVENT);
SAME(INTERRUPT_FLAG, IF_CHANGE);
SAME(WITH_IP, FUP_IP);

static int next_buffer(void *data, struct pd_pt_buffer *out)
{
    perfdata_steps *steps = data;
    if (steps->given)
        return 0;
    steps->given = true;
    *out = (struct pd_pt_buffer){ .data = steps->bytes, .size = steps->size, .trace_nr = 1 };
    return 1;
}

static struct pd_pt_config config_of(perfdata_steps *steps,
                                     const struct perfdata_steps_options *options)
{
    return (struct pd_pt_config){
        .branches = !(options->flags & PERFDATA_STEPS_NO_BRANCHES),
        .return_compression = !(options->flags & PERFDATA_STEPS_NO_RETURN_COMPRESSION),
        .mtc_shift = options->mtc_period & 15,
        .tsc_ctc_n = options->tsc_n,
        .tsc_ctc_d = options->tsc_d,
        .max_non_turbo_ratio = options->max_nonturbo,
        .quick = options->flags & PERFDATA_STEPS_QUICK ? 1 : 0,
        .period_type = options->period ? PD_PT_PERIOD_INSTRUCTIONS : PD_PT_PERIOD_NONE,
        .period = options->period,
        .wanted = steps->wanted,
        .kernel_start = UINT64_C(1) << 63,
        .data = steps,
        .buffer = next_buffer,
        .code_at = pd_code_caller_at,
        .code_link = pd_code_caller_link,
    };
}

perfdata_status perfdata_steps_open(const void *bytes, size_t size,
                                    const struct perfdata_steps_options *given,
                                    perfdata_steps **out)
{
    struct perfdata_steps_options options = { 0 };
    *out = NULL;
    if (pd_take_options(NULL, &options, sizeof options, given) < 0 || !options.read_code)
        return PERFDATA_ERROR_ARGUMENT;
    perfdata_steps *steps = calloc(1, sizeof *steps);
    if (!steps)
        return PERFDATA_ERROR_MEMORY;
    steps->bytes = bytes;
    steps->size = size;
    steps->wanted = options.wanted ? options.wanted : (uint32_t)PD_PT_ALL_STEPS;
    steps->code.read = options.read_code;
    steps->code.data = options.data;
    steps->code.is_64_bit = !(options.flags & PERFDATA_STEPS_32_BIT);
    steps->code.view.kernel_start = UINT64_C(1) << 63;
    struct pd_pt_config config = config_of(steps, &options);
    steps->decoder = pd_pt_decoder_new(&config);
    if (!steps->decoder) {
        perfdata_steps_close(steps);
        return PERFDATA_ERROR_MEMORY;
    }
    pd_pt_set_code(steps->decoder, &steps->code.view, NULL);
    *out = steps;
    return PERFDATA_OK;
}

void perfdata_steps_close(perfdata_steps *steps)
{
    if (!steps)
        return;
    pd_aux_steps_close(steps->recorded);
    pd_pt_decoder_free(steps->decoder);
    pd_code_caller_free(&steps->code);
    free(steps);
}

static void give_step(const struct pd_pt_step *from, struct perfdata_step *out)
{
    struct perfdata_step step = { .type = from->type,
                                  .flags = from->flags,
                                  .error = from->error,
                                  .insn_length = from->insn_length,
                                  .from = from->from,
                                  .to = from->to,
                                  .time = from->tsc,
                                  .insns = from->insns,
                                  .cycles = from->cycles,
                                  .payload = from->payload,
                                  .nanoseconds = from->time,
                                  .pid = (int32_t)from->pid,
                                  .tid = (int32_t)from->tid,
                                  .cpu = (int32_t)from->cpu };
    pd_give_result(out, &step, sizeof step);
}

int perfdata_steps_next(perfdata_steps *steps, struct perfdata_step *out)
{
    const struct pd_pt_state *state;
    if (steps->recorded) {
        const struct pd_pt_step *step;
        int got = pd_aux_steps_next(steps->recorded, &step);
        if (got > 0)
            give_step(step, out);
        return got;
    }
    do
        state = pd_pt_decode(steps->decoder, UINT64_MAX);
    while (state && !state->error && !(state->type & steps->wanted));
    if (!state)
        return 0;
    steps->errors += state->error != PD_PT_OK;
    struct pd_pt_step step = pd_pt_step_of(state);
    give_step(&step, out);
    return 1;
}

uint64_t perfdata_steps_errors(const perfdata_steps *steps)
{
    return steps->recorded ? pd_aux_steps_errors(steps->recorded) : steps->errors;
}

perfdata_status perfdata_aux_steps(perfdata_aux *aux, uint32_t queue,
                                   const struct perfdata_steps_options *given, perfdata_steps **out)
{
    struct perfdata_steps_options options = { 0 };
    *out = NULL;
    perfdata_status status = pd_aux_need_pt(aux);
    if (status == PERFDATA_OK)
        status = pd_take_options(&aux->recording->context, &options, sizeof options, given);
    if (status < 0)
        return status;
    perfdata_steps *steps = calloc(1, sizeof *steps);
    if (!steps)
        return pd_no_memory(&aux->recording->context, NULL);
    status = pd_aux_steps_open(aux, queue, &options, &steps->recorded);
    if (status < 0) {
        perfdata_steps_close(steps);
        return status;
    }
    *out = steps;
    return PERFDATA_OK;
}

const char *perfdata_step_error_text(uint32_t error)
{
    return pd_pt_error_text(error);
}
