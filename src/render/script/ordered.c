/* SPDX-License-Identifier: MIT */
/* What needs the lines in order: times that depend on earlier ones, and text that is given out by
 * event. */
#include "base/digits.h"
#include "render/script/plan.h"

#define NS_PER_SECOND UINT64_C(1000000000)

/* For text by event: notes where the text of this record ends. */
bool pd_script_mark_end(struct pd_script_worker *worker, const struct pd_delivered *record,
                        const struct pd_text *text)
{
    bool is_sample = record->type == PD_RECORD_SAMPLE && record->event;
    struct pd_script_mark mark = { text->length, is_sample ? record->event->index : UINT32_MAX };
    return pd_vec_push(&worker->gaps->marks, mark);
}

void pd_script_drop(void *data, struct pd_batch *batch)
{
    struct pd_time_gaps *gaps = batch->result;
    (void)data;
    if (!gaps)
        return;
    pd_vec_free(&gaps->gaps);
    pd_vec_free(&gaps->marks);
    pd_text_free(&gaps->spare);
    free(gaps);
    batch->result = NULL;
}

/* ---- --reltime and --deltatime: the times go in when all before are known ---- */

static uint64_t shift_time(struct pd_script *script, uint64_t time)
{
    if (script->options->flags & PERFDATA_SCRIPT_RELTIME) {
        if (!script->order.first_time)
            script->order.first_time = time;
        return time - script->order.first_time;
    }
    uint64_t shifted = script->order.last_time ? time - script->order.last_time : 0;
    script->order.last_time = time;
    return shifted;
}

static void put_shifted(struct pd_script *script, uint64_t time, struct pd_text *text)
{
    pd_text_u64(text, time / NS_PER_SECOND, 5, ' ');
    pd_text_char(text, '.');
    if (script->form.time == PD_TIME_NSEC)
        pd_text_u64(text, time % NS_PER_SECOND, 9, '0');
    else
        pd_text_u64(text, time % NS_PER_SECOND / 1000, 6, '0');
    pd_text_bytes(text, ": ", 2);
}

/* Gives the text of samples to write_event(), in one piece where consecutive samples are of one
 * event. Other text stays in the batch. */
static perfdata_status give_events(struct pd_script *script, struct pd_batch *batch,
                                   const struct pd_time_gaps *gaps)
{
    const struct perfdata_script_options *options = script->options;
    char *text = batch->text.data;
    size_t begin = 0, kept = 0;
    for (size_t i = 0; i < gaps->marks.count;) {
        const struct pd_script_mark *mark = &gaps->marks.data[i];
        size_t end = begin;
        uint64_t samples = 0;
        for (; i < gaps->marks.count && gaps->marks.data[i].event == mark->event; i++) {
            samples += gaps->marks.data[i].end > end;
            end = gaps->marks.data[i].end;
        }
        if (mark->event == UINT32_MAX) {
            memmove(text + kept, text + begin, end - begin);
            kept += end - begin;
        } else if (samples && options->write_event(options->event_data, mark->event, samples,
                                                   text + begin, end - begin)) {
            return pd_fail(&script->recording->context, PERFDATA_ERROR_OUTPUT, -1,
                           "the text could not be written");
        }
        begin = end;
    }
    batch->text.length = kept;
    return PERFDATA_OK;
}

perfdata_status pd_script_in_order(void *data, struct pd_batch *batch)
{
    struct pd_script *script = data;
    struct pd_time_gaps *gaps = batch->result;
    if (!gaps)
        return PERFDATA_OK;
    if (script->options->write_event)
        return batch->text.failed || !batch->text.data ? PERFDATA_OK
                                                       : give_events(script, batch, gaps);
    struct pd_text *out = &gaps->spare, full;
    size_t from = 0;
    out->length = 0;
    out->failed |= batch->text.failed;
    for (size_t i = 0; i < gaps->gaps.count; i++) {
        const struct pd_time_gap *gap = &gaps->gaps.data[i];
        pd_text_bytes(out, batch->text.data + from, gap->position - from);
        put_shifted(script, shift_time(script, gap->time), out);
        from = gap->position;
    }
    pd_text_bytes(out, batch->text.data + from, batch->text.length - from);
    full = *out;
    gaps->spare = batch->text;
    batch->text = full;
    return PERFDATA_OK;
}

/* Checks whether the sample's time lies before that of the one before it. No sample is printed;
 * other records are, where they are asked for. */
int pd_script_check_order(struct pd_script *script, const struct pd_delivered *record)
{
    const struct pd_plan *plan = record->event ? &record->event->plan : NULL;
    if (record->type != PD_RECORD_SAMPLE)
        return PD_FRONT_PASS;
    if (!plan || !plan->time || plan->time + 8u > record->size)
        return PD_FRONT_IGNORE;
    uint64_t time = pd_load64(record->data + plan->time, plan->swap);
    script->order.misordered += time < script->order.last_time;
    script->order.last_time = time;
    return PD_FRONT_IGNORE;
}
