/* SPDX-License-Identifier: MIT */
/* Samples of a trace of Intel BTS, which is a row of branches: pd_synth_open() and the rest of
 * synth.h hand it over to these. */
#ifndef PD_SYNTH_BTS_H
#define PD_SYNTH_BTS_H
#include "itrace/synth/internal.h"

/* Sets synth->bts and appends its event. */
perfdata_status pd_bts_open(struct pd_synth *synth);
void pd_bts_close(struct pd_synth *synth);
/* As pd_synth_before(), whose fields of `synth` are set. */
int pd_bts_before(struct pd_synth *synth, const struct pd_delivered *record);

#endif
