/* SPDX-License-Identifier: MIT */
/* A profile: the samples of a recording as rows, with functions, frames and call stacks as tables
 * that they refer to.
 *
 *     struct perfdata_profile_options options = PERFDATA_PROFILE_OPTIONS_INIT;
 *     perfdata_profile *profile;
 *     if (perfdata_profile_build(recording, &options, &profile) == PERFDATA_OK)
 *         for (uint32_t i = 0; i < perfdata_profile_stack_count(profile); i++) ...
 *     perfdata_profile_free(profile);
 *
 * Everything is numbered from 0 in the order in which samples that are kept need it, so that the
 * numbers of a recording are always the same, with any number of threads. PERFDATA_NONE stands for
 * "none" wherever such a number is expected. For what leaves the process there are 64-bit hashes,
 * which are the same for the same function, frame or stack of any recording on any machine.
 *
 * A stack is a frame and the stack of its callers; equal stacks are one, and a stack's callers have
 * a smaller number than it has. The frame of a sample's stack is where the sample itself was,
 * whether or not its call chain says so: a chain that begins elsewhere (one without kernel frames,
 * of a sample in the kernel) stands below it.
 *
 * A profile owns all that it gives, needs neither the recording nor each other, and never changes
 * once it is built: any thread may read it. Strings are NUL-terminated, bytes as recorded (often
 * but not always UTF-8). Structures grow at their end in later versions. */
#ifndef PERFDATA_PROFILE_H
#define PERFDATA_PROFILE_H
#include <perfdata/recording.h>
#include <perfdata/status.h>
#include <perfdata/symbol_search.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perfdata_profile perfdata_profile;

/* Instead of the number of a thing. Since 0.1. */
#define PERFDATA_NONE UINT32_MAX

/* ---- building ---- */

/* What makes two frames of one function differ. Since 0.1. */
enum perfdata_frame_detail {
    PERFDATA_FRAMES_BY_FUNCTION = 0, /* nothing: fewest stacks */
    PERFDATA_FRAMES_BY_LINE = 1,     /* the source line; lines are read, which takes a while */
    PERFDATA_FRAMES_BY_ADDRESS = 2   /* the address in the object */
};

/* Since 0.1. */
enum perfdata_profile_flags {
    PERFDATA_PROFILE_KEEP_SAMPLES = 1 << 0, /* perfdata_profile_samples() gives them all */
    PERFDATA_PROFILE_NO_SUMS = 1 << 1,      /* perfdata_profile_sums() gives nothing     */
    PERFDATA_PROFILE_SWITCHES = 1 << 2,     /* perfdata_profile_switches() gives them    */
    PERFDATA_PROFILE_LINES = 1 << 3,        /* frames by address have lines, too         */
    PERFDATA_PROFILE_NO_CALLCHAIN = 1 << 4, /* stacks of one frame                       */
    PERFDATA_PROFILE_NO_INLINE = 1 << 5, /* unwound chains without the functions put into others */
    PERFDATA_PROFILE_NO_DEMANGLE = 1 << 6,
    PERFDATA_PROFILE_DEMANGLE_KERNEL = 1 << 7,
    PERFDATA_PROFILE_VERBOSE_NAMES = 1 << 8, /* C++ names with parameters                     */
    PERFDATA_PROFILE_FORCE = 1 << 9,         /* use symbol files that other users own         */
    PERFDATA_PROFILE_NO_ITRACE = 1 << 10,    /* AUX traces are not decoded                    */
    PERFDATA_PROFILE_GUEST_CODE = 1 << 11,   /* guests run code of their own host process     */
    /* perfdata_profile_call() and _call_sums() tell of calls, where branches of a trace hold calls
     * and returns (--itrace=cr or b) and samples are not chosen by place. Since 0.1. */
    PERFDATA_PROFILE_CALLS = 1 << 12,
    /* With PERFDATA_PROFILE_CALLS: the branches that calls are made of are no samples. Since 0.1.
     * */
    PERFDATA_PROFILE_NO_BRANCHES = 1 << 13,
    /* perfdata_profile_mark() tells of losses, errors and events of a trace. Since 0.1. */
    PERFDATA_PROFILE_MARKS = 1 << 14,
    /* perfdata_profile_sums() adds up all threads of one name: `thread` is the first of them. Takes
     * less memory where processes come and go. Since 0.1. */
    PERFDATA_PROFILE_SUMS_BY_COMM = 1 << 15
};

