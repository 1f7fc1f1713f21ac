/* SPDX-License-Identifier: MIT */
/* A recording -> a file that holds it as a text recording. */
#include "container/handle.h"
#include "io/at.h"
#include "io/output_file.h"
#include <errno.h>
#include <perfdata/text_recording.h>

struct text_file {
    struct pd_output_file output;
    int error; /* of the write that failed */
};

static int write_text(void *data, const char *text, size_t length)
{
    struct text_file *file = data;
    if (pd_write_all(file->output.fd, text, length))
        return 0;
    file->error = errno;
    return 1;
}

perfdata_status perfdata_textrec_write(perfdata_recording *recording, size_t index,
                                       const char *path, uint64_t *plain)
{
    struct pd_context *context = &recording->recording.context;
    struct text_file file = { 0 };
    perfdata_status status = pd_output_file_open(context, path, PD_OUTPUT_SHARED, &file.output);
    if (status < 0)
        return status;
    status = perfdata_textrec_print(recording, index, write_text, &file, plain);
    if (file.error)
        status = pd_fail(context, PERFDATA_ERROR_OUTPUT, -1, "%s: cannot write: %s", path,
                         strerrordesc_np(file.error));
    return pd_output_file_close(context, &file.output, status);
}
