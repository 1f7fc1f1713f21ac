/* SPDX-License-Identifier: MIT */
/* The layer container/: chunks -> an open recording: events, features, and records in file
 * order. */
#ifndef PD_CONTAINER_H
#define PD_CONTAINER_H
#include "base/arena.h"
#include "base/context.h"
#include "base/cpuid.h"
#include "base/hash.h"
#include "base/vec.h"
#include "format/features.h" /* struct pd_features: each header feature decoded (FORMAT) */
#include "format/format.h"
#include "io/io.h"

struct pd_section {
    uint64_t offset, size;
};

struct pd_feature_bytes {
    const uint8_t *data;
    size_t size;
};

enum pd_container_kind { PD_CONTAINER_FILE, PD_CONTAINER_PIPE, PD_CONTAINER_DIRECTORY };

/* The files data.0, data.1 ... of a directory: records without a header. */
struct pd_recording_parts {
    struct pd_source **sources;
    const char **names; /* "data.0" */
    size_t count;
};

/* The header's features as they were recorded. */
struct pd_feature_table {
    uint64_t bits[4];                   /* in native numbering: bit n of word n/64 */
    struct pd_section section[256];     /* {0,0}: absent or not readable */
    struct pd_feature_bytes bytes[256]; /* data NULL: absent or not read */
    bool bad[256];                      /* it does not parse */
    uint64_t offset;                    /* of the table, 0: none */
};

/* How the event of a record is found. */
struct pd_event_ids {
    struct pd_map64 by_id;           /* id -> index; the event added last wins */
    bool same_positions;             /* all events agree where the id is */
    const struct pd_event **layouts; /* one event of each place where the id may be */
    size_t layout_count;
};

/* What the records of a pipe say before the first sample. */
struct pd_pipe_head {
    bool has_trace; /* there is an AUX area */
    bool has_feature;
    bool events_fixed;   /* there is room for those that are known: no others are taken */
    uint64_t end;        /* records before it acted when the recording was opened */
    size_t early_events; /* with has_feature: those before the first feature */
};

/* An open recording. The fields are read-only for other layers. */
struct pd_recording {
    struct pd_context context;
    struct pd_arena arena; /* everything below lives here */
    struct pd_source *source;
    /* NULL unless the recording is one; `source` is then its file `data`. */
    struct pd_source *directory;
    struct pd_recording_parts parts;
    char *path; /* as given; "-" for a descriptor, "" for memory */
    enum pd_container_kind kind;
    bool all_streams; /* of a pipe: not only the first of streams that stand one behind the other */
    bool like_perf;   /* no more than perf 6.1 reads (PERFDATA_LIKE_PERF) */
    bool stay_closed; /* compressed records are not read: pd_recording_skip_header() */
    unsigned version; /* 2 for PERFILE2, 1 for PERFFILE */
    bool swap;        /* the file's byte order is not ours */
    bool big_endian;  /* of the file */
    uint64_t header_size, attr_size;
    struct pd_section attrs, data, event_types;
    struct pd_section recorded_data; /* as the header says; `data` is what there is */
    bool unfinished, truncated;      /* data.size 0; the file ends early */
    struct pd_features features;
    struct pd_feature_table feature_table;
    struct pd_event **events;
    size_t event_count;
    struct pd_event_ids ids;
    struct pdc_points *points; /* names of tracepoints; NULL: none was asked for */
    struct pd_pipe_head head;
};

/* The CPU id that the recording tells. Where it tells none and perf is imitated, this machine's, as
 * perf takes that. NULL: not known. */
const char *pd_recording_cpuid(const struct pd_recording *recording, char here[PD_CPUID_SIZE]);

PD_INLINE bool pd_recording_has_feature(const struct pd_recording *recording, unsigned feature)
{
    return feature < 256 && recording->feature_table.bits[feature / 64] >> feature % 64 & 1;
}

/* `out` is all zero but for its context, `all_streams` and `like_perf`, which the caller has
 * initialised. The source becomes the recording's, also on failure; pd_recording_close() ends both
 * and the context. `path` for messages. */
perfdata_status pd_recording_open(struct pd_source *source, const char *path,
                                  struct pd_recording *out);
/* A pipe's stream that was opened and no more is copied into a temporary file, so that it can be
 * read more than once. */
perfdata_status pd_recording_spool(struct pd_recording *recording);
/* For views that need no header: with `like_perf`, records that only the header makes readable end
 * their walk, as they end perf's. */
void pd_recording_skip_header(struct pd_recording *recording);
void pd_recording_close(struct pd_recording *recording);

/* The event of a kernel record (docs/perf-data-format.md, tolerant), NULL when it has none. */
const struct pd_event *pd_recording_event_of(const struct pd_recording *recording,
                                             const uint8_t *record, uint32_t size, uint32_t type);
/* The same as it would be if the recording had more events: a lone event takes records with ids
 * that are not its own, and NULL is returned for them here. */
const struct pd_event *pd_recording_event_among(const struct pd_recording *recording,
                                                const uint8_t *record, uint32_t size,
                                                uint32_t type);

/* ---- the walk over records in file order ----------------------------------------------------- */

struct pd_raw {
    const uint8_t *data; /* header included; valid while `chunk` is held or until the next call */
    uint32_t size, type;
    uint16_t misc;
    uint64_t offset; /* in the file */
    uint32_t part;   /* which file: 0 the main one, n: parts.sources[n - 1] */
    struct pd_chunk *chunk;
    const struct pd_event *event; /* NULL for types >= 64 and unknown ids */
    const uint8_t *payload;       /* bytes outside the record (tracing data): NULL when not kept */
    uint64_t
        payload_size; /* AUXTRACE, TRACING_DATA: bytes that follow the record, at offset + size */
};

struct pd_walk;
struct pd_ahead;

perfdata_status pd_walk_open(struct pd_recording *recording, struct pd_walk **out);
/* 1 a record, 0 end, < 0 status. Damage is reported as issues, then skipped up to the next
 * plausible record. */
int pd_walk_next(struct pd_walk *walk, struct pd_raw *out);
/* Before the first record. CLOSED: compressed records come as they are, not what they hold.
 * PAYLOADS: raw.payload is there for each record that has one, behind it in its chunk, which a
 * stream gives no second time. QUIET: damage is passed over without a message, for a second
 * walk. */
enum pd_walk_flags { PD_WALK_CLOSED = 1, PD_WALK_PAYLOADS = 2, PD_WALK_QUIET = 4 };
void pd_walk_set(struct pd_walk *walk, unsigned flags);
/* Other threads may read the next chunk by pd_ahead_serve(); `ahead` outlives the walk. */
void pd_walk_read_ahead(struct pd_walk *walk, struct pd_ahead *ahead);
/* Whether the record delivered last was inside a compressed one. */
bool pd_walk_inside(const struct pd_walk *walk);
/* Whether the record delivered last may be no record at all, or what should follow it is not all
 * there. */
bool pd_walk_doubts(const struct pd_walk *walk, const struct pd_raw *raw);
/* Whether the record delivered last would be taken for a record whatever stands behind it, so that
 * a copy may leave out what follows. Costs a pass over its bytes. */
bool pd_walk_is_sure(const struct pd_walk *walk, const struct pd_raw *raw);
/* How far the walk is: bytes of the data section read so far. */
uint64_t pd_walk_position(const struct pd_walk *walk);
void pd_walk_close(struct pd_walk *walk);

#endif
