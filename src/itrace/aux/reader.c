/* SPDX-License-Identifier: MIT */
/* A queue's trace, piece by piece. Memory: the piece, and of snapshots and samples the buffer
 * before. */
#include "itrace/aux/index.h"
#include "itrace/bts/branch.h"
#include "itrace/intel_pt/walk/decoder.h"
#include "itrace/intel_pt/psb.h"
#include <stdlib.h>

enum {
    CUT_SEARCH = 1 << 20,
    FIRST_READ = 64 << 10,
    FIRST_LOOK = 8 << 10,
    MOST_FETCH = 16 << 20, /* of the work on a larger piece, reading is the smallest part */
    /* The size of small pieces: where few PSBs are asked for, or many. */
    LEAST_SMALL = 8 << 10,
    MOST_SMALL = 4 << 20
};

/* A piece that is still to come. */
struct place {
    size_t buffer; /* of the queue */
    uint64_t from, size, position;
    bool looked;
    int has_tsc;
    uint64_t tsc;
};

struct pd_aux_reader {
    const struct pd_aux *aux;
    uint32_t queue;
    size_t next;                   /* buffer of the queue */
    uint64_t from;                 /* in it: its pieces before this have been given */
    struct pd_aux_bytes now, last; /* last: the whole buffer before, where the next may overlap */
    struct pd_aux_bytes ahead,
        before;                  /* what is looked at before its time; the buffer before that */
    PD_VEC(struct place) places; /* what comes next; without overlaps */
    size_t place;                /* of `places`: the next one */
    /* `now` holds what another thread has read of that buffer from there on. */
    uint64_t fetched, fetched_from; /* its number; 0: not so */
    uint64_t position;
    bool overlaps, begun, rest; /* rest: [from, ...) of buffer next - 1 is still to come */
    /* From PSB to PSB by the index: */
    size_t small;                  /* the next piece's size; 0: pieces are as large as usual */
    struct pd_aux_psb_jumps *room; /* once they are needed */
};

perfdata_status pd_aux_reader_open(const struct pd_aux *aux, uint32_t queue,
                                   struct pd_aux_reader **out)
{
    struct pd_aux_reader *reader = *out = calloc(1, sizeof *reader);
    if (!reader)
        return pd_no_memory(&aux->recording->context, "an AUX area");
    reader->aux = aux;
    reader->queue = queue;
    reader->overlaps = aux->info.type == PD_AUXTRACE_INTEL_PT
                           ? aux->info.pt.snapshot_mode || aux->modes.sampling
                           : pd_aux_info_bts_snapshot(&aux->info);
    return PERFDATA_OK;
}

void pd_aux_reader_close(struct pd_aux_reader *reader)
{
    if (!reader)
        return;
    free(reader->now.data);
    free(reader->last.data);
    free(reader->ahead.data);
    free(reader->before.data);
    pd_vec_free(&reader->places);
    free(reader->room);
    free(reader);
}

void pd_aux_reader_seek(struct pd_aux_reader *reader, size_t index)
{
    reader->next = index;
    reader->begun = reader->rest = false;
    reader->last.size = 0;
    reader->places.count = reader->place = 0;
}

typedef perfdata_status reading(const struct pd_aux *aux, const struct pd_aux_buffer *buffer,
                                uint64_t from, void *to, size_t size, size_t *got);

/* Reads [from, from + size) of the buffer, or what the file has of it. Memory grows with what has
 * been read: a file that only claims to be large gets none. */
static perfdata_status read_growing(const struct pd_aux *aux, struct pd_aux_bytes *to,
                                    const struct pd_aux_buffer *buffer, uint64_t from,
                                    uint64_t size, reading *read)
{
    bool all = true;
    to->size = 0;
    for (uint64_t room = FIRST_READ; all && to->size < size; room = 8 * (uint64_t)to->size) {
        size_t want = (size_t)PD_MIN(size, PD_MAX(room, (uint64_t)to->capacity)), got;
        if (want > to->capacity) {
            uint8_t *grown = realloc(to->data, want);
            if (!grown)
                return PERFDATA_ERROR_MEMORY;
            to->data = grown;
            to->capacity = want;
        }
        perfdata_status status = read(aux, buffer, from + to->size, to->data + to->size,
                                      want - to->size, &got);
        if (status < 0)
            return status;
        to->size += got;
        all = to->size == want;
    }
    return PERFDATA_OK;
}

