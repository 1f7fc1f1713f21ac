/* SPDX-License-Identifier: MIT */
/* What changes while a recording goes on, as a list of versions, newest first. A reader asks for
 * the one that held at a number; the writer may be tens of thousands of versions ahead of it. So
 * each version also knows one that is further back, as far as its depth allows (a jump list as
 * Myers's applicative random-access stack): a search takes O(log n) steps, an added version
 * O(1). */
#ifndef PD_MODEL_VERSION_H
#define PD_MODEL_VERSION_H
#include "base/base.h"

/* The first member of what has versions. */
struct pd_version {
    uint64_t number;                  /* delivery number from which it holds */
    struct pd_version *before, *jump; /* NULL: none */
    /* The number of `jump`, which itself may be gone once no reader can come to it. */
    uint64_t jump_number;
    uint32_t depth, jump_depth;
};

/* Fills in a version that follows `before`, before it is published. Of those that hold from
 * `retired` on or earlier no more than one is still there. */
PD_INLINE void pd_version_follow(struct pd_version *version, uint64_t number,
                                 struct pd_version *before, uint64_t retired)
{
    *version = (struct pd_version){ .number = number, .before = before };
    if (!before)
        return;
    const struct pd_version *far = before->jump_number > retired ? before->jump : NULL;
    version->depth = before->depth + 1;
    if (far && far->jump && before->depth - far->depth == far->depth - far->jump_depth) {
        version->jump = far->jump;
        version->jump_number = far->jump_number;
        version->jump_depth = far->jump_depth;
    } else {
        version->jump = before;
        version->jump_number = before->number;
        version->jump_depth = before->depth;
    }
}

/* The version that held at `number`; NULL: none did. `until`, where not NULL, falls to the number
 * of the next one. */
PD_INLINE const struct pd_version *pd_version_at(const struct pd_version *newest, uint64_t number,
                                                 uint64_t *until)
{
    const struct pd_version *version = newest;
    while (version && version->number > number) {
        if (until)
            *until = version->number;
        version = version->jump_number > number ? version->jump : version->before;
    }
    return version;
}

#endif
