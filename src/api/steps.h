/* SPDX-License-Identifier: MIT */
/* The steps of a recording's queue, for steps.c. */
#ifndef PD_API_STEPS_H
#define PD_API_STEPS_H
#include "itrace/intel_pt/walk/decoder.h"
#include "render/aux/view.h"

struct pd_aux_steps;

perfdata_status pd_aux_steps_open(struct perfdata_aux *aux, uint32_t queue,
                                  const struct perfdata_steps_options *options,
                                  struct pd_aux_steps **out);
/* 1 a step, valid until the next call; 0 the end, < 0 a status. */
int pd_aux_steps_next(struct pd_aux_steps *steps, const struct pd_pt_step **step);
uint64_t pd_aux_steps_errors(const struct pd_aux_steps *steps);
/* NULL does nothing. */
void pd_aux_steps_close(struct pd_aux_steps *steps);

#endif
