/* SPDX-License-Identifier: MIT */
/* The way from PSB to PSB ("qq") with a stored index and without one. */
#ifndef PD_WALK_PSB_JUMPS_H
#define PD_WALK_PSB_JUMPS_H
#include "itrace/aux/index.h"
#include "itrace/intel_pt/walk/decoder.h"
#include "make_aux.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A recording that lies in a file, whose traces an index can be kept of. */
struct aux_file {
    char path[40], index[64];
    struct pd_recording recording;
    struct pd_aux *aux;
};

PD_INLINE bool aux_file_open(struct aux_file *file)
{
    struct pd_recording *r = &file->recording;
    struct pd_source *source;
    memset(r, 0, sizeof *r);
    pd_context_init(&r->context);
    r->context.path = file->path;
    return pd_source_open_path(&r->context, file->path, &source) == 0 &&
           pd_recording_open(source, file->path, r) == 0 && pd_aux_open(r, NULL, &file->aux) == 0 &&
           pd_aux_load(file->aux) == 0;
}

PD_INLINE void aux_file_close(struct aux_file *file)
{
    pd_aux_close(file->aux);
    pd_recording_close(&file->recording);
}

PD_INLINE bool aux_file_make(struct aux_file *file, const struct file *bytes)
{
    strcpy(file->path, "/tmp/perfdata-index-XXXXXX");
    int fd = mkstemp(file->path);
    snprintf(file->index, sizeof file->index, "%s" PD_AUX_INDEX_SUFFIX, file->path);
    return fd >= 0 && write(fd, bytes->bytes, bytes->size) == (ssize_t)bytes->size && !close(fd) &&
           aux_file_open(file);
}

PD_INLINE void aux_file_remove(struct aux_file *file)
{
    aux_file_close(file);
    unlink(file->path);
    unlink(file->index);
}

/* One walk. */
struct leaps_walk {
    struct pd_aux_reader *reader;
    struct pd_pt_decoder *decoder;
    uint64_t read;      /* bytes of trace */
    uint64_t psb_jumps; /* times that the index knew what comes */
};

static int leaps_buffer(void *data, struct pd_pt_buffer *out)
{
    struct leaps_walk *walk = data;
    struct pd_aux_piece piece;
    int got = pd_aux_reader_next(walk->reader, &piece);
    if (got <= 0)
        return got;
    walk->read += piece.size;
    *out = (struct pd_pt_buffer){ .data = piece.data,
                                  .size = piece.size,
                                  .reference = piece.reference,
                                  .trace_nr = piece.follows ? 0 : piece.trace_number,
                                  .position = piece.position,
                                  .consecutive = piece.consecutive };
    return 1;
}

static bool psb_jumps_known(void *data, uint64_t position, uint64_t below,
                            struct pd_pt_psb_jumps *out)
{
    struct leaps_walk *walk = data;
    bool known = pd_aux_reader_psb_jumps(walk->reader, position, below, out);
    walk->psb_jumps += known;
    return known;
}

static void psb_jumps_to(void *data, uint64_t position)
{
    struct leaps_walk *walk = data;
    pd_aux_reader_psb_jump_to(walk->reader, position);
}

static struct pd_code_node *leaps_no_code(struct pd_code_view *view, uint64_t ip,
                                          enum pd_code_error *error)
{
    (void)view;
    (void)ip;
    *error = PD_CODE_NO_MAP;
    return NULL;
}

static struct pd_pt_config leaps_config(uint32_t wanted)
{
    return (struct pd_pt_config){ .branches = true,
                                  .return_compression = true,
                                  .mtc_shift = 3,
                                  .tsc_ctc_n = 184,
                                  .tsc_ctc_d = 2,
                                  .max_non_turbo_ratio = 23,
                                  .wanted = wanted,
                                  .quick = 2,
                                  .timeful = true,
                                  .kernel_start = UINT64_C(1) << 63,
                                  .buffer = leaps_buffer,
                                  .code_at = leaps_no_code };
}

PD_INLINE bool leaps_begin(struct leaps_walk *walk, const struct pd_aux *aux,
                           struct pd_pt_config config, bool psb_jumps)
{
    *walk = (struct leaps_walk){ .read = 0 };
    config.data = walk;
    config.psb_jumps = psb_jumps ? psb_jumps_known : NULL;
    config.psb_jump_to = psb_jumps_to;
    if (pd_aux_reader_open(aux, 0, &walk->reader) < 0)
        return false;
    if (psb_jumps)
        pd_aux_reader_psb_jump(walk->reader);
    walk->decoder = pd_pt_decoder_new(&config);
    return walk->decoder != NULL;
}

PD_INLINE void leaps_end(struct leaps_walk *walk)
{
    if (walk->decoder)
        pd_pt_decoder_free(walk->decoder);
    pd_aux_reader_close(walk->reader);
}

PD_INLINE bool leaps_same(const struct pd_pt_state *a, const struct pd_pt_state *b)
{
    return a->type == b->type && a->flags == b->flags && a->error == b->error &&
           a->from_ip == b->from_ip && a->to_ip == b->to_ip && a->timestamp == b->timestamp &&
           a->est_timestamp == b->est_timestamp && a->last_timestamp == b->last_timestamp &&
           a->tot_cyc_cnt == b->tot_cyc_cnt && a->cbr == b->cbr && a->from_nr == b->from_nr &&
           a->from_if == b->from_if && a->trace_nr == b->trace_nr &&
           (!(a->type & PD_PT_PSB_EVENT) || a->psb_offset == b->psb_offset);
}

/* Both ways, each call up to a time `step` later than the last one (0: to the end). How many steps;
 * SIZE_MAX: not the same. */
PD_INLINE size_t leaps_compare(const struct pd_aux *aux, const struct pd_pt_config *config,
                               uint64_t step, struct leaps_walk *with)
{
    struct leaps_walk without;
    const struct pd_pt_state *a, *b;
    size_t count = 0;
    bool same = leaps_begin(&without, aux, *config, false);
    same &= leaps_begin(with, aux, *config, true);
    for (uint64_t limit = step ? step : UINT64_MAX; same; count++) {
        a = pd_pt_decode(without.decoder, limit);
        b = pd_pt_decode(with->decoder, limit);
        if (!a || !b) {
            same = !a == !b;
            break;
        }
        same = leaps_same(a, b);
        if (step && limit < UINT64_MAX - step && a->timestamp >= limit)
            limit = a->timestamp + step;
    }
    leaps_end(&without);
    leaps_end(with);
    return same ? count : SIZE_MAX;
}

#endif
