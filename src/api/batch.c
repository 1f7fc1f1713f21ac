/* SPDX-License-Identifier: MIT */
/* <perfdata/records.h>: samples, many in each call. */
#include "api/cursor.h"

enum { FRAMES_KEPT = 16384 };

/* Frames are known again by what is noted at their location: the address that the frame had (mostly
 * the location's own), its number and which numbers these are. A location that went and came back
 * has lost it, and gets a new number. */
static bool knows(const struct pd_api_batch *batch, const struct pd_frame *frame)
{
    const struct pd_location *location = frame->location;
    return location->memo[0] >> 32 == batch->generation && location->memo[1] == frame->ip;
}

static void number_frame(struct pd_api_batch *batch, const struct pd_frame *frame)
{
    frame->location->memo[0] = (uint64_t)batch->generation << 32 | batch->frames++;
    frame->location->memo[1] = frame->ip;
}

static void forget_frames(struct pd_api_batch *batch)
{
    batch->generation++;
    batch->frames = 0;
}

/* The caller's structure number `index`, of the size that the first one has. */
static void *caller_place(void *first, size_t index)
{
    size_t size = *(const size_t *)first;
    char *place = (char *)first + index * size;
    *(size_t *)(void *)place = size;
    return place;
}

/* Goes on to a sample; 1, 0: there is none at hand, or a status. Only for the first may new records
 * be read, for which those before go. */
static int next_given(struct perfdata_cursor *cursor)
{
    while (!cursor->batch.given.count || pd_api_is_at_hand(cursor)) {
        int got = pd_api_next(cursor);
        if (got <= 0)
            return got;
        if (pd_api_is_sample(cursor->record.delivered))
            return 1;
    }
    return 0;
}

static bool has_room(const struct perfdata_sample_batch *out)
{
    return out->row_count < out->row_room &&
           (!out->max_stack || (out->number_room - out->number_count >= out->max_stack &&
                                out->frame_room - out->frame_count >= out->max_stack));
}

/* Puts the current sample behind those that are there. */
static perfdata_status put_sample(struct perfdata_cursor *cursor, struct perfdata_sample_batch *out)
{
    struct pd_api_batch *batch = &cursor->batch;
    struct perfdata_sample_row row = { 0 };
    perfdata_status status = pd_api_fill_row(cursor, out->max_stack, &row);
    if (status < 0)
        return status;
    for (uint32_t i = 0; i < row.frame_count; i++) {
        const struct pd_frame *frame = &cursor->frames.data[i];
        if (!knows(batch, frame)) {
            number_frame(batch, frame);
            pd_api_put_location(&cursor->record, frame->location, frame->ip,
                                caller_place(out->frames, out->frame_count++));
        }
        out->numbers[out->number_count++] = (uint32_t)frame->location->memo[0];
    }
    pd_give_result(caller_place(out->rows, out->row_count++), &row, sizeof row);
    batch->given.data[batch->given.count++] = cursor->record.delivered;
    return PERFDATA_OK;
}

static int fill(struct perfdata_cursor *cursor, struct perfdata_sample_batch *out)
{
    struct pd_api_batch *batch = &cursor->batch;
    int got = batch->failed;
    batch->failed = 0;
    batch->given.count = 0;
    if (got < 0)
        return got;
    if (batch->frames >= FRAMES_KEPT || !batch->generation)
        forget_frames(batch);
    out->first_frame = batch->frames;
    if (!pd_vec_reserve(&batch->given, PD_MIN(out->row_room, (size_t)PD_JOB_RECORDS)))
        return pd_no_memory(&cursor->recording->context, NULL);
    while (has_room(out) && (got = next_given(cursor)) > 0)
        if ((got = put_sample(cursor, out)) < 0) {
            forget_frames(batch); /* the caller may have got only some of them */
            break;
        }
    if (!out->row_count)
        return got;
    batch->failed = PD_MIN(got, 0);
    return 1;
}

int perfdata_cursor_next_samples(perfdata_cursor *cursor, struct perfdata_sample_batch *given)
{
    struct perfdata_sample_batch out = { 0 };
    perfdata_status status = pd_take_options(&cursor->recording->context, &out, sizeof out, given);
    if (status < 0)
        return status;
    out.row_count = out.number_count = out.frame_count = 0;
    if (!has_room(&out))
        return pd_fail(&cursor->recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "a sample may have no room in the batch");
    int got = fill(cursor, &out);
    pd_give_result(given, &out, sizeof out);
    return got;
}

const perfdata_record *perfdata_cursor_choose(perfdata_cursor *cursor, size_t index)
{
    if (index >= cursor->batch.given.count)
        return NULL;
    cursor->record.delivered = cursor->batch.given.data[index];
    return &cursor->record;
}
