/* SPDX-License-Identifier: MIT */
/* A text recording into a file, item by item: memory holds no more than the longest. */
#include "textrec/pdt.h"
#include "io/at.h"
#include "io/io.h"
#include "io/output_file.h"
#include "io/temporary.h"
#include <perfdata/text_recording.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 65536, ITEM_MAX = 1 << 30 };

struct assembly {
    struct pd_context context;
    struct pd_source *source;
    struct pd_output_file output;
    int fd; /* written to at any offset: the output, or for a stream a temporary file */
    struct pdt pdt;
    const char *input;
    char *text; /* what has been read and not yet taken */
    size_t begin, length, capacity;
    uint64_t read_to, line; /* where in the text reading has come to; the line that `begin` is in */
    struct perfdata_textrec_error error;
};

static perfdata_status wrong(struct assembly *a)
{
    const struct pdt_item *item = &a->pdt.item;
    uint64_t line = a->line, column = 1;
    for (size_t i = 0; i < item->error_at && i < item->length; i++) {
        column++;
        if (item->text[i] == '\n') {
            if (i + 1 == item->length) /* the item's own end */
                break;
            line++;
            column = 1;
        }
    }
    a->error.line = line;
    a->error.column = column;
    snprintf(a->error.message, sizeof a->error.message, "%.100s:%llu:%llu: %s", a->input,
             (unsigned long long)line, (unsigned long long)column, item->error);
    return PERFDATA_ERROR_NOT_PERF_DATA;
}

static bool write_at(void *data, uint64_t offset, const void *bytes, size_t size)
{
    struct assembly *a = data;
    return pd_write_at(a->fd, offset, bytes, size);
}

static perfdata_status cannot_write(struct assembly *a)
{
    return pd_fail(&a->context, PERFDATA_ERROR_OUTPUT, -1, "%s: cannot write: %s", a->output.name,
                   strerrordesc_np(errno));
}

static perfdata_status take(struct assembly *a, size_t size)
{
    const char *text = a->text + a->begin;
    if (!pdt_take(&a->pdt, text, size))
        return wrong(a); /* NOLINT: the text is freed at the end */
    if (a->pdt.out.length && !write_at(a, a->pdt.position, a->pdt.out.data, a->pdt.out.length))
        return cannot_write(a);
    a->pdt.position += a->pdt.out.length;
    for (size_t i = 0; i < size; i++)
        a->line += text[i] == '\n';
    a->begin += size;
    return PERFDATA_OK;
}

/* More text behind what there is; *got is 0 at the end. */
static perfdata_status read_more(struct assembly *a, size_t *got)
{
    if (a->begin) {
        memmove(a->text, a->text + a->begin, a->length - a->begin);
        a->length -= a->begin;
        a->begin = 0;
    }
    if (a->length > ITEM_MAX) {
        pdt_error(&a->pdt.item, 0, "expected an item of at most %d bytes", ITEM_MAX);
        return wrong(a);
    }
    if (!pd_vec_grow((void **)&a->text, &a->capacity, a->length + PIECE, 1))
        return pd_no_memory(&a->context, NULL);
    perfdata_status status = pd_source_read_least(a->source, a->read_to, a->text + a->length, 1,
                                                  PIECE, got);
    pd_source_stop_keeping(a->source);
    a->read_to += *got;
    a->length += *got;
    return status;
}

static perfdata_status take_all(struct assembly *a)
{
    struct pdt_scan scan = { 0 };
    size_t got = 1, scanned = 0;
    perfdata_status status = PERFDATA_OK;
    while (status == PERFDATA_OK) {
        size_t left = a->length - a->begin;
        size_t size = pdt_scan(&scan, a->text + a->begin + scanned, left - scanned);
        if (size != SIZE_MAX) {
            status = take(a, scanned + size);
            scan = (struct pdt_scan){ 0 };
            scanned = 0;
            continue;
        }
        scanned = left;
        status = read_more(a, &got);
        if (status == PERFDATA_OK && !got)
            return left ? take(a, left) : PERFDATA_OK;
    }
    return status;
}

static perfdata_status assemble(struct assembly *a)
{
    perfdata_status status = pd_vec_grow((void **)&a->text, &a->capacity, PIECE, 1)
                                 ? take_all(a)
                                 : PERFDATA_ERROR_MEMORY;
    if (status < 0)
        return status;
    a->pdt.item.error[0] = 0;
    a->pdt.item.length = a->pdt.item.error_at = 0;
    if (pdt_finish(&a->pdt, write_at, a))
        return PERFDATA_OK;
    return a->pdt.item.error[0] ? wrong(a) : cannot_write(a);
}

/* The header is known last, so a stream gets its bytes when all are there. */
static perfdata_status copy_to_stream(struct assembly *a)
{
    char bytes[PIECE];
    uint64_t done = 0;
    size_t got = sizeof bytes;
    while (got == sizeof bytes) {
        int error = pd_read_at(a->fd, done, bytes, sizeof bytes, &got);
        if (error || !pd_write_all(a->output.fd, bytes, got)) {
            errno = error ? error : errno;
            return cannot_write(a);
        }
        done += got;
    }
    return PERFDATA_OK;
}

static perfdata_status assemble_into(struct assembly *a, const char *output)
{
    perfdata_status status = pd_output_file_open(&a->context, output, PD_OUTPUT_PRIVATE,
                                                 &a->output);
    if (status < 0)
        return status;
    a->fd = a->output.regular ? a->output.fd : pd_temporary_file();
    status = a->fd < 0 ? cannot_write(a) : assemble(a);
    if (!a->output.regular) {
        if (status == PERFDATA_OK)
            status = copy_to_stream(a);
        if (a->fd >= 0)
            close(a->fd);
    }
    return pd_output_file_close(&a->context, &a->output, status);
}

perfdata_status perfdata_textrec_assemble(const char *input, const char *output,
                                          struct perfdata_textrec_error *error)
{
    struct assembly a = { .input = input, .line = 1 };
    pd_context_init(&a.context);
    perfdata_status status = strcmp(input, "-") != 0
                                 ? pd_source_open_path(&a.context, input, &a.source)
                                 : pd_source_open_fd(&a.context, STDIN_FILENO, &a.source);
    if (status == PERFDATA_OK)
        status = assemble_into(&a, output);
    if (status < 0 && !a.error.message[0])
        snprintf(a.error.message, sizeof a.error.message, "%.380s",
                 a.context.message[0] ? a.context.message : perfdata_status_text(status));
    pd_give_result(error, &a.error, sizeof a.error);
    free(a.text);
    pdt_free(&a.pdt);
    pd_source_close(a.source);
    pd_context_fini(&a.context);
    return status;
}
