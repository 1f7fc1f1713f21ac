/* SPDX-License-Identifier: MIT */
/* The index beside a recording -> which PSBs there are, and when. */
#include "itrace/aux/index_file.h"
#include "itrace/intel_pt/walk/decoder.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct pd_aux_index {
    struct pd_index_head head;
    uint8_t *bytes; /* behind the jumps */
    const struct pd_index_row *rows;
    const struct pd_index_entry *entries;
    const struct pd_index_run *runs;
    PD_VEC(uint32_t) row_of; /* by number of a buffer in struct pd_aux */
    struct pd_context quiet;
    struct pd_source *source; /* the jumps are read when they are asked for */
    atomic_bool rejected;     /* something in the index is not so in the trace */
};

bool pd_index_path(const struct pd_aux *aux, char *path, size_t size)
{
    const char *name = aux->recording->context.path;
    size_t length = name ? strlen(name) : 0;
    while (length > 1 && name[length - 1] == '/') /* a directory */
        length--;
    return length &&
           (size_t)snprintf(path, size, "%.*s" PD_AUX_INDEX_SUFFIX, (int)length, name) < size;
}

bool pd_index_is_possible(const struct pd_aux *aux)
{
    const struct pd_recording *recording = aux->recording;
    return recording->kind != PD_CONTAINER_PIPE && !pd_source_is_stream(recording->source) &&
           !pd_source_memory(recording->source) && !recording->parts.count;
}

/* ---- reading one ---- */

void pd_aux_index_free(struct pd_aux_index *index)
{
    if (!index)
        return;
    pd_source_close(index->source);
    pd_context_fini(&index->quiet);
    free(index->bytes);
    pd_vec_free(&index->row_of);
    free(index);
}

/* Adds `count` parts of a size, if the sum stays below `most`. */
static bool add_part(uint64_t *sum, uint64_t count, size_t size, uint64_t most)
{
    uint64_t part;
    return !pd_mul_overflows(count, size, &part) && !pd_add_overflows(*sum, part, sum) &&
           *sum <= most;
}

static bool read_at(struct pd_aux_index *index, uint64_t from, void *to, uint64_t size)
{
    size_t got = 0;
    return pd_source_read(index->source, from, to, (size_t)size, &got) >= 0 && got == size;
}

/* Reads what is behind the jumps; NULL, or what is wrong with it. */
static const char *read_parts(struct pd_aux_index *index, uint64_t size)
{
    const struct pd_index_head *head = &index->head;
    uint64_t psb_jumps = sizeof *head, rows = 0, entries, runs;
    if (!add_part(&psb_jumps, head->psb_jumps, sizeof(struct pd_pt_psb_jump), size))
        return "it is damaged";
    if (!add_part(&rows, head->rows, sizeof *index->rows, size))
        return "it is damaged";
    entries = rows;
    if (!add_part(&entries, head->entries, sizeof *index->entries, size))
        return "it is damaged";
    runs = entries;
    if (!add_part(&runs, head->runs, sizeof *index->runs, size) || psb_jumps + runs != size)
        return "it is damaged";
    index->bytes = malloc(runs ? (size_t)runs : 1);
    if (!index->bytes)
        return "there is no memory";
    if (!read_at(index, psb_jumps, index->bytes, runs))
        return "it cannot be read";
    index->rows = (const void *)index->bytes;
    index->entries = (const void *)(index->bytes + rows);
    index->runs = (const void *)(index->bytes + entries);
    return pd_index_checksum(head, index->rows, index->entries, index->runs) == head->checksum
               ? NULL
               : "it is damaged";
}

/* Whether the entries and runs of a row come in the order of their places and lie within its
 * buffer. */
