/* SPDX-License-Identifier: MIT */
#include "itrace/aux/index_file.h"
#include "itrace/intel_pt/walk/decoder.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct pd_aux_index {
    struct pd_index_head head;
    uint8_t *bytes; /* behind the leaps */
    const struct pd_index_row *rows;
    const struct pd_index_entry *entries;
    const struct pd_index_run *runs;
    PD_VEC(uint32_t) row_of; /* by buffer of the struct pd_aux */
    struct pd_context quiet;
    struct pd_source *source; /* the leaps are read when they are asked for */
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
           !pd_source_memory(recording->source) && !recording->part_count;
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

/* Adds so many of a size, if the sum stays below `most`. */
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

/* What is behind the leaps; NULL, or what is wrong with it. */
static const char *read_parts(struct pd_aux_index *index, uint64_t size)
{
    const struct pd_index_head *head = &index->head;
    uint64_t leaps = sizeof *head, rows = 0, entries, runs;
    if (!add_part(&leaps, head->leaps, sizeof(struct pd_pt_leap), size))
        return "it is damaged";
    if (!add_part(&rows, head->rows, sizeof *index->rows, size))
        return "it is damaged";
    entries = rows;
    if (!add_part(&entries, head->entries, sizeof *index->entries, size))
        return "it is damaged";
    runs = entries;
    if (!add_part(&runs, head->runs, sizeof *index->runs, size) || leaps + runs != size)
        return "it is damaged";
    index->bytes = malloc(runs ? (size_t)runs : 1);
    if (!index->bytes)
        return "there is no memory";
    if (!read_at(index, leaps, index->bytes, runs))
        return "it cannot be read";
    index->rows = (const void *)index->bytes;
    index->entries = (const void *)(index->bytes + rows);
    index->runs = (const void *)(index->bytes + entries);
    return pd_index_checksum(head, index->rows, index->entries, index->runs) == head->checksum
               ? NULL
               : "it is damaged";
}

/* What is wrong with it; NULL: nothing. */
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
    return read_parts(index, size);
}

/* Each buffer's row; those of CPUs that are not wanted are rows without a buffer. */
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
    const char *wrong = pd_source_open_path(&index->quiet, path, &index->source) == PERFDATA_OK
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

bool pd_aux_index_first(const struct pd_aux_index *index, uint32_t buffer, uint64_t *tsc)
{
    if (!index || index->rows[index->row_of.data[buffer]].first_tsc == PD_INDEX_UNKNOWN)
        return false;
    *tsc = index->rows[index->row_of.data[buffer]].first_tsc;
    return true;
}

/* Whether the trace has there what the index says. */
static bool holds(const struct pd_aux *aux, const struct pd_aux_buffer *buffer, uint64_t offset,
                  uint64_t tsc)
{
    uint8_t bytes[256];
    size_t got;
    uint64_t found;
    return pd_aux_read(aux, buffer, offset, bytes, sizeof bytes, &got) == PERFDATA_OK &&
           got >= 16 && pd_pt_find_psb(bytes, got, 0) == 0 &&
           pd_pt_psb_tsc(bytes, bytes + got, &found) > 0 &&
           pd_pt_tsc_near(found, buffer->reference) < tsc;
}

uint64_t pd_aux_index_before(const struct pd_aux *aux, uint32_t buffer, uint64_t from,
                             uint64_t size, uint64_t tsc)
{
    const struct pd_aux_index *index = aux->index;
    if (!index)
        return from;
    uint64_t row = index->row_of.data[buffer], count = index->head.entries;
    uint64_t low = index->rows[row].first_entry;
    uint64_t end = row + 1 < index->head.rows ? index->rows[row + 1].first_entry : count;
    uint64_t high = end = PD_MIN(end, count);
    uint64_t first = low;
    while (low < high) { /* the first that is too late, or too far */
        uint64_t middle = low + (high - low) / 2;
        const struct pd_index_entry *entry = &index->entries[middle];
        if (entry->tsc < tsc && (entry->offset <= from || entry->offset - from < size))
            low = middle + 1;
        else
            high = middle;
    }
    if (low <= first || low > end || index->entries[low - 1].offset <= from)
        return from;
    uint64_t offset = index->entries[low - 1].offset;
    return holds(aux, &aux->buffers.data[buffer], offset, tsc) ? offset : from;
}

/* ---- leaps ---- */

/* The run of a buffer in which a PSB at that offset is followed by others; NULL: none. */
static const struct pd_index_run *find_run(const struct pd_aux_index *index, uint32_t buffer,
                                           uint64_t offset)
{
    const uint64_t row = index->row_of.data[buffer], all = index->head.runs;
    uint64_t end = row + 1 < index->head.rows ? index->rows[row + 1].first_run : all;
    uint64_t low = index->rows[row].first_run, high = end = PD_MIN(end, all);
    while (low < high) { /* the first that ends behind it */
        uint64_t middle = low + (high - low) / 2;
        if (index->runs[middle].resume <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    const struct pd_index_run *run = low < end ? &index->runs[low] : NULL;
    /* What would lead backwards or out of the buffer is not what was written. */
    return run && run->first <= offset && offset < run->resume &&
                   run->resume < index->rows[row].size && run->leaps &&
                   run->leaps <= PD_AUX_LEAPS && run->told_count &&
                   run->told_count <= PD_LENGTH(run->told)
               ? run
               : NULL;
}

static bool read_leaps(struct pd_aux_index *index, const struct pd_index_run *run,
                       struct pd_pt_leap *to)
{
    const uint64_t size = run->leaps * sizeof *to;
    if (run->first_leap > index->head.leaps || run->leaps > index->head.leaps - run->first_leap)
        return false;
    return read_at(index, sizeof index->head + run->first_leap * sizeof *to, to, size) &&
           pd_hash_bytes(to, size, 0) == run->checksum;
}

/* It is as if there were none. */
static void give_up_leaps(const struct pd_aux *aux)
{
    char path[4096];
    aux->index->head.runs = 0;
    pd_index_path(aux, path, sizeof path);
    pd_issue(&aux->recording->context, PERFDATA_ISSUE_OBJECT, -1,
             "%s is not used: its leaps are damaged", path);
}

bool pd_aux_index_leaps(const struct pd_aux *aux, uint32_t buffer, uint64_t offset, uint64_t below,
                        struct pd_pt_leap *room, struct pd_pt_leaps *out)
{
    struct pd_aux_index *index = aux->index;
    const struct pd_index_run *run = index ? find_run(index, buffer, offset) : NULL;
    if (!run)
        return false;
    *out = (struct pd_pt_leaps){ .resume = run->resume, .has_tma = run->has_tma };
    if (offset == run->first && run->told[run->told_count - 1].tsc < below) {
        out->list = run->told;
        out->count = run->told_count;
        return true;
    }
    if (!read_leaps(index, run, room)) {
        give_up_leaps(aux);
        return false;
    }
    size_t behind = 0; /* those up to it */
    while (offset != run->first && behind < run->leaps && room[behind++].offset != offset)
        continue;
    out->list = room + behind;
    out->count = run->leaps - behind;
    return out->count > 0;
}
