/* SPDX-License-Identifier: MIT */
/* Recordings made of recordings: copied in another form, with build-ids, repaired, cut, joined,
 * without names. */
#ifndef PERFDATA_REWRITE_H
#define PERFDATA_REWRITE_H
#include <perfdata/recording.h>
#include <perfdata/symbol_search.h>
#include <perfdata/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- where it goes ---- */

/* Byte order of what is written. Since 0.1. */
enum perfdata_byte_order {
    PERFDATA_BYTE_ORDER_RECORDED = 0, /* as the input */
    PERFDATA_BYTE_ORDER_NATIVE = 1,   /* of this machine */
    PERFDATA_BYTE_ORDER_LITTLE = 2,
    PERFDATA_BYTE_ORDER_BIG = 3
};

/* Write a pipe stream even where a file could be written. Since 0.1. */
#define PERFDATA_OUTPUT_PIPE 1u

/* In a pipe stream: a record for each event whose name its attribute does not give, so that perf
 * shows the same names as of the file; perf's own inject writes none. Since 0.1. */
#define PERFDATA_OUTPUT_NAMES 2u

/* A directory that is made, as `perf record --threads` makes it: the file `data`, and data.0,
 * data.1 ... with the kernel's records of a CPU each (or as a directory that is read has them). Its
 * name must be free. Since 0.1. */
#define PERFDATA_OUTPUT_DIRECTORY 4u

/* Where a recording goes and in which form. Zero all but struct_size, then set what is needed.
 * Since 0.1. */
struct perfdata_output {
    size_t struct_size;
    /* A file; it is written beside and takes its name when it is complete, so it may be the input,
     * and after a failure what was there before still is. Its mode is 0600, whatever the old file's
     * was; a link to a file is followed. What is no regular file (a FIFO, a device) gets a pipe
     * stream, and so does standard output under any name. */
    const char *path;
    int32_t fd;          /* without path: a descriptor, which gets a pipe stream */
    uint32_t byte_order; /* enum perfdata_byte_order */
    uint32_t flags;      /* PERFDATA_OUTPUT_... */
    /* zstd level for the records of the kernel, 1 to 22; 0: none, or as recorded */
    int32_t compression;
};

/* ---- inject ---- */

enum perfdata_inject_flags {
    PERFDATA_INJECT_BUILD_IDS = 1 << 0,     /* -b: of the objects that samples hit */
    PERFDATA_INJECT_ALL_BUILD_IDS = 1 << 1, /* --buildid-all: of all that were mapped */
    /* -s: sched_stat samples give their time and period to the sched_switch of the task that slept;
     * the other sched_switch, sched_stat and sched_process_exit samples go */
    PERFDATA_INJECT_SCHED_STAT = 1 << 2,
    /* -j: code of runtimes. Where a map shows a jitdump, an ELF file of each piece of code is
     * written beside the dump, and a map of it replaces that of the dump. */
    PERFDATA_INJECT_JIT = 1 << 3,
    /* --strip: with `itrace`, without the recorded samples and switches. Maps, names and tasks
     * stay. */
    PERFDATA_INJECT_STRIP = 1 << 4,
    /* With `itrace`: branch stacks without the hardware's index, which older readers (create_gcov)
     * do not know. */
    PERFDATA_INJECT_NO_HW_INDEX = 1 << 5,
    PERFDATA_INJECT_IGNORE_VMLINUX = 1 << 6, /* of `itrace` and chains: no kernel image is read */
    /* --convert-callchain: copies of stacks are unwound; samples get call chains in their place and
     * lose the registers of user space. Not with another byte order. PERFDATA_ERROR_NO_DATA: no
     * event has such copies. */
    PERFDATA_INJECT_CONVERT_CHAINS = 1 << 7
};

/* Since 0.1. */
struct perfdata_inject_options {
    size_t struct_size;
    uint32_t flags; /* enum perfdata_inject_flags */
    uint32_t reserved;
    /* "ID PATH,ID PATH..." or "@FILE" with a pair a line: believed before files */
    const char *known_build_ids;
    /* Traces are decoded; their samples stand among the others, and the AUX areas go: values of
     * --itrace, "" for its defaults. */
    const char *const *itrace;
    size_t itrace_count;
    struct perfdata_symbol_search search; /* of the programs */
    const char *perf_config; /* read in place of the system's and home's; NULL: these */
    /* What a guest recorded of its tasks and maps comes among the records of its host. NULL: none.
     * `guest_pid`: of the hypervisor's process; the host's TSC is (the guest's - guest_tsc_offset)
     * / guest_tsc_scale (0: 1). */
    perfdata_recording *guest;
    uint64_t guest_tsc_offset;
    double guest_tsc_scale;
    uint32_t guest_pid, reserved2;
    /* Set to the number of errors that decoding AUX traces met: what ran there is missing. NULL: of
     * no interest. */
    uint64_t *trace_errors;
};

/* Copies the recording, as `perf inject` does: pipe to file and back, a directory to a file, into
 * another byte order, compressed. What is damaged is left out. `options` NULL: nothing but the
 * copy.
 *   PERFDATA_ERROR_OUTPUT   it cannot be written
 *   PERFDATA_ERROR_NO_DATA  no event in the input, or what an option needs is not there
 * and what reading fails with. Since 0.1. */
PERFDATA_API perfdata_status perfdata_inject(perfdata_recording *recording,
                                             const struct perfdata_output *output,
                                             const struct perfdata_inject_options *options);

/* ---- VM time correlation ---- */