static perfdata_status fill(struct pd_aux_reader *reader, struct pd_aux_bytes *to,
                            const struct pd_aux_buffer *buffer, uint64_t from, uint64_t size)
{
    const struct pd_aux *aux = reader->aux;
    perfdata_status status = read_growing(aux, to, buffer, from, size, pd_aux_read);
    if (status == PERFDATA_ERROR_MEMORY)
        return pd_no_memory(&aux->recording->context, "an AUX area");
    if (status < 0 || to->size >= size)
        return status;
    return pd_issue(&aux->recording->context, PERFDATA_ISSUE_TRUNCATED,
                    (int64_t)buffer->record_offset, "an AUX area's bytes are cut");
}

/* Where a large buffer's piece ends: in front of its last PSB. */
static size_t cut_before_psb(const struct pd_aux_bytes *piece)
{
    size_t from = piece->size > CUT_SEARCH ? piece->size - CUT_SEARCH : 0, found = 0;
    for (size_t at = pd_pt_find_psb(piece->data, piece->size, from); at < piece->size;
         at = pd_pt_find_psb(piece->data, piece->size, at + 1))
        found = at;
    return found ? found : piece->size;
}

static void give(struct pd_aux_reader *reader, const struct pd_aux_buffer *buffer, uint64_t from,
                 struct pd_aux_piece *out)
{
    out->reference = buffer->reference;
    out->trace_number = buffer->number;
    out->position = reader->position;
    out->buffer = buffer;
    out->from = from;
    reader->position += out->size;
    reader->begun = true;
}

/* Reads the piece, unless another thread has. */
static perfdata_status fill_now(struct pd_aux_reader *reader, const struct pd_aux_buffer *buffer,
                                uint64_t from, uint64_t size)
{
    bool there = reader->fetched == buffer->number && reader->fetched_from == from &&
                 reader->now.size == size;
    reader->fetched = 0;
    return there ? PERFDATA_OK : fill(reader, &reader->now, buffer, from, size);
}

/* Reads up to `most` bytes of a piece; *size: where they may be cut. 0: nowhere. */
static perfdata_status fill_part(struct pd_aux_reader *reader, const struct pd_aux_buffer *buffer,
                                 uint64_t most, size_t *size)
{
    uint64_t left = buffer->size - reader->from, want = PD_MIN(left, most);
    struct pd_aux_bytes *now = &reader->now;
    perfdata_status status = fill_now(reader, buffer, reader->from, want);
    if (status < 0)
        return status;
    bool ends = now->size < want || now->size == left;
    if (!ends && reader->aux->info.type == PD_AUXTRACE_INTEL_BTS)
        *size = now->size - now->size % PD_BTS_SIZE;
    else if (ends || reader->aux->info.type != PD_AUXTRACE_INTEL_PT)
        *size = now->size;
    else
        *size = most < PD_AUX_PIECE ? pd_pt_psb_cut(now->data, now->size) : cut_before_psb(now);
    return PERFDATA_OK;
}

