/* SPDX-License-Identifier: MIT */
/* The database as a script for psql: statements, and the rows of a table as blocks of COPY. */
#include "convert/convert.h"
#include "convert/database/rows.h"
#include "io/at.h"
#include "io/output_file.h"
#include <errno.h>
#include <stdlib.h>

enum { BLOCK = 1 << 20 };

struct psql_writer {
    struct pd_db_writer writer;
    struct pd_context *context;
    struct pd_output_file file;
    size_t counts[PD_DB_TABLES];
    const struct pd_db_column *columns[PD_DB_TABLES][PD_DB_CELLS_MAX];
    struct pd_text rows[PD_DB_TABLES]; /* not written yet */
    struct pd_text name;
};

static perfdata_status failure(struct psql_writer *w)
{
    return pd_fail(w->context, PERFDATA_ERROR_OUTPUT, -1, "%s: cannot write: %s", w->file.name,
                   strerrordesc_np(errno));
}

static perfdata_status put(struct psql_writer *w, const char *text)
{
    return pd_write_all(w->file.fd, text, strlen(text)) ? PERFDATA_OK : failure(w);
}

static perfdata_status flush(struct psql_writer *w, unsigned table)
{
    struct pd_text *rows = &w->rows[table];
    if (rows->length)
        pd_text_string(rows, "\\.\n");
    if (rows->failed)
        return pd_no_memory(w->context, NULL);
    if (!rows->length)
        return PERFDATA_OK;
    perfdata_status status = put(w, "COPY ");
    if (status >= 0)
        status = put(w, pd_db_layouts[table].name);
    if (status >= 0)
        status = put(w, " FROM stdin;\n");
    if (status >= 0 && !pd_write_all(w->file.fd, rows->data, rows->length))
        status = failure(w);
    rows->length = 0;
    return status;
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
    perfdata_status status = put(w, sql);
    return status < 0 ? status : put(w, ";\n");
}

/* psql takes a backslash for the beginning of an escape. */
static void put_text(struct psql_writer *w, struct pd_text *out, const char *text)
{
    w->name.length = 0;
    pd_convert_name(&w->name, text, strlen(text));
    out->failed |= w->name.failed;
    for (size_t i = 0; i < w->name.length; i++) {
        if (w->name.data[i] == '\\')
            pd_text_char(out, '\\');
        pd_text_char(out, w->name.data[i]);
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
            put_text(w, out, cells[i].text);
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
    perfdata_status end = keep ? status : PERFDATA_ERROR_CANCELLED;
    end = pd_output_file_close(w->context, &w->file, end);
    for (unsigned table = 0; table < PD_DB_TABLES; table++)
        pd_text_free(&w->rows[table]);
    pd_text_free(&w->name);
    free(w);
    return keep ? end : PERFDATA_OK;
}

struct pd_db_writer *pd_db_psql_open(struct pd_context *context, const char *path, bool full)
{
    struct psql_writer *w = calloc(1, sizeof *w);
    if (!w) {
        pd_no_memory(context, NULL);
        return NULL;
    }
    w->writer = (struct pd_db_writer){ false, statement, row, rows_end, close_writer };
    w->context = context;
    for (unsigned table = 0; table < PD_DB_TABLES; table++)
        w->counts[table] = pd_db_columns(table, full, w->columns[table]);
    if (pd_output_file_open(context, path, PD_OUTPUT_SHARED, &w->file) < 0 ||
        statement(&w->writer, "BEGIN") < 0) {
        close_writer(&w->writer, false);
        return NULL;
    }
    return &w->writer;
}
