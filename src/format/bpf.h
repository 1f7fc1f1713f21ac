/* SPDX-License-Identifier: MIT */
/* Arrays of a BPF program in the header. */
#ifndef PD_FORMAT_BPF_H
#define PD_FORMAT_BPF_H
#include "base/text.h"
#include "format/features.h"

enum pd_bpf_array {
    PD_BPF_JITED_INSNS = 0,
    PD_BPF_JITED_KSYMS = 3,
    PD_BPF_JITED_FUNC_LENS = 4,
    PD_BPF_FUNC_INFO = 5,
    PD_BPF_LINE_INFO = 6,
    PD_BPF_JITED_LINE_INFO = 7,
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

/* The name of its function `index`, as the kernel's symbols have it. */
void pd_bpf_put_name(const struct pd_part_bpf_prog *program, const struct pd_feature_bpf_btf *btfs,
                     bool swap, uint32_t index, struct pd_text *out);

#endif
