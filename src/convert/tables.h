/* SPDX-License-Identifier: MIT */
/* The columns of tables that refer to each other by hashes, so that those of many recordings can be
 * joined; for all forms that have such tables. */
#ifndef PD_CONVERT_TABLES_H
#define PD_CONVERT_TABLES_H
#include "profile/profile.h"

enum { PD_TABLE_ROOM = 2 * PD_BUILD_ID_MAX + 1, PD_TABLE_COLUMNS = 8 };

/* A column has numbers or texts; the function for the other kind is NULL. A text may be written
 * into `room`; NULL: there is none. */
struct pd_table_column {
    const char *name;
    uint64_t (*number)(const perfdata_profile *profile, uint64_t row);
    const char *(*text)(const perfdata_profile *profile, uint64_t row, char room[PD_TABLE_ROOM]);
};

struct pd_table {
    const char *name;
    const struct pd_table_column *columns;
    size_t column_count;
    uint32_t (*rows)(const perfdata_profile *profile);
};

extern const struct pd_table pd_table_functions, pd_table_events, pd_table_mappings;

/* The build-id in hexadecimal; NULL: it is unknown. */
const char *pd_table_build_id(const struct perfdata_profile_object *object,
                              char room[PD_TABLE_ROOM]);

#endif
