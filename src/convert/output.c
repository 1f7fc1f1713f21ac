/* SPDX-License-Identifier: MIT */
/* What a form writes -> a file under a name, or a folder with one file for each table. */
#include "convert/convert.h"
#include "container/handle.h"
#include "io/output_folder.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct output {
    struct pd_context *context;
    const char *path, *format;
    struct pd_output_file file;
    struct pd_text name; /* of a table's file */
    struct pd_output_folder folder;
    struct pd_text tables; /* their files' names so far, each with its NUL */
    bool made;             /* the folder of the tables was not there before */
};

static int put(void *data, const char *bytes, size_t size)
{
    struct output *output = data;
    return pd_output_file_put(&output->file, bytes, size);
}

static int begin_table(void *data, const char *name)
{
    struct output *output = data;
    if (pd_output_file_close(output->context, &output->file, PERFDATA_OK) < 0)
        return 1;
    output->name.length = 0;
    pd_text_format(&output->name, "%s/%s.%s", output->path, name, output->format);
    pd_text_char(&output->name, 0);
    if (output->name.failed)
        return 1;
    pd_text_bytes(&output->tables, output->name.data, output->name.length);
    return output->tables.failed || pd_output_file_open(output->context, output->name.data,
                                                        PD_OUTPUT_SHARED, &output->file) < 0;
}

static int put_part(void *data, const char *bytes, size_t size)
{
    struct output *output = data;
    return !pd_output_folder_write(&output->folder, bytes, size);
}

static int begin_part(void *data, const char *name)
{
    struct output *output = data;
    return !pd_output_folder_part(&output->folder, name);
}

/* A form whose files belong together. */
static perfdata_status write_folder(struct output *output, const struct pd_format *form,
                                    perfdata_recording *recording,
                                    struct perfdata_export_options *options,
                                    struct perfdata_export_result *result)
{
    if (!strcmp(output->path, "-"))
        return pd_fail(output->context, PERFDATA_ERROR_OUTPUT, -1,
                       "%s is a folder of files: standard output cannot take it", output->format);
    perfdata_status status = pd_output_folder_open(output->context, output->path, form->is_part,
                                                   &output->folder);
    if (status < 0)
        return status;
    options->table = begin_part;
    status = perfdata_export_run(recording, output->format, options, put_part, output, result);
    return pd_output_folder_close(output->context, &output->folder, status);
}

static perfdata_status open_output(struct output *output, bool tables)
{
    if (!tables)
        return pd_output_file_open(output->context, output->path, PD_OUTPUT_SHARED, &output->file);
    output->made = !mkdir(output->path, 0777);
    if (output->made || errno == EEXIST)
        return PERFDATA_OK;
    return pd_fail(output->context, PERFDATA_ERROR_OUTPUT, -1, "%s: %s", output->path,
                   strerror(errno));
}

/* After a failure: tables that were written in part would tell too little, or something wrong. */
static void remove_tables(const struct output *output)
{
    const struct pd_text *tables = &output->tables;
    for (size_t at = 0; at < tables->length; at += strlen(tables->data + at) + 1)
        (void)unlink(tables->data + at);
    (void)rmdir(output->path);
}

perfdata_status perfdata_export_file(perfdata_recording *recording, const char *format,
                                     const struct perfdata_export_options *given, const char *path,
                                     struct perfdata_export_result *result)
{
    struct perfdata_export_options options = { .detail = -1 };
    if (!recording || !format || !given || !path)
        return PERFDATA_ERROR_ARGUMENT;
    struct output output = { .context = &recording->recording.context,
                             .path = path,
                             .format = format };
    perfdata_status status = pd_take_options(output.context, &options, sizeof options, given);
    if (status < 0)
        return status;
    const struct pd_format *form = pd_format_find(format);
    const uint32_t flags = form ? form->flags : 0; /* perfdata_export_run() reports a wrong name */
    options.struct_size = sizeof options;
    if (flags & PERFDATA_FORMAT_FOLDER)
        return write_folder(&output, form, recording, &options, result);
    bool tables = flags & PERFDATA_FORMAT_TABLES && strcmp(path, "-") != 0;
    options.table = tables ? begin_table : NULL;
    status = open_output(&output, tables);
    if (status < 0)
        return status;
    status = perfdata_export_run(recording, format, &options, put, &output, result);
    status = pd_output_file_close(output.context, &output.file, status);
    if (status < 0 && output.made)
        remove_tables(&output);
    pd_text_free(&output.name);
    pd_text_free(&output.tables);
    return status;
}