/* Columns that not every recording has; bit 1 << value asks for one. Since 0.1. */
enum perfdata_column {
    PERFDATA_COLUMN_IP = 0,   /* as recorded                                          */
    PERFDATA_COLUMN_ADDR = 1, /* the data's address, or where a branch leads          */
    PERFDATA_COLUMN_ID = 2,   /* PERF_SAMPLE_ID                                       */
    PERFDATA_COLUMN_STREAM_ID = 3,
    PERFDATA_COLUMN_MODE =
        4, /* bits 0-2 of the record's misc: 1 kernel, 2 user, 4 guest kernel, 5 guest user */
    PERFDATA_COLUMN_LATENCY = 5, /* PERF_SAMPLE_WEIGHT as recorded                       */
    PERFDATA_COLUMN_DATA_SRC = 6,
    PERFDATA_COLUMN_TRANSACTION = 7,
    PERFDATA_COLUMN_PHYS_ADDR = 8,
    PERFDATA_COLUMN_CGROUP = 9,
    PERFDATA_COLUMN_DATA_PAGE_SIZE = 10,
    PERFDATA_COLUMN_CODE_PAGE_SIZE = 11,
    PERFDATA_COLUMN_BRANCH_FLAGS =
        12, /* of a trace's step, as script prints them: see perfdata/itrace.h */
    PERFDATA_COLUMN_INSN_COUNT = 13,  /* of a trace: instructions since the last such sample  */
    PERFDATA_COLUMN_CYCLE_COUNT = 14, /* of a trace: cycles since the last such sample        */
    PERFDATA_COLUMN_COUNT = 15        /* how many there are                                   */
};

/* A run of samples in the order of delivery (by time but for samples that came late), column by
 * column, `count` values each. The pointers live during the callback, or as long as the profile.
 * Since 0.1. */
struct perfdata_samples {
    size_t struct_size;
    size_t count;
    uint64_t first;         /* number of the first of them among all samples        */
    const uint64_t *time;   /* ns of the recording's clock; all ones: not recorded    */
    const uint64_t *weight; /* the period: how many events the sample stands for      */
    const uint32_t *event, *thread, *stack;
    const uint32_t *cpu; /* all ones: not recorded                                  */
    /* By enum perfdata_column; NULL: not asked for, or no event of the recording has it. Fields
     * that an event has not are 0, ids all ones, data_src as perf has it. */
    const uint64_t *columns[PERFDATA_COLUMN_COUNT];
};

/* Takes samples as they come, in order, one call at a time, maybe from another thread. `profile`
 * may be asked for functions, frames, stacks and threads of these and earlier samples during the
 * call; its hashes, build-ids and sums are not there yet. 0 to go on; anything else stops with
 * PERFDATA_ERROR_CANCELLED. Since 0.1. */
typedef int (*perfdata_samples_fn)(void *data, const perfdata_profile *profile,
                                   const struct perfdata_samples *samples);

/* Begin with PERFDATA_PROFILE_OPTIONS_INIT, which has the defaults of `script`. Strings are
 * borrowed for the call; NULL: not given. Lists are separated by commas. Since 0.1. */
