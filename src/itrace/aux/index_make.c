/* SPDX-License-Identifier: MIT */
/* PSBs of a recording's traces -> the index beside it. */
#include "io/at.h"
#include "io/output_file.h"
#include "itrace/aux/index_file.h"
#include "itrace/intel_pt/walk/decoder.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WINDOW = 1 << 20, SPACING = 64 << 10, LEAST_JUMPS = 2 };

/* PSBs that are alike, of which the last one may be followed by another. */
struct run {
    bool open;
    struct pd_pt_psb psb, last; /* the first one, and the last */
    uint64_t first;             /* offset */
    size_t count;               /* behind the first */
    struct pd_pt_psb_jump list[PD_AUX_PSB_JUMPS + 1];
};

struct maker {
    struct pd_aux *aux;
    int fd;
    uint8_t *window;
    struct run run;
    uint64_t psb_jumps;
    bool wrong; /* what should have been written was not: errno */
    PD_VEC(struct pd_index_row) rows;
    PD_VEC(struct pd_index_entry) entries;
    PD_VEC(struct pd_index_run) runs;
};

struct search {
    struct pd_index_row row;
    uint64_t greatest, spaced;
    bool ordered; /* so far every PSB has a TSC */
};

/* ---- runs ---- */

/* Keeps the last jump with an address, and the very last one. */
static void choose_told(struct pd_index_run *made, const struct pd_pt_psb_jump *list)
{
    size_t last = made->psb_jumps;
    while (last && !list[last - 1].ip)
        last--;
    if (last)
        made->told[made->told_count++] = list[last - 1];
    if (last < made->psb_jumps)
        made->told[made->told_count++] = list[made->psb_jumps - 1];
}

/* The last PSB is the one to resume at. */
static bool end_run(struct maker *maker)
{
    struct run *run = &maker->run;
    const size_t psb_jumps = run->open && run->count ? run->count - 1 : 0;
    run->open = false;
    if (psb_jumps < LEAST_JUMPS)
        return true;
    struct pd_index_run made = { .first = run->first,
                                 .resume = run->list[psb_jumps].offset,
                                 .first_jump = maker->psb_jumps,
                                 .psb_jumps = (uint32_t)psb_jumps,
                                 .has_tma = run->psb.has_tma,
                                 .checksum = pd_digest(run->list, psb_jumps * sizeof *run->list,
                                                       0) };
    choose_told(&made, run->list);
    maker->wrong |= !pd_write_all(maker->fd, run->list, psb_jumps * sizeof *run->list);
    maker->psb_jumps += psb_jumps;
    return pd_vec_push(&maker->runs, made);
}

static void begin_run(struct maker *maker, const struct pd_pt_psb *psb, uint64_t offset)
{
    struct run *run = &maker->run;
    run->open = true;
    run->psb = run->last = *psb;
    run->first = offset;
    run->count = 0;
}

static bool take_plain(struct maker *maker, const struct pd_pt_psb *psb, uint64_t offset)
{
    struct run *run = &maker->run;
    if (run->open && run->count == PD_LENGTH(run->list)) { /* goes on in another one */
        const struct pd_pt_psb last = run->last;
        const uint64_t first = run->list[run->count - 1].offset;
        if (!end_run(maker))
            return false;
        begin_run(maker, &last, first);
    }
    if (!run->open || psb->tsc < run->last.tsc || !pd_pt_psb_alike(&run->psb, psb)) {
        if (!end_run(maker))
            return false;
        begin_run(maker, psb, offset);
        return true;
    }
    run->last = *psb;
    run->list[run->count++] = (struct pd_pt_psb_jump){ offset, psb->tsc, psb->ip };
    return true;
}

/* ---- buffers ---- */

/* One PSB at `offset`; `got` as of pd_pt_psb_tsc(). */
static bool take_psb(struct maker *maker, struct search *search, uint64_t offset, int got,
                     uint64_t tsc)
{
    search->ordered &= got > 0;
    if (!search->ordered)
        return true;
    search->greatest = PD_MAX(search->greatest, pd_pt_tsc_near(tsc, search->row.reference));
    if (offset < search->spaced)
        return true;
    search->spaced = offset + SPACING;
    return pd_vec_push(&maker->entries, (struct pd_index_entry){ offset, search->greatest });
}

/* The PSBs of [0, size) in the window, which is at `base` of the buffer; *used: up to where no more
 * needs to be kept. */
static bool search_window(struct maker *maker, struct search *search, uint64_t base, size_t size,
                          bool end, size_t *used)
{
    struct pd_pt_psb psb;
    size_t at = 0, step;
    uint64_t tsc = 0;
    *used = end ? size : size - PD_MIN(size, (size_t)15);
    for (; (at = pd_pt_find_psb(maker->window, size, at)) < size; at += step) {
        const uint8_t *psb_at = maker->window + at, *window_end = maker->window + size;
        int plain = pd_pt_psb_read(psb_at, window_end, &psb);
        int got = plain > 0 ? 1 : pd_pt_psb_tsc(psb_at, window_end, &tsc);
        if ((plain < 0 || got < 0) && !end && at) {
            *used = at;
            return true;
        }
        if (plain > 0)
            tsc = psb.tsc;
        if (!(plain > 0 ? take_plain(maker, &psb, base + at) : end_run(maker)) ||
            !take_psb(maker, search, base + at, got, tsc))
            return false;
        step = plain > 0 ? psb.size : 16;
        *used = PD_MAX(*used, at + step);
    }
    return true;
}

