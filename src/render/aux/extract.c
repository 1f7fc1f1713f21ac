/* SPDX-License-Identifier: MIT */
/* perfdata_aux_extract(): each queue's trace in a file of its own, and what is where in them. */
#include "render/aux/view.h"
#include "io/at.h"
#include "io/output_file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPY_SIZE = 1 << 20 };

static const char index_name[] = "index.tsv";

struct extract {
    const struct perfdata_aux *view;
    struct pd_context *context;
    int directory, file;
    struct pd_text index, name;
    struct pd_text made;     /* names of the files, each with its NUL */
    bool own;                /* the directory was not there before */
    perfdata_write_fn write; /* told what is written; may be NULL */
    void *data;
    uint64_t position; /* in the file */
    uint8_t *copy;
};

static perfdata_status cannot(struct extract *x, const char *name)
{
    return pd_fail(x->context, PERFDATA_ERROR_OUTPUT, -1, "%s: cannot write: %s", name,
                   strerrordesc_np(errno));
}

static perfdata_status write_all(struct extract *x, int fd, const char *name, const void *bytes,
                                 size_t size)
{
    return pd_write_all(fd, bytes, size) ? PERFDATA_OK : cannot(x, name);
}

/* Creates a file. -1 and errno: that is not possible. */
static int create(struct extract *x, const char *name)
{
    pd_text_bytes(&x->made, name, strlen(name) + 1);
    if (x->made.failed) {
        errno = ENOMEM;
        return -1;
    }
    return pd_create_at(x->directory, name, PD_OUTPUT_PRIVATE);
}

/* After a failure all is removed, since a part of a trace looks like a whole one. */
static void remove_all(struct extract *x, const char *directory)
{
    for (size_t at = 0; at < x->made.length; at += strlen(x->made.data + at) + 1)
        (void)unlinkat(x->directory, x->made.data + at, 0);
    if (x->own)
        (void)rmdir(directory);
}

static void put_index(struct extract *x, const struct pd_aux_piece *piece)
{
    const struct pd_aux_buffer *buffer = piece->buffer;
    const struct pd_aux *aux = x->view->aux;
    pd_text_format(&x->index,
                   "%s\t%" PRIu64 "\t%zu\t%" PRIu64 "\t%ld\t%ld\t%ld\t%" PRIu64 "\t%" PRIu64 "\t%d"
                   "\t%" PRIu64 "\t%" PRIu64 "\t",
                   x->name.data, x->position, piece->size, buffer->number,
                   pd_aux_signed(buffer->cpu), pd_aux_signed(buffer->pid),
                   pd_aux_signed(buffer->tid), buffer->offset + piece->from, piece->from,
                   piece->consecutive, buffer->reference, pd_aux_flags_of(aux, buffer));
    if (aux->info.type == PD_AUXTRACE_INTEL_PT && !aux->modes.timeless)
        pd_text_u64(&x->index, pd_tsc_to_time(&aux->info.pt.time, buffer->reference), 0, ' ');
    pd_text_char(&x->index, '\n');
}

/* The bytes are as recorded; they are copied in pieces of our own size, since nothing in them is
 * looked at. */
static perfdata_status copy_buffer(struct extract *x, const struct pd_aux_buffer *buffer,
                                   bool consecutive)
{
    struct pd_aux_piece piece = { .buffer = buffer, .consecutive = consecutive };
    perfdata_status status = PERFDATA_OK;
    uint64_t done = 0;
    for (size_t got = 1; got && status == PERFDATA_OK && done < buffer->size; done += got) {
        status = pd_aux_read(x->view->aux, buffer, done, x->copy, COPY_SIZE, &got);
        if (status == PERFDATA_OK)
            status = write_all(x, x->file, x->name.data, x->copy, got);
    }
    piece.size = (size_t)done;
    put_index(x, &piece);
    x->position += done;
    if (status == PERFDATA_OK && done < buffer->size)
        status = pd_issue(x->context, PERFDATA_ISSUE_TRUNCATED, (int64_t)buffer->record_offset,
                          "an AUX area's bytes are cut");
    return status;
}

static perfdata_status copy_pieces(struct extract *x, uint32_t queue)
{
    struct pd_aux_reader *reader;
    struct pd_aux_piece piece;
    int status = pd_aux_reader_open(x->view->aux, queue, &reader);
    while (status == PERFDATA_OK && (status = pd_aux_reader_next(reader, &piece)) > 0) {
        status = write_all(x, x->file, x->name.data, piece.data, piece.size);
        put_index(x, &piece);
        x->position += piece.size;
    }
    pd_aux_reader_close(reader);
    return status;
}

/* Two queues can have one name (a CPU's that changed); the second must not replace the first's
 * file. */
