/* SPDX-License-Identifier: MIT */
/* --json of script. */
#ifndef PD_SCRIPT_JSON_H
#define PD_SCRIPT_JSON_H
#include "render/script/plan.h"

/* Appends the JSON line of a sample. */
void pd_script_json(struct pd_script_worker *worker, const struct pd_script_event *plan,
                    const struct pd_line_start *start, const struct pd_sample *sample,
                    const struct pd_delivered *record, struct pd_text *text);
/* Appends a line that is no sample's: an error of a trace, whose text is `made`. Frees `made`. */
void pd_script_json_other(struct pd_text *made, struct pd_text *text);
/* Refuses, by name, options and an event's fields that have no form in JSON. */
perfdata_status pd_script_json_check(const struct pd_script *script);
perfdata_status pd_script_json_check_fields(const struct pd_script *script, uint64_t fields);

#endif