static perfdata_status make_row(struct maker *maker, const struct pd_aux_buffer *buffer)
{
    struct search search = { .row = { .record_offset = buffer->record_offset,
                                      .size = buffer->size,
                                      .reference = buffer->reference,
                                      .first_entry = maker->entries.count,
                                      .first_run = maker->runs.count },
                             .ordered = true };
    size_t have = 0, used, got;
    uint64_t base = 0;
    for (bool end = false; !end && !maker->wrong;) {
        perfdata_status status = pd_aux_read(maker->aux, buffer, base + have, maker->window + have,
                                             WINDOW - have, &got);
        if (status < 0)
            return status;
        end = got < WINDOW - have;
        have += got;
        if (!search_window(maker, &search, base, have, end, &used))
            return pd_no_memory(&maker->aux->recording->context, "an index of PSBs");
        memmove(maker->window, maker->window + used, have - used);
        base += used;
        have -= used;
    }
    return end_run(maker) && pd_vec_push(&maker->rows, search.row)
               ? PERFDATA_OK
               : pd_no_memory(&maker->aux->recording->context, "an index of PSBs");
}

/* ---- the file ---- */

static struct pd_index_head make_head(const struct maker *maker)
{
    const struct pd_source *source = maker->aux->recording->source;
    struct pd_index_head head = { .magic = PD_INDEX_MAGIC,
                                  .version = PD_INDEX_VERSION,
                                  .order = PD_INDEX_ORDER,
                                  .recording_size = pd_source_size(source),
                                  .recording_changed = (uint64_t)pd_source_changed(source),
                                  .psb_jumps = maker->psb_jumps,
                                  .rows = maker->rows.count,
                                  .entries = maker->entries.count,
                                  .runs = maker->runs.count };
    head.checksum = pd_index_checksum(&head, maker->rows.data, maker->entries.data,
                                      maker->runs.data);
    return head;
}

#define WRITE(maker, vec) pd_write_all((maker)->fd, (vec).data, (vec).count * sizeof *(vec).data)

/* What comes behind the jumps, and the head, which is known last. */
static bool write_rest(struct maker *maker)
{
    struct pd_index_head head = make_head(maker);
    return WRITE(maker, maker->rows) && WRITE(maker, maker->entries) && WRITE(maker, maker->runs) &&
           lseek(maker->fd, 0, SEEK_SET) == 0 && pd_write_all(maker->fd, &head, sizeof head);
}

static perfdata_status make_all(struct maker *maker)
{
    const struct pd_aux *aux = maker->aux;
    const struct pd_index_head none = { .version = 0 };
    perfdata_status status = PERFDATA_OK;
    maker->wrong = !pd_write_all(maker->fd, &none, sizeof none);
    for (size_t i = 0; i < aux->buffers.count && !status && !maker->wrong; i++)
        status = make_row(maker, &aux->buffers.data[i]);
    if (!status && !maker->wrong)
        maker->wrong = !write_rest(maker);
    return status;
}

/* A reader sees a whole index or none. */
static perfdata_status make_file(struct maker *maker, const char *path)
{
    struct pd_context *context = &maker->aux->recording->context;
    struct pd_output_file file = { 0 };
    perfdata_status status = pd_output_file_open_regular(context, path, PD_OUTPUT_SHARED,
                                                         "the index", &file);
    if (status < 0)
        return status;
    maker->fd = file.fd;
    status = make_all(maker);
    if (status >= 0 && maker->wrong)
        status = pd_fail(context, PERFDATA_ERROR_OUTPUT, -1, "%s: cannot write: %s", path,
                         strerrordesc_np(errno));
    return pd_output_file_close(context, &file, status);
}

static perfdata_status can_have_one(const struct pd_aux *aux)
{
    const char *why = NULL;
    if (!pd_index_is_possible(aux))
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
    char path[4096];
    perfdata_status status = can_have_one(aux);
    if (status < 0)
        return status;
    if (!pd_index_path(aux, path, sizeof path))
        return pd_fail(&aux->recording->context, PERFDATA_ERROR_OUTPUT, -1,
                       "the index's path is too long");
    struct maker *maker = calloc(1, sizeof *maker);
    if (maker && (maker->window = malloc(WINDOW)) != NULL) {
        maker->aux = aux;
        status = make_file(maker, path);
        free(maker->window);
        pd_vec_free(&maker->rows);
        pd_vec_free(&maker->entries);
        pd_vec_free(&maker->runs);
    } else {
        status = pd_no_memory(&aux->recording->context, "an index of PSBs");
    }
    free(maker);
    return status;
}
