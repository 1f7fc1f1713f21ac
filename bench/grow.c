/* SPDX-License-Identifier: MIT */
/* grow IN OUT MEGABYTES: a recording, repeated with its times moved on until it is as large as
 * wanted. What has no time (the state at the start) stays once; rounds are repeated with the
 * records around them. Only plain files in this machine's byte order. */
#include "container/container.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct piece {
    uint64_t offset; /* in the file */
    uint32_t size;
    uint32_t time[2]; /* where times stand in the record, 0: none */
};

struct grow {
    struct pd_recording recording;
    uint8_t *file;
    uint64_t size; /* of the file */
    PD_VEC(struct piece) pieces;
    uint64_t piece_bytes, first_time, last_time;
};

static void stop(const char *why)
{
    fprintf(stderr, "grow: %s\n", why);
    exit(1);
}

static void add_piece(struct grow *grow, const struct pd_raw *raw)
{
    struct piece piece = { .offset = raw->offset, .size = raw->size };
    if (raw->event) {
        uint64_t time = pd_record_time(&raw->event->plan, raw->data, raw->size, raw->type);
        if (time == PD_NO_TIME)
            return;
        piece.time[0] = raw->type == PD_RECORD_SAMPLE ? raw->event->plan.time
                                                      : raw->size - raw->event->plan.trailer_time;
        if (raw->type == PD_RECORD_FORK || raw->type == PD_RECORD_EXIT)
            piece.time[1] = 24;
        grow->first_time = PD_MIN(grow->first_time, time);
        grow->last_time = PD_MAX(grow->last_time, time);
    } else if (raw->type != PD_RECORD_FINISHED_ROUND) {
        return;
    }
    grow->piece_bytes += raw->size;
    if (!pd_vec_push(&grow->pieces, piece))
        stop("no memory");
}

static void read_all(struct grow *grow, const char *path)
{
    struct pd_context *context = &grow->recording.context;
    struct pd_source *source;
    struct pd_walk *walk;
    struct pd_raw raw;
    size_t got = 0;
    int more;
    pd_context_init(context);
    if (pd_source_open_path(context, path, &source) < 0 ||
        pd_recording_open(source, path, &grow->recording) < 0)
        stop(context->message);
    if (grow->recording.kind != PD_CONTAINER_FILE || grow->recording.swap)
        stop("not a file in this machine's byte order");
    grow->size = pd_source_size(source);
    grow->file = malloc(grow->size);
    if (!grow->file || pd_source_read(source, 0, grow->file, grow->size, &got) < 0 ||
        got != grow->size)
        stop("cannot read the recording");
    grow->first_time = UINT64_MAX;
    if (pd_walk_open(&grow->recording, &walk) < 0)
        stop(context->message);
    while ((more = pd_walk_next(walk, &raw)) > 0)
        add_piece(grow, &raw);
    pd_walk_close(walk);
    if (more < 0 || !grow->last_time)
        stop("nothing to repeat");
}

static void put(FILE *out, const uint8_t *bytes, uint64_t size)
{
    if (fwrite(bytes, 1, size, out) != size)
        stop("cannot write");
}

static void write_copy(const struct grow *grow, FILE *out, uint64_t moved)
{
    uint8_t record[65536];
    for (size_t i = 0; i < grow->pieces.count; i++) {
        const struct piece *piece = &grow->pieces.data[i];
        memcpy(record, grow->file + piece->offset, piece->size);
        for (unsigned k = 0; k < 2; k++)
            if (piece->time[k])
                pd_store64(record + piece->time[k],
                           pd_load64(record + piece->time[k], false) + moved, false);
        put(out, record, piece->size);
    }
}

/* The table of features and the features themselves move down by what was added. */
static void write_features(struct grow *grow, FILE *out, uint64_t added, uint64_t moved)
{
    struct pd_section data = grow->recording.data;
    uint8_t *entry = grow->file + data.offset + data.size, *end = grow->file + grow->size;
    for (unsigned feature = 0; feature < 256; feature++) {
        if (!pd_recording_has_feature(&grow->recording, feature) || end - entry < 16)
            continue;
        uint64_t offset = pd_load64(entry, false), size = pd_load64(entry + 8, false);
        if (feature == PD_FEATURE_SAMPLE_TIME && size >= 16 &&
            pd_range_ok(offset, size, grow->size)) {
            uint8_t *last = grow->file + offset + 8;
            pd_store64(last, pd_load64(last, false) + moved, false);
        }
        pd_store64(entry, offset + added, false);
        entry += 16;
    }
    put(out, grow->file + data.offset + data.size, grow->size - data.offset - data.size);
}

int main(int argc, char **argv)
{
    static struct grow grow;
    if (argc != 4)
        stop("usage: grow IN OUT MEGABYTES");
    read_all(&grow, argv[1]);
    uint64_t want = strtoull(argv[3], NULL, 10) << 20, copies = 0;
    uint64_t step = grow.last_time - grow.first_time + 1000000;
    if (want > grow.size)
        copies = (want - grow.size + grow.piece_bytes - 1) / grow.piece_bytes;
    uint64_t added = copies * grow.piece_bytes;
    FILE *out = fopen(argv[2], "wb");
    if (!out)
        stop("cannot write");
    struct pd_section data = grow.recording.data;
    pd_store64(grow.file + 48, data.size + added, false);
    put(out, grow.file, data.offset + data.size);
    for (uint64_t i = 1; i <= copies; i++)
        write_copy(&grow, out, i * step);
    write_features(&grow, out, added, copies * step);
    if (fclose(out))
        stop("cannot write");
    printf("%" PRIu64 " times\n", copies + 1);
    pd_recording_close(&grow.recording);
    return 0;
}
