/* SPDX-License-Identifier: MIT */
/* What a form writes -> a file under a name, or a folder with a file a table. */
#include "convert/convert.h"
#include "container/handle.h"
#include "io/output_file.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct output {
    struct pd_context *context;
    const char *path, *format;
    struct pd_output_file file;
    struct pd_text name; /* of a table's file */
};

static int put(void *data, const char *bytes, size_t size)
{
    const struct output *output = data;
    return !pd_output_file_write(&output->file, bytes, size);
}

static int begin_table(void *data, const char *name)
{
    struct output *output = data;
    if (pd_output_file_close(output->context, &output->file, PERFDATA_OK) < 0)
        return 1;
    output->name.length = 0;
    pd_text_format(&output->name, "%s/%s.%s", output->path, name, output->format);
    pd_text_char(&output->name, 0);
    return output->name.failed || pd_output_file_open(output->context, output->name.data,
                                                      PD_OUTPUT_SHARED, &output->file) < 0;
}

static perfdata_status open_output(struct output *output, bool tables)
{
    if (!tables)
        return pd_output_file_open(output->context, output->path, PD_OUTPUT_SHARED, &output->file);
    if (!mkdir(output->path, 0777) || errno == EEXIST)
        return PERFDATA_OK;
    return pd_fail(output->context, PERFDATA_ERROR_OUTPUT, -1, "%s: %s", output->path,
                   strerror(errno));
}

perfdata_status perfdata_export_file(perfdata_recording *recording, const char *format,
                                     const struct perfdata_export_options *given, const char *path,
                                     struct perfdata_export_result *result)
{
    struct perfdata_export_options options = { .detail = -1 };
    uint32_t flags = 0;
    if (!recording || !format || !given || !path)
        return PERFDATA_ERROR_ARGUMENT;
    struct output output = { .context = &recording->recording.context,
                             .path = path,
                             .format = format };
    perfdata_status status = pd_take_options(output.context, &options, sizeof options, given);
    if (status < 0)
        return status;
    for (size_t i = 0; perfdata_export_format(i, NULL, NULL); i++)
        if (!strcmp(perfdata_export_format(i, NULL, NULL), format))
            perfdata_export_format(i, NULL, &flags);
    bool tables = flags & PERFDATA_FORMAT_TABLES && strcmp(path, "-") != 0;
    options.struct_size = sizeof options;
    options.table = tables ? begin_table : NULL;
    status = open_output(&output, tables);
    if (status < 0)
        return status;
    status = perfdata_export_run(recording, format, &options, put, &output, result);
    status = pd_output_file_close(output.context, &output.file, status);
    pd_text_free(&output.name);
    return status;
}