static bool row_is_ordered(const struct pd_aux_index *index, uint64_t number)
{
    const struct pd_index_row *row = &index->rows[number];
    const bool last = number + 1 == index->head.rows;
    const uint64_t entries_end = last ? index->head.entries : row[1].first_entry;
    const uint64_t runs_end = last ? index->head.runs : row[1].first_run;
    if (row->first_entry > entries_end || entries_end > index->head.entries ||
        row->first_run > runs_end || runs_end > index->head.runs)
        return false;
    for (uint64_t i = row->first_entry; i < entries_end; i++) {
        const struct pd_index_entry *entry = &index->entries[i];
        if (entry->offset >= row->size ||
            (i > row->first_entry &&
             (entry->offset <= entry[-1].offset || entry->tsc < entry[-1].tsc)))
            return false;
    }
    for (uint64_t i = row->first_run; i < runs_end; i++) {
        const struct pd_index_run *run = &index->runs[i];
        if (run->first >= run->resume || run->resume >= row->size || !run->psb_jumps ||
            run->psb_jumps > PD_AUX_PSB_JUMPS || !run->told_count ||
            run->told_count > PD_LENGTH(run->told) ||
            (i > row->first_run && run->first < run[-1].resume))
            return false;
    }
    return true;
}

static bool is_ordered(const struct pd_aux_index *index)
{
    uint64_t row = 0;
    if (index->head.rows && (index->rows[0].first_entry || index->rows[0].first_run))
        return false;
    while (row < index->head.rows && row_is_ordered(index, row))
        row++;
    return row == index->head.rows;
}

/* What is wrong with an index; NULL: nothing. */
static const char *check(struct pd_aux_index *index, const struct pd_aux *aux)
{
    const struct pd_index_head *head = &index->head;
    const struct pd_source *recording = aux->recording->source;
    uint64_t size = pd_source_size(index->source); /* UINT64_MAX: no file */
    if (size == UINT64_MAX)
        return "it cannot be read";
    if (size < sizeof *head || !read_at(index, 0, &index->head, sizeof index->head) ||
        memcmp(head->magic, PD_INDEX_MAGIC, sizeof head->magic) != 0)
        return "it is none";
    if (head->version != PD_INDEX_VERSION || head->order != PD_INDEX_ORDER)
        return "it is of another version or machine";
    if (head->recording_size != pd_source_size(recording) ||
        head->recording_changed != (uint64_t)pd_source_changed(recording))
        return "the recording has changed since";
    const char *wrong = read_parts(index, size);
    return wrong || is_ordered(index) ? wrong : "it is damaged";
}

/* Finds each buffer's row; rows of CPUs that are not wanted have no buffer. */
static const char *find_rows(struct pd_aux_index *index, const struct pd_aux *aux)
{
    uint64_t at = 0, count = index->head.rows;
    for (size_t i = 0; i < aux->buffers.count; i++, at++) {
        const struct pd_aux_buffer *buffer = &aux->buffers.data[i];
        while (at < count && index->rows[at].record_offset != buffer->record_offset)
            at++;
        const struct pd_index_row *row = &index->rows[at];
        if (at >= count || row->size != buffer->size || row->reference != buffer->reference)
            return "its buffers are others";
        if (!pd_vec_push(&index->row_of, (uint32_t)at))
            return "there is no memory";
    }
    return NULL;
}

/* NULL: it is there, in *out. */
static const char *open_index(const struct pd_aux *aux, const char *path, struct pd_aux_index **out)
{
    struct pd_aux_index *index = calloc(1, sizeof *index);
    if (!index)
        return "there is no memory";
    pd_context_init(&index->quiet);
    const char *wrong = pd_source_open_regular(&index->quiet, path, &index->source) == PERFDATA_OK
                            ? check(index, aux)
                            : "it cannot be read";
    if (!wrong)
        wrong = find_rows(index, aux);
    if (wrong)
        pd_aux_index_free(index);
    else
        *out = index;
    return wrong;
}

perfdata_status pd_aux_index_load(struct pd_aux *aux)
{
    char path[4096];
    if (aux->index || !pd_index_is_possible(aux) || aux->info.pt.snapshot_mode ||
        aux->modes.sampling || !pd_index_path(aux, path, sizeof path) || access(path, F_OK) != 0)
        return PERFDATA_OK;
    const char *wrong = open_index(aux, path, &aux->index);
    return wrong ? pd_issue(&aux->recording->context, PERFDATA_ISSUE_OBJECT, -1,
                            "%s is not used: %s", path, wrong)
                 : PERFDATA_OK;
}

