/* SPDX-License-Identifier: MIT */
/* What makes the scheduler's figures doubtful: events that were lost or late, and CPUs that do not
 * exist. */
#include "render/sched/sched.h"
#include "container/handle.h"

perfdata_status pd_sched_bad_cpu(const struct pd_tp_sample *sample)
{
    return pd_issue(&sample->tp->recording->context, PERFDATA_ISSUE_BAD_SAMPLE,
                    (int64_t)sample->record->offset,
                    "a switch on CPU %u, which no machine has, is left out", sample->sample.cpu);
}

void pd_sched_put_doubts(struct pd_tp *tp, const struct pd_sched_doubts *doubts)
{
    struct pd_text *out = &tp->out;
    if (doubts->late && doubts->stamps) {
        pd_tp_put_share(out, "unordered timestamps", doubts->late, doubts->stamps);
        pd_text_string(out, ")\n");
    }
    pd_tp_put_losses(tp, &doubts->losses);
    if (doubts->bugs && doubts->stamps) {
        pd_tp_put_share(out, "context switch bugs", doubts->bugs, doubts->stamps);
        pd_text_string(out, doubts->losses.events ? ") (due to lost events?)\n" : ")\n");
    }
}
