/* SPDX-License-Identifier: MIT */
/* Which objects a recording shows, and their build-ids as entries of the header's table. */
#ifndef PD_REWRITE_BUILD_IDS_H
#define PD_REWRITE_BUILD_IDS_H
#include "base/intern.h"
#include "object/elf/build_id.h"
#include "base/text.h"
#include "rewrite/sample_map.h"
#include "rewrite/rewrite.h"

struct pd_build_ids {
    struct pd_recording *recording;
    struct pd_sample_map sample_map;
    bool all; /* all that are mapped, not only what samples hit */
    /* the recording ended a moment ago: files are those that were mapped, or have another inode */
    bool just_made;
    bool big_endian;       /* of the entries */
    PD_VEC(uint8_t) done;  /* by the object's index: 0, or bits of what has been seen to */
    size_t seen;           /* objects looked at, for `all` */
    PD_VEC(uint8_t) table; /* entries, those of the recording first */
    size_t recorded;       /* bytes of those */
    struct pd_intern recorded_paths;      /* of those */
    struct pd_intern known_paths;         /* of --known-build-ids */
    PD_VEC(struct pd_build_id) known_ids; /* by path */
    struct pd_intern added_paths;         /* of pd_build_ids_add() */
    PD_VEC(size_t) added_at;              /* by path: where in the table */
    bool want_records;
    struct pd_intern told_paths; /* of each of these records so far */
    struct pd_text
        record; /* the HEADER_BUILD_ID that perf inject puts before the last record; empty: none */
};

perfdata_status pd_build_ids_open(struct pd_recording *recording, bool all, bool big_endian,
                                  const char *known, struct pd_build_ids *out);
void pd_build_ids_close(struct pd_build_ids *ids);
/* Takes records in the order of delivery, or as near to it as can be had. The table grows by what
 * is new. */
perfdata_status pd_build_ids_record(struct pd_build_ids *ids, const struct pd_event *event,
                                    const uint8_t *record, uint32_t size, uint32_t type,
                                    uint16_t misc);
/* Whether a record of the object that this entry names has been made. */
bool pd_build_ids_told(const struct pd_build_ids *ids, const uint8_t *entry, size_t size);
/* Adds the build-id of a file that no map showed. */
perfdata_status pd_build_ids_add(struct pd_build_ids *ids, const char *path,
                                 const struct pd_build_id *id);
/* Reads the whole recording, which is not a stream; `see`, if not NULL, is shown each record
 * first. */
perfdata_status pd_build_ids_read(struct pd_build_ids *ids,
                                  void (*see)(void *data, const struct pd_delivered *record),
                                  void *data);

#endif
