/* SPDX-License-Identifier: MIT */
/* Tables and views as statements, in the words that SQLite and PostgreSQL share. */
#include "convert/database/rows.h"
#include <stdio.h>

#define TABLE(name, unless_empty) static const struct pd_db_column columns_##name[] = {
#define COLUMN(kind, name) { #name, COLUMN_##kind, false },
#define FULL(kind, name) { #name, COLUMN_##kind, true },
#define COLUMN_KEY PD_DB_KEY, 0
#define COLUMN_INTEGER PD_DB_INTEGER, 0
#define COLUMN_BIGINT PD_DB_BIGINT, 0
#define COLUMN_BOOLEAN PD_DB_BOOLEAN, 0
#define COLUMN_TEXT(length) PD_DB_TEXT, length
#define END()                                                                                      \
    }                                                                                              \
    ;
#include "convert/database/database.def"

const struct pd_db_layout pd_db_layouts[PD_DB_TABLES] = {
#define TABLE(name, unless_empty)                                                                  \
    { #name, unless_empty, columns_##name, PD_LENGTH(columns_##name) },
#define COLUMN(kind, name)
#define END()
#include "convert/database/database.def"
};

size_t pd_db_columns(enum pd_db_table table, bool full, const struct pd_db_column **out)
{
    const struct pd_db_layout *layout = &pd_db_layouts[table];
    size_t count = 0;
    for (size_t i = 0; i < layout->count; i++)
        if (full || !layout->columns[i].full)
            out[count++] = &layout->columns[i];
    return count;
}

static const char *type_of(const struct pd_db_column *column, bool is_sqlite)
{
    switch (column->kind) {
    case PD_DB_KEY:
        return is_sqlite ? "integer NOT NULL PRIMARY KEY" : "bigint NOT NULL PRIMARY KEY";
    case PD_DB_INTEGER: return "integer";
    case PD_DB_BOOLEAN: return "boolean";
    case PD_DB_BIGINT: return "bigint";
    case PD_DB_TEXT: break;
    }
    return "varchar";
}

static perfdata_status run(struct pd_db_writer *writer, struct pd_text *sql)
{
    perfdata_status status = PERFDATA_ERROR_MEMORY;
    pd_text_char(sql, 0);
    if (!sql->failed)
        status = writer->statement(writer, sql->data);
    sql->length = 0;
    return status;
}

perfdata_status pd_db_create_tables(struct pd_db_writer *writer, bool full)
{
    struct pd_text sql = { 0 };
    perfdata_status status = PERFDATA_OK;
    for (unsigned table = 0; table < PD_DB_TABLES && status >= 0; table++) {
        const struct pd_db_column *columns[PD_DB_CELLS_MAX];
        size_t count = pd_db_columns(table, full, columns);
        pd_text_format(&sql, "CREATE TABLE %s (", pd_db_layouts[table].name);
        for (size_t i = 0; i < count; i++) {
            pd_text_format(&sql, "%s%s %s", i ? ", " : "", columns[i]->name,
                           type_of(columns[i], writer->is_sqlite));
            /* SQLite keeps longer ones, too; PostgreSQL would refuse the whole. */
            if (columns[i]->kind == PD_DB_TEXT && writer->is_sqlite)
                pd_text_format(&sql, "(%u)", columns[i]->length);
        }
        pd_text_char(&sql, ')');
        status = run(writer, &sql);
    }
    pd_text_free(&sql);
    return status;
}

/* ---- views ---- */

static const struct view {
    enum pd_db_table table;
    const char *name, *select;
} views[] = {
#define VIEW(table, name, select) { PD_DB_##table, name, select },
#include "convert/database/views.def"
};

static void put_hex(struct pd_text *sql, int length, const char *value, bool is_sqlite)
{
    if (is_sqlite)
        pd_text_format(sql, "printf('%%x', %.*s)", length, value);
    else
        pd_text_format(sql, "to_hex(%.*s)", length, value);
}

/* One $.(...): `form` is the letter. */
static void put_form(struct pd_text *sql, char form, int length, const char *value, bool is_sqlite)
{
    switch (form) {
    case 'x': put_hex(sql, length, value, is_sqlite); break;
    case 'b':
        pd_text_format(sql, "CASE %.*s WHEN 0 THEN 'False' ELSE 'True' END", length, value);
        break;
    case 't':
        pd_text_format(sql, is_sqlite ? "%.*s" : "CAST(%.*s AS varchar(20))", length, value);
        break;
    case 'h':
        pd_text_format(sql, "CASE WHEN %.*s IS NULL THEN '' ELSE ", length, value);
        put_hex(sql, length, value, is_sqlite);
        pd_text_string(sql, " END");
        break;
    default:
        if (is_sqlite)
            pd_text_format(sql, "COALESCE(%.*s, '')", length, value);
        else
            pd_text_format(sql, "COALESCE(CAST(%.*s AS varchar(20)), '')", length, value);
    }
}

static void put_select(struct pd_text *sql, const char *select, bool is_sqlite)
{
    for (const char *at = select; *at; at++) {
        if (*at != '$') {
            pd_text_char(sql, *at);
            continue;
        }
        const char *value = at + 3, *end = value;
        for (int depth = 1; *end && (depth += (*end == '(') - (*end == ')')) > 0;)
            end++;
        put_form(sql, at[1], (int)(end - value), value, is_sqlite);
        at = end;
    }
}

static perfdata_status create_view(struct pd_db_writer *writer, const char *name,
                                   const char *select)
{
    struct pd_text sql = { 0 };
    pd_text_format(&sql, "CREATE VIEW %s AS ", name);
    put_select(&sql, select, writer->is_sqlite);
    perfdata_status status = run(writer, &sql);
    pd_text_free(&sql);
    return status;
}

/* The tables that the view of all power events joins. */
static bool is_power(enum pd_db_table table)
{
    return table == PD_DB_cbr || table == PD_DB_mwait || table == PD_DB_pwre ||
           table == PD_DB_exstop || table == PD_DB_pwrx;
}

static perfdata_status finish_calls(struct pd_db_writer *writer)
{
    const char *statements[] = {
        "CREATE INDEX pcpid_idx ON calls (parent_call_path_id)",
        "CREATE INDEX pid_idx ON calls (parent_id)",
        "ALTER TABLE comms ADD has_calls boolean",
        writer->is_sqlite
            ? "UPDATE comms SET has_calls = 1 WHERE id IN (SELECT comm_id FROM calls)"
            : "UPDATE comms SET has_calls = TRUE WHERE id IN (SELECT comm_id FROM calls)",
    };
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < PD_LENGTH(statements) && status >= 0; i++)
        status = writer->statement(writer, statements[i]);
    return status;
}

perfdata_status pd_db_finish_schema(struct pd_db_writer *writer, const bool *used)
{
    perfdata_status status = PERFDATA_OK;
    bool power = used[PD_DB_mwait] || used[PD_DB_pwre] || used[PD_DB_exstop] || used[PD_DB_pwrx];
    for (size_t i = 0; i < PD_LENGTH(views) && status >= 0; i++)
        if (views[i].table == PD_DB_TABLES ? power : used[views[i].table])
            status = create_view(writer, views[i].name, views[i].select);
    if (status >= 0 && used[PD_DB_calls])
        status = finish_calls(writer);
    for (unsigned table = 0; table < PD_DB_TABLES && status >= 0; table++) {
        if (used[table] || (power && is_power(table)))
            continue;
        char sql[64];
        snprintf(sql, sizeof sql, "DROP TABLE %s", pd_db_layouts[table].name);
        status = writer->statement(writer, sql);
    }
    return status;
}
