/* SPDX-License-Identifier: MIT */
/* One queue of a recording -> its steps: the recording is walked as for samples, so that switches,
 * maps and patched code are those of each step's time, and each step comes as a record. */
#include "api/steps.h"
#include "pipeline/front.h"
#include <stdlib.h>

struct pd_aux_steps {
    struct pd_recording *recording;
    struct pd_itrace_options options;
    struct pd_session session;
    struct pd_consumer consumer;
    struct pd_front front;
    struct pd_job *job;
    bool front_open;
    size_t next; /* in the job's batch */
    int filled;  /* what filling it returned: 1 there is more behind it */
};

static bool has_queue(const struct pd_aux *aux, uint32_t queue)
{
    for (size_t i = 0; i < aux->queues.count; i++)
        if (aux->queues.data[i].set && aux->queues.data[i].number == queue)
            return true;
    return false;
}

static perfdata_status open_session(struct pd_aux_steps *steps, uint32_t queue,
                                    const struct perfdata_steps_options *options)
{
    struct pd_object_search search = pd_search_of(steps->recording, &options->search, NULL);
    struct pd_synth_config config = {
        .options = &steps->options,
        .threads = 1,
        .step_types = options->wanted ? options->wanted : (uint32_t)PD_PT_ALL_STEPS,
        .step_queue = queue,
    };
    pd_itrace_options_init(&steps->options, PD_ITRACE_SCRIPT);
    /* Steps in place of samples: none of the verb's own, and errors come as steps, too. */
    steps->options = (struct pd_itrace_options){ .set = true,
                                                 .decode = true,
                                                 .errors = true,
                                                 .instructions = options->period != 0,
                                                 .period = options->period,
                                                 .quick = options->flags & PERFDATA_STEPS_QUICK,
                                                 .max_loops = steps->options.max_loops };
    perfdata_status status = pd_session_open(steps->recording, &search, &steps->session);
    if (status < 0)
        return status;
    pd_session_want_guests(&steps->session, &options->search);
    status = pd_session_decode(&steps->session, &config);
    if (status < 0)
        return status;
    steps->consumer = (struct pd_consumer){ .order = PD_ORDER_DELIVERY, .no_samples = true };
    steps->consumer.types[PD_SYNTH_STEP_RECORD / 64] |= UINT64_C(1) << PD_SYNTH_STEP_RECORD % 64;
    steps->job = pd_job_new(NULL);
    if (!steps->job)
        return pd_no_memory(&steps->recording->context, NULL);
    steps->filled = 1;
    status = pd_front_open(&steps->session, &steps->consumer, &steps->front);
    steps->front_open = status >= 0;
    return status;
}

perfdata_status pd_aux_steps_open(struct perfdata_aux *aux, uint32_t queue,
                                  const struct perfdata_steps_options *options,
                                  struct pd_aux_steps **out)
{
    struct pd_context *context = &aux->recording->context;
    *out = NULL;
    if (!has_queue(aux->aux, queue))
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "there is no queue %u", queue);
    struct pd_aux_steps *steps = calloc(1, sizeof *steps);
    if (!steps)
        return pd_no_memory(context, NULL);
    steps->recording = aux->recording;
    perfdata_status status = open_session(steps, queue, options);
    if (status < 0)
        pd_aux_steps_close(steps);
    else
        *out = steps;
    return status;
}

int pd_aux_steps_next(struct pd_aux_steps *steps, const struct pd_pt_step **step)
{
    struct pd_batch *batch = &steps->job->batch;
    for (;;) {
        while (steps->next < batch->count) {
            const struct pd_delivered *record = &batch->records[steps->next++];
            if (record->type != PD_SYNTH_STEP_RECORD || record->chunk)
                continue; /* a record of the recording that has this number for its type */
            *step = (const void *)record->data;
            return 1;
        }
        if (steps->filled <= 0)
            return pd_analysis_status(&steps->recording->context, steps->filled);
        if (steps->front.number)
            pd_session_retire(&steps->session, steps->front.number);
        pd_job_reset(steps->job);
        steps->next = 0;
        steps->filled = pd_front_fill(&steps->front, steps->job);
    }
}

uint64_t pd_aux_steps_errors(const struct pd_aux_steps *steps)
{
    return pd_session_trace_errors(&steps->session);
}

void pd_aux_steps_close(struct pd_aux_steps *steps)
{
    if (!steps)
        return;
    pd_job_free(steps->job, &steps->consumer);
    if (steps->front_open)
        pd_front_close(&steps->front);
    pd_session_close(&steps->session);
    free(steps);
}
