/* SPDX-License-Identifier: MIT */
/* The text that AutoFDO's create_llvm_prof and create_gcov read with --profiler=text: runs,
 * addresses (none) and branches, each with its number before. Its addresses are places in the
 * object's file, as perf maps it. */
#include "convert/branches/branches.h"

static bool is_inside(const struct pd_flow *flow)
{
    return flow->from.map && flow->to.map;
}

/* Runs of both kinds, or branches; a branch that leaves the object or comes into it is left out, as
 * AutoFDO does. */
static perfdata_status put_part(struct pd_convert *x, const struct pd_flow_list *list, bool runs,
                                const char *between)
{
    uint64_t count = 0;
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < list->flows.count; i++)
        count += (list->flows.data[i].kind != PD_FLOW_BRANCH) == runs &&
                 is_inside(&list->flows.data[i]);
    pd_text_u64(&x->out, count, 0, ' ');
    pd_text_char(&x->out, '\n');
    for (size_t i = 0; i < list->flows.count && status >= 0; i++) {
        const struct pd_flow *flow = &list->flows.data[i];
        if ((flow->kind != PD_FLOW_BRANCH) != runs || !is_inside(flow))
            continue;
        pd_text_hex(&x->out, flow->from.place, 0, ' ');
        pd_text_string(&x->out, between);
        pd_text_hex(&x->out, flow->to.place, 0, ' ');
        pd_text_char(&x->out, ':');
        status = pd_branches_end_line(x, flow->count);
    }
    return status;
}

static perfdata_status put(struct pd_convert *x, struct pd_symbols *symbols,
                           const struct pd_flow_list *list)
{
    (void)symbols;
    perfdata_status status = put_part(x, list, true, "-");
    pd_text_string(&x->out, "0\n");
    return status < 0 ? status : put_part(x, list, false, "->");
}

static perfdata_status run(struct pd_convert *x, const struct perfdata_profile_options *how,
                           struct perfdata_export_result *result)
{
    return pd_branches_run(x, how, result, "autofdo", put);
}

const struct pd_format pd_format_autofdo = { .flags = PERFDATA_FORMAT_OBJECT, .run = run };
