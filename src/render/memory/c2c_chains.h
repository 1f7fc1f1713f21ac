/* SPDX-License-Identifier: MIT */
/* Call chains of `c2c report`: a tree for each place that accesses a line. */
#ifndef PD_RENDER_C2C_CHAINS_H
#define PD_RENDER_C2C_CHAINS_H
#include "render/memory/c2c.h"

struct pd_report_facts;

/* *out is NULL where no chains are drawn: not wanted, or not recorded. PERFDATA_ERROR_ARGUMENT:
 * --call-graph has words that are not valid. */
perfdata_status pd_c2c_chains_open(struct pd_c2c *c2c, struct pd_c2c_chains **out);
/* To be called before the first sample. False, here and below: no memory. */
bool pd_c2c_chains_begin(struct pd_c2c_chains *chains, struct pd_resolver *resolver);
/* Counts the chain of a sample for the row of this number. */
bool pd_c2c_chains_count(struct pd_c2c_chains *chains, struct pd_report_facts *facts, uint32_t row);
/* To be called once, after the last sample. */
bool pd_c2c_chains_settle(struct pd_c2c_chains *chains, size_t rows);
perfdata_status pd_c2c_chains_draw(struct pd_c2c_chains *chains, const struct pd_c2c_cell *line,
                                   const struct pd_c2c_cell *row, struct pd_text *out);
void pd_c2c_chains_close(struct pd_c2c_chains *chains);

#endif
