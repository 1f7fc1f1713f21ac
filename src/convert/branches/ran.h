/* SPDX-License-Identifier: MIT */
/* Runs -> how often each instruction of an object ran. */
#ifndef PD_CONVERT_BRANCHES_RAN_H
#define PD_CONVERT_BRANCHES_RAN_H
#include "convert/branches/branches.h"

struct pd_ran_insn {
    uint64_t address; /* as the file counts */
    uint64_t count;   /* 0: never, in a function that ran */
    uint8_t length;
    bool goes_on; /* what stands behind it may run next */
};

struct pd_ran {
    struct pd_lines *lines;           /* NULL: the object has none */
    PD_VEC(struct pd_ran_insn) insns; /* of the functions that ran, by address */
    uint64_t outside;                 /* instructions' worth of runs that lie in no function */
    uint64_t impossible;              /* runs past an instruction that nothing runs behind */
};

/* Of x86-64 code. */
perfdata_status pd_ran_count(struct pd_convert *x, struct pd_symbols *symbols,
                             const struct pd_flow_list *list, struct pd_ran *out);
void pd_ran_free(struct pd_ran *ran);

#endif