/* ---- looking into one ---- */

/* Whether what the index says holds: 0: it does not; < 0: that cannot be told. */
enum { DOES_NOT_HOLD = 0, HOLDS = 1, UNKNOWN = -1 };

/* The index is of other bytes, whatever its head says: from now on it is as if there were none. */
static void reject(const struct pd_aux *aux)
{
    char path[4096];
    if (atomic_exchange(&aux->index->rejected, true) || !pd_index_path(aux, path, sizeof path))
        return;
    pd_issue(&aux->recording->context, PERFDATA_ISSUE_OBJECT, -1,
             "%s is not used any more: the trace is not what it says", path);
}

static const struct pd_aux_index *usable(const struct pd_aux *aux)
{
    const struct pd_aux_index *index = aux->index;
    return index && !atomic_load_explicit(&aux->index->rejected, memory_order_relaxed) ? index
                                                                                       : NULL;
}

/* Bytes enough for a PSB+ and what is behind it. */
struct psb_bytes {
    uint8_t bytes[512];
    size_t size;
};

static int read_psb_bytes(const struct pd_aux *aux, uint32_t buffer, uint64_t offset,
                          struct psb_bytes *out)
{
    const struct pd_aux_buffer *from = &aux->buffers.data[buffer];
    if (pd_aux_read_quietly(aux, from, offset, out->bytes, sizeof out->bytes, &out->size) < 0)
        return UNKNOWN;
    return out->size >= 16 && pd_pt_find_psb(out->bytes, out->size, 0) == 0;
}

static int entry_holds(const struct pd_aux *aux, uint32_t buffer,
                       const struct pd_index_entry *entry)
{
    struct psb_bytes psb;
    uint64_t tsc;
    int holds = read_psb_bytes(aux, buffer, entry->offset, &psb);
    if (holds == HOLDS)
        holds = pd_pt_psb_tsc(psb.bytes, psb.bytes + psb.size, &tsc);
    if (holds == HOLDS)
        holds = pd_pt_tsc_near(tsc, aux->buffers.data[buffer].reference) <= entry->tsc;
    return holds;
}

uint64_t pd_aux_index_before(const struct pd_aux *aux, uint32_t buffer, uint64_t from,
                             uint64_t size, uint64_t tsc)
{
    const struct pd_aux_index *index = usable(aux);
    if (!index)
        return from;
    uint64_t row = index->row_of.data[buffer];
    uint64_t low = index->rows[row].first_entry, first = low;
    uint64_t high = row + 1 < index->head.rows ? index->rows[row + 1].first_entry
                                               : index->head.entries;
    while (low < high) { /* the first that is too late, or too far */
        uint64_t middle = low + (high - low) / 2;
        const struct pd_index_entry *entry = &index->entries[middle];
        if (entry->tsc < tsc && (entry->offset <= from || entry->offset - from < size))
            low = middle + 1;
        else
            high = middle;
    }
    if (low <= first || index->entries[low - 1].offset <= from)
        return from;
    const struct pd_index_entry *entry = &index->entries[low - 1];
    int holds = entry_holds(aux, buffer, entry);
    if (holds == DOES_NOT_HOLD)
        reject(aux);
    return holds == HOLDS ? entry->offset : from;
}

/* ---- jumps ---- */

