/* SPDX-License-Identifier: MIT */
/* The database of perf's exporters: its tables and views (database.def, database_views.def,
 * schema.c), who writes them (sqlite.c, psql.c), and what is in them (database.c, entities.c). */
#ifndef PD_DATABASE_ROWS_H
#define PD_DATABASE_ROWS_H
#include "base/context.h"
#include "base/text.h"

enum pd_db_table {
#define TABLE(name, unless_empty) PD_DB_##name,
#define COLUMN(kind, name)
#define END()
#include "convert/database/database.def"
    PD_DB_TABLES
};

enum pd_db_kind { PD_DB_KEY, PD_DB_INTEGER, PD_DB_BIGINT, PD_DB_BOOLEAN, PD_DB_TEXT };

struct pd_db_column {
    const char *name;
    enum pd_db_kind kind;
    uint16_t length; /* of a text */
    bool full;       /* only with `all` */
};

struct pd_db_layout {
    const char *name;
    bool unless_empty;
    const struct pd_db_column *columns;
    size_t count;
};
extern const struct pd_db_layout pd_db_layouts[PD_DB_TABLES];

/* A cell: a number, or a text when `text` is not NULL; is_real: `real` counts. */
struct pd_db_cell {
    int64_t number;
    const char *text;
    double real;
    bool is_real;
};
#define PD_DB_NUMBER(value) ((struct pd_db_cell){ .number = (int64_t)(value) })
#define PD_DB_STRING(value) ((struct pd_db_cell){ .text = (value) })
#define PD_DB_REAL(value) ((struct pd_db_cell){ .real = (value), .is_real = true })
#define PD_DB_CELLS_MAX 32

/* Who writes. All functions leave their failure in the context. */
struct pd_db_writer {
    bool is_sqlite;
    perfdata_status (*statement)(struct pd_db_writer *writer, const char *sql);
    /* As many cells as the table has columns in this database. */
    perfdata_status (*row)(struct pd_db_writer *writer, enum pd_db_table table,
                           const struct pd_db_cell *cells);
    /* After the last row, before what follows the data: all rows are in. */
    perfdata_status (*rows_end)(struct pd_db_writer *writer);
    /* Ends it and frees the writer; `keep`: what was written is to stay. */
    perfdata_status (*close)(struct pd_db_writer *writer, bool keep);
};

/* NULL with the reason in the context. */
struct pd_db_writer *pd_db_sqlite_open(struct pd_context *context, const char *path, bool full);
struct pd_db_writer *pd_db_psql_open(struct pd_context *context, const char *path, bool full);

/* CREATE TABLE of all tables; `full`: with the columns that `all` adds. */
perfdata_status pd_db_create_tables(struct pd_db_writer *writer, bool full);
/* What stands behind the data: views, indexes; drops what is empty. `used`: by table. */
perfdata_status pd_db_finish_schema(struct pd_db_writer *writer, const bool *used);
/* The columns that a table has, in `out`. */
size_t pd_db_columns(enum pd_db_table table, bool full, const struct pd_db_column **out);

#endif
