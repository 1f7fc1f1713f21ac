/* SPDX-License-Identifier: MIT */
/* Samples of a trace of Arm SPE, which is a row of records and needs no code to be decoded:
 * pd_synth_open() and the rest of synth.h hand it over to these. */
#ifndef PD_SYNTH_SPE_H
#define PD_SYNTH_SPE_H
#include "itrace/synth/internal.h"

/* Sets synth->spe and appends its events. */
perfdata_status pd_spe_open(struct pd_synth *synth);
void pd_spe_close(struct pd_synth *synth);
/* As pd_synth_before(), whose fields of `synth` are set. */
int pd_spe_before(struct pd_synth *synth, const struct pd_delivered *record);

#endif