/* Since 0.1. */
struct perfdata_vm_time_options {
    size_t struct_size;
    /* "[dry-run] [OFFSET[:VMCS[,VMCS]...]]...": TSC offsets of guests, by the numbers of VMCS
     * packets or for all. NULL: none is known, they are found out. */
    const char *offsets;
    /* the recording's file (of a directory: `data`), changed in place; not in a dry run */
    const char *write_to;
    perfdata_write_fn write; /* told what is found, a line a time; may be NULL */
    void *data;
};

/* Where a guest was traced with a TSC offset, TSC packets hold the guest's time. They get the
 * host's back, as `perf inject --vm-time-correlation` does it.
 *   PERFDATA_ERROR_ARGUMENT  `offsets` does not parse
 *   PERFDATA_ERROR_NO_DATA   no Intel PT, or without TSC or MTC packets
 *   PERFDATA_ERROR_OUTPUT    the file cannot be written
 * and what reading fails with. Since 0.1. */
PERFDATA_API perfdata_status perfdata_correlate_vm_time(
    perfdata_recording *recording, const struct perfdata_vm_time_options *options);

/* ---- check and repair ---- */

/* Since 0.1. */
struct perfdata_repair_result {
    size_t struct_size;
    uint64_t kept;    /* records written */
    uint64_t dropped; /* left out: perf would stop at them, or they may not be records */
};

/* Writes a valid recording of what is whole: an unfinished file is finished, damage is left out.
 * `result` may be NULL. Errors as perfdata_inject(). Since 0.1. */
PERFDATA_API perfdata_status perfdata_repair(perfdata_recording *recording,
                                             const struct perfdata_output *output,
                                             struct perfdata_repair_result *result);

/* What perfdata_check() found. Since 0.1. */
struct perfdata_check_result {
    size_t struct_size;
    uint64_t records, samples;
    uint64_t file_issues;    /* kinds of damage of the file */
    uint64_t content_issues; /* kinds of things that make its content doubtful */
};

/* Reads all and prints a line for each thing that is wrong: with the file (each issue with its
 * offset), then with the content (records lost by the kernel, throttling, samples out of order or
 * of no event, objects without build-id). A sound recording prints its counts only. `result` may be
 * NULL. Since 0.1. */
PERFDATA_API perfdata_status perfdata_check(perfdata_recording *recording, perfdata_write_fn write,
                                            void *data, struct perfdata_check_result *result);

/* ---- a part, several as one, without names ---- */

/* Which samples stay; all that is given must hold. Strings as perf script's options have them;
 * NULL: not given. What is no sample stays, up to the end of the last span of `time`. Since 0.1. */
struct perfdata_slice_options {
    size_t struct_size;
    const char *time;                       /* "START,STOP", "A%-B%,..." */
    const char *cpus, *pids, *tids, *comms; /* lists */
    const char *events;                     /* names, with or without modifiers */
    uint64_t every;       /* of those that stay each Nth, from the first; 0: all */
    uint64_t first, last; /* of those that stay so many; 0: all */
};

/* Writes the samples that are wanted, in delivery order, with all that is needed to read them.
 * Trace data stays whole. PERFDATA_ERROR_ARGUMENT: a list does not parse; _NO_DATA: percentages
 * without the times of samples in the header; _UNSUPPORTED: `last` of a pipe. Else as
 * perfdata_inject(). Since 0.1. */
PERFDATA_API perfdata_status perfdata_slice(perfdata_recording *recording,
                                            const struct perfdata_output *output,
                                            const struct perfdata_slice_options *options);

enum perfdata_anonymize_flags {
    PERFDATA_ANONYMIZE_KEEP_STACKS =
        1 << 0 /* copies of user stacks hold anything; else they become zeros */
};

/* Since 0.1. */
struct perfdata_anonymize_options {
    size_t struct_size;
    uint32_t flags; /* enum perfdata_anonymize_flags */
    uint32_t reserved;
    const char *
        key; /* the same key, the same pseudonyms; NULL: none, and names can be guessed by trying */
    perfdata_write_fn write; /* told what is left out, a line a time; may be NULL */
    void *data;
};

/* Names of commands, files, cgroups, BPF programs and hosts, command lines and strings of
 * tracepoints become pseudonyms of the same length: equal names stay equal. Of names, only a closed
 * list of the kernel's own stays ("[vdso]", "swapper/0"). Addresses, build-ids, symbols' offsets,
 * names of events and the hardware's description stay. Features and records that may hold names in
 * a form of their own, and those of unknown types, are left out; raw bytes of samples without a
 * format become zeros. Errors as perfdata_inject(). Since 0.1. */
PERFDATA_API perfdata_status perfdata_anonymize(perfdata_recording *recording,
                                                const struct perfdata_output *output,
                                                const struct perfdata_anonymize_options *options);

/* Since 0.1. */
struct perfdata_merge_options {
    size_t struct_size;
    uint32_t flags; /* 0 */
    uint32_t reserved;
};

/* Several recordings as one; the first gives the header. Ids that two have are told apart, so are
 * processes of different hosts (as their headers name them): a later host's have numbers of their
 * own. Times are taken as they are. PERFDATA_ERROR_UNSUPPORTED: they do not go together (different
 * formats of tracepoints, records with and without ids, trace data in more than one); the error's
 * text is in the first recording. Since 0.1. */
PERFDATA_API perfdata_status perfdata_merge(perfdata_recording *const *recordings, size_t count,
                                            const struct perfdata_output *output,
                                            const struct perfdata_merge_options *options);

#ifdef __cplusplus
}
#endif
#endif
