/* SPDX-License-Identifier: MIT */
/* What functions over a whole recording begin and end with. */
#include "container/handle.h"

perfdata_status pd_handle_options(perfdata_recording *recording, void *known, size_t size,
                                  const void *options)
{
    struct pd_context *context = &recording->recording.context;
    if (!recording->open)
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "the recording is not open");
    return pd_take_options(context, known, size, options);
}

perfdata_status pd_handle_print(perfdata_recording *recording, void *known, size_t size,
                                const void *options, perfdata_write_fn write)
{
    return recording && options && write ? pd_handle_options(recording, known, size, options)
                                         : PERFDATA_ERROR_ARGUMENT;
}

perfdata_status pd_handle_output(perfdata_recording *recording, const char *path,
                                 struct pd_output_file *out)
{
    *out = (struct pd_output_file){ 0 };
    return recording && path
               ? pd_output_file_open(&recording->recording.context, path, PD_OUTPUT_SHARED, out)
               : PERFDATA_ERROR_ARGUMENT;
}

perfdata_status pd_text_give(struct pd_text *text, perfdata_write_fn write, void *data)
{
    perfdata_status status = text->failed ? PERFDATA_ERROR_MEMORY : PERFDATA_OK;
    if (status == PERFDATA_OK && text->length && write(data, text->data, text->length))
        status = PERFDATA_ERROR_OUTPUT;
    text->length = 0;
    return status;
}

perfdata_status pd_api_emit(struct pd_context *context, struct pd_text *text,
                            perfdata_write_fn write, void *data)
{
    perfdata_status status = PERFDATA_OK;
    if (text->failed)
        status = pd_no_memory(context, NULL);
    else if (text->length && write(data, text->data, text->length) != 0)
        status = pd_fail(context, PERFDATA_ERROR_OUTPUT, -1, "the text could not be written");
    pd_text_free(text);
    return status;
}
