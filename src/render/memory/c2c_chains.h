/* SPDX-License-Identifier: MIT */
/* Call chains of `c2c report`: a tree for each place that accesses a line. */
#ifndef PD_RENDER_C2C_CHAINS_H
#define PD_RENDER_C2C_CHAINS_H
#include "render/memory/c2c.h"

struct pd_report_facts;

/* *out is NULL where none are drawn: not wanted, or not recorded. PERFDATA_ERROR_ARGUMENT: words of
 * --call-graph that are none. */
perfdata_status pd_c2c_chains_open(struct pd_c2c *c2c, struct pd_c2c_chains **out);
/* Before the first sample. False, as below: no memory. */
bool pd_c2c_chains_begin(struct pd_c2c_chains *chains, struct pd_resolver *resolver);
/* The chain of a sample of a row, by the row's number. */
bool pd_c2c_chains_count(struct pd_c2c_chains *chains, struct pd_report_facts *facts, uint32_t row);
/* Behind the last sample, once. */
bool pd_c2c_chains_settle(struct pd_c2c_chains *chains, size_t rows);
perfdata_status pd_c2c_chains_draw(struct pd_c2c_chains *chains, const struct pd_c2c_cell *line,
                                   const struct pd_c2c_cell *row, struct pd_text *out);
void pd_c2c_chains_close(struct pd_c2c_chains *chains);

#endif
