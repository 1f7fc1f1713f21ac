/* SPDX-License-Identifier: MIT */
/* Where symbols, source lines and code are looked for: a part of every option struct of functions
 * that resolve addresses. */
#ifndef PERFDATA_SYMBOL_SEARCH_H
#define PERFDATA_SYMBOL_SEARCH_H
#include <perfdata/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How programs and libraries that are not here are fetched from debuginfod servers, by their
 * build-ids: those that DEBUGINFOD_URLS names. They are kept in libdebuginfod's own cache, whose
 * variables (DEBUGINFOD_CACHE_PATH, DEBUGINFOD_MAXTIME, DEBUGINFOD_MAXSIZE) hold. Since 0.1. */
struct perfdata_debuginfod {
    size_t struct_size;
    /* A server that sends nothing for so long is given up, and none is asked any more; 0: 20. */
    uint32_t patience;
    /* While a file comes, about every second and from one thread at a time, which may be any; may
     * be NULL. `what` is "debuginfo" or "executable"; total 0: the size is not known. Not 0 ends
     * this fetch, and none is begun after it. */
    int (*on_progress)(void *data, const char *what, const char *build_id, uint64_t bytes,
                       uint64_t total);
    /* At the end: how many files were asked for, and how many of them no server has; may be
     * NULL. */
    void (*on_end)(void *data, uint64_t asked, uint64_t not_there);
    void *data;
};

/* All NULL: objects at their recorded paths, this machine's kernel symbols where it is the recorded
 * kernel, no build-id cache. Strings are borrowed as long as the options they are part of. Since
 * 0.1. */
struct perfdata_symbol_search {
    const char *symfs;    /* a folder that stands before every object's path */
    const char *kallsyms; /* the kernel's symbol table, as /proc/kallsyms has it */
    const char *vmlinux;  /* the kernel's ELF file */
    const char
        *home; /* HOME/.debug is the build-id cache, HOME/.perfconfig is read; NULL: neither */
    const char *build_id_dir; /* this build-id cache instead */
    /* Code that runtimes made: the folder where their jitdumps lie now; "": where they were
     * recorded; NULL: not read. */
    const char *jitdump;
    /* Guests of virtual machines: with one of these their samples are shown. Of the guest that no
     * pid names: its kernel's table, modules and image. Of the others: a folder with a folder for
     * each, named by the pid of the hypervisor's process, which is the root of the guest's
     * files. */
    const char *guest_kallsyms, *guest_modules, *guest_vmlinux, *guest_mount;
    /* A folder for indexes, which spare reading the symbols of the running kernel and of objects
     * again: XDG_CACHE_HOME/perfdata for the command. It is made where the one above it is this
     * user's; only this user may be able to write to it, else it is not used. At most 256 MB; what
     * was not used for longest goes. No result depends on it, nothing fails for it. NULL: none. */
    const char *index_dir;
    /* Debug files, and programs and libraries that are not here, are fetched from servers; NULL:
     * never, whatever the environment says. A build without libdebuginfod, or a machine without it
     * or without DEBUGINFOD_URLS, fails with PERFDATA_ERROR_UNSUPPORTED. A file that cannot be had
     * is a PERFDATA_ISSUE_OBJECT; one that no server has is only counted. */
    const struct perfdata_debuginfod *debuginfod;
    const void *reserved[4]; /* NULL */
};

#define PERFDATA_SYMBOL_SEARCH_INIT                                                                \
    {                                                                                              \
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,                                                        \
        {                                                                                          \
            0, 0, 0, 0                                                                             \
        }                                                                                          \
    }

#ifdef __cplusplus
}
#endif
#endif
