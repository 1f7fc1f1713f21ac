/* SPDX-License-Identifier: MIT */
/* Every header feature decoded: struct pd_features has a member per feature (features.def), e.g.
 *
 *     if (features->nrcpus.present) ... features->nrcpus.online
 *     for (i < features->cmdline.words_count) puts(features->cmdline.words[i].text.text)
 *
 * Texts of length-prefixed strings are NUL-terminated and never NULL once `present`. All memory is
 * the arena's. */
#ifndef PD_FEATURES_H
#define PD_FEATURES_H
#include "format/rows.h"

#define FEATURE(number, NAME, name)                                                                \
    struct pd_feature_##name {                                                                     \
        bool present; /* decoded without error */                                                  \
        bool partial; /* its section ended early: what was readable is here */
#include "format/members.h"
#include "format/nothing.h"
#include "format/features.def"
#define PD_FORGET
#include "format/nothing.h"

struct pd_features {
#define FEATURE(number, NAME, name) struct pd_feature_##name name;
#include "format/nothing.h"
#include "format/features.def"
#define PD_FORGET
#include "format/nothing.h"
};

/* Decodes one feature's payload (a file's section or what follows feat_id in a HEADER_FEATURE
 * record) into its member of *features; `offset` is for issues. An unknown number is an issue, not
 * an error. What does not parse is an issue, too, and sets .partial. NRCPUS must come before
 * CPU_TOPOLOGY, as it does by number. Only errors of memory and of strict mode are returned. */
perfdata_status pd_feature_decode(struct pd_features *features, unsigned feature,
                                  const uint8_t *bytes, size_t size, bool swap,
                                  struct pd_arena *arena, struct pd_context *context,
                                  uint64_t offset);

/* "HOSTNAME", or NULL for a number that is in no table. */
const char *pd_feature_name(unsigned feature);

/* One entry of a build-id table, or a whole HEADER_BUILD_ID record; `old`: the shape without pid.
 * 0 when `size` bytes hold no whole entry, else the entry's size. */
uint32_t pd_build_id_next(const uint8_t *bytes, size_t size, bool swap, bool old,
                          struct pd_part_build_id_entry *out);
/* The length of an entry's build-id: 20, or what the entry says if that is less. */
unsigned pd_build_id_length(const struct pd_part_build_id_entry *entry);

#endif
