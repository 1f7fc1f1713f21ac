/* SPDX-License-Identifier: MIT */
/* Where a function keeps the address that it returns to, as its file's call frame information (.eh_frame) says. */
#ifndef PD_FRAME_RULES_H
#define PD_FRAME_RULES_H
#include "base/base.h"

/* Shared by threads, under its own lock. */
struct pd_frame_rules;

enum pd_return_place {
    PD_RETURN_NOT_ASKED, /* never an answer */
    PD_RETURN_UNKNOWN,   /* no information about that address */
    PD_RETURN_REGISTER,  /* still in the register that the call put it into */
    PD_RETURN_ELSEWHERE  /* on the stack, in another register, nowhere */
};

/* A file that cannot be read, or of another machine (ELF's number), gives rules that know nothing. NULL when the system
 * has no memory. */
struct pd_frame_rules *pd_frame_rules_open(const char *path, uint16_t machine);
void pd_frame_rules_free(struct pd_frame_rules *rules);

/* `address` as the file itself counts. */
enum pd_return_place pd_frame_rules_return(struct pd_frame_rules *rules, uint64_t address);

#endif
