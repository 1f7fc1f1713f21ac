/* SPDX-License-Identifier: MIT */
/* BOLT's pre-aggregated profile (`perf2bolt --pa`): a line a branch or run, with addresses of one
 * object. */
#include "convert/branches/branches.h"

static perfdata_status put(struct pd_convert *x, struct pd_symbols *symbols,
                           const struct pd_flow_list *list)
{
    static const char letters[] = {
        [PD_FLOW_BRANCH] = 'B', [PD_FLOW_RUN] = 'F', [PD_FLOW_ENTERED_RUN] = 'f'
    };
    perfdata_status status = PERFDATA_OK;
    (void)symbols;
    for (size_t i = 0; i < list->flows.count && status >= 0; i++) {
        const struct pd_flow *flow = &list->flows.data[i];
        pd_text_char(&x->out, letters[flow->kind]);
        pd_text_char(&x->out, ' ');
        pd_text_hex(&x->out, flow->from.address, 0, ' ');
        pd_text_char(&x->out, ' ');
        pd_text_hex(&x->out, flow->to.address, 0, ' ');
        pd_text_char(&x->out, ' ');
        pd_text_u64(&x->out, flow->count, 0, ' ');
        if (flow->kind == PD_FLOW_BRANCH) {
            pd_text_char(&x->out, ' ');
            pd_text_u64(&x->out, flow->misses, 0, ' ');
        }
        pd_text_char(&x->out, '\n');
        status = pd_convert_flush(x, false);
    }
    return status;
}

static perfdata_status run(struct pd_convert *x, const struct perfdata_profile_options *how,
                           struct perfdata_export_result *result)
{
    return pd_branches_run(x, how, result, "bolt", put);
}

const struct pd_format pd_format_bolt = { .flags = PERFDATA_FORMAT_OBJECT, .run = run };
