/* SPDX-License-Identifier: MIT */
/* A copy of an object in which only the code of some functions is left. objdump takes its time for
 * what lies between them, too: of zeros it prints only that they are there. */
#ifndef PD_EXCERPT_H
#define PD_EXCERPT_H
#include "base/text.h"

struct pd_excerpt_range {
    uint64_t start, end; /* as the file counts */
};

struct pd_excerpt {
    int fd;              /* of a file that is in memory only */
    struct pd_text path; /* by which programs that this one starts can open it */
};

/* Bytes behind each range that are left, too: no instruction is longer, so that the one behind the
 * range is told as it is. */
#define PD_EXCERPT_BEHIND 16

/* Of ranges that are in order. False: there is none, since the object is not one of x86-64, or is
 * too large, or objdump would find the object's debug information by the place where it lies. */
bool pd_excerpt_make(const char *path, const struct pd_excerpt_range *ranges, size_t count,
                     struct pd_excerpt *out);
void pd_excerpt_free(struct pd_excerpt *excerpt);

#endif
