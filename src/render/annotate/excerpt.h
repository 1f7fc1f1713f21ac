/* SPDX-License-Identifier: MIT */
/* A copy of an object in which only the code of some functions is left, the rest being zeros.
 * objdump would spend time on the code between the functions, too; of zeros it prints only that
 * they are there. */
#ifndef PD_EXCERPT_H
#define PD_EXCERPT_H
#include "base/text.h"

struct pd_excerpt_range {
    uint64_t start, end; /* addresses in the object file */
};

struct pd_excerpt {
    int fd;              /* of a file that is in memory only */
    struct pd_text path; /* by which programs that this one starts can open it */
};

/* How many bytes behind each range are kept as well. No instruction is longer, so that the one
 * behind the range is disassembled as in the object itself. */
#define PD_EXCERPT_BEHIND 16

/* Makes the copy; the ranges have to be in order. False: there is no copy, since the object is not
 * for x86-64, or is too large, or objdump would find its debug information by the place where it
 * lies. */
bool pd_excerpt_make(const char *path, const struct pd_excerpt_range *ranges, size_t count,
                     struct pd_excerpt *out);
void pd_excerpt_free(struct pd_excerpt *excerpt);

#endif
