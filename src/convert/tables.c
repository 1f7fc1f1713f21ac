/* SPDX-License-Identifier: MIT */
/* What is in the columns of functions, events and mappings where tables refer to each other by
 * hashes. */
#include "convert/tables.h"

static const struct perfdata_profile_function *function_at(const perfdata_profile *profile,
                                                           uint64_t row)
{
    return perfdata_profile_function(profile, (uint32_t)row);
}
static const struct perfdata_profile_object *object_of(const perfdata_profile *profile,
                                                       uint64_t row)
{
    return perfdata_profile_object(profile, function_at(profile, row)->object);
}

const char *pd_table_build_id(const struct perfdata_profile_object *object,
                              char room[PD_TABLE_ROOM])
{
    uint32_t size = object ? PD_MIN(object->build_id_size, (uint32_t)PD_BUILD_ID_MAX) : 0;
    for (uint32_t i = 0; i < size; i++) {
        room[2 * i] = "0123456789abcdef"[object->build_id[i] >> 4];
        room[2 * i + 1] = "0123456789abcdef"[object->build_id[i] & 15];
    }
    room[2 * size] = '\0';
    return size ? room : NULL;
}

static uint64_t function_hash(const perfdata_profile *profile, uint64_t row)
{
    return function_at(profile, row)->hash;
}
static const char *function_name(const perfdata_profile *profile, uint64_t row,
                                 char room[PD_TABLE_ROOM])
{
    (void)room;
    return function_at(profile, row)->name;
}
static const char *function_object(const perfdata_profile *profile, uint64_t row,
                                   char room[PD_TABLE_ROOM])
{
    const struct perfdata_profile_object *object = object_of(profile, row);
    (void)room;
    return object ? object->path : NULL;
}
static const char *function_build_id(const perfdata_profile *profile, uint64_t row,
                                     char room[PD_TABLE_ROOM])
{
    return pd_table_build_id(object_of(profile, row), room);
}
static uint64_t function_flags(const perfdata_profile *profile, uint64_t row)
{
    return function_at(profile, row)->flags;
}

static const struct pd_table_column function_columns[] = {
    { "function_hash", function_hash, NULL }, { "name", NULL, function_name },
    { "object", NULL, function_object },      { "build_id", NULL, function_build_id },
    { "flags", function_flags, NULL },
};
const struct pd_table pd_table_functions = { "functions", function_columns,
                                             PD_LENGTH(function_columns),
                                             perfdata_profile_function_count };

static const struct perfdata_profile_event *event_at(const perfdata_profile *profile, uint64_t row)
{
    return perfdata_profile_event(profile, (uint32_t)row);
}
static const char *event_name(const perfdata_profile *profile, uint64_t row,
                              char room[PD_TABLE_ROOM])
{
    (void)room;
    return event_at(profile, row)->name;
}
static uint64_t event_type(const perfdata_profile *profile, uint64_t row)
{
    return event_at(profile, row)->type;
}
static uint64_t event_config(const perfdata_profile *profile, uint64_t row)
{
    return event_at(profile, row)->config;
}

static const struct pd_table_column event_columns[] = {
    { "event", NULL, event_name },
    { "type", event_type, NULL },
    { "config", event_config, NULL },
};
const struct pd_table pd_table_events = { "events", event_columns, PD_LENGTH(event_columns),
                                          perfdata_profile_event_count };

static const struct perfdata_profile_mapping *mapping_at(const perfdata_profile *profile,
                                                         uint64_t row)
{
    return perfdata_profile_mapping(profile, (uint32_t)row);
}
static uint64_t mapping_pid(const perfdata_profile *profile, uint64_t row)
{
    return (uint64_t)(int32_t)mapping_at(profile, row)->pid;
}
static uint64_t mapping_start(const perfdata_profile *profile, uint64_t row)
{
    return mapping_at(profile, row)->start;
}
static uint64_t mapping_end(const perfdata_profile *profile, uint64_t row)
{
    return mapping_at(profile, row)->end;
}
static uint64_t mapping_offset(const perfdata_profile *profile, uint64_t row)
{
    return mapping_at(profile, row)->offset;
}
static const char *mapping_path(const perfdata_profile *profile, uint64_t row,
                                char room[PD_TABLE_ROOM])
{
    (void)room;
    return perfdata_profile_object(profile, mapping_at(profile, row)->object)->path;
}
static const char *mapping_build_id(const perfdata_profile *profile, uint64_t row,
                                    char room[PD_TABLE_ROOM])
{
    return pd_table_build_id(perfdata_profile_object(profile, mapping_at(profile, row)->object),
                             room);
}

static const struct pd_table_column mapping_columns[] = {
    { "pid", mapping_pid, NULL },     { "start", mapping_start, NULL },
    { "end", mapping_end, NULL },     { "offset", mapping_offset, NULL },
    { "object", NULL, mapping_path }, { "build_id", NULL, mapping_build_id },
};
const struct pd_table pd_table_mappings = { "mappings", mapping_columns, PD_LENGTH(mapping_columns),
                                            perfdata_profile_mapping_count };
