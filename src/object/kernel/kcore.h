/* SPDX-License-Identifier: MIT */
/* A copy of the kernel's memory beside its kallsyms: kcore, an ELF core file, and the list of
 * modules at that time. */
#ifndef PD_KCORE_H
#define PD_KCORE_H
#include "base/vec.h"
#include "object/object.h"

struct pd_kcore_segment {
    uint64_t start, end, offset;
};

struct pd_kcore {
    char *path;
    bool is_64_bit;
    PD_VEC(struct pd_kcore_segment) segments; /* by start, without overlaps */
    size_t main;                              /* the kernel's own */
};

/* ERROR_NOT_FOUND: there is none beside that kallsyms file, or it is not of the recorded kernel.
 * `unmoved`: the request's reference symbol is where it was recorded. `stext`: the address of
 * _stext, NULL where there is none. */
perfdata_status pd_kcore_open(const char *kallsyms, bool unmoved, const uint64_t *stext,
                              const struct pd_kernel_request *request, struct pd_kcore *out);
void pd_kcore_free(struct pd_kcore *kcore);
/* The segment that holds an address; NULL: none. */
const struct pd_kcore_segment *pd_kcore_find(const struct pd_kcore *kcore, uint64_t address);

#endif
