/* SPDX-License-Identifier: MIT */
/* The lines of each event -> a file of its own, beside the recording. */
#include "tool/event_files.h"
#include "tool/input.h"
#include "tool/part.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct event_file {
    char *path;
    struct tool_part part;
    FILE *file; /* on the part's descriptor; NULL: an earlier event of the same name has the file */
    size_t first;
    uint64_t bytes, samples;
};

struct tool_event_files {
    struct tool *tool;
    const char *input;
    perfdata_recording *recording;
    size_t count;
    struct event_file *files;
};

/* False and errno: the text could not be written. */
static bool close_file(struct event_file *file, bool good)
{
    bool closed = fclose(file->file) == 0;
    file->file = NULL;
    return tool_part_close(&file->part, good && closed) && closed;
}

static void free_files(struct tool_event_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        if (files->files[i].file)
            (void)close_file(&files->files[i], false);
        free(files->files[i].path);
    }
    free(files->files);
    free(files);
}

/* An old file stays until the new one is complete; a pipe or device that nobody reads does not hold
 * up the program. */
static bool open_file(struct tool *tool, struct event_file *file)
{
    bool opened = tool_part_open(file->path, &file->part);
    file->file = opened ? fdopen(file->part.fd, "w") : NULL;
    if (file->file) {
        file->part.fd = -1;
        return true;
    }
    tool_error(tool, "%s: %s", file->path, strerror(errno));
    if (opened)
        (void)tool_part_close(&file->part, false);
    return false;
}

/* The file of the next event. */
static bool add_file(struct tool_event_files *files)
{
    const char *name = perfdata_event_name(
        perfdata_recording_event(files->recording, files->count));
    struct event_file *grown = realloc(files->files, (files->count + 1) * sizeof *grown);
    struct event_file file = { .first = files->count };
    if (grown)
        files->files = grown;
    if (!grown || asprintf(&file.path, "%s.%s.dump", files->input, name) < 0) {
        tool_error(files->tool, "out of memory");
        return false;
    }
    for (char *at = file.path + strlen(files->input) + 1; (at = strchr(at, '/'));)
        *at = '_';
    bool met = false;
    for (size_t i = 0; i < files->count && !met; i++) {
        met = !strcmp(files->files[i].path, file.path);
        file.first = met ? i : file.first;
    }
    files->files[files->count++] = file;
    return met || open_file(files->tool, &files->files[files->count - 1]);
}

struct tool_event_files *tool_event_files_open(struct tool *tool, const char *input,
                                               perfdata_recording *recording)
{
    struct tool_event_files *files = calloc(1, sizeof *files);
    if (!files) {
        tool_error(tool, "out of memory");
        return NULL;
    }
    *files = (struct tool_event_files){ .tool = tool, .input = input, .recording = recording };
    while (files->count < perfdata_recording_event_count(recording))
        if (!add_file(files)) {
            free_files(files);
            return NULL;
        }
    return files;
}

int tool_event_files_write(void *data, uint32_t event, uint64_t samples, const char *text,
                           size_t length)
{
    struct tool_event_files *files = data;
    while (event >= files->count) /* events of a trace appear only while it is decoded */
        if (!add_file(files))
            return -1;
    struct event_file *file = &files->files[files->files[event].first];
    file->samples += samples;
    file->bytes += length;
    if (fwrite(text, 1, length, file->file) == length)
        return 0;
    tool_error(files->tool, "%s: %s", file->path, strerror(errno));
    return -1;
}

/* perf reports the size that the file had before its last part was written. */
static double megabytes(const struct tool *tool, uint64_t bytes)
{
    enum { PART = 4096 };
    return (double)(tool->as_perf ? bytes / PART * PART : bytes) / 1024 / 1024;
}

bool tool_event_files_close(struct tool *tool, struct tool_event_files *files, bool failed)
{
    bool good = true;
    for (size_t i = 0; i < files->count; i++) {
        struct event_file *file = &files->files[i];
        if (!file->file)
            continue;
        if (!close_file(file, !failed)) {
            tool_error(tool, "%s: %s", file->path, strerror(errno));
            good = false;
        }
        char text[128];
        snprintf(text, sizeof text, " (%llu samples) ]\n", (unsigned long long)file->samples);
        if (failed || !good)
            continue;
        char head[64];
        snprintf(head, sizeof head, "[ perf script: Wrote %.3f MB ", megabytes(tool, file->bytes));
        tool_write_text(tool, head, strlen(head));
        tool_write_text(tool, file->path, strlen(file->path));
        tool_write_text(tool, text, strlen(text));
    }
    free_files(files);
    return good;
}