struct perfdata_profile_options {
    size_t struct_size;
    uint32_t flags;        /* enum perfdata_profile_flags                                       */
    uint32_t detail;       /* enum perfdata_frame_detail                                        */
    uint32_t columns;      /* 1 << enum perfdata_column, those that are wanted                  */
    uint32_t max_stack;    /* addresses of a chain; 0: perf's 127                               */
    uint32_t threads;      /* 0: all cores; nothing depends on it                               */
    uint32_t max_switches; /* of more those of the longest runs are kept; 0: all                */
    perfdata_samples_fn samples; /* NULL: samples are only counted, and kept if asked for       */
    void *samples_data;
    /* Which samples: as in struct perfdata_script_options. */
    const char *comms, *pids, *tids, *cpus, *dsos, *symbols;
    uint64_t address_range;
    const char *time;
    const char *stop_symbols; /* chains end at these */
    /* Where symbols come from. */
    struct perfdata_symbol_search search;
    /* What is made of AUX traces: values of --itrace, "" for its defaults; none: those of
     * script. */
    const char *const *itrace;
    size_t itrace_count;
    const char *perf_config; /* read in place of /etc/perfconfig and home's; NULL: these */
};
#define PERFDATA_PROFILE_OPTIONS_INIT                                                              \
    {                                                                                              \
        sizeof(struct perfdata_profile_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,   \
            0, PERFDATA_SYMBOL_SEARCH_INIT, 0, 0, 0                                                \
    }

/* Reads the recording once. Memory goes with distinct stacks (and with samples only when they are
 * kept). A recording without samples gives a profile without any. Failures leave their text in the
 * recording and set *out to NULL:
 *   PERFDATA_ERROR_ARGUMENT    an option does not parse
 *   PERFDATA_ERROR_NO_DATA     what an option needs is not in the recording
 *   PERFDATA_ERROR_CANCELLED   options->samples said so
 *   PERFDATA_ERROR_LIMIT       more than 2^32 of something
 * and what reading fails with. Since 0.1. */
PERFDATA_API perfdata_status perfdata_profile_build(perfdata_recording *recording,
                                                    const struct perfdata_profile_options *options,
                                                    perfdata_profile **out);
/* NULL does nothing. Since 0.1. */
PERFDATA_API void perfdata_profile_free(perfdata_profile *profile);

/* ---- tables ----
 * Each has a count and a row by number, in constant time; NULL for a number beyond the last. */

/* An event that can have samples. Since 0.1. */
struct perfdata_profile_event {
    const char *name; /* as perf names it, never NULL */
    uint32_t type, reserved;
    uint64_t config, sample_type; /* of its perf_event_attr */
    uint64_t samples, weight;     /* sums over its samples */
};
PERFDATA_API uint32_t perfdata_profile_event_count(const perfdata_profile *profile);
PERFDATA_API const struct perfdata_profile_event *
perfdata_profile_event(const perfdata_profile *profile, uint32_t index);

/* A thread under one name: when it is given another, or its tid to another thread, a new one
 * begins. Since 0.1. */
struct perfdata_profile_thread {
    uint32_t pid, tid; /* all ones: unknown */
    const char *comm;  /* as script prints it, never NULL */
    uint32_t machine;  /* pid of the guest's hypervisor; all ones: the host */
    uint32_t reserved;
    uint64_t samples;
    uint64_t first,
        last; /* times of its first and last sample that has one; first all ones: none has */
};
PERFDATA_API uint32_t perfdata_profile_thread_count(const perfdata_profile *profile);
PERFDATA_API const struct perfdata_profile_thread *
perfdata_profile_thread(const perfdata_profile *profile, uint32_t index);

/* A program, library, kernel, module, piece of made code. Since 0.1. */
struct perfdata_profile_object {
    const char *name; /* as report prints it, "libc.so.6", never NULL */
    const char *path; /* as far as it is known, never NULL */
    const uint8_t *build_id;
    uint32_t build_id_size; /* 0: unknown */
    uint32_t is_kernel;     /* 1: code of a kernel, else 0 */
    uint64_t hash;          /* of the build-id, where that is unknown of the path */
};
PERFDATA_API uint32_t perfdata_profile_object_count(const perfdata_profile *profile);
PERFDATA_API const struct perfdata_profile_object *
perfdata_profile_object(const perfdata_profile *profile, uint32_t index);

/* Since 0.1. */
enum perfdata_function_flags {
    PERFDATA_FUNCTION_UNKNOWN = 1 << 0, /* all addresses of the object that have no symbol */
    PERFDATA_FUNCTION_KERNEL = 1 << 1,
    PERFDATA_FUNCTION_INLINED =
        1 << 2 /* it was put into other functions; has no address of its own */
};

/* Since 0.1. */
struct perfdata_profile_function {
    const char *name; /* never NULL; "[unknown]" */
    uint32_t name_length;
    uint32_t object; /* PERFDATA_NONE: the address was in no map */
    uint32_t flags;  /* enum perfdata_function_flags */
    uint32_t reserved;
    uint64_t address; /* of its begin, as frames have addresses */
    uint64_t size;    /* bytes; 0: unknown */
    uint64_t hash;    /* of its object's hash, its name and its place in the object */
};
PERFDATA_API uint32_t perfdata_profile_function_count(const perfdata_profile *profile);
PERFDATA_API const struct perfdata_profile_function *
perfdata_profile_function(const perfdata_profile *profile, uint32_t index);

/* Since 0.1. */
struct perfdata_profile_frame {
    uint32_t function;
    /* 0: unknown, or not asked for. Of callers the line of the address that is returned to */
    uint32_t line;
    const char *file; /* with its folders; NULL: unknown, or not asked for */
    uint64_t address; /* in the object's file, of the kernel in memory; by function and line: 0 */
    uint64_t hash;
};
PERFDATA_API uint32_t perfdata_profile_frame_count(const perfdata_profile *profile);
PERFDATA_API const struct perfdata_profile_frame *
perfdata_profile_frame(const perfdata_profile *profile, uint32_t index);

/* Since 0.1. */
struct perfdata_profile_stack {
    uint32_t frame;
    uint32_t parent; /* the stack of its callers; PERFDATA_NONE: it has none */
    uint32_t depth;  /* frames, 1 and more */
    uint32_t reserved;
    uint64_t hash;
};
PERFDATA_API uint32_t perfdata_profile_stack_count(const perfdata_profile *profile);
PERFDATA_API const struct perfdata_profile_stack *
perfdata_profile_stack(const perfdata_profile *profile, uint32_t index);

/* The frames of `count` stacks at once, for those who would otherwise ask for millions of stacks
 * one by one: callee first, one stack behind the other. Those of stacks[i] end at ends[i] and begin
 * where those of the stack before end. Returns how many they are altogether; `frames` (may be NULL
 * when `capacity` is 0) is written only when that is not more than `capacity`. Numbers beyond the
 * last, and PERFDATA_NONE, have no frames. Since 0.1. */
PERFDATA_API uint64_t perfdata_profile_stack_frames(const perfdata_profile *profile,
                                                    const uint32_t *stacks, size_t count,
                                                    uint64_t *ends, uint32_t *frames,
                                                    uint64_t capacity);
/* Column by column what the `count` frames from number `first` on are: members of struct
 * perfdata_profile_frame. Each array may be NULL; equal files have equal pointers. Returns how many
 * there are of these, which is less than `count` at the end of the table. Since 0.1. */
PERFDATA_API size_t perfdata_profile_frame_columns(const perfdata_profile *profile, uint32_t first,
                                                   size_t count, uint32_t *functions,
                                                   uint32_t *lines, uint64_t *addresses,
                                                   const char **files);

/* A map of an object that occurs: of a process as its record told it (a process that was forked off
 * sees those of its parent as well, which are not told again), of the kernel as an address of some
 * sample was found by it. In the order of their records, none twice. Since 0.1. */
struct perfdata_profile_mapping {
    uint32_t pid;        /* of the process that made it; all ones: unknown, a kernel's */
    uint32_t object;     /* PERFDATA_NONE never */
    uint64_t start, end; /* in memory */
    uint64_t offset;     /* in the file, of `start` */
};
PERFDATA_API uint32_t perfdata_profile_mapping_count(const perfdata_profile *profile);
PERFDATA_API const struct perfdata_profile_mapping *
perfdata_profile_mapping(const perfdata_profile *profile, uint32_t index);

/* Since 0.1. */
enum perfdata_switch_flags {
    PERFDATA_SWITCH_OUT = 1 << 0, /* the thread leaves the CPU, else it comes */
    PERFDATA_SWITCH_PREEMPTED = 1 << 1
};

/* A context switch as recorded (SWITCH, SWITCH_CPU_WIDE), in order of delivery. Since 0.1. */
struct perfdata_profile_switch {
    uint64_t time;
    uint32_t cpu;
    uint32_t thread;               /* which leaves or comes */
    uint32_t flags;                /* enum perfdata_switch_flags */
    uint32_t other_pid, other_tid; /* which comes or left; all ones: not recorded */
    uint32_t reserved;
};
/* 0 unless PERFDATA_PROFILE_SWITCHES was given. Filters of threads and CPUs hold for them, too. */
PERFDATA_API uint64_t perfdata_profile_switch_count(const perfdata_profile *profile);
PERFDATA_API const struct perfdata_profile_switch *
perfdata_profile_switch(const perfdata_profile *profile, uint64_t index);
/* How many did not stay within options->max_switches. They go in pairs, a thread's coming and its
 * leaving, and all such runs are shorter than *shorter_than ns (may be NULL; 0: none went, all
 * ones: of any length); more may go where partners are missing. Since 0.1. */
PERFDATA_API uint64_t perfdata_profile_switches_left_out(const perfdata_profile *profile,
                                                         uint64_t *shorter_than);

/* ---- calls ---- */

/* Since 0.1. */
enum perfdata_call_flags {
    PERFDATA_CALL_NO_CALL = 1 << 0,   /* it was entered before the trace began, or by a return */
    PERFDATA_CALL_NO_RETURN = 1 << 1, /* it was not seen to be left                             */
    PERFDATA_CALL_BY_JUMP = 1 << 2,   /* entered by a jump: a tail call                         */
    PERFDATA_CALL_RECURSIVE = 1 << 3  /* another call of its function is above it               */
};

/* A call of a function by a thread, paired as perf's database exporters do. The size of the
 * structure is fixed for ever. Since 0.1. */
struct perfdata_profile_call {
    uint64_t start, end;    /* times */
    uint64_t insns, cycles; /* of it and what it called; 0: unknown */
    uint32_t thread, function;
    uint32_t depth; /* calls above it; 0: the outermost that is known */
    uint32_t flags; /* enum perfdata_call_flags */
};
/* In the order in which they end; of one thread and depth also in that in which they begin. 0
 * without PERFDATA_PROFILE_CALLS. Since 0.1. */
PERFDATA_API uint64_t perfdata_profile_call_count(const perfdata_profile *profile);
PERFDATA_API const struct perfdata_profile_call *
perfdata_profile_call(const perfdata_profile *profile, uint64_t index);
/* A million calls are kept; of more the shortest go. How many went, all of them shorter than
 * *shorter_than ns (may be NULL). Sums have them. Since 0.1. */
PERFDATA_API uint64_t perfdata_profile_calls_left_out(const perfdata_profile *profile,
                                                      uint64_t *shorter_than);

/* All calls of a function. The size of the structure is fixed for ever. Since 0.1. */
struct perfdata_profile_call_sum {
    uint32_t function, reserved;
    uint64_t count;
    uint64_t total;       /* ns of those that are not PERFDATA_CALL_RECURSIVE */
    uint64_t sum;         /* ns of all */
    uint64_t self;        /* ns outside the calls below it */
    uint64_t least, most; /* ns of the shortest and the longest call */
    uint64_t insns, cycles;
};
/* All of them, *count, by number of the function. Since 0.1. */
PERFDATA_API const struct perfdata_profile_call_sum *
perfdata_profile_call_sums(const perfdata_profile *profile, size_t *count);

/* Since 0.1. */
enum perfdata_mark_kind {
    /* decoding a trace met one: what ran until its next synchronisation is missing */
    PERFDATA_MARK_ERROR = 0,
    /* the kernel found no room for records or a piece of a trace */
    PERFDATA_MARK_LOST = 1,
    /* What a trace tells of a moment: ptwrite, power events, changes of frequency ... They are
     * samples, too. */
    PERFDATA_MARK_EVENT = 2
};

/* Something that went wrong, or was told, at a time. The size of the structure is fixed for ever.
 * Since 0.1. */
struct perfdata_profile_mark {
    uint64_t time;      /* all ones: unknown */
    uint32_t kind, cpu; /* cpu all ones: unknown */
    uint32_t tid;       /* all ones: unknown     */
    uint32_t reserved;
    uint64_t count; /* lost records; of a trace and an error: 1 */
    /* What an error says; an event's name, ": " and its values as perf script prints them, without
     * values beyond 250,000 marks; else NULL. */
    const char *text;
};
/* In order of delivery; 0 without PERFDATA_PROFILE_MARKS. Since 0.1. */
PERFDATA_API uint64_t perfdata_profile_mark_count(const perfdata_profile *profile);
PERFDATA_API const struct perfdata_profile_mark *
perfdata_profile_mark(const perfdata_profile *profile, uint64_t index);

/* ---- samples ---- */

/* How many samples were kept by the filters. Since 0.1. */
PERFDATA_API uint64_t perfdata_profile_sample_count(const perfdata_profile *profile);
/* All of them at once, with PERFDATA_PROFILE_KEEP_SAMPLES; PERFDATA_ERROR_NO_DATA without. Set
 * out->struct_size before. No copy is made. Since 0.1. */
PERFDATA_API perfdata_status perfdata_profile_samples(const perfdata_profile *profile,
                                                      struct perfdata_samples *out);
/* Times of the first and the last sample that has one; PERFDATA_ERROR_NO_DATA: none has. Each may
 * be NULL. Since 0.1. */
PERFDATA_API perfdata_status perfdata_profile_times(const perfdata_profile *profile,
                                                    uint64_t *first, uint64_t *last);
/* Errors that decoding AUX traces met: what ran there is missing. Since 0.1. */
PERFDATA_API uint64_t perfdata_profile_trace_errors(const perfdata_profile *profile);
/* 1 when any event of the recording can have the column (enum perfdata_column), else 0. Since
 * 0.1. */
PERFDATA_API int perfdata_profile_has_column(const perfdata_profile *profile, uint32_t column);
/* The column's name as files have it: "phys_addr"; NULL: there is none. Since 0.1. */
PERFDATA_API const char *perfdata_column_name(uint32_t column);

/* What samples of one event, thread and stack add up to. Since 0.1. */
struct perfdata_profile_sum {
    uint32_t event, thread, stack, reserved;
    uint64_t count, weight;
};
/* All of them, *count, in order of their first sample. The size of the structure is fixed for ever.
 * Since 0.1. */
PERFDATA_API const struct perfdata_profile_sum *
perfdata_profile_sums(const perfdata_profile *profile, size_t *count);

/* ---- aggregates ----
 * Their cost goes with the stacks of the profile, and with the samples when a time range is given.
 * Arrays that they give are the caller's, to be freed with perfdata_rows_free(). */

/* What rows and nodes stand for: what `key` is the number of. Since 0.1. */
enum perfdata_row_key {
    PERFDATA_BY_FUNCTION = 0,
    PERFDATA_BY_FRAME = 1, /* lines or addresses, as the profile's detail says */
    PERFDATA_BY_OBJECT = 2 /* PERFDATA_NONE: what was in no map */
};

/* Since 0.1. */
enum perfdata_query_flags {
    /* What functions that were put into others took themselves counts for the function that they
     * were put into, as in `report`; as callees they count all the same. */
    PERFDATA_QUERY_OUTER_SELF = 1 << 0,
    PERFDATA_QUERY_CALLERS = 1 << 1 /* trees: from the callee to its callers */
};

/* Which samples, and what of them. Begin with PERFDATA_QUERY_INIT: all of them, by function. Since
 * 0.1. */
struct perfdata_query {
    size_t struct_size;
    uint32_t flags; /* enum perfdata_query_flags */
    uint32_t key;   /* enum perfdata_row_key */
    uint32_t event; /* PERFDATA_NONE: all */
    /* Trees: only of stacks in which this key is, from it on: its callees from where it was called
     * first, its callers from where it was called last. PERFDATA_NONE: all. */
    uint32_t focus;
    /* Samples from `from` to `to`, both included, in time; 0, 0: all. Needs a profile that keeps
     * its samples. */
    uint64_t from, to;
    const uint32_t *threads; /* their numbers; NULL: all */
    size_t thread_count;
};
#define PERFDATA_QUERY_INIT                                                                        \
    {                                                                                              \
        sizeof(struct perfdata_query), 0, 0, PERFDATA_NONE, PERFDATA_NONE, 0, 0, 0, 0              \
    }

/* Self: of samples that were there; total: of those with it anywhere in their stack, each counted
 * once. The size of the structure is fixed for ever. Since 0.1. */
struct perfdata_row {
    uint32_t key, reserved;
    uint64_t self_count, self_weight, total_count, total_weight;
};

/* A row for each key that has samples, the greatest own weight first, then the greatest total, then
 * the least number.
 *   PERFDATA_ERROR_ARGUMENT   the query makes no sense
 *   PERFDATA_ERROR_NO_DATA    a time range, and the profile has not kept its samples
 *   PERFDATA_ERROR_MEMORY
 * Since 0.1. */
PERFDATA_API perfdata_status perfdata_profile_rows(const perfdata_profile *profile,
                                                   const struct perfdata_query *query,
                                                   struct perfdata_row **rows, size_t *count);

/* A node of a tree: a key below those that called it (or that it called). The size of the structure
 * is fixed for ever. Since 0.1. */
struct perfdata_node {
    uint32_t parent; /* its place in the array, smaller than its own; PERFDATA_NONE: it has none */
    uint32_t key;
    uint64_t self_count, self_weight, total_count, total_weight;
};

/* The call tree: stacks with equal keys are one path; parents before their children, siblings in
 * order of their first sample. With PERFDATA_QUERY_CALLERS turned round: a root is what ran, below
 * it are its callers, and a node's own weight is of what began there. Errors as above. Since
 * 0.1. */
PERFDATA_API perfdata_status perfdata_profile_tree(const perfdata_profile *profile,
                                                   const struct perfdata_query *query,
                                                   struct perfdata_node **nodes, size_t *count);

/* A key of one profile and what goes by the same name in another. The size of the structure is
 * fixed for ever. Since 0.1. */
struct perfdata_change {
    struct perfdata_row before, after; /* of one that has none: key PERFDATA_NONE, all else 0 */
};

/* Rows of two profiles, joined by the names of functions and objects (and by file and line of
 * frames); those whose share of the own weights changed most come first, then those whose share of
 * the totals did. Both queries have the same key. Errors as above. Since 0.1. */
PERFDATA_API perfdata_status perfdata_profile_compare(const perfdata_profile *before,
                                                      const struct perfdata_query *query_before,
                                                      const perfdata_profile *after,
                                                      const struct perfdata_query *query_after,
                                                      struct perfdata_change **changes,
                                                      size_t *count);

/* Frees any array above; NULL does nothing. Since 0.1. */
PERFDATA_API void perfdata_rows_free(void *rows);

#ifdef __cplusplus
}
#endif
#endif