/* The run of a buffer in which a PSB at that offset is followed by others; NULL: none. */
static const struct pd_index_run *find_run(const struct pd_aux_index *index, uint32_t buffer,
                                           uint64_t offset)
{
    const uint64_t row = index->row_of.data[buffer];
    uint64_t end = row + 1 < index->head.rows ? index->rows[row + 1].first_run : index->head.runs;
    uint64_t low = index->rows[row].first_run, high = end;
    while (low < high) { /* the first that ends behind it */
        uint64_t middle = low + (high - low) / 2;
        if (index->runs[middle].resume <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    const struct pd_index_run *run = low < end ? &index->runs[low] : NULL;
    return run && run->first <= offset ? run : NULL;
}

/* Reads all jumps of a run, unless `room` has them already. */
static bool read_leaps(const struct pd_aux *aux, const struct pd_index_run *run,
                       struct pd_aux_psb_jumps *room)
{
    struct pd_aux_index *index = aux->index;
    const uint64_t size = run->psb_jumps * sizeof *room->list;
    if (room->run == run)
        return true;
    room->run = NULL;
    if (run->first_jump > index->head.psb_jumps ||
        run->psb_jumps > index->head.psb_jumps - run->first_jump ||
        !read_at(index, sizeof index->head + run->first_jump * sizeof *room->list, room->list,
                 size) ||
        pd_digest(room->list, size, 0) != run->checksum)
        return false;
    room->run = run;
    return true;
}

/* How many of a list come up to an offset, or before a time. */
static size_t count_up_to(const struct pd_pt_psb_jump *list, size_t count, uint64_t offset)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (list[middle].offset <= offset)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

static size_t count_before(const struct pd_pt_psb_jump *list, size_t count, uint64_t tsc)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (list[middle].tsc < tsc)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* Keeps of list[from .. to) the last one with an address, and the very last one. */
static void tell(struct pd_aux_psb_jumps *room, size_t from, size_t to)
{
    size_t address = to;
    while (address > from && !room->list[address - 1].ip)
        address--;
    room->told_count = 0;
    if (address > from)
        room->told[room->told_count++] = room->list[address - 1];
    if (address < to)
        room->told[room->told_count++] = room->list[to - 1];
}

/* Finds the jump from a PSB over those with a TSC less than `below`, in room->told; *resume: the
 * PSB behind them. False: nothing, or so little that it is not worth while. */
static bool choose_leaps(const struct pd_aux *aux, const struct pd_index_run *run, uint64_t offset,
                         uint64_t below, struct pd_aux_psb_jumps *room, uint64_t *resume)
{
    enum { LEAST = 8 };
    const struct pd_pt_psb_jump *last = &run->told[run->told_count - 1];
    const bool whole = offset == run->first && last->tsc < below;
    *resume = run->resume;
    if (whole && run->told[0].ip) {
        memcpy(room->told, run->told, sizeof room->told);
        room->told_count = run->told_count;
        return true;
    }
    if (!read_leaps(aux, run, room)) {
        reject(aux);
        return false;
    }
    size_t from = count_up_to(room->list, run->psb_jumps, offset);
    size_t to = count_before(room->list, run->psb_jumps, below);
    if (to < from + LEAST)
        return false;
    if (to < run->psb_jumps)
        *resume = room->list[to].offset;
    tell(room, from, to);
    return true;
}

/* The plain PSB+ at that place. */
static int read_psb(const struct pd_aux *aux, uint32_t buffer, uint64_t offset,
                    struct pd_pt_psb *out)
{
    struct psb_bytes psb;
    int holds = read_psb_bytes(aux, buffer, offset, &psb);
    return holds == HOLDS ? pd_pt_psb_read(psb.bytes, psb.bytes + psb.size, out) : holds;
}

/* Finds the PSB that comes next behind one, if it is not far away. */
static int find_next(const struct pd_aux *aux, uint32_t buffer, uint64_t offset, uint64_t *next)
{
    enum { PIECE = 4096, FAR = 256 << 10, SHARED = 15 };
    uint8_t bytes[PIECE];
    size_t got = PIECE;
    for (uint64_t from = offset + 16; from < offset + FAR && got == PIECE; from += PIECE - SHARED) {
        if (pd_aux_read_quietly(aux, &aux->buffers.data[buffer], from, bytes, PIECE, &got) < 0)
            return UNKNOWN;
        const size_t at = pd_pt_find_psb(bytes, got, 0);
        if (at < got) {
            *next = from + at;
            return HOLDS;
        }
    }
    return UNKNOWN;
}

/* What the PSBs of a run are compared with: the first one, and the last one that was seen. */
struct comparison {
    const struct pd_aux *aux;
    uint32_t buffer;
    struct pd_pt_psb first, last;
    uint64_t offset; /* of the last one */
};

/* Whether the PSB at an offset comes behind the last one, in place and time, and says of the state
 * what the first one says. */
static int compare_at(struct comparison *comparison, uint64_t offset)
{
    struct pd_pt_psb psb;
    if (offset <= comparison->offset)
        return DOES_NOT_HOLD;
    int holds = read_psb(comparison->aux, comparison->buffer, offset, &psb);
    if (holds == HOLDS)
        holds = pd_pt_psb_alike(&comparison->first, &psb) && psb.tsc >= comparison->last.tsc;
    comparison->last = psb;
    comparison->offset = offset;
    return holds;
}

/* Whether the jump may begin there: a PSB is at `offset`, and the next PSB goes on as the run
 * does. */
static int begin_holds(struct comparison *comparison, uint64_t offset)
{
    struct comparison behind;
    uint64_t next;
    int holds = read_psb(comparison->aux, comparison->buffer, offset, &comparison->last);
    if (holds == HOLDS)
        holds = pd_pt_psb_alike(&comparison->first, &comparison->last);
    comparison->offset = offset;
    if (holds == HOLDS)
        holds = find_next(comparison->aux, comparison->buffer, offset, &next);
    behind = *comparison;
    return holds == HOLDS ? compare_at(&behind, next) : holds;
}

static int told_holds(struct comparison *comparison, const struct pd_pt_psb_jump *psb_jump)
{
    int holds = compare_at(comparison, psb_jump->offset);
    return holds == HOLDS
               ? comparison->last.tsc == psb_jump->tsc && comparison->last.ip == psb_jump->ip
               : holds;
}

/* Whether the jump may end there, right behind the last PSB that is told. */
static int end_holds(struct comparison *comparison, uint64_t resume)
{
    uint64_t next;
    int holds = find_next(comparison->aux, comparison->buffer, comparison->offset, &next);
    if (holds == HOLDS)
        holds = next == resume ? compare_at(comparison, resume) : DOES_NOT_HOLD;
    return holds;
}

/* Compares the chosen jump with the trace. */
static int leaps_hold(const struct pd_aux *aux, uint32_t buffer, const struct pd_index_run *run,
                      uint64_t offset, const struct pd_aux_psb_jumps *room, uint64_t resume)
{
    struct comparison comparison = { .aux = aux, .buffer = buffer };
    int holds = read_psb(aux, buffer, run->first, &comparison.first);
    if (holds == HOLDS)
        holds = comparison.first.has_tma == run->has_tma ? begin_holds(&comparison, offset)
                                                         : DOES_NOT_HOLD;
    for (size_t i = 0; i < room->told_count && holds == HOLDS; i++)
        holds = told_holds(&comparison, &room->told[i]);
    return holds == HOLDS ? end_holds(&comparison, resume) : holds;
}

bool pd_aux_index_psb_jumps(const struct pd_aux *aux, uint32_t buffer, uint64_t offset,
                            uint64_t below, struct pd_aux_psb_jumps *room,
                            struct pd_pt_psb_jumps *out)
{
    const struct pd_aux_index *index = below ? usable(aux) : NULL;
    const struct pd_index_run *run = index ? find_run(index, buffer, offset) : NULL;
    uint64_t resume;
    if (!run || !choose_leaps(aux, run, offset, below, room, &resume))
        return false;
    int holds = leaps_hold(aux, buffer, run, offset, room, resume);
    if (holds == DOES_NOT_HOLD)
        reject(aux);
    if (holds != HOLDS)
        return false;
    *out = (struct pd_pt_psb_jumps){
        .list = room->told, .count = room->told_count, .resume = resume, .has_tma = run->has_tma
    };
    return true;
}
