/* SPDX-License-Identifier: MIT */
/* Where symbols, source lines and code are looked for: a part of every option struct of functions
 * that resolve addresses. */
#ifndef PERFDATA_SYMBOL_SEARCH_H
#define PERFDATA_SYMBOL_SEARCH_H
#include <perfdata/status.h>

#ifdef __cplusplus
extern "C" {
#endif

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
    const void *reserved[5]; /* NULL */
};

#define PERFDATA_SYMBOL_SEARCH_INIT                                                                \
    {                                                                                              \
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,                                                           \
        {                                                                                          \
            0, 0, 0, 0, 0                                                                          \
        }                                                                                          \
    }

#ifdef __cplusplus
}
#endif
#endif
