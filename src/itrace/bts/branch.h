/* SPDX-License-Identifier: MIT */
/* The records of Intel BTS: a branch each, 24 bytes in the byte order of x86. */
#ifndef PD_BTS_BRANCH_H
#define PD_BTS_BRANCH_H
#include "base/text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PD_BTS_SIZE = 24 };

/* Words of its AUXTRACE_INFO, in the order of format/auxtrace.def. */
enum {
    PD_BTS_PMU_TYPE,
    PD_BTS_TIME_SHIFT,
    PD_BTS_TIME_MULT,
    PD_BTS_TIME_ZERO,
    PD_BTS_CAP_TIME_ZERO,
    PD_BTS_SNAPSHOT,
    PD_BTS_WORDS
};

struct pd_bts_branch {
    uint64_t from, to; /* 0: outside of what is traced */
    bool predicted;
};

/* `bytes` are PD_BTS_SIZE. */
struct pd_bts_branch pd_bts_branch(const uint8_t *bytes);

/* Finds where `next` goes on behind `last`, two snapshots of one queue that may have branches in
 * common: the first byte of `next` that is new (next_size: none is). False: no memory. */
bool pd_bts_find_overlap(const uint8_t *last, size_t last_size, const uint8_t *next,
                         size_t next_size, size_t *first_new);

/* Appends the text of `script -D`: a line each, with its offset and bytes. */
void pd_bts_dump(const uint8_t *bytes, size_t size, struct pd_text *text);

#endif
