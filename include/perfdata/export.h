/* SPDX-License-Identifier: MIT */
/* Recordings in the forms of other tools: databases, and whatever a profile can be written as. */
#ifndef PERFDATA_EXPORT_H
#define PERFDATA_EXPORT_H
#include <perfdata/profile.h>
#include <perfdata/recording.h>
#include <perfdata/symbol_search.h>
#include <perfdata/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Since 0.1. */
enum perfdata_database_form {
    PERFDATA_DATABASE_SQLITE = 0, /* a file of SQLite 3 */
    PERFDATA_DATABASE_POSTGRESQL =
        1 /* a script for psql that makes tables and views in a database */
};

enum perfdata_database_flags {
    PERFDATA_DATABASE_BRANCHES =
        1 << 0, /* leave out the columns that only other events than branches have */
    PERFDATA_DATABASE_CALLS =
        1 << 1, /* tables calls and call_paths, from calls and returns of a trace */
    PERFDATA_DATABASE_CALLCHAINS = 1 << 2, /* call paths of samples, from their call chains */
    PERFDATA_DATABASE_GUEST_CODE = 1 << 3, /* code that runs in a guest is its hypervisor's */
    /* tables profile_samples, profile_stacks and profile_functions beside perf's: all samples with
     * whole stacks. The recording is read twice, so it cannot be a pipe. */
    PERFDATA_DATABASE_PROFILE = 1 << 4
};

/* Zero all but struct_size, then set what is needed. Since 0.1. */
struct perfdata_database_options {
    size_t struct_size;
    uint32_t form;  /* enum perfdata_database_form */
    uint32_t flags; /* enum perfdata_database_flags */
    /* Where it is written: beside, and renamed when it is complete, with the mode that the umask
     * leaves. PostgreSQL's script also goes into a FIFO or a device, and to standard output as "-";
     * SQLite's database needs a regular file. */
    const char *path;
    /* Which samples; as in struct perfdata_script_options. */
    const char *comms, *pids, *tids, *cpus, *time;
    /* What is made of AUX traces: values of --itrace, as in struct perfdata_script_options. */
    const char *const *itrace;
    size_t itrace_count;
    struct perfdata_symbol_search search;
    const char *perf_config; /* read in place of /etc/perfconfig and home's; NULL: these */
    /* Set to the number of errors that decoding AUX traces met: what ran there is missing. NULL: of
     * no interest. */
    uint64_t *trace_errors;
};

/* Writes the database that perf's export-to-sqlite.py and export-to-postgresql.py write: the same
 * tables with the same numbers, and the views that exported-sql-viewer.py asks for.
 *   PERFDATA_ERROR_ARGUMENT     an option does not parse
 *   PERFDATA_ERROR_OUTPUT       it cannot be written
 *   PERFDATA_ERROR_UNSUPPORTED  built without SQLite
 * and what reading fails with. Since 0.1. */
PERFDATA_API perfdata_status perfdata_export_database(
    perfdata_recording *recording, const struct perfdata_database_options *options);

/* ---- profiles in the forms of other tools ---- */

/* Since 0.1. */
enum perfdata_export_flags {
    PERFDATA_EXPORT_COUNT = 1 << 0,       /* a sample weighs 1, not its period */
    PERFDATA_EXPORT_ALL_RECORDS = 1 << 1, /* ctf: also comms, forks, exits and mappings */
    PERFDATA_EXPORT_WALL_CLOCK = 1 << 2   /* ctf: its clock tells the time of day, which a recording
                                             made with a clock of -k knows */
};

/* What stands above the first function of a stack, where a form has no threads of its own. Since
 * 0.1. */
enum perfdata_export_group {
    PERFDATA_EXPORT_BY_COMM = 0,
    PERFDATA_EXPORT_BY_PROCESS = 1, /* "comm-pid" */
    PERFDATA_EXPORT_BY_THREAD = 2,  /* "comm-pid/tid" */
    PERFDATA_EXPORT_TOGETHER = 3    /* nothing */
};

