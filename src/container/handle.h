/* SPDX-License-Identifier: MIT */
/* Behind the public handles. */
#ifndef PD_CONTAINER_HANDLE_H
#define PD_CONTAINER_HANDLE_H
#include "base/text.h"
#include "container/container.h"
#include "io/output_file.h"
#include <perfdata/recording.h>

struct perfdata_recording {
    struct pd_recording recording; /* limits.threads, .strict ... are in its context */
    bool open;                     /* opening succeeded: everything in it may be used */
};

/* A public event is a struct pd_event seen from outside. */
PD_INLINE const perfdata_event *pd_public_event(const struct pd_event *event)
{
    return (const perfdata_event *)event;
}
PD_INLINE const struct pd_event *pd_private_event(const perfdata_event *event)
{
    return (const struct pd_event *)event;
}

/* What a function over a whole recording begins with: the recording must be open (if not, its
 * context gets the message), and the caller's options are taken as pd_take_options() does. */
perfdata_status pd_handle_options(perfdata_recording *recording, void *known, size_t size,
                                  const void *options);
/* What a function that prints through `write` begins with: as above, and PERFDATA_ERROR_ARGUMENT
 * where any of the pointers is NULL. */
perfdata_status pd_handle_print(perfdata_recording *recording, void *known, size_t size,
                                const void *options, perfdata_write_fn write);
/* What a function that prints to the file `path` begins with: PERFDATA_ERROR_ARGUMENT where
 * recording or path is NULL, else what pd_output_file_open() returns. */
perfdata_status pd_handle_output(perfdata_recording *recording, const char *path,
                                 struct pd_output_file *out);

/* Gives the text to `write` and empties it; its memory stays for what follows.
 * PERFDATA_ERROR_MEMORY when it had failed, PERFDATA_ERROR_OUTPUT; neither leaves a message in a
 * context. */
perfdata_status pd_text_give(struct pd_text *text, perfdata_write_fn write, void *data);

/* Gives the text to `write` and frees it. PERFDATA_ERROR_MEMORY when it had failed,
 * PERFDATA_ERROR_OUTPUT. */
perfdata_status pd_api_emit(struct pd_context *context, struct pd_text *text,
                            perfdata_write_fn write, void *data);

#endif