/* The next piece of a buffer; the first when from is 0. */
static int next_part(struct pd_aux_reader *reader, const struct pd_aux_buffer *buffer,
                     struct pd_aux_piece *out)
{
    uint64_t from = reader->from, most = reader->small ? reader->small : PD_AUX_PIECE;
    perfdata_status status = fill_part(reader, buffer, most, &out->size);
    while (!status && !out->size && reader->now.size && most < PD_AUX_PIECE) {
        most = PD_MIN(most * 8, (uint64_t)PD_AUX_PIECE);
        status = fill_part(reader, buffer, most, &out->size);
    }
    if (status < 0)
        return status;
    if (reader->small)
        reader->small = PD_MIN(reader->small * 2, (size_t)MOST_SMALL);
    bool ends = out->size == reader->now.size &&
                (reader->now.size < most || from + out->size == buffer->size);
    out->data = reader->now.data;
    out->inside = from > 0;
    out->consecutive = reader->begun;
    out->follows = reader->next > 1;
    reader->rest = !ends && out->size;
    reader->from = from + out->size;
    give(reader, buffer, from, out);
    return out->size > 0;
}

/* Gives a buffer that may overlap with the one before. 0: nothing in it is new. */
static int next_cut(struct pd_aux_reader *reader, const struct pd_aux_buffer *buffer,
                    struct pd_aux_piece *out)
{
    perfdata_status status = fill(reader, &reader->now, buffer, 0, buffer->size);
    if (status < 0)
        return status;
    struct pd_aux_bytes *now = &reader->now, *last = &reader->last;
    size_t from = 0;
    out->consecutive = false;
    if (reader->begun && reader->aux->info.type == PD_AUXTRACE_INTEL_BTS) {
        if (!pd_bts_find_overlap(last->data, last->size, now->data, now->size, &from))
            return pd_no_memory(&reader->aux->recording->context, "an AUX area");
        out->consecutive = from > 0;
    } else if (reader->begun) {
        from = pd_pt_find_overlap(last->data, last->size, now->data, now->size,
                                  reader->aux->modes.have_tsc, reader->aux->options.keep_vm_time,
                                  &out->consecutive);
    }
    out->size = now->size - from;
    if (!out->size)
        return 0;
    struct pd_aux_bytes swap = *last;
    *last = *now;
    *now = swap;
    out->data = last->data + from;
    out->inside = false;
    out->follows = out->consecutive;
    give(reader, buffer, from, out);
    return 1;
}

/* Drops the places of pieces that have been given. */
static void pass_places(struct pd_aux_reader *reader)
{
    for (; reader->place < reader->places.count; reader->place++) {
        const struct place *place = &reader->places.data[reader->place];
        bool rest = reader->rest && place->buffer == reader->next - 1 &&
                    place->from >= reader->from;
        if (rest || place->buffer >= reader->next)
            return;
    }
}

int pd_aux_reader_next(struct pd_aux_reader *reader, struct pd_aux_piece *out)
{
    const struct pd_aux *aux = reader->aux;
    if (reader->queue >= aux->queues.count)
        return 0;
    const struct pd_aux_queue *queue = &aux->queues.data[reader->queue];
    int got = 0;
    while (!got) {
        if (!reader->rest) {
            if (reader->next >= queue->buffers.count)
                return 0;
            reader->next++;
            reader->from = 0;
            reader->small = PD_MIN(reader->small, (size_t)LEAST_SMALL);
        }
        const struct pd_aux_buffer *buffer =
            &aux->buffers.data[queue->buffers.data[reader->next - 1]];
        reader->rest = false;
        got = reader->overlaps ? next_cut(reader, buffer, out) : next_part(reader, buffer, out);
    }
    pass_places(reader);
    return got;
}

/* ---- read by another thread ---- */

bool pd_aux_reader_plan(const struct pd_aux_reader *reader, struct pd_aux_fetch *fetch)
{
    const struct pd_aux *aux = reader->aux;
    if (reader->overlaps || reader->queue >= aux->queues.count)
        return false;
    const struct pd_aux_queue *queue = &aux->queues.data[reader->queue];
    const size_t next = reader->rest ? reader->next - 1 : reader->next;
    if (next >= queue->buffers.count)
        return false;
    fetch->aux = aux;
    fetch->buffer = aux->buffers.data[queue->buffers.data[next]];
    fetch->from = reader->rest ? reader->from : 0;
    fetch->size = fetch->buffer.size - fetch->from;
    return fetch->size && fetch->size <= MOST_FETCH && !fetch->buffer.memory;
}

