/* SPDX-License-Identifier: MIT */
/* For records.def and features.def: rows as members of structures. nothing.h forgets these. No
 * include guard on purpose. */
#define PART(name) struct pd_part_##name {
#define FIELD(kind, name, ...) PD_MEMBER_##kind(name)
#define OPTIONAL(kind, name, ...) PD_MEMBER_##kind(name)
#define LIST(part, name, ...)                                                                      \
    struct pd_part_##part *name;                                                                   \
    uint32_t name##_count;
#define WINDOW(part, name, ...) struct pd_part_##part name;
#define END(name)                                                                                  \
    }                                                                                              \
    ;
