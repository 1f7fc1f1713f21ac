/* SPDX-License-Identifier: MIT */
/* How to get from a function to its caller, as its file's call frame information (.eh_frame,
 * .debug_frame) says. */
#ifndef PD_FRAME_RULES_H
#define PD_FRAME_RULES_H
#include "base/base.h"
#include "base/text.h"

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
/* The rules of a file that lies in memory; its bytes are copied. */
struct pd_frame_rules *pd_frame_rules_open_memory(const void *image, size_t size, uint16_t machine);
void pd_frame_rules_free(struct pd_frame_rules *rules);

/* `address` as the file itself counts. */
enum pd_return_place pd_frame_rules_return(struct pd_frame_rules *rules, uint64_t address);

/* ---- a part of them ---- */

/* The entries of the functions that hold some addresses, as sections that lie where the file's own
 * are loaded. */
struct pd_frame_cut {
    struct pd_text eh, debug; /* .eh_frame, .debug_frame; empty: nothing is said there */
    size_t functions;
};

/* `addresses` as the file itself counts, rising. False: an entry has a form that cannot be moved,
 * or no memory. The caller frees both texts. */
bool pd_frame_rules_cut(struct pd_frame_rules *rules, const uint64_t *addresses, size_t count,
                        struct pd_frame_cut *out);

/* ---- steps ---- */

enum pd_unwind_result {
    PD_UNWIND_STEPPED,
    PD_UNWIND_END,      /* this function has no caller */
    PD_UNWIND_NO_TABLE, /* the file has no such information, or cannot be read */
    PD_UNWIND_NO_RULES, /* there is none about that address */
    PD_UNWIND_LOST      /* the return address cannot be read; registers and CFA are the caller's */
};

enum { PD_UNWIND_REGISTERS = 33 }; /* DWARF's numbers below this */

/* Registers of a frame, by DWARF's numbers. */
struct pd_unwind {
    uint64_t registers[PD_UNWIND_REGISTERS];
    uint64_t known; /* a bit for each */
    uint64_t ip, cfa;
    unsigned stack_pointer; /* its number */
    /* Memory that is read without a call of read(): words of 8 bytes that end below `stack_end`. */
    const uint8_t *stack;
    uint64_t stack_start, stack_end;
    bool swap; /* they are in the other byte order */
    /* Reads eight bytes of the process elsewhere; false: they cannot be had. */
    bool (*read)(void *data, uint64_t address, uint64_t *value);
    void *data;
};

PD_INLINE bool pd_unwind_read(const struct pd_unwind *frame, uint64_t address, uint64_t *value)
{
    uint64_t at = address - frame->stack_start, size = frame->stack_end - frame->stack_start;
    if (PD_UNLIKELY(at >= size || size - at <= 8))
        return frame->read(frame->data, address, value);
    *value = pd_load64(frame->stack + at, frame->swap);
    return true;
}

/* The step that holds at some addresses of a function. Immutable; lives as long as the rules that
 * it comes from. */
struct pd_frame_step;

/* The step out of the function that holds `address`, as the file itself counts. Never NULL. Takes
 * the lock and reads the function's program: callers keep the answer. */
const struct pd_frame_step *pd_frame_rules_find(struct pd_frame_rules *rules, uint64_t address);
/* Whether the function is what a signal handler returns to. */
bool pd_frame_step_is_signal(const struct pd_frame_step *step);
/* Goes from a frame to its caller. */
enum pd_unwind_result pd_frame_step_take(const struct pd_frame_step *step, struct pd_unwind *frame);

#endif
