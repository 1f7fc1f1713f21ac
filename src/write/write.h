/* SPDX-License-Identifier: MIT */
/* The layer write/: events, features and records -> a valid recording, as file or as pipe stream.
 *
 * A file is valid at every moment: its header says "unfinished" until pd_writer_finish() puts sizes
 * and features in place, so what a killed writer leaves can be read up to its last whole record. */
#ifndef PD_WRITE_H
#define PD_WRITE_H
#include "base/context.h"
#include "format/format.h"

enum pd_writer_kind {
    PD_WRITE_FILE,
    PD_WRITE_PIPE,
    /* data.N of a directory: records alone; events and features are those of `data` */
    PD_WRITE_PART
};

struct pd_writer_options {
    enum pd_writer_kind kind;
    bool swap; /* write the byte order that is not this machine's */
    uint32_t
        attr_size; /* of each attr; 0: the smallest that holds all events' fields, 128 at least */
    /* of zstd, for records of the kernel; 0: not compressed. The feature COMPRESSED is the writer's
     * then */
    int level;
    unsigned blocks; /* that another thread may be writing meanwhile; 0: the caller writes */
};

struct pd_writer;

/* The descriptor stays the caller's. A file must be seekable and is written from its start. */
perfdata_status pd_writer_open_fd(struct pd_context *context, int fd,
                                  const struct pd_writer_options *options, struct pd_writer **out);

/* Ids in host order; both are copied. A file takes events until pd_writer_finish() (attributes then
 * stand behind the features), a pipe until pd_writer_begin(). */
perfdata_status pd_writer_add_event(struct pd_writer *writer, const struct pd_attr *attr,
                                    const uint64_t *ids, size_t count);
/* A feature's payload as it is to stand in the recording (in the recording's byte order); copied.
 * Files take features until pd_writer_finish(), a pipe until pd_writer_begin() (TRACING_DATA and
 * BUILD_ID become their records there; what is too large for a record is left out with an issue). A
 * later payload replaces an earlier one. */
perfdata_status pd_writer_set_feature(struct pd_writer *writer, unsigned feature,
                                      const void *payload, size_t size);
perfdata_status pd_writer_begin(struct pd_writer *writer);

/* A whole record in the recording's byte order. A file's index of AUXTRACE records, feature 18, is
 * made of them. */
perfdata_status pd_writer_put_record(struct pd_writer *writer, const void *record, size_t size);
/* Bytes of the kernel's buffer: records, of which the last may go on in the next call. */
perfdata_status pd_writer_put_kernel(struct pd_writer *writer, const void *bytes, size_t size);
/* What was put so far is in the file, and its header says so: a reader sees it, without features. A
 * stream is flushed. */
perfdata_status pd_writer_sync(struct pd_writer *writer);
/* Waits until all that was given to another thread to write has been written. */
perfdata_status pd_writer_wait(struct pd_writer *writer);
/* Bytes of the kernel's records so far, and what became of them in compressed records. */
void pd_writer_packed(const struct pd_writer *writer, uint64_t *in, uint64_t *out);
/* Bytes as they are: those that follow a record (AUX area data). */
perfdata_status pd_writer_put(struct pd_writer *writer, const void *bytes, size_t size);
/* Where the next byte goes, from the start of the recording. */
uint64_t pd_writer_position(const struct pd_writer *writer);

perfdata_status pd_writer_finish(struct pd_writer *writer);
void pd_writer_close(struct pd_writer *writer);

#endif