/* Zero all but struct_size and detail, then set what is needed. Since 0.1. */
struct perfdata_export_options {
    size_t struct_size;
    uint32_t flags; /* enum perfdata_export_flags */
    uint32_t group; /* enum perfdata_export_group */
    int32_t detail; /* enum perfdata_frame_detail; -1: what suits the form */
    uint32_t reserved;
    const char *events; /* names, separated by commas; NULL: all that have samples */
    /* Which samples, how they are resolved; its detail, columns, samples and samples_data are not
     * used. NULL: the defaults. */
    const struct perfdata_profile_options *profile;
    /* For forms of several tables: called with the name of one before its first byte, which then
     * follows; 0 to go on. NULL: only the first table is written. Forms with PERFDATA_FORMAT_FOLDER
     * call it again with a name that was there before, whose next bytes then follow; they need
     * it. */
    int (*table)(void *data, const char *name);
    /* Forms of one object: its name, path or build-id; NULL: the one with most branches. */
    const char *object;
};

/* Set struct_size before. Since 0.1. */
struct perfdata_export_result {
    size_t struct_size;
    uint64_t samples;      /* that the filters kept */
    uint64_t trace_errors; /* errors that decoding AUX traces met: what ran there is missing */
    uint64_t records;      /* written beside samples: PERFDATA_EXPORT_ALL_RECORDS */
    uint64_t bytes;        /* of forms that need the recording itself: how large the samples and
                              records that were written are there; 0 for others */
};

/* Reads the recording and writes it in the form that is called `format` ("folded"). `write` gets
 * the bytes in pieces, one call at a time, maybe from another thread. Memory goes with distinct
 * stacks where the form allows it. `result` may be NULL.
 *   PERFDATA_ERROR_ARGUMENT     no such form or event, or an option does not parse
 *   PERFDATA_ERROR_UNSUPPORTED  the form needs a library that this build has not
 *   PERFDATA_ERROR_NO_DATA      nothing of what the form holds was recorded
 *   PERFDATA_ERROR_OUTPUT       `write` or `table` said no
 * and what perfdata_profile_build() fails with. Since 0.1. */
PERFDATA_API perfdata_status perfdata_export_run(perfdata_recording *recording, const char *format,
                                                 const struct perfdata_export_options *options,
                                                 perfdata_write_fn write, void *data,
                                                 struct perfdata_export_result *result);

/* Exports into a file; a form of several tables makes a folder with a file for each. A file
 * appears under its name when it is complete, as does a folder of PERFDATA_FORMAT_FOLDER, which
 * replaces one of the same form, but no other that is not empty; "-": standard output, of several
 * tables the first.
 * options->table is not used. Since 0.1. */
PERFDATA_API perfdata_status perfdata_export_file(perfdata_recording *recording, const char *format,
                                                  const struct perfdata_export_options *options,
                                                  const char *path,
                                                  struct perfdata_export_result *result);

/* Exports a profile that is there already; options->profile and options->detail are not used.
 * Forms that show samples one by one need a profile that keeps them: PERFDATA_ERROR_NO_DATA.
 * `error` (may be NULL) gets the text of a failure, cut to `error_size`. Since 0.1. */
PERFDATA_API perfdata_status perfdata_profile_export(const perfdata_profile *profile,
                                                     const char *format,
                                                     const struct perfdata_export_options *options,
                                                     perfdata_write_fn write, void *data,
                                                     char *error, size_t error_size);

/* Since 0.1. */
enum perfdata_format_flags {
    PERFDATA_FORMAT_BINARY = 1 << 0,  /* nothing for a terminal */
    PERFDATA_FORMAT_TABLES = 1 << 1,  /* several tables */
    PERFDATA_FORMAT_SAMPLES = 1 << 2, /* shows samples one by one */
    PERFDATA_FORMAT_OBJECT = 1 << 3,  /* of one object: options->object */
    PERFDATA_FORMAT_FOLDER = 1 << 4   /* tables are files that come by turns, under their own names,
                                         and mean nothing without each other */
};

/* Names of forms; NULL beyond the last. *text (may be NULL): what it is for, in a line; *flags (may
 * be NULL): enum perfdata_format_flags. Since 0.1. */
PERFDATA_API const char *perfdata_export_format(size_t index, const char **text, uint32_t *flags);

#ifdef __cplusplus
}
#endif
#endif
