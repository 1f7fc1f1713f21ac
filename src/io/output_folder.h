/* SPDX-License-Identifier: MIT */
/* A folder of files that mean nothing without each other: it is filled beside its name and renamed
 * when it is complete. */
#ifndef PD_IO_OUTPUT_FOLDER_H
#define PD_IO_OUTPUT_FOLDER_H
#include "io/output_file.h"

/* Each name in a folder but "." and ".." goes to `take`, until that says no. `parent` as with
 * openat(); a link is no folder. 1: all were taken; 0: it said no; -1 and errno: the folder cannot
 * be read. */
int pd_each_file(int parent, const char *path,
                 bool (*take)(int folder, const char *name, void *data), void *data);

struct pd_output_folder {
    char *path;   /* the name that the complete folder gets */
    char *beside; /* its name until then; NULL: not open */
    int fd;       /* of the folder; -1: none */
    int part;     /* the file that is written to; -1: none */
    const char *name;
    int error; /* errno of what could not be written or opened; 0: nothing yet */
    bool (*is_own)(const char *file);
};

/* `path` stays the caller's until the folder is closed. What is there may be an empty folder, or
 * one that holds nothing but regular files that `is_own` knows by their names: it goes when the new
 * one is complete.
 *   PERFDATA_ERROR_OUTPUT  something else is there, or it cannot be made */
perfdata_status pd_output_folder_open(struct pd_context *context, const char *path,
                                      bool (*is_own)(const char *file),
                                      struct pd_output_folder *out);
/* What is written next goes to the end of the file of this name, which is made when it is not
 * there. False and errno: it cannot be opened. */
bool pd_output_folder_part(struct pd_output_folder *folder, const char *name);
/* False and errno: the bytes could not be written. */
bool pd_output_folder_write(struct pd_output_folder *folder, const void *bytes, size_t size);
/* As pd_output_file_close(). */
perfdata_status pd_output_folder_close(struct pd_context *context, struct pd_output_folder *folder,
                                       perfdata_status status);

#endif
