/* SPDX-License-Identifier: MIT */
#include "itrace/aux_index.h"
#include "base/hash.h"
#include "io/at.h"
#include "itrace/intel_pt/decoder.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The file: head, rows, entries, all in the byte order of the machine that wrote it. */
enum { VERSION = 1, ORDER = 0x01020304, WINDOW = 1 << 20, SPACING = 64 << 10 };
#define MAGIC "PDPSBIDX"
#define UNKNOWN UINT64_MAX

struct head {
    char magic[8];
    uint32_t version, order;
    uint64_t recording_size, recording_changed; /* nanoseconds */
    uint64_t rows, entries;
    uint64_t reserved;
    uint64_t checksum; /* of the file, this being 0 */
};

/* A buffer, in the order in which they are queued. */
struct row {
    uint64_t record_offset, size, reference;
    uint64_t first_tsc;   /* UNKNOWN: look at the trace */
    uint64_t first_entry; /* its entries: up to those of the next row */
};

/* A PSB: it and all before it in the buffer have a TSC, of which `tsc` is the greatest. */
struct entry {
    uint64_t offset, tsc;
};

struct pd_aux_index {
    uint8_t *bytes;
    const struct head *head;
    const struct row *rows;
    const struct entry *entries;
    PD_VEC(uint32_t) row_of; /* by buffer of the struct pd_aux */
};

/* ---- making one ---- */

struct maker {
    struct pd_aux *aux;
    uint8_t *window;
    PD_VEC(struct row) rows;
    PD_VEC(struct entry) entries;
};

struct search {
    struct row row;
    uint64_t greatest, spaced;
    bool ordered; /* so far every PSB has a TSC */
    bool first;   /* known, or known to be no more to be known */
};

/* One PSB at `offset`; `got` as of pd_pt_psb_tsc(). */
static bool take_psb(struct maker *maker, struct search *search, uint64_t offset, int got,
                     uint64_t tsc)
{
    if (got && !search->first) {
        search->first = true;
        if (got > 0 && offset < PD_AUX_PIECE - WINDOW)
            search->row.first_tsc = tsc;
    }
    search->ordered &= got > 0;
    if (!search->ordered)
        return true;
    search->greatest = PD_MAX(search->greatest, pd_pt_tsc_near(tsc, search->row.reference));
    if (offset < search->spaced)
        return true;
    search->spaced = offset + SPACING;
    return pd_vec_push(&maker->entries, (struct entry){ offset, search->greatest });
}

/* The PSBs of [0, size) in the window, which is at `base` of the buffer; *used: up to where no more needs to be kept. */
static bool search_window(struct maker *maker, struct search *search, uint64_t base, size_t size,
                          bool end, size_t *used)
{
    size_t at = 0;
    uint64_t tsc = 0;
    *used = end ? size : size - PD_MIN(size, (size_t)15);
    for (; (at = pd_pt_find_psb(maker->window, size, at)) < size; at += 16) {
        int got = pd_pt_psb_tsc(maker->window + at, maker->window + size, &tsc);
        if (got < 0 && !end && at) {
            *used = at;
            return true;
        }
        if (!take_psb(maker, search, base + at, got, tsc))
            return false;
        *used = PD_MAX(*used, at + 16);
    }
    return true;
}

static perfdata_status no_memory(const struct pd_aux *aux)
{
    return pd_fail(&aux->recording->context, PERFDATA_ERROR_MEMORY, -1,
                   "no memory for an index of PSBs");
}

static perfdata_status make_row(struct maker *maker, const struct pd_aux_buffer *buffer)
{
    struct search search = { .row = { .record_offset = buffer->record_offset,
                                      .size = buffer->size,
                                      .reference = buffer->reference,
                                      .first_tsc = UNKNOWN,
                                      .first_entry = maker->entries.count },
                             .ordered = true };
    size_t have = 0, used, got;
    uint64_t base = 0;
    for (bool end = false; !end && (search.ordered || !search.first);) {
        perfdata_status status = pd_aux_read(maker->aux, buffer, base + have, maker->window + have,
                                             WINDOW - have, &got);
        if (status < 0)
            return status;
        end = got < WINDOW - have;
        have += got;
        if (!search_window(maker, &search, base, have, end, &used))
            return no_memory(maker->aux);
        memmove(maker->window, maker->window + used, have - used);
        base += used;
        have -= used;
    }
    return pd_vec_push(&maker->rows, search.row) ? PERFDATA_OK : no_memory(maker->aux);
}

