/* SPDX-License-Identifier: MIT */
/* Shared libraries that only one verb or export needs: loaded when it runs, since the dynamic
 * linker would else read, relocate and bind them at each start of each verb. A static program
 * (-Dprefer_static=true) links them.
 *
 *     #define NAMES(ROW) ROW(sqlite3_open) ROW(sqlite3_close)
 *     static struct {
 *         NAMES(PD_LIBRARY_MEMBER)
 *     } lib = { NAMES(PD_LIBRARY_LINKED) };
 *     static const struct pd_library_row rows[] = { NAMES(PD_LIBRARY_ROW) };
 *     static struct pd_library library = PD_LIBRARY("libsqlite3.so.0", rows);
 *     PD_LIBRARY_NOTE("libsqlite3.so.0", "sqlite", "export sqlite", "suggested")
 *
 * After pd_library_load(&library) has returned NULL, lib.sqlite3_open() calls the library's
 * function. A name may also be that of a variable, at which the member then points. */
#ifndef PERFDATA_BASE_LIBRARY_H
#define PERFDATA_BASE_LIBRARY_H
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct pd_library_row {
    const char *name;
    void *to; /* a pointer to a function or a variable */
};

struct pd_library {
    const char *file; /* as the dynamic linker looks for it; its number is its interface's */
    const struct pd_library_row *rows;
    size_t count;
    pthread_mutex_t lock;
    bool loaded;
};

#define PD_LIBRARY(file, rows)                                                                     \
    {                                                                                              \
        file, rows, sizeof(rows) / sizeof((rows)[0]), PTHREAD_MUTEX_INITIALIZER, false             \
    }
#define PD_LIBRARY_MEMBER(name) __typeof__(name) *name;
#define PD_LIBRARY_ROW(name) { #name, &lib.name },
#ifdef PD_LINK_ALL
#define PD_LIBRARY_LINKED(name) .name = &(name),
#else
#define PD_LIBRARY_LINKED(name) .name = NULL,
#endif

/* Tells packagers what no NEEDED entry tells: which feature wants the library, and whether a
 * package should suggest, recommend or require it (the UAPI group's "ELF dlopen metadata"). */
#ifdef __clang__ /* whose sanitizer would put room around a note */
#define PD_LIBRARY_UNCHECKED no_sanitize("address"),
#else
#define PD_LIBRARY_UNCHECKED
#endif
#ifdef PD_LINK_ALL
#define PD_LIBRARY_NOTE(file, feature, what, priority)
#else
#define PD_LIBRARY_NOTE(file, feature, what, priority)                                             \
    PD_LIBRARY_NOTE_TEXT("[{\"soname\":[\"" file "\"],\"feature\":\"" feature                      \
                         "\",\"description\":\"" what "\",\"priority\":\"" priority "\"}]")
#define PD_LIBRARY_NOTE_TEXT(json)                                                                 \
    __attribute__((PD_LIBRARY_UNCHECKED used, aligned(4),                                          \
                   section(".note.dlopen"))) static const struct {                                 \
        uint32_t owner_size, text_size, type;                                                      \
        char owner[4], text[sizeof(json)];                                                         \
    } library_note = { 4, sizeof(json), 0x407c0c0a, "FDO", json };
#endif

/* NULL: the library is loaded, until the process ends. Otherwise the reason, in the words of
 * dlerror(). From any thread. */
static inline const char *pd_library_load(struct pd_library *library)
{
#ifndef PD_LINK_ALL
    const char *failure = NULL;
    pthread_mutex_lock(&library->lock);
    void *handle = library->loaded ? NULL : dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
    if (!library->loaded && !handle)
        failure = dlerror();
    for (size_t i = 0; handle && !failure && i < library->count; i++) {
        void *found = dlsym(handle, library->rows[i].name);
        if (found)
            memcpy(library->rows[i].to, &found, sizeof found);
        else
            failure = dlerror();
    }
    library->loaded = !failure;
    pthread_mutex_unlock(&library->lock);
    return failure;
#else
    (void)library;
    return NULL;
#endif
}

#endif