bool pd_aux_fetch_read(struct pd_aux_fetch *fetch)
{
    return read_growing(fetch->aux, &fetch->bytes, &fetch->buffer, fetch->from, fetch->size,
                        pd_aux_read_quietly) == PERFDATA_OK &&
           fetch->bytes.size == fetch->size;
}

void pd_aux_reader_take(struct pd_aux_reader *reader, struct pd_aux_fetch *fetch)
{
    const struct pd_aux_bytes swap = reader->now;
    reader->now = fetch->bytes;
    reader->fetched = fetch->buffer.number;
    reader->fetched_from = fetch->from;
    fetch->bytes = swap;
}

/* ---- what is still to come ---- */

/* Finds what the buffer `index`, which is in `ahead`, has beyond the one before it. */
static int look_behind_overlap(struct pd_aux_reader *reader, size_t index, uint64_t *tsc)
{
    const struct pd_aux *aux = reader->aux;
    const struct pd_aux_queue *queue = &aux->queues.data[reader->queue];
    const struct pd_aux_buffer *buffer = &aux->buffers.data[queue->buffers.data[index]];
    perfdata_status status = fill(reader, &reader->ahead, buffer, 0,
                                  PD_MIN(buffer->size, (uint64_t)PD_AUX_PIECE));
    size_t from = 0;
    bool consecutive;
    if (status == PERFDATA_OK && index) {
        const struct pd_aux_buffer *before = &aux->buffers.data[queue->buffers.data[index - 1]];
        status = fill(reader, &reader->before, before, 0, before->size);
        from = pd_pt_find_overlap(reader->before.data, reader->before.size, reader->ahead.data,
                                  reader->ahead.size, aux->modes.have_tsc,
                                  aux->options.keep_vm_time, &consecutive);
    }
    if (status < 0)
        return -1;
    return pd_pt_first_tsc(reader->ahead.data + from, reader->ahead.size - from, tsc) > 0;
}

/* How much of [from, ...) is one piece, as next_part() finds it. */
static uint64_t piece_size(struct pd_aux_reader *reader, const struct pd_aux_buffer *buffer,
                           uint64_t from)
{
    uint64_t left = buffer->size - from;
    if (left <= PD_AUX_PIECE || reader->aux->info.type != PD_AUXTRACE_INTEL_PT)
        return left;
    struct pd_aux_bytes *tail = &reader->ahead;
    uint64_t before = PD_AUX_PIECE - CUT_SEARCH;
    if (fill(reader, tail, buffer, from + before, CUT_SEARCH) < 0 || tail->size < CUT_SEARCH)
        return left;
    return before + cut_before_psb(tail);
}

static bool add_place(struct pd_aux_reader *reader)
{
    const struct pd_aux *aux = reader->aux;
    const struct pd_aux_queue *queue = &aux->queues.data[reader->queue];
    struct place place = { .buffer = reader->next, .position = reader->position };
    if (reader->place < reader->places.count) {
        const struct place *last = &reader->places.data[reader->places.count - 1];
        place = (struct place){ .buffer = last->buffer,
                                .from = last->from + last->size,
                                .position = last->position + last->size };
        if (place.from >= aux->buffers.data[queue->buffers.data[place.buffer]].size) {
            place.buffer++;
            place.from = 0;
        }
    } else if (reader->rest) {
        place.buffer--;
        place.from = reader->from;
    }
    if (place.buffer >= queue->buffers.count)
        return false;
    place.size = piece_size(reader, &aux->buffers.data[queue->buffers.data[place.buffer]],
                            place.from);
    if (reader->place == reader->places.count)
        reader->places.count = reader->place = 0;
    return pd_vec_push(&reader->places, place);
}

static struct place *place_at(struct pd_aux_reader *reader, size_t nth)
{
    if (reader->queue >= reader->aux->queues.count)
        return NULL;
    while (reader->places.count - reader->place <= nth)
        if (!add_place(reader))
            return NULL;
    return &reader->places.data[reader->place + nth];
}

