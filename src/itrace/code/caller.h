/* SPDX-License-Identifier: MIT */
/* Code whose bytes the caller gives, for a trace without a recording: a view for the walk. One
 * owner. */
#ifndef PD_ITRACE_CODE_CALLER_H
#define PD_ITRACE_CODE_CALLER_H
#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "itrace/code/code.h"

struct pd_code_caller {
    struct pd_code_view view; /* what the walk is given */
    /* Up to `size` bytes of code from `ip` on; how many there are, 0: none. */
    size_t (*read)(void *data, uint64_t ip, uint8_t *bytes, size_t size);
    void *data;
    bool is_64_bit;
    struct pd_arena arena;
    struct pd_map64 by_ip; /* place in `nodes` */
    PD_VEC(struct pd_code_node *) nodes;
};

/* A new one is all zero but for read, data and is_64_bit. */
void pd_code_caller_free(struct pd_code_caller *code);
/* The functions code_at and code_link of struct pd_pt_config. */
struct pd_code_node *pd_code_caller_at(struct pd_code_view *view, uint64_t ip,
                                       enum pd_code_error *error);
struct pd_code_node *pd_code_caller_link(struct pd_code_view *view, struct pd_code_node *node,
                                         bool taken, enum pd_code_error *error);

#endif
