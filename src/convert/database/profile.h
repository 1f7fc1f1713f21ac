/* SPDX-License-Identifier: MIT */
/* The tables of a profile in a database. */
#ifndef PD_DATABASE_PROFILE_H
#define PD_DATABASE_PROFILE_H
#include "container/handle.h"
#include "convert/database/rows.h"
#include <perfdata/export.h>

/* Reads the recording once more and writes the tables profile_*; `used`, by table: those that got
 * rows. */
perfdata_status pd_db_profile(perfdata_recording *recording,
                              const struct perfdata_database_options *options,
                              struct pd_db_writer *writer, bool *used);

#endif