static bool same_name_before(const struct pd_aux *aux, uint32_t number)
{
    const struct pd_aux_queue *queue = &aux->queues.data[number];
    for (uint32_t i = 0; i < number; i++) {
        const struct pd_aux_queue *other = &aux->queues.data[i];
        if (other->set && other->cpu == queue->cpu && other->tid == queue->tid)
            return true;
    }
    return false;
}

static perfdata_status tell(struct extract *x, size_t buffers)
{
    char line[160];
    int length = snprintf(line, sizeof line, "%s: %zu buffer%s, %" PRIu64 " bytes\n", x->name.data,
                          buffers, buffers == 1 ? "" : "s", x->position);
    bool stop = x->write && x->write(x->data, line, (size_t)length);
    return stop ? pd_fail(x->context, PERFDATA_ERROR_OUTPUT, -1, "the text could not be written")
                : PERFDATA_OK;
}

static perfdata_status extract_queue(struct extract *x, uint32_t number)
{
    const struct pd_aux *aux = x->view->aux;
    const struct pd_aux_queue *queue = &aux->queues.data[number];
    perfdata_status status = PERFDATA_OK;
    x->name.length = 0;
    x->position = 0;
    pd_aux_queue_name(queue, &x->name);
    if (same_name_before(aux, number))
        pd_text_format(&x->name, "-queue%u", number);
    pd_text_string(&x->name, aux->info.type == PD_AUXTRACE_INTEL_PT ? ".pt" : ".aux");
    pd_text_char(&x->name, 0);
    if (x->name.failed)
        return pd_no_memory(x->context, NULL);
    x->file = create(x, x->name.data);
    if (x->file < 0)
        return cannot(x, x->name.data);
    if (x->view->flags & PERFDATA_AUX_PRINT_CUT)
        status = copy_pieces(x, number);
    else
        for (size_t i = 0; i < queue->buffers.count && status == PERFDATA_OK; i++)
            status = copy_buffer(x, &aux->buffers.data[queue->buffers.data[i]], i > 0);
    if (close(x->file) < 0 && status == PERFDATA_OK)
        status = cannot(x, x->name.data);
    return status == PERFDATA_OK ? tell(x, queue->buffers.count) : status;
}

static perfdata_status write_index(struct extract *x)
{
    if (x->index.failed)
        return pd_no_memory(x->context, NULL);
    int fd = create(x, index_name);
    if (fd < 0)
        return cannot(x, index_name);
    perfdata_status status = write_all(x, fd, index_name, x->index.data, x->index.length);
    if (close(fd) < 0 && status == PERFDATA_OK)
        status = cannot(x, index_name);
    return status;
}

static bool is_of_extract(const char *name)
{
    const char *dot = strrchr(name, '.');
    return !strcmp(name, index_name) || (dot && (!strcmp(dot, ".pt") || !strcmp(dot, ".aux")));
}

/* The traces of another recording must not stand among this one's, since no name tells them
 * apart. */
static perfdata_status check_unused(struct extract *x, const char *directory)
{
    const struct dirent *entry;
    perfdata_status status = PERFDATA_OK;
    DIR *folder = opendir(directory);
    if (!folder)
        return cannot(x, directory);
    while (status == PERFDATA_OK && (entry = readdir(folder)))
        if (is_of_extract(entry->d_name))
            status = pd_fail(x->context, PERFDATA_ERROR_OUTPUT, -1,
                             "%s: holds an extract already (%.60s): a directory without one is "
                             "needed",
                             directory, entry->d_name);
    closedir(folder);
    return status;
}

perfdata_status perfdata_aux_extract(perfdata_aux *view, const char *directory,
                                     perfdata_write_fn write, void *data)
{
    struct extract x = {
        .view = view, .context = &view->recording->context, .write = write, .data = data
    };
    const struct pd_aux *aux = view->aux;
    x.own = !mkdir(directory, 0700);
    if (!x.own && errno != EEXIST)
        return cannot(&x, directory);
    perfdata_status status = check_unused(&x, directory);
    if (status < 0)
        return status;
    x.directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (x.directory < 0)
        return cannot(&x, directory);
    x.copy = malloc(COPY_SIZE);
    if (!x.copy)
        status = pd_no_memory(x.context, NULL);
    pd_text_string(&x.index,
                   "file\tposition\tsize\tbuffer\tcpu\tpid\ttid\toffset\tcut\tconsecutive\t"
                   "reference\tflags\ttime\n");
    for (uint32_t i = 0; i < aux->queues.count && status == PERFDATA_OK; i++) {
        if (aux->queues.data[i].set)
            status = extract_queue(&x, i);
    }
    if (status == PERFDATA_OK)
        status = write_index(&x);
    if (status < 0)
        remove_all(&x, directory);
    free(x.copy);
    pd_text_free(&x.index);
    pd_text_free(&x.name);
    pd_text_free(&x.made);
    close(x.directory);
    return status;
}
