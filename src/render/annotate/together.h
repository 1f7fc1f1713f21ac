/* SPDX-License-Identifier: MIT */
/* Several functions of an object by one run of objdump. A run for each function would take most of
 * its time for the object's symbols and for the code around the function. */
#ifndef PD_TOGETHER_H
#define PD_TOGETHER_H
#include "render/annotate/objdump.h"

struct pd_together_part {
    uint64_t start, end; /* of the function, as addresses in the file */
    uint32_t function;   /* the caller's index of it */
    struct pd_text text; /* what objdump prints of it alone; the caller's to free */
    bool done;           /* there is `text` */
};

/* The parts must be in order of their starts; their order may change. Marks as done only those
 * whose text is certain to be what a run of their own would print. The others, perhaps all, still
 * need such a run. May be called on any thread. */
void pd_together_run(const struct pd_objdump *how, const char *path, struct pd_together_part *parts,
                     size_t count);

#endif
