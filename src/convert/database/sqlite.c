/* SPDX-License-Identifier: MIT */
/* Rows of the database -> an SQLite file. */
#include "convert/database/rows.h"
#ifdef PD_HAVE_SQLITE
#include "base/library.h"
#include "convert/convert.h"
#include "io/output_file.h"
#include <sqlite3.h>
#include <stdlib.h>

/* This name has stood for its interface since 2004. */
#define NAMES(ROW)                                                                                 \
    ROW(sqlite3_open)                                                                              \
    ROW(sqlite3_close)                                                                             \
    ROW(sqlite3_errmsg)                                                                            \
    ROW(sqlite3_exec)                                                                              \
    ROW(sqlite3_prepare_v2)                                                                        \
    ROW(sqlite3_bind_text)                                                                         \
    ROW(sqlite3_bind_double)                                                                       \
    ROW(sqlite3_bind_int64)                                                                        \
    ROW(sqlite3_step)                                                                              \
    ROW(sqlite3_reset)                                                                             \
    ROW(sqlite3_finalize)
static struct {
    NAMES(PD_LIBRARY_MEMBER)
} lib = { NAMES(PD_LIBRARY_LINKED) };
static const struct pd_library_row rows[] = { NAMES(PD_LIBRARY_ROW) };
static struct pd_library library = PD_LIBRARY("libsqlite3.so.0", rows);
PD_LIBRARY_NOTE("libsqlite3.so.0", "sqlite", "export sqlite", "suggested")

struct sqlite_writer {
    struct pd_db_writer writer;
    struct pd_context *context;
    sqlite3 *db;
    sqlite3_stmt *inserts[PD_DB_TABLES];
    size_t counts[PD_DB_TABLES];
    struct pd_output_file file; /* which SQLite opens by the name it has while it is made */
    struct pd_text name;
    bool full;
};

static perfdata_status failure(struct sqlite_writer *w)
{
    return pd_fail(w->context, PERFDATA_ERROR_OUTPUT, -1, "%s: %s", w->file.name,
                   w->db ? lib.sqlite3_errmsg(w->db) : "out of memory");
}

static perfdata_status statement(struct pd_db_writer *writer, const char *sql)
{
    struct sqlite_writer *w = (struct sqlite_writer *)writer;
    return lib.sqlite3_exec(w->db, sql, NULL, NULL, NULL) == SQLITE_OK ? PERFDATA_OK : failure(w);
}

static perfdata_status prepare(struct sqlite_writer *w, enum pd_db_table table)
{
    const struct pd_db_column *columns[PD_DB_CELLS_MAX];
    w->counts[table] = pd_db_columns(table, w->full, columns);
    struct pd_text sql = { 0 };
    pd_text_format(&sql, "INSERT INTO %s VALUES (?", pd_db_layouts[table].name);
    for (size_t i = 1; i < w->counts[table]; i++)
        pd_text_string(&sql, ", ?");
    pd_text_bytes(&sql, ")", 2);
    bool ok = !sql.failed &&
              lib.sqlite3_prepare_v2(w->db, sql.data, -1, &w->inserts[table], NULL) == SQLITE_OK;
    pd_text_free(&sql);
    return ok ? PERFDATA_OK : failure(w);
}

/* SQLite itself would take a text that is not UTF-8; who asks for it later is refused. */
static void bind_text(struct sqlite_writer *w, sqlite3_stmt *insert, int at, const char *text)
{
    size_t length = strlen(text);
    w->name.length = 0;
    pd_convert_name(&w->name, text, length);
    if (w->name.failed || w->name.length == length) /* nothing was escaped */
        lib.sqlite3_bind_text(insert, at, text, -1, SQLITE_STATIC);
    else
        lib.sqlite3_bind_text(insert, at, w->name.data, (int)w->name.length, SQLITE_TRANSIENT);
}

static perfdata_status row(struct pd_db_writer *writer, enum pd_db_table table,
                           const struct pd_db_cell *cells)
{
    struct sqlite_writer *w = (struct sqlite_writer *)writer;
    if (!w->inserts[table]) {
        perfdata_status status = prepare(w, table);
        if (status < 0)
            return status;
    }
    sqlite3_stmt *insert = w->inserts[table];
    for (size_t i = 0; i < w->counts[table]; i++) {
        int at = (int)i + 1;
        if (cells[i].text)
            bind_text(w, insert, at, cells[i].text);
        else if (cells[i].is_real)
            lib.sqlite3_bind_double(insert, at, cells[i].real);
        else
            lib.sqlite3_bind_int64(insert, at, cells[i].number);
    }
    if (w->name.failed)
        return pd_fail(w->context, PERFDATA_ERROR_MEMORY, -1, "no memory for a row");
    bool ok = lib.sqlite3_step(insert) == SQLITE_DONE;
    lib.sqlite3_reset(insert);
    return ok ? PERFDATA_OK : failure(w);
}

static perfdata_status rows_end(struct pd_db_writer *writer)
{
    struct sqlite_writer *w = (struct sqlite_writer *)writer;
    for (unsigned table = 0; table < PD_DB_TABLES; table++) {
        lib.sqlite3_finalize(w->inserts[table]);
        w->inserts[table] = NULL;
    }
    return PERFDATA_OK;
}

static perfdata_status close_writer(struct pd_db_writer *writer, bool keep)
{
    struct sqlite_writer *w = (struct sqlite_writer *)writer;
    perfdata_status status = PERFDATA_OK;
    rows_end(writer);
    if (keep)
        status = statement(writer, "COMMIT");
    if (lib.sqlite3_close(w->db) != SQLITE_OK && status >= 0)
        status = failure(w);
    perfdata_status end = keep ? status : PERFDATA_ERROR_CANCELLED;
    end = pd_output_file_close(w->context, &w->file, end);
    pd_text_free(&w->name);
    free(w);
    return keep ? end : PERFDATA_OK;
}

/* Nothing needs to survive a crash: an incomplete file is thrown away. */
static const char beginning[] = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN";

struct pd_db_writer *pd_db_sqlite_open(struct pd_context *context, const char *path, bool full)
{
    const char *missing = pd_library_load(&library);
    if (missing) {
        pd_fail(context, PERFDATA_ERROR_UNSUPPORTED, -1, "%s: needs SQLite: %s", path, missing);
        return NULL;
    }
    struct sqlite_writer *w = calloc(1, sizeof *w);
    if (!w) {
        pd_no_memory(context, NULL);
        return NULL;
    }
    w->writer = (struct pd_db_writer){ true, statement, row, rows_end, close_writer };
    w->context = context;
    w->full = full;
    if (pd_output_file_open_regular(context, path, PD_OUTPUT_SHARED, "an SQLite database",
                                    &w->file) < 0) {
        free(w);
        return NULL;
    }
    if (lib.sqlite3_open(w->file.beside, &w->db) != SQLITE_OK ||
        statement(&w->writer, beginning) < 0) {
        failure(w);
        close_writer(&w->writer, false);
        return NULL;
    }
    return &w->writer;
}
#else
struct pd_db_writer *pd_db_sqlite_open(struct pd_context *context, const char *path, bool full)
{
    (void)full;
    pd_fail(context, PERFDATA_ERROR_UNSUPPORTED, -1, "%s: built without SQLite", path);
    return NULL;
}
#endif
