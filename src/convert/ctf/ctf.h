/* SPDX-License-Identifier: MIT */
/* Common Trace Format 1.8, in the form of `perf data convert --to-ctf`.
 *
 * ctf.c turns samples and records into events on any worker, layout.c says which fields an event
 * has, streams.c puts events in packets of their CPU's file, metadata.c describes all that. */
#ifndef PD_CONVERT_CTF_H
#define PD_CONVERT_CTF_H
#include "convert/direct.h"
#include "tracepoint/tracepoint.h"

/* The files of a trace; a number follows the stream's. */
#define PD_CTF_METADATA "metadata"
#define PD_CTF_STREAM "perf_stream_"

/* ---- layout.c: an event's fields ---- */

enum pd_ctf_source {
    PD_CTF_IP,
    PD_CTF_TID,
    PD_CTF_PID,
    PD_CTF_ID,
    PD_CTF_STREAM_ID,
    PD_CTF_PERIOD,
    PD_CTF_WEIGHT,
    PD_CTF_DATA_SRC,
    PD_CTF_TRANSACTION,
    PD_CTF_CALLCHAIN,
    PD_CTF_TRACE, /* a field of the tracepoint */
    PD_CTF_RAW,
    PD_CTF_BODY /* of another record: in the order of its fields */
};

enum pd_ctf_shape {
    PD_CTF_NUMBER,
    PD_CTF_STRING,
    PD_CTF_ARRAY,   /* `count` numbers */
    PD_CTF_SEQUENCE /* so many as a field before it says */
};

struct pd_ctf_field {
    const char *name;   /* as the metadata have it */
    const char *length; /* SEQUENCE: the name of the field before */
    enum pd_ctf_source source;
    enum pd_ctf_shape shape;
    uint32_t count;
    uint8_t size; /* of a number: 1, 4 or 8 bytes */
    bool is_signed, hexadecimal;
    const struct pd_trace_field *trace;
};

struct pd_ctf_event {
    const char *name;
    const struct pd_trace_format *format; /* NULL: no tracepoint, or one of unknown fields */
    PD_VEC(struct pd_ctf_field) fields;
};

struct pd_ctf_layout {
    struct pd_arena arena;
    struct pd_tracing *tracing; /* NULL: no formats were recorded */
    struct pd_ctf_event *events;
    uint32_t count;
    uint32_t first_record; /* the event of COMM; those of the other records follow */
};

/* Records that are no samples, in the order in which perf numbers them. */
enum pd_ctf_record {
    PD_CTF_COMM,
    PD_CTF_EXIT,
    PD_CTF_FORK,
    PD_CTF_MMAP,
    PD_CTF_MMAP2,
    PD_CTF_RECORDS
};

/* `records`: the events of records come behind those of samples. */
perfdata_status pd_ctf_layout_make(struct pd_convert *x, bool records, struct pd_ctf_layout *out);
void pd_ctf_layout_free(struct pd_ctf_layout *layout);

/* ---- streams.c: a file a CPU, of packets ---- */

struct pd_ctf_stream {
    uint32_t cpu;
    uint64_t first, last;   /* times of the packet */
    struct pd_text content; /* events of the packet */
};

struct pd_ctf_streams {
    struct pd_convert *x;
    PD_VEC(struct pd_ctf_stream) list;
    struct pd_map64 by_cpu;
    size_t held; /* bytes of all packets that are not written yet */
    uint8_t uuid[16];
    bool has_uuid;
    uint64_t late, beyond; /* events earlier than the one before; of CPUs that cannot be */
};

/* What a worker leaves of an event; its `size` bytes of fields follow. */
struct pd_ctf_head {
    uint64_t time;
    uint32_t size, cpu, event;
};

perfdata_status pd_ctf_streams_add(struct pd_ctf_streams *streams, const struct pd_ctf_head *head,
                                   const char *fields);
/* Writes all packets; afterwards the trace's UUID stands. */
perfdata_status pd_ctf_streams_end(struct pd_ctf_streams *streams);
void pd_ctf_streams_free(struct pd_ctf_streams *streams);

PD_INLINE void pd_ctf_put(struct pd_text *out, uint64_t value, size_t size)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    pd_text_bytes(out, bytes, size);
}

/* ---- metadata.c ---- */

/* The text that describes the trace; `offset`: what is to be added to times. */
void pd_ctf_metadata(const struct pd_recording *recording, const struct pd_ctf_layout *layout,
                     const uint8_t uuid[16], int64_t offset, struct pd_text *out);

#endif