static struct head make_head(const struct maker *maker)
{
    const struct pd_source *source = maker->aux->recording->source;
    return (struct head){ .magic = MAGIC,
                          .version = VERSION,
                          .order = ORDER,
                          .recording_size = pd_source_size(source),
                          .recording_changed = (uint64_t)pd_source_changed(source),
                          .rows = maker->rows.count,
                          .entries = maker->entries.count };
}

static uint64_t checksum(const struct head *head, const struct row *rows,
                         const struct entry *entries)
{
    struct head clean = *head;
    clean.checksum = 0;
    uint64_t sum = pd_hash_bytes(&clean, sizeof clean, 0);
    sum = pd_hash_bytes(rows, head->rows * sizeof *rows, sum);
    return pd_hash_bytes(entries, head->entries * sizeof *entries, sum);
}

/* Beside its place first: a reader sees a whole one or none. */
static perfdata_status write_file(const struct maker *maker, const char *path, const char *beside)
{
    struct head head = make_head(maker);
    head.checksum = checksum(&head, maker->rows.data, maker->entries.data);
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    bool done = fd >= 0 && pd_write_all(fd, &head, sizeof head) &&
                pd_write_all(fd, maker->rows.data, maker->rows.count * sizeof *maker->rows.data) &&
                pd_write_all(fd, maker->entries.data,
                             maker->entries.count * sizeof *maker->entries.data);
    if (fd >= 0)
        done = !close(fd) && done && !rename(beside, path);
    if (done)
        return PERFDATA_OK;
    int error = errno;
    if (fd >= 0)
        unlink(beside);
    char text[128];
    return pd_fail(&maker->aux->recording->context, PERFDATA_ERROR_OUTPUT, -1, "%s: %s", path,
                   strerror_r(error, text, sizeof text));
}

/* False: none that could be stored. */
static bool path_of(const struct pd_aux *aux, char *path, size_t size)
{
    const char *name = aux->recording->context.path;
    size_t length = name ? strlen(name) : 0;
    while (length > 1 && name[length - 1] == '/') /* a directory */
        length--;
    return length &&
           (size_t)snprintf(path, size, "%.*s" PD_AUX_INDEX_SUFFIX, (int)length, name) < size;
}

/* The trace lies in one file, whose size and time tell whether it is still the same. */
static bool is_one_file(const struct pd_recording *recording)
{
    return recording->kind != PD_CONTAINER_PIPE && !pd_source_is_stream(recording->source) &&
           !pd_source_memory(recording->source) && !recording->part_count;
}

static perfdata_status can_have_one(const struct pd_aux *aux)
{
    const struct pd_recording *recording = aux->recording;
    const char *why = NULL;
    if (!is_one_file(recording))
        why = "it is not one file";
    else if (aux->info.pt.snapshot_mode || aux->modes.sampling)
        why = "its buffers overlap";
    else if (aux->dropped)
        why = "not all CPUs are chosen";
    return why ? pd_fail(&aux->recording->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                         "no index of PSBs can be kept of this recording: %s", why)
               : PERFDATA_OK;
}

perfdata_status pd_aux_index_store(struct pd_aux *aux)
{
    struct maker maker = { .aux = aux, .window = malloc(WINDOW) };
    char path[4096], beside[4096 + 32];
    perfdata_status status = maker.window ? can_have_one(aux) : no_memory(aux);
    for (size_t i = 0; maker.window && i < aux->buffers.count && !status; i++)
        status = make_row(&maker, &aux->buffers.data[i]);
    if (!status) {
        bool named = path_of(aux, path, sizeof path);
        snprintf(beside, sizeof beside, "%s.%ld", named ? path : "", (long)getpid());
        status = named ? write_file(&maker, path, beside)
                       : pd_fail(&aux->recording->context, PERFDATA_ERROR_OUTPUT, -1,
                                 "the index's path is too long");
    }
    free(maker.window);
    pd_vec_free(&maker.rows);
    pd_vec_free(&maker.entries);
    return status;
}

/* ---- reading one ---- */

void pd_aux_index_free(struct pd_aux_index *index)
{
    if (!index)
        return;
    free(index->bytes);
    pd_vec_free(&index->row_of);
    free(index);
}

