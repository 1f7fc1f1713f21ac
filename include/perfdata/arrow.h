/* SPDX-License-Identifier: MIT */
/* The tables of a profile as streams of the Arrow C data interface, which pyarrow, polars, pandas,
 * DuckDB and others read without a library between.
 *
 *     struct ArrowArrayStream stream;
 *     if (perfdata_samples_stream(profile, 0, &stream) == PERFDATA_OK)
 *         ... give it to whoever reads Arrow, who calls stream.release(&stream) ...
 *
 * Columns that lie in the profile as they have to lie for Arrow are not copied: those of samples,
 * which are the long ones. Other tables are structures in the profile; their columns are made batch
 * by batch as they are read.
 *
 * Who owns what: a stream and every array that it gave hold the profile, each for itself.
 * perfdata_profile_free() may be called as soon as a stream has been made; what the profile holds
 * is freed with the last of its streams and arrays. The reader releases streams, schemas and arrays
 * by their own release(), from any thread, in any order, children that it moved out of an array as
 * well. One stream is read by one thread at a time.
 *
 * Numbers that a recording does not have are -1 in samples (time, cpu), as in the files of `export
 * parquet`; elsewhere they are null. Texts are UTF-8; bytes that are not, control characters, and a
 * backslash before an x are written \xNN. Their type is large_utf8, that of lists large_list. Times
 * are ns of the recording's clock. */
#ifndef PERFDATA_ARROW_H
#define PERFDATA_ARROW_H
#include <perfdata/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The structures of the interface, as its specification gives them for use in any program. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif

/* Since 0.1. */
enum perfdata_arrow_flags {
    /* samples, stacks, functions, events, mappings: the columns of `export parquet`. Threads and
     * events stand in them by name, stacks and functions by hashes that are the same for every
     * recording of any machine, so that tables of many recordings can be joined. Else they refer to
     * each other by number, and nothing of samples is copied. */
    PERFDATA_ARROW_PORTABLE = 1 << 0
};

/* Each fills *out, which is the caller's; a failure leaves out->release NULL.
 *   PERFDATA_ERROR_NO_DATA   samples of a profile that has not kept them
 *   PERFDATA_ERROR_LIMIT     2^31 and more of a thing that is referred to: Arrow's readers have
 *                            signed numbers
 *   PERFDATA_ERROR_ARGUMENT  unknown flags, or a table that has no portable form
 *   PERFDATA_ERROR_MEMORY
 * Since 0.1. */

/* A row a sample, in order of delivery: time, cpu, event, thread, stack, period (int64, or int32),
 * and of the columns that the profile was asked to keep each under its name (uint64). Portable:
 * time, cpu, pid, tid, comm, event, period, address, stack_hash; address is 0 unless
 * PERFDATA_COLUMN_IP was kept, comm and event are dictionaries. */
PERFDATA_API perfdata_status perfdata_samples_stream(perfdata_profile *profile, uint32_t flags,
                                                     struct ArrowArrayStream *out);
/* A row a stack: stack, hash, parent, frame, depth, functions (a list, root first). Portable:
 * stack_hash, frames (the hashes of its functions, root first). */
PERFDATA_API perfdata_status perfdata_stacks_stream(perfdata_profile *profile, uint32_t flags,
                                                    struct ArrowArrayStream *out);
/* function, hash, name, object, flags (enum perfdata_function_flags), address, size. Portable:
 * function_hash, name, object (its path), build_id (hexadecimal), flags. */
PERFDATA_API perfdata_status perfdata_functions_stream(perfdata_profile *profile, uint32_t flags,
                                                       struct ArrowArrayStream *out);
/* event, name, type, config, samples, period. Portable: event (its name), type, config. */
PERFDATA_API perfdata_status perfdata_events_stream(perfdata_profile *profile, uint32_t flags,
                                                    struct ArrowArrayStream *out);
/* pid, object, start, end, offset. Portable: object is its path; and build_id. */
PERFDATA_API perfdata_status perfdata_mappings_stream(perfdata_profile *profile, uint32_t flags,
                                                      struct ArrowArrayStream *out);
/* frame, hash, function, file, line, address. */
PERFDATA_API perfdata_status perfdata_frames_stream(perfdata_profile *profile, uint32_t flags,
                                                    struct ArrowArrayStream *out);
/* object, hash, name, path, build_id (hexadecimal), kernel (1 or 0). */
PERFDATA_API perfdata_status perfdata_objects_stream(perfdata_profile *profile, uint32_t flags,
                                                     struct ArrowArrayStream *out);
/* thread, pid, tid, comm, machine (of a guest), samples, first, last (times). */
PERFDATA_API perfdata_status perfdata_threads_stream(perfdata_profile *profile, uint32_t flags,
                                                     struct ArrowArrayStream *out);
/* time, cpu, thread, flags (enum perfdata_switch_flags), other_pid, other_tid. Empty without
 * PERFDATA_PROFILE_SWITCHES. */
PERFDATA_API perfdata_status perfdata_switches_stream(perfdata_profile *profile, uint32_t flags,
                                                      struct ArrowArrayStream *out);
/* What samples of one event, thread and stack add up to: event, thread, stack, samples, period. */
PERFDATA_API perfdata_status perfdata_sums_stream(perfdata_profile *profile, uint32_t flags,
                                                  struct ArrowArrayStream *out);
/* What perfdata_profile_rows() gives, with the names of functions and objects: key, name, object,
 * file, line (of frames), self_samples, self_period, total_samples, total_period. `query` NULL: all
 * samples by function. Errors also as those of perfdata_profile_rows(). Since 0.1. */
PERFDATA_API perfdata_status perfdata_rows_stream(perfdata_profile *profile,
                                                  const struct perfdata_query *query,
                                                  struct ArrowArrayStream *out);

#ifdef __cplusplus
}
#endif
#endif
