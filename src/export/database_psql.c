/* SPDX-License-Identifier: MIT */
/* The database as a script for psql: statements, and the rows of a table as blocks of COPY. */
#include "export/database_rows.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 1 << 20 };

struct psql_writer {
    struct pd_db_writer writer;
    struct pd_context *context;
    FILE *file;
    char *path, *beside; /* NULL: standard output */
    size_t counts[PD_DB_TABLES];
    const struct pd_db_column *columns[PD_DB_TABLES][PD_DB_CELLS_MAX];
    struct pd_text rows[PD_DB_TABLES]; /* not written yet */
};

static perfdata_status failure(struct psql_writer *w)
{
    return pd_fail(w->context, PERFDATA_ERROR_OUTPUT, -1, "%s: %s", w->path, strerror(errno));
}

static perfdata_status flush(struct psql_writer *w, unsigned table)
{
    struct pd_text *rows = &w->rows[table];
    if (rows->failed)
        return pd_fail(w->context, PERFDATA_ERROR_MEMORY, -1, "out of memory");
    if (!rows->length)
        return PERFDATA_OK;
    bool ok = fprintf(w->file, "COPY %s FROM stdin;\n", pd_db_layouts[table].name) > 0 &&
              fwrite(rows->data, rows->length, 1, w->file) == 1 && fputs("\\.\n", w->file) >= 0;
    rows->length = 0;
    return ok ? PERFDATA_OK : failure(w);
}

static perfdata_status rows_end(struct pd_db_writer *writer)
{
    struct psql_writer *w = (struct psql_writer *)writer;
    perfdata_status status = PERFDATA_OK;
    for (unsigned table = 0; table < PD_DB_TABLES && status >= 0; table++)
        status = flush(w, table);
    return status;
}

static perfdata_status statement(struct pd_db_writer *writer, const char *sql)
{
    struct psql_writer *w = (struct psql_writer *)writer;
    return fprintf(w->file, "%s;\n", sql) > 0 ? PERFDATA_OK : failure(w);
}

static void put_text(struct pd_text *out, const char *text)
{
    for (; *text; text++) {
        const char *escape = *text == '\\'   ? "\\\\"
                             : *text == '\t' ? "\\t"
                             : *text == '\n' ? "\\n"
                             : *text == '\r' ? "\\r"
                                             : NULL;
        if (escape)
            pd_text_string(out, escape);
        else
            pd_text_char(out, *text);
    }
}

static perfdata_status row(struct pd_db_writer *writer, enum pd_db_table table,
                           const struct pd_db_cell *cells)
{
    struct psql_writer *w = (struct psql_writer *)writer;
    struct pd_text *out = &w->rows[table];
    for (size_t i = 0; i < w->counts[table]; i++) {
        if (i)
            pd_text_char(out, '\t');
        if (cells[i].text)
            put_text(out, cells[i].text);
        else if (w->columns[table][i]->kind == PD_DB_BOOLEAN)
            pd_text_char(out, cells[i].number ? 't' : 'f');
        else
            pd_text_i64(out, cells[i].is_real ? (int64_t)cells[i].real : cells[i].number, 0);
    }
    pd_text_char(out, '\n');
    return out->length >= BLOCK || out->failed ? flush(w, table) : PERFDATA_OK;
}

static perfdata_status close_writer(struct pd_db_writer *writer, bool keep)
{
    struct psql_writer *w = (struct psql_writer *)writer;
    perfdata_status status = keep ? statement(writer, "COMMIT") : PERFDATA_OK;
    bool ok = !fflush(w->file);
    if (w->beside)
        ok &= !fclose(w->file);
    if (keep && status >= 0 && (!ok || (w->beside && rename(w->beside, w->path) < 0)))
        status = failure(w);
    if (w->beside && (!keep || status < 0))
        unlink(w->beside);
    for (unsigned table = 0; table < PD_DB_TABLES; table++)
        pd_text_free(&w->rows[table]);
    free(w->beside);
    free(w->path);
    free(w);
    return status;
}

static bool open_file(struct psql_writer *w, const char *path)
{
    size_t length = strlen(path);
    w->path = strdup(path);
    if (!w->path)
        return false;
    if (!strcmp(path, "-")) {
        w->file = stdout;
        return true;
    }
    w->beside = malloc(length + 8);
    if (!w->beside)
        return false;
    memcpy(w->beside, path, length);
    memcpy(w->beside + length, ".XXXXXX", 8);
    int fd = mkstemp(w->beside);
    w->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!w->file && fd >= 0)
        close(fd);
    return w->file != NULL;
}

struct pd_db_writer *pd_db_psql_open(struct pd_context *context, const char *path, bool full)
{
    struct psql_writer *w = calloc(1, sizeof *w);
    if (!w || !open_file(w, path)) {
        pd_fail(context, w ? PERFDATA_ERROR_OUTPUT : PERFDATA_ERROR_MEMORY, -1, "%s: %s", path,
                strerror(errno));
        if (w) {
            free(w->beside);
            free(w->path);
        }
        free(w);
        return NULL;
    }
    w->writer = (struct pd_db_writer){ false, statement, row, rows_end, close_writer };
    w->context = context;
    for (unsigned table = 0; table < PD_DB_TABLES; table++)
        w->counts[table] = pd_db_columns(table, full, w->columns[table]);
    statement(&w->writer, "BEGIN");
    return &w->writer;
}
