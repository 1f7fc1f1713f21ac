/* SPDX-License-Identifier: MIT */
/* Arrays of a BPF program in the header. */
#ifndef PD_FORMAT_BPF_H
#define PD_FORMAT_BPF_H
#include "format/features.h"

enum pd_bpf_array {
    PD_BPF_JITED_INSNS = 0,
    PD_BPF_JITED_KSYMS = 3,
    PD_BPF_JITED_FUNC_LENS = 4,
    PD_BPF_FUNC_INFO = 5,
    PD_BPF_PROG_TAGS = 8
};

/* Entry `index` of an array that begins at `offset`; NULL when it does not lie in the data. */
static inline const uint8_t *pd_bpf_entry(const struct pd_part_bpf_prog *program,
                                          enum pd_bpf_array array, uint64_t offset, uint32_t index,
                                          uint32_t size)
{
    uint64_t at = (uint64_t)index * size;
    if (!(program->arrays >> array & 1) || pd_add_overflows(at, offset, &at) ||
        !pd_range_ok(at, size, program->data.size))
        return NULL;
    return program->data.data + at;
}

#endif
