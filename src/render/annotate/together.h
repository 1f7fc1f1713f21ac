/* SPDX-License-Identifier: MIT */
/* Several functions of an object by one run of objdump: a run for each takes most of its time for
 * the object's symbols and the code around the function. */
#ifndef PD_TOGETHER_H
#define PD_TOGETHER_H
#include "render/annotate/objdump.h"

struct pd_together_part {
    uint64_t start, end; /* of the function, as the file counts */
    uint32_t function;   /* the caller's */
    struct pd_text text; /* what objdump prints of it alone; the caller's to free */
    bool done;           /* there is `text` */
};

/* Parts in order of their starts, which may change. Only those are done whose text is surely the
 * same: the others, perhaps all, need a run of their own. Any thread. */
void pd_together_run(const struct pd_objdump *how, const char *path, struct pd_together_part *parts,
                     size_t count);

#endif
