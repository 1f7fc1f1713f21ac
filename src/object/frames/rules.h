/* SPDX-License-Identifier: MIT */
/* How to come from a function to its caller, as its file's call frame information (.eh_frame)
 * says. */
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

/* A file that cannot be read, or of another machine (ELF's number), gives rules that know nothing.
 * NULL when the system has no memory. */
struct pd_frame_rules *pd_frame_rules_open(const char *path, uint16_t machine);
/* Of a file that lies in memory; the bytes are copied. */
struct pd_frame_rules *pd_frame_rules_open_memory(const void *image, size_t size, uint16_t machine);
void pd_frame_rules_free(struct pd_frame_rules *rules);

/* `address` as the file itself counts. */
enum pd_return_place pd_frame_rules_return(struct pd_frame_rules *rules, uint64_t address);

/* ---- steps ---- */

enum { PD_UNWIND_REGISTERS = 33 }; /* DWARF's numbers below this */

/* Registers of a frame, by DWARF's numbers. */
struct pd_unwind {
    uint64_t registers[PD_UNWIND_REGISTERS];
    uint64_t known; /* a bit for each */
    uint64_t ip, cfa;
    unsigned stack_pointer; /* its number */
    /* Eight bytes of the process; false: not to be had. */
    bool (*read)(void *data, uint64_t address, uint64_t *value);
    void *data;
};

enum pd_unwind_result {
    PD_UNWIND_STEPPED,
    PD_UNWIND_END,      /* this function has no caller */
    PD_UNWIND_NO_TABLE, /* the file has no such information, or cannot be read */
    PD_UNWIND_NO_RULES, /* there is none about that address */
    PD_UNWIND_LOST      /* the return address cannot be read; registers and CFA are the caller's */
};

/* From the frame whose function holds `address`, as the file itself counts, to its caller.
 * `*is_signal`: the function is what a signal handler returns to. */
enum pd_unwind_result pd_frame_rules_step(struct pd_frame_rules *rules, uint64_t address,
                                          struct pd_unwind *frame, bool *is_signal);

#endif
