/* SPDX-License-Identifier: MIT */
/* The layer rewrite/: a recording -> another one. What the verbs inject, repair, slice, merge and
 * anonymize share: the output and its form, events and features, each record in the output's byte
 * order with the bytes that follow it. */
#ifndef PD_REWRITE_H
#define PD_REWRITE_H
#include "base/text.h"
#include "container/container.h"
#include "io/output_file.h"
#include "order/order.h"
#include "write/write.h"
#include <perfdata/rewrite.h>

/* ---- where it goes ---- */

/* A file is written under another name and takes its own when it is complete: what stood there
 * stays until then, and may be the input. */
struct pd_output {
    struct perfdata_output options;
    int fd;
    enum pd_writer_kind kind;
    struct pd_output_file file; /* that `fd` is of, unless it is the caller's or in a directory */
    char *temporary;            /* the directory's name until it is complete; NULL: no directory */
    int folder;                 /* of a directory, -1: it is none; `fd` is its file `data` */
};

perfdata_status pd_output_open(struct pd_context *context, const struct perfdata_output *options,
                               struct pd_output *out);
/* `status`: how the writing went; returned, or the failure to end it. */
perfdata_status pd_output_close(struct pd_context *context, struct pd_output *output,
                                perfdata_status status);

/* The other files of a directory, made as they are met. */
struct pd_part {
    int fd;
    struct pd_writer *writer;
};

struct pd_parts {
    int folder; /* -1: no directory */
    struct pd_writer_options options;
    PD_VEC(struct pd_part) list;
    struct pd_map64 by_key;
};

/* The writer for records of this key: a CPU, or a file's number. *out is unchanged where there are
 * too many. */
perfdata_status pd_parts_writer(struct pd_parts *parts, struct pd_context *context, uint64_t key,
                                struct pd_writer **out);
/* Ends all parts, well or after a failure; returns `status` or the first failure. */
perfdata_status pd_parts_finish(struct pd_parts *parts, struct pd_context *context,
                                perfdata_status status);

/* ---- the copier ---- */

struct pd_copy {
    struct pd_recording *recording;
    struct pd_output output;
    struct pd_writer *writer; /* of the file, or of a directory's `data` */
    struct pd_writer *into;   /* where the next record goes */
    struct pd_parts parts;
    bool big_endian, convert; /* of the output; its order is not the input's */
    bool whole;               /* features that do not parse are left out */
    bool closed;              /* compressed records pass as they are */
    bool directory;           /* the feature that says so is copied */
    bool no_ids;              /* the feature of build-ids is not copied into a pipe */
    bool no_rounds;           /* FINISHED_ROUND is left out: the records come in another order */
    size_t events;            /* that the writer has */
    bool has_feature[256];    /* those that the writer has */
    uint32_t cpus;
    uint8_t *scratch; /* a record in the other order */
    size_t room;
};

enum pd_copy_flags {
    PD_COPY_OPEN = 1,       /* records within compressed ones are wanted */
    PD_COPY_REORDER = 2,    /* records will not come in the file's order */
    PD_COPY_NO_EVENTS = 4,  /* events and features are the caller's */
    PD_COPY_WHOLE = 8,      /* features that do not parse are left out */
    PD_COPY_ROUNDS = 16,    /* with REORDER: FINISHED_ROUND stays all the same */
    PD_COPY_DIRECTORY = 32, /* it becomes the main file of a directory, as the input is */
    PD_COPY_NO_IDS = 64     /* the build-ids of a pipe are the caller's */
};

/* Makes the output and gives it events and features. The caller may then replace features, before
 * pd_copy_begin(). pd_copy_close() ends it, also after a failure here. */
perfdata_status pd_copy_open(struct pd_recording *recording, const struct perfdata_output *output,
                             unsigned flags, struct pd_copy *out);
perfdata_status pd_copy_set_feature(struct pd_copy *copy, unsigned feature, const void *payload,
                                    size_t size);
/* The same with a payload that was put together in `bytes`, which is freed; if memory failed there,
 * this is told. */
perfdata_status pd_copy_give_feature(struct pd_copy *copy, unsigned feature, struct pd_text *bytes);
/* The names of all events of the recording (EVENT_DESC), as they are now. */
perfdata_status pd_copy_describe_events(struct pd_copy *copy);
perfdata_status pd_copy_begin(struct pd_copy *copy);
/* A record as read, with what follows it; what the writer has made of it already is left out. */
perfdata_status pd_copy_raw(struct pd_copy *copy, const struct pd_raw *raw);
/* A record in the byte order of the input, which may have been changed. */
perfdata_status pd_copy_record(struct pd_copy *copy, const struct pd_event *event,
                               const uint8_t *record, uint32_t size);
/* A record that came through order/, `payload` from pd_order_payload(); NULL: what follows an
 * AUXTRACE record is read from the file. */
perfdata_status pd_copy_delivered(struct pd_copy *copy, const struct pd_delivered *record,
                                  const uint8_t *payload);
/* Finishes the output when `status` is good, else takes it away. */
perfdata_status pd_copy_close(struct pd_copy *copy, perfdata_status status);

/* Formats that do not parse are left out, and tracepoints whose formats are lost get formats
 * without fields, since perf opens no file without: before pd_copy_begin(). */
perfdata_status pd_copy_mend_formats(struct pd_copy *copy);

typedef perfdata_status (*pd_take_record_fn)(void *data, const struct pd_walk *walk,
                                             struct pd_raw *raw);
/* Gives each record that is whole to `take`, in the order of the file, until it fails; flags: of
 * enum pd_walk_flags. */
perfdata_status pd_take_records(struct pd_recording *recording, unsigned flags,
                                pd_take_record_fn take, void *data);
/* pd_take_records() for the copy's input. */
perfdata_status pd_copy_take_records(struct pd_copy *copy, pd_take_record_fn take, void *data);

/* A feature's payload in the other byte order into out[bytes->size]. */
void pd_feature_convert(const struct pd_feature_bytes *bytes, unsigned feature, bool swap,
                        bool big_endian, uint32_t cpus, struct pd_arena *arena, uint8_t *out);

#endif
