/* SPDX-License-Identifier: MIT */
/* Strings by 32-bit id: equal text, equal id. One owner; texts never move, so others may read
 * them. */
#ifndef PD_INTERN_H
#define PD_INTERN_H
#include "base/arena.h"
#include "base/vec.h"

struct pd_string {
    const char *text; /* NUL-terminated */
    uint32_t length;
    uint32_t hash;
};

struct pd_intern {
    struct pd_arena arena;
    PD_VEC(struct pd_string) strings; /* by id */
    uint32_t *slots;                  /* id + 1, 0 free */
    size_t mask;
};

#define PD_INTERN_NONE UINT32_MAX

/* The id of the text, new if unseen; PD_INTERN_NONE when the system has no memory. */
uint32_t pd_intern(struct pd_intern *table, const char *text, size_t length);
/* The same without adding: PD_INTERN_NONE when unseen. */
uint32_t pd_intern_find(const struct pd_intern *table, const char *text, size_t length);
PD_INLINE const char *pd_intern_text(const struct pd_intern *table, uint32_t id)
{
    return table->strings.data[id].text;
}
void pd_intern_free(struct pd_intern *table);

#endif
