/* SPDX-License-Identifier: MIT */
/* What another machine needs to say of a recording what this one says. */
#ifndef PERFDATA_BUNDLE_H
#define PERFDATA_BUNDLE_H
#include <perfdata/recording.h>
#include <perfdata/symbol_search.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero all but struct_size, then set what is needed. Since 0.1. */
struct perfdata_bundle_options {
    size_t struct_size;
    const char *path; /* of the folder: made, and there once it is complete; else nothing is */
    struct perfdata_symbol_search search;
};

/* What went into a bundle. Since 0.1. */
struct perfdata_bundle_result {
    size_t struct_size;
    uint64_t objects;   /* that are in it */
    uint64_t whole;     /* of these: as whole files, of which no part would say the same */
    uint64_t left_out;  /* that occur and are not in it, each told as a PERFDATA_ISSUE_OBJECT */
    uint64_t absent;    /* that occur and have no file here: nothing is known of their code */
    uint64_t addresses; /* of objects that are in it */
    uint64_t bytes;     /* of the files, without their holes */
};

/* Writes a folder in the form of a build-id cache which has, of each object of the recording, what
 * belongs to the addresses that occur in samples, their call chains, branches and accessed data:
 * the symbols, the code of their functions, call frame information, source lines and inlined
 * functions. build_id_dir of struct perfdata_symbol_search reads it, as does perf --buildid-dir.
 * `result` may be NULL. Cost: resolves the whole recording. The bytes do not depend on threads.
 *   PERFDATA_ERROR_ARGUMENT  something that is no empty folder has the name
 *   PERFDATA_ERROR_OUTPUT    it cannot be written
 * and what reading fails with. Since 0.1. */
PERFDATA_API perfdata_status perfdata_bundle_write(perfdata_recording *recording,
                                                   const struct perfdata_bundle_options *options,
                                                   struct perfdata_bundle_result *result);

#ifdef __cplusplus
}
#endif
#endif
