/* SPDX-License-Identifier: MIT */
/* What makes the scheduler's figures doubtful: events that were lost or late, and CPUs that do not
 * exist. */
#include "render/sched/sched.h"
#include "container/handle.h"
#include "format/offsets.h"

perfdata_status pd_sched_bad_cpu(const struct pd_tp_sample *sample)
{
    return pd_issue(&sample->tp->recording->context, PERFDATA_ISSUE_BAD_SAMPLE,
                    (int64_t)sample->record->offset,
                    "a switch on CPU %u, which no machine has, is left out", sample->sample.cpu);
}

bool pd_sched_lost(const struct pd_tp *tp, const struct pd_delivered *record, uint64_t *events)
{
    if (record->type != PD_RECORD_LOST || record->size < sizeof(struct pd_at_lost))
        return false;
    *events = pd_load64(record->data + PD_AT(lost, lost), tp->recording->swap);
    return true;
}

void pd_sched_note_lost(const struct pd_tp *tp, struct pd_sched_doubts *doubts,
                        const struct pd_delivered *record)
{
    uint64_t events;
    if (!pd_sched_lost(tp, record, &events))
        return;
    doubts->lost += events;
    doubts->lost_chunks++;
}

static void put_share(struct pd_text *out, const char *what, uint64_t part, uint64_t whole)
{
    pd_text_format(out, "  INFO: %.3f%% %s (%llu out of %llu", (double)part / (double)whole * 100,
                   what, (unsigned long long)part, (unsigned long long)whole);
}

void pd_sched_put_doubts(struct pd_tp *tp, const struct pd_sched_doubts *doubts)
{
    struct pd_text *out = &tp->out;
    uint64_t records = tp->session.order_stats_copy.records;
    if (doubts->late && doubts->stamps) {
        put_share(out, "unordered timestamps", doubts->late, doubts->stamps);
        pd_text_string(out, ")\n");
    }
    if (doubts->lost && records) {
        put_share(out, "lost events", doubts->lost, records);
        pd_text_format(out, ", in %llu chunks)\n", (unsigned long long)doubts->lost_chunks);
    }
    if (doubts->bugs && doubts->stamps) {
        put_share(out, "context switch bugs", doubts->bugs, doubts->stamps);
        pd_text_string(out, doubts->lost ? ") (due to lost events?)\n" : ")\n");
    }
}
