/* SPDX-License-Identifier: MIT */
/* Recordings in the forms of other tools. */
#ifndef PERFDATA_EXPORT_H
#define PERFDATA_EXPORT_H
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
    PERFDATA_DATABASE_GUEST_CODE = 1 << 3  /* code that runs in a guest is its hypervisor's */
};

/* Zero all but struct_size, then set what is needed. Since 0.1. */
struct perfdata_database_options {
    size_t struct_size;
    uint32_t form;  /* enum perfdata_database_form */
    uint32_t flags; /* enum perfdata_database_flags */
    /* Where it is written: beside, and renamed when it is complete, with the mode that the umask leaves. PostgreSQL's
     * script also goes into a FIFO or a device, and to standard output as "-"; SQLite's database needs a regular file. */
    const char *path;
    /* Which samples; as in struct perfdata_script_options. */
    const char *comms, *pids, *tids, *cpus, *time;
    /* What is made of AUX traces: values of --itrace, as in struct perfdata_script_options. */
    const char *const *itrace;
    size_t itrace_count;
    struct perfdata_symbol_search search;
    const char *perf_config; /* read in place of /etc/perfconfig and home's; NULL: these */
};

/* Writes the database that perf's export-to-sqlite.py and export-to-postgresql.py write: the same tables with the same
 * numbers, and the views that exported-sql-viewer.py asks for.
 *   PERFDATA_ERROR_ARGUMENT     an option does not parse
 *   PERFDATA_ERROR_OUTPUT       it cannot be written
 *   PERFDATA_ERROR_UNSUPPORTED  built without SQLite
 * and what reading fails with. Since 0.1. */
PERFDATA_API perfdata_status perfdata_export_database(
    perfdata_recording *recording, const struct perfdata_database_options *options);

#ifdef __cplusplus
}
#endif
#endif