/* What is wrong with it; NULL: nothing. */
static const char *check(struct pd_aux_index *index, const struct pd_aux *aux, uint64_t size)
{
    const struct head *head = index->head = (const struct head *)index->bytes;
    uint64_t rows, entries, all;
    if (size < sizeof *head || memcmp(head->magic, MAGIC, sizeof head->magic) != 0)
        return "it is none";
    if (head->version != VERSION || head->order != ORDER)
        return "it is of another version or machine";
    if (head->recording_size != pd_source_size(aux->recording->source) ||
        head->recording_changed != (uint64_t)pd_source_changed(aux->recording->source))
        return "the recording has changed since";
    if (pd_mul_overflows(head->rows, sizeof *index->rows, &rows) ||
        pd_mul_overflows(head->entries, sizeof *index->entries, &entries) ||
        pd_add_overflows(rows, entries, &all) || pd_add_overflows(all, sizeof *head, &all) ||
        all != size)
        return "it is damaged";
    index->rows = (const void *)(index->bytes + sizeof *head);
    index->entries = (const void *)(index->bytes + sizeof *head + rows);
    return checksum(head, index->rows, index->entries) == head->checksum ? NULL : "it is damaged";
}

/* Each buffer's row; those of CPUs that are not wanted are rows without a buffer. */
static const char *find_rows(struct pd_aux_index *index, const struct pd_aux *aux)
{
    uint64_t at = 0, count = index->head->rows;
    for (size_t i = 0; i < aux->buffers.count; i++, at++) {
        const struct pd_aux_buffer *buffer = &aux->buffers.data[i];
        while (at < count && index->rows[at].record_offset != buffer->record_offset)
            at++;
        const struct row *row = &index->rows[at];
        if (at >= count || row->size != buffer->size || row->reference != buffer->reference)
            return "its buffers are others";
        if (!pd_vec_push(&index->row_of, (uint32_t)at))
            return "there is no memory";
    }
    return NULL;
}

static uint8_t *read_all(struct pd_source *source, uint64_t size)
{
    size_t got = 0;
    uint8_t *bytes = malloc(size ? (size_t)size : 1);
    if (bytes && (pd_source_read(source, 0, bytes, (size_t)size, &got) < 0 || got != size)) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

perfdata_status pd_aux_index_load(struct pd_aux *aux)
{
    struct pd_context *context = &aux->recording->context, quiet;
    struct pd_source *source = NULL;
    char path[4096];
    if (aux->index || !is_one_file(aux->recording) || aux->info.pt.snapshot_mode ||
        aux->modes.sampling || !path_of(aux, path, sizeof path) || access(path, F_OK) != 0)
        return PERFDATA_OK;
    pd_context_init(&quiet);
    const char *wrong = "it cannot be read";
    struct pd_aux_index *index = calloc(1, sizeof *index);
    if (index && pd_source_open_path(&quiet, path, &source) == PERFDATA_OK) {
        uint64_t size = pd_source_size(source); /* UINT64_MAX: no file */
        if (size <= pd_source_size(aux->recording->source) + 2 * sizeof(struct head) &&
            (index->bytes = read_all(source, size)) != NULL)
            wrong = check(index, aux, size);
        if (!wrong)
            wrong = find_rows(index, aux);
    }
    pd_source_close(source);
    pd_context_fini(&quiet);
    if (!wrong) {
        aux->index = index;
        return PERFDATA_OK;
    }
    pd_aux_index_free(index);
    return pd_issue(context, PERFDATA_ISSUE_OBJECT, -1, "%s is not used: %s", path, wrong);
}

/* ---- looking into one ---- */

bool pd_aux_index_first(const struct pd_aux_index *index, uint32_t buffer, uint64_t *tsc)
{
    if (!index || index->rows[index->row_of.data[buffer]].first_tsc == UNKNOWN)
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
    uint64_t row = index->row_of.data[buffer], count = index->head->entries;
    uint64_t low = index->rows[row].first_entry;
    uint64_t end = row + 1 < index->head->rows ? index->rows[row + 1].first_entry : count;
    uint64_t high = end = PD_MIN(end, count);
    uint64_t first = low;
    while (low < high) { /* the first that is too late, or too far */
        uint64_t middle = low + (high - low) / 2;
        const struct entry *entry = &index->entries[middle];
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
