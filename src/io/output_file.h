/* SPDX-License-Identifier: MIT */
/* Files that are written under a name which the user gave: what stands there, when the name
 * appears, who may read it.
 *
 * A regular file is made beside its name and renamed when it is complete, so that a failure leaves
 * what stood there and a reader never sees half of it. It gets the mode that its kind has (less the
 * umask), never that of the file which it replaces: an old set-user-id bit must not pass to bytes
 * of a recording. All else (a pipe, a FIFO, a device, a terminal) is written into as a stream and
 * stays what it is. Everything in the library that writes an output uses this. */
#ifndef PD_IO_OUTPUT_FILE_H
#define PD_IO_OUTPUT_FILE_H
#include "base/context.h"
#include <sys/types.h>

enum pd_output_mode {
    PD_OUTPUT_PRIVATE =
        0600, /* recordings and traces, which tell much: as perf, for the owner alone */
    PD_OUTPUT_SHARED = 0666 /* what is made of them: as the umask says */
};

struct pd_output_file {
    int fd;       /* to write to, while it is open */
    bool open;    /* a struct of zeros is a file that is not open */
    bool regular; /* can be written at any offset; else only onwards */
    bool keep;    /* the descriptor is standard output, which stays open */
    char *path;   /* the name that the complete file gets: `name`, or what it links to */
    char *beside; /* the name until then; NULL: no regular file */
    const char *name;
    int error; /* errno of what could not be written or opened; 0: nothing yet */
};

/* `path` stays the caller's until the file is closed; "-" and every other name of standard output
 * (/dev/stdout) is standard output. A link to a file is followed, and the file that it names is
 * replaced. Waits for a reader of a FIFO.
 *   PERFDATA_ERROR_OUTPUT  it cannot be made or opened */
perfdata_status pd_output_file_open(struct pd_context *context, const char *path,
                                    enum pd_output_mode mode, struct pd_output_file *out);
/* For formats that are not written from front to back, "a database": what exists and is no regular
 * file is refused in these words. */
perfdata_status pd_output_file_open_regular(struct pd_context *context, const char *path,
                                            enum pd_output_mode mode, const char *format,
                                            struct pd_output_file *out);
/* Gives the file its name where `status`, of the writing, is no failure; removes it otherwise.
 * Returns `status`, or PERFDATA_ERROR_OUTPUT when the end fails. If a write failed, the message
 * says why, since the code that produced the bytes does not know. Does nothing to a file that is
 * not open. */
perfdata_status pd_output_file_close(struct pd_context *context, struct pd_output_file *file,
                                     perfdata_status status);

/* All of the bytes. False and errno: they could not be written. */
bool pd_output_file_write(struct pd_output_file *file, const void *bytes, size_t size);
/* The same as a perfdata_write_fn; `file` is a struct pd_output_file. */
int pd_output_file_put(void *file, const char *text, size_t length);

/* What both kinds of output need: the path where the output is to be in the end, for free(): links
 * are followed, also one to a thing that is not there yet. NULL and errno. */
char *pd_output_place(const char *path);
/* Calls `make` with names of a suffix in the same folder until one is not taken. *made is what it
 * returned, below 0 (and errno) when none could be made; the name, for free(), NULL without
 * memory. */
char *pd_make_beside(const char *path, int (*make)(const char *name, mode_t mode), mode_t mode,
                     int *made);

/* Creates and opens `name` in a folder that is ours to fill. A regular file or link of that name
 * goes first and is not followed; anything else stays. -1 and errno: it cannot be made, EEXIST:
 * something else has the name. */
int pd_create_at(int folder, const char *name, mode_t mode);

#endif