/* Most pieces have a PSB+ near their beginning: no more is read than is needed to see it. */
static void look(struct pd_aux_reader *reader, struct place *place, uint32_t number)
{
    const struct pd_aux_buffer *buffer = &reader->aux->buffers.data[number];
    uint64_t size = PD_MIN(buffer->size - place->from, (uint64_t)PD_AUX_PIECE);
    place->looked = true;
    for (uint64_t want = FIRST_LOOK;; want *= 8) {
        uint64_t now = PD_MIN(want, size);
        if (fill(reader, &reader->ahead, buffer, place->from, now) < 0)
            return;
        place->has_tsc = pd_pt_first_tsc(reader->ahead.data, reader->ahead.size, &place->tsc);
        if (place->has_tsc > 0 || now == size || reader->ahead.size < now)
            break;
    }
    place->has_tsc = place->has_tsc > 0;
}

int pd_aux_reader_ahead(struct pd_aux_reader *reader, size_t nth, uint64_t *tsc,
                        uint64_t *reference)
{
    const struct pd_aux *aux = reader->aux;
    if (reader->queue >= aux->queues.count)
        return -1;
    const uint32_t *numbers = aux->queues.data[reader->queue].buffers.data;
    if (reader->overlaps) {
        size_t index = reader->next + nth;
        if (index < nth || index >= aux->queues.data[reader->queue].buffers.count)
            return -1;
        *reference = aux->buffers.data[numbers[index]].reference;
        return look_behind_overlap(reader, index, tsc);
    }
    struct place *place = place_at(reader, nth);
    if (!place)
        return -1;
    if (!place->looked)
        look(reader, place, numbers[place->buffer]);
    *tsc = place->tsc;
    *reference = aux->buffers.data[numbers[place->buffer]].reference;
    return place->has_tsc;
}

perfdata_status pd_aux_reader_skip(struct pd_aux_reader *reader, size_t nth, uint64_t tsc)
{
    struct pd_aux_piece piece;
    if (reader->overlaps) {
        int got = 1;
        while (nth-- && (got = pd_aux_reader_next(reader, &piece)) > 0)
            continue;
        return PD_MIN(got, 0);
    }
    const struct place *place = place_at(reader, nth);
    if (!place)
        return PERFDATA_OK;
    uint32_t number = reader->aux->queues.data[reader->queue].buffers.data[place->buffer];
    uint64_t from = pd_aux_index_before(reader->aux, number, place->from, place->size, tsc);
    reader->next = place->buffer + (from > 0);
    reader->rest = from > 0;
    reader->from = from;
    reader->position = place->position + (from - place->from);
    reader->places.count = reader->place = 0;
    return PERFDATA_OK;
}

/* ---- from PSB to PSB ---- */

void pd_aux_reader_psb_jump(struct pd_aux_reader *reader)
{
    reader->small = LEAST_SMALL;
}

bool pd_aux_reader_psb_jumps(struct pd_aux_reader *reader, uint64_t position, uint64_t below,
                             struct pd_pt_psb_jumps *out)
{
    if (!reader->room)
        reader->room = calloc(1, sizeof *reader->room);
    if (!reader->room || !reader->next || position > reader->position ||
        reader->position - position > reader->from)
        return false;
    const struct pd_aux_queue *queue = &reader->aux->queues.data[reader->queue];
    const uint64_t offset = reader->from - (reader->position - position);
    if (!pd_aux_index_psb_jumps(reader->aux, queue->buffers.data[reader->next - 1], offset, below,
                                reader->room, out))
        return false;
    out->base = position - offset;
    out->resume += out->base;
    return true;
}

void pd_aux_reader_psb_jump_to(struct pd_aux_reader *reader, uint64_t position)
{
    reader->from += position - reader->position;
    reader->position = position;
    reader->rest = true;
    reader->small = LEAST_SMALL;
}
